//! From the cells of a record to the numbers that a learner takes, with statistics that move row by
//! row.
//!
//! | kind of column | numbers |
//! |---|---|
//! | number, constant number | the scaled value ([`Scale`]) |
//! | category, constant text | one for each of `s` categories, and `h` for all others |
//! | category that is told to be a mean | the running mean of the target in its rows, scaled as numbers are |
//! | one of many ([`Column::mean`]), or of a column that came late | as a category, and the mean behind it |
//! | time | sine and cosine of the hour, the weekday and the season, each where the head shows variation; years since the head's first instant, scaled as numbers are |
//! | each of them with 1% gaps or more in the head | one more: 1 for a gap, else 0 |
//!
//! **Gaps.** A missing number becomes what [`Scale`] says, a missing category zeros, a missing time
//! zeros with the running mean of the years. A cell that does not fit its column counts as missing.
//!
//! **Categories and the input dimension.** The categories of the head have a number each, at most
//! [`EncodingOptions::categories`] a column. What comes later goes to a pool that all columns
//! share: the next free one of as many numbers again, or, when these are taken, one of 16 more by
//! its hash, with a sign (Weinberger et al., *Feature hashing*, ICML 2009). A column with more
//! categories in the head than fit has [`EncodingOptions::hashed`] numbers of its own for the
//! others. The head settles the dimension. Unused numbers are 0 and change no distance.
//!
//! **Order.** [`encode`](Transform::encode) uses the statistics of the rows learnt before and
//! changes nothing; [`learn`](Transform::learn) moves them. A caller encodes a row, then learns it.
//! So a row has the same numbers, bit for bit, whether it is read alone or in a batch. The first
//! row is defined: scaled numbers are 0 until two different values were learnt. Better is to
//! [`learn`](Transform::learn) the head once before the first row, as `Encoding::look` does.
//!
//! `O(d)` a row for numbers, and up to `s` comparisons of text for a category. Memory: some numbers
//! a column, 32 categories, and with robust scaling some 600 numbers.

mod category;
mod encoder;
mod late;
mod mean;
mod measures;
mod recipe;
mod time;
mod word_shares;

use mercer_core::{Cell, Cells, Inconsistent, Oddity, ParameterError, TokenUse, Validate};

use crate::error::EncodingError;
use crate::left_out::LeftOut;
use crate::notation::{Notation, is_gap};
use crate::scale::Scale;
use crate::schema::{Column, Kind, Schema, Use};

use category::{Categories, Pool};
use encoder::{Encoder, NumberColumn, gap_name, tell_gap};
use late::Late;
use mean::Means;
pub use measures::{HeldRecord, Measures};
pub use recipe::{CategoryRecipe, ColumnRecipe, NoRecipe, NoRecipeReason, NumberRecipe, ScaleRecipe};
use time::Times;

/// Columns of numbers that a category may become at most, each of one-hot and hashed.
pub(crate) const MOST_SLOTS: usize = 256;

/// Categories that a column is made for which the head does not have.
const LATE_CATEGORIES: usize = 8;

/// One row in so many has a gap where gaps are told by a number of their own.
const ROWS_A_GAP: u64 = 100;

/// Options of the encoding of columns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EncodingOptions {
    /// The scale of numbers; by default none.
    pub scale: Scale,
    /// True if identifiers are left out even if every column is a number; by default not.
    pub always: bool,
    /// Categories of a column that have a number of their own at most, from 0 to 256; by
    /// default 32.
    pub categories: usize,
    /// Numbers that the categories of a column beyond those share, from 1 to 256; by default 32.
    pub hashed: usize,
    /// The tables of which a record also becomes [tokens](crate::Encoding::tokens), for learners
    /// that take them; by default none.
    pub tokens: TokenUse,
}

