//! The kinds of columns.

use std::fmt;
use std::str::FromStr;

use crate::error::EncodingError;
use crate::notation::DayOrder;

/// Kinds of the values of a column. [The module of schemas](crate::schema) has the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Kind {
    /// Numbers.
    Number,
    /// One of some values without an order.
    Category,
    /// Dates or times.
    Time,
    /// Words for people.
    Text,
    /// One value only, in the head.
    Constant,
    /// A name for the row.
    Identifier,
    /// One of many values, known by the mean of the target in its rows. It must be told.
    Mean,
}

mercer_core::names!(pub Kind {
    Number = "number", Category = "category", Time = "time", Text = "text", Constant = "constant",
    Identifier = "identifier", Mean = "mean"
});

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = EncodingError;

    /// A kind that can be asked for: every one but `constant`, also `date` for `time`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = if text == "date" { "time" } else { text };
        let known = Self::named(text).filter(|kind| *kind != Self::Constant);
        known.ok_or_else(|| EncodingError::Override(text.to_owned()))
    }
}

/// The kind of a column that a user tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToldKind {
    /// Its kind.
    pub kind: Kind,
    /// For times, the order in which days are written.
    pub order: Option<DayOrder>,
}

impl From<Kind> for ToldKind {
    fn from(kind: Kind) -> Self {
        Self { kind, order: None }
    }
}

impl From<DayOrder> for ToldKind {
    fn from(order: DayOrder) -> Self {
        Self { kind: Kind::Time, order: Some(order) }
    }
}

impl FromStr for ToldKind {
    type Err = EncodingError;

    /// A [`Kind`] that can be asked for, or `dmy`, `mdy` or `ymd`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DayOrder::from_name(text).map_or_else(|| text.parse::<Kind>().map(Self::from), |order| Ok(order.into()))
    }
}
