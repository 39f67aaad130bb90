//! Table 1 of the sublinear-regression paper, measured: how regret, dictionary and time a round
//! grow with T.
//!
//! On streams whose kernel eigenvalues fall in a known way ([`decay`](crate::decay)) every learner
//! runs afresh for each T, with the parameters that its theory names for that T and that decay;
//! regret is against the best function of norm at most 1 in hindsight
//! ([`hindsight`](crate::hindsight)). The slopes in the logarithm stand beside those of the
//! theory's bounds over the same T. The bounds are upper bounds: a smaller slope is no
//! contradiction, a larger one would be.

pub(crate) mod theory;

use mercer_kernels::AnyKernel;
use mercer_learners::{
    AogdAld, AogdAldParams, Fogd, FogdParams, NonsAld, NonsAldParams, ProsNKons, ProsNKonsParams, Regressor,
    SketchedKons, SketchedKonsParams,
};

use crate::decay::{Law, Regime};
use crate::hindsight::Hindsight;
use crate::judgement;
use crate::prelude::*;
use crate::sublinear::table3::measure;
use theory::{Growth, bounds};

/// `U` and the comparator's radius.
const RADIUS: f64 = 1.0;

/// `D` of FOGD.
const FEATURES: usize = 100;

/// The learners of Table 1 that this workspace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table1Method {
    /// [`mercer_learners::NonsAld`], Corollaries 4.7 and 4.8.
    NonsAld,
    /// [`mercer_learners::AogdAld`], Theorem 3.2.
    AogdAld,
    /// [`mercer_learners::ProsNKons`], section 4.5.2.
    ProsNKons,
    /// [`mercer_learners::SketchedKons`], at small T: its memory grows with the square of the
    /// stream.
    SketchedKons,
    /// [`mercer_learners::Fogd`]; its features are the Gaussian kernel's, so it runs under
    /// exponential decay only.
    Fogd,
}

impl Table1Method {
    /// In the order of pictures and tables.
    pub(crate) const ALL: [Self; 5] = [Self::NonsAld, Self::AogdAld, Self::ProsNKons, Self::SketchedKons, Self::Fogd];

    /// The paper's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NonsAld => "NONS-ALD",
            Self::AogdAld => "AOGD-ALD",
            Self::ProsNKons => "PROS-N-KONS",
            Self::SketchedKons => "Sketched-KONS",
            Self::Fogd => "FOGD",
        }
    }

    /// The learner with the parameters of its theory for `rounds` rounds.
    fn build(
        self,
        law: Law,
        kernel: AnyKernel,
        dimension: usize,
        rounds: usize,
        seed: u64,
    ) -> Result<Box<dyn Regressor>> {
        let t = rounds as f64;
        // μ and the thresholds of Corollaries 4.7 (constant μ) and 4.8; PROS-N-KONS by section
        // 4.5.2.
        let (mu, ald, kors) = match law {
            Law::Exponential { .. } => (1.0, t.ln().powi(4) / t.powi(4), 1.0 / t),
            Law::Polynomial { degree: p } => {
                let kors = t.powf(-(p * p - 2.0 * p - 1.0) / ((p + 1.0) * (p + 1.0)));
                (t.powf(1.0 / (1.0 + p)), t.powf(-4.0 * p / (1.0 + p)), kors)
            }
        };
        Ok(match self {
            Self::NonsAld => {
                let params =
                    NonsAldParams::default().mu(mu).alpha(ald).radius(RADIUS).label_bound(1.0).max_dictionary(None);
                Box::new(NonsAld::new(kernel, dimension, params)?)
            }
            Self::AogdAld => {
                let growth_limit = Some(AogdAldParams::growth_limit_for(dimension, rounds));
                let params = AogdAldParams::default().radius(RADIUS).alpha(1.0 / t).growth_limit(growth_limit);
                Box::new(AogdAld::new(kernel, dimension, params)?)
            }
            Self::ProsNKons => {
                let params = ProsNKonsParams::default()
                    .alpha(mu)
                    .gamma(kors)
                    .beta(1.0)
                    .epsilon(0.5)
                    .clip(RADIUS)
                    .max_dictionary(None)
                    .seed(seed);
                Box::new(ProsNKons::new(kernel, dimension, params)?)
            }
            Self::SketchedKons => {
                let params = SketchedKonsParams::default().mu(mu).eta(0.125).gamma(0.1).beta(1.0).seed(seed);
                Box::new(SketchedKons::new(kernel, dimension, params)?)
            }
            Self::Fogd => {
                let params = FogdParams::default().sigma(1.0).features(FEATURES).step(1.0 / t.sqrt()).seed(seed);
                Box::new(Fogd::new(dimension, params)?)
            }
        })
    }

    /// The rounds at which a learner is run under a regime, none if not at all.
    ///
    /// NONS-ALD's threshold falls like T⁻⁴. Under exponential decay double precision loses the
    /// residual below 1e−8 (the smallest eigenvalue of the dictionary's Gram matrix is then at
    /// rounding), under polynomial decay below 1e−12: its T ends there.
    fn rounds(self, regime: &Regime, plan: &Plan) -> Vec<usize> {
        let (reduced, whole) = match (self, regime.law) {
            (Self::Fogd, Law::Polynomial { .. }) => return Vec::new(),
            (Self::NonsAld, Law::Exponential { .. }) => (640, 640),
            (Self::NonsAld, _) => (2000, 2000),
            (Self::SketchedKons, _) => (2000, 4000),
            // The comparator of slow decay has nearly as many coordinates as there are points.
            (_, Law::Polynomial { degree }) if degree < 5.0 => (2000, 4000),
            _ => (8000, 32_000),
        };
        let last = if plan.full { whole } else { reduced }.min(plan.size.unwrap_or(usize::MAX));
        (0..5).rev().map(|i| last >> i).collect()
    }
}

