//! Learners by regularised least squares, one a file.

pub(crate) mod ex_krls;
pub(crate) mod fb_krls;
pub(crate) mod kernel_ridge;
pub(crate) mod krls;
pub(crate) mod krls_t;
pub(crate) mod krmc;
pub(crate) mod pkawv_frozen;
pub(crate) mod pkawv_taylor;
pub(crate) mod projected_ridge;
pub(crate) mod sw_krls;

pub use {
    ex_krls::*, fb_krls::*, kernel_ridge::*, krls::*, krls_t::*, krmc::*, pkawv_frozen::*, pkawv_taylor::*,
    projected_ridge::*, sw_krls::*,
};
