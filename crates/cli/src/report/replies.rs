//! The lines that answer rows: one for each, on stdout or in a file that appears when all are
//! there.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "arrow")]
use crate::model::cells::AnswerValue;
#[cfg(feature = "arrow")]
use crate::report::columnar::{ColumnarFormat, ColumnarRows};
use crate::report::failure::Failure;
use crate::report::output::{Aside, refuse_format};

/// Bytes that wait at most while rows keep coming.
const WAITING: usize = 64 << 10;

/// The form of a line.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum LineStyle {
    /// A number; nothing for a row without an answer.
    Csv,
    /// `{"prediction":…}`, null for a row without an answer.
    Ndjson,
    /// The same in one array.
    Json,
    /// The rows of a Parquet or an Arrow file.
    #[cfg(feature = "arrow")]
    Columnar(ColumnarFormat),
}

impl LineStyle {
    /// The style that the name of a file tells, or the one for rows that are `objects`.
    ///
    /// # Errors
    /// A name that tells another format.
    pub(crate) fn of_file(path: Option<&Path>, objects: bool) -> Result<Self, Failure> {
        let usual = if objects { Self::Ndjson } else { Self::Csv };
        let Some(path) = path else { return Ok(usual) };
        Ok(Self::told("--predictions", path)?.unwrap_or(usual))
    }

    /// The style that the name of the file of an `option` tells, if it tells one.
    ///
    /// # Errors
    /// A name that tells another format.
    pub(crate) fn told(option: &str, path: &Path) -> Result<Option<Self>, Failure> {
        let columnar: &[&str] = if cfg!(feature = "arrow") { &["parquet", "arrow", "feather"] } else { &[] };
        refuse_format(option, path, &[&["csv", "ndjson", "jsonl", "json"], columnar].concat())?;
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
        Ok(match ending.as_deref() {
            Some("csv") => Some(Self::Csv),
            Some("ndjson" | "jsonl") => Some(Self::Ndjson),
            Some("json") => Some(Self::Json),
            #[cfg(feature = "arrow")]
            Some("parquet") => Some(Self::Columnar(ColumnarFormat::Parquet)),
            #[cfg(feature = "arrow")]
            Some("arrow" | "feather") => Some(Self::Columnar(ColumnarFormat::Arrow)),
            _ => None,
        })
    }
}

/// The lines; clones share them, so that whoever waits for input can flush what was answered.
#[derive(Clone)]
pub(crate) struct Replies(Arc<Mutex<ReplyLines>>);

struct ReplyLines {
    style: LineStyle,
    waiting: Vec<u8>,
    file: Option<Aside>,
    numbers: zmij::Buffer,
    /// True behind the first line.
    begun: bool,
    /// The rows of a format with typed columns.
    #[cfg(feature = "arrow")]
    columnar: Option<ColumnarRows>,
    end: End,
}

/// State of the output: lines can still be written, or not.
enum End {
    Open,
    /// The reader has gone away.
    Gone,
    Failed(Option<Failure>),
}

impl Replies {
    /// Lines in `path`, or on stdout.
    pub(crate) fn create(path: Option<&Path>, inputs: &[&Path]) -> Result<Self, Failure> {
        let file = path.map(|path| Aside::create_for("--predictions", path, inputs, "")).transpose()?;
        let waiting = Vec::with_capacity(WAITING + 512);
        let lines = ReplyLines {
            style: LineStyle::Csv,
            waiting,
            file,
            numbers: zmij::Buffer::new(),
            begun: false,
            #[cfg(feature = "arrow")]
            columnar: None,
            end: End::Open,
        };
        Ok(Self(Arc::new(Mutex::new(lines))))
    }

    /// A line that stands above the others in CSV.
    pub(crate) fn begin(&self, style: LineStyle, header: Option<&str>) {
        self.with(|lines| {
            lines.style = style;
            if let Some(header) = header.filter(|_| style == LineStyle::Csv) {
                lines.waiting.extend_from_slice(header.as_bytes());
                lines.waiting.push(b'\n');
            }
        });
    }

    /// Answers a row; false when nobody reads the answers, or they cannot be written.
    #[inline]
    pub(crate) fn answer(&self, prediction: Option<f64>) -> bool {
        self.with(|lines| lines.answer(prediction))
    }

    /// The same with a line that says more than one number.
    pub(crate) fn answer_line(&self, line: &str) -> bool {
        self.with(|lines| {
            lines.begin_line();
            lines.waiting.extend_from_slice(line.as_bytes());
            lines.end_line()
        })
    }

    /// Has columns of these names, which hold names or else numbers.
    #[cfg(feature = "arrow")]
    pub(crate) fn begin_columns(&self, format: ColumnarFormat, columns: &[(String, bool)]) -> Result<(), Failure> {
        let rows = ColumnarRows::new(format, columns)?;
        self.with(|lines| lines.columnar = Some(rows));
        Ok(())
    }

