//! Scores and the classes of late into probabilities: a logistic model with one vector of
//! coefficients for all classes.
//!
//! For class `k` with score `s_k` the features `f_k` are
//!
//! | feature | of |
//! |---|---|
//! | `s_k`, `s_k³` | the score, cut at ±2: the cube lets probabilities approach 0 and 1 at another speed than they leave ½ |
//! | `ln q_k` | the share `q_k` of the class in all rows |
//! | `1` if `k` was the last class, else `0` | the last row |
//! | `ln(0.01 + e_k)` | its shares `e_k` in the last 5 and 50 rows or so, which are exponential means |
//! | `ln(p/(1 − p))`, `p = (1 + s_k)/2` within \[0.001, 0.999\] | the same score, as a share that can be sure |
//! | `ln((c_k + q_k/10) / (1.1 q_k))` | the score as least squares means it, `c_k = (1 + s_k)/2` within \[0, 1\], as evidence over the share: what ranks rare classes, whose scores are all near −1 |
//!
//! and `p_k ∝ exp(θᵀf_k)` (the conditional logit of McFadden 1974; with the score alone and two
//! classes it is Platt's 1999 without his constant). `θ` is learnt by online Newton steps: with the
//! information `A = A₀ + Σ_t ω_t Σ_k p_k (f_k − f̄)(f_k − f̄)ᵀ`, `f̄ = Σ p_k f_k`, of all rounds up
//! to this one, `θ ← θ + ω A⁻¹(f_y − f̄)`. It begins at `√(p/(1 − p))`, which of two classes with
//! the scores `±z` is the share `(1 + z)/2` itself. `A₀` is diagonal: 10 for the three features of
//! late, of which a few rows of a rare class would make too much, and for the logit, and 1 for the
//! others.
//!
//! As all classes share `θ`, it is learnt within some hundred rows however many they are, and a
//! class that joins late has it at once. Where classes come at random the features of late get no
//! weight.
//!
//! Cost: `8² m` multiply-adds a round for `m` classes.

use mercer_core::{Inconsistent, Validate};
use mercer_linalg_incremental::Matrix;

const FEATURES: usize = 8;
/// Place of the logit, and its coefficient at the start.
const LOGIT: usize = FEATURES - 1;
const START: f64 = 0.5;
/// No share is surer.
const SUREST: f64 = 1e-3;
/// The information on each coefficient at the start.
const INFORMATION: [f64; FEATURES] = [1.0, 1.0, 1.0, 10.0, 10.0, 10.0, 1.0, 10.0];
/// So much of the share of a class is added to what its score says of it.
const PRIOR: f64 = 0.1;
/// Scores are cut here.
const CUT: f64 = 2.0;
/// Factors by which the shares of late shrink after a row.
const KEPT: [f64; 2] = [0.8, 0.98];
/// A share of late of 0 counts as this.
const LEAST: f64 = 0.01;
/// Every class has been met so many times before the first row.
const BEFORE: f64 = 0.5;

/// A logistic model of classes, from scores and from the classes before.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Calibration {
    coefficients: [f64; FEATURES],
    /// `A`, by columns.
    information: Vec<f64>,
    /// Rows of each class, and its shares of late.
    counts: Vec<f64>,
    shares: Vec<[f64; KEPT.len()]>,
    last: Option<usize>,
}

impl Calibration {
    /// One that has learnt nothing, of so many classes.
    pub(super) fn new(classes: usize) -> Self {
        let mut coefficients = [0.0; FEATURES];
        coefficients[LOGIT] = START;
        let (rows, places) = (FEATURES, 0..FEATURES * FEATURES);
        let diagonal = |place: usize| if place / rows == place % rows { INFORMATION[place % rows] } else { 0.0 };
        Self {
            coefficients,
            information: places.map(diagonal).collect(),
            counts: vec![0.0; classes],
            shares: vec![[0.0; KEPT.len()]; classes],
            last: None,
        }
    }

    /// A class joins.
    pub(super) fn join(&mut self) {
        self.counts.push(0.0);
        self.shares.push([0.0; KEPT.len()]);
    }

    /// Number of classes.
    pub(super) fn classes(&self) -> usize {
        self.counts.len()
    }

    fn features(&self, class: usize, score: f64, total: f64) -> [f64; FEATURES] {
        let s = score.clamp(-CUT, CUT);
        let [short, long] = self.shares[class].map(|share| (LEAST + share).ln());
        let share = (self.counts[class] + BEFORE) / total;
        let says = (0.5 + 0.5 * s).clamp(0.0, 1.0);
        let evidence = ((says + PRIOR * share) / ((1.0 + PRIOR) * share)).ln();
        let sure = says.clamp(SUREST, 1.0 - SUREST);
        [
            s,
            s * s * s,
            share.ln(),
            f64::from(u8::from(self.last == Some(class))),
            short,
            long,
            evidence,
            (sure / (1.0 - sure)).ln(),
        ]
    }

