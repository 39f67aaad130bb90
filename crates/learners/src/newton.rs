//! Learners by online Newton steps, one a file.

pub(crate) mod kons;
pub(crate) mod nons_ald;
pub(crate) mod pros_n_kons;
pub(crate) mod sketched_kons;

pub use kons::{EveryRound, Kons, KonsParams};
pub use nons_ald::{NonsAld, NonsAldParams};
pub use pros_n_kons::{ConKons, ConKonsParams, ProsNKons, ProsNKonsParams};
pub use sketched_kons::{LeverageCoins, SketchedKons, SketchedKonsParams};
