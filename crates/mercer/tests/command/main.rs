//! The `mercer` command as its user meets it: the built program, its output, its messages and its exit codes.

mod data;
mod eval;
mod forecast;
mod kept_forecasters;
mod kept_operators;
mod koopman;
mod learners;
mod models;
mod refusals;
mod serving;
mod streams;
mod support;
