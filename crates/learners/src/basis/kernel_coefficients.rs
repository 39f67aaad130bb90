//! The kernel coefficients of what was learnt in orthonormal coordinates.
//!
//! With `K_S = L Lᵀ`, the function `wᵀφ(x) = wᵀL⁻¹k_S(x)` is `αᵀk_S(x)` for `α = L⁻ᵀw`: `J`
//! multiply-adds where the coordinates take `½J²`. Rounding moves either form by about `ε‖α‖₁` at
//! most, which is what the last bits of the kernel values do, however ill-conditioned `L` is.

use std::sync::{Mutex, OnceLock, PoisonError};

use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::GrowingCholesky;

/// `α = L⁻ᵀw` of each function, made when first asked for after a change. No part of the state.
#[derive(Debug, Default)]
pub(crate) struct KernelCoefficients {
    made: OnceLock<Made>,
    /// Memory of those from before the last change.
    spare: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    alphas: Vec<AlignedVec>,
    finite: bool,
}

impl Made {
    fn fill<'w>(&mut self, factor: &GrowingCholesky, functions: impl Iterator<Item = &'w AlignedVec>) {
        let mut count = 0;
        self.finite = true;
        for w in functions {
            if count == self.alphas.len() {
                self.alphas.push(AlignedVec::new());
            }
            let alpha = &mut self.alphas[count];
            factor.backward_solve(w, alpha);
            self.finite &= alpha.iter().all(|value| value.is_finite());
            count += 1;
        }
        self.alphas.truncate(count);
    }
}

impl KernelCoefficients {
    /// The learner changes: they are made anew when they are asked for.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if let Some(made) = self.made.take() {
            *self.spare.get_mut().unwrap_or_else(PoisonError::into_inner) = made;
        }
    }

    /// Those of these functions, in the range of numbers; `None` where one leaves it and only the
    /// coordinates give predictions. `½J²` for each function after a change.
    pub(crate) fn get<'w>(
        &self,
        factor: &GrowingCholesky,
        functions: impl Iterator<Item = &'w AlignedVec>,
    ) -> Option<&[AlignedVec]> {
        let made = self.made.get_or_init(|| {
            let mut made = std::mem::take(&mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner));
            made.fill(factor, functions);
            made
        });
        made.finite.then_some(&made.alphas)
    }
}

/// A copy makes its own.
impl Clone for KernelCoefficients {
    fn clone(&self) -> Self {
        Self::default()
    }
}
