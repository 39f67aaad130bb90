//! The table that is watched: its records, what its columns are, and where its target stands.

use mercer_core::TokenUse;
use mercer_datasets::Registry;
use mercer_encoding::{Encoding, EncodingError, EncodingOptions, Face, Measures, Overrides, Schema, Use};
use mercer_readers::{DataError, ReadOptions, Record, RowReader};

use super::WatchArguments;
use crate::arguments::common::whole;
use crate::arguments::dialect;
use crate::arguments::task::{Kind, TaskOptions};
use crate::data::encoded_rows::{self, Head, Looking, TargetColumns};
use crate::data::opening::Opening;
use crate::data::reading::{for_files, refuse_for_named};
use crate::data::source::{Source, no_column};
use crate::data::stop::Stop;
use crate::inspect::data::{aside, number};
use crate::report::failure::Failure;
use crate::report::verbosity;

/// A table of which the first rows were looked at, from its beginning.
pub(super) struct WatchedTable {
    pub(super) shown: String,
    pub(super) records: RowReader,
    pub(super) encoding: Encoding,
    /// Where the target is, if there is one.
    pub(super) target: Option<(usize, TargetColumns)>,
}

impl WatchedTable {
    pub(super) fn open(arguments: &WatchArguments, stop: &Stop) -> Result<Self, Failure> {
        let source = Source::resolve(&arguments.data)?;
        let overrides = encoded_rows::overrides(&arguments.as_kinds, None, &source)?;
        let (mut first, last) = records(arguments, &overrides, &source, stop)?;
        let shown = source.to_string();
        dialect::tell_doubt(first.doubt());
        let head = Head::of(&mut first, None, |_| false)?;
        let Some(mut head) = head else { return Err(Failure::because(format!("{shown}: has no rows"))) };
        if let Some(why) = head.first_bad.take_if(|_| head.rows.is_empty()) {
            return Err(why.into());
        }
        if let (Some(twice), false) = (&head.twice, overrides.kinds.is_empty()) {
            return Err(Failure::because(format!("{shown}: {}", twice.said(Face::Command))));
        }
        let schema = schema(arguments, &first, &mut head, overrides, &shown)?;
        let target = arguments.target.as_ref().map(|choice| {
            let place = choice.place(first.columns().len(), first.feature_names());
            let place = place.ok_or_else(|| no_column(&shown, "--target", choice, first.columns()))?;
            let places = encoded_rows::with_notation(vec![place], schema.columns(), Some);
            let kind = encoded_rows::kind(&head.rows, &places, TaskOptions::default()).unwrap_or(Kind::Numbers(1));
            Ok::<_, Failure>((place, TargetColumns { targets: places, weight: None, kind, may_lack: true }))
        });
        let target = target.transpose()?;
        let refused = |error: EncodingError| Failure::because(format!("{shown}: {}", error.said(Face::Command)));
        let mut encoding = Encoding::new(schema, EncodingOptions::default().always(true).tokens(TokenUse::WithTexts))
            .map_err(refused)?;
        encoding.learn_head(&head.rows).map_err(refused)?;
        encoded_rows::tell_columns(&encoding);
        drop(first);
        let records = last()?;
        Ok(Self { shown, records, encoding, target })
    }

    /// Reads the next record; false at the end, where it tells how much was left out.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, DataError> {
        let read = encoded_rows::next(&mut self.records, record)?;
        if !read {
            self.records.left_out().into_iter().for_each(verbosity::say_once);
        }
        let (expected, got) = (self.encoding.schema().columns().len(), record.len());
        if read && got != expected {
            return Err(DataError::Ragged { line: self.records.place(0).line, expected, got });
        }
        Ok(read)
    }

    /// Columns that are not watched, with the reason.
    pub(super) fn unwatched(&self) -> impl Iterator<Item = String> + '_ {
        let columns = self.encoding.schema().columns().iter();
        columns.filter_map(|column| match column.used {
            _ if column.times().is_some() && column.used == Use::Encoded => {
                Some(format!("column {:?} is not watched: it is the time", column.name))
            }
            Use::Identifier => Some(format!("column {:?} is not watched: it names rows", column.name)),
            Use::Encoded | Use::Late if Measures::too_many(column) => Some(format!(
                "column {:?} is not watched: none of its categories is in many of the first rows",
                column.name
            )),
            _ => None,
        })
    }
}

