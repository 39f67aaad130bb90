//! What the tests of the other crates lean on: brute-force oracles, seeded streams and a counting allocator.
//!
//! For whoever tests a learner of this workspace. A learner keeps triangular factors and inverses up to date in O(J²) a
//! round; an oracle of [`oracle`] answers the same question by writing the paper's dense formula down and solving it
//! from scratch, in O(t³) if need be. The two share no line of code: this part of the crate depends on no other crate of
//! the workspace, and takes a kernel as `&dyn Fn(&[f64], &[f64]) -> f64`. If the predictions agree on every round, a
//! mistake would have to be made twice, in two notations. (The suite of [`conformance`] is the one part that knows the
//! learners.)
//!
//! It refuses to be fast, to be called from library code, and to hide a numerical failure: an oracle that cannot
//! vouch for its own answer panics, since a panic in a test is a finding and a wrong reference is a trap.
//!
//! - [`oracle`]: one function an algorithm, each returning every prediction of one prequential pass.
//! - [`streams`]: seeded streams, easy and hostile.
//! - [`conformance`]: the contract of a learner as one suite, run on every learner.
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
