//! An operator between two reproducing kernel Hilbert spaces, spanned by two dictionaries.
//!
//! `U = Σ W_ij k_Y(y_i, ·) ⊗ k_X(x_j, ·)` maps `k_X(x, ·)` to `Σ α_i k_Y(y_i, ·)` with
//! `α = W k_X(x)`: the conditional mean embedding of the successor of `x`. Its adjoint is the
//! Koopman operator, `(Kg)(x) = Σ α_i g(y_i) = g(Y)ᵀ W k_X(x)`; an observable `g` enters by its
//! values at the output points alone.
//!
//! What is stored is `A` in `W = L_Y⁻ᵀ A L_X⁻¹`, where `L_X` and `L_Y` are the Cholesky factors of
//! the Gram matrices of a learnt operator, and `I` for one given by its weights. `W` may have
//! entries of 1e6 where `A` stays below 1, so everything is read off `A` and triangular solves;
//! `‖U‖_HS = ‖A‖_F` in orthonormal coordinates.

use mercer_core::{ExampleError, Inconsistent, Validate, check_input};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::{Matrix, StateMatrix};
use mercer_simd::dot;
use mercer_sparsify::{NewtonBasis, Probe};

use crate::Error;
use crate::side::Side;

/// `U = Σ W_ij k_Y(y_i, ·) ⊗ k_X(x_j, ·)`, a conditional-mean operator; its adjoint is a Koopman
/// operator.
///
/// # Invariants
/// `core` has a row for each output point and a column for each input point, in the frames of the
/// two sides.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelOperator<K, L = K> {
    pub(crate) input: Side<K>,
    pub(crate) output: Side<L>,
    pub(crate) core: StateMatrix,
}

impl<K: Kernel + Validate, L: Kernel + Validate> Validate for KernelOperator<K, L> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.input.validate()?;
        self.output.validate()?;
        self.core.validate()?;
        let fits = (self.core.rows(), self.core.columns()) == (self.outputs().len(), self.inputs().len());
        Inconsistent::require(
            fits,
            "operator",
            "its matrix has a row for each output point and a column for each input",
        )
    }
}

impl<K: Kernel, L: Kernel> KernelOperator<K, L> {
    /// The operator with given weights: row-major, a row for each output point and a column for
    /// each input point.
    ///
    /// # Errors
    /// When `weights` has not `outputs.len() × inputs.len()` finite entries.
    pub fn from_weights(
        input_kernel: K,
        inputs: Points,
        output_kernel: L,
        outputs: Points,
        weights: &[f64],
    ) -> Result<Self, Error> {
        let (rows, columns) = (outputs.len(), inputs.len());
        check_values(weights, rows * columns)?;
        Ok(Self {
            input: Side::Kernels { kernel: input_kernel, points: inputs },
            output: Side::Kernels { kernel: output_kernel, points: outputs },
            core: StateMatrix::from_fn(rows, columns, |i, j| weights[i * columns + j]),
        })
    }

    /// The operator with the matrix `core` in the orthonormal coordinates of two dictionaries.
    pub(crate) fn in_newton_coordinates(input: NewtonBasis<K>, output: NewtonBasis<L>, core: StateMatrix) -> Self {
        Self { input: Side::Newton(input), output: Side::Newton(output), core }
    }

    /// The kernel `k_X` on inputs.
    pub fn input_kernel(&self) -> &K {
        self.input.kernel()
    }

    /// The kernel `k_Y` on outputs.
    pub fn output_kernel(&self) -> &L {
        self.output.kernel()
    }

    /// The input dictionary `x_j`.
    #[must_use]
    pub fn inputs(&self) -> &Points {
        self.input.points()
    }

    /// The output dictionary `y_i = x_i⁺`.
    #[must_use]
    pub fn outputs(&self) -> &Points {
        self.output.points()
    }

    /// Dimension of an input.
    #[must_use]
    pub fn input_dimension(&self) -> usize {
        self.inputs().dimension()
    }

