//! Online learning with kernels: regression on a stream, one example at a time, with a dictionary
//! that stays small.
//!
//! This crate is the entrance to the workspace. It has every library crate as a module, the main
//! types at the root, the [`catalogue`] of learners by name, and the `mercer` command (feature
//! `cli`). It computes nothing itself, so a program may also depend on one of the other crates
//! alone.
//!
//! [`Auto`] needs no settings and takes features in any unit. With a learner of your choice you
//! scale the data yourself, by [`readers::Scaling`] or [`encoding`].
//!
//! | module | what it answers |
//! |---|---|
//! | [`learners`] | how a function is learnt: regression learners, a basis times an update, and mixtures of them |
//! | [`forecast`] | how a series goes on: predictors of unknown linear systems, and mixtures of them |
//! | [`koopman`] | where the states of a system go: Koopman and conditional-mean operators, learnt from pairs |
//! | [`experts`] | what stands around predictions: weights of several predictors, conformal intervals, detectors of change |
//! | [`kernels`] | what is similar: kernels, sets of points, kernel rows, random features |
//! | [`sparsify`] | which points are kept: ALD, KORS, first-B |
//! | [`linalg_incremental`] | how factors and inverses grow by a row, without a refit |
//! | [`simd`] | how the inner loops use the processor |
//! | [`readers`] | where examples come from: files to rows and records, tables, scalings, permutations |
//! | [`datasets`] | named data sets, found and checked |
//! | [`streams`] | simulated systems and streams whose truth is known |
//! | [`encoding`] | how a table of any columns becomes inputs: schemas, running scalings, categories, dates, gaps, pipelines |
//! | [`core`] | whether state that was read back can be trusted; parameter errors |
//! | [`catalogue`] | a learner by its name and `KEY=VALUE` settings, when the program runs |
//! | [`tune`] | which settings suit the data |
//! | `session` | one row predicted, learnt and scored; `model`: learners in files, checked when they are read back (feature `model`) |
//! | `notes` | what is to be said of a run beside its numbers: causes, and what mends them (feature `model`) |
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

pub use mercer_auto as auto;
pub use mercer_core as core;
#[cfg(feature = "data")]
pub use mercer_datasets as datasets;
#[cfg(feature = "data")]
pub use mercer_encoding as encoding;
pub use mercer_experts as experts;
pub use mercer_forecast as forecast;
pub use mercer_kernels as kernels;
pub use mercer_koopman as koopman;
pub use mercer_learners as learners;
pub use mercer_linalg_incremental as linalg_incremental;
#[cfg(feature = "data")]
pub use mercer_readers as readers;
pub use mercer_registry as registry;
pub use mercer_simd as simd;
pub use mercer_sparsify as sparsify;
#[cfg(feature = "data")]
pub use mercer_streams as streams;

pub use mercer_auto::{Auto, AutoParams};
pub use mercer_core::ExampleError;
pub use mercer_experts::{Adwin, AnyDetector, ChangeDetector, PageHinkley};
pub use mercer_kernels::{
    AnyKernel, Gaussian, Kernel, KernelError, KernelMixture, KernelSpec, Laplace, Linear, Matern32, Matern52, Points,
    Polynomial, RandomFourier, median_width,
};
pub use mercer_learners::families::*;
pub use mercer_learners::{
    Blocks, ClassScore, Classifier, Error, Eviction, Expert, Growth, Loss, Member, Mixture, Problem, Regressor,
    RegressorExt, Removal, Restarting, Round, RoundError, Rows, Score, Scratch, Shape, Target, Targets, Variance,
    prequential,
};
pub use mercer_registry::{AnyRegressor, catalogue, tune};
#[cfg(feature = "model")]
pub use mercer_session::{self as session, fit, model, notes};
