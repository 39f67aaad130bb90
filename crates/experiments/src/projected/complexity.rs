//! Table 1, measured: how regret, dictionary and time a round grow with `n`.
//!
//! On streams whose eigenvalues fall in a known way ([`decay`](crate::decay)): exponentially, as
//! for the Gaussian kernel with `d_eff(λ) ≤ ln(n/λ)^d`, `d = 1`; and like `i^{−p}`, which is the
//! capacity condition with `γ = 1/p`. Every learner runs afresh for each `n`.

use mercer_kernels::{AnyKernel, TaylorFeatures};
use mercer_learners::{PkawvNystrom, Regressor, RegressorExt, TaylorParams, prequential};

use super::theory::corollary7;
use crate::decay::{Law, Regime};
use crate::hindsight::Hindsight;
use crate::judgement::Outcome;
use crate::learners::{nystrom, pros_n_kons, sketched_kons, taylor};
use crate::prelude::*;
use crate::sublinear::table1::{judge, theory::Growth};

const REGIMES: [Regime; 3] = [Regime::EXPONENTIAL, Regime::MATERN_32, Regime::MATERN_52];

/// Norm of the comparator.
const RADIUS: f64 = 1.0;

/// Lengths of a curve, each twice the one before.
const LENGTHS: usize = 5;

/// Parameters that the theory names for a regime and a length.
#[derive(Clone, Copy, Debug)]
struct RegimeChoice {
    lambda: f64,
    /// `μ` of PKAWV-Nyström.
    nystrom: f64,
    /// `α` and `μ` of PROS-N-KONS.
    restarted: (f64, f64),
}

impl RegimeChoice {
    fn new(law: Law, rounds: usize) -> Self {
        let n = rounds as f64;
        match law {
            // After Theorem 6: λ = 1, μ = n⁻². Restarts allow μ = 1/n in (8).
            Law::Exponential { .. } => Self { lambda: 1.0, nystrom: 1.0 / (n * n), restarted: (1.0, 1.0 / n) },
            Law::Polynomial { degree } => {
                let gamma = 1.0 / degree;
                let tuning = corollary7(rounds, n.powf(2.0 * gamma / (1.0 - gamma * gamma)), gamma);
                // The best m of (8), and the λ that balances m λ with nμ/λ.
                let m = n.powf(2.0 * gamma * (1.0 - gamma) / (1.0 + gamma).powi(2));
                let mu = n * m.powf(-1.0 / gamma);
                let restarted = ((n * mu / m).sqrt().max(tuning.lambda), mu);
                Self { lambda: tuning.lambda, nystrom: tuning.mu, restarted }
            }
        }
    }
}

/// The learners of the table; PKAWV stands for both of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComplexityMethod {
    Taylor,
    Nystrom,
    Sketched,
    Restarted,
}

impl ComplexityMethod {
    const ALL: [Self; 4] = [Self::Taylor, Self::Nystrom, Self::Sketched, Self::Restarted];

