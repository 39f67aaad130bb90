//! One pass over the rows of a shard on several threads, with the same sums whatever their number.
//!
//! The rows of each file are cut into chunks whose size depends on the number of columns alone. A
//! chunk is read under the lock of its file and summed up outside of it; chunks are added to their
//! file, and files to the whole, in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use indicatif::ProgressBar;
use mercer_kernels::AnyKernel;
use mercer_learners::{FixedMap, MomentScratch, MomentSums, Rows as Examples, Targets};
use mercer_readers::{Example, Labels};
use mercer_session::model::{ClassUnion, MOST_CLASSES, MergeError, Moments};

use super::files::{FilePart, Files};
use crate::data::input::Input;
use crate::report::failure::Failure;
use crate::report::verbosity;

/// Rows and numbers of a chunk at most.
const CHUNK: usize = 8192;
const CHUNK_NUMBERS: usize = 1 << 20;
/// Rows for which the targets of classes are written out at once: a multiple of the rows that are
/// summed up together.
const CODED: usize = 512;

/// Data that all threads need.
pub(super) struct ShardTask<'a> {
    files: &'a Files,
    map: &'a FixedMap<AnyKernel>,
    outputs: usize,
    /// True if the target is a class.
    classes: bool,
    /// Rows of a chunk.
    chunk: usize,
    bar: ProgressBar,
    /// Another thread has failed.
    pub(super) over: AtomicBool,
    /// True if rows that cannot be read are left out.
    skips: bool,
}

/// What was read of a part.
#[derive(Default)]
pub(super) struct PartCount {
    /// Rows met, bad ones included.
    pub(super) met: u64,
    pub(super) bad: u64,
    /// Why the first of them cannot be read.
    pub(super) first_bad: Option<String>,
}

/// Tells the other threads that one of them panics, so that none waits for its turn.
struct PanicAlarm<'a>(&'a AtomicBool);

impl Drop for PanicAlarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Sums, and the classes of their outputs; no classes for numbers.
pub(super) struct ShardSums {
    pub(super) sums: MomentSums,
    pub(super) labels: Labels,
}

impl ShardSums {
    /// Adds the sums of later rows; their classes join the others.
    pub(super) fn add(&mut self, mut other: Self) -> Result<(), MergeError> {
        if self.labels != other.labels {
            let union = ClassUnion::of(&self.labels, &other.labels)?;
            self.sums.arrange(&union.ours);
            other.sums.arrange(&union.theirs);
            self.labels = union.labels;
        }
        self.sums.add(1.0, &other.sums);
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is being read.
struct Open {
    rows: Input,
    /// Rows left of the part.
    left: u64,
    /// Chunks handed out.
    chunks: usize,
    /// Rows of the file met.
    met: u64,
    bad: u64,
    first_bad: Option<String>,
    over: bool,
}

/// The sums of the chunks before `next`.
struct SumPrefix {
    summed: ShardSums,
    next: usize,
}

/// Rows of a chunk.
#[derive(Default)]
struct ShardChunk {
    features: Vec<f64>,
    /// None for classes.
    targets: Vec<f64>,
    weights: Vec<f64>,
    /// The class of each row, and the classes of the chunk; none for numbers.
    classes: Vec<usize>,
    labels: Labels,
    /// Where its rows stand in the file, from 1.
    places: Vec<u64>,
}

impl<'a> ShardTask<'a> {
    /// For rows of these files, summed up as the state has it.
    pub(super) fn new(files: &'a Files, state: &'a Moments, skips: bool) -> Self {
        let columns = files.dimension() + files.outputs();
        Self {
            files,
            map: state.sums.feature_map(),
            outputs: files.outputs(),
            classes: files.are_classes(),
            chunk: (CHUNK_NUMBERS / columns.max(1)).clamp(64, CHUNK) / 64 * 64,
            bar: verbosity::bar(None, "{spinner} {human_pos} rows, {per_sec}, {msg}{elapsed}"),
            over: AtomicBool::new(false),
            skips,
        }
    }

    /// True if another thread has failed.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Tells a person who waits how many parts are done.
    pub(super) fn tell(&self, done: usize, all: usize) {
        if all > 1 {
            self.bar.set_message(format!("{done} of {all} parts, "));
        }
    }

    /// The sums of a part, and its rows. Where another thread has failed these may not be all.
    pub(super) fn part(&self, part: &FilePart, threads: usize) -> Result<(ShardSums, PartCount), Failure> {
        let summed = self.nothing();
        let open = Open {
            rows: self.files.part(part)?,
            left: part.rows.end - part.rows.start,
            chunks: 0,
            met: part.rows.start,
            bad: 0,
            first_bad: None,
            over: false,
        };
        let (open, added, turn) = (Mutex::new(open), Mutex::new(SumPrefix { summed, next: 0 }), Condvar::new());
        let work = || self.chunks(&open, (&added, &turn), part.file);
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut result = work();
            for other in others {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result = result.and(other);
            }
            result
        })?;
        let Open { rows, met, bad, first_bad, .. } = open.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.files.tell_left_out(part, &rows);
        let SumPrefix { summed, .. } = added.into_inner().unwrap_or_else(PoisonError::into_inner);
        if met < part.rows.end && part.rows.end < u64::MAX && !self.is_over() {
            let shown = self.files.shown(part.file);
            return Err(Failure::because(format!(
                "{shown}: ends after row {met}, and had {} when it was opened",
                part.rows.end
            )));
        }
        Ok((summed, PartCount { met: met - part.rows.start, bad, first_bad }))
    }

    /// The sums of no row.
    fn nothing(&self) -> ShardSums {
        ShardSums { sums: MomentSums::new(self.map, self.outputs), labels: Labels::new() }
    }

