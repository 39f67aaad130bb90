//! A dictionary of points with orthonormal coordinates.
//!
//! For kept points `S` with Gram matrix `K_S = L Lᵀ`, the Newton basis `φ(x) = L⁻¹ k_S(x)` is
//! orthonormal on the span of `k(x_j, ·)`: `φ(x)ᵀφ(z)` is the inner product of the projections of
//! `k(x, ·)` and `k(z, ·)`. A learner whose regulariser is a multiple of the identity predicts the
//! same in every orthonormal basis, so this replaces the papers' `Σ^{−1/2} Uᵀ k_S(x)` exactly.
//! Keeping a point appends one row `[φ(x)ᵀ, √δ]` to `L`: old coordinates stay as they are and one
//! is added, which makes the papers' change of basis `Q_{j,j−1} = [I; 0]`.

use std::cell::RefCell;

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::{GrowingCholesky, Rotations, SOLVES_TOGETHER};

use crate::admission::coordinate_above;
use crate::basis::{Basis, Orthonormal};
use crate::probe::Probe;

/// Kept points, their kernel and the Cholesky factor of their Gram matrix.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NewtonBasis<K> {
    kernel: K,
    points: Points,
    factor: GrowingCholesky,
}

/// The same kernel and the same points in the same order; the factor follows from them.
impl<K: PartialEq> PartialEq for NewtonBasis<K> {
    fn eq(&self, other: &Self) -> bool {
        self.kernel == other.kernel && self.points == other.points
    }
}

impl<K: Validate> Validate for NewtonBasis<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.kernel.validate()?;
        self.points.validate()?;
        self.factor.validate()?;
        let fits = self.factor.dimension() == self.points.len();
        Inconsistent::require(fits, "dictionary", "its factor has a row for each point")
    }
}

impl<K: Kernel> NewtonBasis<K> {
    /// The empty dictionary for inputs of dimension `dimension`.
    pub fn new(kernel: K, dimension: usize) -> Self {
        Self { kernel, points: Points::new(dimension), factor: GrowingCholesky::new() }
    }

    /// Number of kept points `J`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// True if nothing is kept yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Input dimension `d`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.points.dimension()
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The kept points, oldest first.
    #[must_use]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// `L`, the Cholesky factor of the Gram matrix of the kept points.
    #[must_use]
    pub fn factor(&self) -> &GrowingCholesky {
        &self.factor
    }

    /// Kernel row, coordinates and residual of `x`: `Jd + ½J²` multiply-adds; allocates only when
    /// `probe` must grow.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    pub fn probe(&self, x: &[f64], probe: &mut Probe) {
        self.kernel.row(&self.points, x, &mut probe.row);
        self.factor.forward_solve(&probe.row, &mut probe.coordinates);
        probe.measure(self.kernel.self_value(x));
    }

    /// Probes [`SOLVES_TOGETHER`] inputs in one read of the factor, the same bits as one by one.
    ///
    /// # Panics
    /// If an input has not `d` coordinates.
    pub fn probe_together(&self, xs: [&[f64]; SOLVES_TOGETHER], probes: &mut [Probe; SOLVES_TOGETHER]) {
        for (x, probe) in xs.iter().zip(&mut *probes) {
            self.kernel.row(&self.points, x, &mut probe.row);
        }
        let [a, b, c, d] = probes;
        self.factor.forward_solve_together(
            [&a.row, &b.row, &c.row, &d.row],
            [&mut a.coordinates, &mut b.coordinates, &mut c.coordinates, &mut d.coordinates],
        );
        for (x, probe) in xs.iter().zip(probes) {
            probe.measure(self.kernel.self_value(x));
        }
    }

    /// Brings the probe of `x` up to date with the points kept since it was made, the same bits as
    /// a new probe: the kernel row and `J` multiply-adds for each of them.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    pub fn catch_up(&self, x: &[f64], probe: &mut Probe) {
        let known = probe.row.len();
        if known < self.len() {
            self.kernel.row(&self.points, x, &mut probe.row);
            self.factor.forward_solve_from(known, &probe.row, &mut probe.coordinates);
            probe.measure(probe.self_value);
        }
    }

    /// Keeps `x`, whose coordinates are `φ(x)` and, in the direction it adds,
    /// `new_coordinate = √δ`. `O(J + d)`.
    ///
    /// # Panics
    /// If `coordinates` has not `J` entries or `new_coordinate` is not positive.
    pub fn append(&mut self, x: &[f64], coordinates: &AlignedVec, new_coordinate: f64) {
        self.factor.append(coordinates, new_coordinate);
        self.points.push(x);
    }

    /// Takes point `index` out; the others keep their order. `rotations` then bring the coordinate
    /// that leaves the span last: the coordinates of an input in what is left are the rotated ones
    /// without their last. `O(J² + Jd)`.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn remove(&mut self, index: usize, rotations: &mut Rotations) {
        self.factor.remove(index, rotations);
        self.points.remove(index);
    }

    /// Inputs have `added` coordinates more, which are 0 in the kept points; no kernel value
    /// between them changes.
    pub fn grow(&mut self, added: usize) {
        self.points.grow(added);
    }

    /// The kernel coefficients `β = L⁻ᵀ w` of the function with coordinates `w`:
    /// `f = Σ β_j k(x_j, ·)`. `½J²`.
    ///
    /// # Panics
    /// If `w` has not `J` entries.
    pub fn coefficients(&self, w: &AlignedVec, coefficients: &mut AlignedVec) {
        self.factor.backward_solve(w, coefficients);
    }
}

