//! DIAGONAL KALMAN: a Kalman filter on the weights of tokens that keeps their variances and no
//! covariances (Haykin 2001; the variance method of Kivinen, Warmuth and Hassibi 2006 is alike).
//!
//! A weight has the prior `N(0, 10/q)`, `q` being the mean over the first 256 rows of `Σx²` (of the
//! rows so far, until then), and the variance `S = 1/(q/10 + Λ)`. `Λ` is what its rows have told. A
//! variance never falls below a tenth of the prior's, so old rows are forgotten.
//!
//! **Numbers**, of weight `ω`: `v = ν/ω + ΣSx²`, `e = y − z` within `±3√v`; `w ← w + S x e/v` and
//! `Λ ← Λ + x²/(v − Sx²)`, which is `S ← S − (Sx)²/v`. The noise `ν` is the mean of `e²` over about
//! the last 1,000 rows, each within `9v`, at least 0.001, from 1. Several outputs share `S` and
//! `ν`.
//!
//! **Classes** `y = ±1`: with `p = σ(z)`, `h = ω p(1 − p)` and `u = 1 + hΣSx²`,
//! `w ← w + S x ω ((1 + y)/2 − p)/u` and `Λ ← Λ + hx²/(u − hSx²)`, which is `S ← S − (Sx)²h/u`.
//! `p(1 − p)` is at least 0.001.
//!
//! `4n` multiply-adds a round of `n` tokens and an output; 2 numbers a token (and, for more
//! outputs, a weight each). `Λ` of shards adds up: see [`merge`](DiagonalKalman::merge).

use mercer_core::{Inconsistent, TokenUse, Validate, cost};

use crate::engines::tokens::{OnTokens, PlaceLayout, PlaceUpdate, PlacesOfRow, Singles};
use crate::entry::{Entry, Learner, ParameterType, Parameters, Takes};
use crate::example::{Problem, Shape, Target};
use crate::loss::{Logistic, Loss};
use crate::parameters::parameters;
use crate::{Error, Regressor};

/// `q` times the variance of the prior.
const PRIOR: f64 = 10.0;
/// The largest precision, in that of the prior.
const SHARPEST: f64 = 10.0;
/// Standard deviations of an error that teach.
const REACH: f64 = 3.0;
/// Rows of which the noise is the mean, and those that its first value counts for.
const LATE_ROWS: f64 = 1000.0;
const FIRST_ROWS: f64 = 10.0;
/// The least noise, and the least curvature of the logistic loss.
const LEAST: f64 = 1e-3;

parameters! {
    /// Parameters of [`DiagonalKalman`].
    #[derive(Copy)]
    pub struct DiagonalKalmanParams {
        /// most tokens with a weight of their own, up to 2^24; those that come later share some
        places: usize = 1 << 20 => "" COUNT,
        /// what is minimised; with classes the default is logistic
        loss: Loss = Loss::SQUARED => "" "squared or logistic".for_classes(|_| Loss::LOGISTIC.to_value()),
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// A Kalman filter on the weights of tokens, without covariances.
pub type DiagonalKalman = OnTokens<Singles, KalmanStep>;

impl DiagonalKalman {
    /// A learner for rows of `dimension` numbers, or with tokens.
    ///
    /// # Errors
    /// When a parameter is out of its range, and for a loss that is neither squared nor logistic.
    pub fn new(dimension: usize, params: DiagonalKalmanParams) -> Result<Self, Error> {
        params.check()?;
        let DiagonalKalmanParams { places, loss, outputs } = params;
        if !matches!(loss, Loss::Squared(_) | Loss::Logistic(_)) {
            let instead = "squared or logistic";
            return Err(Error::Loss { update: "a Kalman filter", loss: loss.name(), instead });
        }
        let update = KalmanStep { loss, noise: 1.0, counted: FIRST_ROWS };
        Self::from_parts(dimension, outputs, Singles, update, places)
    }
}

impl DiagonalKalman {
    /// Adds what another filter learnt from other rows: `Λ = Λ₁ + Λ₂` and `w = S(w₁/S₁ + w₂/S₂)`,
    /// the posterior of both shards. `q` and `ν` become means over the rows that they count for.
    ///
    /// # Errors
    /// For a filter of rows of another shape, or of another loss.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let Problem { shape: Shape { outputs, .. }, loss } = self.problem();
        let of_places = |[own, other, mean]: [f64; 3], state: &mut [f64], theirs: &[f64]| {
            let priors = [own / PRIOR, other / PRIOR];
            let told_of = |k: usize| if loss == Loss::SQUARED { outputs } else { outputs + k };
            for k in 0..outputs {
                let told = [state[told_of(k)], theirs[told_of(k)]];
                let gains = [0, 1].map(|i| 1.0 / variance(told[i], priors[i]));
                let sum = told[0] + told[1] + mean / PRIOR;
                if sum > 0.0 {
                    state[k] = (gains[0] * state[k] + gains[1] * theirs[k]) / sum;
                }
            }
            let (_, all) = state.split_at_mut(outputs);
            for (told, theirs) in all.iter_mut().zip(&theirs[outputs..]) {
                *told = bounded(*told + theirs, mean / PRIOR);
            }
        };
        let of_noise = |own: &mut KalmanStep, theirs: &KalmanStep| {
            let counted = own.counted + theirs.counted;
            own.noise = (own.noise * own.counted + theirs.noise * theirs.counted) / counted;
            own.counted = counted.min(LATE_ROWS);
        };
        self.join(other, of_noise, of_places)
    }
}

/// Moves weights by their variances.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KalmanStep {
    loss: Loss,
    /// `ν`
    noise: f64,
    /// The rows that `ν` counts for.
    counted: f64,
}

