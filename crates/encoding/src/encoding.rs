//! A schema with its transform: what is found in the head of a table, and the state that moves with
//! its rows.

use mercer_core::{Cell, Cells, Inconsistent, Oddity, TokenRow, TokenUse, Validate};

use crate::error::{EncodingError, quoted};
use crate::kind::ToldKind;
use crate::matching::ColumnMap;
use crate::overrides::Overrides;
use crate::schema::{Column, Schema, Use};
use crate::tokens::TokenEncoding;
use crate::transform::{ColumnRecipe, EncodingOptions, NoRecipe, NoRecipeReason, Transform};
use crate::zone::Zone;

/// A schema with its transform.
///
/// ```
/// use mercer_encoding::{Cell, Encoding, EncodingOptions, Overrides, Scale};
///
/// let names = ["city", "size"].map(str::to_owned);
/// let head = [[Cell::Text("Ulm"), Cell::Number(50.0)], [Cell::Text("Bonn"), Cell::Number(70.0)]];
/// let options = EncodingOptions::default().scale(Scale::Standard);
/// let encoding = Encoding::look(&names, &head, &Overrides::default(), options)?;
/// // Columns are found by name, in any order; a category that is new is hashed.
/// let other = ["size", "city"].map(str::to_owned);
/// let map = encoding.schema().matching(&other)?;
/// let mut numbers = Vec::new();
/// encoding.encode(&map.record(&[Cell::Number(60.0), Cell::Text("Kiel")])?, &mut numbers)?;
/// assert_eq!(numbers.len(), encoding.dimension());
/// assert_eq!(numbers[2], 0.0); // 60 is the mean of the head
/// # Ok::<(), mercer_encoding::EncodingError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Encoding {
    schema: Schema,
    transform: Transform,
    tokens: Option<Box<TokenEncoding>>,
}

impl Encoding {
    /// The encoding of a schema, which has learnt no row.
    ///
    /// # Errors
    /// As [`Transform::new`].
    pub fn new(schema: Schema, options: EncodingOptions) -> Result<Self, EncodingError> {
        let has_tokens = match options.tokens {
            TokenUse::Never => false,
            TokenUse::WithTexts => schema.columns().iter().any(|column| column.says_words(options.categories)),
            TokenUse::Always => true,
        };
        let transform = Transform::new(&schema, options)?;
        let tokens = has_tokens.then(|| Box::new(TokenEncoding::new(schema.columns())));
        Ok(Self { schema, transform, tokens })
    }

    /// An encoding of columns of which no more is known than names and kinds: each is as if it had
    /// [appeared late](Self::add_column).
    ///
    /// # Errors
    /// [`EncodingError::SameName`], [`EncodingError::Parameter`] for an option out of range, and
    /// [`EncodingError::NothingLeft`] when no number would come out.
    pub fn of_kinds(
        columns: impl IntoIterator<Item = (String, impl Into<ToldKind>)>,
        options: EncodingOptions,
    ) -> Result<Self, EncodingError> {
        let schema = Schema { rows: 0, named: true, columns: Vec::new() };
        let tokens = (options.tokens != TokenUse::Never).then(|| Box::new(TokenEncoding::new(&[])));
        let mut encoding = Self { schema, transform: Transform::empty(options)?, tokens };
        columns.into_iter().try_for_each(|(name, kind)| encoding.add_column(&name, kind).map(drop))?;
        let words = encoding.schema.columns.iter().any(|column| column.used == Use::Words);
        if encoding.dimension() == 0 && !words { Err(EncodingError::NothingLeft) } else { Ok(encoding) }
    }

    /// Looks at the head of a table, finds its schema and learns its statistics.
    ///
    /// # Errors
    /// As [`Schema::infer`] and [`Transform::new`].
    pub fn look<R: Cells>(
        names: &[String],
        head: &[R],
        overrides: &Overrides,
        options: EncodingOptions,
    ) -> Result<Self, EncodingError> {
        let mut schema = Schema::infer(names, head, overrides)?;
        if options.tokens != TokenUse::Never {
            schema.take_words(overrides);
        }
        let mut encoding = Self::new(schema, options)?;
        encoding.learn_head(head)?;
        Ok(encoding)
    }

    /// Learns the statistics of the head, before the first of its rows is encoded. The rows are
    /// then learnt again, one after the other, as they are read: the head counts twice. This uses
    /// columns of rows to come, as the schema does, but never a target.
    ///
    /// With the head of 1000 rows, the error of kernel ridge regression over the last half of 4000
    /// rows of seven data sets differs by 1.3% at most from that with statistics that begin with
    /// the whole file (standard scaling;
    /// `cargo test -p mercer-encoding --test scores -- --nocapture`). Without a head it is up to 4%
    /// larger. Scaling by range needs the head most.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]; the rows before are then learnt.
    pub fn learn_head<R: Cells>(&mut self, head: &[R]) -> Result<(), EncodingError> {
        if let Some(tokens) = &mut self.tokens {
            tokens.look(head);
        }
        head.iter().try_for_each(|record| self.move_statistics(record, None))
    }

    /// A column appears that the head did not have; records have its cell behind the others from
    /// now on. Returns how many numbers it adds, behind the others: none for texts and identifiers.
    /// A category gets room for eight, as many places to hash to, and a mean of the target; a time
    /// gets all its parts. Before its first value a number is 0.
    ///
    /// # Errors
    /// [`EncodingError::SameName`]
    pub fn add_column(&mut self, name: &str, kind: impl Into<ToldKind>) -> Result<usize, EncodingError> {
        let columns = self.schema.columns();
        if let Some(place) = columns.iter().position(|column| column.name == name) {
            let (first, second) = (place + 1, columns.len() + 1);
            return Err(EncodingError::SameName { name: name.to_owned(), first, second });
        }
        let mut column = Column::late(name.to_owned(), kind.into(), self.zone());
        if let Some(tokens) = &mut self.tokens {
            column.used = if column.used == Use::Text { Use::Words } else { column.used };
            tokens.push(&column);
        }
        let added = self.transform.push(&column);
        self.schema.columns.push(column);
        Ok(added)
    }

