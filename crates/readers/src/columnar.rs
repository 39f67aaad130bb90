//! Parquet and Arrow IPC: tables that know their columns. Batches of rows are read one after the
//! other, as the file has them.
//!
//! Which columns are wanted is known before the first batch is read: no other column of a Parquet
//! file is decoded, and a column that holds anything but single values may be there as long as it
//! is left out.

mod list;
#[cfg(feature = "stores")]
mod objects;
mod parquet;
mod value;
mod zstd_messages;

use std::cell::OnceCell;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;

use zstd_messages::{ZstdFile, ZstdMessages, has_zstd};

use crate::choice::ColumnChoice;
use crate::columns::{ColumnPlan, Role};
use crate::error::{Column, ContainerError, DataError, Finding, Remark};
use crate::format::Format;
use crate::gaps::Gaps;
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::source::{OpenPath, Source};
use crate::lines::{HEAD_LINES, Lines};
use crate::number::ParsedCell;
use crate::options::ReadOptions;
use crate::record::Record;
use crate::rows::{Next, Rows};
use crate::stores::StoredObject;
use mercer_core::{Cell, List, is_gap_mark};

/// The bytes that an Arrow file begins with; a stream begins otherwise.
const ARROW_MAGIC: &[u8] = b"ARROW1";

/// Batches, one after the other.
trait BatchIterator: Iterator<Item = Result<RecordBatch, ArrowError>> + Send {
    /// Passes over groups of rows, of at most so many rows together, without reading them; how many
    /// rows they have.
    fn pass(&mut self, _most: u64) -> u64 {
        0
    }
}

impl<R: Read + Seek + Send> BatchIterator for FileReader<R> {}

impl<R: Read + Send> BatchIterator for StreamReader<R> {}

impl<R: Read + Seek + Send> BatchIterator for ZstdFile<R> {}

type Batches = Box<dyn BatchIterator>;

/// Takes the wanted columns, in the file's order. The batches that it gives have these alone, or
/// all.
type Choose = Box<dyn FnOnce(&[usize]) -> Result<Batches, String> + Send>;

/// A file whose columns are known and whose rows are not yet asked for.
struct ColumnarFile {
    schema: SchemaRef,
    /// The rows of each group that can be read alone; none where there are no groups.
    groups: Vec<u64>,
    batches: Choose,
}

/// The rows of a Parquet or Arrow file.
struct Columnar {
    format: Format,
    names: Vec<String>,
    plan: ColumnPlan,
    /// The rows of each group that can be read alone.
    groups: Vec<u64>,
    /// Remark that a person should know, until it is asked for.
    remark: Option<Remark>,
    /// Texts and numbers that stand for no value.
    gaps: Gaps,
    batches: Batches,
    batch: Option<RecordBatch>,
    /// The numbers of the batch, row by row, if they have been put into rows; empty if some cell is
    /// no finite number, so that each tells what it is. Going through columns once costs a fraction
    /// of asking every cell for its type.
    numbers: Option<Vec<f64>>,
    /// Memory for those of the next batch.
    spare: Vec<f64>,
    /// The columns of a batch: where each stands in the file.
    present: Vec<usize>,
    /// The last row as JSON, once it was asked for.
    text: OnceCell<String>,
    /// The next row of the batch.
    row: usize,
    /// Rows before the batch.
    before: u64,
}

