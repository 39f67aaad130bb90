//! One pass over the rows of a shard on several threads, with the same sums whatever their number.
//!
//! The rows of each file are cut into chunks whose size depends on the number of columns alone. A chunk is read under the lock of its file and summed up
//! outside of it; chunks are added to their file, and files to the whole, in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use indicatif::ProgressBar;
use mercer::AnyKernel;
use mercer::data::{Example, Scaling};
use mercer::learners::{FeatureMap, FixedMap, MomentScratch, MomentSums, RidgeMoments, Rows as Examples, Targets};
use mercer::model::Moments;

use super::files::{Files, Part, Rows};
use crate::cli::failure::Failure;
use crate::cli::voice;

/// Rows and numbers of a chunk at most.
const CHUNK: usize = 8192;
const CHUNK_NUMBERS: usize = 1 << 20;

/// What all threads need.
struct Task<'a> {
    files: &'a Files,
    map: &'a FixedMap<AnyKernel>,
    scaling: Option<&'a Scaling>,
    outputs: usize,
    /// Rows of a chunk.
    chunk: usize,
    bar: ProgressBar,
    /// Another thread has failed.
    over: AtomicBool,
}

/// Adds the rows of these parts to the state, and says how many there were.
pub(super) fn sum_up(files: &Files, parts: &[Part], state: &mut Moments, threads: usize) -> Result<u64, Failure> {
    let map = state.sums.feature_map().clone();
    let columns = files.dimension() + files.outputs();
    let task = Task {
        files,
        map: &map,
        scaling: state.scaling.as_ref(),
        outputs: files.outputs(),
        chunk: (CHUNK_NUMBERS / columns.max(1)).clamp(64, CHUNK) / 64 * 64,
        bar: voice::bar(None, "{spinner} {human_pos} rows, {per_sec}, {elapsed}"),
        over: AtomicBool::new(false),
    };
    let at_once = threads.min(parts.len()).max(1);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let run = |threads: usize| {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(index).filter(|_| !task.over.load(Ordering::Relaxed)) else { return Ok(()) };
            let summed = task.part(part, threads).map_err(|failure| {
                task.over.store(true, Ordering::Relaxed);
                (index, failure)
            })?;
            locked(&done).insert(index, summed);
        }
    };
    let failures: Vec<(usize, Failure)> = std::thread::scope(|scope| {
        let share = |runner: usize| threads / at_once + usize::from(runner < threads % at_once);
        let run = &run;
        let runners: Vec<_> = (0..at_once).map(|runner| scope.spawn(move || run(share(runner)))).collect();
        runners
            .into_iter()
            .filter_map(|runner| runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).err())
            .collect()
    });
    // That of the first file.
    if let Some((_, failure)) = failures.into_iter().min_by_key(|(index, _)| *index) {
        return Err(failure);
    }
    let (mut whole, mut rows) = (MomentSums::new(map.coordinates(), files.outputs()), 0);
    for (sums, count) in done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        whole.add(1.0, &sums);
        rows += count;
    }
    state.sums = RidgeMoments::from_sums(map, whole, 0.0).map_err(|error| Failure::because(error.to_string()))?;
    Ok(rows)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is being read.
struct Open {
    rows: Rows,
    /// Rows left of the part.
    left: u64,
    /// Chunks handed out, and rows of the file met.
    chunks: usize,
    met: u64,
    over: bool,
}

/// The sums of the chunks before `next`.
struct Added {
    sums: MomentSums,
    next: usize,
}

/// Rows of a chunk.
#[derive(Default)]
struct Chunk {
    features: Vec<f64>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    /// The first of its rows in the file, from 1.
    first: u64,
}

