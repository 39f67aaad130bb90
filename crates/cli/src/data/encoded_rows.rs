//! Rows of a table with columns of any kind, which become numbers row by row.

mod head;
mod looking;
mod odd_cells;
mod records;
mod running_encoding;
mod table_head;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mercer_encoding::{ColumnMap, Encoding, EncodingError, Face, Schema, Use, lacks_column};
use mercer_readers::{
    Cell, ColumnChoice, Counts, DataError, Dataset, Example, Format, Marks, ReadOptions, Record, RowReader,
    TargetColumn,
};

use crate::arguments::dialect;
use crate::arguments::task::{Kind, TaskOptions};
use crate::arguments::zone::ZoneArguments;
use crate::data::opening::Opening;
use crate::data::source::{TableColumns, no_column};
use crate::report::failure::Failure;
use crate::report::verbosity;

pub(crate) use head::{Head, LabelColumns};
pub(crate) use looking::{ColumnSource, Looking, overrides};
use mercer_session::Row;
pub(crate) use odd_cells::{Oddities, tell_columns};
pub(crate) use records::{TargetColumns, check_target, kind, next, targets, with_notation};
pub(crate) use running_encoding::RunningEncoding;
pub(crate) use table_head::has_means;
use table_head::{TableHead, TableKind};

/// Rows of a table. The statistics of an encoding move with each row: it is encoded by those of the
/// rows before it and of the first rows.
pub(crate) struct EncodedRows {
    shown: String,
    records: RowReader,
    record: Record,
    /// Where the columns of the schema are, if the file is not the one that was looked at.
    map: Option<ColumnMap>,
    moving: RunningEncoding,
    beside: TargetColumns,
    /// The place in the schema of the column that names groups.
    group: Option<usize>,
    /// The place in the file of the ids by which labels come.
    label_id: Option<usize>,
    /// What was odd, told once, also if several files share it. Nothing is told of a second
    /// reading.
    odd: Option<Arc<Mutex<Oddities>>>,
    /// Memory that is used again.
    sample: Row,
}

impl EncodedRows {
    /// The rows of a file or of a pipe with a column, beside its targets and weights, that is not
    /// numbers or has gaps in the first rows; or of any, if numbers are to be scaled. `None` for
    /// every other, also for one that cannot be read: whoever reads it as a table of numbers tells
    /// why. A person is told what the columns are if this is `aloud`.
    pub(crate) fn look(
        opening: &mut Option<Opening>,
        options: &ReadOptions,
        looking: &Looking,
        wanted: TaskOptions,
        aloud: bool,
    ) -> Result<Option<Self>, Failure> {
        let Some(file) = &*opening else { return Ok(None) };
        if options.format == Some(Format::Libsvm) {
            ZoneArguments::check_used(looking.overrides.zone.as_ref(), &file.shown(), false)?;
            return Ok(None);
        }
        // The encoding leaves columns out, so that places are those of the file.
        let whole = ReadOptions {
            ignore: Vec::new(),
            unread: options.ignore.clone(),
            later_keys: !looking.at_once,
            ..options.clone()
        };
        let Ok(reader) = file.records(&whole) else { return Ok(None) };
        let shown = file.shown().to_owned();
        let found = TableHead::in_head(&shown, reader, options, looking, wanted)?;
        let is_used = match &found {
            TableKind::Encoded(found) => found.encoding.zone().is_some(),
            // Whoever reads the table tells why it cannot be read.
            TableKind::Numbers(schema) => schema.is_none(),
        };
        ZoneArguments::check_used(looking.overrides.zone.as_ref(), &shown, is_used)?;
        let found = match found {
            TableKind::Encoded(found) => found,
            TableKind::Numbers(schema) => {
                if aloud && let Some(schema) = schema {
                    odd_cells::tell_plain(&schema);
                }
                return Ok(None);
            }
        };
        let Some(file) = opening.take() else { return Ok(None) };
        let records = file.last_records(&whole)?;
        let encoded = found.over(shown, records);
        Ok(Some(if aloud { encoded.aloud() } else { encoded }))
    }

    /// The rows of a data set with a name whose numbers are to be scaled.
    pub(crate) fn of_named(
        name: &str,
        table: &Dataset,
        looking: &Looking,
        wanted: TaskOptions,
    ) -> Result<Option<Self>, Failure> {
        let outputs = if table.classes().is_some() { 1 } else { table.outputs() };
        let targets = (table.dimension() + 1..=table.dimension() + outputs).map(ColumnChoice::Index);
        let mut targets: Vec<ColumnChoice> = targets.collect();
        let target = match targets.pop() {
            Some(one) if targets.is_empty() => one.into(),
            last => TargetColumn::Several(targets.into_iter().chain(last).collect()),
        };
        let options = ReadOptions { target, ..ReadOptions::default() };
        let found = TableHead::in_head(name, RowReader::of_table(table)?, &options, looking, wanted)?;
        let TableKind::Encoded(found) = found else { return Ok(None) };
        Ok(Some(found.over(name.to_owned(), RowReader::of_table(table)?)))
    }

