//! Parquet and Arrow IPC: tables that know their columns. Batches of rows are read one after the
//! other, as the file has them.
//!
//! Which columns are wanted is known before the first batch is read: no other column of a Parquet
//! file is decoded, and a column that holds anything but single values may be there as long as it
//! is left out.

mod parquet;
mod value;

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;

use crate::columns::{Beside, Plan, Role};
use crate::error::{CellPlace, Column, ContainerError, DataError};
use crate::format::Format;
use crate::gaps::Gaps;
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::{HEAD_LINES, Lines, Source};
use crate::number::Parsed;
use crate::options::{Missing, ReadOptions, Targets};
use crate::record::Record;
use mercer_core::{Cell, is_gap_mark};

/// The bytes that an Arrow file begins with; a stream begins otherwise.
const ARROW_MAGIC: &[u8] = b"ARROW1";

/// Batches, one after the other.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Takes the wanted columns, in the file's order. The batches that it gives have these alone, or
/// all.
type Choose = Box<dyn FnOnce(&[usize]) -> Result<Batches, String> + Send>;

/// A file whose columns are known and whose rows are not yet asked for.
struct Opened {
    schema: SchemaRef,
    batches: Choose,
}

/// The rows of a Parquet or Arrow file.
pub(crate) struct Columnar {
    format: Format,
    names: Vec<String>,
    plan: Plan,
    head: Option<TargetHead>,
    missing: Missing,
    /// What stands for no value.
    gaps: Gaps,
    batches: Batches,
    batch: Option<RecordBatch>,
    /// The numbers of the batch, if they have been put into rows.
    numbers: Option<Numbers>,
    /// Memory for those of the next batch.
    spare: Vec<f64>,
    /// The columns of a batch: where each stands in the file.
    present: Vec<usize>,
    /// The next row of the batch.
    row: usize,
    /// Rows before the batch.
    before: u64,
}

/// The features and the targets of a batch, row by row. Going through columns once costs a fraction
/// of asking every cell for its type.
struct Numbers {
    /// Empty if some cell is no finite number: then each tells what it is.
    rows: Vec<f64>,
    /// Whether there is nothing beside them, such as labels and weights.
    alone: bool,
}

impl Numbers {
    /// `memory` is used again.
    fn of(batch: &RecordBatch, present: &[usize], plan: &Plan, mut memory: Vec<f64>) -> Self {
        let (d, width) = (plan.dimension(), plan.dimension() + plan.numbers());
        memory.clear();
        memory.resize(batch.num_rows() * width, 0.0);
        let mut alone = true;
        let whole = present.iter().zip(batch.columns()).all(|(&column, values)| {
            let first = match plan.role(column) {
                Role::Feature(slot) => slot,
                Role::Target(slot) => d + slot,
                Role::Ignored => return true,
                Role::Label | Role::Weight => {
                    alone = false;
                    return true;
                }
            };
            value::spread(values.as_ref(), &mut memory, first, width)
        });
        if !whole {
            memory.clear();
        }
        Self { rows: memory, alone }
    }
}

impl Columnar {
    /// Opens the file and takes the columns from its schema.
    pub(crate) fn open(source: &Source, format: Format, options: &ReadOptions) -> Result<(Self, Lines), DataError> {
        let file = source.shown();
        let opened = match source {
            Source::Path(path) => match File::open(path) {
                Ok(input) => guarded(|| of_file(input, format)),
                Err(source) => return Err(DataError::Io { file, source }),
            },
            Source::StandardInput => guarded(|| of_stream(Box::new(std::io::stdin()), format)),
            Source::Memory { bytes, .. } => guarded(|| of_bytes(Bytes::from(bytes.to_vec()), format)),
        };
        Self::begin(file, opened, format, options)
    }

    /// The same for bytes that come only once. Parquet, and Arrow files that are no streams, are
    /// read into memory.
    pub(crate) fn read(
        file: String,
        input: Box<dyn Read + Send>,
        format: Format,
        options: &ReadOptions,
    ) -> Result<(Self, Lines), DataError> {
        Self::begin(file, guarded(|| of_stream(input, format)), format, options)
    }

