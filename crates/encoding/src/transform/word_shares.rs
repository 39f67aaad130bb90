//! How surprising a text is beside those of some rows.

use std::collections::BTreeMap;

use mercer_core::{Cell, Entry, Inconsistent, List, Validate};

use crate::key::Key;
use crate::notation::is_gap;
use crate::schema::{Column, Kind};
use crate::words::words;

/// Words that are counted at most, and their bytes.
const MOST_WORDS: usize = 10_000;
const LONGEST_WORD: usize = 64;
/// Rows with a word that nobody has met, for its share.
const UNMET: f64 = 0.5;

/// The words of texts with their counts; of lists, their members and names.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct WordShares {
    counts: BTreeMap<String, u32>,
    /// Words met, with those that are not counted.
    all: u64,
    /// True where texts may be written lists.
    lists: bool,
}

impl WordShares {
    /// Those of a column, before any row.
    pub(super) fn new(column: &Column) -> Self {
        Self { lists: column.kind == Kind::List, ..Self::default() }
    }

    /// Counts the words of a cell.
    pub(super) fn learn(&mut self, cell: Cell<'_>) {
        let Self { counts, all, lists } = self;
        each_word(cell, *lists, |word| {
            *all += 1;
            if let Some(count) = counts.get_mut(word) {
                *count += 1;
            } else if counts.len() < MOST_WORDS && word.len() <= LONGEST_WORD {
                counts.insert(word.to_owned(), 1);
            }
        });
    }

    /// The mean of `−log₂` of the shares of a cell's words, in bits: of a word met `n` times in `N`
    /// words `n/N`, of one that was not `½/N`. None without a word. `O(words)` searches.
    pub(super) fn surprise(&self, cell: Cell<'_>) -> Option<f64> {
        let (mut sum, mut number) = (0.0, 0u32);
        each_word(cell, self.lists, |word| {
            let count = self.counts.get(word).map_or(UNMET, |count| f64::from(*count));
            sum += (self.all.max(1) as f64 / count).log2();
            number += 1;
        });
        (number > 0).then(|| sum / f64::from(number))
    }
}

/// Hands each word of a cell to `each`, in lower case; of a list each member, and of an object each
/// name, with its text if it has one.
fn each_word(cell: Cell<'_>, lists: bool, mut each: impl FnMut(&str)) {
    let list = match cell {
        Cell::List(list) => Some(list),
        Cell::Text(text) if lists && List::begins(text) => List::read(text).ok(),
        _ => None,
    };
    if let Some(list) = list {
        return list.entries().take(MOST_WORDS).for_each(|entry| match entry {
            Entry::Name(name) | Entry::Number(name, _) => each(&name.trim().to_lowercase()),
            Entry::Text(name, text) => each(&format!("{name}={text}").to_lowercase()),
        });
    }
    let text = Key::from_cell(cell).filter(|_| !is_gap(cell)).map(|key| key.as_str().to_lowercase());
    words(&text.unwrap_or_default()).take(MOST_WORDS).for_each(each);
}

impl Validate for WordShares {
    fn validate(&self) -> Result<(), Inconsistent> {
        let counted: u64 = self.counts.values().map(|count| u64::from(*count)).sum();
        let right = self.counts.len() <= MOST_WORDS && counted <= self.all;
        Inconsistent::require(right, "words of texts", "those counted are among those met")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surprise_is_the_mean_of_logarithms_of_shares() {
        let mut shares = WordShares::default();
        assert_eq!(shares.surprise(Cell::Text("red")), Some(1.0), "half of one");
        for text in ["Red fish", "blue fish", "", "red car!"] {
            shares.learn(Cell::Text(text));
        }
        // red 2, fish 2, blue, car, !: 7 words.
        for (text, shares_of_words) in [
            ("RED", &[2.0 / 7.0][..]),
            ("fish blue", &[2.0 / 7.0, 1.0 / 7.0]),
            ("car, red", &[1.0 / 7.0, 0.5 / 7.0, 2.0 / 7.0]),
            ("cow", &[0.5 / 7.0]),
        ] {
            let mean =
                shares_of_words.iter().map(|share: &f64| -share.log2()).sum::<f64>() / shares_of_words.len() as f64;
            let found = shares.surprise(Cell::Text(text)).unwrap();
            assert!((found - mean).abs() < 1e-14, "{text}: {found} and {mean}");
        }
        for gap in [Cell::Missing, Cell::Text(""), Cell::Text("  ")] {
            assert_eq!(shares.surprise(gap), None);
        }
        let mut lists = WordShares { lists: true, ..WordShares::default() };
        lists.learn(Cell::Text("[\"A b\", \"c\"]"));
        lists.learn(Cell::Text("{\"c\": 2, \"d\": \"e\"}"));
        // a b, c 2, d=e.
        assert_eq!(lists.surprise(Cell::Text("[\"c\"]")), Some((4.0_f64 / 2.0).log2()));
        assert_eq!(lists.surprise(Cell::Text("[\"a b\"]")), Some(4.0_f64.log2()));
        assert!(lists.validate().is_ok() && WordShares { all: 0, ..lists }.validate().is_err());
    }
}
