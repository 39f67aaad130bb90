//! Examples one by one, from a file, a pipe, or a data set with a name, whatever a row has beside
//! its features: numbers, a class, a weight.
//!
//! Every command that learns from examples reads them here.

use std::path::Path;
use std::sync::{Arc, Mutex};

use mercer_datasets::Registry;
use mercer_encoding::{Encoding, Scale};
use mercer_readers::{
    ColumnChoice, Counts, DataError, Dataset, Example, Format, Labels, Marks, ReadOptions, RowReader, TargetColumn,
    Targets, read_all,
};
use mercer_session::Row;

use crate::arguments::dialect::{self, Dialect};
use crate::arguments::task::{Kind, TaskOptions, Values};
use crate::data::encoded_rows::{EncodedRows, Looking, Oddities};
use crate::data::feature_columns;
use crate::data::opening::Opening;
use crate::data::order::OrderWatch;
use crate::data::source::{Source, TableColumns};
use crate::data::stop::Stop;
use crate::data::timed_series::{SeriesOptions, TimedSeries};
use crate::report::failure::Failure;
use crate::report::verbosity;

/// The examples.
pub(crate) struct Input {
    shown: String,
    body: InputSource,
    kind: Kind,
    columns: TableColumns,
    weighted: bool,
    given: usize,
    /// The order of the rows, if it is watched.
    order: Option<OrderWatch>,
    /// True if what was left out is told, or is not to be.
    reported: bool,
}

enum InputSource {
    Table(Dataset),
    Stream(Box<RowReader>),
    /// Columns of any kind.
    Encoded(Box<EncodedRows>),
    /// Rows without a target, beside columns of times.
    Timed(Box<TimedSeries>),
}

/// Where an example stands.
#[derive(Clone, Copy)]
pub(crate) enum ExamplePlace {
    Line { line: u64, row: usize },
    Row(usize),
}

impl ExamplePlace {
    /// The line alone, where rows are lines.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Line { line, .. } => format!("line {line}"),
            Self::Row(row) => format!("row {row}"),
        }
    }
}

