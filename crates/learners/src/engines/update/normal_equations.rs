//! Normal equations: sums of rounds whose predictions nobody asks for.

use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::SymmetricMatrix;
use mercer_simd::axpy;

use crate::example::Target;

/// `A W = B` with `A = λI + Σ ω φφᵀ` and `B = Σ ω φyᵀ`.
#[derive(Clone, Debug)]
pub struct NormalEquations {
    pub(crate) a: SymmetricMatrix,
    pub(crate) b: Vec<AlignedVec>,
}

impl NormalEquations {
    /// Adds a round. `½n²` multiply-adds.
    pub fn add(&mut self, phi: &AlignedVec, target: Target<'_>) {
        if target.weight == 0.0 {
            return;
        }
        self.a.subtract(-target.weight, phi);
        for (b, y) in self.b.iter_mut().zip(target.y) {
            axpy(target.weight * y, phi.lanes(), b.lanes_mut());
        }
    }
}
