//! The papers' experiments: protocols, comparators, figures and tables. The crate is not published.
//! It holds the tools that all experiments share:
//!
//! | module | what it answers |
//! |---|---|
//! | [`runner`] | how independent jobs run on several threads with results that do not depend on the number of threads |
//! | [`stats`] | what a mean, a standard error, a quantile and a measured exponent are |
//! | [`judgement`] | what a comparison compares with, and when a measured number counts as the printed one |
//! | [`mod@table`] | how numbers are shown as Markdown, CSV and plain text |
//! | [`figure`] | how curves, points and bars become pictures (those of `mercer-plots`) and tables |
//! | [`mod@report`] | how finished experiments are kept and become one report, beside kept results at the papers' size |
//! | [`html`] | how that report becomes pages for a browser |
//! | [`statements`] | the statements of the papers, as `docs/papers` lists them |
//!
//! and the experiments, which the program `reproduce` runs by name ([`experiment`]):
//!
//! | module | what it shows |
//! |---|---|
//! | `sublinear` | the tables, lemmas and theorem of the paper on AOGD-ALD and NONS-ALD |
//! | `projected` | the figures and theorems of the paper on projections, PKAWV |
//! | `prediction` | the figures and appendices of the paper on online prediction with forgetting, OPF |
//! | `operator` | the figures and corollaries of the paper on sparse online operators |
//! | `filters` | kernel adaptive filters and classifiers on a budget, side by side |
//! | `quality` | `auto` beside the learners that people would use instead |
//!
//! They share streams with known eigenvalues ([`decay`]) and the best function in hindsight
//! ([`hindsight`]). Each takes a [`plan::Plan`] and returns a [`report::Report`]. The number of
//! threads changes times, but no other number.

mod claims;
pub mod decay;
mod digits;
pub mod experiment;
pub mod figure;
mod filters;
pub mod hindsight;
pub mod html;
pub mod judgement;
mod learners;
mod operator;
pub mod papers;
pub mod plan;
mod prediction;
mod prelude;
mod projected;
mod quality;
pub mod report;
pub mod runner;
pub mod statements;
pub mod stats;
pub mod sublinear;
pub mod table;

#[cfg(test)]
#[path = "../tests/snapshots/main.rs"]
mod snapshots;
