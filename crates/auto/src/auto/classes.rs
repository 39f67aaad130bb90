//! Scores of classes: views of them, mixed by log loss.
//!
//! Targets that are all −1 or 1 are classes, and what squared errors weigh best is not what tells
//! them best: an error on a row of a rare class weighs as much as any other. So the whole mixture
//! is one of four views, beside that of all members without windows, the grid and a linear member.
//! View `m` says that the share of output `k` is `p_m = (1 + ŷ_m)/2`, within `[q/10, 1 − (1 −
//! q)/10]` or a thousandth of the ends, where `q` is the share so far. The score is `2σ(z) − 1` of
//!
//! ```text
//! z = ln(q/(1 − q)) + Σ_m a_m (ln(p_m/(1 − p_m)) − ln(q/(1 − q)))
//! ```
//!
//! with weights learnt as in `logits.rs`, which begin with the whole mixture. So where no view
//! knows a thing, the shares so far are told.

use mercer_core::{Inconsistent, Validate};
use mercer_learners::Target;

use super::logits::{LogitMixture, MEMBERS};

/// Views of an output.
pub(super) const VIEWS: usize = MEMBERS;
/// Weights of the views at the start.
const START: [f64; VIEWS] = [1.0, 0.0, 0.0, 0.0];
/// Shares are no nearer to 0 or 1, or to a part of the share so far.
const SUREST: f64 = 1e-3;
const PART: f64 = 0.1;
/// Every class has been met so many times before the first row.
const BEFORE: f64 = 0.5;

/// See the head of this file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ClassViews {
    mixture: LogitMixture,
    /// Weights of the rows whose targets were −1 and 1, an output.
    counts: Vec<[f64; 2]>,
    #[cfg_attr(feature = "serde", serde(skip))]
    logits: Vec<f64>,
}

fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

impl ClassViews {
    /// Views of so many outputs that have learnt nothing.
    pub(super) fn new(outputs: usize) -> Self {
        Self { mixture: LogitMixture::starting(START), counts: vec![[BEFORE; 2]; outputs], logits: Vec::new() }
    }

    /// True if the numbers of a target tell classes.
    pub(super) fn are_of(target: Target<'_>) -> bool {
        target.y.iter().all(|y| y.abs() == 1.0)
    }

    /// The share of an output so far.
    fn share([without, with]: [f64; 2]) -> f64 {
        with / (without + with)
    }

    /// Turns views, one behind the other, into logits over those of the shares so far; `logits ←`
    /// their mixture.
    fn mix(&self, views: &mut [f64], logits: &mut [f64]) {
        let outputs = self.counts.len();
        for views in views.chunks_exact_mut(outputs) {
            for (view, counts) in views.iter_mut().zip(&self.counts) {
                let q = Self::share(*counts);
                let (low, high) = (SUREST.min(PART * q), SUREST.min(PART * (1.0 - q)));
                *view = logit((0.5 + 0.5 * *view).clamp(low, 1.0 - high)) - logit(q);
            }
        }
        self.mixture.mix(views, logits);
        logits.iter_mut().zip(&self.counts).for_each(|(logit_, counts)| *logit_ += logit(Self::share(*counts)));
    }

    /// The first of the views ← the scores.
    pub(super) fn score(&self, views: &mut [f64], logits: &mut Vec<f64>) {
        logits.resize(self.counts.len(), 0.0);
        self.mix(views, logits);
        views.iter_mut().zip(logits).for_each(|(view, logit)| *view = (0.5 * *logit).tanh());
    }

