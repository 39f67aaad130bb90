//! Lines of text from a file, standard input or memory, compressed or not, counted so that every
//! error can say where.
//!
//! The formats of this crate are all made of lines, and the place of an error must be right under
//! every line end. A general CSV reader counts lines by its own position, which under CRLF runs one
//! behind; so lines are taken here, and a record in quotes that goes over several lines asks for
//! the next with [`Lines::join`].

pub(crate) mod source;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use crate::compressed::Compression;
use crate::elements::{self, BadArray};
use crate::error::{CellPlace, Column, ContainerError, Counts, DataError, Finding, Line, Remark};
use crate::frame;
use crate::other_kind;
use crate::text_encoding;
pub(crate) use source::Source;

/// Longest line, or record of several lines, in bytes: two million columns and more. It bounds the
/// memory that a file without line ends, or with a quote never closed, can claim.
pub(crate) const LONGEST_LINE: usize = 64 << 20;

/// Lines of a file's beginning that tell what its targets are, and bytes that a look ahead takes at
/// most.
pub(crate) const HEAD_LINES: usize = 256;
const HEAD_BYTES: usize = 1 << 20;

/// The mark that some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A text, line by line.
pub(crate) struct Lines {
    file: String,
    input: Box<dyn BufRead + Send>,
    compression: Option<Compression>,
    counts: Counts,
    /// Bytes that are to be taken again, before those of `input`.
    again: VecDeque<u8>,
    /// The error met in `input` while its lines were looked at ahead of their time. It is told when
    /// they have been taken.
    failed: Option<io::Error>,
    /// The current record with its line end(s).
    buffer: Vec<u8>,
    /// Line on which the current record begins, from 1; 0 before the first.
    begin: u64,
    /// Lines taken so far.
    taken: u64,
    /// Blank lines before the current record.
    skipped: u64,
    /// Lines from the blank one that is a row to the current record; 0 for the record itself.
    ahead: u64,
    /// Separators at the end of lines that separate nothing, and how many there are.
    trailing: Option<(u8, usize)>,
    /// True if the frame of a table that a terminal printed is taken away.
    framed: bool,
    /// Remarks that a person should know, until they are asked for.
    remarks: Vec<Remark>,
    /// True if a line was read as Windows-1252.
    recoded: bool,
}

/// A text whose lines end with a carriage return alone, with line feeds in their place.
struct LineFeeds(Box<dyn BufRead + Send>);

impl Read for LineFeeds {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        buffer[..read].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(read)
    }
}

impl Lines {
    /// `promised` is the compression that the name promises; without the promise it is still seen.
    fn new(file: String, input: Box<dyn Read + Send>, promised: Option<Compression>) -> Result<Self, DataError> {
        let (compression, input) = match Compression::undo(input) {
            Ok(undone) => undone,
            Err(source) => return Err(DataError::Io { file, source }),
        };
        if let Some(compression) = promised.filter(|promised| compression != Some(*promised)) {
            return Err(ContainerError::NotCompressed { file, compression }.into());
        }
        let (encoding, input) = match text_encoding::undo(input) {
            Ok(undone) => undone,
            Err(source) => return Err(Self::over(file, Box::new(io::empty()), compression).unreadable(source)),
        };
        let told = encoding.map(|encoding| Finding::Encoding { file: file.clone(), encoding }.remark());
        let mut lines = Self::over(file, input, compression);
        lines.remarks.extend(told);
        Ok(lines)
    }

    fn over(file: String, input: Box<dyn BufRead + Send>, compression: Option<Compression>) -> Self {
        Self {
            file,
            input,
            compression,
            counts: Counts::Lines,
            again: VecDeque::new(),
            failed: None,
            buffer: Vec::new(),
            begin: 0,
            taken: 0,
            skipped: 0,
            ahead: 0,
            trailing: None,
            framed: false,
            remarks: Vec::new(),
            recoded: false,
        }
    }

    /// So many separators at the end of a line separate nothing from here on, also in the current
    /// record.
    pub(crate) fn ends_with(&mut self, separator: u8, count: usize) {
        self.trailing = Some((separator, count));
    }

    /// Takes the frame of a printed table away from here on, also from the current record; false if
    /// nothing is left of that.
    pub(crate) fn unframe(&mut self) -> bool {
        self.framed = true;
        frame::undo(&mut self.buffer)
    }