    fn begin(
        file: String,
        opened: Result<Opened, String>,
        format: Format,
        options: &ReadOptions,
    ) -> Result<(Self, Lines), DataError> {
        let unreadable = |why| DataError::from(ContainerError::Columnar { file: file.clone(), format, why });
        let Opened { schema, batches } = opened.map_err(unreadable)?;
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let plan = Plan::new(&file, names.len(), Some(&names), options)?;
        let wanted: Vec<usize> = (0..names.len()).filter(|&column| plan.role(column) != Role::Ignored).collect();
        for &column in &wanted {
            let kind = schema.field(column).data_type();
            if !value::is_single(kind) {
                let column = Column { number: column + 1, name: Some(names[column].clone()) };
                return Err(ContainerError::NotSingle { file, column, kind: kind.to_string() }.into());
            }
        }
        let batches = guarded(|| batches(&wanted)).map_err(unreadable)?;
        let missing = options.missing;
        let mut lines = Lines::of_rows(file);
        let mut rows = Self {
            format,
            names,
            plan,
            head: None,
            missing,
            gaps: Gaps::new(&options.gaps),
            batches,
            batch: None,
            numbers: None,
            spare: Vec::new(),
            present: wanted,
            row: 0,
            before: 0,
        };
        if let (Targets::Auto, [target]) = (options.targets, rows.plan.targets()) {
            let target = *target;
            let head = rows.look_at(&lines, target)?;
            rows.head = Some(head);
            if head.is_label() {
                rows.plan.read_labels(lines.file())?;
            }
        }
        lines.go_to_row(0, "");
        Ok((rows, lines))
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn plan_mut(&mut self) -> &mut Plan {
        self.numbers = None;
        &mut self.plan
    }

    pub(crate) fn head(&self) -> Option<TargetHead> {
        self.head
    }

    /// What the first rows hold in a column: of the first batch, which is read and kept.
    fn look_at(&mut self, lines: &Lines, target: usize) -> Result<TargetHead, DataError> {
        let mut head = TargetHead::new();
        self.fill(lines)?;
        let place = self.present.iter().position(|&column| column == target);
        if let (Some(batch), Some(place)) = (&self.batch, place) {
            for row in 0..batch.num_rows().min(HEAD_LINES) {
                let cell = value::cell(batch.column(place).as_ref(), row);
                head.see(match cell.map(|cell| self.gaps.without(cell)) {
                    Some(Cell::Missing) | None => Parsed::Empty,
                    Some(Cell::Text(text)) if is_gap_mark(text) => Parsed::Empty,
                    Some(cell) => cell.number().map_or(Parsed::Text, Parsed::Number),
                });
            }
        }
        Ok(head)
    }

    /// Has a batch with a row that is not yet given out; none at the end.
    fn fill(&mut self, lines: &Lines) -> Result<(), DataError> {
        while self.batch.as_ref().is_none_or(|batch| batch.num_rows() == self.row) {
            self.before += self.batch.take().map_or(0, |batch| batch.num_rows() as u64);
            self.row = 0;
            let next = guarded(|| self.batches.next().transpose().map_err(|error| error.to_string()));
            let unreadable = |why| ContainerError::Columnar { file: lines.file().to_owned(), format: self.format, why };
            let Some(batch) = next.map_err(unreadable)? else { return Ok(()) };
            if batch.num_columns() == self.names.len() {
                self.present = (0..self.names.len()).collect();
            }
            self.batch = Some(batch);
            if let Some(Numbers { rows, .. }) = self.numbers.take() {
                self.spare = rows;
            }
        }
        Ok(())
    }

    /// Passes over rows of the present batch, at most so many; none at the end.
    pub(crate) fn skip(&mut self, lines: &Lines, most: u64) -> Result<u64, DataError> {
        self.fill(lines)?;
        let left = self.batch.as_ref().map_or(0, |batch| batch.num_rows() - self.row);
        let passed = usize::try_from(most).map_or(left, |most| left.min(most));
        self.row += passed;
        Ok(passed as u64)
    }

    /// Hands the cells of the next row that are looked at to `take`, with their columns; false at
    /// the end.
    fn cells(
        &mut self,
        lines: &mut Lines,
        mut take: impl FnMut(&Plan, usize, Cell<'_>, &dyn Fn() -> CellPlace) -> Result<(), DataError>,
    ) -> Result<bool, DataError> {
        self.fill(lines)?;
        let Self { batch: Some(batch), names, plan, present, row, before, gaps, .. } = self else { return Ok(false) };
        lines.go_to_row(*before + *row as u64 + 1, "");
        let at = *row;
        *row += 1;
        let mut failed = None;
        for (&column, values) in present.iter().zip(batch.columns()) {
            if plan.role(column) == Role::Ignored {
                continue;
            }
            let place = || lines.cell(column, Some(&names[column]));
            let Some(cell) = value::cell(values.as_ref(), at) else {
                failed = Some(DataError::NotFinite { cell: place(), value: "an infinity".to_owned() });
                break;
            };
            if let Err(error) = take(plan, column, gaps.without(cell), &place) {
                failed = Some(error);
                break;
            }
        }
        match failed {
            None => Ok(true),
            Some(error) => {
                lines.go_to_row(self.before + self.row as u64, &self.record_text(at));
                Err(error)
            }
        }
    }

    /// Puts the next row into `record`; false at the end.
    pub(crate) fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        record.blank(self.plan.dimension());
        let read = self.cells(lines, |plan, column, cell, _| {
            if let Role::Feature(slot) = plan.role(column) {
                record.set(slot, cell);
            }
            Ok(())
        })?;
        if !read {
            record.clear();
        }
        Ok(read)
    }

    /// The numbers of the next row, if all of the batch are finite.
    fn take_numbers(&mut self, features: &mut [f64], targets: &mut [f64]) -> bool {
        let Self { batch: Some(batch), numbers, spare, plan, present, row, gaps, .. } = self else { return false };
        // Each cell tells what it is.
        if !gaps.is_empty() {
            return false;
        }
        let numbers = numbers.get_or_insert_with(|| Numbers::of(batch, present, plan, std::mem::take(spare)));
        let width = features.len() + targets.len();
        let Some(own) = numbers.rows.get(*row * width..(*row + 1) * width) else { return false };
        let (inputs, outputs) = own.split_at(features.len());
        features.copy_from_slice(inputs);
        targets.copy_from_slice(outputs);
        true
    }

    /// As [`Delimited::row`](crate::delimited::Delimited::row).
    pub(crate) fn row(
        &mut self,
        lines: &mut Lines,
        features: &mut Vec<f64>,
        beside: &mut Beside,
    ) -> Result<bool, DataError> {
        let before = (features.len(), beside.targets.len());
        features.resize(before.0 + self.plan.dimension(), 0.0);
        beside.targets.resize(before.1 + self.plan.numbers(), 0.0);
        let Beside { targets, label, weight } = beside;
        self.fill(lines)?;
        let quick = self.take_numbers(&mut features[before.0..], &mut targets[before.1..]);
        if quick && self.numbers.as_ref().is_some_and(|numbers| numbers.alone) {
            lines.go_to_row(self.before + self.row as u64 + 1, "");
            self.row += 1;
            return Ok(true);
        }
        let (missing, head) = (self.missing, self.head);
        let read = self.cells(lines, |plan, column, cell, place| {
            match plan.role(column) {
                Role::Ignored => {}
                Role::Feature(_) | Role::Target(_) if quick => {}
                Role::Feature(slot) => features[before.0 + slot] = number(cell, missing, None, false, place)?,
                Role::Target(slot) => targets[before.1 + slot] = number(cell, missing, head, true, place)?,
                Role::Weight => match cell.number() {
                    Some(value) if value >= 0.0 => *weight = value,
                    _ => return Err(DataError::BadWeight { cell: place(), value: cell.to_string() }),
                },
                Role::Label => {
                    label.clear();
                    match cell {
                        Cell::Missing => {}
                        Cell::Number(value) => Labels::canonical_number(value, label),
                        Cell::Numeral(_, text) | Cell::Text(text) => Labels::canonical(text, label),
                        Cell::Integer(_) | Cell::Instant(_) => Labels::canonical(&cell.to_string(), label),
                    }
                    if label.is_empty() {
                        return Err(DataError::MissingTarget { cell: place() });
                    }
                }
            }
            Ok(())
        })?;
        if !read {
            features.truncate(before.0);
            beside.targets.truncate(before.1);
        }
        Ok(read)
    }

    /// A row of the batch as a JSON object, for whoever keeps rows that are refused.
    fn record_text(&self, row: usize) -> String {
        let Some(batch) = &self.batch else { return String::new() };
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let pairs = self.present.iter().zip(batch.columns()).map(|(&column, values)| {
            let value = match value::cell(values.as_ref(), row) {
                // A whole number of a column with fractions has one.
                Some(Cell::Number(value)) => format!("{value:?}"),
                Some(cell @ (Cell::Integer(_) | Cell::Numeral(..))) => cell.to_string(),
                Some(Cell::Text(text)) => quoted(text),
                Some(cell @ Cell::Instant(_)) => quoted(&cell.to_string()),
                Some(Cell::Missing) | None => "null".to_owned(),
            };
            format!("{}: {value}", quoted(&self.names[column]))
        });
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
    }
}

/// What `read` gives. Some readers of Arrow and Parquet panic over bytes that contradict one
/// another: that is an error like any other.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // Nothing is used again that a panic may have left half done: the reader ends with the error.
    let read = catch_unwind(AssertUnwindSafe(read));
    let read = read.unwrap_or_else(|_| Err("its bytes contradict one another".to_owned()));
    // Those readers' messages may have several lines.
    read.map_err(|why| why.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The number of a feature or a target.
fn number(
    cell: Cell<'_>,
    missing: Missing,
    head: Option<TargetHead>,
    target: bool,
    place: &dyn Fn() -> CellPlace,
) -> Result<f64, DataError> {
    if let Some(value) = cell.number() {
        return Ok(value);
    }
    match (cell, head) {
        (Cell::Text(text), _) if missing == Missing::Nan && is_gap_mark(text) => Ok(f64::NAN),
        (Cell::Missing, _) if missing == Missing::Nan => Ok(f64::NAN),
        (Cell::Missing, _) if target => Err(DataError::MissingTarget { cell: place() }),
        (Cell::Missing, _) => Err(DataError::EmptyCell { cell: place() }),
        (_, Some(TargetHead { rows, .. })) => {
            Err(DataError::LateLabel { cell: place(), value: cell.to_string(), rows })
        }
        (_, None) => Err(DataError::NotANumber { cell: place(), value: cell.to_string() }),
    }
}

fn of_file(mut input: File, format: Format) -> Result<Opened, String> {
    if format == Format::Parquet {
        let again = input.try_clone().map_err(|error| error.to_string())?;
        return parquet::open(input, again);
    }
    let mut magic = Vec::new();
    let read = input.by_ref().take(ARROW_MAGIC.len() as u64).read_to_end(&mut magic);
    read.and_then(|_| input.seek(SeekFrom::Start(0))).map_err(|error| error.to_string())?;
    if magic == ARROW_MAGIC { of_arrow(BufReader::new(input)) } else { of_arrow_stream(BufReader::new(input)) }
}

fn of_bytes(bytes: Bytes, format: Format) -> Result<Opened, String> {
    match format {
        Format::Parquet => parquet::open(bytes.clone(), bytes),
        _ if bytes.starts_with(ARROW_MAGIC) => of_arrow(Cursor::new(bytes)),
        _ => of_arrow_stream(Cursor::new(bytes)),
    }
}

fn of_stream(mut input: Box<dyn Read + Send>, format: Format) -> Result<Opened, String> {
    let mut head = Vec::new();
    let most = if format == Format::Parquet { u64::MAX } else { ARROW_MAGIC.len() as u64 };
    input.by_ref().take(most).read_to_end(&mut head).map_err(|error| error.to_string())?;
    if format != Format::Parquet && head != ARROW_MAGIC {
        return of_arrow_stream(BufReader::new(Cursor::new(head).chain(input)));
    }
    input.read_to_end(&mut head).map_err(|error| error.to_string())?;
    of_bytes(head.into(), format)
}

fn of_arrow(input: impl Read + Seek + Send + 'static) -> Result<Opened, String> {
    let reader = FileReader::try_new(input, None).map_err(|error| error.to_string())?;
    let schema = RecordBatchReader::schema(&reader);
    Ok(Opened { schema, batches: Box::new(|_| Ok(Box::new(reader))) })
}

fn of_arrow_stream(input: impl Read + Send + 'static) -> Result<Opened, String> {
    let reader = StreamReader::try_new(input, None).map_err(|error| error.to_string())?;
    let schema = RecordBatchReader::schema(&reader);
    Ok(Opened { schema, batches: Box::new(|_| Ok(Box::new(reader))) })
}
