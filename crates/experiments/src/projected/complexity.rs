//! Table 1, measured: how regret, dictionary and time a round grow with `n`.
//!
//! On streams whose eigenvalues fall in a known way ([`decay`](crate::decay)): exponentially, as for the Gaussian kernel with
//! `d_eff(λ) ≤ ln(n/λ)^d`, `d = 1`; and like `i^{−p}`, which is the capacity condition with `γ = 1/p`. Every learner runs afresh for each
//! `n` with the parameters of its theory. Regret is against the best function of norm at most 1 in hindsight. Slopes in the
//! logarithm stand beside those of the table's entries over the same `n`; entries are upper bounds.

use mercer_kernels::{AnyKernel, TaylorFeatures};
use mercer_learners::{
    NystromParams, PkawvNystrom, PkawvTaylor, ProsNKons, Regressor, SampledKonsParams, SketchedKons,
    SketchedKonsParams, TaylorParams, prequential,
};

use super::theory::corollary7;
use crate::decay::{Law, Regime};
use crate::figure::{Figure, Panels};
use crate::hindsight::Hindsight;
use crate::plan::{ExperimentError, Plan};
use crate::report::Report;
use crate::runner::{Job, seed_of};
use crate::stats::{Summary, mean};
use crate::sublinear::table1::{judge, theory::Growth};
use crate::table::{Format, Table};

const REGIMES: [Regime; 3] = [Regime::EXPONENTIAL, Regime::MATERN_32, Regime::MATERN_52];

/// Norm of the comparator.
const RADIUS: f64 = 1.0;

/// Lengths of a curve, each twice the one before.
const LENGTHS: usize = 5;

/// The learners of the table; PKAWV stands for both of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Taylor,
    Nystrom,
    Sketched,
    Restarted,
}

impl Method {
    const ALL: [Self; 4] = [Self::Taylor, Self::Nystrom, Self::Sketched, Self::Restarted];

    fn name(self) -> &'static str {
        match self {
            Self::Taylor => "PKAWV-Taylor",
            Self::Nystrom => "PKAWV-Nyström",
            Self::Sketched => "Sketched-KONS",
            Self::Restarted => "PROS-N-KONS",
        }
    }

    /// Whether the learner is of this kernel.
    fn runs(self, law: Law) -> bool {
        self != Self::Taylor || matches!(law, Law::Exponential { .. })
    }

    /// The learner with the parameters of its theory.
    fn build(
        self,
        regime: &Regime,
        radius: f64,
        rounds: usize,
        dimension: usize,
        seed: u64,
    ) -> Result<Box<dyn Regressor>, ExperimentError> {
        let n = rounds as f64;
        let kernel: AnyKernel = regime.kernel()?;
        let (lambda, nystrom, restarted) = match regime.law {
            // After Theorem 6: λ = 1, μ = n⁻². Restarts allow μ = 1/n in (8).
            Law::Exponential { .. } => (1.0, 1.0 / (n * n), (1.0, 1.0 / n)),
            Law::Polynomial { degree } => {
                let gamma = 1.0 / degree;
                let tuning = corollary7(rounds, n.powf(2.0 * gamma / (1.0 - gamma * gamma)), gamma);
                // The best m of (8), and the λ that balances m λ with nμ/λ.
                let m = n.powf(2.0 * gamma * (1.0 - gamma) / (1.0 + gamma).powi(2));
                let mu = n * m.powf(-1.0 / gamma);
                (tuning.lambda, tuning.mu, ((n * mu / m).sqrt().max(tuning.lambda), mu))
            }
        };
        Ok(match self {
            Self::Taylor => {
                let degree = TaylorFeatures::sufficient_degree(radius, 1.0, rounds, lambda);
                let params = TaylorParams { sigma: 1.0, degree, lambda, ..TaylorParams::default() };
                Box::new(PkawvTaylor::new(dimension, params)?)
            }
            Self::Nystrom => {
                let params = NystromParams { lambda, mu: nystrom, beta: 1.0, epsilon: 0.5, seed };
                Box::new(PkawvNystrom::new(kernel, dimension, params)?)
            }
            Self::Sketched => {
                let params = SketchedKonsParams { mu: lambda, eta: 0.125, gamma: 0.1, beta: 1.0, seed };
                Box::new(SketchedKons::new(kernel, dimension, params)?)
            }
            Self::Restarted => {
                let (alpha, gamma) = restarted;
                let params = SampledKonsParams {
                    alpha,
                    gamma,
                    beta: 1.0,
                    epsilon: 0.5,
                    clip: RADIUS,
                    max_dictionary: None,
                    seed,
                };
                Box::new(ProsNKons::new(kernel, dimension, params)?)
            }
        })
    }

    /// Regret, dictionary and time a round by the table; the dictionary is the root of the time.
    fn entries(self, law: Law) -> [Growth; 3] {
        let growth = |power: f64, logs: i32| Growth { power, logs };
        match (self, law) {
            (Self::Taylor | Self::Nystrom, Law::Exponential { .. }) => [growth(0.0, 2), growth(0.0, 1), growth(0.0, 2)],
            (Self::Sketched, Law::Exponential { .. }) => [growth(0.0, 2), growth(1.0, 0), growth(2.0, 0)],
            (Self::Restarted, Law::Exponential { .. }) => [growth(0.0, 3), growth(0.0, 1), growth(0.0, 2)],
            (_, Law::Polynomial { degree }) => {
                let gamma = 1.0 / degree;
                let square = (1.0 + gamma).powi(2);
                let (regret, size) = match self {
                    Self::Sketched => (gamma / (1.0 + gamma), 1.0),
                    Self::Restarted => (4.0 * gamma / square, 2.0 * gamma * (1.0 - gamma) / square),
                    Self::Taylor | Self::Nystrom => (gamma / (1.0 + gamma), 2.0 * gamma / (1.0 - gamma * gamma)),
                };
                [growth(regret, 1), growth(size, 0), growth(2.0 * size, 0)]
            }
        }
    }
}

