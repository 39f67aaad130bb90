//! Figure 3: the regret that a greedy adversary forces.
//!
//! In each round the adversary, who knows the learner's state (its coins included), chooses
//! `(x, y) ∈ [−1, 1]^d × [−1, 1]` so that the regularised regret
//! `Σ (ŷ_t − y_t)² − min_f {Σ (f(x_t) − y_t)² + λ‖f‖²}` grows most. With `f` the minimiser so far
//! and `s = k(x, x) − kᵀ(K + λI)⁻¹k` it grows by
//!
//! ```text
//! (ŷ(x) − y)² − (y − f(x))²/(1 + s/λ),
//! ```
//!
//! which is convex in `y`: the best `y` is −1 or 1, and only `x` needs a search. That is a seeded
//! one: random inputs and corners, the best of which are improved coordinate by coordinate with
//! falling steps. Proposition 1 bounds the regret of Kernel-AWV by `Σ ln(1 + s_t/λ)` on the same
//! sequence.

use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points};
use mercer_learners::{Regressor, RegressorExt, Scratch};
use mercer_linalg_incremental::GrowingCholesky;
use mercer_readers::Dataset;
use mercer_streams::Simulation;

use super::methods::{KernelForecaster, LAMBDA, ProjectedMethod};
use crate::prelude::*;

const DIMENSION: usize = 5;

/// Forecaster that the paper projects against an adversary.
const AGAINST_IT: KernelForecaster = KernelForecaster::Awv;

const SIGMA: f64 = 1.0;

/// The learners: those of section 4, and a higher degree, for corners lie far from the origin
/// (`‖x‖² = 5`).
const METHODS: [ProjectedMethod; 8] = [
    ProjectedMethod::Taylor(2),
    ProjectedMethod::Taylor(3),
    ProjectedMethod::Taylor(4),
    ProjectedMethod::Taylor(6),
    ProjectedMethod::Nystrom,
    ProjectedMethod::ProsNKons,
    ProjectedMethod::Fogd,
    ProjectedMethod::Whole,
];

/// Effort of the adversary's search in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AdversarySearch {
    /// Random inputs, each also taken to its corner.
    starts: usize,
    /// The best of them, which are improved.
    improved: usize,
    /// Smallest step.
    finest: f64,
}

/// The batch learner, as the adversary sees it.
#[derive(Clone, Debug)]
struct Batch {
    kernel: Gaussian,
    points: Points,
    /// Factor of `K + λI`.
    factor: GrowingCholesky,
    /// `L⁻¹Y`
    q: AlignedVec,
    /// `L⁻¹k(x)` of the last input looked at.
    v: AlignedVec,
    row: AlignedVec,
}

impl Batch {
    fn new() -> Result<Self> {
        Ok(Self {
            kernel: Gaussian::new(SIGMA)?,
            points: Points::new(DIMENSION),
            factor: GrowingCholesky::new(),
            q: AlignedVec::new(),
            v: AlignedVec::new(),
            row: AlignedVec::new(),
        })
    }

    /// `f(x)` and `s`.
    fn look(&mut self, x: &[f64]) -> (f64, f64) {
        self.kernel.row(&self.points, x, &mut self.row);
        self.factor.forward_solve(&self.row, &mut self.v);
        (dot(&self.v, &self.q), (self.kernel.self_value(x) - dot(&self.v, &self.v)).max(0.0))
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        let (f, s) = self.look(x);
        let pivot = (s + LAMBDA).sqrt();
        self.factor.append(&self.v, pivot);
        self.q.push((y - f) / pivot);
        self.points.push(x);
    }
}

/// A choice of the adversary and what it gains.
#[derive(Clone, Debug, PartialEq)]
struct AdversaryChoice {
    x: Vec<f64>,
    y: f64,
    gain: f64,
}

