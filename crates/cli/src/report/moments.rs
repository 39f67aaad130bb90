//! Sums of squared and absolute errors, with those of the two baselines.

use crate::report::evaluation::Output;
use crate::report::scores::{Baseline, Baselines, IntervalScores, Scores};
use crate::report::stretches::Sum;

/// Baselines that predict without learning: the running mean and the last value of each output,
/// both 0 before anything was seen.
#[derive(Clone, Debug)]
pub(crate) struct Naive {
    weights: Vec<f64>,
    means: Vec<f64>,
    last: Vec<f64>,
}

impl Naive {
    pub(crate) fn new(outputs: usize) -> Self {
        Self { weights: vec![0.0; outputs], means: vec![0.0; outputs], last: vec![0.0; outputs] }
    }

    /// The running mean and the last value of an output.
    pub(crate) fn guesses(&self, output: usize) -> [f64; 2] {
        [self.means[output], self.last[output]]
    }

    /// Takes in targets after they were scored. What has no weight is not learnt here either;
    /// neither is a target that is missing (not a number).
    pub(crate) fn learn(&mut self, targets: &[f64], weight: f64) {
        if weight == 0.0 {
            return;
        }
        for (output, &target) in targets.iter().enumerate().filter(|(_, target)| !target.is_nan()) {
            self.weights[output] += weight;
            self.means[output] += (target - self.means[output]) * (weight / self.weights[output]);
            self.last[output] = target;
        }
    }
}

/// Weighted sums of the errors of one predictor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ErrorSums {
    squared: f64,
    absolute: f64,
}

impl ErrorSums {
    pub(crate) fn record(&mut self, error: f64, weight: f64) {
        self.squared += weight * error * error;
        self.absolute += weight * error.abs();
    }

    pub(crate) fn merge(&mut self, later: &Self) {
        self.squared += later.squared;
        self.absolute += later.absolute;
    }

    /// `Σ ω e²`
    pub(crate) fn squared(&self) -> f64 {
        self.squared
    }

    /// `Σ ω |e|`
    pub(crate) fn absolute(&self) -> f64 {
        self.absolute
    }
}

/// Weighted moments of one output: its targets', and those of its errors.
#[derive(Clone, Copy, Debug, Default)]
struct OutputMoments {
    weight: f64,
    mean: f64,
    /// `Σ ω (y − ȳ)²`
    spread: f64,
    errors: ErrorSums,
    /// Errors of the running mean and the last value.
    naive: [ErrorSums; 2],
    /// Sums over the rounds with an interval: their weight, that of those which it held, and `Σ ω`
    /// times its width.
    spanned: f64,
    held: f64,
    width: f64,
}

impl OutputMoments {
    fn record(&mut self, prediction: f64, target: f64, weight: f64, reach: Option<[f64; 2]>, naive: [f64; 2]) {
        if weight == 0.0 {
            return;
        }
        if let Some([below, above]) = reach.filter(|reach| reach.iter().all(|side| side.is_finite())) {
            self.spanned += weight;
            self.held += if (-below..=above).contains(&(target - prediction)) { weight } else { 0.0 };
            self.width += weight * (below + above);
        }
        let (before, gap) = (self.weight, target - self.mean);
        self.weight += weight;
        let share = weight / self.weight;
        self.spread += gap * gap * before * share;
        self.mean += gap * share;
        self.errors.record(prediction - target, weight);
        self.naive.iter_mut().zip(naive).for_each(|(errors, guess)| errors.record(guess - target, weight));
    }

    fn merge(&mut self, later: &Self) {
        if later.weight == 0.0 {
            return;
        }
        let weight = self.weight + later.weight;
        let (gap, share) = (later.mean - self.mean, later.weight / weight);
        self.spread += later.spread + gap * gap * self.weight * share;
        self.mean += gap * share;
        self.weight = weight;
        self.errors.merge(&later.errors);
        self.naive.iter_mut().zip(&later.naive).for_each(|(ours, theirs)| ours.merge(theirs));
        self.spanned += later.spanned;
        self.held += later.held;
        self.width += later.width;
    }

    fn intervals(&self) -> Option<IntervalScores> {
        let (coverage, mean_width) = (self.held / self.spanned, self.width / self.spanned);
        (self.spanned > 0.0).then_some(IntervalScores { coverage, mean_width })
    }

    /// `1 − Σ ω e²/Σ ω (y − ȳ)²`, not finite where all targets are equal.
    fn r2(&self, errors: &ErrorSums) -> f64 {
        1.0 - errors.squared / self.spread
    }
}

/// Sums over a stretch of rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundSums {
    outputs: Vec<OutputMoments>,
    /// The weight of the wrong signs.
    wrong: f64,
    /// True if every target is ±1.
    signs: Option<bool>,
    rounds: usize,
}

impl RoundSums {
    /// `reach` is how far the intervals go below and above each prediction, if there are intervals.
    pub(crate) fn record(&mut self, predictions: &[f64], targets: &[f64], weight: f64, reach: &[f64], naive: &Naive) {
        if self.outputs.len() != targets.len() {
            self.outputs.resize(targets.len(), OutputMoments::default());
        }
        for (output, moments) in self.outputs.iter_mut().enumerate() {
            let reach = reach.get(2 * output..).and_then(|reach| reach.first_chunk().copied());
            moments.record(predictions[output], targets[output], weight, reach, naive.guesses(output));
        }
        self.rounds += 1;
        let signs = targets.len() == 1 && targets[0].abs() == 1.0;
        if signs && (predictions[0] >= 0.0) != (targets[0] >= 0.0) {
            self.wrong += weight;
        }
        self.signs = Some(self.signs.unwrap_or(true) && signs);
    }

