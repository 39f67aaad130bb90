//! How the parameters of learners are declared.

pub(crate) use mercer_core::parameters;
