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
//! A dictionary has a largest size. A full one keeps no further point, unless an [`Eviction`] rule makes room for it.
//!
//! Losses, weights, outputs and classes work with every cell of the table. A [`Loss`] is a value that a learner holds. Every example has a
//! weight. A learner has one output or several. A [`Classifier`] turns the scores of any learner into classes. A [`Mixture`] weighs the
//! predictions of any learners, including a user's own. [`Restarting`] starts any learner anew when its loss has risen.
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
//! <!-- learners -->
//! | learner | type | source | multiply-adds a round | memory |
//! |---|---|---|---|---|
//! | `kogd` | [`Kogd`] | Zinkevich 2003; Li and Liao, eqs. 2–3 | `td` | `td` |
//! | `aogd-ald` | [`AogdAld`] | Li and Liao, Algorithm 1 | `Jd + ½J²` | `Jd + ½J²` |
//! | `kons` | [`Kons`] | Calandriello et al. 2017b; Li and Liao, Algorithm 2 | `td + ½t²` | `td + ½t²` |
//! | `sketched-kons` | [`SketchedKons`] | Calandriello et al. 2017b | `td + ½J²` | `td + ½J²` |
//! | `nons-ald` | [`NonsAld`] | Li and Liao, Algorithm 3 | `Jd + 2J²` | `Jd + J²` |
//! | `pros-n-kons` | [`ProsNKons`] | Calandriello et al. 2017a | `Jd + 2½J²` | `Jd + 1½J²` |
//! | `con-kons` | [`ConKons`] | Calandriello et al. 2017a; Li and Liao, section A.1 | `Jd + 2½J²` | `Jd + 1½J²` |
//! | `fogd` | [`Fogd`] | Lu et al. 2016 | `Dd + 4D` | `Dd + 2D` |
//! | `nogd` | [`Nogd`] | Lu et al. 2016 | `Bd + Bk` | `Bd + Bk` |
//! | `krls` | [`Krls`] | Engel et al. 2004 | `Jd + 2J²` | `Jd + J²` |
//! | `ald-krls` | [`Krls`] | Engel et al. 2004 | `Jd + 2J²` | `Jd + J²` |
//! | `kernel-awv` | [`KernelAwv`] | Jézéquel et al. 2019, eq. 3 | `td + ½t²` | `td + ½t²` |
//! | `kernel-krr` | [`KernelKrr`] | Zhdanov and Kalnishkan 2013; Jézéquel et al. 2019, section 4 | `td + ½t²` | `td + ½t²` |
//! | `pkawv-taylor` | [`PkawvTaylor`] | Jézéquel et al. 2019, section 3.1, Algorithm 1 | `2r²` | `½r²` |
//! | `pkrr-taylor` | [`PkrrTaylor`] | Jézéquel et al. 2019, section 4 | `1½r²` | `½r²` |
//! | `pkawv-nystrom` | [`PkawvNystrom`] | Jézéquel et al. 2019, section 3.2, Algorithm 2 | `Jd + 3J²` | `t(d + J)` |
//! | `pkrr-nystrom` | [`PkrrNystrom`] | Jézéquel et al. 2019, section 4 | `Jd + 3J²` | `t(d + J)` |
//! | `experts` | [`Mixture`] | de Rooij et al. 2014; Wintenberger 2017; Gaillard et al. 2014; Herbster and Warmuth 1998 | the members' | the members' |
//! | `auto` | [`Auto`] | experts as in Jézéquel et al. 2019, section 3.1 | `budget` | `budget` |
//! | `knlms` | [`Knlms`] | Richard et al. 2009 | `Jd + 4J` | `Jd + 2J` |
//! | `qklms` | [`Qklms`] | Chen et al. 2012 | `2Jd + J` | `Jd + 2J` |
//! | `klms` | [`Klms`] | Liu et al. 2008 | `Jd + J` | `Jd + 2J` |
//! | `kap` | [`Kap`] | Richard et al. 2009 | `Jd + ½p²J + 2pJ` | `Jd + 2J + pJ` |
//! | `norma` | [`Norma`] | Kivinen et al. 2004 | `Jd + 2J` | `Jd + 2J` |
//! | `fb-klms` | [`FbKlms`] | Rzepka 2012 | `Jd + 3J` | `Jd + 2J` |
//! | `lkapa` | [`Lkapa`] | Liu and Principe 2008 | `Jd + pd + pJ` | `Jd + 2J + pJ` |
//! | `nlkapa` | [`Nlkapa`] | Liu and Principe 2008 | `Jd + pd + pJ + p²` | `Jd + 2J + pJ` |
//! | `klms-csl1` | [`KlmsCsl1`] | Gao et al. 2013 | `Jd + 5J` | `Jd + 2J` |
//! | `klms-csal1` | [`KlmsCsal1`] | Gao et al. 2013 | `Jd + 5J` | `Jd + 2J` |
//! | `kap-sm` | [`KapSm`] | Slavakis et al. 2008 | `Jd + pd + pJ` | `Jd + 2J + pJ` |
//! | `qklms-fb` | [`QklmsFb`] | Zhao et al. 2013 | `3Jd + 4J` | `Jd + 4J` |
//! | `perceptron` | [`Perceptron`] | Freund and Schapire 1999 | `Jd + J` | `Jd + 2J` |
//! | `rbp` | [`Rbp`] | Cavallanti et al. 2007 | `Bd + B` | `Bd + 2B` |
//! | `forgetron` | [`Forgetron`] | Dekel et al. 2008 | `2Bd + 3B` | `Bd + 2B` |
//! | `projectron` | [`Projectron`] | Orabona et al. 2009 | `Jd + ½J²` | `Jd + ½J²` |
//! | `projectron++` | [`ProjectronPlus`] | Orabona et al. 2009 | `Jd + ½J²` | `Jd + ½J²` |
//! | `bpa-s` | [`BpaS`] | Wang and Vucetic 2010 | `Bd + 8B` | `Bd + 2B` |
//! | `pa` | [`Pa`] | Crammer et al. 2006 | `Jd + J` | `Jd + 2J` |
//! | `bogd` | [`Bogd`] | Zhao et al. 2012 | `Bd + 2B` | `Bd + 2B` |
//! | `pegasos` | [`Pegasos`] | Wang et al. 2012 | `Bd + 2B` | `Bd + 2B` |
//! | `sw-krls` | [`SwKrls`] | Van Vaerenbergh et al. 2006 | `Jd + 2½J²` | `Jd + ½J²` |
//! | `fb-krls` | [`FbKrls`] | Van Vaerenbergh et al. 2010 | `Jd + 3½J²` | `Jd + ½J²` |
//! | `krls-t` | [`KrlsT`] | Van Vaerenbergh et al. 2012 | `Jd + 8J²` | `Jd + J²` |
//! | `ex-krls` | [`ExKrls`] | Liu et al. 2009 | `Jd + J²` | `Jd + ½J²` |
//! | `mknlms-cs` | [`MknlmsCs`] | Yukawa 2012 | `P(Jd + 4J)` | `Jd + PJ` |
//! | `mxklms` | [`Mxklms`] | Pokharel et al. 2013 | `P(Jd + J)` | `Jd + PJ` |
//! | `restart` | [`Restarting`] | Page 1954; Bifet and Gavaldà 2007 | the members' | the members' |
//! <!-- /learners -->
//!
//! [`PkawvFrozen`] and [`PkrrFrozen`] (\[B\] Corollary 8) need all inputs beforehand, so the catalogue has no name for them. They cost
//! `Jd + 2½J²` multiply-adds a round and `Jd + J²` of memory.
//!
//! Forecasters of series are in the crate `mercer-forecast`, Koopman operators in `mercer-koopman`.
//!
//! Notation: `t` is the round, `d` the input dimension, `J` the dictionary size, `D` the number of frequencies, `B` a budget and `k` a
//! rank. `r = C(d+M, M)` is the number of Taylor features of degree `M`, and `P` the number of kernels. \[A\] is Li and Liao, *Nearly
//! optimal algorithms with sublinear computational complexity for online kernel regression*. \[B\] is Jézéquel, Gaillard and Rudi,
//! *Efficient online learning with kernels for adversarial large scale problems*.
//!
//! Contracts:
//!
//! - [`Regressor::predict_into`] changes nothing and does not allocate.
//! - A refused example leaves the learner as it was. Refused are another dimension, NaN, and an update that is not finite.
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

