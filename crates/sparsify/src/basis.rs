//! Bases that points join and leave.
//!
//! A basis of kept points `d_1, …, d_J` turns an input into `J` coordinates. There are two:
//! [`NewtonBasis`](crate::NewtonBasis), whose coordinates `L⁻¹k_S(x)` are
//! [orthonormal](Orthonormal) on the span, and [`KernelBasis`](crate::KernelBasis), whose
//! coordinates are the kernel values `k_S(x)` themselves. The first costs `½J²` more an input; in
//! the second a learner moves the coefficients of `f = Σ α_i k(d_i, ·)` directly.

use mercer_kernels::{AlignedVec, Points};
use mercer_linalg_incremental::Rotations;

use crate::probe::Probe;

/// Kept points and the coordinates that they give an input.
pub trait Basis: Send + Sync {
    /// Change of the coordinates when a point leaves, beyond the loss of one.
    type Change: Clone + Default + Send + Sync;

    /// Number of kept points `J`, which is the number of coordinates.
    fn len(&self) -> usize;

    /// True if nothing is kept yet.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Input dimension `d`.
    fn dimension(&self) -> usize {
        self.points().dimension()
    }

    /// The kept points, oldest first.
    fn points(&self) -> &Points;

    /// `k(d_i, d_i)` of point `i = index`.
    ///
    /// # Panics
    /// If there is no such point.
    fn self_value(&self, index: usize) -> f64;

    /// Kernel row, coordinates and self value of `x`; allocates only when `probe` must grow.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    fn probe(&self, x: &[f64], probe: &mut Probe);

    /// The coordinate that the probed input adds if it is kept, `None` when it cannot be.
    fn new_coordinate(&self, probe: &Probe) -> Option<f64>;

    /// Keeps `x`, whose coordinates in the basis so far are `coordinates` and whose own is
    /// `new_coordinate`. `O(J + d)`.
    ///
    /// # Panics
    /// If `coordinates` has not `J` entries, or `new_coordinate` is not positive where it matters.
    fn append(&mut self, x: &[f64], coordinates: &AlignedVec, new_coordinate: f64);

    /// Takes point `index` out; the others keep their order, and `change` says what becomes of the
    /// coordinates.
    ///
    /// # Panics
    /// If there is no such point.
    fn remove(&mut self, index: usize, change: &mut Self::Change);

    /// Inputs have `added` coordinates more, which are 0 in the kept points; no kernel value
    /// between them changes.
    fn grow(&mut self, added: usize);
}

/// A basis with orthonormal coordinates: the inner product of two functions of the span is that of
/// their coefficients.
///
/// Updates with a regulariser `λ‖w‖²` need it, for `‖w‖` is the norm of the function in such
/// coordinates only; then all orthonormal bases of the span give the same predictions. When a point
/// leaves, rotations bring the coordinate that leaves the span last.
pub trait Orthonormal: Basis<Change = Rotations> {
    /// Largest error that rounding may have put into the residual `δ` of a probed input: `ε k(x, x)
    /// (1 + ‖c‖₁)²`. Here `c = K_S⁻¹ k_S(x)` holds the kernel coefficients of its projection and
    /// `ε` is the machine precision. `½J²`.
    ///
    /// The factor is that of a Gram matrix whose entries are known to `ε`, and `δ` is the quadratic
    /// form of `[1, −c]` in it. A point kept with a smaller `δ` gives the span a direction that
    /// only rounding knows, and the coordinates after it grow without bound.
    fn rounding(&self, probe: &Probe) -> f64;
}
