//! Experts that cost nothing: the last value, the mean, and for each period the value of a season
//! ago and the mean of the last eight values of the phase. They forecast from the first row on, and
//! are what the mixture is compared with.

use mercer_core::{Inconsistent, Validate};

use super::history::Mean;

/// Values of a phase that its mean is over.
const SEASONS: usize = 8;

/// The last values of each phase of a period.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Phases {
    /// A ring of eight values a phase.
    values: Vec<f64>,
    /// Values seen, a phase.
    seen: Vec<usize>,
}

impl Phases {
    fn new(period: usize) -> Self {
        Self { values: vec![0.0; SEASONS * period], seen: vec![0; period] }
    }

    fn ring(&self, row: usize) -> (&[f64], usize) {
        let phase = row % self.seen.len();
        (&self.values[SEASONS * phase..][..SEASONS], self.seen[phase])
    }

    /// The last value of the phase of a row, if there is one.
    fn last(&self, row: usize) -> Option<f64> {
        let (ring, seen) = self.ring(row);
        seen.checked_sub(1).map(|newest| ring[newest % SEASONS])
    }

    fn mean(&self, row: usize) -> Option<f64> {
        let (ring, seen) = self.ring(row);
        let kept = seen.min(SEASONS);
        (kept > 0).then(|| ring[..kept].iter().sum::<f64>() / kept as f64)
    }

    fn push(&mut self, row: usize, value: f64) {
        let phase = row % self.seen.len();
        self.values[SEASONS * phase + self.seen[phase] % SEASONS] = value;
        self.seen[phase] += 1;
    }
}

/// All free experts of a series.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FreeExperts {
    last: f64,
    mean: Mean,
    phases: Vec<Phases>,
}

impl FreeExperts {
    pub(super) fn new(periods: &[usize]) -> Self {
        Self { last: 0.0, mean: Mean::default(), phases: periods.iter().map(|m| Phases::new(*m)).collect() }
    }

    /// Number of free experts with so many periods.
    pub(super) fn count(periods: usize) -> usize {
        2 + 2 * periods
    }

    /// Rows observed.
    pub(super) fn observed(&self) -> usize {
        self.mean.rows()
    }

    /// The mean of what was observed.
    pub(super) fn mean(&self) -> f64 {
        self.mean.value()
    }

    /// Observed row number `row`.
    pub(super) fn push(&mut self, row: usize, value: f64) {
        self.last = value;
        self.mean.push(value);
        self.phases.iter_mut().for_each(|phases| phases.push(row, value));
    }

    /// The value of the same phase of the first period; the last value while there is none, or
    /// without a period.
    pub(super) fn seasonal(&self, row: usize) -> f64 {
        self.phases.first().and_then(|phases| phases.last(row)).unwrap_or(self.last)
    }

    /// The paths of all, from row `row` on: last value, mean, and then for each period both.
    pub(super) fn forecast(&self, row: usize, steps: usize, paths: &mut [f64]) {
        let (flat, seasonal) = paths.split_at_mut(2 * steps);
        flat[..steps].fill(self.last);
        flat[steps..].fill(self.mean.value());
        for (phases, paths) in self.phases.iter().zip(seasonal.chunks_exact_mut(2 * steps)) {
            let (last, mean) = paths.split_at_mut(steps);
            for step in 0..steps {
                last[step] = phases.last(row + step).unwrap_or(self.last);
                mean[step] = phases.mean(row + step).unwrap_or(self.last);
            }
        }
    }

    pub(super) fn validate(&self, periods: &[usize]) -> Result<(), Inconsistent> {
        self.last.validate()?;
        self.mean.validate()?;
        let fits = self.phases.len() == periods.len()
            && self.phases.iter().zip(periods).all(|(phases, period)| {
                phases.seen.len() == *period
                    && phases.values.len() == SEASONS * period
                    && phases.seen.iter().all(|seen| *seen < usize::MAX / 4)
            });
        Inconsistent::require(fits, "free experts", "they have the phases of all periods")?;
        self.phases.iter().try_for_each(|phases| phases.values.validate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_those_of_the_rows() {
        let mut free = FreeExperts::new(&[3]);
        assert_eq!((free.seasonal(5), free.observed()), (0.0, 0));
        for (row, value) in [(0, 1.0), (1, 2.0), (3, 5.0)] {
            free.push(row, value); // row 2 is missing
        }
        let mut paths = [0.0; 4 * 4];
        free.forecast(4, 4, &mut paths);
        assert_eq!(paths[..4], [5.0; 4]);
        assert!(paths[4..8].iter().all(|mean| (mean - 8.0 / 3.0).abs() < 1e-15));
        assert_eq!(paths[8..12], [2.0, 5.0, 5.0, 2.0]); // no row of phase 2 was seen
        assert_eq!(paths[12..], [2.0, 5.0, 3.0, 2.0]);
        assert!(free.validate(&[3]).is_ok() && free.validate(&[4]).is_err());
    }
}
