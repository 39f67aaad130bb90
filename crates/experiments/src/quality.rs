//! Worth of `auto` beside what people would use instead, on the streams of the comparison of
//! quality.
//!
//! Every method sees the rows in the same order, once, untuned, with the scaling that its
//! documentation asks for. The peers' scores are committed (`peers`); `auto` runs here. The streams
//! are test data and no part of the tree (`streams` says where they are looked for). Without them
//! the bundled diamonds run alone, in an order of their own, beside which no peer has a score, and
//! no classes are learnt. All statements are this project's own; a shortened run is judged by none.

mod budgets;
mod classes;
mod peers;
pub(crate) mod series;
mod standing;
pub(crate) mod streams;

mod pass;

use crate::experiment::{Experiment, Paper, scaled, sources};

/// Sources that its experiments share.
const SHARED: &[&str] = sources!["quality/peers.rs", "quality/streams.rs"];

/// The subject and its experiments.
pub(crate) const PAPER: Paper = Paper {
    name: "quality",
    title: "Auto beside its peers",
    source: None,
    claim: "Without any setting, auto is ahead of the online methods that people would use instead, and near a batch method that is refitted.",
    picture: "quality_budgets",
    experiments: &[
        Experiment {
            name: "quality_standing",
            title: "Quality: auto beside its peers",
            place: "of our own",
            question: "Is auto, untuned, ahead of other online methods?",
            reading: "NMSE is the error as a share of that of the running mean. The peers’ scores are committed; auto runs here.",
            sources: &[sources!["quality/standing.rs", "quality/pass.rs"], SHARED],
            run: standing::run,
            estimate: |plan| scaled(plan, 15.0),
        },
        Experiment {
            name: "quality_budgets",
            title: "Quality: error against the budget",
            place: "of our own",
            question: "What does a larger budget buy?",
            reading: "The error falls with the budget, and so does the number of rows a second. A peer below the line reaches a lower error in its time.",
            sources: &[sources!["quality/budgets.rs", "quality/pass.rs"], SHARED],
            run: budgets::run,
            estimate: |plan| scaled(plan, 120.0),
        },
        Experiment {
            name: "quality_classes",
            title: "Quality: classes",
            place: "of our own",
            question: "Is auto, untuned, ahead of other online classifiers?",
            reading: "Accuracy is to be high and log loss low. The peers’ scores are committed; auto runs here.",
            sources: &[sources!["quality/classes.rs"], SHARED],
            run: classes::run,
            estimate: |plan| scaled(plan, 10.0),
        },
        Experiment {
            name: "quality_series",
            title: "Quality: forecasts of ordinary series",
            place: "of our own",
            question: "Is a forecast without options ahead of methods that are refitted?",
            reading: "MASE is the error in units of the mean change over a season. The peers’ scores are committed; the season mixture runs here.",
            sources: &[sources!["quality/series.rs", "quality/streams.rs"]],
            run: series::run,
            estimate: |plan| scaled(plan, 20.0),
        },
    ],
};

/// Rows of a reduced run.
const REDUCED_ROWS: usize = 1500;

/// Advice about streams that are missing.
fn elsewhere() -> String {
    let variable = streams::VARIABLE;
    format!("The streams are no part of the tree. Put their files into a folder and name it in {variable}.")
}
