//! The sentences about a column that is left out or absent, with what takes it all the same. The
//! command, the service and Python have them from here.

use crate::face::Face;
use crate::schema::Kind;

/// Why a column is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// Its texts name the rows.
    NamesRows,
    /// Its numbers name the rows.
    NumbersRows,
    /// It is text, or names rows.
    NamesOrText,
    /// It is text.
    Text,
    /// It holds lists.
    Lists,
    /// It holds no numbers, where such are wanted.
    NoNumbers,
    /// It holds times, where numbers are wanted.
    Times,
    /// It holds times that are numbers.
    NumberedTimes,
    /// Its numbers rise from row to row, as a count or a clock does.
    CountsRows,
}

impl LeftOut {
    /// The sentence behind the column's name.
    #[must_use]
    pub fn words(self, name: &str, face: Face) -> String {
        self.sentence(|kind| face.kind_argument(name, kind))
    }

    /// The same in the words that [`Face::said`] writes as its reader does.
    pub(crate) fn doubt(self, name: &str) -> String {
        self.sentence(|kind| format!("{name}={kind}"))
    }

    fn sentence(self, told: impl Fn(Kind) -> String) -> String {
        let (category, number) = (told(Kind::Category), told(Kind::Number));
        match self {
            Self::NamesRows => format!("left out, for it names rows; {category} takes it"),
            Self::NumbersRows => format!("left out, for it names rows; {number} or {category} takes it"),
            Self::NamesOrText => format!("left out, for it names rows or is text; {category} takes it"),
            Self::Text => format!("left out, for it is text; {category} takes it"),
            Self::Lists => {
                "left out, for it holds lists; learners of tokens, such as auto and coin, take them".to_owned()
            }
            Self::NoNumbers => "left out, for it holds no numbers".to_owned(),
            Self::Times => "left out, for it holds times".to_owned(),
            Self::NumberedTimes => format!("left out, for it holds times; {number} takes it"),
            Self::CountsRows => format!("left out, for it counts rows or time; {number} takes it"),
        }
    }
}

/// The sentence about a column that a model knows and a table lacks, behind the table's name.
#[must_use]
pub fn lacks_column(name: &str) -> String {
    format!("has no column {name:?}, which the model knows; its values count as missing")
}
