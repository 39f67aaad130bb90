//! Kernel adaptive filters, one a file.

pub(crate) mod fb_klms;
pub(crate) mod kap;
pub(crate) mod kap_sm;
pub(crate) mod klms;
pub(crate) mod klms_csl1;
pub(crate) mod knlms;
pub(crate) mod lkapa;
pub(crate) mod norma;
mod normalised_step;
pub(crate) mod qklms;
pub(crate) mod qklms_fb;

pub use {
    fb_klms::*, kap::*, kap_sm::*, klms::*, klms_csl1::*, knlms::*, lkapa::*, norma::*, normalised_step::*, qklms::*,
    qklms_fb::*,
};
