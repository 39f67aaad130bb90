//! Moments of the past that ridge regression needs, as sums that can be added and taken back.
//!
//! On fixed features `z = z(x)` the fit depends on the past through sums alone: `G = Σ ωzzᵀ` and,
//! for each output, `b = Σ ωyz`, `Σ ωy` and `Σ ωy²`. Shards of a stream are summed up apart and
//! merged; a shard that turns out wrong is retracted. With forgetting at rate `ρ` an example of
//! time `s` counts `e^{−ρ(t−s)}` at time `t`; sums of different times are brought to the later one
//! before they meet.
//!
//! | from the sums alone | how |
//! |---|---|
//! | the learner that goes on from there, with its variance | [`RidgeMoments::fit`]: `P = (λI + G)⁻¹`, `w = P b` |
//! | all `λ` at once: errors, R², effective dimension, generalised cross-validation | [`RidgeMoments::path`]: one eigen-decomposition |
//! | the error on a shard of a fit to all others | [`RidgeMoments::held_out`] |
//! | the error of any coefficients | [`RidgeMoments::squared_errors`]: `Σ ωy² − 2wᵀb + wᵀGw` |
//! | classes by least squares | an output for each class, 1 for its own examples: [`RidgeMoments::add_class`], [`RidgeMoments::arrange`], [`RidgeMoments::sign`] |
//!
//! `moments` of a learner on fixed features is the way back, `G = P⁻¹ − λI` and `b = P⁻¹w`, so that
//! learners of shards merge as their sums do.
//!
//! On the inputs themselves with an intercept ([`Identity`](crate::basis::Identity)), sums are kept
//! about the mean and the ridge is in units of each input's standard deviation; the intercept is
//! not penalised. So columns and targets of any offset and unit are fitted to rounding. On other
//! features sums of squares lose digits where the targets' mean is large against their spread:
//! errors and R² are then exact to about ε times the squared ratio. Centre such targets first.

mod centred;
mod dictionaries;
mod map;
mod means;
mod operator;
mod path;
mod raw;
mod solve;
mod sums;

use mercer_core::{ExampleError, Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::SymmetricMatrix;

use crate::engines::basis::{FeatureMap, OnFeatures};
use crate::engines::update::{Awv, Coefficients, LeastSquares, NormalEquations, NormalSystem, Readout, Ridge};
use crate::example::{Rows, Target, Targets};
use crate::{Error, ParameterError};

pub use dictionaries::{Projection, leverage_sample, leverage_scores};
pub use map::{FixedMap, MapError};
pub use operator::OperatorMoments;
pub use path::{RidgePath, RidgePoint};
pub use raw::RawSums;
pub use sums::{MomentScratch, MomentSums};

/// The part of a weight that rounding may add to it.
const ROUNDING: f64 = 1e-9;

/// Ridge regression on a [`FixedMap`] chosen when the program runs.
pub type PkrrFixed<K> = OnFeatures<FixedMap<K>, LeastSquares<Ridge>>;

/// The Azoury–Warmuth–Vovk forecaster on a [`FixedMap`] chosen when the program runs.
pub type PkawvFixed<K> = OnFeatures<FixedMap<K>, LeastSquares<Awv>>;

/// The additive state of ridge regression on the features `F`.
///
/// An example costs `½r²` multiply-adds for `r` features, `r` more an output; the memory is `½r²`.
/// Examples that are known together ([`add_rows`](Self::add_rows)) are summed up 64 at a time, as
/// matrix products.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RidgeMoments<F> {
    map: F,
    sums: MomentSums,
    rate: f64,
    time: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: MomentScratch,
}

impl<F: FeatureMap> RidgeMoments<F> {
    /// Nothing seen yet of one output on the features of `map`; `rate ≥ 0` is `ρ`, 0 to forget
    /// nothing.
    ///
    /// # Errors
    /// When `rate` is negative or not finite.
    pub fn new(map: F, rate: f64) -> Result<Self, Error> {
        Self::several(map, rate, 1)
    }

    /// The same with so many outputs.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when there is no output.
    pub fn several(map: F, rate: f64, outputs: usize) -> Result<Self, Error> {
        let sums = MomentSums::new(&map, ParameterError::at_least_one("outputs", outputs)?);
        Self::from_sums(map, sums, rate)
    }

