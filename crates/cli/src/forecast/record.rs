//! Scores of the predictions of a series, beside the baselines: sums over single values, those of
//! all outputs together.

use std::collections::VecDeque;

use super::pass::SeriesPass;
use crate::report::moments::{ErrorSums, Naive};
use crate::report::scores::{Baseline, Baselines, Scores};
use crate::report::stretches::{Stretches, Sum};

/// The record of the rows of a run; its size does not grow with the series.
pub(super) struct SeriesRecord {
    /// The memory from which guesses are made, for each group.
    memories: Vec<(Naive, Seasonal)>,
    stretches: Stretches<ScoredValues>,
    /// The number of the first row that is scored, for pictures.
    #[cfg(feature = "plots")]
    first: Option<usize>,
}

impl SeriesRecord {
    pub(super) fn new(pass: &SeriesPass) -> Self {
        let outputs = pass.columns().outputs.len();
        Self {
            memories: vec![(Naive::new(outputs), Seasonal::new(outputs))],
            stretches: Stretches::default(),
            #[cfg(feature = "plots")]
            first: None,
        }
    }

    /// Takes in the row that was observed last; an output repeats itself after `period` rows.
    /// Missing values count nowhere.
    pub(super) fn take(&mut self, pass: &SeriesPass, group: usize, period: impl Fn(usize) -> Option<usize>) {
        let [values, predictions] = pass.last();
        while self.memories.len() <= group {
            self.memories.push((Naive::new(values.len()), Seasonal::new(values.len())));
        }
        if pass.is_scored() {
            #[cfg(feature = "plots")]
            self.first.get_or_insert(pass.rows() - 1);
            let guesses = |output| self.guesses(group, output, period(output), 1);
            let guesses: Vec<[f64; 3]> = (0..values.len()).map(guesses).collect();
            self.stretches.record(|sums| sums.record(predictions, values, |output| guesses[output]));
        }
        let (naive, seasonal) = &mut self.memories[group];
        seasonal.learn(values, &period, |output| naive.guesses(output)[1]);
        naive.learn(values, 1.0);
    }

    /// Guesses that cost nothing, as forecasts of an output so many steps after the row taken last.
    /// They are the running mean, the last value and the value of a season ago.
    pub(super) fn guesses(&self, group: usize, output: usize, period: Option<usize>, steps: usize) -> [f64; 3] {
        let (naive, seasonal) = &self.memories[group];
        let [mean, last] = naive.guesses(output);
        [mean, last, seasonal.guess(output, period, steps).unwrap_or(last)]
    }

    pub(super) fn groups(&self) -> usize {
        self.memories.len()
    }

