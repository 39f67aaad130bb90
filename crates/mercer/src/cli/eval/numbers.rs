//! Rounds whose targets are numbers.

use mercer::encoding::ScaledTargets;
use mercer::learners::Error;
use mercer::learners::intervals::{ConformalIntervals, IntervalScale, deviations};
use mercer::{AnyKernel, AnyRegressor, Loss, Regressor, Rows, Score, Scratch, Target, Targets};

use super::halves::{Halves, Sum};
use crate::cli::feed::Chunk;
use crate::cli::notes::Watch;
use crate::cli::report::{IntervalScores, Output, Scores};

/// Weighted moments of one output: its targets', and those of its errors.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    weight: f64,
    mean: f64,
    /// `Σ ω (y − ȳ)²`
    spread: f64,
    squared: f64,
    absolute: f64,
    /// Of the rounds with an interval: their weight, that of those which it held, and `Σ ω` times its width.
    spanned: f64,
    held: f64,
    width: f64,
}

impl Moments {
    fn record(&mut self, prediction: f64, target: f64, weight: f64, radius: Option<f64>) {
        if weight == 0.0 {
            return;
        }
        if let Some(radius) = radius.filter(|radius| radius.is_finite()) {
            self.spanned += weight;
            self.held += if (prediction - target).abs() <= radius { weight } else { 0.0 };
            self.width += weight * 2.0 * radius;
        }
        let (error, before, gap) = (prediction - target, self.weight, target - self.mean);
        self.weight += weight;
        let share = weight / self.weight;
        self.spread += gap * gap * before * share;
        self.mean += gap * share;
        self.squared += weight * error * error;
        self.absolute += weight * error.abs();
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
        self.squared += later.squared;
        self.absolute += later.absolute;
        self.spanned += later.spanned;
        self.held += later.held;
        self.width += later.width;
    }

    fn intervals(&self) -> Option<IntervalScores> {
        let (coverage, mean_width) = (self.held / self.spanned, self.width / self.spanned);
        (self.spanned > 0.0).then_some(IntervalScores { coverage, mean_width })
    }

    /// `1 − Σ ω e²/Σ ω (y − ȳ)²`, not finite where all targets are equal.
    fn r2(&self) -> f64 {
        1.0 - self.squared / self.spread
    }
}

/// Sums over a stretch of rounds.
#[derive(Clone, Debug, Default)]
struct Stretch {
    outputs: Vec<Moments>,
    /// The weight of the wrong signs.
    wrong: f64,
    /// Whether every target is ±1.
    signs: Option<bool>,
}

impl Stretch {
    /// `radii` are those of the intervals, if there are intervals.
    fn record(&mut self, predictions: &[f64], targets: &[f64], weight: f64, radii: &[f64]) {
        if self.outputs.len() != targets.len() {
            self.outputs.resize(targets.len(), Moments::default());
        }
        for (output, moments) in self.outputs.iter_mut().enumerate() {
            moments.record(predictions[output], targets[output], weight, radii.get(output).copied());
        }
        let signs = targets.len() == 1 && targets[0].abs() == 1.0;
        if signs && (predictions[0] >= 0.0) != (targets[0] >= 0.0) {
            self.wrong += weight;
        }
        self.signs = Some(self.signs.unwrap_or(true) && signs);
    }

    fn mean(&self, of: impl Fn(&Moments) -> f64) -> f64 {
        self.outputs.iter().map(of).sum::<f64>() / self.outputs.len() as f64
    }

    fn intervals(&self) -> Option<IntervalScores> {
        let all: Option<Vec<IntervalScores>> = self.outputs.iter().map(Moments::intervals).collect();
        let all = all.filter(|all| !all.is_empty())?;
        let mean = |of: fn(&IntervalScores) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Some(IntervalScores { coverage: mean(|one| one.coverage), mean_width: mean(|one| one.mean_width) })
    }

    fn scores(&self) -> Scores {
        let mse = self.mean(|output| output.squared / output.weight);
        let weight = self.outputs.first().map_or(0.0, |output| output.weight);
        Scores {
            mse: Some(mse),
            mae: Some(self.mean(|output| output.absolute / output.weight)),
            error_rate: (self.signs == Some(true)).then(|| self.wrong / weight),
            rmse: Some(mse.sqrt()),
            r2: Some(self.mean(Moments::r2)),
            intervals: self.intervals(),
            classes: None,
        }
    }
}

