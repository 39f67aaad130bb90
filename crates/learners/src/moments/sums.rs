//! The sums themselves, without the features that they are of: what thousands of groups with the
//! same features keep one each.

use std::borrow::Cow;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Matrix, OuterProducts, SymmetricMatrix};
use mercer_simd::{axpy, dot, scale};

use super::means::Means;
use crate::engines::basis::{FeatureMap, Identity};
use crate::engines::update::{LeastSquares, LinearUpdate, Readout, finite};
use crate::example::{Rows, Target, Targets};
use crate::learner::check_input;
use crate::{Error, Problem};

/// Sums over examples of features `z`, targets `y` and weights `ω`: `½r² + mr` numbers for `r`
/// features and `m` outputs.
///
/// On inputs with an intercept ([`Identity`](crate::basis::Identity)) they are kept about the mean
/// of inputs and targets, so that columns of any offset keep their digits. A ridge then penalises
/// inputs in units of their standard deviation and the intercept not at all; on inputs without an
/// intercept the unit is the root mean square.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MomentSums {
    /// `Σ ωzzᵀ`; with means, of the deviations of the inputs alone.
    pub(super) gram: SymmetricMatrix,
    /// `Σ ωyz` of each output; with means, of deviations.
    pub(super) cross: Vec<AlignedVec>,
    /// `Σ ωy` of each output; empty where it is not known.
    pub(super) totals: Vec<f64>,
    /// `Σ ωy²` of each output, with means of deviations; empty where it is not known.
    pub(super) squares: Vec<f64>,
    /// `Σ ω`
    pub(super) weight: f64,
    /// `n`
    pub(super) count: f64,
    /// Whether the features are inputs, whose units are their own.
    pub(super) inputs: bool,
    /// The means that the sums are about, where there is an intercept.
    pub(super) means: Option<Means>,
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

/// The symmetric matrix of these entries.
pub(super) fn symmetric(n: usize, entry: impl Fn(usize, usize) -> f64) -> SymmetricMatrix {
    let mut matrix = SymmetricMatrix::new();
    for j in 0..n {
        let column: Vec<f64> = (0..j).map(|i| entry(i, j)).collect();
        matrix.border(&AlignedVec::from_slice(&column), entry(j, j));
    }
    matrix
}

/// Why something that needs `Σ ωy²` cannot be told.
pub(super) fn unknown() -> Error {
    let requirement = "known; add rows to sums of their own instead of asking a learner for its sums";
    Error::Parameter(ParameterError { name: "the sum of squared targets", requirement, value: f64::NAN })
}

impl MomentSums {
    /// Nothing seen yet of the features of `map` and so many outputs.
    #[must_use]
    pub fn new<F: FeatureMap + ?Sized>(map: &F, outputs: usize) -> Self {
        let centred = map.identity().is_some_and(Identity::has_intercept);
        let p = map.coordinates() - usize::from(centred);
        Self::zeros(p, outputs, map.identity().is_some(), centred)
    }

    fn zeros(p: usize, outputs: usize, inputs: bool, centred: bool) -> Self {
        Self {
            gram: SymmetricMatrix::scaled_identity(p, 0.0),
            cross: vec![AlignedVec::zeros(p); outputs],
            totals: vec![0.0; outputs],
            squares: vec![0.0; outputs],
            weight: 0.0,
            count: 0.0,
            inputs,
            means: centred.then(|| Means::zeros(p, outputs)),
        }
    }

    /// Nothing seen yet of the same features and outputs.
    pub(super) fn empty(&self) -> Self {
        Self::zeros(self.gram.dimension(), self.outputs(), self.inputs, self.means.is_some())
    }

    /// True if a ridge penalises coefficients in units of the features' own.
    pub(super) fn has_units(&self) -> bool {
        self.inputs
    }

