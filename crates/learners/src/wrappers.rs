//! Learners around learners.

pub mod intervals;
pub mod mixture;
pub mod restart;
pub mod robust;

pub use mixture::{Expert, Member, Mixture, OnOneDictionary, Sharer, Sharing};
pub use restart::Restarting;
pub use robust::{Robust, RobustParams, Weights};
