//! *Efficient online learning with kernels for adversarial large scale problems* (Jézéquel,
//! Gaillard and Rudi 2019), measured.

mod adversary;
mod bounds;
mod complexity;
mod methods;
mod rates;
mod streams;
mod theory;

use crate::experiment::{Experiment, Paper, Source, scaled, sources};

/// The paper and its experiments.
pub(crate) const PAPER: Paper = Paper {
    name: "projected",
    title: "Efficient online learning with kernels for adversarial large scale problems",
    source: Some(Source {
        authors: "Rémi Jézéquel, Pierre Gaillard and Alessandro Rudi",
        year: 2019,
        place: "Advances in Neural Information Processing Systems 32 (NeurIPS)",
        link: "https://arxiv.org/abs/1902.09917",
    }),
    claim: "Projecting the Azoury–Warmuth–Vovk forecaster on few coordinates keeps the optimal regret of kernel ridge regression at a fraction of its cost.",
    picture: "adversary",
    experiments: &[
        Experiment {
            name: "bounds",
            title: "Projections: regret and dictionaries against their bounds",
            place: "Propositions 1, 2, 5; Theorems 3, 4, 6",
            question: "Do regret and dictionary sizes stay below every bound of the paper?",
            reading: "A bound that holds for any algorithm is not counted. A loose bound says by what factor.",
            sources: &[sources!["projected/bounds.rs", "projected/theory.rs", "decay.rs", "hindsight.rs"]],
            run: bounds::run,
            estimate: |plan| scaled(plan, 100.0 * plan.repetitions_or(2, 5) as f64 / 5.0),
        },
        Experiment {
            name: "streams",
            title: "Figures 2 and 4: loss, error rate and time on large streams",
            place: "Figures 2 and 4",
            question: "How do loss, error rate and time develop on large streams?",
            reading: "The paper prints curves and no numbers. The expected values are this project’s own, so their verdicts count as our claims.",
            sources: &[sources!["projected/streams.rs", "projected/methods.rs"]],
            run: streams::run,
            estimate: |plan| scaled(plan, 3000.0 * plan.repetitions_or(1, 1) as f64),
        },
        Experiment {
            name: "adversary",
            title: "Figure 3: the regret that a greedy adversary forces",
            place: "Figure 3",
            question: "How much regret does an adversary force on each learner?",
            reading: "What counts is the order of the learners that the paper describes; its figure has no numbers to read off.",
            sources: &[sources!["projected/adversary.rs", "projected/methods.rs", "hindsight.rs"]],
            run: adversary::run,
            estimate: |plan| scaled(plan, 150.0 * plan.repetitions_or(5, 20) as f64 / 20.0),
        },
        Experiment {
            name: "complexity",
            title: "Table 1: how regret, dictionary and time grow",
            place: "Table 1",
            question: "Do regret, coordinates and time grow with n no faster than the table says?",
            reading: "A measured slope at most the table’s agrees with it. The entries are upper bounds without constants.",
            sources: &[sources!["projected/complexity.rs", "projected/theory.rs", "decay.rs", "hindsight.rs"]],
            run: complexity::run,
            estimate: |plan| scaled(plan, 400.0 * plan.repetitions_or(2, 5) as f64 / 5.0),
        },
        Experiment {
            name: "rates",
            title: "Figure 1: rates of the regret against the size of the dictionary",
            place: "Figure 1",
            question: "Which regret does each method’s bound give for a dictionary of a given size?",
            reading: "The exponents follow from the bounds in closed form. Nothing is measured here.",
            sources: &[sources!["projected/rates.rs"]],
            run: rates::run,
            estimate: |_| Some(1.0),
        },
    ],
};
