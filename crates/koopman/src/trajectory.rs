//! Pairs from trajectories: each row is a state, or an observation of it, and the row behind it is
//! the successor.

use mercer_core::{Inconsistent, ParameterError, Validate};

use crate::Error;
use crate::kernel_operator::check_dimension;

/// A step of time that is longer than this many usual ones is a gap.
const GAP: f64 = 1.5;

/// A state `x` and the one that follows it, `x⁺`.
pub type Pair<'a> = (&'a [f64], &'a [f64]);

/// The last rows of a trajectory. With a delay of `k` rows, a state is `k` observations, the oldest
/// first (delay coordinates: Takens 1981). A gap of time, a row with a missing number and another
/// group begin a new trajectory: no pair leads across.
///
/// # Invariants
/// `rows` holds at most `delay + 1` whole rows.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trajectory {
    columns: usize,
    delay: usize,
    step: Option<f64>,
    cuts: u64,
    group: Option<String>,
    time: Option<f64>,
    rows: Vec<f64>,
}

impl Validate for Trajectory {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "rows of a trajectory";
        self.rows.validate()?;
        (self.time, self.step).validate()?;
        let state = self.columns.checked_mul(self.delay).unwrap_or(0);
        Inconsistent::size(state, WHAT)?;
        self.step.map_or(Ok(()), |step| Inconsistent::positive(step, WHAT))?;
        let whole = state > 0 && self.rows.len().is_multiple_of(self.columns);
        Inconsistent::require(whole && self.rows.len() <= state + self.columns, WHAT, "whole rows, not too many")
    }
}

impl Trajectory {
    /// For rows of `columns` numbers, `delay` of them a state. `step` is the usual step of time, if
    /// rows have times.
    ///
    /// # Errors
    /// When a number is 0, or a state is too large.
    pub fn new(columns: usize, delay: usize, step: Option<f64>) -> Result<Self, Error> {
        ParameterError::at_least_one("columns", columns)?;
        ParameterError::at_least_one("delay", delay)?;
        let state = columns.checked_mul(delay).filter(|state| *state <= mercer_core::LARGEST_SIZE);
        ParameterError::require(state.is_some(), "delay", "a size of this world", delay as f64)?;
        Ok(Self { columns, delay, step, cuts: 0, group: None, time: None, rows: Vec::new() })
    }

    /// The median difference of successive times, if it is above 0.
    #[must_use]
    pub fn usual_step(times: &[f64]) -> Option<f64> {
        let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().filter(|step| *step > 0.0)
    }

    /// Rows of a state.
    #[must_use]
    pub fn delay(&self) -> usize {
        self.delay
    }

    /// Numbers of a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Numbers of a state.
    #[must_use]
    pub fn state_dimension(&self) -> usize {
        self.columns * self.delay
    }

    /// The usual step of time, if rows have times.
    #[must_use]
    pub fn step(&self) -> Option<f64> {
        self.step
    }

    /// Number of times that a new trajectory began behind another one.
    #[must_use]
    pub fn cuts(&self) -> u64 {
        self.cuts
    }

    /// The group of the last row.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// The state at the end; `None` when too few rows have come since the trajectory began.
    #[must_use]
    pub fn state(&self) -> Option<&[f64]> {
        self.rows.len().checked_sub(self.state_dimension()).map(|first| &self.rows[first..])
    }

    /// The same without a row: the next one begins a new trajectory.
    #[must_use]
    pub fn begun(&self) -> Self {
        Self { rows: Vec::new(), time: None, group: self.group.clone(), ..*self }
    }