/// Opens a source and takes the columns from its schema. Of bytes that come only once, Parquet, and
/// Arrow files that are no streams, are read into memory.
pub(crate) fn open(source: Source, format: Format, options: &ReadOptions) -> Result<(Box<dyn Rows>, Lines), DataError> {
    let file = source.shown();
    let opened = match source {
        Source::Path(path) => match OpenPath::open(&path) {
            Ok(OpenPath::File(input)) => guarded(|| of_file(input, format)),
            Ok(OpenPath::Object(input)) => guarded(|| of_object(input, format)),
            Err(source) => return Err(DataError::Io { file, source }),
        },
        Source::StandardInput => guarded(|| of_stream(Box::new(std::io::stdin()), format)),
        Source::Once { input, .. } => guarded(|| of_stream(input, format)),
        Source::Memory { bytes, .. } => guarded(|| of_bytes(bytes.into_owned().into(), format)),
    };
    let unreadable = |why| DataError::from(ContainerError::Columnar { file: file.clone(), format, why });
    let ColumnarFile { schema, groups, batches } = opened.map_err(unreadable)?;
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    // pandas keeps the numbers of the rows in such columns; who wants them names them.
    let is_index = |name: &&String| name.starts_with("__index_level_") && !options.speaks_of(name);
    let index: Vec<String> = names.iter().filter(is_index).cloned().collect();
    let mut options = options.clone();
    options.ignore.extend(index.iter().cloned().map(ColumnChoice::Name));
    let found = |name: &String| Finding::Index { file: file.clone(), name: name.clone() }.remark();
    let remark = index.first().map(found);
    let plan = ColumnPlan::new(&file, names.len(), Some(&names), &options)?;
    let wanted: Vec<usize> = (0..names.len()).filter(|&column| plan.role(column) != Role::Ignored).collect();
    for &column in &wanted {
        let kind = schema.field(column).data_type();
        if !value::is_single(kind) && !list::is_list(kind) {
            let column = Column { number: column + 1, name: Some(names[column].clone()) };
            return Err(ContainerError::NotSingle { file, column, kind: kind.to_string() }.into());
        }
    }
    let batches = guarded(|| batches(&wanted)).map_err(unreadable)?;
    let rows = Columnar {
        format,
        names,
        plan,
        groups,
        remark,
        gaps: Gaps::new(&options.gaps),
        batches,
        batch: None,
        numbers: None,
        spare: Vec::new(),
        present: wanted,
        text: OnceCell::new(),
        row: 0,
        before: 0,
    };
    Ok((Box::new(rows), Lines::of_rows(file)))
}

impl Columnar {
    /// Has a batch with a row that is not yet given out; none at the end.
    fn fill(&mut self, lines: &Lines) -> Result<(), DataError> {
        while self.is_used_up() {
            self.put_away();
            let next = guarded(|| self.batches.next().transpose().map_err(|error| error.to_string()));
            let unreadable = |why| ContainerError::Columnar { file: lines.file().to_owned(), format: self.format, why };
            let Some(batch) = next.map_err(unreadable)? else { return Ok(()) };
            if batch.num_columns() == self.names.len() {
                self.present = (0..self.names.len()).collect();
            }
            self.batch = Some(batch);
        }
        Ok(())
    }

    /// True if the batch has no more rows, or there is none.
    fn is_used_up(&self) -> bool {
        self.batch.as_ref().is_none_or(|batch| batch.num_rows() == self.row)
    }

    /// Puts a batch away that is used up.
    fn put_away(&mut self) {
        self.before += self.batch.take().map_or(0, |batch| batch.num_rows() as u64);
        self.row = 0;
        if let Some(numbers) = self.numbers.take() {
            self.spare = numbers;
        }
    }

    /// Takes the next row of the batch.
    fn go_on(&mut self, lines: &mut Lines) {
        self.row += 1;
        if self.text.get().is_some() {
            self.text = OnceCell::new();
        }
        lines.go_to_row(self.before + self.row as u64);
    }

    /// The numbers of the next row and its label, if all of the batch are finite.
    fn take_numbers(&mut self, row: &mut [f64], label: &mut String) -> bool {
        // Each cell tells what it is.
        if !self.gaps.is_empty() {
            return false;
        }
        let Self { batch: Some(batch), numbers, spare, plan, present, row: at, .. } = self else { return false };
        let numbers = numbers.get_or_insert_with(|| spread(batch, present, plan, std::mem::take(spare)));
        let Some(own) = numbers.get(*at * row.len()..(*at + 1) * row.len()) else { return false };
        row.copy_from_slice(own);
        if plan.weight().is_some() && row.last().is_some_and(|weight| *weight < 0.0) {
            return false;
        }
        let Some(column) = plan.label() else { return true };
        let labels = present.iter().position(|&other| other == column).map(|place| batch.column(place));
        labels.and_then(|labels| value::cell(labels.as_ref(), *at)).is_some_and(|cell| {
            Labels::canonical_cell(cell, label);
            !label.is_empty()
        })
    }