    /// The zone of its times, if one is told.
    #[must_use]
    pub fn zone(&self) -> Option<&Zone> {
        self.schema.columns().iter().find_map(|column| column.times()?.zone())
    }

    /// A remark on an odd cell of column `column`, behind its place: the value, and the notation in
    /// which the column is read.
    #[must_use]
    pub fn remark_on(&self, column: usize, oddity: Oddity, cell: Cell<'_>) -> String {
        let Column { kind, notation, .. } = &self.schema.columns()[column];
        let words = oddity.words();
        if oddity != Oddity::Misfit {
            return words.to_owned();
        }
        let written = notation.words().map(|words| format!(", {words}")).unwrap_or_default();
        format!("{} {words}; the column is read as {kind}{written}", quoted(&cell.to_string()))
    }

    /// The kinds of the columns.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The transform that makes numbers of them.
    #[must_use]
    pub fn transform(&self) -> &Transform {
        &self.transform
    }

    /// Numbers that a record becomes.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.transform.dimension()
    }

    /// [`Transform::encode`]
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn encode(&self, record: &(impl Cells + ?Sized), numbers: &mut Vec<f64>) -> Result<(), EncodingError> {
        self.transform.encode(record, numbers)
    }

    /// The keys of tokens whose texts are kept, the first 10,000 that were met: each with the name
    /// of its column and the text. Neighbours of words are not kept.
    pub fn token_names(&self) -> impl Iterator<Item = (u64, &str, &str)> {
        let columns = &self.schema.columns;
        let names = self.tokens.iter().flat_map(|tokens| tokens.names());
        names.map(|(key, column, text)| (key, columns[column].name.as_str(), text))
    }

    /// True if a record becomes tokens.
    #[must_use]
    pub fn has_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Fills `row` with the tokens of a record, where they were [asked
    /// for](EncodingOptions#structfield.tokens); false where not. `O(words)` of each cell.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn tokens(&self, record: &(impl Cells + ?Sized), row: &mut TokenRow) -> Result<bool, EncodingError> {
        let Some(tokens) = &self.tokens else { return Ok(false) };
        let (expected, got) = (self.schema.columns.len(), record.width());
        if expected != got {
            return Err(EncodingError::Cells { expected, got });
        }
        tokens.encode(record, row);
        Ok(true)
    }

    /// [`Transform::learn`]
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn learn(&mut self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        self.learn_with(record, None)
    }

    /// [`Transform::learn_with`]
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn learn_with(&mut self, record: &(impl Cells + ?Sized), target: Option<f64>) -> Result<(), EncodingError> {
        self.move_statistics(record, target)?;
        if let Some(tokens) = &mut self.tokens {
            tokens.keep(record);
        }
        Ok(())
    }

    fn move_statistics(&mut self, record: &(impl Cells + ?Sized), target: Option<f64>) -> Result<(), EncodingError> {
        self.transform.learn_with(record, target)?;
        if let Some(tokens) = &mut self.tokens {
            tokens.learn(record);
        }
        Ok(())
    }

    /// The cells of a sample of the records that were learnt, where they become tokens: 128 at
    /// most, of 256 KiB in all. Cells of columns that are not learnt are left out. The head alone
    /// is no part of it.
    pub fn sample(&self) -> impl Iterator<Item = Vec<Cell<'_>>> {
        self.tokens.iter().flat_map(|tokens| tokens.sample())
    }

    /// Adds the [sample](Self::sample) of another shard of the same table.
    pub fn merge_sample(&mut self, other: &Self) {
        if let (Some(own), Some(theirs)) = (&mut self.tokens, &other.tokens) {
            own.merge_sample(theirs);
        }
    }

    /// [`Schema::matching`]
    ///
    /// # Errors
    /// As [`Schema::matching`].
    pub fn matching(&self, names: &[String]) -> Result<ColumnMap, EncodingError> {
        self.schema.matching(names)
    }

    /// How each column that is encoded becomes inputs, with its place in a record: for programs
    /// that do the same elsewhere. A category that is in no recipe is new, and hashed here.
    ///
    /// # Errors
    /// The first column that has no recipe.
    pub fn recipes(&self) -> Result<Vec<(usize, ColumnRecipe)>, NoRecipe> {
        let words = self.schema.columns().iter().find(|column| column.used == Use::Words);
        match words {
            Some(column) => Err(NoRecipe { column: column.name.clone(), why: NoRecipeReason::Words }),
            None => self.transform.recipes(&self.schema),
        }
    }

    /// The names of the numbers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.transform.names(&self.schema)
    }
}

impl Validate for Encoding {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.schema.validate()?;
        self.transform.validate()?;
        self.tokens.validate()?;
        let columns = self.schema.columns().len();
        let told = match self.transform.options().tokens {
            TokenUse::Never => self.tokens.is_none(),
            TokenUse::WithTexts => true,
            TokenUse::Always => self.tokens.is_some(),
        };
        let fits = columns == self.transform.columns() && told;
        let fits = fits && self.tokens.as_ref().is_none_or(|tokens| tokens.columns() == columns);
        Inconsistent::require(fits, "encoding", "its transform has the columns of its schema")
    }
}