mod any;
mod auto;
mod classification;
mod engines;
mod entry;
mod error;
mod example;
mod filters;
mod gradient;
mod learner;
mod least_squares;
mod local;
pub mod loss;
mod margin;
mod moments;
mod multikernel;
mod newton;
mod parameters;
mod prequential;
mod wrappers;

pub mod catalogue {
    //! Learners by name: what each is, the keys that set it, and how it is made of their values.
    //!
    //! An [`Entry`] stands beside each learner's type and holds all that is said of it anywhere: its keys with defaults from its `Params`, its
    //! [`Cost`](mercer_core::Cost), the losses and targets that it [takes](Takes), settings for a small [trial](trial()). [`entries`] lists them. How settings
    //! are written (`KEY=VALUE`, arithmetic, mixtures of members) is no concern of this module: it gets [`Values`].
    //!
    //! ```
    //! use mercer_learners::RegressorExt;
    //! use mercer_learners::catalogue::{entries, trial};
    //!
    //! for entry in entries() {
    //!     let mut learner = trial(entry, "gaussian:0.5".parse()?, 2)?;
    //!     learner.update(&[0.1, 0.2], 1.0)?;
    //! }
    //! # Ok::<(), Box<dyn std::error::Error>>(())
    //! ```

    pub use crate::any::{Built, entries, trial};
    pub use crate::entry::{
        BuildError, Choice, Context, Entry, Field, Key, Kind, Look, ParameterType, Parameters, Range, Rule,
        SearchRange, Takes, Value, Values,
    };
}

pub use error::Error;
pub use mercer_core::ParameterError;
pub use mercer_linalg_incremental::Removal;
pub use {
    any::AnyRegressor,
    auto::{Auto, AutoParams},
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
    filters::*,
    gradient::*,
    learner::{Blocks, Growth, Regressor, RegressorExt, Scratch, Variance},
    least_squares::*,
    loss::Loss,
    margin::*,
    moments::{
        FixedMap, MapError, MomentScratch, MomentSums, OperatorMoments, PkawvFixed, PkrrFixed, Projection,
        RidgeMoments, RidgePath, RidgePoint, leverage_sample, leverage_scores,
    },
    multikernel::*,
    newton::*,
    prequential::{Round, RoundError, Score, prequential},
    wrappers::{Expert, Member, Mixture, Restarting, intervals},
};

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