    fn total(&self) -> f64 {
        self.counts.iter().sum::<f64>() + BEFORE * self.counts.len() as f64
    }

    /// The shares of the classes in all rows.
    pub(super) fn shares(&self) -> impl Iterator<Item = f64> {
        let total = self.total();
        self.counts.iter().map(move |count| (count + BEFORE) / total)
    }

    /// `θᵀf_k`
    fn exponent(&self, class: usize, score: f64, total: f64) -> f64 {
        self.features(class, score, total).iter().zip(&self.coefficients).map(|(f, c)| f * c).sum()
    }

    /// Turns the scores of all classes into probabilities.
    pub(super) fn probabilities(&self, scores: &mut [f64]) {
        let total = self.total();
        for (class, score) in scores.iter_mut().enumerate() {
            *score = self.exponent(class, *score, total);
        }
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter_mut().for_each(|score| *score = (*score - most).exp());
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
    }

    /// Learns that an example with these scores, one a class, belongs to `class`, a known one;
    /// returns the probability that this class had. Where rounding has made `A` singular, or out
    /// of the range of numbers, `θ` stays.
    pub(super) fn learn(&mut self, scores: &[f64], class: usize, weight: f64) -> f64 {
        let total = self.total();
        let mut p = scores.to_vec();
        self.probabilities(&mut p);
        let features = |k: usize| self.features(k, scores[k], total);
        let mut mean = [0.0; FEATURES];
        for (k, p) in p.iter().enumerate() {
            mean.iter_mut().zip(features(k)).for_each(|(mean, f)| *mean += p * f);
        }
        let mut information = self.information.clone();
        for (k, p) in p.iter().enumerate() {
            let mut from_mean = features(k);
            from_mean.iter_mut().zip(mean).for_each(|(f, mean)| *f -= mean);
            for (place, entry) in information.iter_mut().enumerate() {
                *entry += weight * p * from_mean[place / FEATURES] * from_mean[place % FEATURES];
            }
        }
        let of_class = features(class);
        let gradient = Matrix::from_fn(FEATURES, 1, |i, _| weight * (of_class[i] - mean[i]));
        let matrix = Matrix::from_fn(FEATURES, FEATURES, |i, j| information[j * FEATURES + i]);
        if let Ok(step) = matrix.solve_positive_definite(&gradient) {
            let moved: [f64; FEATURES] = std::array::from_fn(|i| self.coefficients[i] + step.entry(i, 0));
            if moved.iter().chain(&information).all(|value| value.is_finite()) {
                self.coefficients = moved;
                self.information = information;
            }
        }
        self.counts[class] = (self.counts[class] + weight).min(f64::MAX / self.counts.len() as f64);
        for (k, shares) in self.shares.iter_mut().enumerate() {
            for (share, kept) in shares.iter_mut().zip(KEPT) {
                *share = kept * *share + if k == class { 1.0 - kept } else { 0.0 };
            }
        }
        self.last = Some(class);
        p[class]
    }
}