    /// The mean change over a season so far in some groups, the unit of MASE; from row to row
    /// without a season.
    pub(super) fn change(&self, groups: std::ops::Range<usize>) -> Option<f64> {
        let changes = self.memories.get(groups)?.iter().map(|(_, seasonal)| seasonal.changes);
        let (count, sum) = changes.fold((0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        (count > 0 && sum > 0.0).then(|| sum / count as f64)
    }

    /// Rows scored in this run.
    pub(super) fn rows(&self) -> usize {
        self.stretches.rounds()
    }

    /// The number of the first row that is scored, for pictures.
    #[cfg(feature = "plots")]
    pub(super) fn first(&self) -> usize {
        self.first.unwrap_or(0)
    }

    /// The scores of the scored rows after `after` and not after `until`.
    pub(super) fn between(&self, after: usize, until: usize) -> Scores {
        let mut scores = self.stretches.between(after, until).1.scores();
        if !self.memories.iter().any(|(_, seasonal)| seasonal.is_known) {
            scores.baselines.0.pop();
        }
        scores
    }
}

/// The rows of the last season of every output, those that are missing filled by what was guessed.
struct Seasonal {
    rows: Vec<VecDeque<f64>>,
    /// Changes over a season: how many, and the sum of their sizes.
    changes: (u64, f64),
    /// True if a season was guessed from.
    is_known: bool,
}

/// Rows that are kept at most.
const LONGEST: usize = 20_000;

impl Seasonal {
    fn new(outputs: usize) -> Self {
        Self { rows: vec![VecDeque::new(); outputs], changes: (0, 0.0), is_known: false }
    }

    /// The value of a season before the row so many steps ahead, if there is one.
    fn guess(&self, output: usize, period: Option<usize>, steps: usize) -> Option<f64> {
        let (rows, period) = (&self.rows[output], period?);
        rows.get((rows.len() + (steps - 1) % period).checked_sub(period)?).copied()
    }

    fn learn(&mut self, values: &[f64], period: impl Fn(usize) -> Option<usize>, last: impl Fn(usize) -> f64) {
        for (output, value) in values.iter().enumerate() {
            let period = period(output);
            let of_a_season_ago = self.guess(output, period, 1);
            let begun = !self.rows[output].is_empty();
            let guess = of_a_season_ago.or_else(|| (begun && period.is_none()).then(|| last(output)));
            if let Some(guess) = guess.filter(|_| !value.is_nan()) {
                self.changes.0 += 1;
                self.changes.1 += (value - guess).abs();
            }
            self.is_known |= of_a_season_ago.is_some();
            let rows = &mut self.rows[output];
            if rows.len() == LONGEST {
                rows.pop_front();
            }
            rows.push_back(if value.is_nan() { of_a_season_ago.unwrap_or_else(|| last(output)) } else { *value });
        }
    }
}

/// Sums over values that are there.
#[derive(Clone, Debug, Default)]
struct ScoredValues {
    count: u64,
    own: ErrorSums,
    /// Errors of the running mean, the last value and the value of a season ago.
    naive: [ErrorSums; 3],
}

impl ScoredValues {
    fn record(&mut self, predictions: &[f64], values: &[f64], guesses: impl Fn(usize) -> [f64; 3]) {
        for (output, (value, prediction)) in values.iter().zip(predictions).enumerate() {
            if value.is_nan() {
                continue;
            }
            self.count += 1;
            self.own.record(prediction - value, 1.0);
            let guesses = guesses(output);
            self.naive.iter_mut().zip(guesses).for_each(|(errors, guess)| errors.record(guess - value, 1.0));
        }
    }

    /// Means over single values; not a number where there is none.
    fn scores(&self) -> Scores {
        let means = |errors: &ErrorSums| [errors.squared(), errors.absolute()].map(|sum| sum / self.count as f64);
        let [mse, mae] = means(&self.own);
        let baseline = |(name, errors): (&'static str, &ErrorSums)| {
            let [mse, mae] = means(errors);
            Baseline { name, mse: Some(mse), mae: Some(mae), rmse: Some(mse.sqrt()), ..Baseline::default() }
        };
        let [mean, last, seasonal] = &self.naive;
        Scores {
            mse: Some(mse),
            mae: Some(mae),
            error_rate: None,
            rmse: Some(mse.sqrt()),
            r2: None,
            intervals: None,
            classes: None,
            baselines: Baselines(
                [("running_mean", mean), ("last_value", last), ("seasonal_naive", seasonal)].map(baseline).into(),
            ),
        }
    }
}

impl Sum for ScoredValues {
    fn merge(&mut self, later: &Self) {
        self.count += later.count;
        self.own.merge(&later.own);
        self.naive.iter_mut().zip(&later.naive).for_each(|(ours, theirs)| ours.merge(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_values_that_are_there() {
        let rows = [([1.0, 5.0], [2.0, 4.0]), ([f64::NAN, 7.0], [9.0, 4.0]), ([3.0, f64::NAN], [3.5, 0.0])];
        let (mut naive, mut all) = (Naive::new(2), ScoredValues::default());
        let (mut own, mut mean, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = [Vec::new(), Vec::new()];
        for (values, predictions) in rows {
            all.record(&predictions, &values, |output| {
                let [mean, last] = naive.guesses(output);
                [mean, last, 0.0]
            });
            for output in 0..2 {
                let value: f64 = values[output];
                if value.is_nan() {
                    continue;
                }
                let known: &mut Vec<f64> = &mut seen[output];
                own.push(predictions[output] - value);
                mean.push(known.iter().sum::<f64>() / known.len().max(1) as f64 - value);
                last.push(known.last().copied().unwrap_or(0.0) - value);
                known.push(value);
            }
            naive.learn(&values, 1.0);
        }
        let mse = |errors: &[f64]| errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
        let mae = |errors: &[f64]| errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64;
        let scores = all.scores();
        let [of_mean, of_last, _] = &scores.baselines.0[..] else { panic!("three baselines") };
        for (found, expected) in [
            (scores.mse, mse(&own)),
            (scores.mae, mae(&own)),
            (scores.rmse, mse(&own).sqrt()),
            (of_mean.mse, mse(&mean)),
            (of_mean.mae, mae(&mean)),
            (of_last.mse, mse(&last)),
            (of_last.rmse, mse(&last).sqrt()),
        ] {
            assert!((found.unwrap() - expected).abs() < 1e-15, "{found:?} {expected}");
        }
    }

    #[test]
    fn a_season_ago_is_guessed_and_gaps_are_filled() {
        let mut seasonal = Seasonal::new(1);
        for value in [1.0, 2.0, 3.0, 4.0, f64::NAN, 7.0] {
            seasonal.learn(&[value], |_| Some(3), |_| 0.0);
        }
        let path: Vec<f64> = (1..=5).filter_map(|steps| seasonal.guess(0, Some(3), steps)).collect();
        assert_eq!(path, [4.0, 2.0, 7.0, 4.0, 2.0]);
        assert_eq!(seasonal.changes, (2, 3.0 + 4.0));
        assert_eq!(seasonal.guess(0, Some(7), 1), None);
    }
}
