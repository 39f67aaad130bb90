//! *Nearly optimal algorithms with sublinear computational complexity for online kernel regression*
//! (Li and Liao 2023), measured.

mod lemmas;
pub(crate) mod table1;
pub mod table3;

use crate::experiment::{Experiment, Paper, Source, scaled, sources};

/// The paper and its experiments.
pub const PAPER: Paper = Paper {
    name: "sublinear",
    title: "Nearly optimal algorithms with sublinear computational complexity for online kernel regression",
    source: Some(Source {
        authors: "Junfan Li and Shizhong Liao",
        year: 2023,
        place: "Proceedings of the 40th International Conference on Machine Learning (ICML)",
        link: "https://proceedings.mlr.press/v202/li23r.html",
    }),
    claim: "Two algorithms, AOGD-ALD and NONS-ALD, keep nearly optimal regret while they store few examples, if the eigenvalues of the kernel matrix fall fast.",
    picture: "table3_printed",
    experiments: &[
        Experiment {
            name: "table3",
            title: "Table 3: six learners on real streams",
            place: "Table 3",
            question: "How large are the errors and the dictionaries of six learners on the paper’s data sets?",
            reading: "A printed error counts as reproduced within 3 %, and within 6 % or three standard errors for learners that draw at random. The paper tunes on its data and does not print the outcome, so most verdicts need a choice of ours.",
            sources: &[sources![
                "sublinear/table3.rs",
                "sublinear/table3/protocol.rs",
                "sublinear/table3/measure.rs",
                "sublinear/table3/restarted.rs",
                "sublinear/table3/printed.rs",
                "../printed/table3.csv",
                "sublinear/table3/tables.rs",
                "sublinear/table3/figures.rs"
            ]],
            run: table3::run,
            estimate: |plan| table3::estimate(plan).ok(),
        },
        Experiment {
            name: "table1",
            title: "Table 1: measured exponents of regret, dictionary size and time",
            place: "Table 1",
            question: "Do regret, dictionary and time grow with T no faster than the theory says?",
            reading: "A measured slope at most the bound’s agrees with the theory. It does not prove it: the bounds are upper bounds with constants.",
            sources: &[sources!["sublinear/table1.rs", "sublinear/table1/theory.rs", "decay.rs", "hindsight.rs"]],
            run: table1::run,
            estimate: |plan| scaled(plan, 800.0 * plan.repetitions_or(3, 5) as f64 / 5.0),
        },
        Experiment {
            name: "lemma31",
            title: "Lemma 3.1: dictionary size against its bound",
            place: "Lemma 3.1",
            question: "How many points does the ALD rule keep, and is that below the bound?",
            reading: "The lemma holds where the measured size stays below the bound. A factor tells how much room is left.",
            sources: &[sources!["sublinear/lemmas.rs", "sublinear/lemmas/size.rs", "decay.rs", "hindsight.rs"]],
            run: lemmas::size::run,
            estimate: |plan| scaled(plan, 40.0),
        },
        Experiment {
            name: "lemma45",
            title: "Lemma 4.5: spectral errors against their bounds",
            place: "Lemma 4.5",
            question: "How far is the kernel matrix from its approximation by the dictionary?",
            reading: "The lemma holds where both spectral errors stay below their bounds. The global bound is far above the error it bounds.",
            sources: &[sources!["sublinear/lemmas.rs", "sublinear/lemmas/spectral.rs", "decay.rs"]],
            run: lemmas::spectral::run,
            estimate: |plan| scaled(plan, 30.0),
        },
        Experiment {
            name: "theorem46",
            title: "Theorem 4.6: regret of NONS-ALD against its bound",
            place: "Theorem 4.6",
            question: "Is the regret of NONS-ALD below the bound of the theorem?",
            reading: "The regret is below the bound as printed, which is smaller than the bound that the proof gives.",
            sources: &[sources!["sublinear/lemmas.rs", "sublinear/lemmas/regret.rs", "decay.rs", "hindsight.rs"]],
            run: lemmas::regret::run,
            estimate: |plan| scaled(plan, 100.0 * plan.repetitions_or(3, 10) as f64 / 10.0),
        },
    ],
};
