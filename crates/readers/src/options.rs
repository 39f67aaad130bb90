//! What a reader may be told: format, target column, header, dimension.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::dialect::{Decimal, Marks, Separator, Thousands};
use crate::error::{DataError, DialectError};
use crate::format::Format;

/// Which column is the target; all others are features, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TargetColumn {
    /// The last one.
    #[default]
    Last,
    /// The one of this name. Asking by name also says that there is a header.
    Name(String),
    /// The one of this number, from 1.
    Index(usize),
    /// None: every column is a feature. Such a table is read with
    /// [`RowReader::next_features`](crate::RowReader::next_features).
    None,
    /// Several, in this order. Their values are read as numbers, with
    /// [`RowReader::next_example`](crate::RowReader::next_example).
    Several(Vec<ColumnChoice>),
}

impl TargetColumn {
    /// The position (from 0) among `columns` columns of these names.
    pub(crate) fn resolve(&self, file: &str, columns: usize, names: Option<&[String]>) -> Result<usize, DataError> {
        let missing = || DataError::TargetNotFound {
            file: file.to_owned(),
            target: self.clone(),
            columns,
            names: names.map(<[String]>::to_vec),
        };
        match self {
            Self::Last | Self::None | Self::Several(_) => columns.checked_sub(1).ok_or_else(missing),
            Self::Index(number) if (1..=columns).contains(number) => Ok(number - 1),
            Self::Index(_) => Err(missing()),
            Self::Name(name) => {
                let mut found = names.unwrap_or_default().iter().enumerate().filter(|(_, other)| *other == name);
                let (first, _) = found.next().ok_or_else(missing)?;
                match found.next() {
                    None => Ok(first),
                    Some((second, _)) => Err(DataError::TargetAmbiguous {
                        file: file.to_owned(),
                        name: name.clone(),
                        first: first + 1,
                        second: second + 1,
                    }),
                }
            }
        }
    }
}

impl FromStr for TargetColumn {
    type Err = Infallible;

    /// A [`ColumnChoice`], or several of them with commas between them: `price`, `3`, `price,4`. A
    /// comma in double quotes is part of a name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let mut quoted = false;
        let separate = |symbol: char| {
            quoted ^= symbol == '"';
            symbol == ',' && !quoted
        };
        let choices: Vec<ColumnChoice> = text.split(separate).map(|part| ColumnChoice::told(part.trim())).collect();
        Ok(if choices.len() == 1 { ColumnChoice::told(text).into() } else { Self::Several(choices) })
    }
}

impl From<ColumnChoice> for TargetColumn {
    fn from(choice: ColumnChoice) -> Self {
        match choice {
            ColumnChoice::Name(name) => Self::Name(name),
            ColumnChoice::Index(number) => Self::Index(number),
        }
    }
}

impl fmt::Display for TargetColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Name(name) => write!(f, "{name:?}"),
            Self::Index(number) => write!(f, "{number}"),
            Self::None => f.write_str("none"),
            Self::Several(choices) => {
                for (position, choice) in choices.iter().enumerate() {
                    write!(f, "{}{choice}", if position == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

/// A column, told by its name or its number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ColumnChoice {
    /// The one of this name. Naming a column also says that there is a header.
    Name(String),
    /// The one of this number, from 1.
    Index(usize),
}

impl ColumnChoice {
    fn told(text: &str) -> Self {
        match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(name) => Self::Name(name.to_owned()),
            None => text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Index),
        }
    }
}

impl FromStr for ColumnChoice {
    type Err = Infallible;

    /// A number is an index from 1, anything else a name. A name in double quotes is the text
    /// between them, whatever it is: `"3"` is the column that is called 3.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::told(text))
    }
}

impl fmt::Display for ColumnChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name:?}"),
            Self::Index(number) => write!(f, "{number}"),
        }
    }
}

impl FromStr for Header {
    type Err = DataError;

    /// `yes`, `no` or `auto`.
    fn from_str(text: &str) -> Result<Self, DataError> {
        match text {
            "auto" => Ok(Self::Detect),
            "yes" => Ok(Self::Present),
            "no" => Ok(Self::Absent),
            _ => Err(DialectError::UnknownHeader { name: text.to_owned() }.into()),
        }
    }
}

