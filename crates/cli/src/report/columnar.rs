//! Answers as the rows of a Parquet or an Arrow file, some thousands at a time.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::model::cells::AnswerValue;
use crate::report::failure::Failure;

/// Rows that are written together.
const ROWS: usize = 8192;

/// The formats that have typed columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnarFormat {
    Parquet,
    Arrow,
}

/// A column of answers, those that wait to be written included.
enum AnswerColumn {
    Numbers(Vec<Option<f64>>),
    Names(Vec<Option<String>>),
}

/// Bytes that were made, and are to be taken by whoever writes the file.
#[derive(Clone, Default)]
struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Encoder {
    Parquet(Box<ArrowWriter<SharedBytes>>),
    Arrow(Box<FileWriter<SharedBytes>>),
}

/// The rows of a file.
pub(crate) struct ColumnarRows {
    schema: SchemaRef,
    columns: Vec<AnswerColumn>,
    rows: usize,
    bytes: SharedBytes,
    encoder: Encoder,
}

fn unwritten(error: impl std::fmt::Display) -> Failure {
    Failure::because(format!("rows of a Parquet or an Arrow file cannot be written ({error}); write .csv"))
}

impl ColumnarRows {
    /// No rows yet, with columns of these names, which hold names or else numbers.
    ///
    /// # Errors
    /// If the format takes no such columns.
    pub(crate) fn new(format: ColumnarFormat, columns: &[(String, bool)]) -> Result<Self, Failure> {
        let kind = |are_names: bool| if are_names { DataType::Utf8 } else { DataType::Float64 };
        let fields: Vec<Field> = columns.iter().map(|(name, names)| Field::new(name, kind(*names), true)).collect();
        let (schema, bytes) = (Arc::new(Schema::new(fields)), SharedBytes::default());
        let encoder = match format {
            ColumnarFormat::Parquet => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(bytes.clone(), Arc::clone(&schema), Some(properties));
                Encoder::Parquet(Box::new(writer.map_err(unwritten)?))
            }
            ColumnarFormat::Arrow => {
                Encoder::Arrow(Box::new(FileWriter::try_new(bytes.clone(), &schema).map_err(unwritten)?))
            }
        };
        let column = |names: bool| {
            if names { AnswerColumn::Names(Vec::new()) } else { AnswerColumn::Numbers(Vec::new()) }
        };
        let columns = columns.iter().map(|(_, names)| column(*names)).collect();
        Ok(Self { schema, columns, rows: 0, bytes, encoder })
    }

    /// Adds a row; its values are none where it has no answer.
    ///
    /// # Errors
    /// If rows cannot be encoded.
    pub(crate) fn push(&mut self, values: &[Option<AnswerValue<'_>>]) -> Result<(), Failure> {
        for (place, column) in self.columns.iter_mut().enumerate() {
            let value = values.get(place).and_then(Option::as_ref);
            match (column, value) {
                (AnswerColumn::Numbers(numbers), Some(AnswerValue::Number(number))) => numbers.push(Some(*number)),
                (AnswerColumn::Names(names), Some(AnswerValue::Name(name))) => names.push(Some((*name).to_owned())),
                (AnswerColumn::Numbers(numbers), _) => numbers.push(None),
                (AnswerColumn::Names(names), _) => names.push(None),
            }
        }
        self.rows += 1;
        if self.rows == ROWS { self.encode() } else { Ok(()) }
    }

    /// Encodes the rows that wait.
    fn encode(&mut self) -> Result<(), Failure> {
        let array = |column: &mut AnswerColumn| -> ArrayRef {
            match column {
                AnswerColumn::Numbers(numbers) => Arc::new(Float64Array::from(std::mem::take(numbers))),
                AnswerColumn::Names(names) => Arc::new(StringArray::from(std::mem::take(names))),
            }
        };
        let arrays = self.columns.iter_mut().map(array).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(unwritten)?;
        self.rows = 0;
        match &mut self.encoder {
            Encoder::Parquet(writer) => writer.write(&batch).map_err(unwritten),
            Encoder::Arrow(writer) => writer.write(&batch).map_err(unwritten),
        }
    }

    /// Takes out the bytes that were made.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Encodes what waits and the end of the file, and gives the bytes that were not taken.
    ///
    /// # Errors
    /// If they cannot be encoded.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, Failure> {
        if self.rows > 0 {
            self.encode()?;
        }
        let ended = match &mut self.encoder {
            Encoder::Parquet(writer) => writer.finish().map(drop).map_err(unwritten),
            Encoder::Arrow(writer) => writer.finish().map_err(unwritten),
        };
        ended.map(|()| self.take_bytes())
    }
}
