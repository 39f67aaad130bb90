//! Learners of numbers, vectors and classes, one a file.

pub(crate) mod aogd_ald;
pub(crate) mod fb_krls;
pub(crate) mod fogd;
pub(crate) mod kogd;
pub(crate) mod kons;
pub(crate) mod krls;
pub(crate) mod krls_t;
pub(crate) mod nogd;
pub(crate) mod nons_ald;
pub(crate) mod pkawv_frozen;
pub(crate) mod pkawv_taylor;
pub(crate) mod projectron;
pub(crate) mod pros_n_kons;
pub(crate) mod sketched_kons;
pub(crate) mod sw_krls;

pub use aogd_ald::{AogdAld, AogdAldParams};
pub use fb_krls::{FbKrls, FbKrlsParams};
pub use fogd::{Fogd, FogdParams};
pub use kogd::{Kogd, KogdParams};
pub use kons::{EveryRound, Kons, KonsParams};
pub use krls::{AldKrlsParams, Krls, KrlsParams};
pub use krls_t::{Jittered, KrlsT, KrlsTParams, KrlsTRule, ScaledSquares};
pub use nogd::{Nogd, NogdParams};
pub use nons_ald::{NonsAld, NonsAldParams};
pub use pkawv_frozen::{PkawvFrozen, PkrrFrozen};
pub use pkawv_taylor::{PkawvTaylor, PkrrTaylor, TaylorParams};
pub use projectron::{Projectron, ProjectronParams, ProjectronPlus, ProjectronPlusParams};
pub use pros_n_kons::{ConKons, ConKonsParams, ProsNKons, ProsNKonsParams};
pub use sketched_kons::{LeverageCoins, SketchedKons, SketchedKonsParams};
pub use sw_krls::{SwKrls, SwKrlsParams};