    /// The state with these sums, meant at time 0.
    ///
    /// # Errors
    /// When they are not of as many features as the map has, or `rate` is negative or not finite.
    pub fn from_sums(map: F, sums: MomentSums, rate: f64) -> Result<Self, Error> {
        let rate = ParameterError::non_negative("rate", rate)?;
        let (fits, has) = (sums.fit_map(&map), sums.features());
        ParameterError::require(fits, "features of the sums", "those of the map", has as f64)?;
        Ok(Self { map, sums, rate, time: 0.0, scratch: MomentScratch::default() })
    }

    /// The feature map.
    pub fn feature_map(&self) -> &F {
        &self.map
    }

    /// The sums.
    #[must_use]
    pub fn sums(&self) -> &MomentSums {
        &self.sums
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.sums.outputs()
    }

    /// `n`, the examples seen, discounted by their age.
    #[must_use]
    pub fn count(&self) -> f64 {
        self.sums.count()
    }

    /// `Σ ω`, the weight of the examples seen, discounted by their age.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.sums.weight()
    }

    /// The rate of forgetting `ρ`.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The time at which the sums are meant.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// `Σ ω z_i z_j`
    ///
    /// # Panics
    /// If `i` or `j` is not below the number of features.
    #[must_use]
    pub fn gram(&self, i: usize, j: usize) -> f64 {
        self.sums.gram().entry(i, j)
    }

    /// `Σ ω y z` of an output.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn cross(&self, output: usize) -> Vec<f64> {
        self.sums.cross()[output].to_vec()
    }

    /// Adds an example of one output, of weight 1 and the present time. `½r²` multiply-adds.
    ///
    /// # Errors
    /// When the input has another dimension, there are several outputs, or a number is not finite;
    /// nothing is changed.
    pub fn add(&mut self, x: &[f64], y: f64) -> Result<(), Error> {
        self.add_target(x, Target::new(&[y]))
    }

    /// Adds an example of the present time. `½r²` multiply-adds.
    ///
    /// # Errors
    /// As [`add`](Self::add), and when the weight is negative or not finite; nothing is changed.
    pub fn add_target(&mut self, x: &[f64], target: Target<'_>) -> Result<(), Error> {
        let weights = [target.weight];
        let targets = Targets::new(target.y, &weights, target.y.len().max(1))?;
        if targets.is_empty() {
            return Err(ExampleError::Outputs { expected: self.outputs(), got: 0 }.into());
        }
        self.add_rows(Rows::new(x, x.len(), targets)?)
    }

    /// Adds an example of class `class`: target 1 for the output of that number and 0 for the
    /// others.
    ///
    /// # Errors
    /// When there is no such output, and as [`add_target`](Self::add_target); nothing is changed.
    pub fn add_class(&mut self, x: &[f64], class: usize, weight: f64) -> Result<(), Error> {
        ParameterError::require(class < self.outputs(), "class", "below the number of outputs", class as f64)?;
        let mut y = vec![0.0; self.outputs()];
        y[class] = 1.0;
        self.add_target(x, Target::weighted(&y, weight))
    }

    /// Adds an example of time `time`, which may lie before the present: it then counts for less. A
    /// later time becomes the present.
    ///
    /// # Errors
    /// When `time` is not finite, and as [`add_target`](Self::add_target); nothing is changed.
    pub fn add_at(&mut self, x: &[f64], target: Target<'_>, time: f64) -> Result<(), Error> {
        ParameterError::require(time.is_finite(), "time", "a number", time)?;
        if time <= self.time {
            let weight = target.weight * (-self.rate * (self.time - time)).exp();
            return self.add_target(x, Target { weight, ..target });
        }
        self.scratch.check(&self.map, self.outputs(), x, target)?;
        self.advance_to(time)?;
        self.add_target(x, target)
    }

    /// Adds examples of the present time, 64 at a time. `½r²` multiply-adds an example.
    ///
    /// The sums are in a fixed order, so their bits depend only on the examples and how they are
    /// cut into calls.
    ///
    /// # Errors
    /// Why an example was refused: as [`add_target`](Self::add_target). Those before it are added,
    /// it and those after it are not.
    pub fn add_rows(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        self.sums.add_rows(&self.map, rows, &mut self.scratch)
    }

    /// Has output `k` be what output `places[k]` was; `None` is an output whose targets were all 0.
    /// Sums of shards that met different classes so get the same outputs, and merge. `O(r)` an
    /// output.
    ///
    /// # Errors
    /// When there is no place, or an output that is not there; nothing is changed.
    pub fn arrange(&mut self, places: &[Option<usize>]) -> Result<(), Error> {
        ParameterError::at_least_one("outputs", places.len())?;
        let last = places.iter().flatten().max().copied().unwrap_or_default();
        ParameterError::require(last < self.outputs(), "output", "below the number of outputs", last as f64)?;
        self.sums.arrange(places);
        Ok(())
    }

    /// Turns the targets of classes, 1 for an output's own examples and 0 for all others, into `+1`
    /// and `−1`: those of a [`Classifier`](crate::Classifier). Every example must have had a class.
    /// `O(r)` an output.
    pub fn sign(&mut self) {
        self.sums.sign();
    }

    /// Lets time pass: everything seen counts `e^{−ρ(time − now)}` as much. `O(r²)` when something
    /// is forgotten.
    ///
    /// # Errors
    /// When `time` is not finite or lies before the last one.
    pub fn advance_to(&mut self, time: f64) -> Result<(), Error> {
        ParameterError::require(time.is_finite() && time >= self.time, "time", "at or after the last one", time)?;
        let weight = (-self.rate * (time - self.time)).exp();
        if weight != 1.0 {
            self.sums.scale(weight);
        }
        self.time = time;
        Ok(())
    }

    /// Adds what another has seen, both at the later of their times. `O(r²)`.
    ///
    /// # Errors
    /// When the other has other features or outputs, or forgets at another rate; nothing is
    /// changed.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error>
    where
        F: PartialEq,
    {
        self.combine(other, 1.0)
    }

    /// Takes back what another has seen and was merged (or seen by this one as well), both at the
    /// later of their times. `O(r²)`. The digits lost are those of the difference.
    ///
    /// # Errors
    /// As [`merge`](Self::merge), and when the other weighs more than this one.
    pub fn retract(&mut self, other: &Self) -> Result<(), Error>
    where
        F: PartialEq,
    {
        let time = self.time.max(other.time);
        let [ours, theirs] = [self, other].map(|one| one.weight() * (-self.rate * (time - one.time)).exp());
        let there = theirs <= ours * (1.0 + ROUNDING);
        ParameterError::require(there, "weight taken back", "no more than there is", theirs)?;
        self.combine(other, -1.0)
    }

    fn combine(&mut self, other: &Self, sign: f64) -> Result<(), Error>
    where
        F: PartialEq,
    {
        ParameterError::require(self.rate == other.rate, "rate", "the same in both", other.rate)?;
        let (ours, theirs) = (self.outputs(), other.outputs());
        ParameterError::require(ours == theirs, "outputs", "as many in both", theirs as f64)?;
        let size = other.sums.features() as f64;
        ParameterError::require(self.map == other.map, "features", "those of the same map in both", size)?;
        self.advance_to(self.time.max(other.time))?;
        self.sums.add(sign * (-self.rate * (self.time - other.time)).exp(), &other.sums);
        Ok(())
    }

    /// The learner that has seen all this, with ridge `λ > 0`; it goes on without forgetting. `r³`.
    /// On inputs themselves its coordinates are the inputs in the units of the penalty.
    ///
    /// It also knows how large the errors were, as if it had learnt the examples one by one:
    /// `Σ ωe²/(1+ωs) = Σ ωy² − bᵀw`. So it tells the variance of its predictions.
    ///
    /// # Errors
    /// When `lambda` is not positive, or so much was retracted that `λI + G` is not positive
    /// definite.
    pub fn fit<P: Readout>(&self, lambda: f64) -> Result<OnFeatures<F, LeastSquares<P>>, Error>
    where
        F: Clone,
    {
        let (update, normal) = self.sums.solve(lambda)?;
        let mut map = self.map.clone();
        if let Some(identity) = map.identity_mut() {
            identity.set_units(normal.units);
        }
        OnFeatures::from_parts(map, update)
    }

    /// The coefficients of ridge `λ > 0`, one vector an output. `r³`.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn coefficients(&self, lambda: f64) -> Result<Coefficients, Error> {
        let (update, normal) = self.sums.solve::<Ridge>(lambda)?;
        let p = normal.gram.dimension();
        let raw = |(output, w): (usize, &AlignedVec)| AlignedVec::from_slice(&normal.raw(output, &w[..p]));
        Ok(Coefficients::from_vectors(update.weights().vectors().iter().enumerate().map(raw).collect()))
    }

    /// `Σ ω(y − wᵀz)²` of each output over everything seen, whatever the coefficients. `r²`. `None`
    /// where the sums come from a learner that did not know its errors.
    ///
    /// # Panics
    /// If the coefficients are not as many as the features and outputs.
    #[must_use]
    pub fn squared_errors(&self, coefficients: &Coefficients) -> Option<Vec<f64>> {
        self.sums.squared_errors(coefficients)
    }

    /// The ridge regressions of all `λ` at once. One eigen-decomposition, about `10r³`.
    ///
    /// # Errors
    /// [`ExampleError::Diverged`] when the sums are not finite; [`Error::Parameter`] when they come
    /// from a learner that did not know its errors.
    pub fn path(&self) -> Result<RidgePath, Error> {
        RidgePath::new(&self.sums)
    }

    /// The mean squared error on `shard`, of each output, of the fit with ridge `λ` to everything
    /// else: `shard` was merged before. `r³`.
    ///
    /// # Errors
    /// As [`retract`](Self::retract) and [`fit`](Self::fit), and when the sums of the shard come
    /// from a learner that did not know its errors.
    pub fn held_out(&self, shard: &Self, lambda: f64) -> Result<Vec<f64>, Error>
    where
        F: PartialEq + Clone,
    {
        let mut rest = self.clone();
        rest.retract(shard)?;
        let errors = shard.squared_errors(&rest.coefficients(lambda)?).ok_or_else(sums::unknown)?;
        Ok(errors.into_iter().map(|error| error / shard.weight()).collect())
    }
}

