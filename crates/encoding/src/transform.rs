//! From the cells of a record to the numbers that a learner takes, with statistics that move row by row.
//!
//! | kind of column | numbers |
//! |---|---|
//! | number, constant number | the scaled value ([`Scale`]) |
//! | category, constant text | one for each of `s` categories, and `h` for all others |
//! | time | sine and cosine of the hour, the weekday and the season, each where the head shows variation; years since the head's first instant, scaled as numbers are |
//! | each of them with 1% gaps or more in the head | one more: 1 for a gap, else 0 |
//!
//! **Gaps.** A missing number becomes what [`Scale`] says, a missing category zeros, a missing time zeros with the running mean of the years. A cell
//! that does not fit its column counts as missing.
//!
//! **Categories and the input dimension.** A column with `k` categories in the head has room for `s = k + max(2, k/2)` categories, at most
//! [`EncodingOptions::categories`]. The most frequent have a number each from the start; a new one gets the next free number when it is
//! learnt. A category without a number is hashed to one of `h` further numbers with a sign (Weinberger et al., *Feature hashing*, ICML 2009): `h` is 4 while all
//! fit, else [`EncodingOptions::hashed`]. So the dimension is settled by the head. The other way, `RegressorExt::grow`, would only serve
//! learners that can grow: Taylor features and a settled `auto` cannot. Unused numbers are 0, change no
//! distance, and cost only their share of a kernel row.
//!
//! **Order.** [`encode`](Transform::encode) uses the statistics of the rows learnt before and changes nothing; [`learn`](Transform::learn) moves them. A caller
//! encodes a row, then learns it. So a row has the same numbers, bit for bit, whether it is read alone or in a batch. The first row is defined: scaled numbers
//! are 0 until two different values were learnt. Better is to [`learn`](Transform::learn) the head once before the first row, as
//! `Encoding::look` does.
//!
//! **When it acts.** If every column is a number in every row of the head and no scaling is asked for, numbers pass as they are, those that look like
//! identifiers too: [`is_identity`](Transform::is_identity). [`EncodingOptions::always`], a scaling, or a column that is no number or has gaps
//! turns encoding on.
//!
//! `O(d)` a row for numbers, and up to `s` comparisons of text for a category. Memory: some numbers a column, 32 categories, and with robust scaling some 600 numbers.

mod category;
mod time;

use mercer_core::{Cell, Cells, Inconsistent, ParameterError, Validate};

use crate::error::EncodingError;
use crate::scale::{NumberScale, Scale};
use crate::schema::{Column, Kind, Schema, Use};

use category::Categories;
use time::Times;

/// Columns of numbers that a category may become at most, each of one-hot and hashed.
pub(crate) const MOST_SLOTS: usize = 256;

/// Categories that a column is made for which the head does not have.
const LATE_CATEGORIES: usize = 8;

/// One row in so many has a gap where gaps are told by a number of their own.
const ROWS_A_GAP: u64 = 100;

/// How columns are encoded.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EncodingOptions {
    /// How numbers are scaled; by default not at all.
    pub scale: Scale,
    /// Whether identifiers are left out even if every column is a number; by default not.
    pub always: bool,
    /// Categories of a column that have a number of their own at most, from 0 to 256; by default 32.
    pub categories: usize,
    /// Numbers that the categories of a column beyond those share, from 1 to 256; by default 32.
    pub hashed: usize,
}

impl Default for EncodingOptions {
    fn default() -> Self {
        Self { scale: Scale::None, always: false, categories: 32, hashed: 32 }
    }
}

impl EncodingOptions {
    /// The same with another [`scale`](Self#structfield.scale).
    #[must_use]
    pub fn scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    /// The same with another [`always`](Self#structfield.always).
    #[must_use]
    pub fn always(self, always: bool) -> Self {
        Self { always, ..self }
    }

    /// The same with other [`categories`](Self#structfield.categories).
    #[must_use]
    pub fn categories(self, categories: usize) -> Self {
        Self { categories, ..self }
    }

    /// The same with other [`hashed`](Self#structfield.hashed).
    #[must_use]
    pub fn hashed(self, hashed: usize) -> Self {
        Self { hashed, ..self }
    }
}

impl EncodingOptions {
    fn checked(self) -> Result<Self, ParameterError> {
        let Self { categories, hashed, .. } = self;
        ParameterError::require(categories <= MOST_SLOTS, "categories", "from 0 to 256", categories as f64)?;
        ParameterError::require((1..=MOST_SLOTS).contains(&hashed), "hashed", "from 1 to 256", hashed as f64)?;
        Ok(self)
    }
}

