//! Kernel adaptive filters, and classifiers on a budget, side by side.
//!
//! These figures are known from many papers, which differ in data and settings, and no number here
//! is a printed one: the statements with verdicts are this project's own.

mod curves;
mod mistakes;
mod switch;

mod methods;
mod pass;
mod signals;

use crate::experiment::{Experiment, Paper, scaled, sources};

/// Sources that its experiments share.
const SHARED: &[&str] = sources!["filters/methods.rs", "filters/pass.rs"];

/// The subject and its experiments.
pub(crate) const PAPER: Paper = Paper {
    name: "filters",
    title: "Kernel adaptive filters and budgeted classifiers",
    source: None,
    claim: "Every filter and classifier of this family runs under the same conditions, so that the curves can be compared.",
    picture: "filters_curves_1",
    experiments: &[
        Experiment {
            name: "filters_curves",
            title: "Filters: learning curves one step ahead",
            place: "known from many papers",
            question: "How fast do the filters learn on two chaotic series?",
            reading: "All filters see the same rows under the same settings. No number is a printed one.",
            sources: &[sources!["filters/curves.rs", "filters/signals.rs"], SHARED],
            run: curves::run,
            estimate: |plan| scaled(plan, 25.0 * plan.repetitions_or(2, 20) as f64),
        },
        Experiment {
            name: "filters_switch",
            title: "Filters: a channel that changes",
            place: "after Van Vaerenbergh et al. 2012",
            question: "Which filters recover after the target changes?",
            reading: "A filter has recovered when its error is back where it was before the change.",
            sources: &[sources!["filters/switch.rs", "filters/signals.rs"], SHARED],
            run: switch::run,
            estimate: |plan| scaled(plan, 1.0 * plan.repetitions_or(10, 50) as f64),
        },
        Experiment {
            name: "filters_mistakes",
            title: "Classifiers: mistakes against the budget",
            place: "known from many papers",
            question: "How many mistakes does a classifier make with a given budget?",
            reading: "Lower is better, and a flat line is a learner without a budget.",
            sources: &[sources!["filters/mistakes.rs"], SHARED],
            run: mistakes::run,
            estimate: |plan| scaled(plan, 300.0 * plan.repetitions_or(1, 3) as f64),
        },
    ],
};
