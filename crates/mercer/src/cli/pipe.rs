//! Input that comes when it likes: standard input, or a pipe with a name.
//!
//! A thread of its own reads the bytes and hands them over in a short queue, which holds the writer back when rows take longer than
//! they come. When the queue is empty the reader would wait: then, and only then, what waits for output is flushed. While it waits it
//! looks every now and then whether a signal has come, and ends the input if so.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use super::failure::Failure;
use super::stop::Stop;

/// Bytes read at once.
const PIECE: usize = 64 << 10;
/// Pieces that wait at most.
const WAITING: usize = 4;
/// How long a signal may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether `path` gives bytes when it likes, rather than being there as a whole.
pub(crate) fn is_one(path: &Path) -> bool {
    path == Path::new("-") || std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// The receiving end.
pub(crate) struct Pipe {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    taken: usize,
    stop: Stop,
    idle: Box<dyn FnMut() + Send>,
}

impl Pipe {
    /// Reads from `path`, or standard input for `-`; `idle` is called whenever nothing is there to be read.
    pub(crate) fn open(path: &Path, stop: Stop, idle: impl FnMut() + Send + 'static) -> Result<Self, Failure> {
        let input: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let file = File::open(path).map_err(|error| {
                Failure::because(format!("{}: cannot be read ({error}); give another file", path.display()))
            })?;
            Box::new(file)
        };
        let (sender, pieces) = sync_channel(WAITING);
        // Left behind when the command ends while it waits for bytes.
        thread::spawn(move || pass_on(input, &sender));
        Ok(Self { pieces, piece: Vec::new(), taken: 0, stop, idle: Box::new(idle) })
    }

    /// The next piece; `None` at the end or when a signal has come.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.pieces.try_recv() {
            Ok(piece) => return piece.map(Some),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => (self.idle)(),
        }
        loop {
            if self.stop.requested() {
                return Ok(None);
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => return piece.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() {
            self.taken = 0;
            self.piece = self.next()?.unwrap_or_default();
        }
        let count = bytes.len().min(self.piece.len() - self.taken);
        bytes[..count].copy_from_slice(&self.piece[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

fn pass_on(mut input: Box<dyn Read + Send>, pieces: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = match input.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                Ok(piece)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        // Nobody listens any more once the command is over.
        if pieces.send(read).is_err() || failed {
            return;
        }
    }
}