impl Default for EncodingOptions {
    fn default() -> Self {
        Self { scale: Scale::None, always: false, categories: 32, hashed: 32, tokens: TokenUse::Never }
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

    /// The same with other [`tokens`](Self#structfield.tokens).
    #[must_use]
    pub fn tokens(self, tokens: TokenUse) -> Self {
        Self { tokens, ..self }
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

/// Columns to numbers; see [the module](self).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transform {
    options: EncodingOptions,
    columns: Vec<Encoder>,
    pool: Pool,
    /// Columns before the pool; those behind it came later.
    before: usize,
    dimension: usize,
}

impl Transform {
    /// A transform of the columns of a schema that has learnt no row.
    ///
    /// # Errors
    /// [`EncodingError::Parameter`] for an option out of range, [`EncodingError::NothingLeft`] when
    /// no number would come out.
    pub fn new(schema: &Schema, options: EncodingOptions) -> Result<Self, EncodingError> {
        let EncodingOptions { scale, always, categories, hashed, .. } = options.checked()?;
        let acts = always || scale != Scale::None || schema.needs_encoding();
        let encoder = |column: &Column| {
            let gaps = column.missing > 0 && column.missing * ROWS_A_GAP >= schema.rows();
            match column.used {
                Use::SetAside => Encoder::Aside,
                Use::Identifier if !acts => Encoder::Number(NumberColumn::new(scale, gaps, column)),
                Use::Late => Encoder::Late(Late::new(column, scale, (categories, hashed))),
                Use::Encoded if column.is_category() => {
                    let made = Categories::new(column, column.distinct as usize, (categories, hashed), gaps);
                    Encoder::of_categories(made, column, scale)
                }
                Use::Encoded if column.kind == Kind::Mean => Encoder::Mean(Means::new(scale, gaps)),
                Use::Encoded if column.kind == Kind::Time => Encoder::Time(Times::new(column, scale, gaps)),
                Use::Encoded => Encoder::Number(NumberColumn::new(scale, gaps, column)),
                _ => Encoder::Ignored,
            }
        };
        let has_words = schema.columns().iter().any(|column| column.used == Use::Words);
        let columns: Vec<Encoder> = schema.columns().iter().map(encoder).collect();
        let shares = columns.iter().filter_map(Encoder::categories).any(Categories::shares);
        let pool = if shares { Pool::new(categories, hashed) } else { Pool::default() };
        let dimension = columns.iter().map(Encoder::width).sum::<usize>() + pool.width();
        let before = columns.len();
        if dimension == 0 && !has_words {
            let columns =
                || schema.columns().iter().filter(|column| matches!(column.used, Use::Text | Use::Identifier));
            let doubt = columns().find(|column| !column.why.is_empty()).or_else(|| columns().next()).cloned();
            return Err(doubt.map_or(EncodingError::NothingLeft, |Column { name, why, kind, .. }| {
                let left_out = if kind == Kind::List { LeftOut::Lists } else { LeftOut::NamesOrText };
                EncodingError::OneInDoubt { why: if why.is_empty() { left_out.doubt(&name) } else { why }, name }
            }));
        }
        Ok(Self { options, columns, pool, before, dimension })
    }

    /// One without columns, which are to join.
    pub(crate) fn empty(options: EncodingOptions) -> Result<Self, EncodingError> {
        let (columns, pool) = (Vec::new(), Pool::default());
        Ok(Self { options: options.checked()?, columns, pool, before: 0, dimension: 0 })
    }

    /// The options by which columns are encoded.
    #[must_use]
    pub fn options(&self) -> EncodingOptions {
        self.options
    }

    /// Takes a column that appears late, behind the others: how many numbers it adds.
    pub(crate) fn push(&mut self, column: &Column) -> usize {
        let EncodingOptions { scale, categories, hashed, .. } = self.options;
        let encoder = match column.kind {
            _ if column.used != Use::Encoded => Encoder::Ignored,
            Kind::Category => {
                let made = Categories::new(column, LATE_CATEGORIES, (categories, hashed), false);
                Encoder::of_categories(made.apart(hashed), column, scale)
            }
            Kind::Mean => Encoder::Mean(Means::new(scale, false)),
            Kind::Time => Encoder::Time(Times::new(column, scale, false)),
            _ => Encoder::Number(NumberColumn::new(scale, false, column)),
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

    /// True if the numbers of a record pass as they are, all of them but those set aside. (A gap,
    /// of which the head had none, still becomes the running mean.)
    ///
    /// If every column is a number in every row of the head and no scaling is asked
    /// for, numbers pass as they are, those that look like identifiers too.
    /// [`EncodingOptions::always`], a scaling, or a column
    /// that is no number or has gaps turns encoding on.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        let plain = NumberColumn::is_plain;
        self.columns.iter().all(|column| match column {
            Encoder::Aside => true,
            Encoder::Number(numbers) => plain(numbers),
            _ => false,
        })
    }

    /// Appends the numbers of a record, [`dimension`](Self::dimension) of them, all finite. A
    /// record has a cell for every column of the schema.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]; nothing is then appended.
    pub fn encode(&self, record: &(impl Cells + ?Sized), numbers: &mut Vec<f64>) -> Result<(), EncodingError> {
        self.check(record)?;
        let start = numbers.len();
        numbers.resize(start + self.dimension, 0.0);
        let (before, after) = self.columns.split_at(self.before);
        let late: usize = after.iter().map(Encoder::width).sum();
        let (own, behind) = numbers[start..].split_at_mut(self.dimension - late - self.pool.width());
        let (pooled, late) = behind.split_at_mut(self.pool.width());
        let mut places = 0..;
        for (columns, mut own) in [(before, own), (after, late)] {
            for (column, place) in columns.iter().zip(&mut places) {
                let mut network = String::new();
                let cell = column.read(record.cell(place), &mut network);
                let numbers = own.split_off_mut(..column.width()).unwrap_or_default();
                match column {
                    Encoder::Aside | Encoder::Ignored => {}
                    Encoder::Number(column) => column.encode(cell, numbers),
                    Encoder::Category(own) | Encoder::Network(own) => {
                        own.encode(cell, numbers, place, (&self.pool, pooled));
                    }
                    Encoder::Mean(column) => column.encode(cell, numbers),
                    Encoder::Many(categories, means) | Encoder::ManyNetworks(categories, means) => {
                        let (own, mean) = numbers.split_at_mut(categories.width());
                        categories.encode(cell, own, place, (&self.pool, pooled));
                        means.encode(cell, mean);
                    }
                    Encoder::Time(column) => column.encode(cell, numbers),
                    Encoder::Late(column) => {
                        column.numbers.encode(cell, numbers);
                        column.categories.encode(column.rest(cell), &mut [], place, (&self.pool, pooled));
                    }
                }
            }
        }
        Ok(())
    }

    /// [`learn_with`](Self::learn_with) without a target.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]; nothing is then learnt.
    pub fn learn(&mut self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        self.learn_with(record, None)
    }

    /// Moves the statistics by a record: after [`encode`](Self::encode), or for the head before the
    /// first row. A finite target moves the means of the columns of [`Kind::Mean`]; without one
    /// they stay.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]; nothing is then learnt.
    pub fn learn_with(&mut self, record: &(impl Cells + ?Sized), target: Option<f64>) -> Result<(), EncodingError> {
        self.check(record)?;
        let Self { columns, pool, .. } = self;
        for (place, column) in columns.iter_mut().enumerate() {
            let mut network = String::new();
            let cell = column.read(record.cell(place), &mut network);
            match column {
                Encoder::Aside | Encoder::Ignored => {}
                Encoder::Number(column) => column.learn(cell),
                Encoder::Late(column) => column.learn(cell, pool),
                Encoder::Category(column) | Encoder::Network(column) => column.learn(cell, pool),
                Encoder::Mean(column) => column.learn(cell, target),
                Encoder::Many(categories, means) | Encoder::ManyNetworks(categories, means) => {
                    categories.learn(cell, pool);
                    means.learn(cell, target);
                }
                Encoder::Time(column) => column.learn(cell),
            }
        }
        Ok(())
    }

    /// The oddities of the cells of a record, with their columns.
    pub fn oddities(&self, record: &(impl Cells + ?Sized)) -> impl Iterator<Item = (usize, Oddity)> {
        let columns = self.columns.iter().enumerate().take(record.width());
        columns.filter_map(|(place, column)| {
            let cell = record.cell(place);
            let misfit = |fits: bool| (!fits).then_some(if is_gap(cell) { Oddity::Gap } else { Oddity::Misfit });
            let odd = match column {
                Encoder::Aside | Encoder::Ignored => None,
                Encoder::Number(column) => misfit(column.notation.number(cell).is_some()),
                Encoder::Late(column) => column.oddity(cell),
                // Its members are tokens.
                column if column.is_stray(cell) && self.options.tokens == TokenUse::Always => None,
                column if column.is_stray(cell) => misfit(false),
                Encoder::Category(column) | Encoder::Many(column, _) => column.oddity(cell),
                Encoder::Network(own) | Encoder::ManyNetworks(own, _) => {
                    Notation::network(cell).map_or_else(|| misfit(false), |network| own.oddity(Cell::Text(&network)))
                }
                Encoder::Mean(_) => matches!(cell, Cell::Missing).then_some(Oddity::Gap),
                Encoder::Time(column) if column.is_otherwise(cell) => Some(Oddity::Otherwise),
                Encoder::Time(column) => misfit(column.instant(cell).is_some()),
            };
            // A category that is a token is as good as any.
            odd.filter(|odd| *odd != Oddity::NewCategory || self.options.tokens != TokenUse::Always)
                .map(|odd| (place, odd))
        })
    }

    /// The names of the numbers, of a transform of `schema`.
    #[must_use]
    pub fn names(&self, schema: &Schema) -> Vec<String> {
        let mut names = Vec::with_capacity(self.dimension);
        let columns = || self.columns.iter().zip(schema.columns());
        for (place, (encoder, Column { name, .. })) in columns().enumerate() {
            if place == self.before {
                self.pool_names(schema, &mut names);
            }
            match encoder {
                Encoder::Aside | Encoder::Ignored => {}
                Encoder::Number(numbers) => {
                    names.push(name.clone());
                    names.extend(numbers.gaps.then(|| gap_name(name)));
                }
                Encoder::Category(categories) | Encoder::Network(categories) => categories.names(name, &mut names),
                Encoder::Mean(means) => means.names(name, &mut names),
                Encoder::Many(categories, means) | Encoder::ManyNetworks(categories, means) => {
                    categories.names(name, &mut names);
                    means.names(name, &mut names);
                }
                Encoder::Time(times) => times.names(name, &mut names),
                Encoder::Late(_) => names.push(name.clone()),
            }
        }
        if self.columns.len() == self.before {
            self.pool_names(schema, &mut names);
        }
        names
    }

    /// The column of each number; none for those that columns share.
    #[must_use]
    pub fn sources(&self) -> Vec<Option<usize>> {
        let mut sources = Vec::with_capacity(self.dimension);
        for (place, encoder) in self.columns.iter().enumerate() {
            if place == self.before {
                sources.extend(std::iter::repeat_n(None, self.pool.width()));
            }
            sources.extend(std::iter::repeat_n(Some(place), encoder.width()));
        }
        sources.resize(self.dimension, None);
        sources
    }

    fn pool_names(&self, schema: &Schema, names: &mut Vec<String>) {
        let columns = self.columns.iter().zip(schema.columns());
        let late = columns.filter_map(|(encoder, Column { name, .. })| Some(encoder.categories()?.late_names(name)));
        self.pool.names(late.flatten(), names);
    }

    /// The treatment of column `column`, in words; `None` for one that is not encoded.
    #[must_use]
    pub fn treatment(&self, column: usize) -> Option<String> {
        let (words, gaps) = match self.columns.get(column)? {
            Encoder::Aside | Encoder::Ignored => return None,
            Encoder::Number(numbers) => (numbers.words(), numbers.gaps),
            Encoder::Category(categories) | Encoder::Network(categories) => (categories.words(), categories.gaps()),
            Encoder::Mean(means) => (means.words(), means.gaps()),
            Encoder::Many(categories, means) | Encoder::ManyNetworks(categories, means) => {
                (format!("{}, and {}", categories.words(), means.words()), false)
            }
            Encoder::Time(times) => (times.words(), times.gaps()),
            Encoder::Late(_) => ("a number or a category, from its first value on".to_owned(), false),
        };
        Some(if gaps { format!("{words}; gaps told") } else { words })
    }

    fn check(&self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        let (expected, got) = (self.columns.len(), record.width());
        if expected == got { Ok(()) } else { Err(EncodingError::Cells { expected, got }) }
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
                Encoder::Category(categories) | Encoder::Network(categories) => categories.validate()?,
                Encoder::Mean(means) => means.validate()?,
                Encoder::Many(categories, means) | Encoder::ManyNetworks(categories, means) => {
                    categories.validate()?;
                    means.validate()?;
                }
                Encoder::Time(times) => times.validate()?,
                Encoder::Late(late) => {
                    late.numbers.scale.validate()?;
                    late.categories.validate()?;
                }
            }
        }
        self.pool.validate(self.columns.iter().filter_map(Encoder::categories))?;
        Inconsistent::require(self.before <= self.columns.len(), WHAT, "its pool is among its columns")?;
        let dimension = self.columns.iter().map(Encoder::width).sum::<usize>() + self.pool.width();
        Inconsistent::require(dimension == self.dimension, WHAT, "its dimension is that of its columns")?;
        Inconsistent::require(
            dimension > 0 || self.options.tokens != TokenUse::Never,
            WHAT,
            "it makes some number or tokens",
        )?;
        Inconsistent::size(dimension, WHAT)
    }
}
