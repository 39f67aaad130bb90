//! Engines that keep every point of the stream, or all of its past.

pub(crate) mod dual_newton;
pub(crate) mod expansion;
pub(crate) mod kernel_ridge;
pub(crate) mod projected_ridge;

pub use dual_newton::{Curvature, DualNewton};
pub use expansion::KernelExpansion;
pub use kernel_ridge::{KernelAwv, KernelKrr, KernelRidge, KernelRidgeParams};
pub use projected_ridge::{NystromParams, PkawvNystrom, PkrrNystrom, ProjectedRidge};
