//! Schema of a table: the kinds of its columns, found by one look at its head.
//!
//! The rules, for each column, from the cells of the head that are not missing:
//!
//! | kind | rule | encoded as |
//! |---|---|---|
//! | time | instants, or texts that are dates or times ([`Notation`]) | cyclic parts and elapsed time |
//! | constant | there is but one value | a number or a category: it may vary later |
//! | identifier | integers that rise from row to row in a column with a name such as `id`, `order_id`, `index`; or 20 values or more, all different, of which half are texts | nothing |
//! | number | numbers, with signs or units around them ([`Notation`]) or without | a number |
//! | text | longer than 40 bytes on average, and more than half of them different; or all different, 20 or more, most of several words | nothing; words, where [tokens](crate::Encoding::tokens) are asked for |
//! | list | lists of texts or objects, typed in half of the cells or written as JSON in nearly all | nothing; their members, where tokens are asked for |
//! | category | everything else | one-hot, and hashed above a size |
//!
//! A column of numbers or times may have one other cell among twenty: it counts as missing. So do
//! marks of gaps ([`is_gap_mark`](mercer_core::is_gap_mark)), of which there may be any number;
//! among categories they are values. A column without a single value has room for numbers and for
//! categories, and begins with the first that comes. A column of many categories may have the
//! running mean of the target in the rows of each beside it ([`Schema::take_means`]), or be that
//! mean alone. [`Overrides`] decide otherwise.

use std::fmt;

use mercer_core::{Inconsistent, Validate};

use crate::century::Century;
use crate::error::{EncodingError, listed};
use crate::face::CLASSES_TELL;
pub use crate::kind::{Kind, ToldKind};
use crate::notation::Notation;
use crate::overrides::Overrides;
use crate::time_form::TimeForms;
use crate::zone::Zone;

/// Most frequent categories that a schema remembers of a column.
pub(crate) const LISTED: usize = 256;

/// Longest category that is known by its name, in bytes; longer ones are only hashed.
pub(crate) const LONGEST_NAME: usize = 256;

/// Use of a column: encoded, or not and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Use {
    /// It is.
    Encoded,
    /// It is a target, a weight or the like.
    SetAside,
    /// The user does not want it.
    Unwanted,
    /// It names rows.
    Identifier,
    /// It is words for people.
    Text,
    /// It has no value in the head, and begins with the first that it has.
    Late,
    /// Its words become tokens.
    Words,
}

impl Use {
    /// True if rows are learnt by it: its cells become numbers or tokens.
    #[must_use]
    pub fn is_learnt(self) -> bool {
        matches!(self, Self::Encoded | Self::Words)
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Encoded => "encoded",
            Self::SetAside => "set aside",
            Self::Unwanted => "ignored as asked",
            Self::Identifier => "ignored: it names rows",
            Self::Text => "ignored: it is text",
            Self::Late => "encoded from its first value on",
            Self::Words => "its words become tokens",
        })
    }
}

/// The variation of times that the head shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TimeParts {
    /// Times of the day differ.
    pub hour: bool,
    /// Days of the week differ, and some neighbours are less than a week apart.
    pub weekday: bool,
    /// Days of the year differ, and some neighbours are less than 300 days apart.
    pub season: bool,
}

/// A column, as the head shows it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Column {
    /// Its name; its number from 1 where columns have no names.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// Its use: encoded, or not and why.
    pub used: Use,
    /// Cells of the head that are missing.
    pub missing: u64,
    /// Different values in the head; after 10,000 of them no more are counted.
    pub distinct: u64,
    /// The smallest and the largest number, or instant in seconds since 1970.
    pub range: Option<(f64, f64)>,
    /// The most frequent values of a category with their counts, at most 256.
    pub categories: Vec<(String, u64)>,
    /// For times.
    pub time: TimeParts,
    /// The forms of the times of the head.
    pub forms: TimeForms,
    /// True if a category has the mean of the target beside its places.
    pub mean: bool,
    /// The notation of its texts.
    pub notation: Notation,
    /// Why it is what it is, where that is not plain; else nothing.
    pub why: String,
    /// True if it counts the rows. It is known of a head alone, and not kept in a file.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub counter: bool,
}

impl Column {
    /// True if it is encoded as a category.
    pub(crate) fn is_category(&self) -> bool {
        match self.kind {
            Kind::Category => true,
            Kind::Constant => self.range.is_none(),
            _ => false,
        }
    }