    /// Dimension of an output.
    #[must_use]
    pub fn output_dimension(&self) -> usize {
        self.outputs().dimension()
    }

    /// `‖U‖_HS`. `O(m²)` for a learnt operator, `O(m³)` for one given by weights.
    #[must_use]
    pub fn hs_norm(&self) -> f64 {
        if self.input.is_orthonormal() && self.output.is_orthonormal() {
            self.core.sum_of_squares().sqrt()
        } else {
            self.inner(self).max(0.0).sqrt()
        }
    }

    /// `⟨U, V⟩_HS = Σ W ∘ (G_YY' W' G_X'X)` with an operator of the same kernels (which is not
    /// checked). `O(m³)`.
    ///
    /// # Errors
    /// When the dimensions differ.
    pub fn hs_inner(&self, other: &Self) -> Result<f64, Error> {
        check_dimension(other.input_dimension(), self.input_dimension())?;
        check_dimension(other.output_dimension(), self.output_dimension())?;
        Ok(self.inner(other))
    }

    /// `‖U − V‖_HS`, the square of which is cut off at 0: distances below 1e−8 of the norms are
    /// rounding. `O(m³)`.
    ///
    /// # Errors
    /// As [`hs_inner`](Self::hs_inner).
    pub fn hs_distance(&self, other: &Self) -> Result<f64, Error> {
        let (own, others) = (self.hs_norm(), other.hs_norm());
        let squared = own * own + others * others - 2.0 * self.hs_inner(other)?;
        Ok(squared.max(0.0).sqrt())
    }

    /// `Σ A ∘ (C_Y A' C_Xᵀ)` with the inner products `C` of the frames.
    fn inner(&self, other: &Self) -> f64 {
        let outputs = self.output.cross(self.output_kernel(), &other.output);
        let inputs = self.input.cross(self.input_kernel(), &other.input);
        let seen = outputs.times(&other.core_matrix()).times_transposed(&inputs);
        seen.values().iter().zip(self.core_matrix().values()).map(|(a, b)| a * b).sum()
    }

