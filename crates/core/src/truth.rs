//! Truth values: the words for them, and one column's own.

use crate::Cell;

/// Words for no and for yes, without capitals. Those of [`LONE`] tell a truth value alone; the
/// others may be codes or names, and tell one beside their partner only.
const WORDS: [[&str; 2]; 12] = [
    ["false", "true"],
    ["falsch", "wahr"],
    ["faux", "vrai"],
    ["falso", "verdadero"],
    ["no", "yes"],
    ["off", "on"],
    ["nein", "ja"],
    ["non", "oui"],
    ["no", "si"],
    ["f", "t"],
    ["n", "y"],
    ["0", "1"],
];

/// Number of [`WORDS`] at their beginning that are the words of programs and spreadsheets.
const LONE: usize = 4;
/// Place of 0 and 1, which may stand beside the words of any other pair.
const BITS: usize = WORDS.len() - 1;

/// True if a pair has single letters, of which every alphabet has more.
fn has_letters(pair: usize) -> bool {
    WORDS[pair][1].bytes().all(|byte| byte.is_ascii_alphabetic()) && WORDS[pair][1].len() == 1
}

/// The truth value of `true` and `false` in any case, as programs write them.
///
/// ```
/// use mercer_core::parse_truth;
///
/// assert_eq!(["True", "FALSE", "yes", "1"].map(parse_truth), [Some(true), Some(false), None, None]);
/// ```
#[must_use]
pub fn parse_truth(text: &str) -> Option<bool> {
    match text.len() {
        4 => text.eq_ignore_ascii_case("true").then_some(true),
        5 => text.eq_ignore_ascii_case("false").then_some(false),
        _ => None,
    }
}

/// Where a word stands in [`WORDS`], with its truth value.
fn places(text: &str) -> impl Iterator<Item = (usize, bool)> {
    let pairs = WORDS.iter().enumerate();
    pairs
        .flat_map(|(pair, words)| [(pair, words[0], false), (pair, words[1], true)])
        .filter_map(move |(pair, word, truth)| text.eq_ignore_ascii_case(word).then_some((pair, truth)))
}

/// The two texts by which a column tells truth values, in its own spelling.
///
/// Every door has its own: pandas writes `True`, JSON and Parquet have a type, a data base writes
/// `t` or 1. They are one value. A column whose values are a pair such as `yes` and `no`, `T` and
/// `F`, or 0 and 1, or both, tells truth values; one with `true` or `false` in any case tells them
/// beside others, too.
///
/// ```
/// use mercer_core::{Cell, TruthWords};
///
/// let words = TruthWords::find(["True", "False"]).unwrap();
/// let cells = [Cell::Truth(true), Cell::Text("t"), Cell::Text("TRUE"), Cell::Number(1.0)];
/// assert!(cells.iter().all(|cell| words.text(words.read(*cell).unwrap()) == "True"));
/// assert_eq!(words.read(Cell::Text("maybe")), None);
/// assert_eq!(TruthWords::find(["F", "M"]), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TruthWords {
    no: String,
    yes: String,
    /// True if the column has no other values, but for 0 and 1.
    alone: bool,
}

