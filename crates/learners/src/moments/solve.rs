//! The ridge regression of sums, in the units in which it is penalised.

use mercer_core::{ExampleError, ParameterError};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::SymmetricMatrix;
use mercer_simd::dot;

use super::sums::{MomentSums, symmetric};
use crate::Error;
use crate::engines::update::{Coefficients, LeastSquares, Readout};

/// A column whose deviations are this many roundings of its mean does not vary.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// `G` and `b` in the units of the penalty, and those units.
pub(super) struct Normal {
    pub(super) gram: SymmetricMatrix,
    pub(super) cross: Vec<AlignedVec>,
    /// `(c_j, s_j)`: the penalised coordinate is `(z_j − c_j) s_j`; empty for features as they are.
    pub(super) units: Vec<(f64, f64)>,
    /// `ȳ`, the intercept in these units; empty where there is none.
    pub(super) intercepts: Vec<f64>,
}

impl Normal {
    /// The coefficients of the features as they are, of an output with the coefficients `w` here.
    pub(super) fn raw(&self, output: usize, w: &[f64]) -> Vec<f64> {
        if self.units.is_empty() {
            return w.to_vec();
        }
        let mut raw: Vec<f64> = w.iter().zip(&self.units).map(|(w, (_, scale))| w * scale).collect();
        if let Some(mean) = self.intercepts.get(output) {
            raw.push(mean - raw.iter().zip(&self.units).map(|(w, (centre, _))| w * centre).sum::<f64>());
        }
        raw
    }
}

impl MomentSums {
    /// The normal equations that a ridge is added to: of inputs with unit variances, of all other
    /// features as they are. A column that does not vary keeps its unit and has no coefficient.
    pub(super) fn normal(&self) -> Normal {
        let intercepts = self.means.as_ref().map(|means| means.targets.clone()).unwrap_or_default();
        if !self.has_units() {
            return Normal { gram: self.gram.clone(), cross: self.cross.clone(), units: Vec::new(), intercepts };
        }
        let unit = |j: usize| {
            let centre = self.means.as_ref().map_or(0.0, |means| means.inputs[j]);
            let spread = (self.gram.entry(j, j).max(0.0) / self.weight).sqrt();
            let varies = spread.is_normal() && spread > ROUNDING * centre.abs();
            (centre, if varies { 1.0 / spread } else { 1.0 }, varies)
        };
        let all: Vec<(f64, f64, bool)> = (0..self.gram.dimension()).map(unit).collect();
        let scale = |j: usize| if all[j].2 { all[j].1 } else { 0.0 };
        let gram = symmetric(all.len(), |i, j| self.gram.entry(i, j) * scale(i) * scale(j));
        let scaled = |cross: &AlignedVec| {
            AlignedVec::from_slice(&cross.iter().enumerate().map(|(j, b)| b * scale(j)).collect::<Vec<_>>())
        };
        let cross = self.cross.iter().map(scaled).collect();
        let units = all.into_iter().map(|(centre, scale, _)| (centre, scale)).collect();
        Normal { gram, cross, units, intercepts }
    }

    /// The least-squares learner of these sums with ridge `λ > 0`, in the units of the penalty, and
    /// those units. `r³`.
    ///
    /// # Errors
    /// When `lambda` is not positive, or `λI + G` is not positive definite.
    pub(super) fn solve<P: Readout>(&self, lambda: f64) -> Result<(LeastSquares<P>, Normal), Error> {
        let lambda = ParameterError::positive("lambda", lambda)?;
        let normal = self.normal();
        if !normal.intercepts.is_empty() && self.weight < 0.0 {
            return Err(ExampleError::Diverged.into());
        }
        let mut gram = normal.gram.clone();
        gram.add_to_diagonal(lambda);
        let mut inverse = gram.inverted().map_err(|_| ExampleError::Diverged)?;
        let solution = |cross: &AlignedVec| {
            let mut w = AlignedVec::new();
            inverse.product(cross, &mut w);
            w
        };
        let mut vectors: Vec<AlignedVec> = normal.cross.iter().map(solution).collect();
        let residual = |((square, b), w): ((&f64, &AlignedVec), &AlignedVec)| square - dot(b.lanes(), w.lanes());
        let residuals: Vec<f64> = self.squares.iter().zip(&normal.cross).zip(&vectors).map(residual).collect();
        let p = gram.dimension();
        if !normal.intercepts.is_empty() {
            // Deviations have mean 0, so the intercept is independent of the coefficients. Before
            // the first row it has the prior of the others.
            inverse.border(&AlignedVec::zeros(p), 1.0 / if self.weight > 0.0 { self.weight } else { lambda });
            for (w, mean) in vectors.iter_mut().zip(&normal.intercepts) {
                w.resize(p + 1);
                w[p] = *mean;
            }
        }
        let update = LeastSquares::new(lambda, 1.0)?.with_state(Coefficients::from_vectors(vectors), inverse);
        let update = if residuals.is_empty() { update } else { update.with_residuals(&residuals, self.weight) };
        Ok((update, normal))
    }

    /// `Σ ω(y − wᵀz)²` of each output, if `Σ ωy²` is known. `r²`.
    ///
    /// # Panics
    /// If the coefficients are not as many as the features and outputs.
    #[must_use]
    pub fn squared_errors(&self, coefficients: &Coefficients) -> Option<Vec<f64>> {
        assert_eq!(coefficients.outputs(), self.outputs(), "coefficients for each output");
        let p = self.gram.dimension();
        let error = |output: usize| {
            let mut w = coefficients.vectors()[output].clone();
            let around = match &self.means {
                None => 0.0,
                Some(means) => {
                    let mean = w[..p].iter().zip(&*means.inputs).map(|(w, x)| w * x).sum::<f64>();
                    means.targets[output] - mean - w[p]
                }
            };
            w.resize(p);
            let about =
                self.squares[output] - 2.0 * dot(self.cross[output].lanes(), w.lanes()) + self.gram.quadratic(&w);
            (about + self.weight * around * around).max(0.0)
        };
        self.know_squares().then(|| (0..self.outputs()).map(error).collect())
    }
}
