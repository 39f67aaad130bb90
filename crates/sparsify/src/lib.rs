//! Which points of a stream a kernel dictionary keeps, and the coordinates the dictionary gives.
//!
//! [`NewtonBasis`] holds the kept points and the Cholesky factor of their Gram matrix; [`NewtonBasis::probe`] turns an
//! input into orthonormal coordinates `φ(x) = L⁻¹ k_S(x)` and the squared distance `δ = k(x,x) − ‖φ(x)‖²` of `k(x,·)` to
//! the span. An [`Admission`] rule looks at the probe and says whether the point is kept:
//!
//! | rule | keeps `x` when | state | source |
//! |---|---|---|---|
//! | [`Ald`] | `δ > α` | none | approximate linear dependence, Engel et al. 2004; \[A\] eq. (4)–(5) |
//! | [`Kors`] | `u < min(β τ, 1)`, `τ` its ridge leverage score, and it is not in the span | a covariance, a coin | Calandriello et al. 2017 |
//! | [`FirstB`] | fewer than `B` points are kept | none | uniform sampling of a permuted stream |
//!
//! A learner of operators keeps pairs, and its test needs more than a probe: [`MatchingPursuit`] decides from the residuals of
//! both sides and the length of the step.
//!
//! (\[A\] is Li and Liao, *Nearly optimal algorithms with sublinear computational complexity for online kernel regression*.)
//!
//! ```
//! use mercer_kernels::Gaussian;
//! use mercer_sparsify::{Admission, Ald, NewtonBasis, Probe};
//! let mut basis = NewtonBasis::new(Gaussian::new(1.0)?, 1);
//! let (mut rule, mut probe) = (Ald::new(0.01)?, Probe::default());
//! for t in 0..200 {
//!     let x = [f64::from(t % 50) * 0.1];
//!     basis.probe(&x, &mut probe);
//!     if let Some(new_coordinate) = rule.admits(&probe) {
//!         basis.append(&x, probe.coordinates(), new_coordinate);
//!     }
//! }
//! assert_eq!(basis.len(), 11);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admission;
mod ald;
mod first_b;
mod kors;
mod matching_pursuit;
mod newton_basis;

pub use admission::Admission;
pub use ald::Ald;
pub use first_b::FirstB;
pub use kors::{Kors, KorsScratch};
pub use matching_pursuit::{Budget, BudgetTest, Candidate, DictionaryShape, MatchingPursuit, Verdict};
pub use mercer_core::ParameterError;
pub use mercer_linalg_incremental::TOGETHER;
pub use newton_basis::{NewtonBasis, Probe};
