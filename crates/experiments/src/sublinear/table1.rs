//! Table 1 of the sublinear-regression paper, measured: how regret, dictionary and time a round
//! grow with T, on streams whose kernel eigenvalues fall in a known way ([`decay`](crate::decay)).
//! Every learner runs afresh for each T; regret is against the best function of norm at most 1 in
//! hindsight ([`hindsight`](crate::hindsight)).

pub(crate) mod theory;

use mercer_kernels::AnyKernel;
use mercer_learners::Regressor;

use crate::decay::{Law, Regime};
use crate::hindsight::Hindsight;
use crate::judgement;
use crate::learners::{aogd_ald, fogd, nons_ald, pros_n_kons, sketched_kons};
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
            Self::NonsAld => Box::new(nons_ald(kernel, dimension, mu, ald)?),
            Self::AogdAld => Box::new(aogd_ald(kernel, dimension, RADIUS, 1.0 / t, rounds)?),
            Self::ProsNKons => Box::new(pros_n_kons(kernel, dimension, mu, kors, seed)?),
            Self::SketchedKons => Box::new(sketched_kons(kernel, dimension, mu, seed)?),
            Self::Fogd => Box::new(fogd(dimension, 1.0, FEATURES, 1.0, rounds, seed)?),
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

/// Results of one pass, or of the comparator.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Table1Pass {
    loss: f64,
    size: f64,
    seconds_per_round: f64,
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
    report(plan, &plan.each(tasks, name, |task, seed| pass(task, plan.seed, seed))?)
}

fn pass(task: &Table1Task, experiment_seed: u64, seed: u64) -> Result<Table1Pass> {
    let Table1Task { regime, method, rounds, repetition } = *task;
    // A longer stream begins like a shorter one, so that the points of a curve differ by T alone.
    let stream_seed = seed_of(experiment_seed, &format!("{} / {}", regime.name, repetition + 1));
    let (stream, kernel) = (regime.stream(rounds, stream_seed)?, regime.kernel()?);
    let Some(method) = method else {
        let best = Hindsight::new(&kernel, &stream)?.within(RADIUS);
        return Ok(Table1Pass { loss: best.loss, size: 0.0, seconds_per_round: 0.0 });
    };
    let mut learner = method.build(regime.law, kernel, stream.dimension(), rounds, seed)?;
    let pass = measure::run(learner.as_mut(), &stream)?;
    let rounds = pass.rounds as f64;
    Ok(Table1Pass { loss: pass.mse * rounds, size: pass.size as f64, seconds_per_round: pass.seconds / rounds })
}

/// Regret, size and µs a round of one learner at one T: of its passes, those that did not diverge.
fn samples(runs: &Runs<Table1Task, Table1Pass>, regime: &Regime, method: Table1Method, rounds: usize) -> Vec<[f64; 3]> {
    let of = |wanted| runs.outcomes_where(|task| (task.regime, task.method, task.rounds) == (*regime, wanted, rounds));
    // Both in the order of the repetitions.
    let pairs = of(Some(method)).into_iter().zip(of(None)).filter(|(pass, _)| pass.loss.is_finite());
    pairs.map(|(pass, best)| [pass.loss - best.loss, pass.size, 1e6 * pass.seconds_per_round]).collect()
}

/// Growth of a quantity by the theory.
type Theory = fn(&theory::Bounds) -> Growth;

/// The measured quantities in the order of [`samples`]: name, label and theory.
const QUANTITIES: [(&str, &str, Theory); 3] = [
    ("regret", "regret", |b| b.regret),
    ("J", "stored points", |b| b.size),
    ("time a round", "µs a round", |b| b.time),
];

fn report(plan: &Plan, runs: &Runs<Table1Task, Table1Pass>) -> Result<Report> {
    let mut report = Report::new("Table 1: how regret, dictionary and time grow");
    report.words(INTRODUCTION);
    let mut table = Table::with(
        "decay | learner | quantity | T # | at the largest T ~3 | theory | its slope .2 | \
             measured slope .2 | verdict",
    );
    let mut panels = Panels::new("Growth with T, measured (solid) and in theory (dashed)", QUANTITIES.len());
    for regime in &REGIMES {
        for (quantity, (name, label, theory)) in QUANTITIES.into_iter().enumerate() {
            let title = format!("{}: {name}", regime.name);
            let mut figure = Figure::new(title).x_label("T").y_label(label).log_x().log_y();
            for method in Table1Method::ALL {
                let lengths = method.rounds(regime, plan);
                let passes = lengths.len() * plan.repetitions_or(3, 5);
                let all = lengths.into_iter().map(|rounds| (rounds as f64, samples(runs, regime, method, rounds)));
                let all: Vec<(f64, Vec<[f64; 3]>)> = all.filter(|(_, passes)| !passes.is_empty()).collect();
                let Some((longest, last)) = all.last() else { continue };
                let diverged = passes - all.iter().map(|(_, passes)| passes.len()).sum::<usize>();
                let rounds = all_of(&all, |(rounds, _)| *rounds);
                let means = all_of(&all, |(_, passes)| mean_of(passes, |pass| pass[quantity]));
                let growth = theory(&bounds(method, regime.law));
                let (slope, mut verdict) = judge(&rounds, &means, growth);
                if diverged > 0 {
                    verdict.words += &format!("; {diverged} passes diverged");
                }
                table.push(row![
                    regime.name,
                    method.name(),
                    name,
                    *longest,
                    Summary::from_samples(&all_of(last, |pass| pass[quantity])),
                    growth.words(),
                    growth.slope(&rounds),
                    slope,
                    verdict
                ])?;
                figure = growth.draw(figure, method.name(), "theory", &rounds, &means);
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
