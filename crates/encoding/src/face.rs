//! The interface in whose words options are written: the command, or Python.

use std::fmt;

/// The option that settles a number that may be two.
pub(crate) const MARKS_TELL: &str = "--decimal or --thousands tells which";

/// The option that takes numbers as classes.
pub(crate) const CLASSES_TELL: &str = "--task class takes them as classes";

/// The option that tells the zone of times.
pub(crate) const ZONE_TELLS: &str = "--zone tells their zone";

/// The beginning of the words on numbers that are hardly any.
pub(crate) const BEGIN_WITH_ZERO: &str = "some begin with a zero";

/// Whose words are told to whoever reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Face {
    /// Options of the command: `--as 'NAME=KIND'`, `--set key=value`.
    #[default]
    Command,
    /// Arguments of Python: `kinds={"NAME": "KIND"}`, `key="value"`.
    Python,
}

impl Face {
    /// The argument that makes a column that, whatever it was found to be.
    #[must_use]
    pub fn kind_argument(self, name: &str, kind: impl fmt::Display) -> String {
        match self {
            Self::Command => format!("--as '{name}={kind}'"),
            Self::Python => format!("kinds={{{name:?}: \"{kind}\"}}"),
        }
    }

    /// The same words about a column, where `NAME=KIND` and `--gap TEXT` stand as this reader
    /// writes them.
    #[must_use]
    pub fn said(self, name: &str, words: &str) -> String {
        let named =
            |words: String, kind: &str| words.replace(&format!("{name}={kind}"), &self.kind_argument(name, kind));
        let words =
            ["number", "category", "identifier", "time", "dmy", "mdy"].into_iter().fold(words.to_owned(), named);
        let words = match self {
            Self::Command => words,
            Self::Python => words
                .replace(MARKS_TELL, "write the numbers without marks of thousands")
                .replace(CLASSES_TELL, "a classifier takes them as classes")
                .replace(ZONE_TELLS, "a type with a zone tells theirs"),
        };
        match (self, words.split_once("--gap ")) {
            (Self::Python, Some((before, after))) => {
                let (gap, rest) = after.split_once(' ').unwrap_or((after, ""));
                format!("{before}gaps=[{gap:?}] {rest}")
            }
            _ => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_as_their_reader_writes_them() {
        let words = "\"-\" is no number; a b=number has such cells count as missing; --gap -999 tells so";
        let of_command = "\"-\" is no number; --as 'a b=number' has such cells count as missing; --gap -999 tells so";
        let of_python =
            "\"-\" is no number; kinds={\"a b\": \"number\"} has such cells count as missing; gaps=[\"-999\"] tells so";
        assert_eq!(Face::Command.said("a b", words), of_command);
        assert_eq!(Face::Python.said("a b", words), of_python);
        let marks = format!("it may be two; {MARKS_TELL}");
        assert_eq!(Face::Command.said("a", &marks), marks);
        assert_eq!(Face::Python.said("a", &marks), "it may be two; write the numbers without marks of thousands");
    }
}