    /// True if these are sums of the features of `map`.
    pub(super) fn fit_map<F: FeatureMap + ?Sized>(&self, map: &F) -> bool {
        let centred = map.identity().is_some_and(Identity::has_intercept);
        let kind = (self.inputs, self.means.is_some()) == (map.identity().is_some(), centred);
        kind && self.features() == map.coordinates()
    }

    /// Sums that a learner knows: its matrix without the ridge, and `b`.
    pub(super) fn from_fit<P: Readout>(
        identity: Option<&Identity>,
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
        let (weight, inputs) = (known.unwrap_or(count), identity.is_some());
        let raw = Self { gram, squares, cross, totals: Vec::new(), weight, count, inputs, means: None };
        if identity.is_some_and(Identity::has_intercept) { raw.about_the_mean() } else { raw }
    }

    /// Sums about 0, whose last feature is always 1, as sums about the mean.
    pub(super) fn about_the_mean(self) -> Self {
        let p = self.gram.dimension() - 1;
        let weight = self.gram.entry(p, p);
        let mut sums = Self::zeros(p, self.outputs(), true, true);
        (sums.weight, sums.count) = (weight, self.count);
        let share = if weight > 0.0 { 1.0 / weight } else { 0.0 };
        let mut means = Means::zeros(p, self.outputs());
        (0..p).for_each(|j| means.inputs[j] = share * self.gram.entry(p, j));
        let m = &means.inputs;
        sums.gram = symmetric(p, |i, j| self.gram.entry(i, j) - weight * m[i] * m[j]);
        for (output, cross) in self.cross.iter().enumerate() {
            sums.totals[output] = cross[p];
            means.targets[output] = share * cross[p];
            (0..p).for_each(|j| sums.cross[output][j] = cross[j] - cross[p] * means.inputs[j]);
        }
        let squares = self.squares.iter().zip(&sums.totals);
        sums.squares = squares.map(|(square, total)| (square - share * total * total).max(0.0)).collect();
        sums.means = Some(means);
        sums
    }

    /// Number of features `r`.
    #[must_use]
    pub fn features(&self) -> usize {
        self.gram.dimension() + usize::from(self.means.is_some())
    }

