//! DATA that can be read from its beginning more than once, even where it is a pipe: what was read
//! of that is kept until the last reading.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mercer_readers::{DataError, ReadOptions, RowReader};

use crate::data::pipe::{self, Pipe};
use crate::data::source::Source;
use crate::data::stop::Stop;
use crate::report::failure::Failure;

/// A file, or a pipe.
pub(crate) struct Opening {
    path: PathBuf,
    shown: String,
    pipe: Option<Arc<Mutex<PipeHead>>>,
}

/// A pipe, and what was read of it.
struct PipeHead {
    pipe: Pipe,
    bytes: Vec<u8>,
    /// True if the bytes that are read are kept for a reading to come.
    keeps: bool,
    /// Which reading it is; those before it have ended.
    reading: usize,
}

impl Opening {
    /// A pipe is ended by `stop`; `idle` is called whenever it has nothing to read.
    pub(crate) fn new(path: &Path, stop: &Stop, idle: impl FnMut() + Send + 'static) -> Result<Self, Failure> {
        let shown = Source::resolve(path)?.to_string();
        let pipe = if pipe::is_one(path) { Some(Pipe::open(path, stop.clone(), idle)?) } else { None };
        let kept = |pipe| Arc::new(Mutex::new(PipeHead { pipe, bytes: Vec::new(), keeps: true, reading: 0 }));
        Ok(Self { path: path.to_owned(), shown, pipe: pipe.map(kept) })
    }

    pub(crate) fn is_pipe(&self) -> bool {
        self.pipe.is_some()
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The records from the beginning. Whatever was opened before has ended.
    pub(crate) fn records(&self, options: &ReadOptions) -> Result<RowReader, DataError> {
        self.read(options, true, true)
    }

    /// The same for the last time: what is read is not kept any more.
    pub(crate) fn last_records(self, options: &ReadOptions) -> Result<RowReader, DataError> {
        self.read(options, true, false)
    }

    /// The rows of numbers from the beginning, for the last time.
    pub(crate) fn rows(self, options: &ReadOptions) -> Result<RowReader, DataError> {
        self.read(options, false, false)
    }

    /// The names of the columns of rows of numbers, where they have some: known as soon as a header
    /// is there.
    pub(crate) fn header(&self, options: &ReadOptions) -> Option<Vec<String>> {
        self.read(options, false, true).ok()?.feature_names().map(<[String]>::to_vec)
    }

    fn read(&self, options: &ReadOptions, records: bool, keeps: bool) -> Result<RowReader, DataError> {
        match (self.kept(options)?, records) {
            (None, true) => RowReader::records(&self.path, options),
            (None, false) => RowReader::open(&self.path, options),
            (Some(kept), true) => RowReader::records_from(&*self.shown, PipeReading::begin(kept, keeps), options),
            (Some(kept), false) => RowReader::from_reader(&*self.shown, PipeReading::begin(kept, keeps), options),
        }
    }

    /// The pipe, if it is one, whose name tells no format.
    fn kept(&self, options: &ReadOptions) -> Result<Option<&Arc<Mutex<PipeHead>>>, DataError> {
        match &self.pipe {
            Some(_) if options.format.is_none() => Err(DataError::UnknownFormat { file: self.shown.clone() }),
            pipe => Ok(pipe.as_ref()),
        }
    }
}

/// One reading of a pipe.
struct PipeReading {
    kept: Arc<Mutex<PipeHead>>,
    /// Bytes of those that are kept which it has read.
    read: usize,
    reading: usize,
}

impl PipeReading {
    fn begin(kept: &Arc<Mutex<PipeHead>>, keeps: bool) -> Self {
        let mut all = kept.lock().unwrap_or_else(PoisonError::into_inner);
        all.keeps = keeps;
        all.reading += 1;
        Self { kept: Arc::clone(kept), read: 0, reading: all.reading }
    }
}

impl Read for PipeReading {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if self.reading != kept.reading {
            return Ok(0);
        }
        let again = &kept.bytes[self.read..];
        if !again.is_empty() {
            let count = again.len().min(bytes.len());
            bytes[..count].copy_from_slice(&again[..count]);
            self.read += count;
            if !kept.keeps && self.read == kept.bytes.len() {
                (kept.bytes, self.read) = (Vec::new(), 0);
            }
            return Ok(count);
        }
        let count = kept.pipe.read(bytes)?;
        if kept.keeps {
            kept.bytes.extend_from_slice(&bytes[..count]);
            self.read += count;
        }
        Ok(count)
    }
}