/// What is odd about a cell, to be reported once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Oddity {
    /// A category that has no number of its own.
    NewCategory,
    /// A cell that is not of the column's kind, and counts as missing.
    Misfit,
}

/// Columns to numbers; see [the module](self).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transform {
    options: EncodingOptions,
    columns: Vec<Encoder>,
    dimension: usize,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Encoder {
    /// A target or a weight.
    Aside,
    Ignored,
    Number(Numbers),
    Category(Categories),
    Time(Times),
}

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Numbers {
    scale: NumberScale,
    gaps: bool,
}

impl Transform {
    /// A transform of the columns of a schema that has learnt no row.
    ///
    /// # Errors
    /// [`EncodingError::Parameter`] for an option out of range, [`EncodingError::NothingLeft`] when no number would come out.
    pub fn new(schema: &Schema, options: EncodingOptions) -> Result<Self, EncodingError> {
        let EncodingOptions { scale, always, categories, hashed } = options.checked()?;
        let acts = always || scale != Scale::None || schema.needs_encoding();
        let encoder = |column: &Column| {
            let gaps = column.missing > 0 && column.missing * ROWS_A_GAP >= schema.rows();
            match column.used {
                Use::SetAside => Encoder::Aside,
                Use::Identifier if !acts => Encoder::Number(Numbers { scale: NumberScale::new(scale, None), gaps }),
                Use::Encoded if column.is_category() => {
                    Encoder::Category(Categories::new(column, column.distinct as usize, (categories, hashed), gaps))
                }
                Use::Encoded if column.kind == Kind::Time => Encoder::Time(Times::new(column, scale, gaps)),
                Use::Encoded => Encoder::Number(Numbers { scale: NumberScale::new(scale, column.range), gaps }),
                _ => Encoder::Ignored,
            }
        };
        let columns: Vec<Encoder> = schema.columns().iter().map(encoder).collect();
        let dimension = columns.iter().map(Encoder::width).sum();
        if dimension == 0 { Err(EncodingError::NothingLeft) } else { Ok(Self { options, columns, dimension }) }
    }

    /// One without columns, which are to join.
    pub(crate) fn empty(options: EncodingOptions) -> Result<Self, EncodingError> {
        Ok(Self { options: options.checked()?, columns: Vec::new(), dimension: 0 })
    }

    /// How columns are encoded.
    #[must_use]
    pub fn options(&self) -> EncodingOptions {
        self.options
    }

    /// Takes a column that appears late, behind the others: how many numbers it adds.
    pub(crate) fn push(&mut self, column: &Column) -> usize {
        let EncodingOptions { scale, categories, hashed, .. } = self.options;
        // Nobody knows the range of what was not there.
        let scale = if matches!(scale, Scale::Paper01 | Scale::Paper11) { Scale::Range } else { scale };
        let encoder = match column.kind {
            _ if column.used != Use::Encoded => Encoder::Ignored,
            Kind::Category => Encoder::Category(Categories::new(column, LATE_CATEGORIES, (categories, hashed), false)),
            Kind::Time => Encoder::Time(Times::new(column, scale, false)),
            _ => Encoder::Number(Numbers { scale: NumberScale::new(scale, None), gaps: false }),
        };
        let added = encoder.width();
        self.columns.push(encoder);
        self.dimension += added;
        added
    }

    /// Numbers that a record becomes.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Cells of a record.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Whether the numbers of a record pass as they are, all of them but those set aside. (A gap, of which the head had none, still becomes the
    /// running mean.)
    #[must_use]
    pub fn is_identity(&self) -> bool {
        let plain = Numbers::is_plain;
        self.columns.iter().all(|column| match column {
            Encoder::Aside => true,
            Encoder::Number(numbers) => plain(numbers),
            _ => false,
        })
    }

    /// Appends the numbers of a record, [`dimension`](Self::dimension) of them, all finite. A record has a cell for every column of the schema.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]; nothing is then appended.
    pub fn encode(&self, record: &(impl Cells + ?Sized), numbers: &mut Vec<f64>) -> Result<(), EncodingError> {
        self.check(record)?;
        for (place, column) in self.columns.iter().enumerate() {
            match column {
                Encoder::Aside | Encoder::Ignored => {}
                Encoder::Number(column) => column.encode(record.cell(place), numbers),
                Encoder::Category(column) => column.encode(record.cell(place), numbers),
                Encoder::Time(column) => column.encode(record.cell(place), numbers),
            }
        }
        Ok(())
    }

