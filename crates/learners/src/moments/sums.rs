//! The sums themselves, without the features that they are of: what thousands of groups with the
//! same features keep one each.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Matrix, OuterProducts, SymmetricMatrix};
use mercer_simd::{axpy, dot, scale};

use crate::engines::basis::FeatureMap;
use crate::engines::update::{Coefficients, LeastSquares, LinearUpdate, Readout, finite};
use crate::example::{Rows, Target, Targets};
use crate::learner::check_input;
use crate::{Error, Problem};

/// Sums over examples of features `z`, targets `y` and weights `ω`: `½r² + mr` numbers for `r`
/// features and `m` outputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MomentSums {
    /// `Σ ωzzᵀ`
    gram: SymmetricMatrix,
    /// `Σ ωyz` of each output.
    cross: Vec<AlignedVec>,
    /// `Σ ωy` of each output; empty where it is not known.
    totals: Vec<f64>,
    /// `Σ ωy²` of each output; empty where it is not known.
    squares: Vec<f64>,
    /// `Σ ω`
    weight: f64,
    /// `n`
    count: f64,
}

/// Memory for adding rows, reused from call to call and for any sums.
#[derive(Clone, Debug, Default)]
pub struct MomentScratch {
    features: Vec<AlignedVec>,
    weights: Vec<f64>,
    work: AlignedVec,
    outer: OuterProducts,
}

impl MomentScratch {
    /// Maps one example and says whether it can be added.
    pub(super) fn check<F: FeatureMap + ?Sized>(
        &mut self,
        map: &F,
        outputs: usize,
        x: &[f64],
        target: Target<'_>,
    ) -> Result<(), Error> {
        check_input(x, map.input_dimension())?;
        Problem::squared(0, outputs).check_target(target)?;
        self.features.resize(self.features.len().max(1), AlignedVec::new());
        map.map(x, &mut self.features[0], &mut self.work);
        in_range(&self.features[0], target)
    }
}

/// Refuses terms of the sums that overflow.
fn in_range(features: &AlignedVec, target: Target<'_>) -> Result<(), Error> {
    let squared = dot(features.lanes(), features.lanes());
    if !squared.is_finite() {
        return Err(ExampleError::KernelOverflow.into());
    }
    let largest = target.y.iter().fold(0.0, |largest: f64, y| largest.max(y.abs()));
    finite(target.weight * (1.0 + squared) * (1.0 + largest) * (1.0 + largest)).map(drop)
}

/// Why something that needs `Σ ωy²` cannot be told.
pub(super) fn unknown() -> Error {
    let requirement = "known; add rows to sums of their own instead of asking a learner for its sums";
    Error::Parameter(ParameterError { name: "the sum of squared targets", requirement, value: f64::NAN })
}

impl MomentSums {
    /// Nothing seen yet of so many features and outputs.
    #[must_use]
    pub fn new(features: usize, outputs: usize) -> Self {
        Self {
            gram: SymmetricMatrix::scaled_identity(features, 0.0),
            cross: vec![AlignedVec::zeros(features); outputs],
            totals: vec![0.0; outputs],
            squares: vec![0.0; outputs],
            weight: 0.0,
            count: 0.0,
        }
    }

    /// Sums that a learner knows: its matrix without the ridge, and `b`.
    pub(super) fn of_fit<P: Readout>(
        gram: SymmetricMatrix,
        cross: Vec<AlignedVec>,
        fit: &LeastSquares<P>,
        count: f64,
    ) -> Self {
        // The errors of the rounds, each before it was learnt, sum to what the fit minimises.
        let known = fit.weight_of_residuals().filter(|_| count > 0.0);
        let square = |(output, (w, b)): (usize, (&AlignedVec, &AlignedVec))| {
            let noise = LinearUpdate::noise(fit, output).unwrap_or(0.0);
            noise * known.unwrap_or(0.0) + dot(w.lanes(), b.lanes())
        };
        let squares = fit.weights().vectors().iter().zip(&cross).enumerate().map(square);
        let squares = if known.is_some() { squares.collect() } else { Vec::new() };
        Self { gram, squares, cross, totals: Vec::new(), weight: known.unwrap_or(count), count }
    }

    /// Number of features `r`.
    #[must_use]
    pub fn features(&self) -> usize {
        self.gram.dimension()
    }

