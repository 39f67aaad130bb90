//! The kernel coefficients of what was learnt in orthonormal coordinates.
//!
//! With `K_S = L Lᵀ`, the function `wᵀφ(x) = wᵀL⁻¹k_S(x)` is `αᵀk_S(x)` for `α = L⁻ᵀw`: `J`
//! multiply-adds where the coordinates take `½J²`.
//!
//! Rounding moves such a value by at most a few `ε Σ|αᵢ| √(kᵢᵢ k(x,x))`, which grows with the
//! condition of `L`; `|f(x)| ≤ ‖w‖ √k(x,x)` is the scale of what is predicted. The coefficients are
//! used where the first is below [`ROUNDING`] of the second. Elsewhere the coordinates predict.

use std::sync::{Mutex, OnceLock, PoisonError};

use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::GrowingCholesky;
use mercer_simd::dot;

/// Largest part of the scale of predictions that rounding may move them by.
const ROUNDING: f64 = 1e-12;

/// `α = L⁻ᵀw` of each function, made when first asked for after a change. No part of the state.
#[derive(Debug, Default)]
pub(crate) struct KernelCoefficients {
    made: OnceLock<CoefficientCache>,
    /// Memory of those from before the last change.
    spare: Mutex<CoefficientCache>,
}

#[derive(Debug, Default)]
struct CoefficientCache {
    alphas: Vec<AlignedVec>,
    exact: bool,
    /// `√kᵢᵢ` of each point that was there before the last change, and memory of a point.
    roots: Vec<f64>,
    point: Vec<f64>,
}

impl CoefficientCache {
    fn fill<'w>(
        &mut self,
        factor: &GrowingCholesky,
        (kernel, points): (&impl Kernel, &Points),
        functions: impl Iterator<Item = &'w AlignedVec>,
    ) {
        self.point.resize(points.dimension(), 0.0);
        for index in self.roots.len()..points.len() {
            points.copy_point(index, &mut self.point);
            self.roots.push(kernel.self_value(&self.point).sqrt());
        }
        let mut count = 0;
        self.exact = true;
        for w in functions {
            if count == self.alphas.len() {
                self.alphas.push(AlignedVec::new());
            }
            let alpha = &mut self.alphas[count];
            factor.backward_solve(w, alpha);
            let sum: f64 = alpha.iter().zip(&self.roots).map(|(a, root)| a.abs() * root).sum();
            let norm = dot(w.lanes(), w.lanes()).sqrt();
            self.exact &= sum.is_finite() && 4.0 * f64::EPSILON * sum <= ROUNDING * norm;
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

    /// A point leaves: nothing is kept of those behind it. One that joins needs no more than
    /// [`clear`](Self::clear).
    pub(crate) fn clear_points(&mut self) {
        self.clear();
        self.spare.get_mut().unwrap_or_else(PoisonError::into_inner).roots.clear();
    }

    /// Coefficients of these functions on these points. `None` where rounding counts or a
    /// coefficient leaves the range of numbers, and the coordinates have to predict. `½J²` a
    /// function after a change, and `d` for each point that has joined.
    pub(crate) fn get<'w>(
        &self,
        factor: &GrowingCholesky,
        dictionary: (&impl Kernel, &Points),
        functions: impl Iterator<Item = &'w AlignedVec>,
    ) -> Option<&[AlignedVec]> {
        let made = self.made.get_or_init(|| {
            let mut made = std::mem::take(&mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner));
            made.fill(factor, dictionary, functions);
            made
        });
        made.exact.then_some(&made.alphas)
    }
}

/// A copy makes its own.
impl Clone for KernelCoefficients {
    fn clone(&self) -> Self {
        Self::default()
    }
}