    /// Sums up chunk after chunk until none is left.
    fn chunks(&self, open: &Mutex<Open>, added: (&Mutex<SumPrefix>, &Condvar), file: usize) -> Result<(), Failure> {
        let (mut chunk, mut scratch, mut example) =
            (ShardChunk::default(), MomentScratch::default(), Example::default());
        let _alarm = PanicAlarm(&self.over);
        let result = loop {
            let read = self.read(&mut locked(open), &mut chunk, &mut example);
            match read {
                Ok(None) => break Ok(()),
                Ok(Some(index)) => {
                    if let Err(failure) = self.add(&mut chunk, &mut scratch, index, added, file) {
                        break Err(failure);
                    }
                }
                Err(failure) => break Err(failure),
            }
        };
        if result.is_err() {
            self.over.store(true, Ordering::Relaxed);
            added.1.notify_all();
        }
        result
    }

    /// Reads the next chunk: its place, or none at the end.
    fn read(&self, open: &mut Open, chunk: &mut ShardChunk, example: &mut Example) -> Result<Option<usize>, Failure> {
        chunk.features.clear();
        chunk.targets.clear();
        chunk.weights.clear();
        chunk.classes.clear();
        chunk.labels = Labels::new();
        chunk.places.clear();
        while chunk.weights.len() < self.chunk && open.left > 0 && !open.over && !self.over.load(Ordering::Relaxed) {
            open.left -= 1;
            open.met += 1;
            match open.rows.next(example) {
                Ok(true) => {}
                Ok(false) => {
                    open.met -= 1;
                    open.over = true;
                    break;
                }
                Err(error) if self.skips && error.concerns_one_row() => {
                    open.bad += 1;
                    open.first_bad.get_or_insert_with(|| error.to_string());
                    continue;
                }
                Err(error) => return Err(self.files.unreadable(error)),
            }
            chunk.places.push(open.met);
            chunk.features.extend_from_slice(&example.features);
            chunk.targets.extend_from_slice(&example.targets);
            chunk.weights.push(example.weight);
            if self.classes {
                // What has no weight does not become a class; such a row adds nothing to any.
                let class = if example.weight == 0.0 { 0 } else { chunk.labels.insert(&example.label) };
                chunk.classes.push(class);
            }
        }
        if chunk.weights.is_empty() {
            return Ok(None);
        }
        open.chunks += 1;
        Ok(Some(open.chunks - 1))
    }

    /// Sums a chunk up and adds it when its turn has come.
    fn add(
        &self,
        chunk: &mut ShardChunk,
        scratch: &mut MomentScratch,
        index: usize,
        (added, turn): (&Mutex<SumPrefix>, &Condvar),
        file: usize,
    ) -> Result<(), Failure> {
        let summed = self.sums(chunk, scratch).map_err(|(row, error)| {
            let row = chunk.places[row];
            Failure::because(format!("{}, row {row}: {error}", self.files.shown(file)))
        })?;
        let mut added = locked(added);
        while added.next != index && !self.over.load(Ordering::Relaxed) {
            added = turn
                .wait_timeout(added, std::time::Duration::from_millis(50))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        if added.next == index {
            let joined = added.summed.add(summed);
            joined.map_err(|error| Failure::because(format!("{}: {error}", self.files.shown(file))))?;
            added.next += 1;
            self.bar.inc(chunk.weights.len() as u64);
        }
        turn.notify_all();
        Ok(())
    }

    /// The sums of a chunk; or the row that is refused, and why.
    fn sums(&self, chunk: &mut ShardChunk, scratch: &mut MomentScratch) -> Result<ShardSums, (usize, String)> {
        let (d, rows) = (self.files.dimension(), chunk.weights.len());
        let outputs = if self.classes { chunk.labels.len().max(1) } else { self.outputs };
        if chunk.labels.len() > MOST_CLASSES {
            return Err((0, MergeError::TooManyClasses { classes: chunk.labels.len() }.to_string()));
        }
        let mut sums = MomentSums::new(self.map, outputs);
        let step = if self.classes { CODED } else { rows.max(1) };
        for first in (0..rows).step_by(step) {
            let range = first..rows.min(first + step);
            if self.classes {
                chunk.targets.clear();
                chunk.targets.resize(range.len() * outputs, 0.0);
                let codes = chunk.targets.chunks_exact_mut(outputs);
                codes.zip(&chunk.classes[range.clone()]).for_each(|(codes, class)| codes[*class] = 1.0);
            }
            let refused = |error: mercer_learners::Error| (first, error.to_string());
            let targets = Targets::new(&chunk.targets, &chunk.weights[range.clone()], outputs).map_err(refused)?;
            let features = &chunk.features[range.start * d..range.end * d];
            let rows = Examples::new(features, d, targets).map_err(refused)?;
            // Rows before the one that is refused were added, those of weight 0 without being
            // counted.
            let added = sums.add_rows(self.map, rows, scratch);
            added.map_err(|error| (first + self.refused(rows), error.to_string()))?;
        }
        Ok(ShardSums { sums, labels: std::mem::take(&mut chunk.labels) })
    }

    /// The first of these rows that cannot be summed up.
    fn refused(&self, rows: Examples<'_>) -> usize {
        let mut scratch = MomentScratch::default();
        let mut refuses = |row: usize| {
            let one = rows.range(row, row + 1);
            let mut sums = MomentSums::new(self.map, one.target(0).y.len());
            sums.add_rows(self.map, one, &mut scratch).is_err()
        };
        (0..rows.len()).find(|row| refuses(*row)).unwrap_or(0)
    }
}
