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
//! Contracts:
//!
//! - [`Regressor::predict_into`] changes nothing and does not allocate.
//! - A refused example leaves the learner as it was. Refused are another dimension, NaN, and an
//!   update that is not finite.
//! - A learner that draws random numbers owns a ChaCha8 generator, seeded by a parameter.
//! - At a fixed dictionary size, a step allocates nothing.
#![doc = include_str!("engines.md")]
#![doc = include_str!("../README.md")]
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
mod input;
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
mod scratch;
mod sparse;
mod token_learning;
mod wrappers;

pub mod catalogue {
    //! The description of a learner, the keys that set it, and how it is made of their values.
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

    pub use crate::{filters::*, gradient::*, least_squares::*, margin::*, multikernel::*, newton::*, sparse::*};
}

#[cfg(feature = "serde")]
#[doc(hidden)]
pub use one_of::Tags;

pub use error::Error;
pub use mercer_core::{ParameterError, Token, TokenRow, TokenUse, column_key};
pub use mercer_kernels as kernels;
pub use mercer_linalg_incremental::Removal;
pub use {
    classification::{ClassScore, Classifier, area_under_curve},
    engines::basis::{
        Eviction, FeatureMap, FrozenNystrom, GrowThenStep, GrowthTiming, OnDictionary, OnFeatures, StepThenGrow,
        StepThenRestart,
    },
    engines::{
        CoefficientUpdate, Curvature, DualNewton, KernelExpansion, MultikernelUpdate, OnCoefficients, OnSeveralKernels,
        SampleView, SeenByKernels, basis, tokens, update,
    },
    example::{Problem, Rows, Shape, Target, Targets},
    families::*,
    input::{Input, Inputs},
    learner::{
        Blocks, Growth, Regressor, RegressorExt, Scratch, Tokens, Variance, learn_one_by_one, predict_input, step_input,
    },
    loss::Loss,
    moments::{
        FixedMap, MapError, MomentScratch, MomentSums, OperatorMoments, PkawvFixed, PkrrFixed, Projection, RawSums,
        RidgeMoments, RidgePath, RidgePoint, leverage_sample, leverage_scores,
    },
    prequential::{Round, RoundError, Score, prequential},
    wrappers::{
        Expert, Member, Mixture, OnOneDictionary, Restarting, Robust, RobustParams, Sharer, Sharing, Weights,
        intervals, mixture, restart, robust,
    },
};