/// The better of `y = −1` and `y = 1` at `x`.
fn gain(learner: &dyn Regressor, scratch: &mut Scratch, batch: &mut Batch, x: &[f64]) -> Result<AdversaryChoice> {
    let prediction = learner.predict_with(x, scratch)?;
    let (f, s) = batch.look(x);
    let of = |y: f64| (prediction - y).powi(2) - (y - f).powi(2) / (1.0 + s / LAMBDA);
    let y = if of(1.0) >= of(-1.0) { 1.0 } else { -1.0 };
    Ok(AdversaryChoice { x: x.to_vec(), y, gain: of(y) })
}

fn choose(
    learner: &dyn Regressor,
    batch: &mut Batch,
    search: AdversarySearch,
    starts: &[f64],
) -> Result<AdversaryChoice> {
    let mut scratch = Scratch::default();
    let mut found = Vec::with_capacity(2 * search.starts);
    for x in starts.chunks_exact(DIMENSION) {
        let corner: Vec<f64> = x.iter().map(|value| value.signum()).collect();
        found.push(gain(learner, &mut scratch, batch, x)?);
        found.push(gain(learner, &mut scratch, batch, &corner)?);
    }
    // Stable, so that nothing hangs on the order of equals.
    found.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    found.truncate(search.improved);
    for choice in &mut found {
        let mut step = 0.5;
        while step > search.finest {
            let before = choice.gain;
            for place in 0..DIMENSION {
                for direction in [-step, step] {
                    let mut x = choice.x.clone();
                    x[place] = (x[place] + direction).clamp(-1.0, 1.0);
                    let moved = gain(learner, &mut scratch, batch, &x)?;
                    if moved.gain > choice.gain {
                        *choice = moved;
                    }
                }
            }
            if choice.gain <= before {
                step /= 2.0;
            }
        }
    }
    let best = found.into_iter().reduce(|best, other| if other.gain > best.gain { other } else { best });
    Ok(best.unwrap_or(AdversaryChoice { x: vec![0.0; DIMENSION], y: 1.0, gain: 0.0 }))
}

/// Uniform inputs for the searches of all rounds.
fn starts(rounds: usize, search: AdversarySearch, seed: u64) -> Result<Dataset> {
    Ok(Simulation { rows: rounds * search.starts, noise: 0.0, width: SIGMA, seed }.cube(DIMENSION)?.dataset)
}

/// A game.
#[derive(Clone, Debug, PartialEq)]
struct Game {
    /// Regularised regret after each round.
    regret: Vec<f64>,
    /// Proposition 1's bound on that of Kernel-AWV on this sequence.
    bound: Vec<f64>,
    rounds: Vec<(Vec<f64>, f64)>,
}

