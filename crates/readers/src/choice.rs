//! Columns as a person tells them: by name, by number, or by either.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

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
    /// The one that a person calls by a number: see [`ColumnChoice::Either`].
    Either(String),
}

impl TargetColumn {
    /// The choice of a single column.
    pub fn choice(&self) -> Option<ColumnChoice> {
        match self {
            Self::Last | Self::None | Self::Several(_) => None,
            Self::Name(name) => Some(ColumnChoice::Name(name.clone())),
            Self::Index(number) => Some(ColumnChoice::Index(*number)),
            Self::Either(text) => Some(ColumnChoice::Either(text.clone())),
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
            ColumnChoice::Either(text) => Self::Either(text),
        }
    }
}

impl fmt::Display for TargetColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Name(name) => write!(f, "{name:?}"),
            Self::Index(number) => write!(f, "{number}"),
            Self::Either(text) => f.write_str(text),
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
    /// The one whose name is these digits, as `2005` may be one. Without such a name it is the one
    /// of that number, from 1.
    Either(String),
}

/// Number of times that a column is there.
pub(crate) enum ColumnMatch {
    Never,
    Once(usize),
    /// With the places of the first two, from 0.
    Twice(usize, usize),
}

impl ColumnChoice {
    fn told(text: &str) -> Self {
        match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(name) => Self::Name(name.to_owned()),
            None if text.parse::<usize>().is_ok() => Self::Either(text.to_owned()),
            None => Self::Name(text.to_owned()),
        }
    }

    /// Where it stands among so many columns, from 0, if they have these names; `None` also if it
    /// is there twice.
    pub fn place(&self, columns: usize, names: Option<&[String]>) -> Option<usize> {
        match self.find(columns, names) {
            ColumnMatch::Once(place) => Some(place),
            ColumnMatch::Never | ColumnMatch::Twice(..) => None,
        }
    }

    pub(crate) fn find(&self, columns: usize, names: Option<&[String]>) -> ColumnMatch {
        let numbered = |number: usize| match (1..=columns).contains(&number) {
            true => ColumnMatch::Once(number - 1),
            false => ColumnMatch::Never,
        };
        let name = match self {
            Self::Index(number) => return numbered(*number),
            Self::Name(name) | Self::Either(name) => name,
        };
        let mut found =
            (0..).zip(names.unwrap_or_default()).filter(|(_, other)| *other == name).map(|(place, _)| place);
        match (found.next(), found.next(), self) {
            (Some(first), Some(second), _) => ColumnMatch::Twice(first, second),
            (Some(first), None, _) => ColumnMatch::Once(first),
            (None, _, Self::Either(text)) => text.parse().map_or(ColumnMatch::Never, numbered),
            (None, ..) => ColumnMatch::Never,
        }
    }

    /// The name or number of the column, without quotes.
    pub fn text(&self) -> String {
        match self {
            Self::Index(number) => number.to_string(),
            Self::Name(text) | Self::Either(text) => text.clone(),
        }
    }
}

impl FromStr for ColumnChoice {
    type Err = Infallible;

    /// A number is the name of a column, or else its index from 1; anything else is a name. A name
    /// in double quotes is the text between them, whatever it is: `"3"` is the column that is
    /// called 3.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::told(text))
    }
}

impl fmt::Display for ColumnChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name:?}"),
            Self::Index(number) => write!(f, "{number}"),
            Self::Either(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_by_name_and_number() {
        let told = |text: &str| text.parse::<TargetColumn>().unwrap();
        let name = |name: &str| ColumnChoice::Name(name.to_owned());
        assert_eq!(told("3"), TargetColumn::Either("3".to_owned()));
        assert_eq!(told("\"3\""), TargetColumn::Name("3".to_owned()));
        assert_eq!(told("\"a,b\""), TargetColumn::Name("a,b".to_owned()));
        assert_eq!(told(" a"), TargetColumn::Name(" a".to_owned()));
        let several = told("b, 2,\"4\",\"c,d\",");
        assert_eq!(
            several,
            TargetColumn::Several(vec![
                name("b"),
                ColumnChoice::Either("2".to_owned()),
                name("4"),
                name("c,d"),
                name("")
            ])
        );
        assert_eq!(several.to_string(), "\"b\", 2, \"4\", \"c,d\", \"\"");
        assert_eq!(told(&several.to_string()), several);
    }
}