    /// True if it is words, or one of more categories than have a number of their own.
    pub(crate) fn says_words(&self, own: usize) -> bool {
        let many = self.is_category() && self.distinct > own as u64;
        self.used == Use::Words || self.used == Use::Encoded && many
    }

    /// True if most of its categories are several words, and two thirds of its cells differ.
    fn are_titles(&self, rows: u64) -> bool {
        let is_title = |(title, _): &&(String, u64)| title.split_whitespace().nth(1).is_some();
        let titles = self.categories.iter().filter(is_title).count();
        let encoded = self.kind == Kind::Category && self.used == Use::Encoded;
        encoded && 3 * self.distinct > 2 * (rows - self.missing) && 2 * titles > self.categories.len()
    }

    /// True if it is a number in every row of the head.
    pub(crate) fn is_plain_number(&self) -> bool {
        self.missing == 0
            && self.notation.is_plain()
            && self.range.is_some()
            && matches!(self.kind, Kind::Number | Kind::Constant | Kind::Identifier)
    }
}

impl Column {
    /// True if it holds numbers, of which a row may be a gap, or has no value so far.
    #[must_use]
    pub fn holds_numbers(&self) -> bool {
        let are_numbers = matches!(self.kind, Kind::Number | Kind::Constant | Kind::Identifier);
        self.used == Use::Late || self.range.is_some() && are_numbers
    }

    /// The notation of the times of the rows, if it tells them.
    #[must_use]
    pub fn times(&self) -> Option<&Notation> {
        (self.kind == Kind::Time).then_some(&self.notation)
    }

    /// The notation of its numbers: as they stand, unless it is decided otherwise.
    #[must_use]
    pub fn numerals(&self) -> Notation {
        if self.kind == Kind::Time { Notation::Plain } else { self.notation.clone() }
    }

    /// A column of which nothing has been seen.
    pub(crate) fn late(name: String, told: ToldKind, zone: Option<&Zone>) -> Self {
        let ToldKind { kind, order, durations } = told;
        let used = match kind {
            Kind::Identifier => Use::Identifier,
            Kind::Text | Kind::List => Use::Text,
            _ => Use::Encoded,
        };
        let all = TimeParts { hour: true, weekday: true, season: true };
        let time = if kind == Kind::Time { all } else { TimeParts::default() };
        let usual = if durations { Notation::Duration } else { Notation::Plain };
        let notation = order.map_or(usual, |order| Notation::Day(order, Some(Century::USUAL)));
        Self {
            name,
            kind,
            used,
            missing: 0,
            distinct: 0,
            range: None,
            categories: Vec::new(),
            time,
            mean: kind == Kind::Category,
            notation: match zone {
                Some(zone) if kind == Kind::Time => notation.in_zone(zone),
                _ => notation,
            },
            why: String::new(),
            forms: TimeForms::default(),
            counter: false,
        }
    }
}

/// The kinds and uses of the columns of a table.
///
/// ```
/// use mercer_encoding::{Cell, Kind, Overrides, Schema};
///
/// let names = ["day", "shop", "price"].map(str::to_owned);
/// let head = [
///     [Cell::Text("2024-05-01"), Cell::Text("Ulm"), Cell::Number(3.5)],
///     [Cell::Text("2024-05-02"), Cell::Text("Bonn"), Cell::Missing],
///     [Cell::Text("2024-05-03"), Cell::Text("Ulm"), Cell::Number(4.0)],
/// ];
/// let schema = Schema::infer(&names, &head, &Overrides::default())?;
/// let kinds: Vec<Kind> = schema.columns().iter().map(|column| column.kind).collect();
/// assert_eq!(kinds, [Kind::Time, Kind::Category, Kind::Number]);
/// assert_eq!(schema.columns()[2].missing, 1);
/// # Ok::<(), mercer_encoding::EncodingError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Schema {
    pub(crate) rows: u64,
    pub(crate) named: bool,
    pub(crate) columns: Vec<Column>,
}

impl Schema {
    /// Rows of the head.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The columns, in the order of the file that was looked at.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// True if columns have names; otherwise they are told by their places.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// True if some column that may be used is no number, or has gaps in the head.
    #[must_use]
    pub fn needs_encoding(&self) -> bool {
        self.columns
            .iter()
            .any(|column| !matches!(column.used, Use::SetAside | Use::Unwanted) && !column.is_plain_number())
    }

