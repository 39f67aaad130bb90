//! Parts of files, summed up by several threads and joined in their order, so that the sums do not
//! depend on the threads.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use mercer_learners::RidgeMoments;
use mercer_session::model::{Moments, PartSource};

use super::files::{FilePart, Files};
use super::pass::{PartCount, ShardSums, ShardTask};
use crate::report::failure::Failure;

/// Parts a thread that may be summed up ahead of one that is not: each holds its sums until then.
const AHEAD: usize = 4;

/// The first parts, joined.
pub(super) struct Joined {
    summed: ShardSums,
    /// How many parts these are.
    pub(super) parts: usize,
    /// Files that they were read from, each up to the row behind the last.
    sources: Vec<PartSource>,
    /// Rows that are summed up.
    pub(super) rows: u64,
    /// Rows that were left out.
    pub(super) bad: u64,
    /// Why the first of them cannot be read; `None` where that was told to an earlier run.
    pub(super) first_bad: Option<String>,
}

impl Joined {
    /// What a state holds, of so many parts.
    pub(super) fn of(state: &Moments, parts: usize) -> Self {
        let sources: Vec<PartSource> = state.parts.iter().flat_map(|part| part.sources.clone()).collect();
        let met: u64 = sources.iter().map(|source| source.end - source.first).sum();
        let labels = state.classes.clone().unwrap_or_default();
        Self {
            summed: ShardSums { sums: state.sums.sums().clone(), labels },
            parts,
            sources,
            rows: state.rows(),
            bad: met.saturating_sub(state.rows()),
            first_bad: None,
        }
    }

    /// The state of these parts, as shard `shard.0` of `shard.1`; all else is that of `fresh`.
    pub(super) fn state(&self, fresh: &Moments, shard: (u64, u64)) -> Result<Moments, Failure> {
        let (sums, mut state) = (self.summed.sums.clone(), fresh.clone());
        let map = state.sums.feature_map().clone();
        state.sums = RidgeMoments::from_sums(map, sums, 0.0).map_err(|error| Failure::because(error.to_string()))?;
        state.classes = state.classes.is_some().then(|| self.summed.labels.clone());
        let closed = state.close(shard, self.rows, self.sources.clone());
        closed.map_err(|error| Failure::because(error.to_string()))?;
        Ok(state)
    }

    /// Adds the next part, which was read from `source`, or goes on in the file of the part before.
    fn join(&mut self, (summed, count): (ShardSums, PartCount), source: Option<&PartSource>) -> Result<(), Failure> {
        self.summed.add(summed).map_err(|error| Failure::because(error.to_string()))?;
        self.parts += 1;
        self.rows += count.met - count.bad;
        self.bad += count.bad;
        if self.first_bad.is_none() {
            self.first_bad = count.first_bad;
        }
        self.sources.extend(source.map(|source| PartSource { end: source.first, ..source.clone() }));
        if let Some(last) = self.sources.last_mut() {
            last.end += count.met;
        }
        Ok(())
    }
}

/// What is told whenever parts were joined, but for the last.
pub(super) type Keep<'a> = dyn FnMut(&Joined) -> Result<(), Failure> + Send + 'a;

/// Parts of which each is taken by one thread, or several.
struct PartQueue<'a, 'k> {
    task: ShardTask<'a>,
    files: &'a Files,
    parts: &'a [FilePart],
    /// Where the rows of each file come from.
    sources: &'a BTreeMap<usize, PartSource>,
    /// Parts that may be ahead of the first that is not done.
    ahead: usize,
    progress: Mutex<PartProgress<'k>>,
    joined: Condvar,
}

struct PartProgress<'k> {
    /// Parts that were taken.
    taken: usize,
    joined: Joined,
    /// Parts that are done and wait for others before them.
    later: BTreeMap<usize, (ShardSums, PartCount)>,
    keep: &'k mut Keep<'k>,
}

/// Adds the rows of the parts that are not yet in `joined`, in their order, and tells `keep` of
/// every step. Rows that cannot be read are left out if it `skips`.
pub(super) fn sum_up<'k>(
    (files, parts, sources): (&Files, &[FilePart], &BTreeMap<usize, PartSource>),
    fresh: &Moments,
    joined: Joined,
    (threads, skips): (usize, bool),
    keep: &'k mut Keep<'k>,
) -> Result<Joined, Failure> {
    let at_once = threads.min(parts.len() - joined.parts).max(1);
    let queue = PartQueue {
        task: ShardTask::new(files, fresh, skips),
        files,
        parts,
        sources,
        ahead: AHEAD * at_once,
        progress: Mutex::new(PartProgress { taken: joined.parts, joined, later: BTreeMap::new(), keep }),
        joined: Condvar::new(),
    };
    let failures: Vec<(usize, Failure)> = std::thread::scope(|scope| {
        let share = |runner: usize| threads / at_once + usize::from(runner < threads % at_once);
        let queue = &queue;
        let runners: Vec<_> = (0..at_once).map(|runner| scope.spawn(move || queue.run(share(runner)))).collect();
        runners
            .into_iter()
            .filter_map(|runner| runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).err())
            .collect()
    });
    // That of the first part.
    if let Some((_, failure)) = failures.into_iter().min_by_key(|(index, _)| *index) {
        return Err(failure);
    }
    Ok(queue.progress.into_inner().unwrap_or_else(PoisonError::into_inner).joined)
}

impl PartQueue<'_, '_> {
    /// Sums up one part after the other; or the part that failed, and why.
    fn run(&self, threads: usize) -> Result<(), (usize, Failure)> {
        while let Some(index) = self.take() {
            let summed = self.task.part(&self.parts[index], threads);
            if let Err(failure) = summed.and_then(|summed| self.give(index, summed)) {
                self.task.over.store(true, Ordering::Relaxed);
                self.joined.notify_all();
                return Err((index, failure));
            }
        }
        Ok(())
    }

    /// The next part, as soon as its sums need not wait for too many others.
    fn take(&self) -> Option<usize> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.task.is_over() && progress.taken >= progress.joined.parts + self.ahead {
            let waited = self.joined.wait_timeout(progress, Duration::from_millis(50));
            progress = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let index = progress.taken;
        if self.task.is_over() || index >= self.parts.len() {
            return None;
        }
        progress.taken += 1;
        Some(index)
    }

    /// Joins a part that is done when all before it are.
    fn give(&self, index: usize, summed: (ShardSums, PartCount)) -> Result<(), Failure> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        // A part of which the reading was broken off, because another failed, is not whole.
        if self.task.is_over() {
            return Ok(());
        }
        let PartProgress { joined, later, keep, .. } = &mut *progress;
        later.insert(index, summed);
        let before = joined.parts;
        while let Some(summed) = later.remove(&joined.parts) {
            let part = &self.parts[joined.parts];
            let goes_on = joined.parts > 0 && self.parts[joined.parts - 1].file == part.file;
            let source = self.sources.get(&part.file).filter(|_| !goes_on);
            let shown = |failure: Failure| Failure::because(format!("{}: {failure}", self.files.shown(part.file)));
            joined.join(summed, source).map_err(shown)?;
        }
        if joined.parts > before {
            self.task.tell(joined.parts, self.parts.len());
            // Behind the last the whole is written.
            if joined.parts < self.parts.len() {
                keep(joined)?;
            }
            self.joined.notify_all();
        }
        Ok(())
    }
}
