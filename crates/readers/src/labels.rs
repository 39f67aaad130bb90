//! Classes: how the text of a cell becomes a label, and the list of the labels met.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Write as _;

use mercer_core::{Cell, Inconsistent, Number, TruthWords, Validate};

use crate::number::{self, ParsedCell};

/// The type of a class before it had a name. For callers who know types, an answer has the same
/// type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum LabelKind {
    /// A text.
    Text,
    /// A truth value; its name is `true` or `false`.
    Truth,
    /// An integer.
    Integer,
    /// A floating-point number.
    Number,
}

impl LabelKind {
    /// That of a canonical name of which nothing else is known: as JSON would read it.
    #[must_use]
    pub fn infer(name: &str) -> Self {
        match number::parse(name.as_bytes()) {
            ParsedCell::Number(value) if value == value.trunc() => Self::Integer,
            ParsedCell::Number(_) => Self::Number,
            _ if ["true", "false"].contains(&name) => Self::Truth,
            _ => Self::Text,
        }
    }

    /// True if a class of this kind may have this canonical name.
    fn fits(self, name: &str) -> bool {
        let read = Self::infer(name);
        self == Self::Text || self == read || (self, read) == (Self::Number, Self::Integer)
    }
}

/// The class names met so far, in the order of their first appearance, each with its
/// [kind](LabelKind).
///
/// A name is canonical: it has no blanks around it, and a name that is a finite number is written
/// as the shortest text that reads back to the same `f64`. So `1`, `1.0` and `+1` are one class,
/// and `0` and `-0` are too. All other text stays as it is, `nan` and `inf` among it. A number
/// whose digits an `f64` would lose stays as it is written. A truth value is one class whatever
/// wrote it: beside `True` and `False`, `true`, `t` and 1 are `True` ([`TruthWords`]).
///
/// ```
/// use mercer_readers::Labels;
///
/// let mut labels = Labels::new();
/// assert_eq!([" red", "10", "9.0", "+1e1"].map(|text| labels.insert(text)), [0, 1, 2, 1]);
/// assert_eq!(labels.names(), ["red", "10", "9"]);
/// // Numbers come before text, and in their own order.
/// assert_eq!(labels.sorted(), [2, 1, 0]);
/// assert_eq!((labels.later(1, 2), labels.later(1, 0)), (Some(1), Some(0)));
/// ```
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<(String, LabelKind)>", into = "Vec<(String, LabelKind)>"))]
pub struct Labels {
    names: Vec<String>,
    /// One a name; two of one name and different kinds are one class.
    kinds: Vec<LabelKind>,
    /// Where each name stands in `names`.
    places: HashMap<String, usize>,
    /// Where [`insert`](Self::insert) makes a name canonical.
    scratch: String,
}

/// The first two names that differ in capitals or in marks around them alone. `O(n)`.
pub fn alike<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut known = HashMap::new();
    names.into_iter().find_map(|name| {
        let marks = |c: char| matches!(c, '.' | ',' | ';' | ':' | '"' | '\'') || c.is_whitespace();
        let key = Some(name.trim_matches(marks).to_lowercase()).filter(|key| !key.is_empty())?;
        known.insert(key, name).map(|first| (first, name))
    })
}

impl Labels {
    /// No class yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The index of the class of this text, which becomes a class if it was none. `O(text)`,
    /// without allocation for a known class.
    pub fn insert(&mut self, text: &str) -> usize {
        let mut name = std::mem::take(&mut self.scratch);
        Self::canonical(text, &mut name);
        let place = match self.find(&name) {
            Some(place) => place,
            None => {
                self.push(name.clone(), LabelKind::infer(&name));
                self.names.len() - 1
            }
        };
        self.scratch = name;
        place
    }

    /// As [`insert`](Self::insert), for a class of a kind that is known. `false`, and nothing done,
    /// if a class has this name already, or no class of this kind can have it.
    pub fn insert_as(&mut self, text: &str, kind: LabelKind) -> bool {
        let mut name = String::new();
        Self::canonical(text, &mut name);
        let new = !name.is_empty() && kind.fits(&name) && self.find(&name).is_none();
        if new {
            self.push(name, kind);
        }
        new
    }

    fn push(&mut self, name: String, kind: LabelKind) {
        self.places.insert(name.clone(), self.names.len());
        self.names.push(name);
        self.kinds.push(kind);
    }

    /// The index of the class of this canonical name, or of another name of the truth value that
    /// it is: see [`TruthWords`]. `O(name)`, without allocation.
    pub fn find(&self, name: &str) -> Option<usize> {
        let of_truth = || {
            let words = TruthWords::find(self.names.iter().map(String::as_str))?;
            self.places.get(words.text(words.read(Cell::Text(name))?)).copied()
        };
        self.places.get(name).copied().or_else(of_truth)
    }

    /// The name of a class.
    pub fn get(&self, class: usize) -> Option<&str> {
        self.names.get(class).map(String::as_str)
    }

