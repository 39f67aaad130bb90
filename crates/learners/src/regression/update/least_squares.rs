//! Recursive least squares on coordinates that grow.
//!
//! `w` minimises `Σ_s (y_s − φ_sᵀw)² + λ‖w‖²` over the rounds so far, every `φ_s` padded by zeros, with
//! `P = (Σ φφᵀ + λI)⁻¹`. A round in the span: `c = Pφ`, `s = φᵀc`, `w ← w + c e/(1+s)`, `P ← P − ccᵀ/(1+s)`. A round whose
//! example is kept, without prior (`λ = 0`): the new coordinate interpolates, `w ← [w; e/√δ]`, and `P` is bordered by
//! `[−c/√δ; (1+s)/δ]`, the limit `λ → 0` of the step with a prior. Reads and writes `P` once: `1½n²` multiply-adds.
//!
//! **Forgetting** `γ < 1` is directional (Kulhavý 1987): only what is known in the direction of `φ` is discounted,
//! `φᵀPφ ← (s/(1+s))/γ`, by the same rank-one pass with gain `(γ − (1−γ)/s)/(γ(1+s))`. A round that would raise the trace of
//! `P` above the sum of what the prior or the kept points put there forgets nothing, so `P` cannot wind up.
//!
//! **Forecasts**: ridge regression predicts `wᵀφ`; the forecaster of Azoury, Warmuth and Vovk reckons with the example it is
//! about to see, at target 0, and predicts `wᵀφ/(1 + φᵀPφ)`. What is learnt is the same.

use std::marker::PhantomData;

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{BlockRecursion, SymmetricInverse};
use mercer_simd::{axpy, dot};

use crate::Error;
use crate::regression::update::{LinearUpdate, NormalEquations, Round, SHORTEST_BLOCK, finite, learn_rounds};

/// What a least-squares learner predicts.
pub trait Forecast: Clone + Send {
    /// The prediction, where the fit has the value `z = wᵀφ` and `s` gives `φᵀPφ`.
    fn forecast(z: f64, s: impl FnOnce() -> f64) -> f64;
}

/// The value of the fit, `z`.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ridge;

/// The forecaster of Azoury, Warmuth and Vovk: `z/(1 + s)`.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Awv;

impl Forecast for Ridge {
    fn forecast(z: f64, _: impl FnOnce() -> f64) -> f64 {
        z
    }
}

impl Forecast for Awv {
    fn forecast(z: f64, s: impl FnOnce() -> f64) -> f64 {
        z / (1.0 + s())
    }
}

/// Recursive least squares with ridge `λ ≥ 0` and forgetting `γ ∈ (0, 1]`, predicting by the [`Forecast`] `F`.
///
/// # Invariants
/// With forgetting, `trace` is the trace of `p` up to rounding and never above `trace_limit`; without, neither is used.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeastSquares<F = Ridge> {
    w: AlignedVec,
    p: SymmetricInverse,
    ridge: f64,
    forgetting: f64,
    trace: f64,
    trace_limit: f64,
    forecast: PhantomData<F>,
    #[cfg_attr(feature = "serde", serde(skip))]
    c: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    block: BlockRecursion,
}

impl<F> LeastSquares<F> {
    /// No coordinates yet. Without a ridge a coordinate can only come with an example ([`LinearUpdate::step`]).
    #[must_use]
    pub fn new(ridge: f64, forgetting: f64) -> Self {
        Self {
            w: AlignedVec::new(),
            p: SymmetricInverse::new(),
            ridge,
            forgetting,
            trace: 0.0,
            trace_limit: 0.0,
            forecast: PhantomData,
            c: AlignedVec::new(),
            block: BlockRecursion::default(),
        }
    }

    /// A learner that goes on from coefficients `w` and `P` without forgetting.
    pub(crate) fn from_state(w: AlignedVec, p: SymmetricInverse, ridge: f64) -> Self {
        Self { w, p, ..Self::new(ridge, 1.0) }
    }

    /// The ridge `λ`.
    pub(crate) fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The forgetting factor `γ`.
    pub(crate) fn forgetting(&self) -> f64 {
        self.forgetting
    }

    /// The coefficients.
    #[must_use]
    pub fn weights(&self) -> &AlignedVec {
        &self.w
    }

    /// `P`, the inverse of the (discounted) normal matrix.
    #[must_use]
    pub fn inverse(&self) -> &SymmetricInverse {
        &self.p
    }

    /// The gain of the rank-one pass: `1/(1+s)`, or what forgetting makes of it.
    fn gain(&self, s: f64) -> f64 {
        let remember = 1.0 / (1.0 + s);
        if self.forgetting == 1.0 || s <= 0.0 {
            return remember;
        }
        let forget = (self.forgetting - (1.0 - self.forgetting) / s) / (self.forgetting * (1.0 + s));
        let trace = self.trace - forget * dot(self.c.lanes(), self.c.lanes());
        if trace.is_finite() && trace <= self.trace_limit { forget } else { remember }
    }

    /// `φᵀP` and what else a coordinate brings whose values over the past are known: `a = Fᵀf`, `‖f‖²` and `fᵀY`, where `F`
    /// holds the past coordinates and `f` the new one's. `n²` multiply-adds; changes nothing.
    pub(crate) fn enlargement(&self, a: &AlignedVec, squared: f64, cross: f64, c: &mut AlignedVec) -> Enlargement {
        self.p.product(a, c);
        // In exact arithmetic the Schur complement is at least the ridge.
        let schur = (squared + self.ridge - dot(a.lanes(), c.lanes())).max(self.ridge);
        Enlargement { schur, coefficient: (cross - dot(a.lanes(), self.w.lanes())) / schur }
    }

