//! Learners around learners.

pub mod intervals;
pub mod mixture;
pub mod restart;

pub use mixture::{Expert, Member, Mixture, OnOneDictionary, Sharer, Sharing};
pub use restart::Restarting;
