//! Classes: how the text of a cell becomes a label, and the list of the labels met.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt::Write as _;

use mercer_core::{Inconsistent, Number, Validate};

use crate::number::{self, Parsed};

/// The class names met so far, in the order of their first appearance.
///
/// A name is canonical: it has no blanks around it, and a name that is a finite number is written
/// as the shortest text that reads back to the same `f64`. So `1`, `1.0` and `+1` are one class,
/// and `0` and `-0` are too. All other text stays as it is, `nan` and `inf` among it. A number
/// whose digits an `f64` would lose stays as it is written.
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
#[cfg_attr(feature = "serde", serde(from = "Vec<String>", into = "Vec<String>"))]
pub struct Labels {
    names: Vec<String>,
    /// Where each name stands in `names`.
    places: HashMap<String, usize>,
    /// Where [`insert`](Self::insert) makes a name canonical.
    scratch: String,
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
        let place = match self.places.get(&name) {
            Some(place) => *place,
            None => {
                self.places.insert(name.clone(), self.names.len());
                self.names.push(name.clone());
                self.names.len() - 1
            }
        };
        self.scratch = name;
        place
    }

    /// The index of the class of this canonical name. `O(name)`, without allocation.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The name of a class.
    pub fn get(&self, class: usize) -> Option<&str> {
        self.names.get(class).map(String::as_str)
    }

    /// All names, in the order of their first appearance.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no class.
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

    /// Of two classes, the one that is later in sorted order; `None` if one of them is no class.
    pub fn later(&self, a: usize, b: usize) -> Option<usize> {
        let order = Self::order(self.get(a)?, self.get(b)?);
        Some(if order == Ordering::Greater { a } else { b })
    }

    /// The sorted order of two canonical names: numbers by their value, then text by its
    /// characters.
    pub fn order(a: &str, b: &str) -> Ordering {
        match (number::parse(a.as_bytes()), number::parse(b.as_bytes())) {
            (Parsed::Number(x), Parsed::Number(y)) => x.total_cmp(&y),
            (Parsed::Number(_), _) => Ordering::Less,
            (_, Parsed::Number(_)) => Ordering::Greater,
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
            Parsed::Number(value) if !loses_digits(text, value) => Self::canonical_number(value, name),
            _ => name.push_str(text),
        }
    }

    /// Puts the canonical name of a number into `name`, in place of what that holds.
    pub fn canonical_number(value: f64, name: &mut String) {
        name.clear();
        // Negative zero becomes zero; writing to a string cannot fail.
        let _ = write!(name, "{}", Number(value + 0.0));
    }
}

/// Whether a text is a whole number of other digits than `value`, which it is read as.
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
        let places = names.iter().cloned().enumerate().map(|(place, name)| (name, place)).collect();
        Self { names, places, scratch: String::new() }
    }
}

impl From<Labels> for Vec<String> {
    fn from(labels: Labels) -> Self {
        labels.names
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
        Inconsistent::require(canonical, "list of classes", "its names are canonical and not empty")
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
    fn classes_are_written_as_their_names() {
        let mut labels = Labels::new();
        labels.insert("b");
        labels.insert("a");
        let written = serde_json::to_string(&labels).unwrap();
        assert_eq!(written, "[\"b\",\"a\"]");
        let mut read: Labels = serde_json::from_str(&written).unwrap();
        assert_eq!(read, labels);
        assert_eq!((read.insert("a"), read.insert("c")), (1, 2));
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