    /// Number of outputs `m`.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.cross.len()
    }

    /// `Σ ωzzᵀ`, about 0 whatever the sums are kept about. `½r²`.
    #[must_use]
    pub fn gram(&self) -> Cow<'_, SymmetricMatrix> {
        let Some(Means { inputs: m, .. }) = &self.means else { return Cow::Borrowed(&self.gram) };
        let (p, weight) = (self.gram.dimension(), self.weight);
        let entry = |i: usize, j: usize| match (i < p, j < p) {
            (true, true) => self.gram.entry(i, j) + weight * m[i] * m[j],
            (false, false) => weight,
            _ => weight * m[i.min(j)],
        };
        Cow::Owned(symmetric(p + 1, entry))
    }

    /// `Σ ωyz` of each output, about 0 whatever the sums are kept about. `O(mr)`.
    #[must_use]
    pub fn cross(&self) -> Cow<'_, [AlignedVec]> {
        let Some(Means { inputs, .. }) = &self.means else { return Cow::Borrowed(&self.cross) };
        let one = |(cross, total): (&AlignedVec, &f64)| {
            let mut raw = cross.clone();
            axpy(*total, inputs.lanes(), raw.lanes_mut());
            raw.resize(cross.len() + 1);
            raw[cross.len()] = *total;
            raw
        };
        Cow::Owned(self.cross.iter().zip(&self.totals).map(one).collect())
    }

    /// `Σ ωy` of each output; empty in sums that come from a learner.
    #[must_use]
    pub fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// `Σ ωy²` of each output; empty in sums that come from a learner that did not know its errors.
    #[must_use]
    pub fn squares(&self) -> Cow<'_, [f64]> {
        let Some(Means { targets, .. }) = &self.means else { return Cow::Borrowed(&self.squares) };
        let squares = self.squares.iter().zip(&self.totals).zip(targets);
        Cow::Owned(squares.map(|((square, total), mean)| square + total * mean).collect())
    }

    /// True if `Σ ωy²` is known.
    #[must_use]
    pub fn know_squares(&self) -> bool {
        !self.squares.is_empty()
    }

    /// `Σ ω(y − ȳ)²` of each output; empty where `Σ ωy` or `Σ ωy²` is not known.
    pub(super) fn spreads(&self) -> Vec<f64> {
        if self.means.is_some() {
            return self.squares.clone();
        }
        let spread = |(square, total): (&f64, &f64)| (square - total * total / self.weight).max(0.0);
        self.squares.iter().zip(&self.totals).map(spread).collect()
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
        self.add_features(&mut features[..fitting], targets.range(0, fitting), weights, outer);
        refused
    }

    fn add_features(
        &mut self,
        features: &mut [AlignedVec],
        targets: Targets<'_>,
        weights: &mut Vec<f64>,
        outer: &mut OuterProducts,
    ) {
        weights.clear();
        weights.extend(targets.iter().map(|target| target.weight));
        if self.means.is_some() {
            if let Some(block) = self.centred_block(features, targets, weights, outer) {
                self.join(1.0, &block, outer);
            }
            return;
        }
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
        if self.means.is_some() {
            return self.join(factor, other, &mut OuterProducts::default());
        }
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
        let p = self.gram.dimension();
        let cross =
            |place: &Option<usize>| place.map_or_else(|| AlignedVec::zeros(p), |place| self.cross[place].clone());
        self.cross = places.iter().map(cross).collect();
        let means = self.means.as_mut().map(|means| &mut means.targets);
        let all = [&mut self.totals, &mut self.squares].into_iter().chain(means);
        for numbers in all.filter(|numbers| !numbers.is_empty()) {
            *numbers = places.iter().map(|place| place.map_or(0.0, |place| numbers[place])).collect();
        }
    }

    /// Turns the outputs of classes, 1 for their own examples and 0 for the others, into outputs of
    /// `+1` and `−1`. Every example has a class, so `Σ ω(2y_c − 1)z = 2 Σ ωy_c z − Σ_k Σ ωy_k z`.
    /// `O(r)` an output.
    pub fn sign(&mut self) {
        if let Some(means) = &mut self.means {
            self.cross.iter_mut().for_each(|cross| scale(2.0, cross));
            self.squares.iter_mut().for_each(|square| *square *= 4.0);
            self.totals.iter_mut().for_each(|total| *total = 2.0 * *total - self.weight);
            means.targets.iter_mut().for_each(|mean| *mean = 2.0 * *mean - 1.0);
            return;
        }
        let mut all = AlignedVec::zeros(self.gram.dimension());
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
        // Of the two halves, which rounding has made different, one.
        let gram = symmetric(to, |i, j| moved.entry(i, j));
        let product = |b: &AlignedVec| {
            let moved = transition.times(&Matrix::from_fn(r, 1, |i, _| b[i]));
            AlignedVec::from_slice(moved.column(0))
        };
        let cross = self.cross.iter().map(product).collect();
        let (totals, squares) = (self.totals.clone(), self.squares.clone());
        Self { gram, cross, totals, squares, means: None, ..*self }
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
        let (p, outputs) = (self.gram.dimension(), self.outputs());
        let whole = outputs > 0 && self.cross.iter().all(|cross| cross.len() == p);
        Inconsistent::require(whole, WHAT, "it has a number for each feature and output")?;
        let each = |numbers: &[f64]| numbers.is_empty() || numbers.len() == outputs;
        Inconsistent::require(each(&self.totals) && each(&self.squares), WHAT, "it has a sum for each output")?;
        let Some(means) = &self.means else { return Ok(()) };
        means.validate()?;
        let fits = means.inputs.len() == p && means.targets.len() == outputs && self.totals.len() == outputs;
        Inconsistent::require(fits && self.inputs, WHAT, "it has a mean for each input and output")
    }
}
