//! Classes on scores: any learner of this crate as a classifier.

mod calibration;
mod classifier;
mod probability;
mod score;

pub use classifier::Classifier;
pub use score::{ClassScore, area_under_curve};