    /// The place in the schema of the target, if there is one alone.
    pub(crate) fn target(&self) -> Option<usize> {
        if let [(place, _)] = self.beside.targets[..] { Some(place) } else { None }
    }

    /// The place in the schema of the column that names groups, if one does.
    pub(crate) fn group(&self) -> Option<usize> {
        self.group
    }

    /// Columns that are known by name and not in the file.
    pub(crate) fn missing(&self) -> &[String] {
        self.map.as_ref().map_or(&[], ColumnMap::missing)
    }

    /// Rows whose columns a model knows, by name; what is missing is told if this is `aloud`.
    pub(crate) fn known(
        shown: &str,
        records: RowReader,
        known: &ColumnSource<'_>,
        aloud: bool,
    ) -> Result<Self, Failure> {
        let schema = known.encoding.schema();
        let names = names_of(&records, schema);
        let refused = |error: EncodingError| Failure::because(format!("{shown}: {}", error.said(Face::Command)));
        let map = schema.matching(&names).map_err(refused)?;
        if aloud {
            dialect::tell_doubt(records.doubt());
            for name in map.missing() {
                verbosity::say(format!("{shown}: {}", lacks_column(name)));
            }
        }
        let (width, names_of_file) = (names.len(), &*names);
        let names = Some(names_of_file).filter(|_| records.is_named() || schema.is_named());
        let lacks = |what: &dyn std::fmt::Display, option: &str| {
            Failure::because(format!(
                "{shown}: has no column {what}, which is to be learnt; say with {option} which one it is"
            ))
        };
        let targets = match &known.target {
            None => Vec::new(),
            Some(target) => targets(target, width, names).ok_or_else(|| lacks(target, "--target"))?,
        };
        let column = |place: usize| schema.columns().iter().position(|column| column.name == names_of_file[place]);
        let weight = known.weight.as_ref();
        let weight =
            weight.map(|choice| choice.place(width, names).ok_or_else(|| lacks(choice, "--weight"))).transpose()?;
        let label_id = known.label_id.as_ref().map(|choice| {
            choice.place(width, names).ok_or_else(|| no_column(shown, "--label-id", choice, names_of_file))
        });
        Ok(Self {
            shown: shown.to_owned(),
            records,
            group: None,
            label_id: label_id.transpose()?,
            record: Record::new(),
            map: Some(map),
            moving: RunningEncoding::new(known.encoding.clone(), known.kind),
            beside: TargetColumns {
                targets: with_notation(targets, schema.columns(), column),
                weight,
                kind: known.kind,
                may_lack: known.may_lack,
            },
            odd: None,
            sample: Row::default(),
        })
    }

    /// The same by an encoding that stays as it is. Without a place for what is odd, nothing is
    /// told of it.
    pub(crate) fn frozen(self, odd: Option<Arc<Mutex<Oddities>>>) -> Self {
        Self { odd, moving: self.moving.frozen(), ..self }
    }

    /// Tells a person what is done with the columns; and later, once of each column, that a cell
    /// does not fit it.
    pub(crate) fn aloud(mut self) -> Self {
        dialect::tell_doubt(self.records.doubt());
        if self.moving.encoding.schema().needs_encoding() {
            verbosity::remark(format!(
                "{}: is not a complete table of numbers, so its columns are encoded to {} numbers",
                self.shown,
                self.moving.encoding.dimension(),
            ));
        }
        odd_cells::tell_columns(&self.moving.encoding);
        self.odd = Some(Arc::default());
        self
    }

    pub(crate) fn kind(&self) -> Kind {
        self.beside.kind
    }

    pub(crate) fn is_weighted(&self) -> bool {
        self.beside.weight.is_some()
    }

    pub(crate) fn are_objects(&self) -> bool {
        self.records.are_objects()
    }

    /// How many rows there are, where that is known beforehand.
    pub(crate) fn length(&self) -> Option<usize> {
        self.records.length()
    }

    /// The encoding, as [`next`](Self::next) has moved it.
    pub(crate) fn encoding(&self) -> &Encoding {
        &self.moving.encoding
    }

