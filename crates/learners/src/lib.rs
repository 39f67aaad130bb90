//! Online learners in reproducing kernel Hilbert spaces.
//!
//! Most of them are a *basis* (how an input becomes coordinates) times a *linear update* (how the
//! coefficients move):
//!
//! | update \ basis | ALD dictionary | KORS dictionary | frozen dictionary | random Fourier | Gaussian Taylor |
//! |---|---|---|---|---|---|
//! | [gradient step](update::GradientStep) | [`AogdAld`] | | [`Nogd`] after its switch | [`Fogd`] | |
//! | [online Newton step](update::NewtonStep) | [`NonsAld`] | [`ProsNKons`] (restart), [`ConKons`] (carry) | | | |
//! | [least squares](update::LeastSquares), [ridge](update::Ridge) | [`Krls`] | [`PkrrNystrom`] | [`PkrrFrozen`] | | [`PkrrTaylor`] |
//! | [least squares](update::LeastSquares), [AWV](update::Awv) | | [`PkawvNystrom`] | [`PkawvFrozen`] | | [`PkawvTaylor`] |
//!
//! A dictionary has a largest size. A full one keeps no further point, unless an [`Eviction`] rule
//! makes room for it.
//!
//! Losses, weights, outputs and classes work with every cell of the table. A [`Loss`] is a value
//! that a learner holds. Every example has a weight. A learner has one output or several. A
//! [`Classifier`] turns the scores of any learner into classes. A [`Mixture`] weighs the
//! predictions of any learners, including a user's own. [`Restarting`] starts any learner anew when
//! its loss has risen.
//!
//! Other learners have engines of their own:
//!
//! | engine | what it does | learners |
//! |---|---|---|
//! | [`KernelExpansion`] | keeps every point; gradient steps | [`Kogd`], [`AogdAld`] past its growth limit, [`Nogd`] before its switch |
//! | [`DualNewton`] | keeps every point; Newton steps in the dual | [`Kons`], [`SketchedKons`] |
//! | [`KernelRidge`] | keeps every point; exact ridge regression | [`KernelAwv`], [`KernelKrr`] |
//! | [`ProjectedRidge`] | projects the whole past anew when it keeps a point | [`PkawvNystrom`], [`PkrrNystrom`] |
//! | [`OnCoefficients`] | moves kernel coefficients, not orthonormal coordinates | [`Knlms`], [`Qklms`] and others |
//! | [`OnSeveralKernels`] | has several kernels on one dictionary | [`MknlmsCs`], [`Mxklms`] |
//!
//! The crate `mercer-registry` lists all learners by name, `mercer-auto` has one that sets itself
//! up.
//!
//! [`PkawvFrozen`] and [`PkrrFrozen`] (\[B\] Corollary 8) need all inputs beforehand, so the
//! catalogue has no name for them. They cost `Jd + 2½J²` multiply-adds a round and `Jd + J²` of
//! memory.
//!
//! Forecasters of series are in the crate `mercer-forecast`, Koopman operators in `mercer-koopman`.
//!
//! Notation: `t` is the round, `d` the input dimension, `J` the dictionary size, `D` the number of
//! frequencies, `B` a budget and `k` a rank. `r = C(d+M, M)` is the number of Taylor features of
//! degree `M`, and `P` the number of kernels. \[A\] is Li and Liao, *Nearly optimal algorithms with
//! sublinear computational complexity for online kernel regression*. \[B\] is Jézéquel, Gaillard
//! and Rudi, *Efficient online learning with kernels for adversarial large scale problems*.
//!
//! Contracts:
//!
//! - [`Regressor::predict_into`] changes nothing and does not allocate.
//! - A refused example leaves the learner as it was. Refused are another dimension, NaN, and an
//!   update that is not finite.
//! - A learner that draws random numbers owns a ChaCha8 generator, seeded by a parameter.
//! - At a fixed dictionary size, a step allocates nothing.
//!
//! ```
//! use mercer_kernels::Gaussian;
//! use mercer_learners::{NonsAld, NonsAldParams, Regressor, RegressorExt};
//!
//! let mut learner = NonsAld::new(Gaussian::new(0.5)?, 1, NonsAldParams::default())?;
//! let mut loss = 0.0;
//! for t in 0..1000 {
//!     let x = [f64::from(t % 100) / 50.0 - 1.0];
//!     let y = (3.0 * x[0]).sin();
//!     let prediction = learner.predict_then_update(&x, y)?;
//!     loss += (prediction - y).powi(2);
//! }
//! assert!(loss / 1000.0 < 0.05 && learner.dictionary_size() < 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod classification;
mod engines;
mod entry;
mod error;
mod example;
mod filters;
mod gradient;
mod learner;
mod least_squares;
pub mod loss;
mod margin;
mod moments;
mod multikernel;
mod newton;
mod one_of;
mod parameters;
mod prequential;
mod wrappers;

pub mod catalogue {
    //! What is said of a learner, the keys that set it, and how it is made of their values.
    //!
    //! An [`Entry`] stands beside each learner's type and holds all that is said of it anywhere:
    //! its keys with defaults from its `Params`, its [`Cost`](mercer_core::Cost), the losses and
    //! targets that it [takes](Takes). The crate `mercer-registry` lists them. How settings are
    //! written (`KEY=VALUE`, arithmetic, mixtures of members) is no concern of this module: it gets
    //! [`Values`].

    pub use crate::entry::{
        BuildError, Choice, Context, Entry, Field, Key, Kind, Learner, Look, NEEDS_GAUSSIAN, ParameterType, Parameters,
        Range, Rule, SearchRange, Takes, Value, Values, count, keys_of,
    };
}

pub mod families {
    //! The learners of all families, with their parameters.

    pub use crate::{filters::*, gradient::*, least_squares::*, margin::*, multikernel::*, newton::*};
}

#[cfg(feature = "serde")]
#[doc(hidden)]
pub use one_of::Tags;

pub use error::Error;
pub use mercer_core::ParameterError;
pub use mercer_linalg_incremental::Removal;
pub use {
    classification::{ClassScore, Classifier, area_under_curve},
    engines::basis::{
        Eviction, FeatureMap, FrozenNystrom, GrowThenStep, GrowthTiming, OnDictionary, OnFeatures, StepThenGrow,
        StepThenRestart,
    },
    engines::{
        CoefficientUpdate, Curvature, DualNewton, KernelExpansion, MultikernelUpdate, OnCoefficients, OnSeveralKernels,
        Seen, SeenByKernels, basis, update,
    },
    example::{Problem, Rows, Shape, Target, Targets},
    families::*,
    learner::{Blocks, Growth, Regressor, RegressorExt, Scratch, Variance, learn_one_by_one},
    loss::Loss,
    moments::{
        FixedMap, MapError, MomentScratch, MomentSums, OperatorMoments, PkawvFixed, PkrrFixed, Projection,
        RidgeMoments, RidgePath, RidgePoint, leverage_sample, leverage_scores,
    },
    prequential::{Round, RoundError, Score, prequential},
    wrappers::{Expert, Member, Mixture, OnOneDictionary, Restarting, Sharer, Sharing, intervals, mixture, restart},
};

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
