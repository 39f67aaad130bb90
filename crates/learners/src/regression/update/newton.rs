//! The online Newton step (\[A\] eqs. 7–8 and Theorem 4.9; Hazan et al. 2007, Luo et al. 2016).
//!
//! `A_t = A_{t−1} + η g² φφᵀ`, `w ← w − A_t⁻¹ g φ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U` in the norm of `A_t`, which
//! is made when `x_{t+1}` arrives: `w ← w − sign(z) max(|z| − U, 0) A⁻¹φ/(φᵀA⁻¹φ)`. Both need the one product
//! `c = A⁻¹φ`, so a round reads and writes `P = A⁻¹` once: `1½n²` multiply-adds.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{BlockRecursion, SymmetricInverse};
use mercer_simd::{axpy, dot};

use crate::Error;
use crate::regression::update::{LinearUpdate, Round, SHORTEST_BLOCK, finite, learn_rounds};

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
    #[cfg_attr(feature = "serde", serde(skip))]
    block: BlockRecursion,
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
            block: BlockRecursion::default(),
        }
    }

    /// `sign(z) max(|z| − U, 0)`, what the projection takes off the prediction `z`.
    fn excess(&self, z: f64) -> f64 {
        if self.fresh { 0.0 } else { z - z.clamp(-self.bound, self.bound) }
    }

    /// The step of a round and, apart, how far the projection before it moves `w` along `c`; `s = φᵀA⁻¹φ` in the
    /// coordinates before growth, `grown` what the new one adds to it.
    fn round(&self, z: f64, s: f64, grown: f64, y: f64) -> Result<(Round, f64), Error> {
        let excess = self.excess(z);
        let prediction = z - excess;
        let g = finite(2.0 * (prediction - y))?;
        // In coordinates before growth, where s > 0 as z ≠ 0.
        let projection = if excess == 0.0 { 0.0 } else { -finite(excess / s)? };
        let s = finite(s)? + grown;
        let weight = self.curvature * g * g;
        let denominator = 1.0 + weight * s;
        let (along, gain) = (-finite(g / denominator)?, finite(weight / denominator)?);
        finite((along + projection).abs() * s)?;
        Ok((Round { prediction, gain, along }, projection))
    }
}

impl Validate for NewtonStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.w.validate()?;
        self.p.validate()?;
        Inconsistent::positive(self.prior, "prior of the Newton step")?;
        Inconsistent::positive(self.curvature, "curvature of the Newton step")?;
        Inconsistent::positive(self.bound, "bound on predictions")?;
        let fits = self.p.dimension() == self.w.len();
        Inconsistent::require(fits, "Newton step", "its matrix has a row for each coefficient")
    }
}

impl LinearUpdate for NewtonStep {
    fn coordinates(&self) -> usize {
        self.w.len()
    }

    fn predict(&self, phi: &AlignedVec) -> f64 {
        let z = dot(self.w.lanes(), phi.lanes());
        z - self.excess(z)
    }

    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error> {
        let z = dot(self.w.lanes(), phi.lanes());
        let s = self.p.multiply(phi, &mut self.c);
        let grown = growth.map_or(0.0, |new| new * new / self.prior);
        let (Round { prediction, gain, along }, projection) = self.round(z, s, grown, y)?;
        if let Some(new) = growth {
            // The projection belongs to the old coordinates: the new one is moved by the step alone.
            self.w.push(0.0);
            self.p.grow(1.0 / self.prior);
            axpy(projection, self.c.lanes(), self.w.lanes_mut());
            self.c.push(new / self.prior);
            phi.push(new);
            axpy(along, self.c.lanes(), self.w.lanes_mut());
        } else {
            axpy(along + projection, self.c.lanes(), self.w.lanes_mut());
        }
        self.p.subtract(gain, &self.c);
        self.fresh = false;
        Ok(prediction)
    }

    fn block_size(&self) -> usize {
        BlockRecursion::suitable(self.w.len())
    }

    fn learn_block(&mut self, phis: &mut [AlignedVec], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        // The round after a change of coordinates is not projected, and is the only one of its kind.
        let alone = if self.block_size() == 1 || phis.len() < SHORTEST_BLOCK { phis.len() } else { self.fresh.into() };
        let (first, rest) = phis.split_at_mut(alone);
        for (phi, y) in first.iter_mut().zip(ys) {
            predictions.push(self.step(phi, None, *y)?);
        }
        if rest.is_empty() {
            return Ok(());
        }
        let mut block = std::mem::take(&mut self.block);
        let (mut p, mut w) = (std::mem::take(&mut self.p), std::mem::take(&mut self.w));
        let learnt = learn_rounds(&mut block, &mut p, &mut w, (rest, &ys[first.len()..]), predictions, |z, s, y| {
            let (round, projection) = self.round(z, s, 0.0, y)?;
            Ok(Round { along: round.along + projection, ..round })
        });
        (self.block, self.p, self.w) = (block, p, w);
        learnt
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