    /// `W`, row-major: a row for each output point. `O(m³)`. Its entries may be large (1e6)
    /// although the operator is small; nothing else here goes through it when the operator was
    /// learnt.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = self.core_matrix();
        self.output.synthesise_columns(&mut weights);
        let mut transposed = weights.transposed();
        self.input.synthesise_columns(&mut transposed);
        transposed.values().to_vec()
    }

    /// `‖k_Y(x⁺, ·) − U k_X(x, ·)‖²`, the loss whose mean the learners make small. `O(m²)`,
    /// `O(m²d)` for an operator given by weights.
    ///
    /// # Errors
    /// When `x` or `x⁺` has another dimension or a coordinate that is not finite, or a kernel
    /// overflows.
    pub fn loss(&self, x: &[f64], x_plus: &[f64]) -> Result<f64, Error> {
        check_input(x, self.input_dimension())?;
        check_input(x_plus, self.output_dimension())?;
        let mut probe = Probe::default();
        self.input.probe(x, &mut probe);
        let mut image = AlignedVec::new();
        self.core.product(probe.coordinates(), &mut image);
        self.output.probe(x_plus, &mut probe);
        let cross = dot(image.lanes(), probe.coordinates().lanes());
        let squared = if self.output.is_orthonormal() {
            dot(image.lanes(), image.lanes())
        } else {
            let (mut row, mut sum) = (AlignedVec::new(), 0.0);
            for (i, weight) in image.iter().enumerate() {
                self.output_kernel().row(self.outputs(), &self.outputs().point(i), &mut row);
                sum += weight * dot(row.lanes(), image.lanes());
            }
            sum
        };
        let loss = self.output_kernel().self_value(x_plus) - 2.0 * cross + squared;
        if loss.is_finite() { Ok(loss.max(0.0)) } else { Err(ExampleError::KernelOverflow.into()) }
    }

    /// `α = W k_X(x)`, the weights of the conditional mean embedding:
    /// `E[g(x⁺) | x] ≈ Σ α_i g(y_i)`. `O(m²)`.
    ///
    /// # Errors
    /// When `x` has another dimension or a coordinate that is not finite.
    pub fn embedding(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        check_input(x, self.input_dimension())?;
        let (mut probe, mut image) = (Probe::default(), AlignedVec::new());
        self.input.probe(x, &mut probe);
        self.core.product(probe.coordinates(), &mut image);
        Ok(self.output.synthesise(&image).to_vec())
    }

    /// The values of a function at the output points: all that the operator needs to know of an
    /// observable.
    pub fn observe(&self, g: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let mut point = vec![0.0; self.output_dimension()];
        (0..self.outputs().len())
            .map(|i| {
                self.outputs().copy_point(i, &mut point);
                g(&point)
            })
            .collect()
    }

    /// `y = Wᵀg`: the coefficients of `Kg = Σ y_j k_X(x_j, ·)` for an observable with the values
    /// `g` at the output points. `O(m²)`.
    ///
    /// # Errors
    /// When `g` has not one finite value for each output point.
    pub fn pull_back(&self, g: &[f64]) -> Result<Vec<f64>, Error> {
        check_values(g, self.outputs().len())?;
        let mut image = AlignedVec::new();
        self.core.transposed_product(&self.output.analyse(&AlignedVec::from_slice(g)), &mut image);
        Ok(self.input.synthesise(&image).to_vec())
    }

    /// The value at `x` of the function with these coefficients on the input dictionary. `O(md)`.
    ///
    /// # Errors
    /// When there is not one coefficient for each input point, `x` has another dimension or a
    /// coordinate that is not finite.
    pub fn evaluate(&self, coefficients: &[f64], x: &[f64]) -> Result<f64, Error> {
        check_values(coefficients, self.inputs().len())?;
        check_input(x, self.input_dimension())?;
        let mut row = AlignedVec::new();
        self.input_kernel().row(self.inputs(), x, &mut row);
        Ok(row.iter().zip(coefficients).map(|(k, c)| k * c).sum())
    }

    /// The values of several functions at many points, `values[function][point]`, each kernel row
    /// made once. `O(m(d + functions))` a point.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_all(&self, functions: &[&[f64]], points: &Points) -> Result<Vec<Vec<f64>>, Error> {
        check_dimension(points.dimension(), self.input_dimension())?;
        let mut padded = Vec::with_capacity(functions.len());
        for coefficients in functions {
            check_values(coefficients, self.inputs().len())?;
            padded.push(AlignedVec::from_slice(coefficients));
        }
        let mut values = vec![vec![0.0; points.len()]; functions.len()];
        let (mut row, mut point) = (AlignedVec::new(), vec![0.0; points.dimension()]);
        for p in 0..points.len() {
            points.copy_point(p, &mut point);
            check_input(&point, self.input_dimension())?;
            self.input_kernel().row(self.inputs(), &point, &mut row);
            for (values, coefficients) in values.iter_mut().zip(&padded) {
                values[p] = dot(row.lanes(), coefficients.lanes());
            }
        }
        Ok(values)
    }

    /// `A` as it is meant, with everything deferred applied.
    pub(crate) fn core_matrix(&self) -> Matrix {
        Matrix::from_fn(self.core.rows(), self.core.columns(), |i, j| self.core.entry(i, j))
    }
}

/// Refuses a table with another number of values, or with one that is not finite.
pub(crate) fn check_values(values: &[f64], expected: usize) -> Result<(), Error> {
    if values.len() != expected {
        return Err(Error::Values { expected, got: values.len() });
    }
    match values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        Some((index, value)) => Err(Error::NonFiniteValue { index, value: *value }),
        None => Ok(()),
    }
}

pub(crate) fn check_dimension(got: usize, expected: usize) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(ExampleError::Dimension { expected, got }.into()) }
}
