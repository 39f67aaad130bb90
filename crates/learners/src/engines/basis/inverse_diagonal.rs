//! The diagonal of the inverse of a matrix whose Cholesky factor gains and loses rows.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::GrowingCholesky;
use mercer_simd::{axpy, dot};

/// An entry that loses more than this share of itself when a row leaves is computed anew, because
/// the difference would keep too few digits.
const LARGEST_LOSS: f64 = 0.5;

/// `diag(A⁻¹)` for `A = L Lᵀ`.
///
/// `½n²` multiply-adds when a row joins and at most `n²` when one leaves, with up to `n²` more for
/// each entry that loses more than half of itself.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub(crate) struct InverseDiagonal {
    values: Vec<f64>,
    /// A column of `L⁻¹`, another one, and a column of `A⁻¹`.
    #[cfg_attr(feature = "serde", serde(skip))]
    work: [AlignedVec; 3],
}

impl InverseDiagonal {
    /// That of the matrix with this factor. `n³/6`.
    pub(crate) fn from_factor(factor: &GrowingCholesky) -> Self {
        let mut diagonal = Self::default();
        let column = &mut diagonal.work[0];
        for index in 0..factor.dimension() {
            factor.unit_solve(index, column);
            diagonal.values.push(dot(column.lanes(), column.lanes()));
        }
        diagonal
    }

    /// The entries.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The factor is about to gain the row `[φ; p]`: `A⁻¹ ← [A⁻¹ 0; 0 0] + [a; −1][a; −1]ᵀ/p²`,
    /// `a = L⁻ᵀφ`.
    pub(crate) fn joins(&mut self, factor: &GrowingCholesky, phi: &AlignedVec, pivot: f64) {
        let a = &mut self.work[2];
        factor.backward_solve(phi, a);
        for (value, a) in self.values.iter_mut().zip(a.iter()) {
            *value = in_range(*value + (a / pivot).powi(2));
        }
        self.values.push(in_range(pivot.powi(-2)));
    }

    /// Row `i = index` is about to leave the factor: `A⁻¹ ← A⁻¹ − ccᵀ/c_i` without row and column
    /// `i`, `c` being column `i`. With `z_j = L⁻¹e_j` an entry is `‖z_j‖²`, and what is left of it
    /// the squared length of `z_j` without its part along `z_i`.
    pub(crate) fn leaves(&mut self, factor: &GrowingCholesky, index: usize) {
        let [own, other, c] = &mut self.work;
        factor.unit_solve(index, own);
        factor.backward_solve(own, c);
        let squared = c[index];
        for (j, (value, c)) in self.values.iter_mut().zip(c.iter()).enumerate() {
            let loss = c * c / squared;
            if loss <= LARGEST_LOSS * *value {
                *value -= loss;
            } else if j != index {
                factor.unit_solve(j, other);
                let along = dot(own.lanes(), other.lanes()) / dot(own.lanes(), own.lanes());
                axpy(-along, own.lanes(), other.lanes_mut());
                *value = in_range(dot(other.lanes(), other.lanes()));
            }
        }
        self.values.remove(index);
    }
}

/// In exact arithmetic an entry is at least `1/A_jj` and finite; rounding in a matrix that is all
/// but singular must not take it from there.
fn in_range(value: f64) -> f64 {
    if value > f64::MIN_POSITIVE { value.min(f64::MAX) } else { f64::MIN_POSITIVE }
}

impl Validate for InverseDiagonal {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.values.iter().try_for_each(|value| Inconsistent::positive(*value, "diagonal of an inverse Gram matrix"))
    }
}
