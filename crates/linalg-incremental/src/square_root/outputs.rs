//! The rows `c_j` of coefficients beside the factor.

use mercer_simd::{LANES, Lane, Simd};

/// As many outputs as are handled together: half a lane, since most systems have no more, and what
/// a pass reads and writes is what it costs. Files hold eight (see `stored`).
pub(super) type Outputs = [f64; OUTPUTS];
pub(super) const OUTPUTS: usize = 4;

/// Number of [`Outputs`] that hold `m` outputs.
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
