//! The papers' experiments: protocols, comparators, figures and tables.
//!
//! This crate is the workshop of the project and is not published. It holds what every experiment
//! shares, so that one module per paper figure or table stays short:
//!
//! | module | what it answers |
//! |---|---|
//! | [`runner`] | how independent jobs run on several threads with results that do not depend on the number of threads |
//! | [`progress`] | how a person at a terminal sees how far they are |
//! | [`stats`] | what a mean, a standard error, a quantile and a measured exponent are |
//! | [`verdict`] | when a measured number counts as the printed one |
//! | [`mod@table`] | how numbers are shown as Markdown, CSV and plain text |
//! | [`figure`] | how curves, points and bars become an SVG and a PNG |
//!
//! It refuses to know a learner or a data set: those come with the experiments themselves.

pub mod decay;
pub mod experiment;
pub mod figure;
pub mod hindsight;
pub mod lemmas;
pub mod plan;
pub mod progress;
pub mod report;
pub mod runner;
pub mod stats;
pub mod table;
pub mod table1;
pub mod table3;
pub mod verdict;

mod output;
