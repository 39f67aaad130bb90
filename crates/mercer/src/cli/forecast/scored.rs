//! How good the predictions of a series were, beside the baselines: sums over single values, those of all outputs together.

use super::pass::Pass;
use crate::cli::moments::{Errors, Naive};
use crate::cli::scores::{Baseline, Baselines, Scores};
use crate::cli::stretches::{Stretches, Sum};

/// What is kept of the rows of a run; its size does not grow with the series.
pub(super) struct Scored {
    naive: Naive,
    stretches: Stretches<Values>,
    /// The number of the first row that is scored, for pictures.
    #[cfg(feature = "plots")]
    first: Option<usize>,
}

impl Scored {
    pub(super) fn new(pass: &Pass) -> Self {
        Self {
            naive: Naive::new(pass.columns().outputs.len()),
            stretches: Stretches::default(),
            #[cfg(feature = "plots")]
            first: None,
        }
    }

    /// Takes in the row that was observed last. Missing values count nowhere.
    pub(super) fn take(&mut self, pass: &Pass) {
        let [values, predictions, _] = pass.last();
        if pass.is_scored() {
            #[cfg(feature = "plots")]
            self.first.get_or_insert(pass.rows() - 1);
            self.stretches.record(|sums| sums.record(predictions, values, &self.naive));
        }
        self.naive.learn(values, 1.0);
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

    /// Of the scored rows after `after` and not after `until`.
    pub(super) fn between(&self, after: usize, until: usize) -> Scores {
        self.stretches.between(after, until).1.scores()
    }
}

/// Sums over values that are there.
#[derive(Clone, Debug, Default)]
struct Values {
    count: u64,
    own: Errors,
    /// Of the running mean and the last value.
    naive: [Errors; 2],
}

impl Values {
    fn record(&mut self, predictions: &[f64], values: &[f64], naive: &Naive) {
        for (output, (value, prediction)) in values.iter().zip(predictions).enumerate() {
            if value.is_nan() {
                continue;
            }
            self.count += 1;
            self.own.record(prediction - value, 1.0);
            let guesses = naive.guesses(output);
            self.naive.iter_mut().zip(guesses).for_each(|(errors, guess)| errors.record(guess - value, 1.0));
        }
    }

    /// Means over single values; not a number where there is none.
    fn scores(&self) -> Scores {
        let means = |errors: &Errors| [errors.squared(), errors.absolute()].map(|sum| sum / self.count as f64);
        let [mse, mae] = means(&self.own);
        let baseline = |(name, errors): (&'static str, &Errors)| {
            let [mse, mae] = means(errors);
            Baseline { name, mse: Some(mse), mae: Some(mae), rmse: Some(mse.sqrt()), ..Baseline::default() }
        };
        let [mean, last] = &self.naive;
        Scores {
            mse: Some(mse),
            mae: Some(mae),
            error_rate: None,
            rmse: Some(mse.sqrt()),
            r2: None,
            intervals: None,
            classes: None,
            baselines: Baselines([("running_mean", mean), ("last_value", last)].map(baseline)),
        }
    }
}

impl Sum for Values {
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
        let (mut naive, mut all) = (Naive::new(2), Values::default());
        let (mut own, mut mean, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = [Vec::new(), Vec::new()];
        for (values, predictions) in rows {
            all.record(&predictions, &values, &naive);
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
        let [of_mean, of_last] = &scores.baselines.0;
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
}