    /// Moves the statistics by a record: after [`encode`](Self::encode), or for the head before the first row.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]; nothing is then learnt.
    pub fn learn(&mut self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        self.check(record)?;
        for (place, column) in self.columns.iter_mut().enumerate() {
            match column {
                Encoder::Aside | Encoder::Ignored => {}
                Encoder::Number(column) => {
                    if let Some(value) = number(record.cell(place)) {
                        column.scale.learn(value);
                    }
                }
                Encoder::Category(column) => column.learn(record.cell(place)),
                Encoder::Time(column) => column.learn(record.cell(place)),
            }
        }
        Ok(())
    }

    /// What is odd about the cells of a record, with their columns.
    pub fn oddities(&self, record: &(impl Cells + ?Sized)) -> impl Iterator<Item = (usize, Oddity)> {
        let columns = self.columns.iter().enumerate().take(record.width());
        columns.filter_map(|(place, column)| {
            let cell = record.cell(place);
            let misfit = |fits: bool| (!fits && cell != Cell::Missing).then_some(Oddity::Misfit);
            let odd = match column {
                Encoder::Aside | Encoder::Ignored => None,
                Encoder::Number(_) => misfit(number(cell).is_some()),
                Encoder::Category(column) => column.oddity(cell),
                Encoder::Time(_) => misfit(time::instant(cell).is_some()),
            };
            odd.map(|odd| (place, odd))
        })
    }

    /// The names of the numbers, of a transform of `schema`.
    #[must_use]
    pub fn names(&self, schema: &Schema) -> Vec<String> {
        let mut names = Vec::with_capacity(self.dimension);
        for (encoder, Column { name, .. }) in self.columns.iter().zip(schema.columns()) {
            match encoder {
                Encoder::Aside | Encoder::Ignored => {}
                Encoder::Number(numbers) => {
                    names.push(name.clone());
                    names.extend(numbers.gaps.then(|| gap_name(name)));
                }
                Encoder::Category(categories) => categories.names(name, &mut names),
                Encoder::Time(times) => times.names(name, &mut names),
            }
        }
        names
    }

    /// What is done with column `column`, in words; `None` for one that is not encoded.
    #[must_use]
    pub fn treatment(&self, column: usize) -> Option<String> {
        let (words, gaps) = match self.columns.get(column)? {
            Encoder::Aside | Encoder::Ignored => return None,
            Encoder::Number(numbers) => (numbers.scale.words().to_owned(), numbers.gaps),
            Encoder::Category(categories) => (categories.words(), categories.gaps()),
            Encoder::Time(times) => (times.words(), times.gaps()),
        };
        Some(if gaps { format!("{words}; gaps told") } else { words })
    }

    fn check(&self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        let (expected, got) = (self.columns.len(), record.width());
        if expected == got { Ok(()) } else { Err(EncodingError::Cells { expected, got }) }
    }
}

impl Encoder {
    fn width(&self) -> usize {
        match self {
            Self::Aside | Self::Ignored => 0,
            Self::Number(numbers) => 1 + usize::from(numbers.gaps),
            Self::Category(categories) => categories.width(),
            Self::Time(times) => times.width(),
        }
    }
}

impl Numbers {
    fn is_plain(&self) -> bool {
        matches!(self.scale, NumberScale::None(_)) && !self.gaps
    }

    fn encode(&self, cell: Cell<'_>, numbers: &mut Vec<f64>) {
        let value = number(cell);
        numbers.push(value.map_or_else(|| self.scale.gap(), |value| self.scale.encode(value)));
        push_gap(self.gaps, value.is_none(), numbers);
    }
}

/// The number that tells a gap, where there is one.
fn push_gap(told: bool, gap: bool, numbers: &mut Vec<f64>) {
    if told {
        numbers.push(f64::from(u8::from(gap)));
    }
}

fn gap_name(name: &str) -> String {
    format!("{name} is missing")
}

/// The finite number of a cell.
fn number(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Number(value) if value.is_finite() => Some(value),
        _ => None,
    }
}

impl Validate for Transform {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "transform";
        Inconsistent::require(self.options.checked().is_ok(), WHAT, "its options are in range")?;
        for column in &self.columns {
            match column {
                Encoder::Aside | Encoder::Ignored => {}
                Encoder::Number(numbers) => numbers.scale.validate()?,
                Encoder::Category(categories) => categories.validate()?,
                Encoder::Time(times) => times.validate()?,
            }
        }
        let dimension: usize = self.columns.iter().map(Encoder::width).sum();
        Inconsistent::require(dimension == self.dimension, WHAT, "its dimension is that of its columns")?;
        Inconsistent::require(dimension > 0, WHAT, "it makes some number")?;
        Inconsistent::size(dimension, WHAT)
    }
}