/// What becomes of a cell without a value: an empty one, NaN, a JSON `null` or an absent key.
///
/// A blank line is no row, with one exception: under [`Nan`](Self::Nan), in a CSV or TSV table of
/// one column and no target, a blank line between two rows is a row whose cell is empty. Blank
/// lines before the first row and behind the last are none; write `NaN` or `""` there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Missing {
    /// It is refused with its place: the table is complete.
    #[default]
    Refuse,
    /// It is read as NaN, in features and targets alike, for whoever knows what to do about it.
    /// Infinities are still refused, as are the absent keys of a first row, which nothing
    /// announces.
    Nan,
}

/// Whether the first row of a CSV or TSV file holds names.
///
/// Lines that begin with `#` are comments, unless they have as many cells as the table has columns,
/// which must be two or more. One that has, stands straight above a first row with numbers and is
/// text alone holds the names of the columns, except under `Absent`.
///
/// [`RecordReader`](crate::RecordReader), whose cells may hold anything, looks at up to eight
/// records more under `Detect`: a name is a text above values that are not text. Without one a
/// first record of text alone is a header, unless one of its cells is there again in its column;
/// any other first record is data. Where that is in doubt, the reader's `doubt` says so.
///
/// `Detect` looks at the first row alone: it is a header if it has text and no number, data if it
/// has no text (an empty cell or `nan` is not text: it is refused as data, with its place). A row
/// with both is refused rather than guessed, since guessing either swallows a spoilt row of data or
/// refuses a good header: name every column, mend the cell, or say which it is. Asking for the
/// target by a name that stands in the first row says it too.
///
/// A target that may be a label ([`Targets`]) is text in rows of data as well. If the first row has
/// numbers, and text for the label alone, the lines behind it are looked at, as for
/// [`Targets::Auto`]: the row is data if its label is there again, a header if the target is always
/// a number there, and refused otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Header {
    /// Look at the first row.
    #[default]
    Detect,
    /// The first row is a header.
    Present,
    /// The first row is data.
    Absent,
}

/// How the target is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Targets {
    /// As a number: anything else is refused.
    #[default]
    Numbers,
    /// As a label: any text or number, of one target. The text is made [canonical](crate::Labels);
    /// an empty cell is refused. The labels of LIBSVM are numbers. In CSV and TSV a label stands on
    /// one line.
    Labels,
    /// As a label if the first rows hold a target that is no number, and otherwise as a number.
    /// Several targets are numbers.
    ///
    /// Up to 256 lines, or one megabyte, are read ahead, so that a stream has to bring that many,
    /// or its end, before the reader opens.
    /// [`RowReader::target_head`](crate::RowReader::target_head) says what they held. A target that
    /// is no number and comes after them is refused with its place.
    Auto,
}

