//! The readers, the registry and the simulated systems from outside, in one binary.

mod chosen_columns;
#[cfg(feature = "arrow")]
mod columnar;
mod dialects;
mod errors;
mod examples;
mod json;
mod linear_system;
mod manners;
mod registry;
mod round_trip;
mod without_target;
