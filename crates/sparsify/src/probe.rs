//! Probes: the values that a basis gives for an input.

use mercer_kernels::AlignedVec;
use mercer_simd::dot;

/// Values that a dictionary gives for an input; also the memory this takes, reused from call to
/// call.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    pub(crate) row: AlignedVec,
    pub(crate) coordinates: AlignedVec,
    pub(crate) self_value: f64,
    pub(crate) residual: f64,
}

impl Probe {
    /// `k_S(x)`, the kernel values with the kept points.
    #[must_use]
    pub fn row(&self) -> &AlignedVec {
        &self.row
    }

    /// Coordinates of `x` in the basis: orthonormal ones of the projection of `k(x, ·)`,
    /// `φ(x) = L⁻¹ k_S(x)`, in a [`NewtonBasis`](crate::NewtonBasis), and `k_S(x)` again in a
    /// [`KernelBasis`](crate::KernelBasis).
    #[must_use]
    pub fn coordinates(&self) -> &AlignedVec {
        &self.coordinates
    }

    /// The coordinates, for a learner that appends one.
    pub fn coordinates_mut(&mut self) -> &mut AlignedVec {
        &mut self.coordinates
    }

    /// `k(x, x)`
    #[must_use]
    pub fn self_value(&self) -> f64 {
        self.self_value
    }

    /// `δ = max(0, k(x,x) − ‖φ(x)‖²)`, the squared distance of `k(x, ·)` to the span. A
    /// [`KernelBasis`](crate::KernelBasis) does not know it and gives the upper bound `k(x, x)`.
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Number of kept points when the probe was made.
    #[must_use]
    pub fn dictionary_size(&self) -> usize {
        self.row.len()
    }

    /// Takes in `k(x, x)`, the orthonormal coordinates being known.
    pub(crate) fn measure(&mut self, self_value: f64) {
        self.self_value = self_value;
        let residual = self_value - dot(self.coordinates.lanes(), self.coordinates.lanes());
        // Below zero by rounding; minus infinity is an overflow and stays one.
        self.residual = if residual < 0.0 && residual.is_finite() { 0.0 } else { residual };
    }

    /// True if every number in it is finite (a polynomial kernel of huge inputs overflows).
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.self_value.is_finite() && self.residual.is_finite()
    }
}
