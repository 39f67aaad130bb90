//! Online learning of Koopman and conditional-mean operators.
//!
//! From pairs `(x_t, x_t⁺)` of a Markov process the learners estimate the operator `U` on a
//! reproducing kernel Hilbert space that minimises `½ E‖k_Y(x⁺, ·) − U k_X(x, ·)‖² + ½ λ‖U‖²_HS`:
//! `U k_X(x, ·)` is the mean embedding of the successor of `x`, and the adjoint `K = Uᵀ` is the
//! Koopman operator, `(Kg)(x) = E[g(x⁺) | x]`.
//!
//! | type | what it is | a step | memory |
//! |---|---|---|---|
//! | [`OperatorSums`] | exact least squares on a bounded dictionary, its kernel and ridge chosen, with spread and intervals | `O(md + p²)` for each of 7 kernels, fewer from pair 16,384 on | `80p²` for each |
//! | [`Sogd`] | stochastic operator gradient descent on a dictionary kept small by matching pursuit (\[K\] Algorithm 1) | `2md + 3m²` | `2md + 2m²` |
//! | [`DenseSogd`] | the same on all points (\[K\] eq. 28) | `td + t²` | `2td + t²` |
//! | [`batch`] | what a stream is compared with: `U_λ`, kernel EDMD, Nyström EDMD, a finite chain | `O(n³)` in all, Nyström `nm²` | `n²`, Nyström `m²` |
//!
//! All of them end in a [`KernelOperator`], from which everything is read off: Hilbert–Schmidt
//! [norm](KernelOperator::hs_norm) and [distance](KernelOperator::hs_distance),
//! [eigenfunctions](KernelOperator::eigen), [forecasts](KernelOperator::powers), conditional-mean
//! [weights](KernelOperator::embedding). Metastable sets come from [`KMeans`] on eigenfunctions and
//! are scored by [`adjusted_rand_index`]; a Markov decision process is solved on the learnt
//! operator by [`value_iteration`], with `x = (state, action)` as input and a
//! [`Product`](mercer_kernels::Product) kernel.
//!
//! `m` is the dictionary size, `d` the input dimension, `t` the round, `n` the length of the data;
//! multiply-adds and numbers. \[K\] is Hou, Sanjari, Dahlin, Koppel and Bose, *Nonparametric sparse
//! online learning of the Koopman operator*.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

pub mod batch;
mod clusters;
mod dense_sogd;
mod eigen;
mod error;
mod forecast;
mod kernel_operator;
mod lag_scan;
mod learner;
mod side;
mod sogd;
mod step_schedule;
mod sums;
mod trajectory;
mod value_iteration;

pub use clusters::{Clusters, KMeans, adjusted_rand_index, orthonormal_rows};
pub use dense_sogd::{DenseSogd, DenseSogdParams};
pub use eigen::Eigenfunctions;
pub use error::Error;
pub use kernel_operator::KernelOperator;
pub use lag_scan::{LagMode, LagScan};
pub use learner::{OperatorLearner, OperatorStep};
pub use mercer_kernels as kernels;
pub use mercer_linalg_incremental::Eigenvalue;
pub use mercer_sparsify::{Budget, BudgetTest, DictionaryShape, Verdict};
pub use sogd::{Sogd, SogdParams};
pub use step_schedule::StepSchedule;
pub use sums::{
    Choice, DictionaryPoint, MetastableSets, Mode, ModeShapes, OperatorModel, OperatorSums, OperatorSumsParams,
    Quality, Reason, Reliability,
};
pub use trajectory::{Pair, Trajectory};
pub use value_iteration::{Policy, ValueIterationParams, value_iteration};