    /// A row of the batch as a JSON object, for whoever keeps rows that are refused.
    fn row_text(&self, row: usize) -> String {
        let Some(batch) = &self.batch else { return String::new() };
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let pairs = self.present.iter().zip(batch.columns()).map(|(&column, values)| {
            let value = match value::cell(values.as_ref(), row) {
                _ if list::is_list(values.data_type()) => list::text(values.as_ref(), row).unwrap_or("null".to_owned()),
                // A whole number of a column with fractions has one.
                Some(Cell::Number(value)) => format!("{value:?}"),
                Some(cell @ (Cell::Integer(_) | Cell::Numeral(..))) => cell.to_string(),
                Some(Cell::Text(text)) => quoted(text),
                Some(Cell::Truth(truth)) => truth.to_string(),
                Some(cell @ (Cell::Instant(_) | Cell::LocalTime(_) | Cell::TimeOfDay(_) | Cell::Duration(_))) => {
                    quoted(&cell.to_string())
                }
                Some(Cell::Missing | Cell::List(_)) | None => "null".to_owned(),
            };
            format!("{}: {value}", quoted(&self.names[column]))
        });
        format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
    }
}

impl Rows for Columnar {
    fn plan(&self) -> &ColumnPlan {
        &self.plan
    }

    fn plan_mut(&mut self) -> &mut ColumnPlan {
        self.numbers = None;
        &mut self.plan
    }

    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    /// Takes the head from the first batch, which is read and kept.
    fn head(&mut self, lines: &mut Lines, target: usize, _options: &ReadOptions) -> Result<TargetHead, DataError> {
        let mut head = TargetHead::default();
        self.fill(lines)?;
        let place = self.present.iter().position(|&column| column == target);
        if let (Some(batch), Some(place)) = (&self.batch, place) {
            for row in 0..batch.num_rows().min(HEAD_LINES) {
                let cell = value::cell(batch.column(place).as_ref(), row);
                head.see(match cell.map(|cell| self.gaps.without(cell)) {
                    Some(Cell::Missing) | None => ParsedCell::Empty,
                    Some(Cell::Text(text)) if is_gap_mark(text) => ParsedCell::Empty,
                    Some(cell) => cell.number().map_or(ParsedCell::Text, ParsedCell::Number),
                });
            }
        }
        Ok(head)
    }

    fn groups(&self) -> &[u64] {
        &self.groups
    }

    /// Passes over groups that are not begun, or over rows of the present batch.
    fn skip(&mut self, lines: &Lines, most: u64) -> Result<u64, DataError> {
        if self.is_used_up() {
            let passed = self.batches.pass(most);
            if passed > 0 {
                self.put_away();
                self.before += passed;
                self.text = OnceCell::new();
                return Ok(passed);
            }
        }
        self.fill(lines)?;
        let left = self.batch.as_ref().map_or(0, |batch| batch.num_rows() - self.row);
        let passed = usize::try_from(most).map_or(left, |most| left.min(most));
        (self.row, self.text) = (self.row + passed, OnceCell::new());
        Ok(passed as u64)
    }

    fn has_types(&self) -> bool {
        true
    }

    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        self.fill(lines)?;
        let at = self.row;
        if self.batch.is_some() {
            self.go_on(lines);
        }
        let Self { batch: Some(batch), names, plan, gaps, present, .. } = self else { return Ok(false) };
        record.blank(plan.width());
        for (&column, values) in present.iter().zip(batch.columns()) {
            let (Role::Value(slot) | Role::Label(slot)) = plan.role(column) else { continue };
            if list::is_list(values.data_type()) {
                let text = list::text(values.as_ref(), at);
                record.set(slot, text.as_deref().map_or(Cell::Missing, |text| Cell::List(List::known(text))));
                continue;
            }
            let Some(cell) = value::cell(values.as_ref(), at) else {
                let cell = lines.cell(column, Some(&names[column]));
                return Err(DataError::NotFinite { cell, value: "an infinity".to_owned() });
            };
            record.set(slot, gaps.without(cell));
        }
        Ok(true)
    }

    fn take_remark(&mut self) -> Option<Remark> {
        self.remark.take()
    }

    fn text<'a>(&'a self, _lines: &'a Lines) -> &'a [u8] {
        self.text.get_or_init(|| self.row.checked_sub(1).map_or_else(String::new, |row| self.row_text(row))).as_bytes()
    }

    fn numbers(&mut self, lines: &mut Lines, row: &mut [f64], label: &mut String) -> Result<Next, DataError> {
        self.fill(lines)?;
        if self.batch.is_none() {
            return Ok(Next::End);
        }
        if !self.take_numbers(row, label) {
            return Ok(Next::Record);
        }
        self.go_on(lines);
        Ok(Next::Numbers)
    }
}

