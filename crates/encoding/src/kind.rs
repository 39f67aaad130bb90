//! The kinds of columns.

use std::fmt;
use std::str::FromStr;

use mercer_core::{Cell, List, parse_instant};

use crate::error::EncodingError;
use crate::notation::{DayOrder, Notation, is_gap};
use crate::numeral::is_code;

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
    /// Several values: the members of a list, or names with numbers.
    List,
}

mercer_core::names!(pub Kind {
    Number = "number", Category = "category", Time = "time", Text = "text", Constant = "constant",
    Identifier = "identifier", Mean = "mean", List = "list"
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
    /// For numbers, that they are the seconds of durations.
    pub durations: bool,
}

impl ToldKind {
    /// The kind of a column of which nothing is known but its first value: a number, typed or as
    /// every program writes it, a duration, a time, a list, or a category. `None` for a gap,
    /// which tells nothing.
    #[must_use]
    pub fn of_first(cell: Cell<'_>) -> Option<Self> {
        let kind = match cell {
            cell if is_gap(cell) => return None,
            Cell::Instant(_) | Cell::LocalTime(_) | Cell::TimeOfDay(_) => Kind::Time,
            Cell::List(_) => Kind::List,
            Cell::Duration(_) => return Some(Self { durations: true, ..Kind::Number.into() }),
            Cell::Text(text) if List::begins(text) && List::read(text).is_ok() => Kind::List,
            Cell::Text(text) if parse_instant(text).is_some() => Kind::Time,
            Cell::Text(text) | Cell::Numeral(_, text) if is_code(text.trim()) => Kind::Category,
            _ if Notation::Plain.number(cell).is_some() => Kind::Number,
            _ => Kind::Category,
        };
        Some(kind.into())
    }
}

impl fmt::Display for ToldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.order.map_or(if self.durations { "duration" } else { self.kind.name() }, DayOrder::name))
    }
}

impl From<Kind> for ToldKind {
    fn from(kind: Kind) -> Self {
        Self { kind, order: None, durations: false }
    }
}

impl From<DayOrder> for ToldKind {
    fn from(order: DayOrder) -> Self {
        Self { order: Some(order), ..Kind::Time.into() }
    }
}

impl FromStr for ToldKind {
    type Err = EncodingError;

    /// A [`Kind`] that can be asked for, `duration`, or `dmy`, `mdy` or `ymd`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "duration" {
            return Ok(Self { durations: true, ..Kind::Number.into() });
        }
        DayOrder::named(text).map_or_else(|| text.parse::<Kind>().map(Self::from), |order| Ok(order.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Encoding;
    use crate::transform::EncodingOptions;

    #[test]
    fn a_first_value_tells_the_kind_as_a_column_of_such_values_does() {
        let kind = |cell| ToldKind::of_first(cell).map(|told| told.to_string());
        for text in ["1.5", " -3e2 ", "0", "0.5", "7"] {
            assert_eq!(kind(Cell::Text(text)).as_deref(), Some("number"), "{text}");
        }
        for text in ["01234", "A12", "12 kg", "true", "1.2.3", "1,5"] {
            assert_eq!(kind(Cell::Text(text)).as_deref(), Some("category"), "{text}");
        }
        assert_eq!(kind(Cell::Text("2024-05-01")).as_deref(), Some("time"));
        assert_eq!(kind(Cell::Duration(90.0)).as_deref(), Some("duration"));
        assert_eq!(kind(Cell::Truth(true)).as_deref(), Some("category"));
        assert_eq!([kind(Cell::Missing), kind(Cell::Text("NA")), kind(Cell::Text("?"))], [None, None, None]);
        for told in ["number", "duration", "time", "mdy", "category"] {
            assert_eq!(told.parse::<ToldKind>().map(|told| told.to_string()).as_deref(), Ok(told));
        }
    }

    #[test]
    fn a_column_of_durations_that_is_told_or_begins_late_has_seconds() {
        let told = "duration".parse::<ToldKind>().unwrap();
        let encoding = Encoding::of_kinds([("took".to_owned(), told)], EncodingOptions::default()).unwrap();
        let numbers = |cell| {
            let mut numbers = Vec::new();
            encoding.encode(&[cell], &mut numbers).unwrap();
            numbers
        };
        assert_eq!(numbers(Cell::Duration(93_600.0))[0], 93_600.0);
        assert_eq!(numbers(Cell::Text("26:00:00")), numbers(Cell::Duration(93_600.0)));
        let odd = |cell| encoding.transform().oddities(&[cell]).count();
        assert_eq!([odd(Cell::Duration(5.0)), odd(Cell::Text("early"))], [0, 1]);
    }
}