    /// Rounds taken in.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    fn mean(&self, of: impl Fn(&OutputMoments) -> f64) -> f64 {
        self.outputs.iter().map(of).sum::<f64>() / self.outputs.len() as f64
    }

    fn intervals(&self) -> Option<IntervalScores> {
        let all: Option<Vec<IntervalScores>> = self.outputs.iter().map(OutputMoments::intervals).collect();
        let all = all.filter(|all| !all.is_empty())?;
        let mean = |of: fn(&IntervalScores) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Some(IntervalScores { coverage: mean(|one| one.coverage), mean_width: mean(|one| one.mean_width) })
    }

    /// Mean squared and absolute error and R² of a predictor: means over the outputs.
    fn errors(&self, of: impl Fn(&OutputMoments) -> &ErrorSums) -> [f64; 3] {
        [
            self.mean(|output| of(output).squared / output.weight),
            self.mean(|output| of(output).absolute / output.weight),
            self.mean(|output| output.r2(of(output))),
        ]
    }

    pub(crate) fn scores(&self) -> Scores {
        let [mse, mae, r2] = self.errors(|output| &output.errors);
        let weight = self.outputs.first().map_or(0.0, |output| output.weight);
        let baseline = |(place, name): (usize, &'static str)| {
            let [mse, mae, r2] = self.errors(|output| &output.naive[place]);
            let [mse, mae, rmse, r2] = [mse, mae, mse.sqrt(), r2].map(Some);
            Baseline { name, mse, mae, rmse, r2, ..Baseline::default() }
        };
        Scores {
            mse: Some(mse),
            mae: Some(mae),
            error_rate: (self.signs == Some(true)).then(|| self.wrong / weight),
            rmse: Some(mse.sqrt()),
            r2: Some(r2),
            intervals: self.intervals(),
            classes: None,
            baselines: Baselines([(0, "running_mean"), (1, "last_value")].map(baseline).into()),
        }
    }

    /// One by one.
    pub(crate) fn outputs(&self, name: impl Fn(usize) -> String) -> Vec<Output> {
        let one = |(place, moments): (usize, &OutputMoments)| Output {
            name: name(place),
            mse: moments.errors.squared / moments.weight,
            mae: moments.errors.absolute / moments.weight,
            r2: moments.r2(&moments.errors),
            intervals: moments.intervals(),
        };
        self.outputs.iter().enumerate().map(one).collect()
    }
}

impl Sum for RoundSums {
    fn merge(&mut self, later: &Self) {
        if self.outputs.len() < later.outputs.len() {
            self.outputs.resize(later.outputs.len(), OutputMoments::default());
        }
        self.outputs.iter_mut().zip(&later.outputs).for_each(|(ours, theirs)| ours.merge(theirs));
        self.rounds += later.rounds;
        self.wrong += later.wrong;
        self.signs = match (self.signs, later.signs) {
            (Some(ours), Some(theirs)) => Some(ours && theirs),
            (ours, theirs) => ours.or(theirs),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_formula() {
        let rounds = [(1.0, 2.0, 1.0), (0.5, -1.0, 2.0), (9.0, 7.0, 0.0), (4.0, 3.0, 0.5)];
        let (mut all, mut parts) = (RoundSums::default(), [RoundSums::default(), RoundSums::default()]);
        let mut naive = Naive::new(1);
        for (i, (prediction, target, weight)) in rounds.into_iter().enumerate() {
            for sum in [&mut all, &mut parts[i / 2]] {
                sum.record(&[prediction], &[target], weight, &[[f64::INFINITY, 0.5, 1.0, 2.0][i]; 2], &naive);
            }
            naive.learn(&[target], weight);
        }
        let [mut merged, later] = parts;
        merged.merge(&later);
        let sum = |of: &dyn Fn(f64, f64) -> f64| rounds.iter().map(|(p, y, w)| w * of(*p, *y)).sum::<f64>();
        let weight = sum(&|_, _| 1.0);
        let mean = sum(&|_, y| y) / weight;
        let r2 = 1.0 - sum(&|p, y| (p - y) * (p - y)) / sum(&|_, y| (y - mean) * (y - mean));
        for stretch in [all, merged] {
            let scores = stretch.scores();
            assert!((scores.r2.unwrap() - r2).abs() < 1e-14);
            assert!((scores.mse.unwrap() - sum(&|p, y| (p - y) * (p - y)) / weight).abs() < 1e-14);
            assert_eq!(scores.error_rate, None);
            // Before the rounds the means are 0, 2, 0 and 0 (what has no weight is not seen), the
            // last values 0, 2, −1 and −1.
            let [means, last] = &scores.baselines.0[..] else { panic!("two baselines") };
            assert!((means.mse.unwrap() - (4.0 + 2.0 * 9.0 + 0.5 * 9.0) / 3.5).abs() < 1e-14);
            assert!((last.mae.unwrap() - (2.0 + 2.0 * 3.0 + 0.5 * 4.0) / 3.5).abs() < 1e-14);
            // Of weights 2 and 0.5, the second lies in its interval.
            let IntervalScores { coverage, mean_width } = scores.intervals.unwrap();
            assert!((coverage - 0.2).abs() < 1e-15 && (mean_width - (2.0 * 1.0 + 0.5 * 4.0) / 2.5).abs() < 1e-15);
        }
    }
}