    /// Adds a remark that a person should know.
    #[cfg(feature = "spreadsheet")]
    pub(crate) fn remark(&mut self, remark: Remark) {
        self.remarks.push(remark);
    }

    /// A remark that a person should know, once.
    pub(crate) fn take_remark(&mut self) -> Option<Remark> {
        (!self.remarks.is_empty()).then(|| self.remarks.remove(0))
    }

    /// No lines: a place in a file of rows that are numbered alone.
    pub(crate) fn of_rows(file: String) -> Self {
        Self { counts: Counts::Rows, ..Self::over(file, Box::new(io::empty()), None) }
    }

    /// Says which row is the current one.
    pub(crate) fn go_to_row(&mut self, number: u64) {
        self.begin = number;
    }

    /// Has the elements of a JSON array, if the text is one, come as lines from here on.
    pub(crate) fn take_elements(&mut self) -> Result<(), DataError> {
        let input = std::mem::replace(&mut self.input, Box::new(io::empty()));
        match elements::lines(input) {
            Ok((array, input)) => {
                self.input = input;
                if array {
                    self.counts = Counts::Rows;
                }
                Ok(())
            }
            Err(source) => Err(self.unreadable(source)),
        }
    }

    /// The unit of the numbers of lines.
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Up to so many lines behind the current record, as a text of their own. They come again. What
    /// goes wrong on the way is told when it is reached again.
    pub(crate) fn ahead(&mut self, most: usize) -> Self {
        let (mut text, mut lines, mut whole) = (Vec::new(), 0, 0);
        while lines < most && text.len() < HEAD_BYTES {
            match self.fetch(&mut text, HEAD_BYTES) {
                Ok(0) => {
                    whole = text.len();
                    break;
                }
                Ok(_) => {}
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
            if text.ends_with(b"\n") {
                whole = text.len();
                lines += 1;
            }
        }
        let mut again = VecDeque::from(text.clone());
        again.append(&mut self.again);
        self.again = again;
        // The last line may have been cut.
        text.truncate(whole);
        // What is odd is told when it is reached again.
        let (trailing, framed, recoded) = (self.trailing, self.framed, true);
        Self { trailing, framed, recoded, ..Self::over(self.file.clone(), Box::new(Cursor::new(text)), None) }
    }

    /// The file's name, for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The current record without its line end.
    #[inline]
    pub(crate) fn text(&self) -> &[u8] {
        let text = self.whole_text();
        match self.trailing {
            Some((separator, count)) => {
                let found = text.iter().rev().take(count).take_while(|byte| **byte == separator).count();
                &text[..text.len() - found]
            }
            None => text,
        }
    }

    /// The same with a separator at its end.
    #[inline]
    pub(crate) fn whole_text(&self) -> &[u8] {
        let text = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        text.strip_suffix(b"\r").unwrap_or(text)
    }

    /// Goes to the next line that is not blank; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, DataError> {
        (self.skipped, self.ahead) = (0, 0);
        loop {
            self.buffer.clear();
            self.begin = self.taken + 1;
            if !self.take_line()? {
                return Ok(false);
            }
            // Blank lines may come before.
            if self.taken == self.skipped + 1 {
                self.check_beginning()?;
            }
            self.recode(0);
            let is_rule = self.framed && !frame::undo(&mut self.buffer);
            if !is_rule && self.buffer.iter().any(|byte| !matches!(byte, b' ' | b'\r' | b'\n')) {
                return Ok(true);
            }
            self.skipped += 1;
        }
    }

    /// Takes a byte order mark off the first line, and refuses what is known to be no text.
    fn check_beginning(&mut self) -> Result<(), DataError> {
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        other_kind::of_bytes(&self.buffer).map_or(Ok(()), |other| Err(other.error(&self.file).into()))
    }

    /// Blank lines between the record before the current one and the current one.
    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Has the row stand so many lines before the current record, as a blank one.
    pub(crate) fn stand_ahead(&mut self, lines: u64) {
        self.ahead = lines;
    }

    /// Appends the following line to the current record; false at the end.
    pub(crate) fn join(&mut self) -> Result<bool, DataError> {
        let begin = self.buffer.len();
        let taken = self.take_line()?;
        self.recode(begin);
        Ok(taken)
    }

