//! Learners that go down the gradient, one a file.

pub(crate) mod aogd_ald;
pub(crate) mod fogd;
pub(crate) mod kogd;
pub(crate) mod nogd;

pub use {aogd_ald::*, fogd::*, kogd::*, nogd::*};