    /// Number of outputs `m`.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.cross.len()
    }

    /// `Σ ωzzᵀ`
    #[must_use]
    pub fn gram(&self) -> &SymmetricMatrix {
        &self.gram
    }

    /// `Σ ωyz` of each output.
    #[must_use]
    pub fn cross(&self) -> &[AlignedVec] {
        &self.cross
    }

    /// `Σ ωy` of each output; empty in sums that come from a learner.
    #[must_use]
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// `Σ ωy²` of each output; empty in sums that come from a learner that did not know its errors.
    #[must_use]
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// `Σ ω`
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// `n`
    #[must_use]
    pub fn count(&self) -> f64 {
        self.count
    }

    /// Adds examples with the features of `map`, 64 at a time. `½r²` multiply-adds an example.
    ///
    /// # Errors
    /// Why an example was refused: an input of another dimension, another number of targets,
    /// numbers that are not finite or overflow, a negative weight. Examples before it are added, it
    /// and those after it are not.
    ///
    /// # Panics
    /// If the map has another number of features than the sums.
    pub fn add_rows<F: FeatureMap + ?Sized>(
        &mut self,
        map: &F,
        rows: Rows<'_>,
        scratch: &mut MomentScratch,
    ) -> Result<(), Error> {
        assert_eq!(map.coordinates(), self.features(), "the map that the sums are of");
        for first in (0..rows.len()).step_by(OuterProducts::MAX) {
            self.add_block(map, rows.range(first, rows.len().min(first + OuterProducts::MAX)), scratch)?;
        }
        Ok(())
    }

    fn add_block<F: FeatureMap + ?Sized>(
        &mut self,
        map: &F,
        rows: Rows<'_>,
        scratch: &mut MomentScratch,
    ) -> Result<(), Error> {
        let (d, outputs) = (map.input_dimension(), self.outputs());
        let check = |(x, target): (&[f64], Target<'_>)| {
            check_input(x, d)?;
            Problem::squared(0, outputs).check_target(target)
        };
        let good = rows.iter().take_while(|row| check(*row).is_ok()).count();
        let mut refused = rows.iter().nth(good).map_or(Ok(()), check);
        let MomentScratch { features, weights, work, outer } = scratch;
        features.resize(features.len().max(good), AlignedVec::new());
        let features = &mut features[..good];
        if d == 0 {
            features.iter_mut().for_each(|features| map.map(&[], features, work));
        } else {
            map.map_block(rows.range(0, good).inputs(), features, work);
        }
        let targets = rows.targets();
        let fitting =
            features.iter().zip(targets.iter()).take_while(|(z, target)| in_range(z, *target).is_ok()).count();
        if fitting < good {
            refused = in_range(&features[fitting], targets.get(fitting));
        }
        self.add_features(&features[..fitting], targets.range(0, fitting), weights, outer);
        refused
    }

    fn add_features(
        &mut self,
        features: &[AlignedVec],
        targets: Targets<'_>,
        weights: &mut Vec<f64>,
        outer: &mut OuterProducts,
    ) {
        weights.clear();
        weights.extend(targets.iter().map(|target| target.weight));
        self.gram.add_outer_products(weights, features, outer);
        for (z, Target { y, weight }) in features.iter().zip(targets.iter()) {
            // Most targets of classes are 0, and add nothing.
            for (output, y) in y.iter().enumerate().filter(|(_, y)| **y != 0.0) {
                axpy(weight * y, z.lanes(), self.cross[output].lanes_mut());
                if let Some(total) = self.totals.get_mut(output) {
                    *total += weight * y;
                }
                if let Some(square) = self.squares.get_mut(output) {
                    *square += weight * y * y;
                }
            }
            self.weight += weight;
            // An example of weight 0 counts no more than one that is not there.
            self.count += f64::from(u8::from(weight > 0.0));
        }
    }

    /// Everything times `factor`. `½r²`.
    pub fn scale(&mut self, factor: f64) {
        self.gram.scale(factor);
        self.cross.iter_mut().for_each(|cross| scale(factor, cross));
        let numbers = self.totals.iter_mut().chain(&mut self.squares).chain([&mut self.weight, &mut self.count]);
        numbers.for_each(|number| *number *= factor);
    }

    /// `self ← self + factor · other`. What one of them does not know the sum does not know either.
    /// `½r²`.
    ///
    /// # Panics
    /// If they have not as many features and outputs.
    pub fn add(&mut self, factor: f64, other: &Self) {
        assert_eq!(self.outputs(), other.outputs(), "sums of as many outputs");
        self.gram.add(factor, &other.gram);
        for (ours, theirs) in self.cross.iter_mut().zip(&other.cross) {
            axpy(factor, theirs.lanes(), ours.lanes_mut());
        }
        for (ours, theirs) in [(&mut self.totals, &other.totals), (&mut self.squares, &other.squares)] {
            if theirs.is_empty() {
                ours.clear();
            }
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += factor * theirs);
        }
        self.weight += factor * other.weight;
        self.count += factor * other.count;
    }

    /// Has output `k` be what output `places[k]` was; `None` is an output whose targets were all 0,
    /// such as a class that was never seen. `O(r)` an output.
    ///
    /// # Panics
    /// If there is no place, or an output that is not there.
    pub fn arrange(&mut self, places: &[Option<usize>]) {
        assert!(!places.is_empty(), "sums have an output");
        let r = self.features();
        let cross =
            |place: &Option<usize>| place.map_or_else(|| AlignedVec::zeros(r), |place| self.cross[place].clone());
        self.cross = places.iter().map(cross).collect();
        for numbers in [&mut self.totals, &mut self.squares].into_iter().filter(|numbers| !numbers.is_empty()) {
            *numbers = places.iter().map(|place| place.map_or(0.0, |place| numbers[place])).collect();
        }
    }

    /// Turns the outputs of classes, 1 for their own examples and 0 for the others, into outputs of
    /// `+1` and `−1`. Every example has a class, so `Σ ω(2y_c − 1)z = 2 Σ ωy_c z − Σ_k Σ ωy_k z`.
    /// `O(r)` an output.
    pub fn sign(&mut self) {
        let mut all = AlignedVec::zeros(self.features());
        self.cross.iter().for_each(|cross| axpy(1.0, cross.lanes(), all.lanes_mut()));
        for cross in &mut self.cross {
            scale(2.0, cross);
            axpy(-1.0, all.lanes(), cross.lanes_mut());
        }
        let all: f64 = self.totals.iter().sum();
        self.totals.iter_mut().for_each(|total| *total = 2.0 * *total - all);
        self.squares.fill(self.weight);
    }

    /// The sums of the features `T z`, `T` being the matrix `transition`. `r_T r (r_T + r)`.
    pub(super) fn transformed(&self, transition: &Matrix) -> Self {
        let (r, to) = (self.features(), transition.rows());
        let gram = Matrix::from_fn(r, r, |i, j| self.gram.entry(i, j));
        let moved = transition.times(&gram).times_transposed(transition);
        let mut gram = SymmetricMatrix::new();
        for j in 0..to {
            // Of the two halves, which rounding has made different, one.
            let column: Vec<f64> = (0..j).map(|i| moved.entry(i, j)).collect();
            gram.border(&AlignedVec::from_slice(&column), moved.entry(j, j));
        }
        let product = |b: &AlignedVec| {
            let moved = transition.times(&Matrix::from_fn(r, 1, |i, _| b[i]));
            AlignedVec::from_slice(moved.column(0))
        };
        let cross = self.cross.iter().map(product).collect();
        Self { gram, cross, totals: self.totals.clone(), squares: self.squares.clone(), ..*self }
    }

    /// The least-squares learner of these sums with ridge `λ > 0`. `r³`.
    ///
    /// # Errors
    /// When `lambda` is not positive, or `λI + G` is not positive definite.
    pub fn solve<P: Readout>(&self, lambda: f64) -> Result<LeastSquares<P>, Error> {
        let lambda = ParameterError::positive("lambda", lambda)?;
        let mut normal = self.gram.clone();
        normal.add(1.0, &SymmetricMatrix::scaled_identity(self.features(), lambda));
        let inverse = normal.inverted().map_err(|_| ExampleError::Diverged)?;
        let solution = |cross: &AlignedVec| {
            let mut w = AlignedVec::new();
            inverse.product(cross, &mut w);
            w
        };
        let vectors: Vec<AlignedVec> = self.cross.iter().map(solution).collect();
        let residual = |((square, b), w): ((&f64, &AlignedVec), &AlignedVec)| square - dot(b.lanes(), w.lanes());
        let residuals: Vec<f64> = self.squares.iter().zip(&self.cross).zip(&vectors).map(residual).collect();
        let update = LeastSquares::new(lambda, 1.0)?.with_state(Coefficients::from_vectors(vectors), inverse);
        Ok(if residuals.is_empty() { update } else { update.with_residuals(&residuals, self.weight) })
    }

    /// `Σ ω(y − wᵀz)²` of each output, if `Σ ωy²` is known. `r²`.
    ///
    /// # Panics
    /// If the coefficients are not as many as the features and outputs.
    #[must_use]
    pub fn squared_errors(&self, coefficients: &Coefficients) -> Option<Vec<f64>> {
        assert_eq!(coefficients.outputs(), self.outputs(), "coefficients for each output");
        let error = |((square, b), w): ((&f64, &AlignedVec), &AlignedVec)| {
            (square - 2.0 * dot(b.lanes(), w.lanes()) + self.gram.quadratic(w)).max(0.0)
        };
        let known = !self.squares.is_empty();
        known.then(|| self.squares.iter().zip(&self.cross).zip(coefficients.vectors()).map(error).collect())
    }
}

impl Validate for MomentSums {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sums of ridge regression";
        self.gram.validate()?;
        self.cross.validate()?;
        self.totals.validate()?;
        self.squares.validate()?;
        let finite = self.count.is_finite() && self.weight.is_finite();
        Inconsistent::require(finite, WHAT, "its count and its weight are numbers")?;
        let (r, outputs) = (self.features(), self.outputs());
        let whole = outputs > 0 && self.cross.iter().all(|cross| cross.len() == r);
        Inconsistent::require(whole, WHAT, "it has a number for each feature and output")?;
        let each = |numbers: &[f64]| numbers.is_empty() || numbers.len() == outputs;
        Inconsistent::require(each(&self.totals) && each(&self.squares), WHAT, "it has a sum for each output")
    }
}
