//! The journal of a service: a file of the rows that were accepted since the model was saved.
//!
//! Eight bytes of magic, then frames: the length and the CRC-32 of a body, and the body in
//! postcard. A frame of rows is written before the rows are learnt, so a kill can only leave a
//! frame behind that is not whole, at the end of the file, and nobody was told that it was
//! accepted.
//!
//! A frame tells how many rows the model had met before, and a checksum of them. The saved model
//! must have been at one of these places: it may have been saved in the midst of the journal, or
//! behind it. A frame without rows marks where a save began.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mercer_serve::{Journal, Model, Reason, Row, Standing};
use serde::{Deserialize, Serialize};

use crate::report::failure::Failure;
use crate::report::verbosity;

const MAGIC: &[u8; 8] = b"MERCERJ1";

/// The bytes before the body of a frame.
const HEAD: usize = 8;

/// Rows of one request, where the model stood before them.
#[derive(Serialize, Deserialize)]
struct Frame {
    met: u64,
    fingerprint: u32,
    rows: Vec<Row>,
}

/// When written rows are brought to the disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sync {
    /// Before their request is answered.
    Row,
    /// After so long at most; a loss of power may take what came since.
    Time(Duration),
}

impl Sync {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "row" => Ok(Self::Row),
            other => super::time(other).map(Self::Time).map_err(|_| "give row, or a number with its unit, such as 1s"),
        }
    }
}

/// The open file, locked for this process.
pub(super) struct JournalFile {
    path: PathBuf,
    file: File,
    number: (u64, u64),
    /// Where the next frame begins.
    end: u64,
    sync: Sync,
    /// Whether a part of a frame that could not be written is still there.
    torn: bool,
    /// Whether the disk may not have all yet, and since when.
    unsynced: Option<Instant>,
}

