//! *Efficient online learning with kernels for adversarial large scale problems* (Jézéquel, Gaillard and Rudi 2019), measured.
//!
//! | module | what it shows |
//! |---|---|
//! | [`theory`] | the paper's bounds and rules as functions of a stream |
//! | [`bounds`] | Propositions 1, 2 and 5, Theorems 3, 4 and 6, Corollaries 7 and 8: measured against proved |
//! | [`streams`] | Figures 2 and 4: loss, error rate and time on large streams |
//! | [`adversary`] | Figure 3: the regret that a greedy adversary forces |
//! | [`atoms`] | accuracy against the number of coordinates |
//! | [`complexity`] | Table 1: measured exponents of regret, dictionary and time |
//! | [`rates`] | Figure 1: the regret's exponents against the dictionary's |
//! | [`near_duplicates`] | the listing's up- and downdates on points that nearly coincide, and this project's coordinates |
//! | [`experts`] | §3.1's mixture over widths, degrees and regularisers: what an untuned user gets |

pub mod adversary;
pub mod atoms;
pub mod bounds;
pub mod complexity;
pub mod experts;
pub mod methods;
pub mod near_duplicates;
pub mod rates;
pub mod streams;
pub mod theory;

use crate::experiment::{Experiment, Paper, scaled};

/// The paper and its experiments.
pub const PAPER: Paper = Paper {
    name: "projected",
    title: "Efficient online learning with kernels for adversarial large scale problems",
    experiments: &[
        Experiment {
            name: "bounds",
            title: "Projections: regret and dictionaries against their bounds",
            run: bounds::run,
            estimate: |plan| scaled(plan, 100.0 * plan.repetitions_or(2, 5) as f64 / 5.0),
        },
        Experiment {
            name: "streams",
            title: "Figures 2 and 4: loss, error rate and time on large streams",
            run: streams::run,
            estimate: |plan| scaled(plan, 3000.0 * plan.repetitions_or(1, 1) as f64),
        },
        Experiment {
            name: "adversary",
            title: "Figure 3: the regret that a greedy adversary forces",
            run: adversary::run,
            estimate: |plan| scaled(plan, 150.0 * plan.repetitions_or(5, 20) as f64 / 20.0),
        },
        Experiment {
            name: "atoms",
            title: "Few atoms suffice: loss against the number of coordinates",
            run: atoms::run,
            estimate: |plan| scaled(plan, 2200.0 * plan.repetitions_or(1, 3) as f64 / 3.0),
        },
        Experiment {
            name: "complexity",
            title: "Table 1: how regret, dictionary and time grow",
            run: complexity::run,
            estimate: |plan| scaled(plan, 400.0 * plan.repetitions_or(2, 5) as f64 / 5.0),
        },
        Experiment {
            name: "rates",
            title: "Figure 1: rates of the regret against the size of the dictionary",
            run: rates::run,
            estimate: |_| Some(1.0),
        },
        Experiment {
            name: "near_duplicates",
            title: "Near duplicates: the paper's up- and downdates, and ours",
            run: near_duplicates::run,
            estimate: |plan| scaled(plan, 180.0 * plan.repetitions_or(2, 5) as f64 / 5.0),
        },
        Experiment {
            name: "experts",
            title: "Experts: what an untuned user gets",
            run: experts::run,
            estimate: |plan| scaled(plan, 1500.0 * plan.repetitions_or(3, 3) as f64 / 3.0),
        },
    ],
};