    fn name(self) -> &'static str {
        match self {
            Self::Taylor => "PKAWV-Taylor",
            Self::Nystrom => "PKAWV-Nyström",
            Self::Sketched => "Sketched-KONS",
            Self::Restarted => "PROS-N-KONS",
        }
    }

    /// True if the learner is of this kernel.
    fn runs(self, law: Law) -> bool {
        self != Self::Taylor || matches!(law, Law::Exponential { .. })
    }

    /// Name of a quantity of this learner: Sketched-KONS keeps every point, and its cost is that of
    /// those in the curvature.
    fn quantity(self, name: &'static str) -> &'static str {
        if self == Self::Sketched && name == QUANTITIES[SIZE].0 { "rounds in the sketch" } else { name }
    }

    /// The learner with the parameters of its theory and `β = 1`.
    fn build(
        self,
        regime: &Regime,
        radius: f64,
        rounds: usize,
        dimension: usize,
        seed: u64,
    ) -> Result<Box<dyn Regressor>> {
        let kernel: AnyKernel = regime.kernel()?;
        let RegimeChoice { lambda, nystrom: mu, restarted } = RegimeChoice::new(regime.law, rounds);
        Ok(match self {
            Self::Taylor => {
                let degree = TaylorFeatures::sufficient_degree(radius, 1.0, rounds, lambda);
                Box::new(taylor(dimension, 1.0, degree, lambda, TaylorParams::default().max_bytes)?)
            }
            Self::Nystrom => Box::new(PkawvNystrom::new(kernel, dimension, nystrom(lambda, mu, seed))?),
            Self::Sketched => Box::new(sketched_kons(kernel, dimension, lambda, seed)?),
            Self::Restarted => {
                let (alpha, gamma) = restarted;
                Box::new(pros_n_kons(kernel, dimension, alpha, gamma, seed)?)
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

/// Places of the size and of the time among them.
const SIZE: usize = 1;
const TIME: usize = 2;

#[derive(Clone, Copy, Debug)]
struct ComplexityTask {
    regime: Regime,
    rounds: usize,
    repetition: usize,
}

/// Costs of one learner: regret, coordinates, µs a round, and `ln det(I + K/μ)` at the `μ` of its
/// dictionary.
type ComplexityCosts = [f64; 4];

/// Place of the last.
const SCORES: usize = 3;

fn measure(task: &ComplexityTask, plan: &Plan, seed: u64) -> Result<Vec<(ComplexityMethod, ComplexityCosts)>> {
    let ComplexityTask { regime, rounds, repetition } = *task;
    // A longer stream begins like a shorter one.
    let stream = regime.stream(rounds, seed_of(plan.seed, &format!("{} / {}", regime.name, repetition + 1)))?;
    let kernel: AnyKernel = regime.kernel()?;
    let hindsight = Hindsight::new(&kernel, &stream)?;
    let best = hindsight.within(RADIUS).loss;
    let choice = RegimeChoice::new(regime.law, rounds);
    // Eigenvalues are known to 1e−9 n; a smaller μ would sum up rounding.
    let scores = |mu: f64| if mu >= 1e-9 * rounds as f64 { hindsight.log_determinant(mu) } else { f64::NAN };
    let radius = stream.features().chunks_exact(stream.dimension()).map(|x| x.iter().map(|x| x * x).sum::<f64>());
    let radius = radius.fold(0.0, f64::max).sqrt();
    let mut measured = Vec::new();
    for method in ComplexityMethod::ALL.into_iter().filter(|method| method.runs(regime.law)) {
        let mut learner = method.build(&regime, radius, rounds, stream.dimension(), seed)?;
        let start = std::time::Instant::now();
        let score = prequential(learner.as_mut(), stream.iter(), |_| {})?;
        let micros = 1e6 * start.elapsed().as_secs_f64() / rounds as f64;
        let (size, scores) = match method {
            ComplexityMethod::Taylor => (learner.dictionary_size(), f64::NAN),
            ComplexityMethod::Nystrom => (learner.dictionary_size(), scores(choice.nystrom)),
            ComplexityMethod::Restarted => (learner.dictionary_size(), scores(choice.restarted.1)),
            ComplexityMethod::Sketched => {
                let mut again = sketched_kons(kernel.clone(), stream.dimension(), choice.lambda, seed)?;
                stream.iter().try_for_each(|(x, y)| again.update(x, y))?;
                (again.curved_rounds(), f64::NAN)
            }
        };
        measured.push((method, [score.cumulative_loss() - best, size as f64, micros, scores]));
    }
    Ok(measured)
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let longest = plan.size_or(1600, 4000);
    let repetitions = plan.repetitions_or(2, 5);
    let lengths: Vec<usize> = (0..LENGTHS).rev().map(|i| longest >> i).collect();
    let mut tasks = Vec::new();
    for regime in REGIMES {
        for &rounds in &lengths {
            tasks.extend((0..repetitions).map(|repetition| ComplexityTask { regime, rounds, repetition }));
        }
    }
    let name = |task: &ComplexityTask| {
        format!("complexity / {} / n = {} / {}", task.regime.name, task.rounds, task.repetition + 1)
    };
    let outcomes = plan.each(tasks, name, |task, seed| measure(task, plan, seed))?;

    let mut report = Report::new("Table 1: how regret, dictionary and time grow");
    report.words(format!("n up to {longest}, {repetitions} streams each. {INTRODUCTION}"));
    let mut table = Table::with(
        "decay | learner | quantity | at the largest n ~3 | table | its slope .2 | \
             measured slope .2 | that of ln det(I + K/μ) .2 | verdict",
    );
    let mut steeper: Vec<(ComplexityMethod, usize, &str)> = Vec::new();
    let mut panels = Panels::new("Growth with n, measured (solid) and by the table (dashed)", QUANTITIES.len());
    let rounds: Vec<f64> = lengths.iter().map(|n| *n as f64).collect();
    for regime in &REGIMES {
        for (quantity, (name, label)) in QUANTITIES.into_iter().enumerate() {
            let mut figure =
                Figure::new(format!("{}: {name}", regime.name)).x_label("n").y_label(label).log_x().log_y();
            for method in ComplexityMethod::ALL.into_iter().filter(|method| method.runs(regime.law)) {
                let all = |n: usize, quantity: usize| -> Vec<f64> {
                    let own = outcomes.outcomes_where(|task| task.regime == *regime && task.rounds == n);
                    own.into_iter().flatten().filter(|(of, _)| *of == method).map(|(_, all)| all[quantity]).collect()
                };
                let samples = |n: usize| all(n, quantity);
                // What else the machine does only adds to a time: the least stands for it.
                let middle = |samples: Vec<f64>| {
                    if quantity == TIME { samples.into_iter().fold(f64::INFINITY, f64::min) } else { mean(&samples) }
                };
                let means: Vec<f64> = lengths.iter().map(|n| middle(samples(*n))).collect();
                let growth = method.entries(regime.law)[quantity];
                let (slope, verdict) = if quantity == SIZE && means.contains(&0.0) {
                    (Cell::Empty, Judgement::new(ComparisonKind::Bound, Outcome::NotRun, "too few rounds"))
                } else {
                    judge(&rounds, &means, growth)
                };
                if verdict.outcome == Outcome::Differs {
                    steeper.push((method, quantity, regime.name));
                }
                let scores: Vec<f64> = lengths.iter().map(|n| mean(&all(*n, SCORES))).collect();
                let scores = PowerLaw::fit(&rounds, &scores).filter(|_| quantity == SIZE);
                table.push(row![
                    regime.name,
                    method.name(),
                    method.quantity(name),
                    Summary::from_samples(&samples(longest)),
                    growth.words().replace('T', "n"),
                    growth.slope(&rounds),
                    slope,
                    scores.map_or(Cell::Empty, |fit| fit.exponent.into()),
                    verdict
                ])?;
                figure = growth.draw(figure, method.name(), "table", &rounds, &means);
            }
            panels = panels.panel(figure);
        }
    }
    for method in ComplexityMethod::ALL {
        for (quantity, (name, _)) in QUANTITIES.into_iter().enumerate() {
            let own = steeper.iter().filter(|(of, what, _)| *of == method && *what == quantity);
            let regimes: Vec<&str> = own.map(|(.., regime)| *regime).collect();
            if !regimes.is_empty() {
                let subject = format!("{}, {} ({})", method.name(), method.quantity(name), regimes.join("; "));
                report.differs(subject, reason(method, quantity));
            }
        }
    }
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
Sketched-KONS: γ = 0.1; it keeps every point, so that its size is counted in rounds of its sketch, the curvature, which is the n/c of its \
time. KORS takes the β = 1 of the paper's experiments: the β = 12 ln(n/δ) for which Proposition 5 is proved keeps every point at these n. \
Regret is against the best function of norm ≤ 1. Entries are upper bounds without constants: a slope at most the \
entry's (within two standard errors and 0.05) counts as within. Times are the least over the streams; those of small dictionaries are mostly overhead.";

/// Why a slope may be steeper than the table's.
fn reason(method: ComplexityMethod, quantity: usize) -> &'static str {
    match (method, quantity) {
        (_, TIME) => {
            "Time follows the size, with what else the machine was doing, and overhead that small sizes do not outgrow; see the \
             row of the size."
        }
        (ComplexityMethod::Sketched, SIZE) => {
            "A round enters with probability γ at least, so that the sketch has about γn of them: ten of the first hundred, by \
             the chance of as many coins, which the slope has in it."
        }
        (ComplexityMethod::Sketched, _) => {
            "A round adds η g² to the curvature, with η = 1/8 and residuals of the noise's size about 0.03, where least squares \
             adds 2, and γ = 0.1 leaves most rounds out; the bound carries the factor 1/(ηγ) and lies far above."
        }
        (ComplexityMethod::Taylor, SIZE) => {
            "Theorem 4's degree grows with the radius of the inputs, which grows with n here, as well."
        }
        (ComplexityMethod::Nystrom | ComplexityMethod::Restarted, SIZE) => {
            "KORS keeps points by their scores among the past, which sum to about ln det(I + K/μ): up to ln(e + en/μ) d_eff(μ), a \
             logarithm more than the table, which leaves logarithms out; its slope stands beside. Where μ is so small that a \
             short stream is kept nearly whole, the slope is that of n there."
        }
        (ComplexityMethod::Restarted, _) => {
            "A restart at every point that is kept: regret is that of one stretch times the size, which is steeper than the \
             table's as well (its row says why)."
        }
        (ComplexityMethod::Taylor | ComplexityMethod::Nystrom, _) => {
            "The bound has constants and lower orders that the table leaves out, and these n are short; the regret itself is \
             the least of the four learners'."
        }
    }
}