    /// [`score`](Self::score), and learns the classes of the row.
    pub(super) fn round(&mut self, views: &mut [f64], target: Target<'_>) {
        let mut logits = std::mem::take(&mut self.logits);
        logits.resize(self.counts.len(), 0.0);
        self.mix(views, &mut logits);
        if Self::are_of(target) {
            self.mixture.learn(views, &logits, target);
            self.count(target);
        }
        views.iter_mut().zip(&logits).for_each(|(view, logit)| *view = (0.5 * *logit).tanh());
        self.logits = logits;
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
        self.mixture.validate()?;
        let counted = self.counts.iter().flatten().all(|count| count.is_finite() && *count >= BEFORE);
        Inconsistent::require(counted, "views of classes", "counts are not negative")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sigmoid(z: f64) -> f64 {
        1.0 / (1.0 + (-z).exp())
    }

    /// Two outputs, the second of a rare class, in which the views are right by halves.
    fn row(t: usize) -> ([f64; 2 * VIEWS], [f64; 2]) {
        let u = |k: usize| ((t * (37 + 16 * k) + t * t * 7) % 101) as f64 / 101.0;
        let p = [u(0), 0.04 * u(1)];
        let y = [0, 1].map(|k| if u(2 + k) < p[k] { 1.0 } else { -1.0 });
        let views = std::array::from_fn(|place| {
            let (view, k) = (place / 2, place % 2);
            2.0 * [0.5 * (p[k] + p[k].powi(2)), p[k], 0.8 * p[k] + 0.3 * u(4), 1.4 * p[k] - 0.2][view] - 1.0
        });
        (views, y)
    }

    #[test]
    fn scores_are_the_formula() {
        let mut classes = ClassViews::new(2);
        let (mut counts, mut weights) = ([[0.5, 0.5]; 2], [1.0, 0.0, 0.0, 0.0]);
        let (mut before, mut losses) = (Vec::new(), [0.0; 2]);
        for t in 0..3000 {
            let (views, y) = row(t);
            let q = counts.map(|[without, with]: [f64; 2]| with / (without + with));
            let logit = |p: f64| p.ln() - (1.0 - p).ln();
            let over = |m: usize, k: usize| {
                let p = (1.0 + views[2 * m + k]) / 2.0;
                let (low, high) = ((q[k] / 10.0).min(1e-3), 1.0 - ((1.0 - q[k]) / 10.0).min(1e-3));
                (logit(p.max(low).min(high)) - logit(q[k])).clamp(-8.0, 8.0)
            };
            let z = [0, 1].map(|k| logit(q[k]) + (0..VIEWS).map(|m| weights[m] * over(m, k)).sum::<f64>());
            let mut made = views;
            let mut scores = Vec::new();
            classes.score(&mut made, &mut scores);
            for k in 0..2 {
                assert!((made[k] - (2.0 * sigmoid(z[k]) - 1.0)).abs() < 1e-9, "row {t}: {made:?} for {z:?}");
            }
            let mut learnt = views;
            classes.round(&mut learnt, Target::weighted(&y, 1.0));
            assert_eq!(learnt[..2], made[..2], "the prediction is the one before the row is learnt");
            if t >= 1000 {
                for (loss, z) in losses.iter_mut().zip([z[1], logit((1.0 + views[1]) / 2.0)]) {
                    *loss -= sigmoid(y[1] * z).ln();
                }
            }
            // The information of all rounds so far, and a step with it.
            before.extend((0..2).map(|k| (std::array::from_fn(|m| over(m, k)), sigmoid(z[k]))));
            let information = nalgebra::Matrix4::from_fn(|i, j| {
                let sum = |(f, p): &([f64; VIEWS], f64)| (p * (1.0 - p)).max(1e-4) * f[i] * f[j];
                before.iter().map(sum).sum::<f64>() + if i == j { 20.0 } else { 0.0 }
            });
            let slope = |m: usize| (0..2).map(|k| ((1.0 + y[k]) / 2.0 - sigmoid(z[k])) * over(m, k)).sum::<f64>();
            let step = information.cholesky().unwrap().solve(&nalgebra::Vector4::from_fn(|m, _| slope(m)));
            weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += step);
            (0..2).for_each(|k| counts[k][usize::from(y[k] > 0.0)] += 1.0);
            assert_eq!(classes.validate(), Ok(()));
        }
        // The first view is too timid on both, and alone at first.
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
        classes.score(&mut views, &mut Vec::new());
        assert!((views[0] - (2.0 * share - 1.0)).abs() < 1e-12);
        // Views of any size are told apart from each other, and finite.
        for wild in [f64::MAX, -f64::MAX] {
            views.fill(wild);
            classes.score(&mut views, &mut Vec::new());
            let is_above = views[0] > 2.0 * share - 1.0;
            assert!(views[0].abs() <= 1.0 && is_above == (wild > 0.0), "{views:?}");
        }
    }
}
