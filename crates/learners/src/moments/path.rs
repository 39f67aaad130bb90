//! Ridge regression for every ridge at once.
//!
//! With `G = QΛQᵀ` and `c = Qᵀb` the coefficients of ridge `λ` are `w = Q (Λ + λI)⁻¹ c`, and over
//! everything seen
//!
//! ```text
//! RSS(λ) = Σ ωy² − Σ_i c_i² (Λ_i + 2λ)/(Λ_i + λ)²         the residual sum of squares
//! d(λ)   = Σ_i Λ_i/(Λ_i + λ)                              the effective dimension
//! GCV(λ) = (RSS/n) / (1 − d/n)²,  n = Σ ω                 (Golub, Heath and Wahba 1979)
//! R²(λ)  = 1 − RSS/(Σ ωy² − (Σ ωy)²/n)
//! ```
//!
//! On inputs with an intercept, `G`, `b` and `Σ ωy²` are those of deviations from the mean in units
//! of the standard deviation, and the intercept, which is not penalised, adds 1 to `d`.

use mercer_core::ExampleError;
use mercer_linalg_incremental::SymmetricEigen;

use super::solve::Normal;
use super::sums::{MomentSums, unknown};
use crate::{Error, ParameterError};

/// Ridges of a grid, a decade apart at most by a quarter.
const A_DECADE: i32 = 4;
/// Decades of a grid below the largest eigenvalue, and above.
const DECADES: (i32, i32) = (10, 1);
/// Decades above the largest eigenvalue where nothing is left of the coefficients.
const HIGHEST: i32 = 7;
/// Decades below the largest eigenvalue where the others are rounding.
const DEEPEST: i32 = 15;
/// A ridge below the grid is chosen where its generalised cross-validation is this part of that of
/// the grid's least ridge, or less.
const WORTH: f64 = 0.9;

/// The ridge regressions of all `λ`: `r² + mr` numbers; a `λ` costs `O(mr)`.
pub struct RidgePath {
    /// `Λ`, largest first, and the columns of `Q`.
    values: Vec<f64>,
    vectors: Vec<Vec<f64>>,
    /// `c` of each output.
    along: Vec<Vec<f64>>,
    squares: Vec<f64>,
    /// `Σ ω(y − ȳ)²` of each output; empty where `Σ ωy` is not known.
    spreads: Vec<f64>,
    weight: f64,
    normal: Normal,
}

/// Result of one ridge.
#[derive(Clone, Debug, PartialEq)]
pub struct RidgePoint {
    /// `λ`
    pub lambda: f64,
    /// `d(λ)`
    pub effective_dimension: f64,
    /// `RSS` of each output.
    pub residuals: Vec<f64>,
    /// `R²` of each output; empty where `Σ ωy` is not known, NaN where all targets are equal.
    pub r2: Vec<f64>,
    /// Generalised cross-validation of each output, an estimate of the mean squared error on new
    /// examples; infinite where the effective dimension is not below `n`.
    pub gcv: Vec<f64>,
}

impl RidgePath {
    pub(super) fn new(sums: &MomentSums) -> Result<Self, Error> {
        if !sums.know_squares() {
            return Err(unknown());
        }
        let normal = sums.normal();
        let gram = &normal.gram;
        let eigen =
            SymmetricEigen::new(gram.dimension(), |i, j| gram.entry(i, j)).map_err(|_| ExampleError::Diverged)?;
        let product =
            |b: &[f64]| eigen.vectors.iter().map(|q| q.iter().zip(b).map(|(q, b)| q * b).sum()).collect::<Vec<f64>>();
        let along = normal.cross.iter().map(|b| product(b)).collect();
        let values = eigen.values.into_iter().map(|value| value.max(0.0)).collect();
        let (squares, spreads) = (sums.squares.clone(), sums.spreads());
        Ok(Self { values, vectors: eigen.vectors, along, squares, spreads, weight: sums.weight(), normal })
    }

    /// `Λ`, the eigenvalues of `Σ ωzzᵀ`, largest first; of inputs, in the units of the penalty and
    /// without the intercept.
    #[must_use]
    pub fn eigenvalues(&self) -> &[f64] {
        &self.values
    }

