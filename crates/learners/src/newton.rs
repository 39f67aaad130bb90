//! Learners by online Newton steps, one a file.

pub(crate) mod kons;
pub(crate) mod nons_ald;
pub(crate) mod pros_n_kons;
pub(crate) mod sketched_kons;

pub use crate::engines::update::importance::NewtonSteps;
pub use {kons::*, nons_ald::*, pros_n_kons::*, sketched_kons::*};
