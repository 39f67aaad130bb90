//! Learners around learners.

pub mod intervals;
pub(crate) mod mixture;
pub(crate) mod restart;

pub use mixture::{Expert, Member, Mixture};
pub use restart::Restarting;