impl Sum for Stretch {
    fn merge(&mut self, later: &Self) {
        if self.outputs.len() < later.outputs.len() {
            self.outputs.resize(later.outputs.len(), Moments::default());
        }
        self.outputs.iter_mut().zip(&later.outputs).for_each(|(ours, theirs)| ours.merge(theirs));
        self.wrong += later.wrong;
        self.signs = match (self.signs, later.signs) {
            (Some(ours), Some(theirs)) => Some(ours && theirs),
            (ours, theirs) => ours.or(theirs),
        };
    }
}

/// The rounds so far.
pub(super) struct Numbers {
    pub(super) learner: ScaledTargets<AnyRegressor<AnyKernel>>,
    outputs: usize,
    pub(super) score: Score,
    all: Stretch,
    halves: Halves<Stretch>,
    pub(super) watch: Watch,
    intervals: Option<ConformalIntervals>,
    /// Whether variances are asked for, which takes rows one by one.
    tells_variances: bool,
    /// Of the last chunk: the variances are NaN where there is none, the radii of the intervals infinite.
    predictions: Vec<f64>,
    variances: Vec<f64>,
    /// Of intervals in deviations: their scales.
    scales: Vec<f64>,
    radii: Vec<f64>,
    scratch: Scratch,
}

impl Numbers {
    pub(super) fn new(
        learner: ScaledTargets<AnyRegressor<AnyKernel>>,
        intervals: Option<ConformalIntervals>,
        tells_variances: bool,
    ) -> Self {
        let outputs = learner.outputs();
        Self {
            learner,
            outputs,
            score: Score::default(),
            all: Stretch::default(),
            halves: Halves::default(),
            watch: Watch::default(),
            intervals,
            tells_variances,
            predictions: Vec::new(),
            variances: Vec::new(),
            scales: Vec::new(),
            radii: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.predictions.clear();
        self.variances.clear();
        self.scales.clear();
        self.radii.clear();
    }

    pub(super) fn has_intervals(&self) -> bool {
        self.intervals.is_some()
    }

    /// Learns rows `from..to` of a chunk; tells how many of the chunk were learnt.
    pub(super) fn learn(&mut self, chunk: &Chunk, from: usize, to: usize) -> (usize, Result<(), Error>) {
        let (d, m) = (self.learner.dimension(), self.outputs);
        let (inputs, ys) = (&chunk.features[from * d..to * d], &chunk.targets[from * m..to * m]);
        let learnt = if to - from == 1 {
            let before = self.predictions.len();
            self.predictions.resize(before + m, 0.0);
            let target = Target::weighted(ys, chunk.weight(from));
            let made = &mut self.predictions[before..];
            let mut told = Ok(true);
            if self.tells_variances {
                self.variances.resize(before + m, 0.0);
                let variances = &mut self.variances[before..];
                told = self.learner.predict_variance_into(inputs, &mut self.scratch, made, variances);
                self.scales.truncate(before);
                self.scales.extend_from_slice(variances);
                deviations(&self.learner, &mut self.scales[before..]);
            }
            let learnt = told.and_then(|_| self.learner.learn(inputs, target, made));
            if learnt.is_err() {
                self.predictions.truncate(before);
            }
            learnt
        } else {
            let weights = chunk.weights.get(from..to).unwrap_or_default();
            let rows = Targets::new(ys, weights, m).and_then(|targets| Rows::new(inputs, d, targets));
            rows.and_then(|rows| self.learner.learn_rows(rows, &mut self.predictions))
        };
        (self.predictions.len() / m, learnt)
    }

    /// Scores row `index` of the chunk.
    pub(super) fn record(&mut self, chunk: &Chunk, index: usize) {
        let (weight, m) = (chunk.weight(index), self.outputs);
        let predictions = &self.predictions[index * m..(index + 1) * m];
        let targets = &chunk.targets[index * m..(index + 1) * m];
        if let Some(intervals) = &mut self.intervals {
            let scales = &self.scales;
            let local = intervals.scale() == IntervalScale::Deviation;
            let scale = |output: usize| if local { scales[index * m + output] } else { 1.0 };
            for output in 0..m {
                let scale = scale(output);
                self.radii.push(if scale > 0.0 { intervals.radius(output) * scale } else { f64::INFINITY });
            }
            if weight != 0.0 {
                let observed = intervals.observe_scaled(predictions, targets, scale);
                debug_assert!(observed.is_ok(), "what was learnt is finite");
            }
        }
        let radii = self.radii.get(index * m..).unwrap_or_default();
        self.score.record_weighted(predictions, targets, weight);
        self.all.record(predictions, targets, weight, radii);
        self.halves.record(|stretch| stretch.record(predictions, targets, weight, radii));
        if let ([prediction], [target]) = (predictions, targets) {
            self.watch.record(*prediction, *target, weight);
        }
    }

    pub(super) fn predictions(&self, index: usize) -> &[f64] {
        &self.predictions[index * self.outputs..(index + 1) * self.outputs]
    }

    /// The variance that the target of that output was expected to have.
    pub(super) fn variance(&self, index: usize, output: usize) -> Option<f64> {
        self.variances.get(index * self.outputs + output).copied().filter(|variance| variance.is_finite())
    }

    /// The ends of the interval of that output.
    pub(super) fn interval(&self, index: usize, output: usize) -> Option<[f64; 2]> {
        let radius = self.radii.get(index * self.outputs + output).filter(|radius| radius.is_finite())?;
        let prediction = self.predictions(index)[output];
        Some([prediction - radius, prediction + radius])
    }

    pub(super) fn targets<'a>(&self, chunk: &'a Chunk, index: usize) -> &'a [f64] {
        &chunk.targets[index * self.outputs..(index + 1) * self.outputs]
    }

    /// What the learner minimises, at row `index`.
    pub(super) fn loss(&self, chunk: &Chunk, index: usize) -> f64 {
        let (loss, targets) = (self.learner.loss(), self.targets(chunk, index));
        let predictions = self.predictions(index);
        match loss {
            // Its scores are the logarithms of the predictions.
            Loss::Poisson(_) => loss.value(&predictions.iter().map(|made| made.ln()).collect::<Vec<_>>(), targets),
            _ => loss.value(predictions, targets),
        }
    }

    /// Over all rounds.
    pub(super) fn scores(&self) -> Scores {
        let all = self.all.scores();
        let mse = self.score.mse();
        Scores {
            mse: Some(mse),
            mae: Some(self.score.mae()),
            error_rate: self.score.error_rate(),
            rmse: Some(mse.sqrt()),
            ..all
        }
    }

    /// Over the later half.
    pub(super) fn later(&self) -> Scores {
        self.halves.later().1.scores()
    }

    /// One by one, if there are several.
    pub(super) fn outputs(&self, names: &[String]) -> Vec<Output> {
        let one = |(place, moments): (usize, &Moments)| Output {
            name: names.get(place).cloned().unwrap_or_else(|| (place + 1).to_string()),
            mse: moments.squared / moments.weight,
            mae: moments.absolute / moments.weight,
            r2: moments.r2(),
            intervals: moments.intervals(),
        };
        if self.outputs == 1 { Vec::new() } else { self.all.outputs.iter().enumerate().map(one).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_formula() {
        let rounds = [(1.0, 2.0, 1.0), (0.5, -1.0, 2.0), (9.0, 7.0, 0.0), (4.0, 3.0, 0.5)];
        let (mut all, mut parts) = (Stretch::default(), [Stretch::default(), Stretch::default()]);
        for (i, (prediction, target, weight)) in rounds.into_iter().enumerate() {
            all.record(&[prediction], &[target], weight, &[[f64::INFINITY, 0.5, 1.0, 2.0][i]]);
            parts[i / 2].record(&[prediction], &[target], weight, &[[f64::INFINITY, 0.5, 1.0, 2.0][i]]);
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
            // Of weights 2 and 0.5, the second lies in its interval.
            let IntervalScores { coverage, mean_width } = scores.intervals.unwrap();
            assert!((coverage - 0.2).abs() < 1e-15 && (mean_width - (2.0 * 1.0 + 0.5 * 4.0) / 2.5).abs() < 1e-15);
        }
    }
}