const QUANTITIES: [(&str, &str); 3] = [("regret", "regret"), ("J", "coordinates"), ("time a round", "µs a round")];

/// Place of the time among them.
const TIME: usize = 2;

#[derive(Clone, Copy, Debug)]
struct Task {
    regime: Regime,
    rounds: usize,
    repetition: usize,
}

/// Of one learner: regret, coordinates, µs a round.
type Measured = [f64; 3];

fn measure(task: &Task, plan: &Plan, seed: u64) -> Result<Vec<(Method, Measured)>, ExperimentError> {
    let Task { regime, rounds, repetition } = *task;
    // A longer stream begins like a shorter one.
    let stream = regime.stream(rounds, seed_of(plan.seed, &format!("{} / {}", regime.name, repetition + 1)))?;
    let best = Hindsight::new(&regime.kernel()?, &stream)?.within(RADIUS).loss;
    let radius = stream.features().chunks_exact(stream.dimension()).map(|x| x.iter().map(|x| x * x).sum::<f64>());
    let radius = radius.fold(0.0, f64::max).sqrt();
    let mut measured = Vec::new();
    for method in Method::ALL.into_iter().filter(|method| method.runs(regime.law)) {
        let mut learner = method.build(&regime, radius, rounds, stream.dimension(), seed)?;
        let start = std::time::Instant::now();
        let score = prequential(learner.as_mut(), stream.iter(), |_| {}).map_err(|(_, error)| error)?;
        let micros = 1e6 * start.elapsed().as_secs_f64() / rounds as f64;
        measured.push((method, [score.cumulative_loss() - best, learner.dictionary_size() as f64, micros]));
    }
    Ok(measured)
}

/// Runs the experiment.
///
/// # Errors
/// [`ExperimentError`] of the first pass that fails.
pub fn run(plan: &Plan) -> Result<Report, ExperimentError> {
    run_up_to(plan, if plan.full { 4000 } else { 1600 })
}

