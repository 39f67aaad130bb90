//! Figure 2: metastable sets of Langevin dynamics in a potential with four wells.
//!
//! The kernel is `0.4·G(0.4) + 0.6·G(0.7)`. A pair is dropped by the test that the appendix prints,
//! η√(δ_Y k(x, x)) ≤ ε, which leaves out the input side; (31) in full stands beside it. Metastable
//! sets come from the leading four eigenfunctions: orthonormalised over samples, rows of unit
//! length, k-means++; they are scored against the four quadrants by the adjusted Rand index.

use mercer_kernels::AnyKernel;
use mercer_koopman::{
    Budget, BudgetTest, KMeans, OperatorLearner, Sogd, SogdParams, StepSchedule, adjusted_rand_index, orthonormal_rows,
};
use mercer_streams::{FourWells, Pairs};

use super::{RANK_GUARD, plane, real_values};
use crate::prelude::*;

const KERNEL: &str = "mix:0.4*gaussian:0.4+0.6*gaussian:0.7";
const ETA: f64 = 0.3;
/// Pairs a trajectory.
const LENGTH: usize = 100;
const SETS: usize = 4;
/// Samples that are clustered.
const SAMPLES: usize = 4000;
/// Places of the growth curve.
const PLACES: usize = 100;

/// When the paper looks, and the dictionary sizes that it prints.
const PRINTED: [(usize, f64); 3] = [(2000, 101.0), (20_000, 134.0), (40_000, 145.0)];

/// A size within this share of the printed one counts as the same.
const SAME: f64 = 0.08;
/// The adjusted Rand index to reach in the mean over seeds.
const WANTED_INDEX: f64 = 0.9;

/// Tests of what is compared with ε: as the appendix prints it, and (31).
const TESTS: [BudgetTest; 2] = [BudgetTest::OutputAld, BudgetTest::Norm];

fn name(test: BudgetTest) -> &'static str {
    if test == BudgetTest::OutputAld { "as the appendix prints it" } else { "(31) in full" }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    OneByOne,
    InTurns,
}

impl Order {
    const ALL: [Self; 2] = [Self::OneByOne, Self::InTurns];