    /// All names, in the order of their first appearance.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The first two classes that differ in capitals or in marks around them alone, such as `>50K`
    /// and `>50K.`. `O(c)` for c classes.
    pub fn alike(&self) -> Option<(&str, &str)> {
        alike(self.names.iter().map(String::as_str))
    }

    /// The type of each class before it had a name.
    pub fn kinds(&self) -> &[LabelKind] {
        &self.kinds
    }

    /// The classes of these indices, in this order, with their kinds; an index of no class is
    /// passed over.
    #[must_use]
    pub fn select(&self, classes: &[usize]) -> Self {
        let chosen = classes.iter().filter_map(|&class| Some((self.get(class)?.to_owned(), self.kinds[class])));
        chosen.collect::<Vec<_>>().into()
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True if there is no class.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The indices of the classes in sorted order: see [`order`](Self::order). `O(c log c)` for c
    /// classes.
    pub fn sorted(&self) -> Vec<usize> {
        let mut sorted: Vec<usize> = (0..self.len()).collect();
        sorted.sort_by(|&a, &b| Self::order(&self.names[a], &self.names[b]));
        sorted
    }

    /// The later of two classes in sorted order; `None` if one of them is no class.
    pub fn later(&self, a: usize, b: usize) -> Option<usize> {
        let order = Self::order(self.get(a)?, self.get(b)?);
        Some(if order == Ordering::Greater { a } else { b })
    }

    /// The sorted order of two canonical names: numbers by their value, then text by its
    /// characters.
    pub fn order(a: &str, b: &str) -> Ordering {
        match (number::parse(a.as_bytes()), number::parse(b.as_bytes())) {
            (ParsedCell::Number(x), ParsedCell::Number(y)) => x.total_cmp(&y),
            (ParsedCell::Number(_), _) => Ordering::Less,
            (_, ParsedCell::Number(_)) => Ordering::Greater,
            _ => a.cmp(b),
        }
    }

    /// Puts the canonical name of `text` into `name`, in place of what that holds; an empty name is
    /// no label. `O(text)`.
    pub fn canonical(text: &str, name: &mut String) {
        name.clear();
        let text = text.trim();
        match number::parse(text.as_bytes()) {
            // Digits that a number would lose may be a code.
            ParsedCell::Number(value) if !loses_digits(text, value) => Self::canonical_number(value, name),
            _ => name.push_str(text),
        }
    }

    /// Puts the canonical name of a cell into `name`, in place of what that holds; an empty name is
    /// no label. `O(text)`.
    pub fn canonical_cell(cell: Cell<'_>, name: &mut String) {
        match cell {
            Cell::Missing => name.clear(),
            Cell::Number(value) => Self::canonical_number(value, name),
            Cell::Numeral(_, text) | Cell::Text(text) => Self::canonical(text, name),
            Cell::Truth(_)
            | Cell::Integer(_)
            | Cell::Instant(_)
            | Cell::LocalTime(_)
            | Cell::TimeOfDay(_)
            | Cell::Duration(_) => {
                Self::canonical(&cell.to_string(), name);
            }
            Cell::List(list) => Self::canonical(list.text(), name),
        }
    }

    /// Puts the canonical name of a number into `name`, in place of what that holds.
    pub fn canonical_number(value: f64, name: &mut String) {
        name.clear();
        // Negative zero becomes zero; writing to a string cannot fail.
        let _ = write!(name, "{}", Number(value + 0.0));
    }
}

/// True if a text is a whole number of other digits than `value`, which it is read as.
fn loses_digits(text: &str, value: f64) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let digits = text.trim_start_matches(['+', '-']);
    value.abs() >= EXACT
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && value.abs().to_string() != digits.trim_start_matches('0')
}

/// Equality of the names and their order.
impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for Labels {}

impl From<Vec<String>> for Labels {
    /// The classes of these names, taken as they are: names of an untrusted origin need
    /// [`validate`](Validate::validate).
    fn from(names: Vec<String>) -> Self {
        let kinds: Vec<LabelKind> = names.iter().map(|name| LabelKind::infer(name)).collect();
        names.into_iter().zip(kinds).collect::<Vec<_>>().into()
    }
}

impl From<Vec<(String, LabelKind)>> for Labels {
    /// The same with the kinds of the classes.
    fn from(classes: Vec<(String, LabelKind)>) -> Self {
        let places = classes.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect();
        let (names, kinds) = classes.into_iter().unzip();
        Self { names, kinds, places, scratch: String::new() }
    }
}

impl From<Labels> for Vec<(String, LabelKind)> {
    fn from(labels: Labels) -> Self {
        labels.names.into_iter().zip(labels.kinds).collect()
    }
}