impl<F: FeatureMap + Clone, P: Readout> OnFeatures<F, LeastSquares<P>> {
    /// The sums behind the fit to `count` examples (the learner does not count them):
    /// [`RidgeMoments`] that forget nothing, to merge with those of other shards. `r³`. They are as
    /// exact as `P` is, to about ε times the condition number of `λI + G`; sums kept beside the
    /// learner from the beginning are exact to rounding. `Σ ωy` is not known to a learner, so there
    /// is no R².
    ///
    /// # Errors
    /// When `count` is negative or not finite, the learner forgets, or rounding has made `P`
    /// indefinite.
    pub fn moments(&self, count: f64) -> Result<RidgeMoments<F>, Error> {
        let count = ParameterError::non_negative("count", count)?;
        let update = self.linear();
        let identity = self.feature_map().identity();
        let own = identity.is_none_or(|identity| !identity.has_units());
        let requirement = "those of the inputs; keep the sums that the learner was made of";
        ParameterError::require(own, "units of the learner", requirement, count)?;
        let forgetting = update.forgetting();
        ParameterError::require(
            forgetting == 1.0,
            "forgetting",
            "1 in a learner whose sums are asked for",
            forgetting,
        )?;
        let NormalEquations { mut a, b } = NormalSystem::normal_equations(update).ok_or(ExampleError::Diverged)?;
        a.add(-1.0, &SymmetricMatrix::scaled_identity(a.dimension(), update.ridge()));
        let sums = MomentSums::from_fit(identity, a, b, update, count);
        RidgeMoments::from_sums(self.feature_map().clone(), sums, 0.0)
    }
}

impl<F: FeatureMap + Validate> Validate for RidgeMoments<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sums of ridge regression";
        self.map.validate()?;
        self.sums.validate()?;
        Inconsistent::non_negative(self.rate, "rate of forgetting")?;
        Inconsistent::require(self.time.is_finite(), WHAT, "its time is a number")?;
        let fits = self.sums.fit_map(&self.map);
        Inconsistent::require(fits, WHAT, "it has a row for each feature")
    }
}