    /// The numbers that a row becomes, and the targets.
    pub(crate) fn columns(&self) -> TableColumns {
        let targets: Vec<String> =
            self.beside.targets.iter().map(|(place, _)| self.records.columns()[*place].clone()).collect();
        let features = self.moving.encoding.names();
        let named = self.records.is_named();
        TableColumns::new(self.moving.encoding.dimension(), named.then_some(&*features), named.then_some(&*targets))
    }

    /// The record that [`next`](Self::next) encoded last.
    pub(crate) fn record(&self) -> &Record {
        &self.sample.record
    }

    /// Lines on values that were left out.
    pub(crate) fn left_out(&self) -> Vec<String> {
        self.records.left_out()
    }

    /// The rows of each row group of a Parquet file.
    pub(crate) fn row_groups(&self) -> &[u64] {
        self.records.row_groups()
    }

    /// Passes over rows that need not be read one by one; how many there were.
    pub(crate) fn skip_batches(&mut self, rows: u64) -> Result<u64, DataError> {
        self.records.skip_batches(rows)
    }

    /// The marks in the numbers so far.
    pub(crate) fn marks(&self) -> Marks {
        self.records.marks()
    }

    /// The line of the row last read, and what it counts.
    pub(crate) fn line(&self) -> (u64, Counts) {
        (self.records.line(), self.records.counts())
    }

    pub(crate) fn text(&self) -> &[u8] {
        self.records.text()
    }

    /// Reads the next record with its targets, and encodes nothing; false at the end.
    pub(crate) fn next_record(&mut self, sample: &mut Row) -> Result<bool, DataError> {
        let Self { records, record, map, moving: RunningEncoding { encoding, .. }, beside, .. } = self;
        let Row { example, record: taken, id } = sample;
        taken.clear();
        clear(example);
        if !next(records, record)? {
            return Ok(false);
        }
        let expected = map.as_ref().map_or(encoding.schema().columns().len(), |_| records.columns().len());
        if record.len() != expected {
            return Err(DataError::Ragged { line: records.place(0).line, expected, got: record.len() });
        }
        beside.take(record, example, |place| records.place(place))?;
        id.clear();
        if let Some(place) = self.label_id {
            mercer_session::write_name(record.cell(place), id);
        }
        match map {
            None => std::mem::swap(record, taken),
            Some(map) => (0..encoding.schema().columns().len())
                .for_each(|column| taken.push(map.source(column).map_or(Cell::Missing, |source| record.cell(source)))),
        }
        Ok(true)
    }

    /// Encodes the next row, and learns its statistics unless its weight is 0; false at the end.
    pub(crate) fn next(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let mut sample = std::mem::take(&mut self.sample);
        std::mem::swap(&mut sample.example, example);
        let read = self.next_record(&mut sample);
        std::mem::swap(&mut sample.example, example);
        if let Ok(true) = read {
            self.encode(&sample.record, example, self.line());
        }
        self.sample = sample;
        read
    }

    /// Encodes a record from that line into an example that has its targets, and learns its
    /// statistics unless its weight is 0.
    fn encode(&mut self, record: &Record, example: &mut Example, (line, counts): (u64, Counts)) {
        let Self { shown, moving, odd, .. } = self;
        let mut features = std::mem::take(&mut example.features);
        // The record is as wide as the schema, so that nothing is refused.
        let _ = moving.take(record, example, &mut features);
        example.features = features;
        // A new category that got a number of its own is nothing odd.
        if let Some(odd) = odd {
            locked(odd).tell(&moving.encoding, record, || {
                let counted = if counts == Counts::Lines { "line" } else { "row" };
                format!("{shown}, {counted} {line}")
            });
        }
    }
}

fn locked(odd: &Mutex<Oddities>) -> MutexGuard<'_, Oddities> {
    odd.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clear(example: &mut Example) {
    let Example { features, targets, label, weight, .. } = example;
    features.clear();
    targets.clear();
    label.clear();
    *weight = 1.0;
}

/// The names by which a model finds the columns of a file. A file without names that is as wide as
/// the training data, with or without its targets, has their names.
fn names_of(records: &RowReader, schema: &Schema) -> Vec<String> {
    if records.is_named() || !schema.is_named() {
        return records.columns().to_vec();
    }
    let all: Vec<String> = schema.columns().iter().map(|column| column.name.clone()).collect();
    let aside = schema.columns().iter().filter(|column| column.used != Use::SetAside);
    let without: Vec<String> = aside.map(|column| column.name.clone()).collect();
    match records.columns().len() {
        width if width == all.len() => all,
        width if width == without.len() => without,
        _ => records.columns().to_vec(),
    }
}
