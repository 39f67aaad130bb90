//! *Nearly optimal algorithms with sublinear computational complexity for online kernel regression* (Li and Liao 2023), measured.
//!
//! | module | what it shows |
//! |---|---|
//! | [`table3`] | six learners on real streams beside the numbers that the paper prints |
//! | [`table1`] | how regret, dictionary and time grow with T, beside the theory's bounds |
//! | [`lemmas::size`] | Lemma 3.1: dictionary size against its bound |
//! | [`lemmas::spectral`] | Lemma 4.5: spectral errors against their bounds |
//! | [`lemmas::regret`] | Theorem 4.6: the regret of NONS-ALD against its bound |

pub mod lemmas;
pub mod table1;
pub mod table3;

use crate::experiment::{Experiment, Paper, scaled};

/// The paper and its experiments.
pub const PAPER: Paper = Paper {
    name: "sublinear",
    title: "Nearly optimal algorithms with sublinear computational complexity for online kernel regression",
    experiments: &[
        Experiment {
            name: "table3",
            title: "Table 3: six learners on real streams",
            run: table3::run,
            estimate: |plan| table3::estimate(&plan.registry, &table3::Options::of(plan)).ok(),
        },
        Experiment {
            name: "table1",
            title: "Table 1: measured exponents of regret, dictionary size and time",
            run: table1::run,
            estimate: |plan| scaled(plan, 800.0 * plan.repetitions_or(3, 5) as f64 / 5.0),
        },
        Experiment {
            name: "lemma31",
            title: "Lemma 3.1: dictionary size against its bound",
            run: lemmas::size::run,
            estimate: |plan| scaled(plan, 40.0),
        },
        Experiment {
            name: "lemma45",
            title: "Lemma 4.5: spectral errors against their bounds",
            run: lemmas::spectral::run,
            estimate: |plan| scaled(plan, 30.0),
        },
        Experiment {
            name: "theorem46",
            title: "Theorem 4.6: regret of NONS-ALD against its bound",
            run: lemmas::regret::run,
            estimate: |plan| scaled(plan, 100.0 * plan.repetitions_or(3, 10) as f64 / 10.0),
        },
    ],
};
