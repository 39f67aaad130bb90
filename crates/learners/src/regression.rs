//! The regression learners, one a file.

pub(crate) mod any;
pub(crate) mod aogd_ald;
pub(crate) mod dual_newton;
pub(crate) mod expansion;
pub(crate) mod fogd;
pub(crate) mod kernel_awv;
pub(crate) mod kogd;
pub(crate) mod kons;
pub(crate) mod krls;
pub(crate) mod nogd;
pub(crate) mod nons_ald;
pub(crate) mod pkawv_nystrom;
pub(crate) mod pkawv_taylor;
pub(crate) mod pros_n_kons;
pub(crate) mod sketched_kons;