    fn words(self) -> &'static str {
        match self {
            Self::OneByOne => "one by one",
            Self::InTurns => "in turns",
        }
    }

    fn arrange(self, pairs: Pairs) -> Pairs {
        match self {
            Self::OneByOne => pairs,
            Self::InTurns => pairs.interleaved(LENGTH),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct LangevinSetting {
    order: Order,
    test: BudgetTest,
    repetition: usize,
}

/// State of a learner at one time.
#[derive(Clone, Debug, PartialEq)]
struct LangevinView {
    size: usize,
    /// Moduli of the five leading eigenvalues.
    moduli: Vec<f64>,
    rand_index: f64,
    /// The set of each sample.
    labels: Vec<usize>,
}

#[derive(Clone, Debug)]
struct LangevinResult {
    sights: Vec<LangevinView>,
    /// Dictionary sizes at [`PLACES`] equally spaced times.
    growth: Vec<(f64, f64)>,
    forced: u64,
    samples: Vec<[f64; 2]>,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let shorter = plan.size.unwrap_or(1);
    let repetitions = plan.repetitions_or(3, 10);
    let mut inputs = Vec::new();
    for order in Order::ALL {
        for test in TESTS {
            inputs.extend((0..repetitions).map(|repetition| LangevinSetting { order, test, repetition }));
        }
    }
    let named = |LangevinSetting { order, test, repetition }: &LangevinSetting| {
        format!("langevin / {} / {} / {repetition}", order.words(), name(*test))
    };
    let times: Vec<usize> = PRINTED.iter().map(|(time, _)| time / shorter).collect();
    let runs = plan.each(inputs, named, |setting, _| {
        // All settings of a repetition see the same trajectories.
        measure(setting, &times, seed_of(plan.seed, &format!("langevin / {}", setting.repetition)))
    })?;

    let mut report = Report::new("Figure 2: metastable sets of Langevin dynamics in four wells");
    report.words(INTRODUCTION);
    let sizes = sizes(&runs, &times)?;
    report.differs_where(&sizes, "Sizes of the dictionary", SIZES);
    report.table("langevin", "Dictionary sizes (mean ± standard deviation over seeds) and scores", sizes);
    let pairs = (runs.0.len() * times.iter().max().unwrap_or(&0)) as u64;
    report.guard(RANK_GUARD, runs.outcomes_where(|_| true).iter().map(|outcome| outcome.forced).sum(), pairs);
    let claims = claims(&runs, &times)?;
    report.differs_where(
        &claims,
        "Metastable sets",
        "The sets are not found as well as they should be in every setting.",
    );
    report.table("langevin_claims", "What should come out, and whether it does", claims);
    if let Some(outcome) = select(&runs, Order::OneByOne, TESTS[0]).first() {
        let words = "Potential and a trajectory; the four sets found from the leading eigenfunctions, one colour a set";
        report.picture("langevin_sets", words, picture(outcome, &times, plan.seed)?);
    }
    report.picture("langevin_growth", "Growth of the dictionary; dots: the printed sizes", growth(&runs, &times));
    Ok(report)
}

fn measure(setting: &LangevinSetting, times: &[usize], seed: u64) -> Result<LangevinResult> {
    let longest = times.iter().copied().max().unwrap_or(0);
    let pairs = setting.order.arrange(FourWells::default().pairs(longest / LENGTH, LENGTH, seed)?);
    let params = SogdParams::default()
        .step(StepSchedule::Constant(ETA))
        .budget(Budget::Constant(ETA.powi(4)))
        .test(setting.test);
    let mut learner = Sogd::on_states(KERNEL.parse::<AnyKernel>()?, 2, params)?;
    // Of all pairs, whatever was learnt by then: the sets are meant to hold everywhere.
    let samples: Vec<[f64; 2]> = pairs.iter().step_by((longest / SAMPLES).max(1)).map(|(x, _)| [x[0], x[1]]).collect();
    let truth: Vec<usize> = samples.iter().map(|x| FourWells::well(*x)).collect();
    let (mut sights, mut growth) = (Vec::new(), Vec::new());
    for (round, (x, next)) in pairs.iter().enumerate().map(|(t, pair)| (t + 1, pair)) {
        learner.update(x, next)?;
        let size = learner.operator().inputs().len();
        if round % (longest / PLACES).max(1) == 0 {
            growth.push((round as f64, size as f64));
        }
        if times.contains(&round) {
            let operator = learner.operator();
            let eigen = operator.eigen(SETS + 1)?;
            let values = real_values(operator, &eigen, SETS, &plane(&samples))?;
            let means = KMeans { clusters: SETS, seed, ..KMeans::default() };
            let labels = means.partition(&orthonormal_rows(&values), SETS)?.labels;
            let rand_index = adjusted_rand_index(&labels, &truth);
            let moduli = eigen.values.iter().map(|value| value.modulus()).collect();
            sights.push(LangevinView { size, moduli, rand_index, labels });
        }
    }
    Ok(LangevinResult { sights, growth, forced: learner.forced_rejections(), samples })
}

/// Results of an order and a test.
fn select(runs: &Runs<LangevinSetting, LangevinResult>, order: Order, test: BudgetTest) -> Vec<&LangevinResult> {
    runs.outcomes_where(|setting| setting.order == order && setting.test == test)
}

fn sizes(runs: &Runs<LangevinSetting, LangevinResult>, times: &[usize]) -> Result<Table> {
    let mut table = Table::with(
        "order | test | pairs seen # | dictionary .1 | printed # | verdict | forced rejections .0 | \
             fourth |μ| .3 | fifth |μ| .3 | adjusted Rand index .3",
    );
    for order in Order::ALL {
        for test in TESTS {
            let own = select(runs, order, test);
            for (i, ((_, printed), time)) in PRINTED.iter().zip(times).enumerate() {
                let all = |value: &dyn Fn(&LangevinView) -> f64| {
                    own.iter().map(|o| value(&o.sights[i])).collect::<Vec<f64>>()
                };
                let sizes = all(&|sight| sight.size as f64);
                let gap = mean(&sizes) / printed - 1.0;
                let seen = own[0].sights[i].labels.len().max(1);
                let forced = mean_of(&own, |o| o.forced as f64);
                // Only the whole run has a count of forced rejections; a shortened run is compared
                // with nothing.
                let last = i + 1 == PRINTED.len();
                let whole = seen >= SAMPLES;
                table.push(row![
                    order.words(),
                    name(test),
                    *time,
                    Summary::from_samples(&sizes),
                    *printed,
                    judged(order, test, gap, whole),
                    if last { forced.into() } else { Cell::Empty },
                    mean(&all(&|sight| sight.moduli[SETS - 1])),
                    mean(&all(&|sight| sight.moduli.get(SETS).copied().unwrap_or(0.0))),
                    Summary::from_samples(&all(&|sight| sight.rand_index))
                ])?;
            }
        }
    }
    Ok(table)
}

/// A printed size is compared once: with the printed test, the trajectories one by one.
fn judged(order: Order, test: BudgetTest, gap: f64, whole: bool) -> Option<Judgement> {
    let own = order == Order::OneByOne && test == BudgetTest::OutputAld;
    own.then(|| if whole { size_near(gap, SAME, 0, CHOICE) } else { Judgement::shortened(ComparisonKind::Printed) })
}

/// The adjusted Rand index against what it should be, where it is lowest.
fn claims(runs: &Runs<LangevinSetting, LangevinResult>, times: &[usize]) -> Result<Table> {
    let whole = times.iter().zip(PRINTED).all(|(time, (printed, _))| *time == printed);
    let (mut lowest, mut seeds) = (f64::INFINITY, 0);
    for order in Order::ALL {
        for test in TESTS {
            for i in 0..times.len() {
                let all = all_of(select(runs, order, test), |outcome| outcome.sights[i].rand_index);
                lowest = lowest.min(mean(&all));
                seeds = all.len();
            }
        }
    }
    let words = "adjusted Rand index, mean over seeds: the lowest of all orders, tests and looks";
    claim(words.into(), seeds, lowest, WANTED_INDEX, whole)
}

/// The numbers of the sets changed to those of the wells in which most of their samples lie, so
/// that colours mean the same in all panels.
fn named_by_wells(labels: &[usize], samples: &[[f64; 2]]) -> Vec<usize> {
    let mut counts = [[0_usize; SETS]; SETS];
    for (label, x) in labels.iter().zip(samples) {
        counts[*label][FourWells::well(*x)] += 1;
    }
    let well_of = |set: usize| (0..SETS).max_by_key(|well| counts[set][*well]).unwrap_or(0);
    labels.iter().map(|label| well_of(*label)).collect()
}

fn picture(outcome: &LangevinResult, times: &[usize], seed: u64) -> Result<Panels> {
    let grid = Grid::square(2.0, 80);
    // Capped, or the corners would take all of the scale.
    let potential = |x: &[f64; 2]| FourWells::potential(*x).min(3.0);
    let values = grid.centres().iter().map(potential).collect();
    let walk = FourWells::default().trajectory([1.0, 1.0], 2000, seed)?;
    let coordinate = |i: usize| walk.iter().map(|x| x[i]).collect::<Vec<f64>>();
    let ground = Figure::new("potential and a trajectory of time 200")
        .x_label("x₁")
        .y_label("x₂")
        .heat_map(HeatMap { grid, values, scale: Scale::Sequential })
        .points("trajectory", &coordinate(0), &coordinate(1));
    let mut panels = Panels::new("Metastable sets of the Langevin dynamics in four wells", 2).panel(ground);
    for (sight, time) in outcome.sights.iter().zip(times) {
        let title = format!("t = {time}, {} pairs kept, Rand index {:.2}", sight.size, sight.rand_index);
        let mut figure = Figure::new(title).x_label("x₁").y_label("x₂");
        let labels = named_by_wells(&sight.labels, &outcome.samples);
        for (set, name) in ["south-west", "south-east", "north-west", "north-east"].into_iter().enumerate() {
            let own = || outcome.samples.iter().zip(&labels).filter(|(_, label)| **label == set).map(|(x, _)| x);
            let (xs, ys): (Vec<f64>, Vec<f64>) = own().map(|x| (x[0], x[1])).unzip();
            figure = figure.points(name, &xs, &ys);
        }
        panels = panels.panel(figure);
    }
    Ok(panels)
}

fn growth(runs: &Runs<LangevinSetting, LangevinResult>, times: &[usize]) -> Panels {
    let mut panels = Panels::new("Growth of the dictionary", 2);
    for order in Order::ALL {
        let mut figure =
            Figure::new(format!("trajectories {}", order.words())).x_label("pairs seen").y_label("dictionary size");
        for test in TESTS {
            let own = select(runs, order, test);
            let xs: Vec<f64> = own[0].growth.iter().map(|(t, _)| *t).collect();
            let ys = all_of(0..xs.len(), |i| mean_of(&own, |o| o.growth[i].1));
            figure = figure.line(name(test), &xs, &ys);
        }
        let xs: Vec<f64> = times.iter().map(|time| *time as f64).collect();
        panels = panels.panel(figure.points("printed", &xs, &PRINTED.map(|(_, size)| size)));
    }
    panels
}

/// Choices that the paper leaves open.
const CHOICE: &str = "order and starting points";

const INTRODUCTION: &str = "Settings of section 5.4 and its appendix: 400 trajectories of 100 pairs, τ = 0.1, β = 4, η = 0.3, ε = η⁴, \
λ = 0. The appendix prints the error that is compared with ε without its input side; the printed sizes are compared with that test, \
the trajectories told one by one. The paper does not say whether they are told so or in turns, nor where they start (here uniformly on \
[−2, 2]²). A size counts as reproduced within 8 %. Sets are scored on 4,000 samples of all pairs against the four quadrants; 1 is \
perfect agreement. Where a complex pair is among the leading four eigenvalues, its real and imaginary parts are taken: with a \
constant step, eigenvalues that belong together in truth (1 and three just below) come out as noisy pairs, and their real parts alone \
would span too little.";

const SIZES: &str = "With the test that the appendix prints, the later two sizes come out and the first does not: after 2,000 pairs ours is larger. With \
(31) in full more pairs are kept. The sets are found as well with either.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_take_the_names_of_their_wells() {
        let samples = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [1.0, 1.0], [-1.0, 1.0]];
        assert_eq!(named_by_wells(&[2, 0, 1, 1, 3], &samples), [0, 1, 3, 3, 2]);
    }
}