/// How to read a file. The default reads what the file's name tells, target last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReadOptions {
    /// The format; `None` is what the name tells. Standard input has no name, so it needs one.
    pub format: Option<Format>,
    /// The target column. LIBSVM fixes its own, so there it must be `Last`.
    pub target: TargetColumn,
    /// Columns that are neither features nor the target; what their cells hold is not looked at.
    /// The target that is [`Last`](TargetColumn::Last) is the last of the others.
    pub ignore: Vec<ColumnChoice>,
    /// Columns that stay in records and are not looked at: their cells have no value.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unread: Vec<ColumnChoice>,
    /// The features by name, in this order, wherever they stand; columns that are neither among
    /// them nor the target are not looked at. A file without names, or an empty list, has all its
    /// columns as features. An NDJSON file then says nothing of its columns.
    pub features: Vec<String>,
    /// Names that columns may have: a first record that holds one of them is a header. They choose
    /// no columns.
    pub known: Vec<String>,
    /// Whether later rows of JSON objects may have keys that the first lacks: the names in `known`;
    /// or without any, the keys of up to 256 lines, or one megabyte, that are read ahead, so that a
    /// stream has to bring that many, or its end, before the reader opens. Such keys stand before
    /// the last key of the first row.
    #[cfg_attr(feature = "serde", serde(default))]
    pub later_keys: bool,
    /// The target's name in a file whose features are found by name; `target` tells it otherwise.
    pub target_name: Option<String>,
    /// The number of features of rows that are read as features alone: a column more is the target,
    /// which is not looked at.
    pub features_alone: Option<usize>,
    /// Whether a CSV or TSV file has a header.
    pub header: Header,
    /// What stands between the cells of a CSV or TSV file. `None` is a tab for TSV, and for CSV
    /// what its first record shows, or if that leaves a doubt its first two.
    #[cfg_attr(feature = "serde", serde(default))]
    pub separator: Option<Separator>,
    /// What stands before the fraction of a number in a CSV or TSV file. `None` is what the first
    /// number shows that can be read in one way alone; a later one with the other mark is refused.
    /// Where `1.234` and `1,234` stand alone, they are refused; beside commas as separators the
    /// former has a fraction.
    #[cfg_attr(feature = "serde", serde(default))]
    pub decimal: Option<Decimal>,
    /// What stands between the thousands of a number in a CSV or TSV file. `None` is the one of
    /// point and comma that is not the decimal mark, and blanks and apostrophes in columns that
    /// otherwise hold numbers. `take_remark` of a reader tells when one was found.
    #[cfg_attr(feature = "serde", serde(default))]
    pub thousands: Option<Thousands>,
    /// What is known of files of the same origin, such as those that a model was trained on. It
    /// settles what a file leaves in doubt.
    #[cfg_attr(feature = "serde", serde(default))]
    pub marks: Marks,
    /// What becomes of cells without a value. LIBSVM cannot have any: what is absent there is 0.
    pub missing: Missing,
    /// The number of features of a LIBSVM file; `None` is its largest index, found in a first pass.
    /// Other formats ignore it.
    pub libsvm_dimension: Option<usize>,
    /// How the target is read: as a number or as a label.
    #[cfg_attr(feature = "serde", serde(default))]
    pub targets: Targets,
    /// The column of the weights, which is neither a feature nor the target. A weight is a finite
    /// number of at least 0. LIBSVM has none.
    #[cfg_attr(feature = "serde", serde(default))]
    pub weight: Option<ColumnChoice>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["a", "b", "b", "c"].map(str::to_owned).to_vec()
    }

    #[test]
    fn targets_are_told_by_name_and_number() {
        let told = |text: &str| text.parse::<TargetColumn>().unwrap();
        let name = |name: &str| ColumnChoice::Name(name.to_owned());
        assert_eq!(told("3"), TargetColumn::Index(3));
        assert_eq!(told("\"3\""), TargetColumn::Name("3".to_owned()));
        assert_eq!(told("\"a,b\""), TargetColumn::Name("a,b".to_owned()));
        assert_eq!(told(" a"), TargetColumn::Name(" a".to_owned()));
        let several = told("b, 2,\"4\",\"c,d\",");
        assert_eq!(
            several,
            TargetColumn::Several(vec![name("b"), ColumnChoice::Index(2), name("4"), name("c,d"), name("")])
        );
        assert_eq!(several.to_string(), "\"b\", 2, \"4\", \"c,d\", \"\"");
        assert_eq!(told(&several.to_string()), several);
    }

    #[test]
    fn targets_resolve() {
        let names = names();
        let resolve = |text: &str| text.parse::<TargetColumn>().unwrap().resolve("f", 4, Some(&names));
        assert_eq!(TargetColumn::Last.resolve("f", 4, None).unwrap(), 3);
        assert_eq!(resolve("1").unwrap(), 0);
        assert_eq!(resolve("c").unwrap(), 3);
        assert_eq!(
            resolve("b").unwrap_err().to_string(),
            "f: columns 2 and 3 are both named \"b\"; choose the target by number"
        );
        let listed = "it has 4 columns, counted from 1: a, b, b, c";
        assert_eq!(resolve("z").unwrap_err().to_string(), format!("f: no target column \"z\"; {listed}"));
        assert_eq!(resolve("0").unwrap_err().to_string(), format!("f: no target column 0; {listed}"));
        assert_eq!(resolve("5").unwrap_err().to_string(), format!("f: no target column 5; {listed}"));
        let nameless = TargetColumn::Name("c".into()).resolve("f", 4, None).unwrap_err().to_string();
        assert_eq!(nameless, "f: no target column \"c\"; it has 4 columns without names, counted from 1");
    }
}