impl Validate for Calibration {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "calibration of probabilities";
        self.coefficients.validate()?;
        self.information.validate()?;
        self.counts.validate()?;
        let fits = self.information.len() == FEATURES * FEATURES
            && self.shares.len() == self.counts.len()
            && self.last.is_none_or(|last| last < self.counts.len());
        Inconsistent::require(fits, WHAT, "it has its coefficients and knows the shares of its classes")?;
        let counted = self.counts.iter().all(|count| *count >= 0.0);
        let shared = self.shares.iter().flatten().all(|share| (0.0..=1.0).contains(share));
        Inconsistent::require(counted && shared, WHAT, "counts are not negative, and shares are between 0 and 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    /// Classes of which one follows the other now and then, with scores that know something of the
    /// class.
    fn stream() -> Vec<(Vec<f64>, usize)> {
        let (mut class, mut noise) = (0, 0.3_f64);
        let mut next = move || {
            noise = (noise * 7919.0 + 0.37).fract();
            noise
        };
        let round = |_| {
            if next() < 0.2 {
                class = (3.0 * next()) as usize;
            }
            let scores = (0..3).map(|k| if k == class { 0.4 } else { -0.6 } + 1.6 * (next() - 0.5)).collect();
            (scores, class)
        };
        (0..600).map(round).collect()
    }

    #[test]
    fn each_round_is_the_formula() {
        let mut calibration = Calibration::new(3);
        let mut a = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 1.0, 10.0, 10.0, 10.0, 1.0, 10.0]));
        let mut theta = DVector::from_vec(vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
        let (mut past, mut loss, mut of_start): (Vec<(usize, f64)>, _, _) = (Vec::new(), 0.0, 0.0);
        for (t, (scores, class)) in stream().into_iter().enumerate() {
            let weight = 1.0 + (t % 3) as f64 * 0.5;
            let total: f64 = past.iter().map(|(_, weight)| weight).sum();
            let f = DMatrix::from_fn(FEATURES, 3, |i, k| {
                let share = |k: usize| {
                    let of_class = |(c, weight): &(usize, f64)| if *c == k { *weight } else { 0.0 };
                    (past.iter().map(of_class).sum::<f64>() + 0.5) / (total + 1.5)
                };
                let late = |kept: f64| -> f64 {
                    let powers = past.iter().rev().enumerate();
                    powers.map(|(age, (c, _))| if *c == k { (1.0 - kept) * kept.powi(age as i32) } else { 0.0 }).sum()
                };
                match i {
                    0 => scores[k],
                    1 => scores[k].powi(3),
                    2 => share(k).ln(),
                    3 => f64::from(u8::from(past.last().is_some_and(|(last, _)| *last == k))),
                    4 => (0.01 + late(0.8)).ln(),
                    5 => (0.01 + late(0.98)).ln(),
                    7 => {
                        let p = ((1.0 + scores[k]) / 2.0).clamp(0.001, 0.999);
                        p.ln() - (1.0 - p).ln()
                    }
                    _ => ((((1.0 + scores[k]) / 2.0).clamp(0.0, 1.0) + 0.1 * share(k)) / (1.1 * share(k))).ln(),
                }
            });
            let exponents = (f.transpose() * &theta).map(f64::exp);
            let p = &exponents / exponents.sum();
            let mut made = scores.clone();
            calibration.probabilities(&mut made);
            for k in 0..3 {
                assert!((made[k] - p[k]).abs() < 1e-9, "round {t}: {made:?} for {p}");
            }
            loss -= p[class].ln();
            let odds = |s: &f64| {
                let p = ((1.0 + s) / 2.0).clamp(0.001, 0.999);
                (p / (1.0 - p)).sqrt()
            };
            of_start -= (odds(&scores[class]) / scores.iter().map(odds).sum::<f64>()).ln();
            let mean = &f * &p;
            for k in 0..3 {
                let d = f.column(k) - &mean;
                a += weight * p[k] * &d * d.transpose();
            }
            let step = a.clone().cholesky().expect("positive definite").solve(&(f.column(class) - &mean));
            theta += weight * step;
            calibration.learn(&scores, class, weight);
            past.push((class, weight));
            assert_eq!(calibration.validate(), Ok(()));
        }
        assert!(loss < 0.7 * of_start, "{loss} after {of_start} without learning");
    }

    /// One row in 100 is of the rare class; scores are near −1 as those of least squares, `2P − 1`.
    #[test]
    fn rare_classes_have_the_probabilities_of_their_scores() {
        let (mut calibration, mut noise) = (Calibration::new(2), 0.3_f64);
        let mut next = move || {
            noise = (noise * 7919.0 + 0.37).fract();
            noise
        };
        let (mut loss, mut of_truth, mut of_shares) = (0.0, 0.0, 0.0);
        for t in 0..40_000 {
            let chance = [0.002, 0.082][usize::from(next() < 0.1)];
            let class = usize::from(next() < chance);
            let scores = [1.0 - 2.0 * chance, 2.0 * chance - 1.0];
            let mut p = scores;
            calibration.probabilities(&mut p);
            if t >= 20_000 {
                loss -= p[class].ln();
                of_truth -= [1.0 - chance, chance][class].ln();
                of_shares -= [0.99_f64, 0.01][class].ln();
            }
            calibration.learn(&scores, class, 1.0);
        }
        assert!(loss < 1.02 * of_truth && of_truth < 0.9 * of_shares, "{loss}, {of_truth}, {of_shares}");
    }

    #[test]
    fn wild_scores_leave_finite_probabilities() {
        let mut calibration = Calibration::new(2);
        for t in 0..200_usize {
            let scores = [1e308, -1e308, 0.0][t % 3];
            let mut p = [-scores, scores];
            calibration.probabilities(&mut p);
            assert!((p[0] + p[1] - 1.0).abs() < 1e-12 && p.iter().all(|p| *p >= 0.0));
            calibration.learn(&[-scores, scores], t % 2, [1.0, 1e300, 1e-300][t / 70]);
            assert_eq!(calibration.validate(), Ok(()));
        }
    }
}