/// The regimes of the experiment.
const REGIMES: [Regime; 4] = [Regime::EXPONENTIAL, Regime::MATERN_32, Regime::MATERN_52, Regime::COSINES];

/// One stream, for one learner or (`None`) for the comparator.
#[derive(Clone, Copy, Debug)]
struct Table1Task {
    regime: Regime,
    method: Option<Table1Method>,
    rounds: usize,
    repetition: usize,
}

/// What one pass, or the comparator, gave.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Table1Pass {
    loss: f64,
    size: f64,
    seconds_per_round: f64,
}

/// What one learner did at one T, over the repetitions.
#[derive(Clone, Debug)]
struct Table1Point {
    rounds: f64,
    regret: Vec<f64>,
    size: Vec<f64>,
    time: Vec<f64>,
    /// Passes that diverged; the others are in the lists.
    diverged: usize,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let repetitions = plan.repetitions_or(3, 5);
    let mut tasks = Vec::new();
    for regime in REGIMES {
        let mut all_rounds: Vec<usize> = Vec::new();
        for method in Table1Method::ALL {
            for rounds in method.rounds(&regime, plan) {
                all_rounds.push(rounds);
                tasks.extend((0..repetitions).map(|repetition| Table1Task {
                    regime,
                    method: Some(method),
                    rounds,
                    repetition,
                }));
            }
        }
        all_rounds.sort_unstable();
        all_rounds.dedup();
        for rounds in all_rounds {
            tasks.extend((0..repetitions).map(|repetition| Table1Task { regime, method: None, rounds, repetition }));
        }
    }
    let name = |task: &Table1Task| {
        let method = task.method.map_or("hindsight", Table1Method::name);
        format!("table1 / {} / T = {} / {} / {method}", task.regime.name, task.rounds, task.repetition + 1)
    };
    let jobs: Vec<Job<Table1Task>> =
        tasks.iter().map(|task| Job::new(name(task), plan.seed, task.rounds as u64, *task)).collect();
    let outcomes = plan.run(&jobs, |job, bar| pass(&job.input, plan.seed, job.seed, bar))?;
    let done: Vec<(Table1Task, Table1Pass)> = tasks.into_iter().zip(outcomes).collect();
    report(&done)
}

fn pass(task: &Table1Task, experiment_seed: u64, seed: u64, bar: &JobProgress) -> Result<Table1Pass> {
    let Table1Task { regime, method, rounds, repetition } = *task;
    // A longer stream begins like a shorter one, so that the points of a curve differ by T alone.
    let stream_seed = seed_of(experiment_seed, &format!("{} / {}", regime.name, repetition + 1));
    let (stream, kernel) = (regime.stream(rounds, stream_seed)?, regime.kernel()?);
    let Some(method) = method else {
        let best = Hindsight::new(&kernel, &stream)?.within(RADIUS);
        return Ok(Table1Pass { loss: best.loss, size: 0.0, seconds_per_round: 0.0 });
    };
    let mut learner = method.build(regime.law, kernel, stream.dimension(), rounds, seed)?;
    let pass = measure::run(learner.as_mut(), &stream, bar)?;
    let rounds = pass.rounds as f64;
    Ok(Table1Pass { loss: pass.mse * rounds, size: pass.size as f64, seconds_per_round: pass.seconds / rounds })
}

/// The points of one learner under one regime, by rising T.
fn points(done: &[(Table1Task, Table1Pass)], regime: &Regime, method: Table1Method) -> Vec<Table1Point> {
    let of = |wanted: Option<Table1Method>| {
        done.iter().filter(move |(task, _)| task.regime == *regime && task.method == wanted)
    };
    let mut result: Vec<Table1Point> = Vec::new();
    for (task, outcome) in of(Some(method)) {
        let same = |other: &Table1Task| other.rounds == task.rounds && other.repetition == task.repetition;
        let Some((_, best)) = of(None).find(|(other, _)| same(other)) else { continue };
        let rounds = task.rounds as f64;
        if result.last().is_none_or(|last| last.rounds != rounds) {
            result.push(Table1Point { rounds, regret: Vec::new(), size: Vec::new(), time: Vec::new(), diverged: 0 });
        }
        if let Some(last) = result.last_mut() {
            if !outcome.loss.is_finite() {
                last.diverged += 1;
                continue;
            }
            last.regret.push(outcome.loss - best.loss);
            last.size.push(outcome.size);
            last.time.push(1e6 * outcome.seconds_per_round);
        }
    }
    result
}

