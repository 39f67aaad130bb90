//! An operation under measurement, and the least work it can be done with.

use std::time::{Duration, Instant};

/// Work that an operation needs whatever the code: the measure of its roof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Bytes read and left as they are.
    pub read: usize,
    /// Bytes read and written back, both counted: 16 for each `f64`.
    pub updated: usize,
    /// Additions, multiplications and fused multiply-adds of `f64`, each counted once.
    pub arithmetic: usize,
}

impl Workload {
    /// Bytes moved between memory and registers.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.read + self.updated
    }

    /// Bytes of memory that the operation touches.
    #[must_use]
    pub fn working_set(&self) -> usize {
        self.read + self.updated / 2
    }
}

impl std::ops::Add for Workload {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            updated: self.updated + other.updated,
            arithmetic: self.arithmetic + other.arithmetic,
        }
    }
}

/// One operation at one size, set up and ready to run again and again.
pub struct Operation {
    /// Name of the operation, in words that serve as an identifier.
    pub name: String,
    /// Dictionary size, vector length or number of features.
    pub size: usize,
    /// Its least work.
    pub work: Workload,
    timed: Box<dyn FnMut(u64) -> Duration>,
}

impl Operation {
    /// An operation that leaves its state at the same size, so that runs can follow each other.
    pub fn steady(name: impl Into<String>, size: usize, work: Workload, mut run: impl FnMut() + 'static) -> Self {
        Self::timed(name, size, work, move |runs| {
            let start = Instant::now();
            for _ in 0..runs {
                run();
            }
            start.elapsed()
        })
    }

    /// An operation that grows its state, measured around `size`: from a copy of `start`, made anew
    /// for every window, [`LEAD`] runs that are not timed (memory is reserved in them), then
    /// `window` runs that are.
    pub fn growing<S: Clone + 'static>(
        name: impl Into<String>,
        size: usize,
        work: Workload,
        window: u64,
        start: S,
        mut run: impl FnMut(&mut S) + 'static,
    ) -> Self {
        Self::timed(name, size, work, move |runs| {
            let mut total = Duration::ZERO;
            let mut left = runs;
            while left > 0 {
                let mut state = start.clone();
                (0..LEAD).for_each(|_| run(&mut state));
                let now = left.min(window);
                let clock = Instant::now();
                for _ in 0..now {
                    run(&mut state);
                }
                total += clock.elapsed();
                left -= now;
            }
            total
        })
    }

    /// An operation with a clock of its own: `timed(runs)` makes that many runs and returns what
    /// they took.
    pub fn timed(
        name: impl Into<String>,
        size: usize,
        work: Workload,
        timed: impl FnMut(u64) -> Duration + 'static,
    ) -> Self {
        Self { name: name.into(), size, work, timed: Box::new(timed) }
    }

    /// Makes `runs` runs and returns what they took, set-up excluded.
    pub fn time(&mut self, runs: u64) -> Duration {
        (self.timed)(runs)
    }
}

/// Untimed runs at the start of a window of [`Operation::growing`]: more than the eight that share
/// a block of storage, so that every vector has grown once and has room for the window.
pub const LEAD: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_runs_windows_from_the_same_start() {
        let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let log = std::rc::Rc::clone(&seen);
        let mut operation = Operation::growing("count", 3, Workload::default(), 2, 0usize, move |state| {
            log.borrow_mut().push(*state);
            *state += 1;
        });
        operation.time(3);
        let expected: Vec<usize> = (0..LEAD + 2).chain(0..=LEAD).collect();
        assert_eq!(*seen.borrow(), expected);
    }
}
