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

use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::SymmetricInverse;
use mercer_simd::{axpy, dot};

use crate::Error;
use crate::update::{LinearUpdate, finite};

/// Recursive least squares with ridge `λ ≥ 0` and forgetting `γ ∈ (0, 1]`.
///
/// # Invariants
/// `trace` is the trace of `p` up to rounding and never above `trace_limit`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeastSquares {
    w: AlignedVec,
    p: SymmetricInverse,
    ridge: f64,
    forgetting: f64,
    trace: f64,
    trace_limit: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    c: AlignedVec,
}

impl LeastSquares {
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
            c: AlignedVec::new(),
        }
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

    fn border(&mut self, corner: f64) {
        self.trace += corner;
        self.trace_limit += corner;
    }
}

impl LinearUpdate for LeastSquares {
    fn predict(&self, phi: &AlignedVec) -> f64 {
        dot(self.w.lanes(), phi.lanes())
    }

    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error> {
        let prediction = self.predict(phi);
        let e = finite(y - prediction)?;
        let mut s = finite(self.p.multiply(phi, &mut self.c))?;
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
        self.trace -= gain * dot(self.c.lanes(), self.c.lanes());
        self.p.subtract(gain, &self.c);
        Ok(prediction)
    }

    fn grow(&mut self) {
        self.w.push(0.0);
        self.p.grow(1.0 / self.ridge);
        self.border(1.0 / self.ridge);
    }

    fn restart(&mut self, n: usize) {
        *self = Self::new(self.ridge, self.forgetting);
        (0..n).for_each(|_| self.grow());
    }
}