impl<K: Kernel> Basis for NewtonBasis<K> {
    type Change = Rotations;

    fn len(&self) -> usize {
        self.points.len()
    }

    fn points(&self) -> &Points {
        &self.points
    }

    /// The squared norm of row `index` of the factor. `O(J)`.
    fn self_value(&self, index: usize) -> f64 {
        (0..=index).map(|j| self.factor.entry(index, j).powi(2)).sum()
    }

    fn probe(&self, x: &[f64], probe: &mut Probe) {
        self.probe(x, probe);
    }

    /// `√δ`, unless `δ` is zero to rounding.
    fn new_coordinate(&self, probe: &Probe) -> Option<f64> {
        coordinate_above(0.0, probe)
    }

    fn append(&mut self, x: &[f64], coordinates: &AlignedVec, new_coordinate: f64) {
        self.append(x, coordinates, new_coordinate);
    }

    fn remove(&mut self, index: usize, change: &mut Rotations) {
        self.remove(index, change);
    }

    fn grow(&mut self, added: usize) {
        self.grow(added);
    }
}

thread_local! {
    /// Memory of the coefficients of an input, kept because a decision may not allocate.
    static COEFFICIENTS: RefCell<AlignedVec> = RefCell::default();
}

impl<K: Kernel> Orthonormal for NewtonBasis<K> {
    fn rounding(&self, probe: &Probe) -> f64 {
        COEFFICIENTS.with_borrow_mut(|c| {
            self.coefficients(&probe.coordinates, c);
            let sum = 1.0 + c.iter().map(|c| c.abs()).sum::<f64>();
            f64::EPSILON * probe.self_value() * sum * sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_kernels::Gaussian;
    use mercer_simd::dot;

    #[test]
    fn coordinates_are_orthonormal_on_the_span() -> Result<(), Box<dyn std::error::Error>> {
        let kernel = Gaussian::new(0.7)?;
        let mut basis = NewtonBasis::new(kernel, 2);
        let mut probe = Probe::default();
        let points: Vec<[f64; 2]> = (0..12).map(|i| [f64::from(i) * 0.37, f64::from(i * i % 7) * 0.3]).collect();
        for x in &points {
            basis.probe(x, &mut probe);
            basis.append(x, probe.coordinates(), probe.residual().sqrt());
        }
        let (mut a, mut b) = (Probe::default(), Probe::default());
        for x in &points {
            basis.probe(x, &mut a);
            assert!(a.residual() < 1e-12);
            for z in &points {
                basis.probe(z, &mut b);
                let product = dot(a.coordinates().lanes(), b.coordinates().lanes());
                assert!((product - kernel.evaluate(x, z)).abs() < 1e-12);
            }
        }
        // f = Σ β_j k(x_j, ·) has the values wᵀφ(x).
        let w: AlignedVec = (0..12).map(|i| f64::from(i).sin()).collect();
        let mut coefficients = AlignedVec::new();
        basis.coefficients(&w, &mut coefficients);
        basis.probe(&[0.5, 0.5], &mut a);
        let direct = dot(coefficients.lanes(), a.row().lanes());
        assert!((direct - dot(w.lanes(), a.coordinates().lanes())).abs() < 1e-10);
        Ok(())
    }
}