    /// Answers a row by its values in these columns; false when they cannot be written.
    #[cfg(feature = "arrow")]
    pub(crate) fn answer_values(&self, values: &[Option<AnswerValue<'_>>]) -> bool {
        self.with(|lines| {
            let Some(columnar) = &mut lines.columnar else { return false };
            let pushed = columnar.push(values);
            lines.waiting.append(&mut columnar.take_bytes());
            match pushed {
                Ok(()) => lines.flush_many(),
                Err(failure) => lines.end = End::Failed(Some(failure)),
            }
            matches!(lines.end, End::Open)
        })
    }

    /// Hands on what waits.
    pub(crate) fn flush(&self) {
        self.with(ReplyLines::flush);
    }

    /// Hands on what waits and puts the file in its place; tells what went wrong. Without this the
    /// file never appears.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.with(|lines| {
            if lines.style == LineStyle::Json {
                lines.waiting.extend_from_slice(if lines.begun { b"\n]\n" } else { b"[]\n" });
            }
            #[cfg(feature = "arrow")]
            if let Some(columnar) = lines.columnar.take() {
                lines.waiting.append(&mut columnar.finish()?);
            }
            lines.flush();
            if let End::Failed(failure) = &mut lines.end {
                let failure = failure.take();
                return failure.map_or(Ok(()), Err);
            }
            lines.file.take().map_or(Ok(()), Aside::finish)
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut ReplyLines) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Adds a number in the form of [`number`](super::output::number): `1` for 1.0 and `1e22` for
/// 1e+22.
#[inline]
fn push(waiting: &mut Vec<u8>, number: &str) {
    for part in number.strip_suffix(".0").unwrap_or(number).split('+') {
        waiting.extend_from_slice(part.as_bytes());
    }
}

/// Puts a question mark in the place of characters that command a terminal, which the names of
/// classes may hold.
fn tame(bytes: &mut [u8]) {
    let commands = |byte: &&mut u8| byte.is_ascii_control() && !matches!(**byte, b'\n' | b'\t');
    bytes.iter_mut().filter(commands).for_each(|byte| *byte = b'?');
}

impl ReplyLines {
    /// Begins a line of an array, which has commas between them.
    #[inline]
    fn begin_line(&mut self) {
        if self.style == LineStyle::Json {
            self.waiting.extend_from_slice(if self.begun { b",\n" } else { b"[\n" });
            self.begun = true;
        }
    }

    #[inline]
    fn answer(&mut self, prediction: Option<f64>) -> bool {
        self.begin_line();
        let number = prediction.map(|prediction| self.numbers.format(prediction));
        match (self.style, number) {
            (LineStyle::Csv, number) => push(&mut self.waiting, number.unwrap_or_default()),
            // Of columns only whole rows are written.
            #[cfg(feature = "arrow")]
            (LineStyle::Columnar(_), _) => {}
            (LineStyle::Ndjson | LineStyle::Json, number) => {
                self.waiting.extend_from_slice(b"{\"prediction\":");
                push(&mut self.waiting, number.unwrap_or("null"));
                self.waiting.push(b'}');
            }
        }
        self.end_line()
    }

    fn end_line(&mut self) -> bool {
        if self.style != LineStyle::Json {
            self.waiting.push(b'\n');
        }
        self.flush_many();
        matches!(self.end, End::Open)
    }

    fn flush_many(&mut self) {
        if self.waiting.len() >= WAITING {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !matches!(self.end, End::Open) {
            self.waiting.clear();
        }
        if self.waiting.is_empty() {
            return;
        }
        if let Some(file) = &mut self.file {
            if let Err(failure) = file.write_bytes(&self.waiting) {
                self.end = End::Failed(Some(failure));
            }
        } else {
            let mut stdout = io::stdout().lock();
            if stdout.is_terminal() {
                tame(&mut self.waiting);
            }
            match stdout.write_all(&self.waiting).and_then(|()| stdout.flush()) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.end = End::Gone,
                Err(error) => {
                    self.end = End::Failed(Some(Failure::because(format!(
                        "standard output cannot be written ({error}); check what it is redirected to"
                    ))));
                }
            }
        }
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_command_a_terminal() {
        let mut line = b"a\x1b[2J,\xc3\xa9\t1\n".to_vec();
        tame(&mut line);
        assert_eq!(line, b"a?[2J,\xc3\xa9\t1\n");
    }

    #[test]
    fn answers_are_written_as_all_numbers_are() {
        let mut numbers = zmij::Buffer::new();
        for value in [0.0, -0.0, 1.0, -250.0, 0.1, 1e-5, 9.9e-6, 1e-9, 1e15, 1.5e15, 1e16, 1.25e22, 5e-324, f64::MAX] {
            let mut written = Vec::new();
            push(&mut written, numbers.format(value));
            assert_eq!(String::from_utf8(written).unwrap(), super::super::output::number(value));
        }
    }
}
