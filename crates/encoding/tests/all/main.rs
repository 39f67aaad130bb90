//! Schemas, transforms and pipelines from outside, in one binary.

#[cfg(feature = "learners")]
mod pipeline;
#[cfg(all(feature = "learners", feature = "serde"))]
mod saved;
mod schema;
#[cfg(feature = "learners")]
mod scores;
#[cfg(feature = "learners")]
mod targets;
mod tokens;
mod transform;