impl JournalFile {
    /// Opens the journal, or begins one.
    ///
    /// # Errors
    /// If it cannot be opened, another process has it, or it is something else.
    pub(super) fn open(path: &Path, sync: Sync) -> Result<Self, Failure> {
        let refused = |why: &str| Failure::because(format!("{}: {why}; give another --journal", path.display()));
        if std::fs::metadata(path).is_ok_and(|existing| !existing.is_file()) {
            return Err(refused("is not a file"));
        }
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(|error| refused(&format!("cannot be opened ({error})")))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(refused("is the journal of another process"));
        }
        let mut head = Vec::new();
        let unreadable = |error| failed(path, &error);
        let number = number(&file.metadata().map_err(unreadable)?);
        Read::by_ref(&mut file).take(HEAD as u64).read_to_end(&mut head).map_err(unreadable)?;
        // A kill may have come while the first bytes were written.
        if !MAGIC.starts_with(&head) {
            return Err(refused("is there already and is no journal"));
        }
        if head.len() < MAGIC.len() {
            file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(MAGIC)).map_err(unreadable)?;
        }
        Ok(Self { path: path.to_owned(), file, number, end: MAGIC.len() as u64, sync, torn: false, unsynced: None })
    }

    /// Has the model learn the rows that it has not met yet; how many they were.
    ///
    /// # Errors
    /// If the journal is of another model, or damaged.
    pub(super) fn replay(&mut self, model: &mut dyn Model) -> Result<u64, Failure> {
        let before = model.standing();
        let (mut fits, mut starts) = (false, Vec::new());
        self.end = self.each(|frame| {
            fits |= (frame.met, frame.fingerprint) == (before.met, before.fingerprint);
            if !frame.rows.is_empty() {
                starts.push(frame.met);
            }
            Ok(())
        })?;
        if !fits && self.end > MAGIC.len() as u64 {
            return Err(self.other_model(before.met));
        }
        let mut starts = starts.into_iter().skip(1);
        let refused = self.other_model(before.met);
        let schema = model.schema();
        let shape = (schema.columns.len(), schema.targets.len());
        let mut learnt = 0;
        self.each(|frame| {
            if frame.rows.is_empty() {
                return Ok(());
            }
            // Rows behind one that was refused were not looked at.
            let next = starts.next().unwrap_or(u64::MAX);
            for (row, at) in frame.rows.iter().zip(frame.met..next) {
                let met = model.standing().met;
                if at < met {
                    continue;
                }
                if at > met || (row.values.len(), row.targets.len()) != shape {
                    return Err(Failure::because(refused.to_string()));
                }
                match model.learn(row) {
                    Ok(_) => learnt += 1,
                    Err(_) => break,
                }
            }
            Ok(())
        })?;
        self.file.set_len(self.end).map_err(|error| failed(&self.path, &error))?;
        Ok(learnt)
    }

    /// Reads all frames; where the last whole one ends.
    fn each(&self, mut take: impl FnMut(Frame) -> Result<(), Failure>) -> Result<u64, Failure> {
        let unreadable = |error: io::Error| failed(&self.path, &error);
        let length = self.file.metadata().map_err(unreadable)?.len();
        let mut end = MAGIC.len() as u64;
        let mut reader = BufReader::new(&self.file);
        reader.seek(SeekFrom::Start(end)).map_err(unreadable)?;
        let mut body = Vec::new();
        while length - end > HEAD as u64 {
            let mut head = [[0; 4]; 2];
            for number in &mut head {
                reader.read_exact(number).map_err(unreadable)?;
            }
            let [size, sum] = head.map(u32::from_le_bytes);
            let next = end + HEAD as u64 + u64::from(size);
            if next > length {
                break;
            }
            body.clear();
            Read::by_ref(&mut reader).take(u64::from(size)).read_to_end(&mut body).map_err(unreadable)?;
            match postcard::from_bytes(&body) {
                Ok(frame) if crc32fast::hash(&body) == sum => take(frame)?,
                // The last frame, or the zeros of a disk that lost its power.
                _ if next == length || size == 0 => break,
                _ => {
                    return Err(Failure::because(format!(
                        "{}: is damaged at byte {end}; move it away to go on without the rows behind that",
                        self.path.display()
                    )));
                }
            }
            end = next;
        }
        if end < length {
            verbosity::remark(format!(
                "{}: its last {} bytes are of rows that were not written whole, and so not accepted",
                self.path.display(),
                length - end
            ));
        }
        Ok(end)
    }

    fn other_model(&self, met: u64) -> Failure {
        Failure::because(format!(
            "{}: is of another model than this one, which has met {met} rows; give the model that it belongs to, or move it away",
            self.path.display()
        ))
    }

    /// Whether the next start will find the file. One that was removed is begun anew, as soon as it
    /// has no rows.
    fn find(&mut self) -> Result<(), Reason> {
        let place = self.path.display();
        match std::fs::metadata(&self.path) {
            Ok(facts) if number(&facts) == self.number => Ok(()),
            Ok(_) => Err(format!("{place}: another file was put there, which is left alone; move it away").into()),
            Err(_) if self.end > MAGIC.len() as u64 => {
                Err(format!("{place}: was removed, and is begun anew once the model is saved").into())
            }
            Err(_) => {
                *self = Self::open(&self.path, self.sync).map_err(|failure| failure.to_string())?;
                Ok(())
            }
        }
    }

    /// Writes a frame whole, or leaves nothing of it.
    fn write(&mut self, rows: &[Row], standing: Standing) -> Result<(), Reason> {
        let frame = Frame { met: standing.met, fingerprint: standing.fingerprint, rows: rows.to_vec() };
        let body = postcard::to_allocvec(&frame)?;
        let size = u32::try_from(body.len())?;
        let head = [size, crc32fast::hash(&body)].map(u32::to_le_bytes).concat();
        let whole = [head, body].concat();
        if let Err(error) = self.put(&whole, self.sync == Sync::Row && !rows.is_empty()) {
            self.torn = self.file.set_len(self.end).is_err();
            return Err(failed(&self.path, &error).to_string().into());
        }
        self.end += whole.len() as u64;
        if let Sync::Time(_) = self.sync {
            self.unsynced.get_or_insert_with(Instant::now);
        }
        Ok(())
    }

    fn put(&mut self, whole: &[u8], durably: bool) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.end)?;
            self.torn = false;
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(whole)?;
        if durably { self.file.sync_data() } else { Ok(()) }
    }
}

impl Journal for JournalFile {
    fn append(&mut self, rows: &[Row], standing: Standing) -> Result<(), Reason> {
        self.find()?;
        self.write(rows, standing)
    }

    fn mark(&mut self, standing: Standing) -> Result<(), Reason> {
        if self.end == MAGIC.len() as u64 { Ok(()) } else { self.write(&[], standing) }
    }

    fn sync(&mut self) -> Result<(), Reason> {
        let (Sync::Time(most), Some(since)) = (self.sync, self.unsynced) else { return Ok(()) };
        if since.elapsed() >= most {
            self.unsynced = None;
            self.file.sync_data().map_err(|error| failed(&self.path, &error).to_string())?;
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Reason> {
        let beginning = MAGIC.len() as u64;
        if self.end > beginning {
            self.file.set_len(beginning).map_err(|error| failed(&self.path, &error).to_string())?;
            (self.end, self.unsynced) = (beginning, None);
        }
        Ok(())
    }
}

/// Which file it is, where the system numbers files.
pub(super) fn number(facts: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (facts.dev(), facts.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = facts;
        (0, 0)
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format!("{}: the journal cannot be kept ({error})", path.display()))
}