    /// Ends the current record with its first line; those that were joined to it come again.
    pub(crate) fn unjoin(&mut self) {
        if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
            // One by one in front: what waits there already is not moved, however much it is.
            for byte in self.buffer.drain(end + 1..).rev() {
                self.again.push_front(byte);
            }
            self.taken = self.begin;
        }
    }

    /// The line on which the current record begins.
    pub(crate) fn line(&self) -> Line {
        Line { file: self.file.clone(), number: self.line_number(), counts: self.counts }
    }

    /// The number of that line.
    #[inline]
    pub(crate) fn line_number(&self) -> u64 {
        self.begin - self.ahead
    }

    /// A cell of the current record; `column` counts from 0.
    pub(crate) fn cell(&self, column: usize, name: Option<&str>) -> CellPlace {
        CellPlace { line: self.line(), column: Column { number: column + 1, name: name.map(str::to_owned) } }
    }

    /// Takes carriage returns for line ends, where the beginning has no others.
    fn find_line_ends(&mut self) {
        let mut begin = Vec::new();
        let alone = loop {
            match self.input.fill_buf() {
                Ok([]) => break false,
                Ok(more) => {
                    let taken = more.len();
                    begin.extend_from_slice(more);
                    self.input.consume(taken);
                }
                Err(error) => {
                    self.failed = Some(error);
                    break false;
                }
            }
            if begin.contains(&b'\n') || begin.len() > HEAD_BYTES {
                break false;
            }
            if begin.windows(2).any(|two| two[0] == b'\r') {
                break true;
            }
        };
        self.again.extend(begin);
        if alone {
            self.again.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
            let input = std::mem::replace(&mut self.input, Box::new(io::empty()));
            self.input = Box::new(BufReader::new(LineFeeds(input)));
        }
    }

    fn take_line(&mut self) -> Result<bool, DataError> {
        if self.taken == 0 && self.again.is_empty() {
            self.find_line_ends();
        }
        let room = (LONGEST_LINE + 1).saturating_sub(self.buffer.len());
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.fetch(&mut buffer, room);
        self.buffer = buffer;
        let taken = match read {
            Ok(taken) => taken,
            Err(source) => return Err(self.unreadable(source)),
        };
        if self.buffer.len() > LONGEST_LINE {
            return Err(DataError::LineTooLong { line: self.line(), limit: LONGEST_LINE });
        }
        self.taken += u64::from(taken > 0);
        Ok(taken > 0)
    }

    /// Makes UTF-8 of the bytes of the record from there on, if they are text of Windows-1252.
    #[inline]
    fn recode(&mut self, begin: usize) {
        if self.buffer[begin..].is_ascii() {
            return;
        }
        if let Some(text) = text_encoding::of_windows(&self.buffer[begin..]).map(Cow::into_owned) {
            self.buffer.truncate(begin);
            self.buffer.extend_from_slice(text.as_bytes());
            if !std::mem::replace(&mut self.recoded, true) {
                let line = Line { number: self.taken, ..self.line() };
                self.remarks.push(Finding::Windows1252(line).remark());
            }
        }
    }

    /// Appends the next line, or as much of it as there is room for, to `text`; gives how many
    /// bytes that were.
    #[inline]
    fn fetch(&mut self, text: &mut Vec<u8>, room: usize) -> io::Result<usize> {
        let mut taken = 0;
        if !self.again.is_empty() {
            taken = self.again.by_ref().take(room as u64).read_until(b'\n', text)?;
            if text.ends_with(b"\n") {
                return Ok(taken);
            }
        }
        match self.failed.take() {
            Some(error) => Err(error),
            None => {
                let room = room.saturating_sub(taken);
                Ok(taken + self.input.by_ref().take(room as u64).read_until(b'\n', text)?)
            }
        }
    }

    fn unreadable(&self, source: io::Error) -> DataError {
        let file = self.file.clone();
        let damaged = matches!(
            source.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
        );
        if let Some(BadArray { expected }) = source.get_ref().and_then(|source| source.downcast_ref::<BadArray>()) {
            return ContainerError::BadArray { file, row: self.taken, expected }.into();
        }
        match self.compression {
            Some(compression) if source.kind() == io::ErrorKind::Unsupported => {
                ContainerError::LongWindow { file, compression, source }.into()
            }
            Some(compression) if damaged => {
                ContainerError::Damaged { file, compression, line: self.taken, source }.into()
            }
            _ => DataError::Io { file, source },
        }
    }
}
