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

pub use fb_klms::{FbKlms, FbKlmsParams, FixedBudgetStep};
pub use kap::{AffineProjection, Kap, KapParams};
pub use kap_sm::{KapSm, KapSmLoss, KapSmParams, SubgradientProjection};
pub use klms::{Klms, KlmsParams};
pub use klms_csl1::{KlmsCsal1, KlmsCsal1Params, KlmsCsl1, KlmsCsl1Params, ThresholdedStep};
pub use knlms::{Knlms, KnlmsParams};
pub use lkapa::{LeakyProjection, Lkapa, LkapaParams, Nlkapa, NlkapaParams};
pub use norma::{Leak, Norma, NormaParams, NormaStep, Schedule};
pub use normalised_step::NormalisedStep;
pub use qklms::{Qklms, QklmsParams, QuantisedStep};
pub use qklms_fb::{QklmsFb, QklmsFbParams, SignificanceStep};
