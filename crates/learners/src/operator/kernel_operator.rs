//! An operator between two reproducing kernel Hilbert spaces, spanned by two dictionaries.

use std::marker::PhantomData;

use crate::Error;
use mercer_kernels::{Kernel, Points};

/// `U = Σ W_ij k_Y(y_i, ·) ⊗ k_X(x_j, ·)`
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelOperator<K, L = K> {
    marker: PhantomData<(K, L)>,
}

impl<K: Kernel, L: Kernel> KernelOperator<K, L> {
    /// The operator with given weights: row-major, a row for each output point and a column for each input point.
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
        let _ = (input_kernel, inputs, output_kernel, outputs, weights);
        todo!()
    }

    /// The kernel `k_X` on inputs.
    pub fn input_kernel(&self) -> &K {
        todo!()
    }

    /// The kernel `k_Y` on outputs.
    pub fn output_kernel(&self) -> &L {
        todo!()
    }

    /// The input dictionary `x_j`.
    #[must_use]
    pub fn inputs(&self) -> &Points {
        todo!()
    }

    /// The output dictionary `y_i = x_i⁺`.
    #[must_use]
    pub fn outputs(&self) -> &Points {
        todo!()
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
        todo!()
    }

    /// `⟨U, V⟩_HS` with an operator of the same kernels (which is not checked). `O(m³)`.
    ///
    /// # Errors
    /// When the dimensions differ.
    pub fn hs_inner(&self, other: &Self) -> Result<f64, Error> {
        let _ = other;
        todo!()
    }

    /// `‖U − V‖_HS`, the square of which is cut off at 0. `O(m³)`.
    ///
    /// # Errors
    /// As [`hs_inner`](Self::hs_inner).
    pub fn hs_distance(&self, other: &Self) -> Result<f64, Error> {
        let _ = other;
        todo!()
    }

    /// `W`, row-major: a row for each output point. `O(m³)`. Its entries may be large (1e6) although the operator is small;
    /// nothing else here goes through it when the operator was learnt.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        todo!()
    }

    /// `α = W k_X(x)`, the weights of the conditional mean embedding: `E[g(x⁺) | x] ≈ Σ α_i g(y_i)`. `O(m²)`.
    ///
    /// # Errors
    /// When `x` has another dimension or a coordinate that is not finite.
    pub fn embedding(&self, x: &[f64]) -> Result<Vec<f64>, Error> {
        let _ = x;
        todo!()
    }

    /// The values of a function at the output points: all that the operator needs to know of an observable.
    pub fn observe(&self, g: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let mut point = vec![0.0; self.output_dimension()];
        (0..self.outputs().len())
            .map(|i| {
                self.outputs().copy_point(i, &mut point);
                g(&point)
            })
            .collect()
    }

    /// `y = Wᵀg`: the coefficients of `Kg = Σ y_j k_X(x_j, ·)` for an observable with the values `g` at the output points. `O(m²)`.
    ///
    /// # Errors
    /// When `g` has not one value for each output point.
    pub fn pull_back(&self, g: &[f64]) -> Result<Vec<f64>, Error> {
        let _ = g;
        todo!()
    }

    /// The value at `x` of the function with these coefficients on the input dictionary. `O(md)`.
    ///
    /// # Errors
    /// When there is not one coefficient for each input point, `x` has another dimension or a coordinate that is not finite.
    pub fn evaluate(&self, coefficients: &[f64], x: &[f64]) -> Result<f64, Error> {
        let _ = (coefficients, x);
        todo!()
    }

    /// The values of several functions at many points, `values[function][point]`, each kernel row made once. `O(m(d + functions))`
    /// a point.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn evaluate_all(&self, functions: &[&[f64]], points: &Points) -> Result<Vec<Vec<f64>>, Error> {
        let _ = (functions, points);
        todo!()
    }
}
