//! Learners by regularised least squares, one a file.

pub(crate) mod ex_krls;
pub(crate) mod fb_krls;
pub(crate) mod kernel_ridge;
pub(crate) mod krls;
pub(crate) mod krls_t;
pub(crate) mod pkawv_frozen;
pub(crate) mod pkawv_taylor;
pub(crate) mod projected_ridge;
pub(crate) mod sw_krls;

pub use ex_krls::{ExKrls, ExKrlsParams, StateSpaceStep};
pub use fb_krls::{FbKrls, FbKrlsParams};
pub use kernel_ridge::{KernelAwv, KernelKrr, KernelRidge, KernelRidgeParams};
pub use krls::{AldKrlsParams, Krls, KrlsParams};
pub use krls_t::{Jittered, KrlsT, KrlsTParams, KrlsTRule, ScaledSquares};
pub use pkawv_frozen::{PkawvFrozen, PkrrFrozen};
pub use pkawv_taylor::{PkawvTaylor, PkrrTaylor, TaylorParams};
pub use projected_ridge::{NystromParams, PkawvNystrom, PkrrNystrom, ProjectedRidge};
pub use sw_krls::{SwKrls, SwKrlsParams};