impl Task<'_> {
    /// The sums of a part, and its rows.
    fn part(&self, part: &Part, threads: usize) -> Result<(MomentSums, u64), Failure> {
        let sums = MomentSums::new(self.map.coordinates(), self.outputs);
        let open = Open {
            rows: self.files.part(part)?,
            left: part.rows.end - part.rows.start,
            chunks: 0,
            met: part.rows.start,
            over: false,
        };
        let (open, added, turn) = (Mutex::new(open), Mutex::new(Added { sums, next: 0 }), Condvar::new());
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
        let met = open.into_inner().unwrap_or_else(PoisonError::into_inner).met;
        let Added { sums, .. } = added.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((sums, met - part.rows.start))
    }

    /// Sums up chunk after chunk until none is left.
    fn chunks(&self, open: &Mutex<Open>, added: (&Mutex<Added>, &Condvar), file: usize) -> Result<(), Failure> {
        let (mut chunk, mut scratch, mut example) = (Chunk::default(), MomentScratch::default(), Example::default());
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
    fn read(&self, open: &mut Open, chunk: &mut Chunk, example: &mut Example) -> Result<Option<usize>, Failure> {
        chunk.features.clear();
        chunk.targets.clear();
        chunk.weights.clear();
        chunk.first = open.met + 1;
        while chunk.weights.len() < self.chunk && open.left > 0 && !open.over && !self.over.load(Ordering::Relaxed) {
            if !open.rows.next(example)? {
                open.over = true;
                break;
            }
            chunk.features.extend_from_slice(&example.features);
            chunk.targets.extend_from_slice(&example.targets);
            chunk.weights.push(example.weight);
            open.left -= 1;
            open.met += 1;
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
        chunk: &mut Chunk,
        scratch: &mut MomentScratch,
        index: usize,
        (added, turn): (&Mutex<Added>, &Condvar),
        file: usize,
    ) -> Result<(), Failure> {
        let d = self.files.dimension();
        let mut sums = MomentSums::new(self.map.coordinates(), self.outputs);
        let summed = self.scale(chunk).and_then(|()| {
            let targets =
                Targets::new(&chunk.targets, &chunk.weights, self.outputs).map_err(|error| (0, error.to_string()))?;
            let rows = Examples::new(&chunk.features, d, targets).map_err(|error| (0, error.to_string()))?;
            // Rows before the one that is refused were added, those of weight 0 without being counted.
            sums.add_rows(self.map, rows, scratch).map_err(|error| (self.refused(chunk), error.to_string()))
        });
        summed.map_err(|(row, error)| {
            let row = chunk.first + row as u64;
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
            added.sums.add(1.0, &sums);
            added.next += 1;
            self.bar.inc(chunk.weights.len() as u64);
        }
        turn.notify_all();
        Ok(())
    }

    fn scale(&self, chunk: &mut Chunk) -> Result<(), (usize, String)> {
        let Some(scaling) = self.scaling else { return Ok(()) };
        let d = self.files.dimension();
        for row in 0..chunk.weights.len() {
            let (features, targets) =
                (&mut chunk.features[row * d..(row + 1) * d], &mut chunk.targets[row * self.outputs..][..self.outputs]);
            let scaled = scaling.row(features).and_then(|()| scaling.targets(targets));
            scaled.map_err(|error| (row, error.to_string()))?;
        }
        Ok(())
    }

    /// The first row of a chunk that cannot be summed up.
    fn refused(&self, chunk: &Chunk) -> usize {
        let d = self.files.dimension();
        let (mut scratch, one) = (MomentScratch::default(), |row: usize| row..row + 1);
        let mut refuses = |row: usize| {
            let range = one(row);
            let (y, w) = (&chunk.targets[row * self.outputs..][..self.outputs], &chunk.weights[range]);
            let targets = Targets::new(y, w, self.outputs);
            let rows = targets.and_then(|targets| Examples::new(&chunk.features[row * d..(row + 1) * d], d, targets));
            let mut sums = MomentSums::new(self.map.coordinates(), self.outputs);
            rows.and_then(|rows| sums.add_rows(self.map, rows, &mut scratch)).is_err()
        };
        (0..chunk.weights.len()).find(|row| refuses(*row)).unwrap_or(0)
    }
}
