//! Input that comes when it likes: standard input, or a pipe with a name.
//!
//! A thread of its own reads the bytes and hands them over in a short queue, which holds the writer
//! back when rows take longer than they come. A few pieces of memory go round between the two, so
//! that what is in use does not depend on who is ahead. When the queue is empty the reader would
//! wait: then, and only then, what waits for output is flushed. While it waits it looks every now
//! and then whether a signal has come, and ends the input if so.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::Duration;

use crate::data::stop::Stop;
use crate::report::failure::Failure;

/// Bytes read at once.
const PIECE: usize = 64 << 10;
/// Pieces in all: one that is read into, one that is taken from, and four that wait.
const PIECES: usize = 6;
/// The longest time that a signal may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// True if `path` gives bytes when it likes, rather than being there as a whole.
pub(crate) fn is_one(path: &Path) -> bool {
    path == Path::new("-") || std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Some bytes, the first of its memory.
struct Piece {
    memory: Box<[u8]>,
    length: usize,
}

/// The receiving end.
pub(crate) struct Pipe {
    full: Receiver<io::Result<Piece>>,
    empty: Sender<Piece>,
    piece: Option<Piece>,
    taken: usize,
    stop: Stop,
    idle: Box<dyn FnMut() + Send>,
}

impl Pipe {
    /// Reads from `path`, or standard input for `-`; `idle` is called whenever nothing is there to
    /// be read.
    pub(crate) fn open(path: &Path, stop: Stop, idle: impl FnMut() + Send + 'static) -> Result<Self, Failure> {
        let input: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let file = File::open(path).map_err(|error| {
                Failure::because(format!("{}: cannot be read ({error}); give another file", path.display()))
            })?;
            Box::new(file)
        };
        let (filled, full) = channel();
        let (empty, emptied) = channel();
        // Left behind when the command ends while it waits for bytes.
        thread::spawn(move || pass_on(input, &emptied, &filled));
        for _ in 0..PIECES {
            // The thread has no reason to be gone yet; if it is, there is nothing to be read.
            drop(empty.send(Piece { memory: vec![0; PIECE].into(), length: 0 }));
        }
        Ok(Self { full, empty, piece: None, taken: 0, stop, idle: Box::new(idle) })
    }

    /// The next piece; `None` at the end or when a signal has come.
    fn next(&mut self) -> io::Result<Option<Piece>> {
        match self.full.try_recv() {
            Ok(piece) => return piece.map(Some),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => (self.idle)(),
        }
        loop {
            if self.stop.requested() {
                return Ok(None);
            }
            match self.full.recv_timeout(PATIENCE) {
                Ok(piece) => return piece.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.piece.as_ref().is_none_or(|piece| self.taken == piece.length) {
            self.taken = 0;
            if let Some(piece) = self.piece.take() {
                // Nobody wants it once the input has ended.
                drop(self.empty.send(piece));
            }
            self.piece = self.next()?;
        }
        let Some(piece) = &self.piece else { return Ok(0) };
        let count = bytes.len().min(piece.length - self.taken);
        bytes[..count].copy_from_slice(&piece.memory[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// Fills pieces and hands them on, to the end of the input or of the command.
fn pass_on(mut input: Box<dyn Read + Send>, emptied: &Receiver<Piece>, filled: &Sender<io::Result<Piece>>) {
    while let Ok(mut piece) = emptied.recv() {
        let read = loop {
            match input.read(&mut piece.memory) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let sent = match read {
            Ok(0) => return,
            Ok(length) => filled.send(Ok(Piece { length, ..piece })),
            Err(error) => {
                // The input is over, whether anybody listens or not.
                drop(filled.send(Err(error)));
                return;
            }
        };
        // Nobody listens any more once the command is over.
        if sent.is_err() {
            return;
        }
    }
}
