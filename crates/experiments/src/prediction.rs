//! *Model-free online learning for the Kalman filter: forgetting factor and logarithmic regret*
//! (Qian and Zheng 2025), measured: online prediction with forgetting, OPF.
//!
//! Every regret is against the steady-state Kalman predictor that knows the system, summed from k =
//! T_init + 1 on, and is shown as a mean over seeds with a band of one standard error. A seed is
//! one run of the simulated system, the same for every method.

mod bias;
mod forecasters;
mod forgetting;
mod methods;
mod orders;
mod overfitting;
mod stability;
mod terms;

mod comparators;
mod decomposition;
mod summary;
mod trial;

use mercer_forecast::EpochSchedule;

use crate::experiment::{Experiment, Paper, Source, scaled, sources};

/// Sources that its experiments share.
const SHARED: &[&str] = sources!["prediction/forecasters.rs", "prediction/summary.rs", "prediction/trial.rs"];

/// The paper and its experiments.
pub(crate) const PAPER: Paper = Paper {
    name: "prediction",
    title: "Model-free online learning for the Kalman filter: forgetting factor and logarithmic regret",
    source: Some(Source {
        authors: "Jiachen Qian and Yang Zheng",
        year: 2025,
        place: "arXiv:2505.08982",
        link: "https://arxiv.org/abs/2505.08982",
    }),
    claim: "An online forecaster with exponential forgetting has logarithmic regret against the Kalman filter, although it does not know the system.",
    picture: "opf_forgetting_gamma",
    experiments: &[
        Experiment {
            name: "opf_overfitting",
            title: "Figure 1: overfitted Markov blocks",
            place: "Figure 1",
            question: "Why does plain least squares predict poorly with many lags?",
            reading: "Plain least squares gives every lag the same error. Forgetting expects old lags to matter less and keeps their estimates small.",
            sources: &[sources!["prediction/overfitting.rs"], SHARED],
            run: overfitting::run,
            estimate: |plan| scaled(plan, 0.05 * plan.repetitions_or(8, 50) as f64),
        },
        Experiment {
            name: "opf_forgetting",
            title: "Figure 2 (section 5): forgetting against regret",
            place: "Figure 2 (section 5). The text at hand prints no number; it stands between Figures 1 and 3",
            question: "How does the regret depend on the forgetting factor?",
            reading: "The order of the methods is the paper’s. The reference means come from an independent program of ours, so their verdicts count as our claims.",
            sources: &[sources!["prediction/forgetting.rs"], SHARED],
            run: forgetting::run,
            estimate: |plan| scaled(plan, 2.4 * plan.repetitions_or(8, 100) as f64),
        },
        Experiment {
            name: "opf_terms",
            title: "Section 5, D.1 and E.4: the error's factors and their bounds",
            place: "Section 5, D.1; E.4, whose figure stands between Figures 4 and 6",
            question: "Which factor of the regret bound does forgetting reduce?",
            reading: "Each factor is computed as the analysis defines it and compared at γ = ρ and γ = 1.",
            sources: &[sources!["prediction/terms.rs", "prediction/decomposition.rs"], SHARED],
            run: terms::run,
            estimate: |plan| scaled(plan, 0.25 * plan.repetitions_or(8, 50) as f64),
        },
        Experiment {
            name: "opf_methods",
            title: "Figure 3 (E.1): all methods on a slowly forgetting system",
            place: "Figure 3 (E.1)",
            question: "How does OPF compare with other methods when the system forgets slowly?",
            reading: "The filters’ ranks are chosen in hindsight, which favours them. Where OPF loses to them, the paper’s statement does not hold here.",
            sources: &[sources!["prediction/methods.rs"], SHARED],
            run: methods::run,
            estimate: |plan| scaled(plan, 2.3 * plan.repetitions_or(6, 50) as f64),
        },
        Experiment {
            name: "opf_stability",
            title: "Figure 4 (E.2): numerical stability, and a million steps",
            place: "Figure 4 (E.2)",
            question: "Which form of the recursion survives in floating-point arithmetic?",
            reading: "A run counts as broken when its numbers are no longer usable. The square-root form has no inverse to lose.",
            sources: &[sources!["prediction/stability.rs", "prediction/comparators.rs"], SHARED],
            run: stability::run,
            estimate: |plan| scaled(plan, 1.3 * plan.repetitions_or(4, 50) as f64),
        },
        Experiment {
            name: "opf_bias",
            title: "Figure 5 (E.3): bias, its cancellation and regret against β",
            place: "Figure 5 (E.3). The text at hand prints no number; it stands between Figures 4 and 6",
            question: "How does the window length trade bias against regret?",
            reading: "The regression cancels most of the bias, so the regret is flat in β once forgetting is used.",
            sources: &[sources!["prediction/bias.rs", "prediction/decomposition.rs"], SHARED],
            run: bias::run,
            estimate: |plan| scaled(plan, 0.5 * plan.repetitions_or(8, 50) as f64),
        },
        Experiment {
            name: "opf_orders",
            title: "Table 1, Figure 6 and D.2: orders of the regret",
            place: "Table 1, Figure 6, D.2",
            question: "Is the regret of order log² N, and how far below ρ may γ lie?",
            reading: "Fitted exponents stand beside the orders of the paper. D.2 is judged as printed and by its own inequality.",
            sources: &[sources!["prediction/orders.rs", "prediction/decomposition.rs"], SHARED],
            run: orders::run,
            estimate: |plan| scaled(plan, 2.5 * plan.repetitions_or(6, 50) as f64),
        },
    ],
};

/// Section 5: β = 2.5, T_init = 60, seven epochs.
const SECTION_5: EpochSchedule = EpochSchedule { beta: 2.5, t_init: 60, max_lags: None };
const SECTION_5_EPOCHS: usize = 7;

/// E.1: β = 6, T_init = 500, three epochs.
const E_1: EpochSchedule = EpochSchedule { beta: 6.0, t_init: 500, max_lags: None };
const E_1_EPOCHS: usize = 3;

/// λ of all experiments.
const LAMBDA: f64 = 1.0;

/// The horizon `N = 2^{N_E} T_init`.
fn horizon(schedule: &EpochSchedule, epochs: usize) -> usize {
    schedule.t_init << epochs
}