/// The numbers of a batch, row by row, in `memory`; nothing if some cell is no finite number.
/// Labels are 0.
fn spread(batch: &RecordBatch, present: &[usize], plan: &ColumnPlan, mut memory: Vec<f64>) -> Vec<f64> {
    memory.clear();
    memory.resize(batch.num_rows() * plan.width(), 0.0);
    let whole = present.iter().zip(batch.columns()).all(|(&column, values)| match plan.role(column) {
        Role::Value(slot) => value::spread(values.as_ref(), &mut memory, slot, plan.width()),
        Role::Label(_) | Role::Ignored => true,
    });
    if !whole {
        memory.clear();
    }
    memory
}

/// The result of `read`. Some readers of Arrow and Parquet panic over bytes that contradict one
/// another: that is an error like any other.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // Nothing is used again that a panic may have left half done: the reader ends with the error.
    let read = catch_unwind(AssertUnwindSafe(read));
    let read = read.unwrap_or_else(|_| Err("its bytes contradict one another".to_owned()));
    // Those readers' messages may have several lines.
    read.map_err(|why| why.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn of_file(mut input: File, format: Format) -> Result<ColumnarFile, String> {
    if format == Format::Parquet {
        let again = input.try_clone().map_err(|error| error.to_string())?;
        return parquet::open(input, again);
    }
    let mut magic = Vec::new();
    let read = input.by_ref().take(ARROW_MAGIC.len() as u64).read_to_end(&mut magic);
    read.and_then(|_| input.seek(SeekFrom::Start(0))).map_err(|error| error.to_string())?;
    if magic == ARROW_MAGIC { of_arrow(BufReader::new(input)) } else { of_arrow_stream(BufReader::new(input)) }
}

#[cfg(feature = "stores")]
fn of_object(input: StoredObject, format: Format) -> Result<ColumnarFile, String> {
    match format {
        Format::Parquet => parquet::open(input.clone(), input),
        _ => of_stream(Box::new(input), format),
    }
}

#[cfg(not(feature = "stores"))]
fn of_object(input: StoredObject, format: Format) -> Result<ColumnarFile, String> {
    of_stream(Box::new(input), format)
}

fn of_bytes(bytes: Bytes, format: Format) -> Result<ColumnarFile, String> {
    match format {
        Format::Parquet => parquet::open(bytes.clone(), bytes),
        _ if bytes.starts_with(ARROW_MAGIC) => of_arrow(Cursor::new(bytes)),
        _ => of_arrow_stream(Cursor::new(bytes)),
    }
}

fn of_stream(mut input: Box<dyn Read + Send>, format: Format) -> Result<ColumnarFile, String> {
    let mut head = Vec::new();
    let most = if format == Format::Parquet { u64::MAX } else { ARROW_MAGIC.len() as u64 };
    input.by_ref().take(most).read_to_end(&mut head).map_err(|error| error.to_string())?;
    if format != Format::Parquet && head != ARROW_MAGIC {
        return of_arrow_stream(BufReader::new(Cursor::new(head).chain(input)));
    }
    input.read_to_end(&mut head).map_err(|error| error.to_string())?;
    of_bytes(head.into(), format)
}

fn of_arrow(mut input: impl Read + Seek + Send + 'static) -> Result<ColumnarFile, String> {
    if has_zstd(&mut input).map_err(|error| error.to_string())? {
        let (schema, batches) = ZstdFile::open(input).map_err(|error| error.to_string())?;
        return Ok(ColumnarFile { schema, groups: Vec::new(), batches: Box::new(|_| Ok(Box::new(batches))) });
    }
    input.rewind().map_err(|error| error.to_string())?;
    let reader = FileReader::try_new(input, None).map_err(|error| error.to_string())?;
    let schema = RecordBatchReader::schema(&reader);
    Ok(ColumnarFile { schema, groups: Vec::new(), batches: Box::new(|_| Ok(Box::new(reader))) })
}

fn of_arrow_stream(input: impl Read + Send + 'static) -> Result<ColumnarFile, String> {
    let reader = StreamReader::try_new(ZstdMessages::new(input), None).map_err(|error| error.to_string())?;
    let schema = RecordBatchReader::schema(&reader);
    Ok(ColumnarFile { schema, groups: Vec::new(), batches: Box::new(|_| Ok(Box::new(reader))) })
}