/// The variance of a weight that has learnt `told`, the precision of the prior being `prior`.
fn variance(told: f64, prior: f64) -> f64 {
    1.0 / (told + prior).min(SHARPEST * prior)
}

/// `Λ`, no more than what counts.
fn bounded(told: f64, prior: f64) -> f64 {
    told.min((SHARPEST - 1.0) * prior)
}

impl KalmanStep {
    fn learn_numbers(&mut self, mut row: PlacesOfRow<'_>, target: Target<'_>, scores: &[f64]) {
        let (outputs, prior) = (scores.len(), row.square / PRIOR);
        let noise = self.noise / target.weight;
        let v = row.iter_mut().map(|(x, state)| x * x * variance(state[outputs], prior)).sum::<f64>() + noise;
        let reach = REACH * v.sqrt();
        let gains = std::mem::take(&mut row.work);
        let mut squares = 0.0;
        for ((gain, z), y) in gains.iter_mut().zip(scores).zip(target.y) {
            squares += (y - z) * (y - z) / outputs as f64;
            // Of numbers beyond their range the step is refused.
            *gain = (y - z).max(-reach).min(reach) / v;
        }
        for (x, state) in row.iter_mut() {
            let (weights, told) = state.split_at_mut(outputs);
            let s = variance(told[0], prior);
            weights.iter_mut().zip(&*gains).for_each(|(w, gain)| *w += s * x * gain);
            told[0] = bounded(told[0] + x * x / (v - s * x * x).max(noise), prior);
        }
        self.counted = (self.counted + target.weight).min(LATE_ROWS);
        let share = (target.weight / self.counted).min(1.0);
        self.noise = (self.noise + share * (squares.min(REACH * REACH * v) - self.noise)).max(LEAST);
    }

    fn learn_classes(mut row: PlacesOfRow<'_>, target: Target<'_>, scores: &[f64]) {
        let (outputs, prior) = (scores.len(), row.square / PRIOR);
        for (k, (z, y)) in scores.iter().zip(target.y).enumerate() {
            let p = Logistic::probability(*z);
            let h = target.weight * (p * (1.0 - p)).max(LEAST);
            let sum: f64 = row.iter_mut().map(|(x, state)| x * x * variance(state[outputs + k], prior)).sum();
            let u = 1.0 + h * sum;
            let gain = target.weight * (0.5 * (1.0 + y) - p) / u;
            for (x, state) in row.iter_mut() {
                let s = variance(state[outputs + k], prior);
                state[k] += s * x * gain;
                let told = &mut state[outputs + k];
                *told = bounded(*told + h * x * x / (u - h * s * x * x).max(1.0), prior);
            }
        }
    }
}

impl PlaceUpdate for KalmanStep {
    fn loss(&self) -> Loss {
        self.loss
    }

    /// `w` and `Λ`, which numbers have in common.
    fn layout(&self, outputs: usize) -> PlaceLayout {
        match self.loss {
            Loss::Squared(_) => PlaceLayout { outputs, each: 1, common: 1 },
            _ => PlaceLayout { outputs, each: 2, common: 0 },
        }
    }

    fn step(&mut self, row: PlacesOfRow<'_>, target: Target<'_>, scores: &[f64]) -> Result<(), Error> {
        match self.loss {
            Loss::Squared(_) => self.learn_numbers(row, target, scores),
            _ => Self::learn_classes(row, target, scores),
        }
        Ok(())
    }
}

impl Validate for KalmanStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        let known = matches!(self.loss, Loss::Squared(_) | Loss::Logistic(_));
        Inconsistent::require(known, "Kalman filter", "its loss is squared or logistic")?;
        Inconsistent::positive(self.noise, "noise")?;
        Inconsistent::positive(self.counted, "rows of the noise")
    }
}

#[doc(hidden)]
pub const DIAGONAL_KALMAN: Learner<DiagonalKalman> = Entry {
    name: "diagonal-kalman",
    summary: "a Kalman filter on the weights of tokens or columns, without covariances",
    keys: DiagonalKalmanParams::KEYS,
    time: cost!(4.0 d),
    memory: cost!(2.0 d),
    source: "Haykin 2001",
    takes: Takes { losses: &["squared", "logistic"], vectors: true, many_classes: true },
    tokens: TokenUse::Always,
    advice: "words, many categories, sparse rows; adds up over shards",
    start: "defaults; targets scaled",
    ..Entry::PLAIN
}
.made_by(|_, context, values| Ok(DiagonalKalman::new(context.dimension, values.parameters(context)?)?));
