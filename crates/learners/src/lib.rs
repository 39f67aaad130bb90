//! Online learners in reproducing kernel Hilbert spaces.
//!
//! Most of them are a *basis* (how an input becomes coordinates) times a *linear update* (how the coefficients move):
//!
//! | update \ basis | ALD dictionary | KORS dictionary | frozen dictionary | random Fourier | Gaussian Taylor |
//! |---|---|---|---|---|---|
//! | [gradient step](update::GradientStep) | [`AogdAld`] | | [`Nogd`] after its switch | [`Fogd`] | |
//! | [online Newton step](update::NewtonStep) | [`NonsAld`] | [`ProsNKons`] (restart), [`ConKons`] (carry) | | | |
//! | [least squares](update::LeastSquares), [ridge](update::Ridge) | [`Krls`] | [`PkrrNystrom`] | [`PkrrFrozen`] | | [`PkrrTaylor`] |
//! | [least squares](update::LeastSquares), [AWV](update::Awv) | | [`PkawvNystrom`] | [`PkawvFrozen`] | | [`PkawvTaylor`] |
//!
//! A dictionary has a largest size. A full one keeps no further point, or an [`Eviction`] rule makes room for it.
//!
//! Losses, weights, outputs and classes are no learners of their own: a [`Loss`] is a value, every example has a weight, a learner has one output or
//! several, and a [`Classifier`] makes classes of any learner's scores. [`Knlms`] and [`Qklms`] move kernel coefficients, on an engine beside the grid
//! ([`OnCoefficients`]). A [`Mixture`] weighs any learners, those of a user too.
//!
//! Those that keep every point are not cells: [`Kogd`] (and [`AogdAld`] past its growth limit, and [`Nogd`] before its
//! switch) is a [`KernelExpansion`]; [`Kons`] and [`SketchedKons`] are [`DualNewton`], one engine in the dual; [`KernelAwv`] and [`KernelKrr`] are [`KernelRidge`]. The Nyström learners of
//! the last two rows project the whole past anew when a point is kept, and are [`ProjectedRidge`]. [`Knlms`] and [`Qklms`] move kernel
//! coefficients instead of orthonormal coordinates, and are [`OnCoefficients`].
//!
//! | learner | source | multiply-adds a round | memory |
//! |---|---|---|---|
//! | [`Kogd`] | Zinkevich 2003; \[A\] eqs. 2–3 | `td` | `td` |
//! | [`AogdAld`] | \[A\] Algorithm 1 | `Jd + ½J²` | `Jd + ½J²` |
//! | [`Kons`] | Calandriello et al. 2017b; \[A\] Algorithm 2 | `td + ½t²` | `td + ½t²` |
//! | [`SketchedKons`] | Calandriello et al. 2017b | `td + ½J²` | `td + ½J²` |
//! | [`NonsAld`] | \[A\] Algorithm 3 | `Jd + 2J²` | `Jd + J²` |
//! | [`ProsNKons`], [`ConKons`] | Calandriello et al. 2017a | `Jd + 2½J²` | `Jd + 1½J²` |
//! | [`Fogd`] | Lu et al. 2016 | `Dd + 4D`, `D` sines and cosines | `Dd + 2D` |
//! | [`Nogd`] | Lu et al. 2016 | `Bd + Bk` | `Bd + Bk` |
//! | [`Krls`] | Engel et al. 2004 | `Jd + 2J²` | `Jd + J²` |
//! | [`Knlms`] | Richard et al. 2009 | `Jd + 4J` | `Jd + 2J` |
//! | [`Qklms`] | Chen et al. 2012 | `2Jd + J` | `Jd + 2J` |
//! | [`KernelAwv`], [`KernelKrr`] | \[B\] eq. 3 | `td + ½t²` | `td + ½t²` |
//! | [`PkawvTaylor`], [`PkrrTaylor`] | \[B\] Algorithm 1 | `2r²`, `1½r²`, `r = C(d+M, M)` | `½r²` |
//! | [`PkawvFrozen`], [`PkrrFrozen`] | \[B\] Corollary 8 | `Jd + 2½J²` | `Jd + J²` |
//! | [`PkawvNystrom`], [`PkrrNystrom`] | \[B\] Algorithm 2 | `Jd + 3J²`, `t(d + 2J)` when a point is kept | `t(d + J) + 1½J²` |
//!
//! Two families have modules of their own: [`prediction`] forecasts the outputs of a linear system from their past and needs no
//! kernel; [`operator`] learns Koopman and conditional-mean operators from pairs.
//!
//! `t` is the round, `d` the input dimension, `J` the dictionary size, `D` the frequencies, `B` and `k` NOGD's budget and
//! rank, `M` the degree of Taylor features. \[A\] is Li and Liao, *Nearly optimal algorithms with sublinear computational
//! complexity for online kernel regression*; \[B\] is Jézéquel, Gaillard and Rudi, *Efficient online learning with kernels for
//! adversarial large scale problems*.
//!
//! Contracts: [`Regressor::predict_with`] is pure and does not allocate; a refused example (another dimension, NaN, an
//! update that is not finite) leaves the learner as it was; learners that draw own a ChaCha8 generator seeded by a
//! parameter; at a fixed dictionary size a step allocates nothing.
//!
//! ```
//! use mercer_kernels::Gaussian;
//! use mercer_learners::{NonsAld, NonsAldParams, Regressor};
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

pub mod aggregation;
#[cfg(feature = "regression")]
mod any;
#[cfg(feature = "regression")]
mod auto;
#[cfg(feature = "regression")]
pub mod basis;
#[cfg(feature = "regression")]
pub mod catalogue;
#[cfg(feature = "regression")]
mod classification;
#[cfg(feature = "regression")]
mod coefficients;
mod error;
#[cfg(feature = "regression")]
mod every_point;
#[cfg(feature = "regression")]
mod learner;
#[cfg(feature = "regression")]
pub mod loss;
#[cfg(feature = "regression")]
mod mixture;
#[cfg(feature = "operator")]
pub mod operator;
#[cfg(any(feature = "regression", feature = "prediction", feature = "operator"))]
mod parameters;
#[cfg(feature = "prediction")]
pub mod prediction;
#[cfg(feature = "regression")]
mod prequential;
#[cfg(feature = "regression")]
mod regression;
#[cfg(feature = "regression")]
pub mod update;

pub use error::Error;
pub use mercer_core::ParameterError;
#[cfg(feature = "regression")]
pub use mercer_linalg_incremental::Removal;
#[cfg(feature = "regression")]
pub use {
    any::AnyRegressor,
    auto::{Auto, AutoParams},
    basis::{
        Eviction, FeatureMap, FrozenNystrom, GrowThenStep, GrowthTiming, OnDictionary, OnFeatures, StepThenGrow,
        StepThenRestart,
    },
    classification::{ClassScore, Classifier, area_under_curve},
    coefficients::{
        CoefficientUpdate, Knlms, KnlmsParams, NormalisedStep, OnCoefficients, Qklms, QklmsParams, QuantisedStep, Seen,
    },
    every_point::{
        Curvature, DualNewton, KernelAwv, KernelExpansion, KernelKrr, KernelRidge, KernelRidgeParams, NystromParams,
        PkawvNystrom, PkrrNystrom, ProjectedRidge,
    },
    learner::{Regressor, Rows, Scratch, Target, Targets, check_example},
    loss::Loss,
    mixture::{Expert, Member, Mixture},
    prequential::{Round, RoundError, Score, prequential},
    regression::*,
};

/// The code of the README, run as a test.
#[cfg(all(doctest, feature = "regression"))]
#[doc = include_str!("../README.md")]
struct Readme;
