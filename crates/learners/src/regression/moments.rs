//! What ridge regression needs to know of its past, as sums that can be added and taken back.
//!
//! On fixed features `z = z(x)` the fit depends on the past through `n`, `G = Σ zzᵀ` and `b = Σ yz` alone: shards of a stream are
//! summed up apart, merged, and a shard that turns out wrong is retracted. With forgetting at rate `ρ` an example of time `s` counts
//! `e^{−ρ(t−s)}` at time `t`; sums of different times are brought to the later one before they meet. Afterwards
//! [`RidgeMoments::fit`] gives the learner that goes on from there, `P = (λI + G)⁻¹` and `w = P b`; `moments` of a learner on fixed
//! features is the way back, `G = P⁻¹ − λI` and `b = P⁻¹w`, so that learners of shards merge as their sums do.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::SymmetricMatrix;
use mercer_simd::{axpy, scale};

use crate::basis::{FeatureMap, OnFeatures};
use crate::learner::check_input;
use crate::update::{Coefficients, LeastSquares, LinearUpdate, NormalEquations, Readout, finite};
use crate::{Error, ParameterError};

/// The additive state of ridge regression on the features `F`.
///
/// An example costs `½r²` multiply-adds for `r` features; the memory is `½r²`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RidgeMoments<F> {
    map: F,
    /// `Σ zzᵀ`, by columns of the lower triangle.
    gram: SymmetricMatrix,
    cross: AlignedVec,
    count: f64,
    rate: f64,
    time: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    features: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: AlignedVec,
}

impl<F: FeatureMap> RidgeMoments<F> {
    /// Nothing seen yet on the features of `map`; `rate ≥ 0` is `ρ`, 0 to forget nothing.
    ///
    /// # Errors
    /// When `rate` is negative or not finite.
    pub fn new(map: F, rate: f64) -> Result<Self, Error> {
        let rate = ParameterError::non_negative("rate", rate)?;
        let mut features = AlignedVec::new();
        map.map(&vec![0.0; map.input_dimension()], &mut features, &mut AlignedVec::new());
        let r = features.len();
        Ok(Self {
            map,
            gram: SymmetricMatrix::scaled_identity(r, 0.0),
            cross: AlignedVec::zeros(r),
            count: 0.0,
            rate,
            time: 0.0,
            features,
            work: AlignedVec::new(),
        })
    }

    /// `n`, the examples seen, each counted with its weight.
    #[must_use]
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The time at which the sums are meant.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// `Σ z_i z_j`
    ///
    /// # Panics
    /// If `i` or `j` is not below the number of features.
    #[must_use]
    pub fn gram(&self, i: usize, j: usize) -> f64 {
        self.gram.entry(i, j)
    }

    /// `Σ y z`
    #[must_use]
    pub fn cross(&self) -> &[f64] {
        &self.cross
    }

    /// Adds an example. `½r²` multiply-adds.
    ///
    /// # Errors
    /// When the input has another dimension, or a number is not finite; nothing is changed.
    pub fn add(&mut self, x: &[f64], y: f64) -> Result<(), Error> {
        check_input(x, self.map.input_dimension())?;
        if !y.is_finite() {
            return Err(Error::NonFiniteTarget(y));
        }
        self.map.map(x, &mut self.features, &mut self.work);
        self.features.iter().try_for_each(|z| finite(z * z * (1.0 + y.abs())).map(drop))?;
        self.gram.subtract(-1.0, &self.features);
        axpy(y, self.features.lanes(), self.cross.lanes_mut());
        self.count += 1.0;
        Ok(())
    }

    /// Lets time pass: everything seen counts `e^{−ρ(time − now)}` as much. `O(r²)` when something is forgotten.
    ///
    /// # Errors
    /// When `time` is not finite or lies before the last one.
    pub fn advance_to(&mut self, time: f64) -> Result<(), Error> {
        ParameterError::require(time.is_finite() && time >= self.time, "time", "at or after the last one", time)?;
        let weight = (-self.rate * (time - self.time)).exp();
        if weight != 1.0 {
            self.gram.scale(weight);
            scale(weight, &mut self.cross);
            self.count *= weight;
        }
        self.time = time;
        Ok(())
    }