/// The same with streams of at most `longest` rounds.
///
/// # Errors
/// As [`run`].
pub fn run_up_to(plan: &Plan, longest: usize) -> Result<Report, ExperimentError> {
    let repetitions = plan.repetitions_or(2, 5);
    let lengths: Vec<usize> = (0..LENGTHS).rev().map(|i| longest >> i).collect();
    let mut tasks = Vec::new();
    for regime in REGIMES {
        for &rounds in &lengths {
            tasks.extend((0..repetitions).map(|repetition| Task { regime, rounds, repetition }));
        }
    }
    let name =
        |task: &Task| format!("complexity / {} / n = {} / {}", task.regime.name, task.rounds, task.repetition + 1);
    let jobs: Vec<Job<Task>> = tasks.iter().map(|task| Job::new(name(task), plan.seed, 1, *task)).collect();
    let outcomes = plan.run(&jobs, |job, bar| {
        let measured = measure(&job.input, plan, job.seed);
        bar.advance(1);
        measured
    })?;

    let mut report = Report::new("Table 1: how regret, dictionary and time grow");
    report.words(format!("n up to {longest}, {repetitions} streams each. {INTRODUCTION}"));
    let mut table = Table::new()
        .words("decay")
        .words("learner")
        .words("quantity")
        .numbers("at the largest n", Format::Significant(3))
        .words("table")
        .numbers("its slope", Format::Decimals(2))
        .numbers("measured slope", Format::Decimals(2))
        .words("verdict");
    let mut panels = Panels::new("Growth with n, measured (solid) and by the table (dashed)", QUANTITIES.len());
    let rounds: Vec<f64> = lengths.iter().map(|n| *n as f64).collect();
    for regime in &REGIMES {
        for (quantity, (name, label)) in QUANTITIES.into_iter().enumerate() {
            let mut figure =
                Figure::new(format!("{}: {name}", regime.name)).x_label("n").y_label(label).log_x().log_y();
            for method in Method::ALL.into_iter().filter(|method| method.runs(regime.law)) {
                let samples = |n: usize| -> Vec<f64> {
                    let own =
                        tasks.iter().zip(&outcomes).filter(|(task, _)| task.regime == *regime && task.rounds == n);
                    own.flat_map(|(_, all)| all).filter(|(of, _)| *of == method).map(|(_, all)| all[quantity]).collect()
                };
                // What else the machine does only adds to a time: the least stands for it.
                let middle = |samples: Vec<f64>| {
                    if quantity == TIME { samples.into_iter().fold(f64::INFINITY, f64::min) } else { mean(&samples) }
                };
                let means: Vec<f64> = lengths.iter().map(|n| middle(samples(*n))).collect();
                let growth = method.entries(regime.law)[quantity];
                let (slope, verdict) = judge(&rounds, &means, growth);
                table.push(vec![
                    regime.name.into(),
                    method.name().into(),
                    name.into(),
                    Summary::of(&samples(longest)).ok().into(),
                    growth.words().replace('T', "n").into(),
                    growth.slope(&rounds).ok().into(),
                    slope,
                    verdict.into(),
                ])?;
                let theory: Vec<f64> = rounds.iter().map(|&n| means[0] * growth.at(n) / growth.at(rounds[0])).collect();
                figure = figure.line(method.name(), &rounds, &means).dashed(
                    format!("{}, table", method.name()),
                    &rounds,
                    &theory,
                );
            }
            panels = panels.panel(figure);
        }
    }
    report.differs_where(&table, "Slopes steeper than the table's", STEEPER);
    report.table("complexity", "Slopes in ln n, measured and of the table's entries over the same n", table);
    report.picture(
        "complexity",
        "Regret, coordinates and time a round against n; dashed: the table's growth through the first point",
        panels,
    );
    Ok(report)
}

const INTRODUCTION: &str = "Five lengths n, each twice the one before. Exponential decay: λ = 1, μ = n⁻² (PKAWV-Nyström) and 1/n \
(PROS-N-KONS), Taylor features of Theorem 4's degree. i^−p, γ = 1/p: Corollary 7 with m = n^(2γ/(1 − γ²)); PROS-N-KONS with the best m of (8). \
Sketched-KONS: γ = 0.1. Regret is against the best function of norm ≤ 1. Entries are upper bounds without constants: a slope at most the \
entry's (within two standard errors and 0.05) counts as within. Times are the least over the streams; those of small dictionaries are mostly overhead.";

const STEEPER: &str = "At these n that is no contradiction: a dictionary that is still far from its bound grows faster than the bound does, and \
regret and time follow the dictionary.";