fn play(method: ProjectedMethod, rounds: usize, search: AdversarySearch, seed: u64) -> Result<Game> {
    let mut learner = method.build(AGAINST_IT, DIMENSION, rounds, SIGMA, seed)?;
    let mut batch = Batch::new()?;
    let starts = starts(rounds, search, seed)?;
    let mut game = Game { regret: Vec::new(), bound: Vec::new(), rounds: Vec::new() };
    let (mut regret, mut bound) = (0.0, 0.0);
    for starts in starts.features().chunks_exact(search.starts * DIMENSION) {
        let AdversaryChoice { x, y, gain } = choose(learner.as_ref(), &mut batch, search, starts)?;
        regret += gain;
        bound += (batch.look(&x).1 / LAMBDA).ln_1p();
        learner.update(&x, y)?;
        batch.learn(&x, y);
        game.regret.push(regret);
        game.bound.push(bound);
        game.rounds.push((x, y));
    }
    Ok(game)
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let (rounds, search) = match plan.size {
        Some(rounds) => (rounds, AdversarySearch { starts: 8, improved: 1, finest: 0.05 }),
        None if plan.full => (80, AdversarySearch { starts: 200, improved: 20, finest: 1e-4 }),
        None => (80, AdversarySearch { starts: 50, improved: 5, finest: 1e-3 }),
    };
    let repetitions = plan.repetitions_or(5, 20);
    let inputs = METHODS.iter().flat_map(|method| (0..repetitions).map(|repetition| (*method, repetition)));
    let name = |(method, repetition): &(ProjectedMethod, usize)| {
        format!("adversary / {} / {}", method.name(AGAINST_IT), repetition + 1)
    };
    let games = plan.each(inputs, name, |(method, _), seed| play(*method, rounds, search, seed))?;

    let mut report = Report::new("Figure 3: the regret that a greedy adversary forces");
    report.words(format!("d = {DIMENSION}, n = {rounds}, {repetitions} seeds for each learner. {INTRODUCTION}"));
    let mut table = Table::with("learner")
        .numbers(format!("regret at {}", rounds / 4), Format::Decimals(2))
        .numbers(format!("regret at {}", rounds / 2), Format::Decimals(2))
        .numbers(format!("regret at {rounds}"), Format::Decimals(2))
        .numbers("over Kernel-AWV's", Format::Decimals(2));
    let mut figure = Figure::new("Regularised regret under a greedy adversary").x_label("round t").y_label("regret");
    let ts: Vec<f64> = (1..=rounds).map(|t| t as f64).collect();
    let of = |wanted: ProjectedMethod| games.outcomes_where(|(method, _)| *method == wanted);
    let at = |games: &[&Game], t: usize| games.iter().map(|game| game.regret[t - 1]).collect::<Vec<f64>>();
    let whole = of(ProjectedMethod::Whole);
    for method in METHODS {
        let own = of(method);
        let summary = |t: usize| Summary::from_samples(&at(&own, t.max(1)));
        table.push(row![
            method.name(AGAINST_IT),
            summary(rounds / 4),
            summary(rounds / 2),
            summary(rounds),
            mean(&at(&own, rounds)) / mean(&at(&whole, rounds))
        ])?;
        figure = Band::from_samples((1..=rounds).map(|t| at(&own, t)), sample_std).draw(
            figure,
            method.name(AGAINST_IT),
            &ts,
        );
    }
    let bound: Vec<f64> = (0..rounds).map(|t| mean_of(&whole, |game| game.bound[t])).collect();
    figure = figure.dashed("Kernel-AWV, bound of Proposition 1", &ts, &bound);
    let said = orderings(|method| at(&of(method), rounds))?;
    report.differs_where(&said, "The order of the curves", ORDER);
    report.table("adversary_orderings", "What the paper says of its figure", said);
    report.table("adversary", "Regularised regret, mean ± standard deviation over the seeds", table);
    report.picture("adversary", "Regularised regret, mean and standard deviation (shaded) over the seeds", figure);
    Ok(report)
}

/// The paper's statements beside the measured means.
fn orderings(last: impl Fn(ProjectedMethod) -> Vec<f64>) -> Result<Table> {
    let of = |method: ProjectedMethod| mean(&last(method));
    let whole = of(ProjectedMethod::Whole);
    let others = || METHODS.into_iter().filter(|method| *method != ProjectedMethod::Whole);
    let degrees: Vec<f64> =
        METHODS.iter().filter(|m| matches!(m, ProjectedMethod::Taylor(_))).map(|m| of(*m)).collect();
    let statements = [
        ("Kernel-AWV has the least regret", others().all(|method| of(method) > whole)),
        ("the regret of PKAWV falls with M", degrees.is_sorted_by(|a, b| a > b)),
        ("PROS-N-KONS has the largest regret", METHODS.into_iter().all(|m| of(m) <= of(ProjectedMethod::ProsNKons))),
        ("FOGD is ahead of PKAWV of low degree", of(ProjectedMethod::Fogd) < of(ProjectedMethod::Taylor(3))),
    ];
    let mut table = Table::with("statement | verdict");
    for (statement, holds) in statements {
        table.push(row![statement, Judgement::statement(ComparisonKind::Bound, holds)])?;
    }
    Ok(table)
}

