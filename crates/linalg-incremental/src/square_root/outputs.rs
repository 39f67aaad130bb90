//! The rows `c_j` of coefficients beside the factor.

use mercer_simd::{LANES, Lane, Simd};

use super::rotations::Turn;

/// As many outputs as are handled together: half a lane, since most systems have no more, and what a pass reads and writes is what it costs.
/// Files hold eight (see `stored`).
pub(super) type Outputs = [f64; OUTPUTS];
pub(super) const OUTPUTS: usize = 4;

/// How many [`Outputs`] hold `m` of them.
pub(super) const fn groups(m: usize) -> usize {
    m.div_ceil(OUTPUTS)
}

/// `(group, place)` of an output.
pub(super) const fn split_output(output: usize) -> (usize, usize) {
    (output / OUTPUTS, output % OUTPUTS)
}

/// Eight rows of four outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Coefficients(pub(super) [Outputs; LANES]);

impl Coefficients {
    pub(super) const ZERO: Self = Self([[0.0; OUTPUTS]; LANES]);

    /// `s ← s + p_j c_j`, `ρ ← ρ − p_j c_j`, `c_j ← c_j + β_j ρ` for eight rows; if `STEEP`, in the form that does not cancel (`keep` is
    /// `τ_{j−1}/τ_j`). The prediction `s` is summed apart from what is left of the outputs, `ρ`: their rounding must not reach it.
    #[inline(always)]
    pub(super) fn rotate<S: Simd, const STEEP: bool>(
        &mut self,
        simd: S,
        turn: &Turn,
        keep: &Lane,
        residual: &mut Outputs,
        sum: &mut Outputs,
    ) {
        let (mut rho, mut s) = (simd.load_half(residual), simd.load_half(sum));
        for j in 0..LANES {
            let (p, beta) = (simd.splat_half(turn.p.0[j]), simd.splat_half(turn.beta.0[j]));
            let (old, before) = (simd.load_half(&self.0[j]), rho);
            s = simd.mul_add_half(p, old, s);
            rho = simd.negate_mul_add_half(p, old, before);
            let rotated = if STEEP {
                simd.mul_add_half(beta, before, simd.mul_half(simd.splat_half(keep.0[j]), old))
            } else {
                simd.mul_add_half(beta, rho, old)
            };
            simd.store_half(rotated, &mut self.0[j]);
        }
        simd.store_half(rho, residual);
        simd.store_half(s, sum);
    }

    /// `sum ← sum + Σ_{k < rows} p_k c_k`
    #[inline(always)]
    pub(super) fn add_rows<S: Simd>(&self, simd: S, p: &Lane, rows: usize, sum: &mut Outputs) {
        let mut s = simd.load_half(sum);
        for j in 0..rows {
            s = simd.mul_add_half(simd.splat_half(p.0[j]), simd.load_half(&self.0[j]), s);
        }
        simd.store_half(s, sum);
    }
}
