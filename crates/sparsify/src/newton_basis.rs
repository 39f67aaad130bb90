//! A dictionary of points with orthonormal coordinates.
//!
//! For kept points `S` with Gram matrix `K_S = L Lᵀ`, the Newton basis `φ(x) = L⁻¹ k_S(x)` is orthonormal on the span of
//! `k(x_j, ·)`: `φ(x)ᵀφ(z)` is the inner product of the projections of `k(x, ·)` and `k(z, ·)`. A learner whose
//! regulariser is a multiple of the identity predicts the same in every orthonormal basis, so this replaces the papers'
//! `Σ^{−1/2} Uᵀ k_S(x)` exactly. Keeping a point appends one row `[φ(x)ᵀ, √δ]` to `L`: old coordinates stay as they are and
//! one is added, which makes the papers' change of basis `Q_{j,j−1} = [I; 0]`.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::{GrowingCholesky, TOGETHER};
use mercer_simd::dot;

/// What a dictionary says about an input; also the memory this takes, reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    row: AlignedVec,
    coordinates: AlignedVec,
    self_value: f64,
    residual: f64,
}

impl Probe {
    /// `k_S(x)`, the kernel values with the kept points.
    #[must_use]
    pub fn row(&self) -> &AlignedVec {
        &self.row
    }

    /// `φ(x) = L⁻¹ k_S(x)`, orthonormal coordinates of the projection of `k(x, ·)`.
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

    /// `δ = max(0, k(x,x) − ‖φ(x)‖²)`, the squared distance of `k(x, ·)` to the span.
    #[must_use]
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Number of kept points when the probe was made.
    #[must_use]
    pub fn dictionary_size(&self) -> usize {
        self.row.len()
    }

    /// Takes in `k(x, x)`, the coordinates being known.
    fn measure(&mut self, self_value: f64) {
        self.self_value = self_value;
        let residual = self_value - dot(self.coordinates.lanes(), self.coordinates.lanes());
        self.residual = if residual < 0.0 { 0.0 } else { residual };
    }

    /// Whether every number in it is finite (a polynomial kernel of huge inputs overflows).
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.self_value.is_finite() && self.residual.is_finite()
    }
}

/// Kept points, their kernel and the Cholesky factor of their Gram matrix.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NewtonBasis<K> {
    kernel: K,
    points: Points,
    factor: GrowingCholesky,
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

    /// Whether nothing is kept yet.
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

    /// Kernel row, coordinates and residual of `x`: `Jd + ½J²` multiply-adds; allocates only when `probe` must grow.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    pub fn probe(&self, x: &[f64], probe: &mut Probe) {
        self.kernel.row(&self.points, x, &mut probe.row);
        self.factor.forward_solve(&probe.row, &mut probe.coordinates);
        probe.measure(self.kernel.self_value(x));
    }

    /// Probes [`TOGETHER`] inputs in one read of the factor, the same bits as one by one.
    ///
    /// # Panics
    /// If an input has not `d` coordinates.
    pub fn probe_together(&self, xs: [&[f64]; TOGETHER], probes: &mut [Probe; TOGETHER]) {
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

    /// Brings the probe of `x` up to date with the points kept since it was made, the same bits as a new probe: the kernel
    /// row and `J` multiply-adds for each of them.
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

    /// Keeps `x`, whose coordinates are `φ(x)` and, in the direction it adds, `new_coordinate = √δ`. `O(J + d)`.
    ///
    /// # Panics
    /// If `coordinates` has not `J` entries or `new_coordinate` is not positive.
    pub fn append(&mut self, x: &[f64], coordinates: &AlignedVec, new_coordinate: f64) {
        self.factor.append(coordinates, new_coordinate);
        self.points.push(x);
    }

    /// The kernel coefficients `β = L⁻ᵀ w` of the function with coordinates `w`: `f = Σ β_j k(x_j, ·)`. `½J²`.
    ///
    /// # Panics
    /// If `w` has not `J` entries.
    pub fn coefficients(&self, w: &AlignedVec, coefficients: &mut AlignedVec) {
        self.factor.backward_solve(w, coefficients);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_kernels::Gaussian;

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
