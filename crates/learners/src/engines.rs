//! Parts of learners: bases, updates, and the engines that put one on the other. No learner has its
//! name here.

pub mod basis;
pub(crate) mod coefficients;
pub(crate) mod dual_newton;
pub(crate) mod expansion;
pub(crate) mod several_kernels;
pub mod tokens;
pub mod update;

pub use coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
pub use dual_newton::{Curvature, DualNewton};
pub use expansion::KernelExpansion;
pub use several_kernels::{MultikernelUpdate, OnSeveralKernels, SeenByKernels};
