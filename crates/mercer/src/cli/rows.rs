//! Rows one by one, from a file, a pipe or a data set with a name; a bad row is handed on as such, and the next can be read.

use std::path::Path;

use mercer::data::{ColumnChoice, DataError, Dataset, Format, Missing, ReadOptions, Registry, RowReader, TargetColumn};

use super::failure::Failure;
use super::pipe::{self, Pipe};
use super::source::{Columns, Source};
use super::stop::Stop;

/// How to read DATA.
pub(crate) struct Reading<'a> {
    pub(crate) data: &'a Path,
    pub(crate) format: Option<Format>,
    pub(crate) target: Option<&'a TargetColumn>,
    /// Columns that are not looked at.
    pub(crate) ignore: &'a [ColumnChoice],
    /// The features' names in their order, and the target's, if rows are to be found by them.
    pub(crate) names: (&'a [String], Option<&'a str>),
    /// The features that there must be, if that is known.
    pub(crate) dimension: Option<usize>,
    /// Whether rows may do without a target; what is there of one is not looked at.
    pub(crate) features_alone: bool,
}

pub(crate) struct Rows {
    shown: String,
    stop: Stop,
    body: Body,
    columns: Columns,
    ndjson: bool,
    /// Whether rows are read as features alone.
    features_alone: bool,
    given: usize,
}

enum Body {
    Table(Dataset),
    Reader(Box<RowReader>),
}

/// What the next row is.
#[derive(Clone)]
pub(crate) enum Row {
    /// Its features are in the caller's memory; this is its target, NaN where rows are features alone.
    Good(f64),
    /// Why it is none.
    Bad(String),
}

impl Rows {
    /// `idle` is called whenever a pipe has nothing to read.
    pub(crate) fn open(
        reading: &Reading<'_>,
        stop: Stop,
        idle: impl FnMut() + Send + 'static,
    ) -> Result<Self, Failure> {
        let source = Source::of(reading.data)?;
        let shown = source.to_string();
        if let Source::Named(name) = source {
            if reading.target.is_some() || reading.format.is_some() || !reading.ignore.is_empty() {
                return Err(Failure::usage(format!(
                    "{name}: --target, --format and --ignore are for files; a data set's name settles them, so leave them out"
                )));
            }
            let table = Registry::load()?.open(name)?;
            let columns = Columns::new(table.dimension(), table.feature_names(), table.target_name());
            return Ok(Self {
                shown,
                stop,
                body: Body::Table(table),
                columns,
                ndjson: false,
                features_alone: false,
                given: 0,
            });
        }
        let format = reading.format.or_else(|| Format::from_path(reading.data));
        // LIBSVM puts the target in front of every row.
        let features_alone = reading.features_alone && format != Some(Format::Libsvm);
        let (names, target_name) = reading.names;
        let options = ReadOptions {
            format,
            target: reading.target.cloned().unwrap_or_default(),
            ignore: reading.ignore.to_vec(),
            features: names.to_vec(),
            target_name: target_name.map(str::to_owned),
            features_alone: reading.dimension.filter(|_| features_alone),
            libsvm_dimension: reading.dimension,
            ..ReadOptions::default()
        };
        let reader = if pipe::is_one(reading.data) {
            if format.is_none() {
                return Err(DataError::UnknownFormat { file: shown }.into());
            }
            RowReader::from_reader(shown.clone(), Pipe::open(reading.data, stop.clone(), idle)?, &options)?
        } else {
            RowReader::open(reading.data, &options)?
        };
        let columns = Columns::new(reader.dimension(), reader.feature_names(), reader.target_name());
        let ndjson = format == Some(Format::Ndjson);
        let body = Body::Reader(reader.into());
        Ok(Self { shown, stop, body, columns, ndjson, features_alone, given: 0 })
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Whether rows are JSON objects.
    pub(crate) fn are_objects(&self) -> bool {
        self.ndjson
    }

    /// How many rows there are, where that is known beforehand.
    pub(crate) fn length(&self) -> Option<usize> {
        match &self.body {
            Body::Table(table) => Some(table.len()),
            Body::Reader(_) => None,
        }
    }

    /// Puts the features of the next row into `features`; `None` at the end, and when a signal has come: what it cut off is no row.
    ///
    /// # Errors
    /// Those after which no row can be read.
    pub(crate) fn next(&mut self, features: &mut Vec<f64>) -> Result<Option<Row>, Failure> {
        let read = match &mut self.body {
            Body::Table(table) if self.given == table.len() => Ok(None),
            Body::Table(table) => {
                features.clear();
                features.extend_from_slice(table.row(self.given));
                Ok(Some(table.target(self.given)))
            }
            Body::Reader(reader) if self.features_alone => {
                reader.next_features(features).map(|read| read.then_some(f64::NAN))
            }
            Body::Reader(reader) => reader.next_row(features),
        };
        if self.stop.requested() {
            return Ok(None);
        }
        match read {
            Ok(None) => Ok(None),
            Ok(Some(target)) => {
                self.given += 1;
                Ok(Some(Row::Good(target)))
            }
            Err(error) if error.concerns_one_row() => {
                self.given += 1;
                Ok(Some(Row::Bad(error.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Rows of numbers without a target, such as those of a series or of pairs, which a libsvm file cannot hold.
pub(crate) fn open_plain(
    path: &Path,
    format: Option<Format>,
    missing: Missing,
    stop: &Stop,
) -> Result<RowReader, Failure> {
    let shown = Source::of(path)?.to_string();
    let format = format.or_else(|| Format::from_path(path));
    if format == Some(Format::Libsvm) {
        return Err(Failure::usage(format!(
            "{shown}: a libsvm row has a target; write the numbers as csv, tsv or ndjson"
        )));
    }
    let options = ReadOptions { format, target: TargetColumn::None, missing, ..ReadOptions::default() };
    if !pipe::is_one(path) {
        return Ok(RowReader::open(path, &options)?);
    }
    if format.is_none() {
        return Err(Failure::usage(format!("{shown}: say its format with --format csv, tsv or ndjson")));
    }
    Ok(RowReader::from_reader(shown, Pipe::open(path, stop.clone(), || ())?, &options)?)
}

/// Where a row comes from.
pub(crate) trait Origin {
    /// Its place, for a message.
    fn place(&self) -> String;
    /// Its text as it stands in the file.
    fn record(&self) -> &[u8];
}

/// The row last read.
impl Origin for Rows {
    fn place(&self) -> String {
        match &self.body {
            Body::Table(_) => format!("{}, row {}", self.shown, self.given),
            Body::Reader(reader) => format!("{}, line {} (row {})", self.shown, reader.line(), self.given),
        }
    }

    fn record(&self) -> &[u8] {
        match &self.body {
            // What is in a table is good.
            Body::Table(_) => &[],
            Body::Reader(reader) => reader.record(),
        }
    }
}

/// A row that was read ahead.
pub(crate) struct Kept {
    pub(crate) row: Row,
    pub(crate) features: Vec<f64>,
    place: String,
    record: Vec<u8>,
}

impl Kept {
    /// The row last read.
    pub(crate) fn of(rows: &Rows, row: Row, features: &[f64]) -> Self {
        Self { row, features: features.to_vec(), place: rows.place(), record: rows.record().to_vec() }
    }
}

impl Origin for Kept {
    fn place(&self) -> String {
        self.place.clone()
    }
    fn record(&self) -> &[u8] {
        &self.record
    }
}