    /// Adds what another has seen, both at the later of their times. `O(r²)`.
    ///
    /// # Errors
    /// When the other has other features or forgets at another rate; nothing is changed.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error>
    where
        F: PartialEq + Clone,
    {
        self.combine(other, 1.0)
    }

    /// Takes back what another has seen and was merged (or seen by this one as well), both at the later of their times. `O(r²)`.
    /// The digits lost are those of the difference.
    ///
    /// # Errors
    /// As [`merge`](Self::merge).
    pub fn retract(&mut self, other: &Self) -> Result<(), Error>
    where
        F: PartialEq + Clone,
    {
        self.combine(other, -1.0)
    }

    fn combine(&mut self, other: &Self, sign: f64) -> Result<(), Error>
    where
        F: PartialEq + Clone,
    {
        ParameterError::require(self.rate == other.rate, "rate", "the same in both", other.rate)?;
        ParameterError::require(
            self.map == other.map,
            "features",
            "those of the same map in both",
            other.features.len() as f64,
        )?;
        self.advance_to(self.time.max(other.time))?;
        let weight = sign * (-self.rate * (self.time - other.time)).exp();
        self.gram.add(weight, &other.gram);
        axpy(weight, other.cross.lanes(), self.cross.lanes_mut());
        self.count += weight * other.count;
        Ok(())
    }

    /// The learner that has seen all this, with ridge `λ > 0`; it goes on without forgetting. `r³`.
    ///
    /// # Errors
    /// When `lambda` is not positive, or so much was retracted that `λI + Σ zzᵀ` is not positive definite.
    pub fn fit<P: Readout>(&self, lambda: f64) -> Result<OnFeatures<F, LeastSquares<P>>, Error>
    where
        F: Clone,
    {
        let lambda = ParameterError::positive("lambda", lambda)?;
        let r = self.cross.len();
        let mut normal = self.gram.clone();
        normal.add(1.0, &SymmetricMatrix::scaled_identity(r, lambda));
        let inverse = normal.inverted().map_err(|_| Error::Diverged)?;
        let mut w = AlignedVec::new();
        inverse.product(&self.cross, &mut w);
        let update = LeastSquares::new(lambda, 1.0)?.with_state(Coefficients::of(w), inverse);
        OnFeatures::from_parts(self.map.clone(), update)
    }
}

impl<F: FeatureMap + Clone, P: Readout> OnFeatures<F, LeastSquares<P>> {
    /// The sums behind the fit to `count` examples (the learner does not count them): [`RidgeMoments`] that forget nothing, to merge
    /// with those of other shards. `r³`. They are as exact as `P` is, to about ε times the condition number of `λI + G`; sums
    /// kept beside the learner from the beginning are exact to rounding.
    ///
    /// # Errors
    /// When `count` is negative or not finite, the learner forgets, or rounding has made `P` indefinite.
    pub fn moments(&self, count: f64) -> Result<RidgeMoments<F>, Error> {
        let count = ParameterError::non_negative("count", count)?;
        let update = self.linear();
        let forgetting = update.forgetting();
        ParameterError::require(
            forgetting == 1.0,
            "forgetting",
            "1 in a learner whose sums are asked for",
            forgetting,
        )?;
        let outputs = update.outputs();
        ParameterError::require(outputs == 1, "outputs", "1 in a learner whose sums are asked for", outputs as f64)?;
        let NormalEquations { mut a, b } = update.normal_equations().ok_or(Error::Diverged)?;
        let b = b.into_iter().next().unwrap_or_default();
        a.add(-1.0, &SymmetricMatrix::scaled_identity(b.len(), update.ridge()));
        Ok(RidgeMoments { gram: a, cross: b, count, ..RidgeMoments::new(self.feature_map().clone(), 0.0)? })
    }
}

impl<F: FeatureMap + Validate> Validate for RidgeMoments<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sums of ridge regression";
        self.map.validate()?;
        self.gram.validate()?;
        self.cross.validate()?;
        Inconsistent::non_negative(self.rate, "rate of forgetting")?;
        let finite = self.count.is_finite() && self.time.is_finite();
        Inconsistent::require(finite, WHAT, "its count and its time are numbers")?;
        let fits = [self.gram.dimension(), self.cross.len()] == [self.map.coordinates(); 2];
        Inconsistent::require(fits, WHAT, "it has a row for each feature")
    }
}