impl std::fmt::Display for ExamplePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line { line, row } => write!(f, "line {line} (row {row})"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

impl Input {
    /// A file or a pipe, encoded if it is not a complete table of numbers, or if its numbers are to
    /// be scaled. A person is told what was found unless this is `again`, a second reading.
    pub(crate) fn look(
        opening: Opening,
        options: &ReadOptions,
        looking: &Looking,
        wanted: TaskOptions,
        again: bool,
    ) -> Result<Self, Failure> {
        let shown = opening.shown().to_owned();
        let options = ReadOptions { mentioned: looking.mentioned(), ..options.clone() };
        let options = feature_columns::applied(&opening, &options, &looking.only)?;
        let mut opening = Some(opening);
        if let Some(encoded) = EncodedRows::look(&mut opening, &options, looking, wanted, !again)? {
            return Ok(Self::of_encoded(shown, encoded));
        }
        let reader = match opening {
            Some(opening) => opening.rows(&options)?,
            None => return Err(Failure::because(format!("{shown}: was read already"))),
        };
        if let Some((option, choice)) = looking.role() {
            let why = "needs a table whose first rows can be read, with its target; a libsvm file has no columns";
            return Err(unread(reader).unwrap_or_else(|| Failure::usage(format!("{shown}: {option} {choice} {why}"))));
        }
        if looking.options.scale != Scale::None {
            return Err(unread(reader).unwrap_or_else(|| not_scaled(&shown, looking.options.scale)));
        }
        if !again {
            dialect::tell_doubt(reader.doubt());
        }
        Self::of_reader(shown, reader, wanted)
    }

    fn new(shown: String, body: InputSource, kind: Kind, columns: TableColumns) -> Self {
        Self { shown, body, kind, columns, weighted: false, given: 0, order: None, reported: false }
    }

    /// Rows of a table whose columns are encoded.
    pub(crate) fn of_encoded(shown: String, encoded: EncodedRows) -> Self {
        let (kind, columns, weighted) = (encoded.kind(), encoded.columns(), encoded.is_weighted());
        Self { weighted, ..Self::new(shown, InputSource::Encoded(encoded.into()), kind, columns) }
    }

    /// The same rows by an encoding that stays as it is; what is odd is told once for several
    /// files, and not at all without a place for it.
    pub(crate) fn frozen(mut self, odd: Option<&Arc<Mutex<Oddities>>>) -> Self {
        if let InputSource::Encoded(encoded) = self.body {
            self.body = InputSource::Encoded(Box::new(encoded.frozen(odd.cloned())));
        }
        self
    }

    /// The rows that a reader has before it.
    pub(crate) fn of_reader(shown: String, mut reader: RowReader, wanted: TaskOptions) -> Result<Self, Failure> {
        let kind = settle(&mut reader, wanted)?;
        let columns = TableColumns::of_reader(&reader);
        let weighted = reader.is_weighted();
        Ok(Self { weighted, ..Self::new(shown, InputSource::Stream(reader.into()), kind, columns) })
    }

    /// Rows of numbers without a target, such as those of a series or of pairs, which a libsvm file
    /// cannot hold.
    ///
    /// Columns of times are left out, and so are those that count the rows. The name of a
    /// trajectory is its [`Example::label`].
    pub(crate) fn plain(
        path: &Path,
        dialect: &Dialect,
        stop: &Stop,
        wanted: &SeriesOptions<'_>,
    ) -> Result<Self, Failure> {
        let shown = Source::resolve(path)?.to_string();
        let kinds = wanted.overrides.kinds.iter().map(|(name, _)| ColumnChoice::Name(name.clone()));
        let mentioned = [wanted.time, wanted.group].into_iter().flatten().cloned().chain(kinds).collect();
        let (missing, ignore) = (wanted.missing, wanted.ignore.clone());
        let plain = ReadOptions { target: TargetColumn::None, missing, ignore, mentioned, ..ReadOptions::default() };
        let options = dialect.told(path, plain);
        refuse_libsvm(&shown, &options)?;
        let mut opening = Some(Opening::new(path, stop, || ())?);
        if let Some(timed) = TimedSeries::look(&mut opening, &options, wanted)? {
            let columns = timed.columns();
            return Ok(Self::new(shown, InputSource::Timed(timed.into()), Kind::Numbers(0), columns));
        }
        Self::of_numbers(opening, &options)
    }

    /// Complete rows of numbers without a target, all columns of them.
    pub(crate) fn of_numbers(opening: Option<Opening>, options: &ReadOptions) -> Result<Self, Failure> {
        let Some(opening) = opening else { return Err(Failure::because("the data were read already")) };
        let shown = opening.shown().to_owned();
        refuse_libsvm(&shown, options)?;
        let reader = opening.rows(options)?;
        dialect::tell_doubt(reader.doubt());
        Self::of_reader(shown, reader, TaskOptions::default())
    }

    /// The series of that name.
    pub(crate) fn series(name: &str) -> Result<Self, Failure> {
        let reader = Registry::load()?.open_series(name)?.into_reader()?;
        Self::of_reader(name.to_owned(), reader, TaskOptions::default())
    }

    /// A table in memory.
    pub(crate) fn of_table(shown: String, table: Dataset, wanted: TaskOptions) -> Result<Self, Failure> {
        let values = Values::from_numbers(table.targets().iter().copied());
        let kind = if table.classes().is_some() {
            Kind::Class(None)
        } else if table.outputs() == 1 && wanted.takes(values) {
            Kind::Class(wanted.two(values))
        } else {
            Kind::Numbers(table.outputs())
        };
        let columns = TableColumns::new(table.dimension(), table.feature_names(), table.target_names());
        let weighted = table.weights().is_some();
        Ok(Self { weighted, ..Self::new(shown, InputSource::Table(table), kind, columns) })
    }

    /// A libsvm stream, in memory: only its end tells how many features there are.
    pub(crate) fn widthless(options: &ReadOptions, wanted: TaskOptions) -> Result<Self, Failure> {
        let options = ReadOptions { targets: Targets::Numbers, ..options.clone() };
        let table = read_all("-", &options)?;
        let table = if let Some(seed) = options.permute { table.permuted(seed) } else { table };
        Self::of_table("standard input".to_owned(), table, wanted)
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn columns(&self) -> &TableColumns {
        &self.columns
    }

    /// True if rows have weights.
    pub(crate) fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// The table, if the data are in memory.
    pub(crate) fn table(&self) -> Option<&Dataset> {
        match &self.body {
            InputSource::Table(table) => Some(table),
            InputSource::Stream(_) | InputSource::Encoded(_) | InputSource::Timed(_) => None,
        }
    }

    /// The number of rows, where it is known beforehand.
    pub(crate) fn length(&self) -> Option<usize> {
        match &self.body {
            InputSource::Table(table) => Some(table.len()),
            InputSource::Encoded(encoded) => encoded.length(),
            InputSource::Stream(reader) => reader.length(),
            InputSource::Timed(_) => None,
        }
    }

    /// The encoding of the columns, for rows that need one.
    pub(crate) fn encoding(&self) -> Option<&Encoding> {
        match &self.body {
            InputSource::Encoded(encoded) => Some(encoded.encoding()),
            InputSource::Table(_) | InputSource::Stream(_) | InputSource::Timed(_) => None,
        }
    }

    /// True if rows are JSON objects.
    pub(crate) fn are_objects(&self) -> bool {
        match &self.body {
            InputSource::Stream(reader) => reader.are_objects(),
            InputSource::Encoded(encoded) => encoded.are_objects(),
            InputSource::Table(_) | InputSource::Timed(_) => false,
        }
    }

    /// The rows of a table whose columns are encoded, if they are.
    pub(crate) fn encoded(&self) -> Option<&EncodedRows> {
        if let InputSource::Encoded(encoded) = &self.body { Some(encoded) } else { None }
    }

    /// The names of all classes in sorted order, where that is known without reading on.
    pub(crate) fn classes(&self) -> Option<Vec<String>> {
        let table = match (&self.body, self.kind) {
            (_, Kind::Class(Some(two))) => return Some(two.map(str::to_owned).to_vec()),
            (InputSource::Table(table), Kind::Class(None)) => table,
            _ => return None,
        };
        if let Some(classes) = table.classes() {
            return Some(classes.to_vec());
        }
        let (mut labels, mut name) = (Labels::new(), String::new());
        for target in table.targets() {
            Labels::canonical_number(*target, &mut name);
            labels.insert(&name);
        }
        Some(sorted_names(&labels))
    }

    /// Puts the next row into `sample`: a record that is not encoded yet where columns need that;
    /// false at the end.
    ///
    /// # Errors
    /// As [`RowReader::next_example`].
    pub(crate) fn next_sample(&mut self, sample: &mut Row) -> Result<bool, DataError> {
        let InputSource::Encoded(encoded) = &mut self.body else { return self.next(&mut sample.example) };
        let read = encoded.next_record(sample);
        if let (Some(order), Ok(true)) = (&mut self.order, &read) {
            order.observe_record(encoded.encoding().schema(), &sample.record, &sample.example);
        }
        self.count(&read);
        read
    }

    /// Watches the order of the rows from here on.
    pub(crate) fn watch_order(&mut self) {
        self.order = Some(OrderWatch::default());
    }

    /// The remark on the order of the rows that were watched.
    pub(crate) fn order_note(&self) -> Option<String> {
        let order = self.order.as_ref()?;
        match &self.body {
            InputSource::Encoded(encoded) => order.note_of_records(encoded.encoding().schema()),
            _ => order.note_of_numbers(self.columns.features()),
        }
    }

    /// The rows of each row group of a Parquet file; none of other data.
    pub(crate) fn row_groups(&self) -> &[u64] {
        match &self.body {
            InputSource::Stream(reader) => reader.row_groups(),
            InputSource::Encoded(encoded) => encoded.row_groups(),
            InputSource::Table(_) | InputSource::Timed(_) => &[],
        }
    }

    /// Leaves out so many rows, or all that are left, and says how many there were.
    pub(crate) fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        let mut passed = match &mut self.body {
            InputSource::Stream(reader) => return reader.skip_rows(rows),
            InputSource::Encoded(encoded) => encoded.skip_batches(rows)?,
            InputSource::Table(_) | InputSource::Timed(_) => 0,
        };
        let mut sample = Row::default();
        while passed < rows && self.next_sample(&mut sample)? {
            passed += 1;
        }
        Ok(passed)
    }

    /// True if the targets are numbers, and nothing but 0 and 1 in the first rows of a file.
    pub(crate) fn is_zero_one(&self) -> bool {
        matches!(&self.body, InputSource::Stream(reader) if reader.target_head().is_some_and(|head| head.zero_one))
            && self.kind == Kind::Numbers(1)
    }

    /// The same rows, of which nothing is told at their end.
    pub(crate) fn silent(self) -> Self {
        Self { reported: true, ..self }
    }

    /// Tells how many values of the rows so far were left out; once.
    pub(crate) fn report_left_out(&mut self) {
        if std::mem::replace(&mut self.reported, true) {
            return;
        }
        self.left_out().into_iter().for_each(verbosity::say_once);
    }

    /// Lines on what was left out of the rows so far.
    pub(crate) fn left_out(&self) -> Vec<String> {
        match &self.body {
            InputSource::Stream(reader) => reader.left_out(),
            InputSource::Encoded(encoded) => encoded.left_out(),
            InputSource::Timed(timed) => timed.left_out(),
            InputSource::Table(_) => Vec::new(),
        }
    }

    fn count(&mut self, read: &Result<bool, DataError>) {
        match read {
            Ok(false) => self.report_left_out(),
            Err(error) if !error.concerns_one_row() => {}
            Ok(true) | Err(_) => self.given += 1,
        }
    }

    /// The time of the row last read, if a column orders the rows.
    pub(crate) fn time(&self) -> Option<f64> {
        if let InputSource::Timed(timed) = &self.body { timed.time() } else { None }
    }

    /// True if these times are instants, in seconds.
    pub(crate) fn tells_instants(&self) -> bool {
        if let InputSource::Timed(timed) = &self.body { timed.tells_instants() } else { false }
    }

    /// Puts the next row into `example`; false at the end.
    ///
    /// # Errors
    /// As [`RowReader::next_example`].
    pub(crate) fn next(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let read = match &mut self.body {
            InputSource::Table(table) if self.given == table.len() => Ok(false),
            InputSource::Table(table) => {
                let i = self.given;
                let Example { features, targets, label, weight, .. } = example;
                features.clear();
                features.extend_from_slice(table.row(i));
                targets.clear();
                label.clear();
                match (self.kind, table.label(i)) {
                    (Kind::Numbers(_), _) => targets.extend_from_slice(table.targets_of(i)),
                    (Kind::Class(_), Some(name)) => label.push_str(name),
                    (Kind::Class(_), None) => Labels::canonical_number(table.target(i), label),
                }
                *weight = table.weight(i);
                Ok(true)
            }
            InputSource::Stream(reader) => {
                let read = reader.next_example(example);
                dialect::tell_remarks(reader);
                read
            }
            InputSource::Encoded(encoded) => encoded.next(example),
            InputSource::Timed(timed) => timed.next(example),
        };
        if let (Some(order), Ok(true)) = (&mut self.order, &read) {
            match &self.body {
                InputSource::Encoded(encoded) => {
                    order.observe_record(encoded.encoding().schema(), encoded.record(), example);
                }
                _ => order.observe_numbers(example),
            }
        }
        self.count(&read);
        read
    }

    /// The marks in the numbers so far.
    pub(crate) fn marks(&self) -> Marks {
        match &self.body {
            InputSource::Stream(reader) => reader.marks(),
            InputSource::Encoded(encoded) => encoded.marks(),
            InputSource::Table(_) | InputSource::Timed(_) => Marks::default(),
        }
    }

    /// Where the row last read stands.
    pub(crate) fn place(&self) -> ExamplePlace {
        match &self.body {
            InputSource::Table(_) => ExamplePlace::Row(self.given),
            InputSource::Stream(reader) => self.at(reader.line(), reader.counts()),
            InputSource::Encoded(encoded) => {
                let (line, counts) = encoded.line();
                self.at(line, counts)
            }
            InputSource::Timed(timed) => {
                let (line, counts) = timed.line();
                self.at(line, counts)
            }
        }
    }

    fn at(&self, line: u64, counts: Counts) -> ExamplePlace {
        match counts {
            Counts::Lines => ExamplePlace::Line { line, row: self.given },
            Counts::Rows => ExamplePlace::Row(line as usize),
        }
    }

    /// The text of the row last read, as it stands in the file. What is in a table is good, and has
    /// none.
    pub(crate) fn record(&self) -> &[u8] {
        match &self.body {
            InputSource::Table(_) => &[],
            InputSource::Stream(reader) => reader.text(),
            InputSource::Encoded(encoded) => encoded.text(),
            InputSource::Timed(timed) => timed.text(),
        }
    }
}

/// Refuses the format that has no rows without a target.
fn refuse_libsvm(shown: &str, options: &ReadOptions) -> Result<(), Failure> {
    if options.format != Some(Format::Libsvm) {
        return Ok(());
    }
    Err(Failure::usage(format!("{shown}: a libsvm row has a target; write the numbers as csv, tsv or ndjson")))
}

/// Why the first rows cannot be read as numbers, if they cannot.
fn unread(mut reader: RowReader) -> Option<Failure> {
    let mut example = Example::default();
    for _ in 0..crate::limits::FIRST_ROWS {
        match reader.next_example(&mut example) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Some(error.into()),
        }
    }
    None
}

/// Why numbers cannot be scaled row by row.
pub(crate) fn not_scaled(shown: &str, scale: Scale) -> Failure {
    Failure::usage(format!(
        "{shown}: --scale {scale} is for tables with columns and rows that can be read; leave it out, or take --learner auto"
    ))
}

/// Decides the kind of the target, and has targets read so.
fn settle(reader: &mut RowReader, wanted: TaskOptions) -> Result<Kind, Failure> {
    // Several targets have no head.
    let values = reader.target_head().map_or_else(Values::default, Values::from);
    if !reader.is_label() && (reader.outputs() == 0 || !wanted.takes(values)) {
        return Ok(Kind::Numbers(reader.outputs()));
    }
    reader.read_labels()?;
    Ok(Kind::Class(wanted.two(values)))
}

/// The names of classes in sorted order.
pub(crate) fn sorted_names(labels: &Labels) -> Vec<String> {
    labels.sorted().into_iter().map(|class| labels.names()[class].clone()).collect()
}
