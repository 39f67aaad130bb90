//! Scores of classes: views of them, mixed by log loss.
//!
//! Targets that are all −1 or 1 are classes, and what squared errors weigh best is not what tells
//! them best. So the whole mixture is one of four views, beside that of all members without
//! windows, the grid and a linear member. View `m` says `ŷ_m = 2p_m − 1` of an output whose share
//! of ones so far is `q`; with `p_m` within `[q/10, 1 − (1 − q)/10]` or a thousandth of the ends,
//! and `h = 2q − 1`, its features are
//!
//! ```text
//! 4(ŷ_m − h),   ln(p_m/(1 − p_m)) − ln(q/(1 − q)),   4(ŷ_m³ − h³)
//! ```
//!
//! and the score is `2p − 1` with `p = σ(ln(q/(1 − q)) + aᵀf)`: where no view knows a thing, the
//! share so far is told. An output that was the same in all rows is left as it is. All outputs
//! have one vector of weights, which begins at ¼ for the logits and 0 for the others, so that
//! `p/(1 − p)` is the geometric mean of the views'. It is learnt by online Newton steps on the log
//! loss, `A ← A + ω Σ_k p(1 − p) f fᵀ` from `10 I` on, `a ← a + ω A⁻¹ Σ_k (y − p) f`, over the
//! outputs that have been 1.
//!
//! Cost: `12²` multiply-adds a round and an output.

use mercer_core::{Inconsistent, Validate};
use mercer_learners::Target;
use mercer_learners::loss::Logistic;

use super::logits::{log_odds, solve};

/// Views of an output, the features of each, and of all.
pub(super) const VIEWS: usize = 4;
const EACH: usize = 3;
const FEATURES: usize = EACH * VIEWS;
/// The information on each weight at the start.
const INFORMATION: f64 = 10.0;
/// The logit of a score near 0, a score.
const SLOPE: f64 = 4.0;
/// The share that a view says is no nearer to 0 than this, or than this part of the share so far if
/// that is less, and no nearer to 1 by the same rule.
const SUREST: f64 = 1e-3;
const PART: f64 = 0.1;
/// Views are cut here.
const CUT: f64 = 2.0;
/// Every class has been met so many times before the first row.
const BEFORE: f64 = 0.5;
/// The least curvature of the loss.
const LEAST: f64 = 1e-4;

/// The features of an output, and the logit of its share so far.
type Features = ([f64; FEATURES], f64);

/// See the head of this file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ClassViews {
    weights: [f64; FEATURES],
    /// `A`
    information: [[f64; FEATURES]; FEATURES],
    /// Weights of the rows whose targets were −1 and 1, an output.
    counts: Vec<[f64; 2]>,
}

impl ClassViews {
    /// Views of so many outputs that have learnt nothing.
    pub(super) fn new(outputs: usize) -> Self {
        let mut information = [[0.0; FEATURES]; FEATURES];
        (0..FEATURES).for_each(|i| information[i][i] = INFORMATION);
        let weights = std::array::from_fn(|place| if place % EACH == 1 { 1.0 / VIEWS as f64 } else { 0.0 });
        Self { weights, information, counts: vec![[BEFORE; 2]; outputs] }
    }

    /// True if the numbers of a target tell classes.
    pub(super) fn are_of(target: Target<'_>) -> bool {
        target.y.iter().all(|y| y.abs() == 1.0)
    }

    /// The features of an output, by views that stand one behind the other.
    fn features(&self, views: &[f64], output: usize) -> Features {
        let [without, with] = self.counts[output];
        let q = with / (without + with);
        let (low, high) = (SUREST.min(PART * q), SUREST.min(PART * (1.0 - q)));
        let (mut features, so_far, h) = ([0.0; FEATURES], log_odds(q), 2.0 * q - 1.0);
        let views = views.iter().skip(output).step_by(self.counts.len());
        for (features, view) in features.chunks_exact_mut(EACH).zip(views) {
            let score = view.clamp(-CUT, CUT);
            features[0] = SLOPE * (score - h);
            features[1] = log_odds((0.5 + 0.5 * score).clamp(low, 1.0 - high)) - so_far;
            features[2] = SLOPE * (score.powi(3) - h.powi(3));
        }
        (features, so_far)
    }

