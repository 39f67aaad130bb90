//! The operator paper: Hou, Sanjari, Dahlin, Koppel and Bose, *Nonparametric Sparse Online Learning
//! of the Koopman Operator*.

mod convergence;
mod duffing;
mod langevin;
mod misspecified;
pub(crate) mod peers;
mod pendulum;
mod systems;

use anyhow::Result;
use mercer_kernels::{Kernel, Points};
use mercer_koopman::{Eigenfunctions, KernelOperator, OperatorLearner};
use mercer_streams::Pairs;

use crate::experiment::{Experiment, Paper, Source, scaled, sources};

/// The paper and its experiments.
pub(crate) const PAPER: Paper = Paper {
    name: "operator",
    title: "Nonparametric sparse online learning of the Koopman operator",
    source: Some(Source {
        authors: "Boya Hou, Sina Sanjari, Nathan Dahlin, Alec Koppel and Subhonmesh Bose",
        year: 2024,
        place: "arXiv:2405.07432",
        link: "https://arxiv.org/abs/2405.07432",
    }),
    claim: "Stochastic approximation learns the Koopman operator from one trajectory, with a bounded dictionary and proved convergence.",
    picture: "langevin_growth",
    experiments: &[
        Experiment {
            name: "langevin",
            title: "Figure 2: metastable sets of Langevin dynamics",
            place: "Figure 2",
            question: "Are the four metastable sets found, and with how many pairs?",
            reading: "The test that the appendix prints gives the sizes, with our choice of the order and the starting points.",
            sources: &[sources!["operator/langevin.rs"]],
            run: langevin::run,
            estimate: |plan| scaled(plan, 30.0 * plan.repetitions_or(3, 10) as f64 / 10.0),
        },
        Experiment {
            name: "duffing",
            title: "Figure 3: regions of attraction of the Duffing oscillator",
            place: "Figure 3",
            question: "Are the regions of attraction found, and with how many pairs?",
            reading: "Kernel, step and starting points are not printed, so a size is reproduced only with our choice of them.",
            sources: &[sources!["operator/duffing.rs"]],
            run: duffing::run,
            estimate: |plan| scaled(plan, 40.0 * plan.repetitions_or(3, 10) as f64 / 10.0),
        },
        Experiment {
            name: "pendulum",
            title: "Figures 4 and 5: swing-up of a pendulum by value iteration",
            place: "Figures 4 and 5",
            question: "Does value iteration on the learnt operator swing the pendulum up?",
            reading: "It does not with the printed settings: scores stay far below those of dynamic programming, and a setting of ours comes near them.",
            sources: &[sources![
                "operator/pendulum.rs",
                "operator/pendulum/reference.rs",
                "operator/pendulum/stages.rs"
            ]],
            run: pendulum::run,
            estimate: |plan| scaled(plan, 275.0 * plan.repetitions_or(1, 5) as f64),
        },
        Experiment {
            name: "convergence",
            title: "Corollaries: convergence with constant and diminishing steps",
            place: "Corollaries on constant and diminishing steps",
            question: "Does the learnt operator converge at the proved rates?",
            reading: "A constant step ends at a plateau in proportion to the step. A diminishing step falls with the proved slope.",
            sources: &[sources!["operator/convergence.rs"]],
            run: convergence::run,
            estimate: |plan| scaled(plan, 150.0 * plan.repetitions_or(10, 60) as f64 / 60.0),
        },
        Experiment {
            name: "misspecified",
            title: "Theorem 4.1, Lemma 6.1: the mis-specified setting",
            place: "Section 4, Theorem 4.1, Lemma 6.1, the theorem on almost sure convergence",
            question: "What is learnt when the dynamics take functions out of the kernel’s space?",
            reading: "Every norm is known in closed form. The error comes down to the bias of the regulariser, far below the constant of the lemma.",
            sources: &[sources!["operator/misspecified.rs"]],
            run: misspecified::run,
            estimate: |plan| scaled(plan, 40.0 * plan.repetitions_or(4, 20) as f64 / 20.0),
        },
        Experiment {
            name: "operator_peers",
            title: "Twelve systems with known answers, beside other libraries",
            place: "of our own",
            question: "Is the operator without options as good as other libraries with the best of their settings?",
            reading: "The peers’ scores are committed; each is that of the setting that turned out best. The operator of exact sums runs here, without options.",
            sources: &[sources!["operator/peers.rs", "operator/systems.rs"]],
            run: peers::run,
            estimate: |plan| scaled(plan, 900.0),
        },
    ],
};

/// The guard that keeps a pair out although its error exceeds the budget.
const RANK_GUARD: &str = "the rank guard, which keeps out points that depend on those kept up to rounding,";

/// Teaches all pairs.
fn learn<K: Kernel, L: Kernel>(learner: &mut impl OperatorLearner<K, L>, pairs: &Pairs) -> Result<()> {
    for (x, next) in pairs.iter() {
        learner.update(x, next)?;
    }
    Ok(())
}

/// Coefficients of real functions that span what the leading `count` eigenfunctions span: of a
/// complex pair the real and the imaginary part. (The real parts of both are the same function, and
/// the span would lose a dimension.)
fn real_functions(eigen: &Eigenfunctions, count: usize) -> Vec<&[f64]> {
    let part = |i: usize| if eigen.values[i].im < 0.0 { &eigen.im[i] } else { &eigen.re[i] };
    (0..count.min(eigen.values.len())).map(|i| part(i).as_slice()).collect()
}

/// The values at `points` of the functions that [`real_functions`] gives.
fn real_values<K: Kernel, L: Kernel>(
    operator: &KernelOperator<K, L>,
    eigen: &Eigenfunctions,
    count: usize,
    points: &Points,
) -> Result<Vec<Vec<f64>>> {
    Ok(operator.evaluate_all(&real_functions(eigen, count), points)?)
}

/// Points of the plane as the kernels take them.
fn plane(points: &[[f64; 2]]) -> Points {
    Points::from_rows(2, points.as_flattened())
}
