//! The online Newton step (\[A\] eqs. 7–8 and Theorem 4.9; Hazan et al. 2007, Luo et al. 2016).
//!
//! `A_t = A_{t−1} + η g² φφᵀ`, `w ← w − A_t⁻¹ g φ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U` in the norm of `A_t`, which
//! is made when `x_{t+1}` arrives: `w ← w − sign(z) max(|z| − U, 0) A⁻¹φ/(φᵀA⁻¹φ)`. Both need the one product
//! `c = A⁻¹φ`, so a round reads and writes `P = A⁻¹` once: `1½n²` multiply-adds.

use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::SymmetricInverse;
use mercer_simd::{axpy, dot};

use crate::Error;
use crate::regression::update::{LinearUpdate, finite};

/// The online Newton step on coordinates, with `A_0 = prior · I`.
///
/// # Invariants
/// `p` is `A⁻¹`, where `A = prior · I + Σ η g_s² φ_s φ_sᵀ` with every `φ_s` padded by zeros to today's length.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NewtonStep {
    w: AlignedVec,
    p: SymmetricInverse,
    prior: f64,
    curvature: f64,
    bound: f64,
    /// Whether the coordinates changed after the last step; the projection is then skipped once.
    fresh: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    c: AlignedVec,
}

impl NewtonStep {
    /// No coordinates yet; regulariser `prior > 0`, `curvature` = `η > 0`, predictions kept within `±bound`.
    #[must_use]
    pub fn new(prior: f64, curvature: f64, bound: f64) -> Self {
        Self {
            w: AlignedVec::new(),
            p: SymmetricInverse::new(),
            prior,
            curvature,
            bound,
            fresh: false,
            c: AlignedVec::new(),
        }
    }

    /// `sign(z) max(|z| − U, 0)`, what the projection takes off the prediction `z`.
    fn excess(&self, z: f64) -> f64 {
        if self.fresh { 0.0 } else { z - z.clamp(-self.bound, self.bound) }
    }
}

impl LinearUpdate for NewtonStep {
    fn predict(&self, phi: &AlignedVec) -> f64 {
        let z = dot(self.w.lanes(), phi.lanes());
        z - self.excess(z)
    }

    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error> {
        let z = dot(self.w.lanes(), phi.lanes());
        let excess = self.excess(z);
        let prediction = z - excess;
        let g = finite(2.0 * (prediction - y))?;
        let mut s = finite(self.p.multiply(phi, &mut self.c))?;
        // The projection moves w along c by `excess/s`: in coordinates before growth, where s > 0 as z ≠ 0.
        let projection = if excess == 0.0 { 0.0 } else { finite(excess / s)? };
        s += growth.map_or(0.0, |new| new * new / self.prior);
        let weight = self.curvature * g * g;
        let denominator = 1.0 + weight * s;
        let (along, gain) = (finite(g / denominator)?, finite(weight / denominator)?);
        finite((along + projection).abs() * s)?;
        if let Some(new) = growth {
            // The projection belongs to the old coordinates: the new one is moved by the step alone.
            self.w.push(0.0);
            self.p.grow(1.0 / self.prior);
            axpy(-projection, self.c.lanes(), self.w.lanes_mut());
            self.c.push(new / self.prior);
            phi.push(new);
            axpy(-along, self.c.lanes(), self.w.lanes_mut());
        } else {
            axpy(-(along + projection), self.c.lanes(), self.w.lanes_mut());
        }
        self.p.subtract(gain, &self.c);
        self.fresh = false;
        Ok(prediction)
    }

    fn grow(&mut self) {
        self.w.push(0.0);
        self.p.grow(1.0 / self.prior);
        self.fresh = true;
    }

    fn restart(&mut self, n: usize) {
        self.w.resize(0);
        self.w.resize(n);
        self.p.restart(n, 1.0 / self.prior);
        self.fresh = true;
    }
}