const INTRODUCTION: &str = "σ = 1, λ = 1, the learners of the large streams; FOGD with η = 1/√n for this n. The adversary knows the \
learner's state and looks one round ahead; what it finds is a lower bound on what the best adversary could do, for each learner its own \
sequence.";

const ORDER: &str = "The paper's adversary is a general optimiser, whose starts and seeds it does not tell. Ours looks one round ahead from a number of random starts: a \
learner whose regret hardly depends on where it is searched can come before one whose worst inputs are hard to find.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hindsight::Hindsight;

    const SMALL: AdversarySearch = AdversarySearch { starts: 6, improved: 1, finest: 0.1 };

    /// The sum of gains is the regularised regret of the sequence played, by its definition, and
    /// Proposition 1 holds for it.
    #[test]
    fn gains_add_up_to_the_regret() {
        for method in [
            ProjectedMethod::Whole,
            ProjectedMethod::Taylor(2),
            ProjectedMethod::Nystrom,
            ProjectedMethod::ProsNKons,
            ProjectedMethod::Fogd,
        ] {
            let game = play(method, 25, SMALL, 3).unwrap();
            let xs: Vec<f64> = game.rounds.iter().flat_map(|(x, _)| x.iter().copied()).collect();
            let ys: Vec<f64> = game.rounds.iter().map(|(_, y)| *y).collect();
            assert!(xs.iter().chain(&ys).all(|value| value.abs() <= 1.0));
            let stream = Dataset::new("game", DIMENSION, xs.clone(), ys.clone()).unwrap();
            let hindsight = Hindsight::new(&Gaussian::new(SIGMA).unwrap(), &stream).unwrap();
            let mut learner = method.build(AGAINST_IT, DIMENSION, 25, SIGMA, 3).unwrap();
            let mut loss = 0.0;
            for (x, y) in &game.rounds {
                loss += (learner.predict_then_update(x, *y).unwrap() - y).powi(2);
            }
            let regret = loss - hindsight.ridge(LAMBDA).objective(LAMBDA);
            let claimed = game.regret[24];
            assert!((regret - claimed).abs() < 1e-7 * regret.abs().max(1.0), "{method:?}: {claimed} for {regret}");
            assert!((game.bound[24] - hindsight.log_determinant(LAMBDA)).abs() < 1e-7);
            if method == ProjectedMethod::Whole {
                assert!(claimed <= game.bound[24]);
            }
        }
    }

    /// The search finds at least what its own starts offer, and more when it is refined.
    #[test]
    fn a_harder_search_gains_no_less_in_the_first_round() {
        let learner = ProjectedMethod::Taylor(2).build(AGAINST_IT, DIMENSION, 10, SIGMA, 1).unwrap();
        let of = |search: AdversarySearch| {
            let starts = starts(1, search, 1).unwrap();
            choose(learner.as_ref(), &mut Batch::new().unwrap(), search, starts.features()).unwrap().gain
        };
        // Nothing is learnt: ŷ = 0, s = 1, so that every x gains 1 − 1/2.
        assert!((of(SMALL) - 0.5).abs() < 1e-15);
        let mut learner = learner;
        let mut batch = Batch::new().unwrap();
        for (x, y) in [([0.5; DIMENSION], 1.0), ([-0.5; DIMENSION], -1.0)] {
            learner.update(&x, y).unwrap();
            batch.learn(&x, y);
        }
        let mut of = |improved: usize, finest: f64| {
            let search = AdversarySearch { starts: 6, improved, finest };
            choose(learner.as_ref(), &mut batch, search, starts(1, search, 1).unwrap().features()).unwrap().gain
        };
        let (rough, fine) = (of(1, 0.5), of(6, 1e-3));
        assert!(fine > rough, "{fine} against {rough}");
    }
}