    /// Result of the ridge `lambda`. `O(mr)`.
    ///
    /// # Errors
    /// When `lambda` is not positive.
    pub fn at(&self, lambda: f64) -> Result<RidgePoint, Error> {
        let lambda = ParameterError::positive("lambda", lambda)?;
        let free = if self.normal.intercepts.is_empty() { 0.0 } else { 1.0 };
        let effective_dimension = free + self.values.iter().map(|value| value / (value + lambda)).sum::<f64>();
        let residual = |(along, square): (&Vec<f64>, &f64)| {
            let explained = |(c, value): (&f64, &f64)| {
                let shrunk = c / (value + lambda);
                shrunk * shrunk * (value + 2.0 * lambda)
            };
            (square - along.iter().zip(&self.values).map(explained).sum::<f64>()).max(0.0)
        };
        let residuals: Vec<f64> = self.along.iter().zip(&self.squares).map(residual).collect();
        let free = 1.0 - effective_dimension / self.weight;
        let gcv = |rss: &f64| if free > 0.0 { rss / self.weight / (free * free) } else { f64::INFINITY };
        let r2 = residuals.iter().zip(&self.spreads).map(|(rss, spread)| 1.0 - rss / spread).collect();
        Ok(RidgePoint { lambda, effective_dimension, gcv: residuals.iter().map(gcv).collect(), r2, residuals })
    }

    /// Ridges four a decade, from `1e−10` to ten times the largest eigenvalue.
    #[must_use]
    pub fn grid(&self) -> Vec<f64> {
        let (below, above) = DECADES;
        self.decades(-below, above)
    }

    /// Ridges four a decade, between these powers of ten of the largest eigenvalue.
    fn decades(&self, from: i32, to: i32) -> Vec<f64> {
        let largest = self.values.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE.sqrt());
        (from * A_DECADE..=to * A_DECADE)
            .map(|step| largest * 10f64.powf(f64::from(step) / f64::from(A_DECADE)))
            .collect()
    }

    /// The [best](Self::best) ridge of the [grid](Self::grid). Where that is its least, ridges of
    /// five decades more below it are tried, and one of them is chosen if it is better by a tenth;
    /// where it is its largest, those of six decades above it.
    ///
    /// # Errors
    /// As [`best`](Self::best).
    pub fn choose(&self) -> Result<RidgePoint, Error> {
        let grid = self.grid();
        let best = self.best(&grid)?;
        if Some(&best.lambda) == grid.last() {
            return self.best(&self.decades(DECADES.1, HIGHEST));
        }
        if Some(&best.lambda) != grid.first() {
            return Ok(best);
        }
        let deeper = self.best(&self.decades(-DEEPEST, -DECADES.0))?;
        let better = deeper.gcv.iter().zip(&best.gcv).any(|(deeper, best)| *deeper <= WORTH * best);
        Ok(if better { deeper } else { best })
    }

    /// The one of these ridges whose generalised cross-validation is least, that of every output
    /// counted in units of its variance; the largest of them where they are equal.
    ///
    /// # Errors
    /// When there is none, or one is not positive.
    pub fn best(&self, lambdas: &[f64]) -> Result<RidgePoint, Error> {
        let score = |point: &RidgePoint| {
            let one = |(output, gcv): (usize, &f64)| {
                let unit =
                    self.spreads.get(output).copied().filter(|spread| *spread > 0.0).unwrap_or(self.squares[output]);
                if unit > 0.0 { gcv / unit } else { 0.0 }
            };
            point.gcv.iter().enumerate().map(one).sum::<f64>()
        };
        let points = lambdas.iter().map(|lambda| self.at(*lambda)).collect::<Result<Vec<_>, _>>()?;
        let least = points.into_iter().min_by(|a, b| score(a).total_cmp(&score(b)).then(b.lambda.total_cmp(&a.lambda)));
        least.ok_or_else(|| ParameterError { name: "ridges", requirement: "at least one", value: 0.0 }.into())
    }

    /// The coefficients of the ridge `lambda`, one vector an output. `mr²`.
    ///
    /// # Errors
    /// When `lambda` is not positive.
    pub fn coefficients(&self, lambda: f64) -> Result<Vec<Vec<f64>>, Error> {
        let lambda = ParameterError::positive("lambda", lambda)?;
        let one = |(output, along): (usize, &Vec<f64>)| {
            let mut w = vec![0.0; self.values.len()];
            for ((c, value), q) in along.iter().zip(&self.values).zip(&self.vectors) {
                let shrunk = c / (value + lambda);
                w.iter_mut().zip(q).for_each(|(w, q)| *w += shrunk * q);
            }
            self.normal.raw(output, &w)
        };
        Ok(self.along.iter().enumerate().map(one).collect())
    }
}
