//! The `mercer` command as its user meets it: the built program, its output, its messages and its
//! exit codes.

mod classes;
mod classifiers;
mod columns;
mod compare;
mod data;
mod day_parts;
mod dialects;
#[cfg(feature = "arrow")]
mod doors;
mod eval;
mod explain;
mod explained_predictions;
mod explained_services;
mod explained_words;
mod export;
mod fit;
mod fit_classes;
mod fit_plain;
mod fit_resume;
mod fit_tables;
mod forecast;
mod forecast_tables;
#[cfg(feature = "arrow")]
mod forms;
mod gaps;
mod groups;
mod habits;
mod headers;
mod http;
mod inspect;
mod intervals;
mod json;
mod kept_forecasters;
mod kept_operators;
mod kept_services;
mod kernels;
mod kinds;
mod koopman;
mod koopman_first_use;
mod koopman_read_outs;
mod koopman_sums;
mod late_keys;
mod late_labels;
mod learners;
mod locks;
mod marks;
mod models;
mod order;
mod ordinary;
mod outliers;
#[cfg(feature = "plots")]
mod plots;
mod refusals;
mod remedies;
mod scales;
mod scores;
mod season;
mod series;
mod serve;
mod served_ahead;
mod served_faults;
mod served_pages;
mod serving;
#[cfg(feature = "stores")]
mod stores;
mod streams;
mod support;
mod tables;
mod targets;
mod time_forms;
mod times;
#[cfg(feature = "arrow")]
mod token_doors;
mod told_alike;
mod trained_tables;
#[cfg(unix)]
mod troubleshooting;
mod tune;
mod understood;
mod watch;
mod watched_evaluations;
mod weights;
mod words;
mod zones;
