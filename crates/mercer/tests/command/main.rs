//! The `mercer` command as its user meets it: the built program, its output, its messages and its exit codes.

mod classes;
mod data;
mod eval;
mod forecast;
mod inspect;
mod kept_forecasters;
mod kept_operators;
mod koopman;
mod learners;
mod models;
mod refusals;
mod serving;
mod streams;
mod support;
mod targets;
mod weights;