    /// Takes the next row with its time and group, and gives the pair that it completes: `x` holds
    /// the rows before it, and `x⁺` is one row further.
    ///
    /// # Errors
    /// When the row has another number of columns.
    pub fn push(&mut self, row: &[f64], time: Option<f64>, group: Option<&str>) -> Result<Option<Pair<'_>>, Error> {
        check_dimension(row.len(), self.columns)?;
        let passed = self.time.zip(time).map(|(before, now)| now - before);
        let gap = passed.is_some_and(|passed| passed < 0.0 || self.step.is_some_and(|step| passed > GAP * step));
        let other = self.group() != group;
        if other {
            self.group = group.map(str::to_owned);
        }
        self.time = time;
        let missing = row.iter().any(|x| !x.is_finite());
        if gap || other || missing {
            self.cuts += u64::from(!self.rows.is_empty());
            self.rows.clear();
        }
        if missing {
            return Ok(None);
        }
        let state = self.state_dimension();
        if self.rows.len() > state {
            self.rows.drain(..self.columns);
        }
        self.rows.extend_from_slice(row);
        Ok((self.rows.len() > state).then(|| (&self.rows[..state], &self.rows[self.columns..])))
    }

    /// The names of `x`, then of `x⁺`, from those of the columns.
    #[must_use]
    pub fn names(&self, columns: &[String]) -> Vec<String> {
        let of = |first: usize| {
            (first..first + self.delay).flat_map(move |at| {
                let behind = at + 1 - self.delay.min(at + 1);
                let before = self.delay.saturating_sub(at + 1);
                columns.iter().map(move |name| match (before, behind) {
                    (0, 0) => name.clone(),
                    (0, behind) => format!("{name}[+{behind}]"),
                    (before, _) => format!("{name}[-{before}]"),
                })
            })
        };
        of(0).chain(of(1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_successive_windows() -> Result<(), Error> {
        let mut plain = Trajectory::new(2, 1, None)?;
        assert_eq!(plain.push(&[1.0, 2.0], None, None)?, None);
        assert_eq!(plain.push(&[3.0, 4.0], None, None)?, Some((&[1.0, 2.0][..], &[3.0, 4.0][..])));
        assert_eq!(plain.push(&[5.0, 6.0], None, None)?, Some((&[3.0, 4.0][..], &[5.0, 6.0][..])));
        assert_eq!(plain.names(&["a".into(), "b".into()]), ["a", "b", "a[+1]", "b[+1]"]);
        let mut delayed = Trajectory::new(1, 3, None)?;
        for t in 0..3 {
            assert_eq!(delayed.push(&[f64::from(t)], None, None)?, None);
            assert_eq!(delayed.validate(), Ok(()));
        }
        assert_eq!(delayed.push(&[3.0], None, None)?, Some((&[0.0, 1.0, 2.0][..], &[1.0, 2.0, 3.0][..])));
        assert_eq!(delayed.push(&[4.0], None, None)?, Some((&[1.0, 2.0, 3.0][..], &[2.0, 3.0, 4.0][..])));
        assert_eq!(delayed.names(&["y".into()]), ["y[-2]", "y[-1]", "y", "y[-1]", "y", "y[+1]"]);
        assert!(delayed.push(&[1.0, 2.0], None, None).is_err() && delayed.state() == Some(&[2.0, 3.0, 4.0]));
        assert!(Trajectory::new(0, 1, None).is_err() && Trajectory::new(2, usize::MAX, None).is_err());
        Ok(())
    }

    /// Times, groups and missing numbers against the rows that may be joined.
    #[test]
    fn no_pair_leads_across_a_gap_a_hole_or_another_group() -> Result<(), Error> {
        let rows = [
            (0.0, "a", 1.0),
            (1.0, "a", 2.0),
            (3.0, "a", 3.0),
            (4.0, "a", f64::NAN),
            (5.0, "a", 5.0),
            (6.0, "a", 6.0),
            (0.0, "b", 7.0),
            (1.0, "b", 8.0),
            (0.5, "b", 9.0),
        ];
        let mut trajectory = Trajectory::new(1, 1, Some(1.0))?;
        let mut pairs = Vec::new();
        for (time, group, x) in rows {
            pairs.extend(trajectory.push(&[x], Some(time), Some(group))?.map(|(x, next)| (x[0], next[0])));
        }
        assert_eq!(pairs, [(1.0, 2.0), (5.0, 6.0), (7.0, 8.0)]);
        assert_eq!((trajectory.cuts(), trajectory.group(), trajectory.state()), (4, Some("b"), Some(&[9.0][..])));
        assert_eq!(Trajectory::usual_step(&[0.0, 2.0, 4.0, 9.0]), Some(2.0));
        Ok(())
    }
}