    /// Gains the coordinate, `c` being what [`enlargement`](Self::enlargement) left.
    pub(crate) fn enlarge(&mut self, c: &mut AlignedVec, by: Enlargement) {
        axpy(-by.coefficient, c.lanes(), self.w.lanes_mut());
        self.w.push(by.coefficient);
        self.p.subtract(-1.0 / by.schur, c);
        c.iter_mut().for_each(|c| *c *= -1.0 / by.schur);
        self.p.border(c, 1.0 / by.schur);
    }

    /// `(wᵀφ, φᵀPφ)`, the value of the fit and its uncertainty. `½n²`.
    pub(crate) fn fit(&self, phi: &AlignedVec) -> (f64, f64) {
        (dot(self.w.lanes(), phi.lanes()), self.p.quadratic(phi))
    }

    /// [`fit`](Self::fit) at `[φ; new]` after an enlargement not yet made, `c` being what it left.
    pub(crate) fn fit_enlarged(&self, phi: &AlignedVec, new: f64, c: &AlignedVec, by: Enlargement) -> (f64, f64) {
        let (z, s) = self.fit(phi);
        let along = new - dot(c.lanes(), phi.lanes());
        (z + by.coefficient * along, s + along * along / by.schur)
    }

    fn border(&mut self, corner: f64) {
        self.trace += corner;
        self.trace_limit += corner;
    }
}

/// A coordinate over the past, as the normal equations see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enlargement {
    /// Schur complement of the new diagonal entry of `A`.
    pub(crate) schur: f64,
    /// The new coefficient.
    pub(crate) coefficient: f64,
}

impl<F> Validate for LeastSquares<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.w.validate()?;
        self.p.validate()?;
        Inconsistent::non_negative(self.ridge, "ridge")?;
        let remembers = self.forgetting > 0.0 && self.forgetting <= 1.0;
        Inconsistent::require(remembers, "forgetting", "it is above 0 and at most 1")?;
        Inconsistent::require(!self.trace.is_nan() && !self.trace_limit.is_nan(), "trace", "it is a number")?;
        let fits = self.p.dimension() == self.w.len();
        Inconsistent::require(fits, "least-squares learner", "its matrix has a row for each coefficient")
    }
}

impl<F: Forecast> LinearUpdate for LeastSquares<F> {
    fn coordinates(&self) -> usize {
        self.w.len()
    }

    fn predict(&self, phi: &AlignedVec) -> f64 {
        F::forecast(dot(self.w.lanes(), phi.lanes()), || self.p.quadratic(phi))
    }

    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error> {
        let z = dot(self.w.lanes(), phi.lanes());
        let e = finite(y - z)?;
        let mut s = finite(self.p.multiply(phi, &mut self.c))?;
        let prediction = F::forecast(z, || s);
        match growth {
            Some(new) if self.ridge == 0.0 => {
                let (coefficient, corner) = (finite(e / new)?, finite((1.0 + s) / (new * new))?);
                self.w.push(coefficient);
                self.c.iter_mut().for_each(|c| *c *= -1.0 / new);
                self.p.border(&self.c, corner);
                self.border(corner);
                phi.push(new);
                return Ok(prediction);
            }
            Some(new) => {
                s += finite(new * new / self.ridge)?;
                finite(e / (1.0 + s))?;
                self.grow();
                self.c.push(new / self.ridge);
                phi.push(new);
            }
            None => {}
        }
        let along = finite(e / (1.0 + s))?;
        let gain = self.gain(s);
        axpy(along, self.c.lanes(), self.w.lanes_mut());
        if self.forgetting < 1.0 {
            self.trace -= gain * dot(self.c.lanes(), self.c.lanes());
        }
        self.p.subtract(gain, &self.c);
        Ok(prediction)
    }

    fn block_size(&self) -> usize {
        // Whether a round forgets depends on the whole column c, which a block knows only at its end.
        if self.forgetting < 1.0 { 1 } else { BlockRecursion::suitable(self.w.len()) }
    }

    fn learn_block(&mut self, phis: &mut [AlignedVec], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        if self.block_size() == 1 || phis.len() < SHORTEST_BLOCK {
            return phis.iter_mut().zip(ys).try_for_each(|(phi, y)| {
                predictions.push(self.step(phi, None, *y)?);
                Ok(())
            });
        }
        let Self { w, p, block, .. } = self;
        learn_rounds(block, p, w, (phis, ys), predictions, |z, s, y| {
            let (e, s) = (finite(y - z)?, finite(s)?);
            let gain = 1.0 / (1.0 + s);
            Ok(Round { prediction: F::forecast(z, || s), gain, along: finite(e * gain)? })
        })
    }

    fn normal_equations(&self) -> Option<NormalEquations> {
        let a = (self.forgetting == 1.0).then(|| self.p.inverted().ok())??;
        let mut b = AlignedVec::new();
        a.product(&self.w, &mut b);
        Some(NormalEquations { a, b })
    }

    fn solving(&self, NormalEquations { a, b }: &NormalEquations) -> Option<Self> {
        let p = a.inverted().ok()?;
        let mut w = AlignedVec::new();
        p.product(b, &mut w);
        Some(Self { w, p, ..self.clone() })
    }

    fn grow(&mut self) {
        self.w.push(0.0);
        self.p.grow(1.0 / self.ridge);
        self.border(1.0 / self.ridge);
    }

    fn restart(&mut self, n: usize) {
        *self = Self::new(self.ridge, self.forgetting);
        self.w.resize(n);
        self.p.restart(n, 1.0 / self.ridge);
        (0..n).for_each(|_| self.border(1.0 / self.ridge));
    }
}
