//! Learners with several kernels on one dictionary, one a file.

mod kernels;
pub(crate) mod mknlms_cs;
pub(crate) mod mxklms;

pub use {mknlms_cs::*, mxklms::*};
