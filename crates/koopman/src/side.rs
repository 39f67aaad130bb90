//! One side of an operator: a dictionary, and the frame in which the operator's matrix is written.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::{Matrix, SOLVES_TOGETHER};
use mercer_sparsify::{NewtonBasis, Probe};

/// A dictionary with the frame of its span: the functions that the rows (or columns) of the
/// operator's matrix belong to.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Side<K> {
    /// The orthonormal Newton basis, `f = Σ (L⁻ᵀw)_j k(x_j, ·)`.
    Newton(NewtonBasis<K>),
    /// The kernel functions themselves, `f = Σ w_j k(x_j, ·)`; the points may be dependent.
    Kernels {
        /// The kernel.
        kernel: K,
        /// The points.
        points: Points,
    },
}

impl<K: Validate> Validate for Side<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Newton(basis) => basis.validate(),
            Self::Kernels { kernel, points } => {
                kernel.validate()?;
                points.validate()
            }
        }
    }
}

impl<K: Kernel> Side<K> {
    pub(crate) fn kernel(&self) -> &K {
        match self {
            Self::Newton(basis) => basis.kernel(),
            Self::Kernels { kernel, .. } => kernel,
        }
    }

    pub(crate) fn points(&self) -> &Points {
        match self {
            Self::Newton(basis) => basis.points(),
            Self::Kernels { points, .. } => points,
        }
    }

    pub(crate) fn is_orthonormal(&self) -> bool {
        matches!(self, Self::Newton(_))
    }

    /// The coordinates of `k(x, ·)`, and its residual if the frame is orthonormal.
    pub(crate) fn probe(&self, x: &[f64], probe: &mut Probe) {
        match self {
            Self::Newton(basis) => basis.probe(x, probe),
            Self::Kernels { kernel, points } => kernel.row(points, x, probe.coordinates_mut()),
        }
    }

    /// As [`probe`](Self::probe), for [`SOLVES_TOGETHER`] inputs.
    pub(crate) fn probe_together(&self, xs: [&[f64]; SOLVES_TOGETHER], probes: &mut [Probe; SOLVES_TOGETHER]) {
        match self {
            Self::Newton(basis) => basis.probe_together(xs, probes),
            Self::Kernels { .. } => xs.iter().zip(probes).for_each(|(x, probe)| self.probe(x, probe)),
        }
    }

    /// Brings a probe up to date with the points appended since it was made.
    pub(crate) fn catch_up(&self, x: &[f64], probe: &mut Probe) {
        match self {
            Self::Newton(basis) => basis.catch_up(x, probe),
            Self::Kernels { .. } => self.probe(x, probe),
        }
    }

    /// Keeps `x`, which has the given coordinates and `new_coordinate` in the direction that it
    /// adds.
    pub(crate) fn append(&mut self, x: &[f64], coordinates: &AlignedVec, new_coordinate: f64) {
        match self {
            Self::Newton(basis) => basis.append(x, coordinates, new_coordinate),
            Self::Kernels { points, .. } => points.push(x),
        }
    }

    /// The frame's inner products with a function of the given values at the points: `L⁻¹ values`.
    pub(crate) fn analyse(&self, values: &AlignedVec) -> AlignedVec {
        match self {
            Self::Newton(basis) => {
                let mut solution = AlignedVec::new();
                basis.factor().forward_solve(values, &mut solution);
                solution
            }
            Self::Kernels { .. } => values.clone(),
        }
    }

    /// The kernel coefficients of the function with coordinates `w`: `L⁻ᵀ w`.
    pub(crate) fn synthesise(&self, w: &AlignedVec) -> AlignedVec {
        match self {
            Self::Newton(basis) => {
                let mut coefficients = AlignedVec::new();
                basis.coefficients(w, &mut coefficients);
                coefficients
            }
            Self::Kernels { .. } => w.clone(),
        }
    }

    /// [`analyse`](Self::analyse) on every column. `½m²` multiply-adds a column, one read of the
    /// factor for four of them.
    fn analyse_columns(&self, matrix: &mut Matrix) {
        let Self::Newton(basis) = self else { return };
        let (mut right, mut solved): ([AlignedVec; SOLVES_TOGETHER], [AlignedVec; SOLVES_TOGETHER]) =
            Default::default();
        for first in (0..matrix.columns()).step_by(SOLVES_TOGETHER) {
            let group = SOLVES_TOGETHER.min(matrix.columns() - first);
            for (k, right) in right.iter_mut().enumerate() {
                // What is left of a group at the end is filled up with its last column.
                *right = AlignedVec::from_slice(matrix.column(first + k.min(group - 1)));
            }
            basis.factor().forward_solve_together(right.each_ref(), solved.each_mut());
            for (k, solved) in solved[..group].iter().enumerate() {
                matrix.column_mut(first + k).copy_from_slice(solved);
            }
        }
    }

    /// [`synthesise`](Self::synthesise) on every column.
    pub(crate) fn synthesise_columns(&self, matrix: &mut Matrix) {
        if self.is_orthonormal() {
            for j in 0..matrix.columns() {
                let coefficients = self.synthesise(&AlignedVec::from_slice(matrix.column(j)));
                matrix.column_mut(j).copy_from_slice(&coefficients);
            }
        }
    }

    /// The inner products `⟨e_i, f_j⟩` of this frame's functions with the other's, by the kernel
    /// `kernel`: `L⁻¹ G L'⁻ᵀ` for `G_ij = k(x_i, x'_j)`. `O(m²d + m³)`.
    pub(crate) fn cross<M: Kernel>(&self, kernel: &impl Kernel, other: &Side<M>) -> Matrix {
        let (mut row, mut point) = (AlignedVec::new(), vec![0.0; other.points().dimension()]);
        let mut cross = Matrix::zeros(self.points().len(), other.points().len());
        for j in 0..other.points().len() {
            other.points().copy_point(j, &mut point);
            kernel.row(self.points(), &point, &mut row);
            cross.column_mut(j).copy_from_slice(&row);
        }
        self.analyse_columns(&mut cross);
        if !other.is_orthonormal() {
            return cross;
        }
        let mut transposed = cross.transposed();
        other.analyse_columns(&mut transposed);
        transposed.transposed()
    }
}