impl TruthWords {
    /// Truth words of a column with these different values; `None` if it tells no truth values, or
    /// has more than eight values. The first spelling of each counts. `O(1)`.
    #[must_use]
    pub fn find<'a>(values: impl IntoIterator<Item = &'a str, IntoIter: Clone>) -> Option<Self> {
        const MOST: usize = 8;
        let values = values.into_iter();
        let are_many = values.clone().nth(MOST).is_some();
        if are_many || !values.clone().any(|text| places(text).next().is_some()) {
            return None;
        }
        let of_pair = |pair: usize| {
            let (mut found, mut alone) = ([None; 2], true);
            for text in values.clone() {
                match places(text).find(|(place, _)| *place == pair) {
                    Some((_, truth)) => _ = found[usize::from(truth)].get_or_insert(text),
                    None => alone &= places(text).any(|(place, _)| place == BITS),
                }
            }
            let [no, yes] = found;
            match (no, yes) {
                (Some(no), Some(yes)) if alone || pair < LONE => Some([no.to_owned(), yes.to_owned()]),
                (Some(no), None) if pair < LONE => Some([no.to_owned(), spelt_as(WORDS[pair][1], no)]),
                (None, Some(yes)) if pair < LONE => Some([spelt_as(WORDS[pair][0], yes), yes.to_owned()]),
                _ => None,
            }
            .map(|[no, yes]| Self { no, yes, alone })
        };
        (0..WORDS.len()).find_map(of_pair)
    }

    /// The truth value that a cell is in this column: that of a type of truth values, or of a
    /// word of the column in any case; and if the column has no other values, also of 0 and 1, and
    /// of the words of other pairs. Letters are not read as other letters.
    #[must_use]
    pub fn read(&self, cell: Cell<'_>) -> Option<bool> {
        match cell {
            Cell::Truth(truth) => Some(truth),
            Cell::Text(text) => self.read_text(text),
            _ if self.alone => match cell.number()? {
                0.0 => Some(false),
                1.0 => Some(true),
                _ => None,
            },
            _ => None,
        }
    }

    fn read_text(&self, text: &str) -> Option<bool> {
        if let Some(truth) = parse_truth(text) {
            return Some(truth);
        }
        let is_own = |text: &str, truth: bool| text.eq_ignore_ascii_case(self.text(truth));
        if let Some(truth) = [false, true].into_iter().find(|truth| is_own(text, *truth)) {
            return Some(truth);
        }
        let letters = self.yes.len() == 1 && self.yes != "1";
        let (_, truth) = places(text).find(|(pair, _)| self.alone && !(letters && has_letters(*pair)))?;
        Some(truth)
    }

    /// True if every value of the column is a truth value.
    #[must_use]
    pub fn are_alone(&self) -> bool {
        self.alone
    }

    /// Spelling of a truth value in the column.
    #[must_use]
    pub fn text(&self, truth: bool) -> &str {
        if truth { &self.yes } else { &self.no }
    }
}

/// A word in the capitals of another.
fn spelt_as(word: &str, model: &str) -> String {
    let is_capital = |place: usize| model.as_bytes().get(place).is_some_and(u8::is_ascii_uppercase);
    match (is_capital(0), is_capital(1)) {
        (true, true) => word.to_ascii_uppercase(),
        (true, false) => word[..1].to_ascii_uppercase() + &word[1..],
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[&'static str]) -> Option<[String; 2]> {
        TruthWords::find(values.iter().copied()).map(|words| [false, true].map(|truth| words.text(truth).to_owned()))
    }

    #[test]
    fn columns_of_truth_values_are_known() {
        for (values, found) in [
            (&["True", "False"][..], ["False", "True"]),
            (&["TRUE"], ["FALSE", "TRUE"]),
            (&["False"], ["False", "True"]),
            (&["true", "FALSE", "unknown"], ["FALSE", "true"]),
            (&["N", "Y"], ["N", "Y"]),
            (&["T", "f"], ["f", "T"]),
            (&["1", "0"], ["0", "1"]),
            (&["WAHR", "FALSCH"], ["FALSCH", "WAHR"]),
            (&["1", "TRUE", "0", "FALSE"], ["FALSE", "TRUE"]),
            (&["0", "no", "yes"], ["no", "yes"]),
        ] {
            assert_eq!(words(values), Some(found.map(str::to_owned)), "{values:?}");
        }
        for values in [&["F", "M"][..], &["yes"], &["NO", "SE", "YES"], &["1"], &["t", "f", "x"], &["yes", "f"], &[]] {
            assert_eq!(words(values), None, "{values:?}");
        }
    }

    #[test]
    fn a_truth_value_is_one_whatever_wrote_it() {
        let read = |values: &[&'static str], cell| TruthWords::find(values.iter().copied()).unwrap().read(cell);
        let yes = [
            Cell::Truth(true),
            Cell::Text("true"),
            Cell::Text("YES"),
            Cell::Number(1.0),
            Cell::Numeral(1.0, "1"),
            Cell::Text("1"),
        ];
        for cell in yes {
            for values in [&["True", "False"][..], &["no", "yes"], &["f", "t"], &["0", "1"]] {
                assert_eq!(read(values, cell), Some(true), "{values:?} {cell:?}");
            }
        }
        // Letters are no other letters, and numbers are numbers beside other values.
        assert_eq!((read(&["t", "f"], Cell::Text("Y")), read(&["t", "f"], Cell::Text("T"))), (None, Some(true)));
        let beside = ["true", "false", "unknown"];
        assert_eq!((read(&beside, Cell::Number(1.0)), read(&beside, Cell::Text("yes"))), (None, None));
        assert_eq!(read(&beside, Cell::Text("True")), Some(true));
        assert_eq!(read(&["0", "1"], Cell::Number(2.0)), None);
        assert_eq!(read(&["0", "TRUE", "FALSE"], Cell::Number(1.0)), Some(true));
        assert_eq!(read(&["2", "TRUE", "FALSE"], Cell::Number(1.0)), None);
    }
}