    /// The share of ones that an output has by its features.
    fn share(&self, (features, so_far): &Features) -> f64 {
        Logistic::probability(so_far + features.iter().zip(&self.weights).map(|(f, a)| f * a).sum::<f64>())
    }

    /// True if an output has been −1 and 1: one that was the same all the time is foretold as a
    /// number.
    fn tells_classes(&self, output: usize) -> bool {
        self.counts[output].iter().all(|count| *count > BEFORE)
    }

    /// The first of the views ← the scores, where outputs tell classes.
    pub(super) fn score(&self, views: &mut [f64]) {
        for output in (0..self.counts.len()).filter(|output| self.tells_classes(*output)) {
            views[output] = 2.0 * self.share(&self.features(views, output)) - 1.0;
        }
    }

    /// [`score`](Self::score), and learns the classes of the row. Where rounding has made `A`
    /// singular the weights stay.
    pub(super) fn round(&mut self, views: &mut [f64], target: Target<'_>) {
        let (mut slope, mut information) = ([0.0; FEATURES], self.information);
        for (output, y) in target.y.iter().enumerate() {
            let of_output = self.features(views, output);
            let share = self.share(&of_output);
            if self.tells_classes(output) {
                views[output] = 2.0 * share - 1.0;
            }
            // An output that was never 1 is of no class yet.
            if self.counts[output][1] == BEFORE && *y < 0.0 {
                continue;
            }
            let (error, curvature) = (0.5 * (1.0 + y) - share, (share * (1.0 - share)).max(LEAST));
            let (features, _) = of_output;
            for (i, row) in information.iter_mut().enumerate() {
                slope[i] += target.weight * error * features[i];
                let factor = target.weight * curvature * features[i];
                row.iter_mut().zip(features).for_each(|(entry, other)| *entry += factor * other);
            }
        }
        if !Self::are_of(target) {
            return;
        }
        let step = solve(information, slope);
        let moved: [f64; FEATURES] = std::array::from_fn(|i| self.weights[i] + step[i]);
        if moved.iter().chain(information.as_flattened()).all(|value| value.is_finite()) {
            (self.weights, self.information) = (moved, information);
        }
        self.count(target);
    }

    /// Counts a row.
    pub(super) fn count(&mut self, target: Target<'_>) {
        for (counts, y) in self.counts.iter_mut().zip(target.y) {
            let count = &mut counts[usize::from(*y > 0.0)];
            *count = (*count + target.weight).min(f64::MAX / 2.0);
        }
    }

    /// Gains an output, a copy of output `like` or one that was never met.
    pub(super) fn add_output(&mut self, like: Option<usize>) {
        let like = like.and_then(|like| self.counts.get(like)).copied();
        self.counts.push(like.unwrap_or([BEFORE; 2]));
    }

    /// True if it is of so many outputs.
    pub(super) fn fits(&self, outputs: usize) -> bool {
        self.counts.len() == outputs
    }
}

