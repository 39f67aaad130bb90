//! The `mercer` command as its user meets it: the built program, its output, its messages and its exit codes.

mod classes;
mod classifiers;
mod data;
mod dialects;
mod eval;
mod forecast;
mod inspect;
mod intervals;
mod kept_forecasters;
mod kept_operators;
mod kernels;
mod koopman;
mod learners;
mod locks;
mod models;
mod refusals;
mod serve;
mod serving;
mod streams;
mod support;
mod tables;
mod targets;
mod trained_tables;
mod weights;