    /// Puts the mean of the target beside each column of more than `own` categories in the head,
    /// unless its kind is among those told. Use it where the target is a number or one of two
    /// classes, and `Transform::learn_with` is told it in every row.
    pub fn take_means(&mut self, told: &Overrides, own: usize) {
        let told = self.told(told);
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.mean = column.kind == Kind::Category
                && column.distinct > own as u64
                && told.iter().all(|(told, _)| *told != place);
        }
    }

    /// Says of the target at `place` that its numbers may be codes of classes, if they are a few
    /// whole ones that follow one another from 0 or 1. Use it where nobody told what the target is.
    pub fn doubt_codes(&mut self, place: usize) {
        let Some(column) = self.columns.get_mut(place) else { return };
        let Some((low, high)) = column.range.filter(|_| column.kind == Kind::Number && column.notation.is_plain())
        else {
            return;
        };
        let follow = (low == 0.0 || low == 1.0) && high - low + 1.0 == column.distinct as f64;
        if follow && (3..=6).contains(&column.distinct) && self.rows >= 5 * column.distinct && column.why.is_empty() {
            column.why = format!("holds {low} to {high} alone, as codes of classes do; {CLASSES_TELL}");
        }
    }

    /// Has the words of texts become tokens, for learners that take them. Categories of several
    /// words, two thirds of which differ, are texts to them, unless their kind is among those told.
    pub fn take_words(&mut self, overrides: &Overrides) {
        let (told, rows) = (self.told(overrides), self.rows);
        let named = |list: &[String], place: usize| {
            let is_it = |name: &String| self.place_of(name) == Some(place);
            list.iter().any(is_it)
        };
        let unwanted = |place| {
            let Overrides { ignore, only, .. } = overrides;
            named(ignore, place) || !(only.is_empty() || named(only, place))
        };
        let is_text = |(place, column): (usize, &Column)| match told.iter().find(|(told, _)| *told == place) {
            Some((_, kind)) => {
                matches!(kind, Kind::Text | Kind::List) && column.used == Use::Unwanted && !unwanted(place)
            }
            None => column.used == Use::Text || column.are_titles(rows),
        };
        let texts: Vec<bool> = self.columns.iter().enumerate().map(is_text).collect();
        for (column, _) in self.columns.iter_mut().zip(texts).filter(|(_, is_text)| *is_text) {
            column.kind = if column.kind == Kind::List { Kind::List } else { Kind::Text };
            column.used = Use::Words;
        }
    }

    /// The places of columns whose kinds are told, with these.
    fn told(&self, overrides: &Overrides) -> Vec<(usize, Kind)> {
        overrides.kinds.iter().filter_map(|(name, told)| Some((self.place_of(name)?, told.kind))).collect()
    }

    /// The place of a column by its name or number.
    fn place_of(&self, name: &str) -> Option<usize> {
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        Self::place(&names, self.named, name).ok()
    }

    /// Place of a column by its name; `#3`, or `3` without names, is the third.
    pub(crate) fn place(columns: &[String], named: bool, name: &str) -> Result<usize, EncodingError> {
        let place = columns.iter().position(|column| column == name);
        place.map_or_else(|| Self::place_by_number(columns, named, name), Ok)
    }

    /// Place of a column of which no name is that.
    pub(crate) fn place_by_number(columns: &[String], named: bool, name: &str) -> Result<usize, EncodingError> {
        let digits = if named { name.strip_prefix('#') } else { Some(name.trim_start_matches('#')) };
        let place = digits.and_then(|digits| digits.parse::<usize>().ok());
        let place = place.filter(|place| (1..=columns.len()).contains(place)).map(|place| place - 1);
        place.ok_or_else(|| EncodingError::NoColumn {
            name: name.to_owned(),
            known: listed(columns.iter().map(String::as_str)),
        })
    }
}

impl Validate for Schema {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "schema";
        for column in &self.columns {
            Inconsistent::require(column.missing <= self.rows, WHAT, "no more cells are missing than there are rows")?;
            if let Some((low, high)) = column.range {
                (low, high).validate()?;
                Inconsistent::require(low <= high, WHAT, "ranges are in order")?;
            }
            let short = column.categories.len() <= LISTED
                && column.categories.iter().all(|(name, _)| name.len() <= LONGEST_NAME);
            Inconsistent::require(short, WHAT, "it lists few categories")?;
        }
        Ok(())
    }
}