impl Validate for ClassViews {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.weights.validate()?;
        self.information.as_flattened().validate()?;
        let counted = self.counts.iter().flatten().all(|count| count.is_finite() && *count >= BEFORE);
        Inconsistent::require(counted, "views of classes", "counts are not negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{SMatrix, SVector};

    fn sigmoid(z: f64) -> f64 {
        1.0 / (1.0 + (-z).exp())
    }

    /// Two outputs, the second of a rare class, of which the views know something; the last output
    /// is never 1.
    fn row(t: usize) -> ([f64; 3 * VIEWS], [f64; 3]) {
        let u = |k: usize| ((t * (37 + 16 * k) + t * t * 7) % 101) as f64 / 101.0;
        let p = [u(0), 0.04 * u(1), 0.0];
        let y = [0, 1, 2].map(|k| if u(2 + k) < p[k] { 1.0 } else { -1.0 });
        let views = std::array::from_fn(|place| {
            let (view, k) = (place / 3, place % 3);
            2.0 * [0.5 * (p[k] + p[k].powi(2)), p[k], 0.8 * p[k] + 0.3 * u(4), 1.4 * p[k] - 0.2][view] - 1.0
        });
        (views, y)
    }

    #[test]
    fn scores_are_the_formula() {
        let logit = |p: f64| p.ln() - (1.0 - p).ln();
        let mut classes = ClassViews::new(3);
        let mut counts = [[0.5, 0.5]; 3];
        let mut a = SVector::<f64, FEATURES>::from_fn(|i, _| if i % 3 == 1 { 0.25 } else { 0.0 });
        let mut information = SMatrix::<f64, FEATURES, FEATURES>::identity() * 10.0;
        let mut losses = [0.0; 2];
        for t in 0..3000 {
            let (views, y) = row(t);
            let weight = 1.0 + (t % 3) as f64 / 2.0;
            let q = counts.map(|[without, with]: [f64; 2]| with / (without + with));
            let feature = |k: usize, view: usize, kind: usize| {
                let (s, h) = (views[3 * view + k].clamp(-2.0, 2.0), 2.0 * q[k] - 1.0);
                let (low, high) = ((q[k] / 10.0).min(1e-3), 1.0 - ((1.0 - q[k]) / 10.0).min(1e-3));
                match kind {
                    0 => 4.0 * (s - h),
                    1 => logit(((1.0 + s) / 2.0).max(low).min(high)) - logit(q[k]),
                    _ => 4.0 * (s * s * s - h * h * h),
                }
            };
            let features = [0, 1, 2].map(|k| SVector::<f64, FEATURES>::from_fn(|i, _| feature(k, i / 3, i % 3)));
            let p = [0, 1, 2].map(|k| sigmoid(logit(q[k]) + a.dot(&features[k])));
            let mut made = views;
            classes.score(&mut made);
            for k in 0..3 {
                let is_told = counts[k].iter().all(|count| *count > 0.5);
                let score = if is_told { 2.0 * p[k] - 1.0 } else { views[k] };
                assert!((made[k] - score).abs() < 1e-8, "row {t}: {made:?} for {p:?}");
            }
            let mut learnt = views;
            classes.round(&mut learnt, Target::weighted(&y, weight));
            assert_eq!(learnt[..3], made[..3], "the prediction is the one before the row is learnt");
            if t >= 1000 {
                for (loss, p) in losses.iter_mut().zip([p[1], (1.0 + views[1]) / 2.0]) {
                    *loss -= (if y[1] > 0.0 { p } else { 1.0 - p }).ln();
                }
            }
            let met = |k: &usize| counts[*k][1] > 0.5 || y[*k] > 0.0;
            for k in (0..3).filter(met) {
                information += weight * (p[k] * (1.0 - p[k])).max(1e-4) * features[k] * features[k].transpose();
            }
            let slopes = (0..3).filter(met).map(|k| weight * ((1.0 + y[k]) / 2.0 - p[k]) * features[k]);
            a += information.cholesky().unwrap().solve(&slopes.sum());
            (0..3).for_each(|k| counts[k][usize::from(y[k] > 0.0)] += weight);
            assert_eq!(classes.validate(), Ok(()));
        }
        // The whole, as it is, is too timid.
        assert!(losses[0] < 0.97 * losses[1], "{losses:?}");
    }

    #[test]
    fn shares_are_told_where_no_view_knows_more() {
        let mut classes = ClassViews::new(1);
        let mut views = [0.0; VIEWS];
        for t in 0..1000 {
            views.fill(-1.0);
            classes.round(&mut views, Target::weighted(&[if t % 500 == 7 { 1.0 } else { -1.0 }], 1.0));
        }
        let share: f64 = 2.5 / 1001.0;
        views.fill(2.0 * share - 1.0);
        classes.score(&mut views);
        assert!((views[0] - (2.0 * share - 1.0)).abs() < 1e-12);
        // Views of any size are told apart from that, and finite.
        for wild in [f64::MAX, -f64::MAX] {
            views.fill(wild);
            classes.score(&mut views);
            let is_above = views[0] > 2.0 * share - 1.0;
            assert!(views[0].abs() <= 1.0 && is_above == (wild > 0.0), "{views:?}");
        }
    }

    /// A number that is 1 all the time is no class, and what is foretold of it stays.
    #[test]
    fn an_output_that_never_changes_is_left_as_it_is() {
        let mut classes = ClassViews::new(1);
        for _ in 0..100 {
            let mut views = [0.75; VIEWS];
            classes.round(&mut views, Target::weighted(&[1.0], 1.0));
            assert_eq!(views[0], 0.75);
        }
        classes.round(&mut [0.75; VIEWS], Target::weighted(&[-1.0], 1.0));
        let mut views = [0.75; VIEWS];
        classes.score(&mut views);
        assert!(views[0] != 0.75, "{views:?}");
    }
}
