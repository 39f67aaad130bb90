//! Rolling origins: forecasts of several steps are made as a series goes, and judged when their
//! rows have come.
//!
//! The first origin is the first row that is scored, and each other one the last row of the one
//! before, so that each row is forecast once. The last origins count.

use std::collections::VecDeque;

/// Origins that count unless told.
pub const ORIGINS: usize = 10;

/// Steps of forecasts that are judged at most.
pub const MOST_STEPS: usize = 2000;

/// What is known of the origin whose rows are to come, `O`, and of those before, `R`.
#[derive(Clone, Debug)]
pub struct RollingOrigins<O, R> {
    steps: usize,
    most: usize,
    /// The rows that have come, and the origin.
    open: Option<(usize, O)>,
    done: VecDeque<R>,
}

impl<O, R> RollingOrigins<O, R> {
    /// Forecasts of so many steps, of which the last `most` are kept.
    #[must_use]
    pub fn new(steps: usize, most: usize) -> Self {
        Self { steps, most, open: None, done: VecDeque::new() }
    }

    /// Tells the open origin of a row that has come, and returns it if that is its last.
    pub fn row(&mut self, tell: impl FnOnce(&mut O)) -> Option<O> {
        let (rows, origin) = self.open.as_mut()?;
        tell(origin);
        *rows += 1;
        self.open.take_if(|(rows, _)| *rows == self.steps).map(|(_, origin)| origin)
    }

    /// Keeps what became of an origin.
    pub fn keep(&mut self, result: R) {
        if self.done.len() == self.most {
            self.done.pop_front();
        }
        self.done.push_back(result);
    }

    /// True if a forecast is to be made behind a row, which is `scored` or is not.
    #[must_use]
    pub fn is_due(&self, scored: bool) -> bool {
        self.open.is_none() && scored && self.steps <= MOST_STEPS
    }

    /// Begins an origin behind the last row.
    pub fn begin(&mut self, origin: O) {
        self.open = Some((0, origin));
    }

    /// What became of the last origins, in their order.
    pub fn done(&self) -> impl ExactSizeIterator<Item = &R> {
        self.done.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of rows 0 … 19, scored from 4 on: each is of one origin, and the last three are kept.
    #[test]
    fn origins_follow_one_another_and_the_last_are_kept() {
        let mut origins = RollingOrigins::new(4, 3);
        for row in 0..20_usize {
            if let Some((known, rows)) = origins.row(|(_, rows): &mut (usize, Vec<usize>)| rows.push(row)) {
                assert_eq!(rows, (known + 1..=known + 4).collect::<Vec<_>>());
                origins.keep(known);
            }
            if origins.is_due(row >= 4) {
                origins.begin((row, Vec::new()));
            }
        }
        assert_eq!(origins.done().copied().collect::<Vec<_>>(), [4, 8, 12]);
        let long = RollingOrigins::<(), ()>::new(MOST_STEPS + 1, 3);
        assert!(!long.is_due(true) && !RollingOrigins::<(), ()>::new(1, 3).is_due(false));
    }
}
