//! *Efficient online learning with kernels for adversarial large scale problems* (Jézéquel, Gaillard and Rudi 2019), measured.
//!
//! | module | what it shows |
//! |---|---|
//! | [`theory`] | the paper's bounds and rules as functions of a stream |
//! | [`bounds`] | Propositions 1, 2 and 5, Theorems 3, 4 and 6, Corollaries 7 and 8: measured against proved |

pub mod bounds;
pub mod theory;

use crate::experiment::{Experiment, Paper, scaled};

/// The paper and its experiments.
pub const PAPER: Paper = Paper {
    name: "projected",
    title: "Efficient online learning with kernels for adversarial large scale problems",
    experiments: &[Experiment {
        name: "bounds",
        title: "Projections: regret and dictionaries against their bounds",
        run: bounds::run,
        estimate: |plan| scaled(plan, 100.0 * plan.repetitions_or(2, 5) as f64 / 5.0),
    }],
};
