//! The sums behind a Koopman operator on fixed features: Nyström-EDMD over shards.
//!
//! For pairs of a state and its successor with features `φ, φ⁺` the operator of least squares is
//! `M = (G + λI)⁻¹ A` with `G = Σ ωφφᵀ` and `A = Σ ωφφ⁺ᵀ` (Williams, Kevrekidis and Rowley 2015; on
//! the coordinates of given points, Meanti et al. 2023): `φ⁺ ≈ Mᵀφ`. Both sums add up over shards.

use mercer_core::{ExampleError, Inconsistent, Validate, check_input};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Eigenvalue, GeneralEigen, Matrix, OuterProducts, SymmetricMatrix};

use crate::engines::basis::FeatureMap;
use crate::{Error, ParameterError};

/// The additive state of an operator on the features `F`: `1½r²` numbers; a pair costs `1½r²`
/// multiply-adds, in blocks of 64 as matrix products.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OperatorMoments<F> {
    map: F,
    /// `G`
    gram: SymmetricMatrix,
    /// `A`
    cross: Matrix,
    /// `Σ ω‖φ⁺‖²`
    squares: f64,
    weight: f64,
}

impl<F: FeatureMap> OperatorMoments<F> {
    /// No pair yet, on the features of `map`.
    #[must_use]
    pub fn new(map: F) -> Self {
        let r = map.coordinates();
        let (gram, cross) = (SymmetricMatrix::scaled_identity(r, 0.0), Matrix::zeros(r, r));
        Self { map, gram, cross, squares: 0.0, weight: 0.0 }
    }

    /// The feature map.
    pub fn feature_map(&self) -> &F {
        &self.map
    }

    /// The pairs seen.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Adds pairs: row-major states, and the successor of each.
    ///
    /// # Errors
    /// When the numbers are no whole pairs, or a number is not finite or overflows the features;
    /// nothing is changed.
    pub fn add_pairs(&mut self, states: &[f64], successors: &[f64]) -> Result<(), Error> {
        let d = self.map.input_dimension();
        let rows = states.len() / d.max(1);
        if states.len() != successors.len() || !states.len().is_multiple_of(d.max(1)) {
            return Err(ExampleError::Block { inputs: successors.len(), rows, dimension: d }.into());
        }
        let all = states.chunks(d.max(1)).chain(successors.chunks(d.max(1)));
        all.into_iter().try_for_each(|state| check_input(state, d))?;
        let r = self.cross.rows();
        let (mut gram, mut cross) = (SymmetricMatrix::scaled_identity(r, 0.0), Matrix::zeros(r, r));
        let (mut squares, mut weight) = (0.0, 0.0);
        let (mut work, mut outer) = (AlignedVec::new(), OuterProducts::default());
        let width = (OuterProducts::MAX * d).max(1);
        for (states, successors) in states.chunks(width).zip(successors.chunks(width)) {
            let count = states.len() / d.max(1);
            let mut features = [vec![AlignedVec::new(); count], vec![AlignedVec::new(); count]];
            self.map.map_block(states, &mut features[0], &mut work);
            self.map.map_block(successors, &mut features[1], &mut work);
            let [now, next] = &features;
            if now.iter().chain(next).any(|z| z.iter().any(|z| !(z * z).is_finite())) {
                return Err(ExampleError::KernelOverflow.into());
            }
            gram.add_outer_products(&vec![1.0; count], now, &mut outer);
            let matrix = |rows: &[AlignedVec]| Matrix::from_fn(r, count, |i, t| rows[t][i]);
            cross.add_times_transposed(&matrix(now), &matrix(next));
            squares += next.iter().flat_map(|z| z.iter()).map(|z| z * z).sum::<f64>();
            weight += count as f64;
        }
        self.add(1.0, &gram, &cross, (squares, weight));
        Ok(())
    }

    fn add(&mut self, sign: f64, gram: &SymmetricMatrix, cross: &Matrix, (squares, weight): (f64, f64)) {
        self.gram.add(sign, gram);
        for j in 0..cross.columns() {
            self.cross.column_mut(j).iter_mut().zip(cross.column(j)).for_each(|(ours, theirs)| *ours += sign * theirs);
        }
        self.squares += sign * squares;
        self.weight += sign * weight;
    }

    /// Adds the pairs of another state. `O(r²)`.
    ///
    /// # Errors
    /// When it has other features; nothing is changed.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error>
    where
        F: PartialEq,
    {
        self.combine(1.0, other)
    }

    /// Takes the pairs of another state back. `O(r²)`.
    ///
    /// # Errors
    /// When it has other features; nothing is changed.
    pub fn retract(&mut self, other: &Self) -> Result<(), Error>
    where
        F: PartialEq,
    {
        self.combine(-1.0, other)
    }

    fn combine(&mut self, sign: f64, other: &Self) -> Result<(), Error>
    where
        F: PartialEq,
    {
        let size = other.gram.dimension() as f64;
        ParameterError::require(self.map == other.map, "features", "those of the same map in both", size)?;
        self.add(sign, &other.gram, &other.cross, (other.squares, other.weight));
        Ok(())
    }

    fn dense(&self, ridge: f64) -> Matrix {
        let r = self.gram.dimension();
        Matrix::from_fn(r, r, |i, j| self.gram.entry(i, j) + if i == j { ridge } else { 0.0 })
    }

    /// `M = (G + λI)⁻¹ A`, by which `φ⁺ ≈ Mᵀφ`. `r³`.
    ///
    /// # Errors
    /// When `lambda` is not positive, or so much was taken back that `G + λI` is not positive
    /// definite.
    pub fn operator(&self, lambda: f64) -> Result<Matrix, Error> {
        let lambda = ParameterError::positive("lambda", lambda)?;
        self.dense(lambda).solve_positive_definite(&self.cross).map_err(|_| ExampleError::Diverged.into())
    }

    /// The eigenvalues of the operator, largest modulus first. `r³`.
    ///
    /// # Errors
    /// As [`operator`](Self::operator), and when the iteration fails.
    pub fn eigenvalues(&self, lambda: f64) -> Result<Vec<Eigenvalue>, Error> {
        GeneralEigen::values(&self.operator(lambda)?).map_err(|_| ExampleError::Diverged.into())
    }

    /// `Σ ω‖φ⁺ − Mᵀφ‖²` over everything seen. `r³`.
    ///
    /// # Panics
    /// If the operator is not `r × r`.
    #[must_use]
    pub fn squared_error(&self, operator: &Matrix) -> f64 {
        let product = self.dense(0.0).times(operator);
        let inner = |a: &Matrix, b: &Matrix| a.values().iter().zip(b.values()).map(|(a, b)| a * b).sum::<f64>();
        (self.squares - 2.0 * inner(operator, &self.cross) + inner(operator, &product)).max(0.0)
    }
}

impl<F: FeatureMap + Validate> Validate for OperatorMoments<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sums of an operator";
        self.map.validate()?;
        self.gram.validate()?;
        self.cross.values().validate()?;
        let finite = self.squares.is_finite() && self.weight.is_finite();
        Inconsistent::require(finite, WHAT, "its sums are numbers")?;
        let r = self.map.coordinates();
        let fits = [self.gram.dimension(), self.cross.rows(), self.cross.columns()] == [r; 3];
        Inconsistent::require(fits, WHAT, "it has a row for each feature")
    }
}