/// One of the three measured quantities.
struct Quantity {
    name: &'static str,
    label: &'static str,
    of: fn(&Table1Point) -> &[f64],
    theory: fn(&theory::Bounds) -> Growth,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity { name: "regret", label: "regret", of: |p| &p.regret, theory: |b| b.regret },
    Quantity { name: "J", label: "stored points", of: |p| &p.size, theory: |b| b.size },
    Quantity { name: "time a round", label: "µs a round", of: |p| &p.time, theory: |b| b.time },
];

fn report(done: &[(Table1Task, Table1Pass)]) -> Result<Report> {
    let mut report = Report::new("Table 1: how regret, dictionary and time grow");
    report.words(INTRODUCTION);
    let mut table = Table::with(
        "decay | learner | quantity | T # | at the largest T ~3 | theory | its slope .2 | \
             measured slope .2 | verdict",
    );
    let mut panels = Panels::new("Growth with T, measured (solid) and in theory (dashed)", QUANTITIES.len());
    for regime in &REGIMES {
        for quantity in &QUANTITIES {
            let mut figure = Figure::new(format!("{}: {}", regime.name, quantity.name))
                .x_label("T")
                .y_label(quantity.label)
                .log_x()
                .log_y();
            for method in Table1Method::ALL {
                let all = points(done, regime, method);
                let diverged: usize = all.iter().map(|point| point.diverged).sum();
                let points: Vec<Table1Point> = all.into_iter().filter(|point| !point.regret.is_empty()).collect();
                let Some(last) = points.last() else { continue };
                let rounds: Vec<f64> = points.iter().map(|point| point.rounds).collect();
                let means: Vec<f64> = points.iter().map(|point| mean((quantity.of)(point))).collect();
                let growth = (quantity.theory)(&bounds(method, regime.law));
                let (slope, mut verdict) = judge(&rounds, &means, growth);
                if diverged > 0 {
                    verdict.words += &format!("; {diverged} passes diverged");
                }
                table.push(row![
                    regime.name,
                    method.name(),
                    quantity.name,
                    last.rounds,
                    Summary::of((quantity.of)(last)),
                    growth.words(),
                    growth.slope(&rounds),
                    slope,
                    verdict
                ])?;
                // The bound through the first measured point: only its slope means anything.
                let theory: Vec<f64> = rounds.iter().map(|&t| means[0] * growth.at(t) / growth.at(rounds[0])).collect();
                figure = figure.line(method.name(), &rounds, &means).dashed(
                    format!("{}, theory", method.name()),
                    &rounds,
                    &theory,
                );
            }
            panels = panels.panel(figure);
        }
    }
    report.differs_where(&table, "Slopes steeper than the theory's", STEEPER);
    report.table("table1", "Slopes in ln T, measured and of the theory's bounds over the same T", table);
    report.picture(
        "table1",
        "Regret, dictionary and time a round against T; dashed: the theory's growth, through the first point",
        panels,
    );
    Ok(report)
}

const INTRODUCTION: &str = "Five lengths T, each twice the one before; parameters by the theory for each T (NONS-ALD: Corollaries \
4.7 and 4.8; AOGD-ALD: Theorem 3.2; PROS-N-KONS: section 4.5.2; Sketched-KONS: γ = 0.1; FOGD: D = 100, η = 1/√T). Regret is against \
the best function of norm ≤ 1 in hindsight. Targets carry noise, so that √L(f) grows like √T. Theory gives upper bounds with \
constants: a slope at most the bound's (within two standard errors and 0.05) counts as within. Dictionaries \
are capped at T. Times are those of this machine, with everything else that it was doing; those of small dictionaries are \
mostly overhead.";

const STEEPER: &str = "A slope steeper than the bound's at these T is not yet a contradiction: the theory leaves constants open, and \
the curve may still be on its way up to the bound (Theorem 4.6 below shows how far that is). Slopes of times also have in them what \
else the machine was doing, and caches.";

/// The measured slope, and whether it is within the bound's.
pub(crate) fn judge(rounds: &[f64], means: &[f64], growth: Growth) -> (Cell, Judgement) {
    let (Some(fit), Some(bound)) = (PowerLaw::fit(rounds, means), growth.slope(rounds)) else {
        // A regret that is not positive has no logarithm, and is below every bound; a single length
        // has no slope.
        let below = means.iter().any(|value| *value <= 0.0);
        let verdict = if below {
            Judgement::new(ComparisonKind::Bound, judgement::Outcome::Reproduced, "within: no regret")
        } else {
            Judgement::new(ComparisonKind::Bound, judgement::Outcome::NotRun, "too few lengths")
        };
        return (Cell::Empty, verdict);
    };
    let slack = 2.0 * fit.standard_error + 0.05;
    let verdict = Judgement::either(ComparisonKind::Bound, fit.exponent <= bound + slack, "within", "steeper");
    (Cell::Spread { mean: fit.exponent, std: fit.standard_error }, verdict)
}
