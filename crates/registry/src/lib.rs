//! All learners by name.
//!
//! [`entries`] lists what is said of each: its keys, costs, targets and losses. [`build`] makes the
//! learner of an entry with values of all keys, [`build_with`] with some of them, [`trial`] a small
//! one. All are [`AnyRegressor`], which saves as the number of its learner and the learner.
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
//! | `krmc` | [`Krmc`] | Wu et al. 2015 | `Jd + 2J²` | `Jd + J²` |
//! <!-- /learners -->
//!
//! `t` is the round, `d` the input dimension, `J` the dictionary size; `mercer-learners` explains
//! the other letters.
//!
//! ```
//! use mercer_learners::RegressorExt;
//! use mercer_registry::{entries, trial};
//!
//! for entry in entries() {
//!     let mut learner = trial(entry, "gaussian:0.5".parse()?, 2)?;
//!     learner.update(&[0.1, 0.2], 1.0)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod any;
mod trial;

pub use any::{AnyRegressor, Built, build, entries};
pub use trial::{build_with, trial};

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
