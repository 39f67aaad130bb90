//! The `mercer` command as its user meets it: the built program, its output, its messages and its exit codes.

mod classes;
mod classifiers;
mod compare;
mod data;
mod dialects;
mod eval;
mod fit;
mod fit_classes;
mod forecast;
mod habits;
mod http;
mod inspect;
mod intervals;
mod kept_forecasters;
mod kept_operators;
mod kernels;
mod koopman;
mod learners;
mod locks;
mod models;
mod ordinary;
#[cfg(feature = "plots")]
mod plots;
mod refusals;
mod scales;
mod scores;
mod serve;
mod serving;
mod streams;
mod support;
mod tables;
mod targets;
mod times;
mod trained_tables;
mod tune;
mod weights;
