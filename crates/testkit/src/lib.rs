//! Test tools for the other crates: brute-force oracles, seeded streams and a counting allocator.
//!
//! A learner keeps triangular factors and inverses up to date in O(J²) a round. An oracle of
//! [`oracle`] answers the same question from the paper's dense formula, solved from scratch, in
//! O(t³) if need be. The two share no code: the oracles depend on no other crate of the workspace,
//! and take a kernel as `&dyn Fn(&[f64], &[f64]) -> f64`. If the predictions agree in every round,
//! both are right, or both have the same mistake in two notations. (Only the suite of
//! [`conformance`] knows the learners.)
//!
//! Oracles need not be fast, and library code never calls them. An oracle that cannot vouch for its
//! answer panics, because a wrong reference is worse than a failed test.
//!
//! - [`oracle`]: one function an algorithm, each returning every prediction of one prequential
//!   pass.
//! - [`streams`]: seeded streams, easy and hostile.
//! - [`conformance`]: the contract of a learner as one suite, run on every learner.
//! - [`stress`]: what one row, or a run of rows, leaves behind in every learner and forecaster.
//! - [`alloc`]: proves that a piece of code does not allocate.
//!
//! ```
//! use mercer_testkit::{oracle, streams};
//!
//! let stream = streams::smooth_noisy(7, 40, 2, 0.1);
//! let kernel = oracle::gaussian(0.5);
//! let trace = oracle::nons_ald_svd(&stream, &kernel, oracle::NonsAldParams::default());
//! assert_eq!(trace.predictions.len(), 40);
//! assert_eq!(trace.dictionary[0], 0); // the first point is always kept
//! ```

pub mod alloc;
pub mod conformance;
pub mod oracle;
pub mod streams;
pub mod stress;