impl Validate for Labels {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.places.len() == self.names.len(), "list of classes", "its names differ")?;
        let mut name = String::new();
        let canonical = self.names.iter().all(|given| {
            Self::canonical(given, &mut name);
            !name.is_empty() && name == *given
        });
        Inconsistent::require(canonical, "list of classes", "its names are canonical and not empty")?;
        let fit = self.names.iter().zip(&self.kinds).all(|(name, kind)| kind.fits(name));
        Inconsistent::require(fit, "list of classes", "its names are those of their kinds")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str) -> String {
        let mut name = "before".to_owned();
        Labels::canonical(text, &mut name);
        name
    }

    #[test]
    fn one_class_has_one_name() {
        for (text, name) in [
            ("1", "1"),
            ("1.0", "1"),
            ("+1", "1"),
            ("-1", "-1"),
            ("-0", "0"),
            ("007", "7"),
            ("1e300", "1e300"),
            ("0.10", "0.1"),
            (" red wine\t", "red wine"),
            ("\u{a0}é ", "é"),
            ("\u{a0}1.0", "1"),
            ("nan", "nan"),
            ("inf", "inf"),
            ("1,5", "1,5"),
            ("  ", ""),
        ] {
            assert_eq!(canonical(text), name, "{text:?}");
        }
    }

    #[test]
    fn numbers_are_sorted_before_text() {
        let mut labels = Labels::new();
        for text in ["b", "10", "B", "-3", "9", "é", "a"] {
            labels.insert(text);
        }
        let sorted: Vec<_> = labels.sorted().into_iter().map(|class| labels.get(class).unwrap()).collect();
        assert_eq!(sorted, ["-3", "9", "10", "B", "a", "b", "é"]);
        assert_eq!(labels.later(1, 4), Some(1));
        assert_eq!(labels.later(4, 1), Some(1));
        assert_eq!(labels.later(0, 9), None);
        assert_eq!((labels.find("9"), labels.find("nine"), labels.len()), (Some(4), None, 7));
    }

    #[test]
    fn lists_that_are_no_classes_are_told() {
        let told =
            |names: &[&str]| Labels::from(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).validate();
        assert!(told(&[]).is_ok() && told(&["a", "1"]).is_ok());
        for names in [&["a", "a"][..], &["1.0"], &[" a"], &[""]] {
            assert!(told(names).is_err(), "{names:?}");
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn classes_are_written_as_their_names_and_kinds() {
        let mut labels = Labels::new();
        labels.insert("b");
        labels.insert("a");
        let written = serde_json::to_string(&labels).unwrap();
        assert_eq!(written, r#"[["b","Text"],["a","Text"]]"#);
        let mut read: Labels = serde_json::from_str(&written).unwrap();
        assert_eq!(read, labels);
        assert_eq!((read.insert("a"), read.insert("c")), (1, 2));
    }

    #[test]
    fn a_truth_value_is_one_class() {
        let mut labels = Labels::new();
        let met = |labels: &mut Labels, texts: &[&str]| -> Vec<usize> {
            texts.iter().map(|text| labels.insert(text)).collect()
        };
        assert_eq!(met(&mut labels, &["True", "true", "False", "0", "t", "yes"]), [0, 0, 1, 1, 0, 0]);
        // Beside a third class numbers are numbers.
        assert_eq!(met(&mut labels, &["unknown", "FALSE", "1"]), [2, 1, 3]);
        assert_eq!(met(&mut Labels::new(), &["0", "1", "true", "f", "2", "yes"]), [0, 1, 1, 0, 2, 3]);
        assert_eq!(met(&mut Labels::new(), &["T", "N", "Y", "F"]), [0, 1, 2, 3]);
    }

    #[test]
    fn kinds_are_read_from_names_or_told() {
        let mut labels = Labels::new();
        for text in ["1", "2.50", "true", "False", "1e3", "nan"] {
            labels.insert(text);
        }
        use LabelKind::{Integer, Number, Text, Truth};
        assert_eq!(labels.kinds(), [Integer, Number, Truth, Text, Integer, Text]);
        // One name is one class, whatever its kind; and a kind has names of its own.
        assert!(!labels.insert_as("1.0", Text) && !labels.insert_as("x", Number) && !labels.insert_as(" ", Text));
        assert!(!labels.insert_as("0.5", Integer) && !labels.insert_as("2", Truth));
        assert!(labels.insert_as("3", Text) && labels.insert_as("4", Number) && !labels.insert_as("false", Truth));
        assert_eq!(labels.kinds()[6..], [Text, Number]);
        assert!(labels.validate().is_ok());
        assert!(Labels::from(vec![("x".to_owned(), Integer)]).validate().is_err());
        let union = Labels::from(Vec::<(String, LabelKind)>::from(labels.clone()));
        assert_eq!((&union, union.kinds()), (&labels, labels.kinds()));
    }

    proptest! {
        /// Numbers are one class exactly when they are equal, and a canonical name stays what it
        /// is.
        #[test]
        fn names_of_numbers_read_back(a: f64, b: f64) {
            prop_assume!(a.is_finite() && b.is_finite());
            for x in [a, b] {
                prop_assert_eq!(canonical(&x.to_string()).parse::<f64>().unwrap(), x);
                prop_assert_eq!(canonical(&canonical(&x.to_string())), canonical(&format!("{x:e}")));
            }
            prop_assert_eq!(canonical(&a.to_string()) == canonical(&b.to_string()), a == b);
        }
    }
}