/// The last reading of records, once the first is done.
type LastReading<'a> = Box<dyn FnOnce() -> Result<RowReader, Failure> + 'a>;

/// The records from the beginning, and once more.
fn records<'a>(
    arguments: &WatchArguments,
    overrides: &Overrides,
    source: &Source<'_>,
    stop: &Stop,
) -> Result<(RowReader, LastReading<'a>), Failure> {
    let WatchArguments { data, target, dialect, ignore, .. } = arguments;
    if let Source::Named(name) = source {
        refuse_for_named(name, for_files(target.is_some(), dialect, ignore, false))?;
        let table = Registry::load()?.open(name)?;
        let first = RowReader::of_table(&table)?;
        return Ok((first, Box::new(move || Ok(RowReader::of_table(&table)?))));
    }
    let options = options(arguments, overrides);
    let told = dialect.told(data, options);
    let opening = Opening::new(data, stop, || ())?;
    let first = opening.records(&told)?;
    Ok((first, Box::new(move || Ok(opening.last_records(&told)?))))
}

/// The options for reading records of a file.
fn options(arguments: &WatchArguments, overrides: &Overrides) -> ReadOptions {
    let mut mentioned = Looking { overrides: overrides.clone(), ..Looking::default() }.mentioned();
    mentioned.extend(arguments.target.clone());
    let unread = whole(&arguments.ignore);
    ReadOptions { mentioned, unread, later_keys: true, ..ReadOptions::default() }
}

/// The schema of the first rows, with the target aside.
fn schema(
    arguments: &WatchArguments,
    records: &RowReader,
    head: &mut Head,
    overrides: Overrides,
    shown: &str,
) -> Result<Schema, Failure> {
    let (width, names) = (records.columns().len(), records.feature_names());
    let ignored = whole(&arguments.ignore);
    let ignored = ignored.iter().map(|choice| number(choice, width, names));
    let target = arguments.target_column();
    let overrides = overrides.aside(aside(Some(&target), width, names)).ignore(ignored);
    let overrides = overrides.marks(dialect::number_marks(records));
    let mut schema =
        head.schema(&overrides).map_err(|error| Failure::because(format!("{shown}: {}", error.said(Face::Command))))?;
    schema.take_words(&overrides);
    Ok(schema)
}

/// Hands each record of the reference to `each`, by the columns of the table's schema.
pub(super) fn over_reference(
    arguments: &WatchArguments,
    encoding: &Encoding,
    mut each: impl FnMut(&dyn mercer_core::Cells),
) -> Result<usize, Failure> {
    let Some(path) = &arguments.reference else { return Ok(0) };
    let options = options(arguments, &Overrides::default());
    let told = arguments.dialect.clone().beside(path).told(path, options);
    let mut records = RowReader::records(path, &told)?;
    let shown = path.display();
    let refused = |error: EncodingError| Failure::because(format!("{shown}: {}", error.said(Face::Command)));
    let map = encoding.schema().matching(records.columns()).map_err(refused)?;
    let target = arguments.target.as_ref().map(mercer_readers::ColumnChoice::text);
    if let Some(missing) = map.missing().iter().find(|name| Some(*name) != target.as_ref()) {
        return Err(Failure::because(format!(
            "{shown}: has no column {missing:?}, which is watched; give a reference with the same columns"
        )));
    }
    let (mut record, mut rows) = (Record::new(), 0);
    while encoded_rows::next(&mut records, &mut record)? {
        each(&map.record(&record).map_err(refused)?);
        rows += 1;
    }
    Ok(rows)
}
