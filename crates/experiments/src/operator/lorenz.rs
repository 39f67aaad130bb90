//! How far ahead a sparse operator forecasts Lorenz's system, against its dictionary size. Not in
//! the paper.
//!
//! The state is forecast n steps ahead by the n-th power of the learnt Koopman operator on the
//! centred coordinates. Three operators of equal dictionary size are compared.

use mercer_kernels::{Gaussian, Points};
use mercer_koopman::{Budget, KernelOperator, OperatorLearner, Sogd, SogdParams, StepSchedule, batch};
use mercer_streams::{Lorenz, Pairs};

use super::{RANK_GUARD, learn};
use crate::prelude::*;

/// Width of the kernel, in standard deviations of a coordinate.
const WIDTH: f64 = 0.5;
const ETA: f64 = 0.9;
/// Budgets, from coarse to fine.
const BUDGETS: [f64; 5] = [0.5, 0.3, 0.15, 0.08, 0.04];
/// The error, in spreads of the attractor, up to which a forecast is valid.
const VALID: f64 = 0.4;
/// Steps forecast: 5 units of time.
const STEPS: usize = 100;
/// Forecasts a run.
const STARTS: usize = 100;
/// Eigenvalues of the Gram matrix below this share of the largest are dropped by kernel EDMD.
const PSEUDO_INVERSE: f64 = 1e-8;
const NYSTROM_LAMBDA: f64 = 1e-7;

const ONLINE: &str = "sparse, online";
const EDMD: &str = "kernel EDMD on as many pairs";
const NYSTROM: &str = "Nyström EDMD on all pairs";
const METHODS: [&str; 3] = [ONLINE, EDMD, NYSTROM];

#[derive(Clone, Debug, PartialEq)]
struct LorenzResult {
    size: usize,
    /// Pairs that the rank guard kept out.
    forced: u64,
    /// Mean valid times in Lyapunov times, in the order of [`METHODS`].
    valid: [f64; 3],
    /// Root mean squared errors over the starts at each step, in spreads.
    errors: [Vec<f64>; 3],
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let pairs = plan.size_or(10_000, 40_000);
    let repetitions = plan.repetitions_or(2, 5);
    let inputs = BUDGETS.iter().flat_map(|budget| (0..repetitions).map(|repetition| (*budget, repetition)));
    let name = |(budget, repetition): &(f64, usize)| format!("lorenz / ε = {budget} / {repetition}");
    let results = plan.each(inputs, name, |(budget, repetition), _| {
        measure(*budget, pairs, seed_of(plan.seed, &format!("lorenz / {repetition}")))
    })?;

    let mut report = Report::new("Forecasts of Lorenz's system by powers of a sparse operator");
    let mut table = Table::with("ε # | dictionary .1");
    for method in METHODS {
        table = table.numbers(method, Format::Decimals(2));
    }
    let mut by_size = Figure::new("valid time against dictionary size")
        .x_label("dictionary size")
        .y_label("valid time (Lyapunov times)")
        .log_x();
    let mut over_time = Figure::new("error over time, the largest dictionary")
        .x_label("time ahead (Lyapunov times)")
        .y_label("error (spreads of the attractor)")
        // Kernel EDMD on few pairs has eigenvalues outside the unit circle, and runs away.
        .y_range(0.0, 2.0);
    let mut lines: [Vec<(f64, f64)>; 3] = Default::default();
    for budget in BUDGETS {
        let own = results.of(|(own, _)| *own == budget);
        let sizes = all_of(&own, |o| o.size as f64);
        let mut row = vec![budget.into(), Summary::of(&sizes).into()];
        for (i, method) in METHODS.iter().enumerate() {
            let valid = all_of(&own, |o| o.valid[i]);
            lines[i].push((mean(&sizes), mean(&valid)));
            row.push(Summary::of(&valid).into());
            if budget == BUDGETS[BUDGETS.len() - 1] {
                let unit = Lorenz::default().interval * Lorenz::LYAPUNOV_EXPONENT;
                let times: Vec<f64> = (1..=STEPS).map(|n| n as f64 * unit).collect();
                let at = |n: usize| mean_of(&own, |o| o.errors[i][n]);
                over_time = over_time.line(*method, &times, &all_of(0..STEPS, at));
            }
        }
        table.push(row)?;
    }
    for (method, line) in METHODS.iter().zip(&lines) {
        let (xs, ys): (Vec<f64>, Vec<f64>) = line.iter().copied().unzip();
        by_size = by_size.line(*method, &xs, &ys);
    }
    report.words(format!("{pairs} pairs, one every 0.05; {INTRODUCTION} {}", what_is_seen(&lines)));
    report.table("lorenz", "Valid time in Lyapunov times (1.10 units of time)", table);
    let forced = results.of(|_| true).iter().map(|outcome| outcome.forced).sum();
    report.guard(RANK_GUARD, forced, (results.0.len() * pairs) as u64);
    let panels = Panels::new("Forecasts of Lorenz's system", 2).panel(by_size).panel(over_time);
    report.picture("lorenz_forecasts", "Valid time against dictionary size, and how the error grows", panels);
    Ok(report)
}

/// Mean sizes and valid times of the methods, from the smallest dictionary to the largest, in
/// words.
fn what_is_seen(lines: &[Vec<(f64, f64)>; 3]) -> String {
    let [online, edmd, nystrom] = lines.each_ref().map(|line| match (line.first(), line.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => ((f64::NAN, f64::NAN), (f64::NAN, f64::NAN)),
    });
    // Where the online learner is as good as it gets, to two digits.
    let reached = lines[0].iter().find(|(_, valid)| *valid >= online.1.1 - 0.01).map_or(f64::NAN, |(size, _)| *size);
    format!(
        "What is seen: as the dictionary grows from {:.0} to {:.0}, the online learner goes from {:.2} to {:.2} Lyapunov times, and is \
         there with {reached:.0} points; Nyström EDMD goes from {:.2} to {:.2} and kernel EDMD from {:.2} to {:.2}. Nyström EDMD has the \
         dictionary of the online learner: what a single pass with a constant step lacks against it is not in the dictionary.",
        online.0.0, online.1.0, online.0.1, online.1.1, nystrom.0.1, nystrom.1.1, edmd.0.1, edmd.1.1,
    )
}

/// Every state of one trajectory in units of its standard deviations around its mean.
fn normalised(states: &mut [[f64; 3]], centre: &[f64; 3], spread: &[f64; 3]) {
    for state in states {
        for i in 0..3 {
            state[i] = (state[i] - centre[i]) / spread[i];
        }
    }
}

fn measure(budget: f64, n: usize, seed: u64) -> Result<LorenzResult> {
    let lorenz = Lorenz::default();
    let mut walk = lorenz.trajectory(lorenz.on_the_attractor(seed)?, n)?;
    let column = |i: usize| walk.iter().map(|state| state[i]).collect::<Vec<f64>>();
    let summaries: [Summary; 3] = {
        let of = |i: usize| Summary { mean: mean(&column(i)), std: crate::stats::sample_std(&column(i)), count: n };
        std::array::from_fn(of)
    };
    let (centre, spread) = (summaries.map(|s| s.mean), summaries.map(|s| s.std));
    normalised(&mut walk, &centre, &spread);
    let mut pairs = Pairs::new(3, 3);
    pairs.push_trajectory(&walk);
    let mut later = lorenz.trajectory(lorenz.on_the_attractor(seed.wrapping_add(1))?, 20 * STARTS + STEPS)?;
    normalised(&mut later, &centre, &spread);

    let kernel = Gaussian::new(WIDTH)?;
    let params = SogdParams::default()
        .step(StepSchedule::Constant(ETA))
        .budget(Budget::Constant(budget * ETA))
        .max_dictionary(None);
    let mut learner = Sogd::on_states(kernel, 3, params)?;
    learn(&mut learner, &pairs)?;
    let online = learner.operator();
    let (size, forced) = (online.inputs().len(), learner.forced_rejections());
    let (xs, ys) = (Points::from_rows(3, pairs.inputs()), Points::from_rows(3, pairs.outputs()));
    let some = |table: &Points| {
        let mut chosen = Points::with_capacity(3, size);
        (0..size).for_each(|i| chosen.push(&table.point(i * pairs.len() / size)));
        chosen
    };
    let edmd = batch::kernel_edmd(kernel, some(&xs), kernel, some(&ys), PSEUDO_INVERSE)?;
    let nystrom = batch::nystrom_edmd(kernel, online.inputs(), kernel, online.outputs(), &xs, &ys, NYSTROM_LAMBDA)?;
    let [first, second, third] = [online, &edmd, &nystrom].map(|operator| forecast(operator, &later));
    let [first, second, third] = [first?, second?, third?];
    Ok(LorenzResult { size, forced, valid: [first.0, second.0, third.0], errors: [first.1, second.1, third.1] })
}

/// Mean valid time, and the root mean squared error of each step, of forecasts from states of a
/// later trajectory.
fn forecast(operator: &KernelOperator<Gaussian>, later: &[[f64; 3]]) -> Result<(f64, Vec<f64>)> {
    let starts: Vec<usize> = (0..STARTS).map(|i| i * (later.len() - STEPS) / STARTS).collect();
    let points = Points::from_rows(3, starts.iter().map(|t| later[*t]).collect::<Vec<_>>().as_flattened());
    // squares[n][start], the coordinates' squared errors summed.
    let mut squares = vec![vec![0.0; STARTS]; STEPS];
    for coordinate in 0..3 {
        // States are centred, so that the coordinates are.
        let powers = operator.powers(&operator.observe(|state| state[coordinate]), STEPS)?;
        let functions: Vec<&[f64]> = powers.iter().map(Vec::as_slice).collect();
        let values = operator.evaluate_all(&functions, &points)?;
        for (n, values) in values.iter().enumerate() {
            for ((value, start), square) in values.iter().zip(&starts).zip(&mut squares[n]) {
                *square += (value - later[start + n + 1][coordinate]).powi(2);
            }
        }
    }
    // The spread of three coordinates of variance 1 is √3.
    let errors = squares.iter().map(|all| (mean(all) / 3.0).sqrt()).collect();
    let unit = Lorenz::default().interval * Lorenz::LYAPUNOV_EXPONENT;
    let valid = |start: usize| {
        let steps = squares.iter().take_while(|all| (all[start] / 3.0).sqrt() <= VALID).count();
        steps as f64 * unit
    };
    Ok((mean(&(0..STARTS).map(valid).collect::<Vec<f64>>()), errors))
}

const INTRODUCTION: &str = "Gaussian kernel of width 0.5 on the state in units of its standard deviations, η = 0.9, λ = 0; 100 \
forecasts from a trajectory that was not learnt. A forecast is valid while its error is below 0.4 spreads of the attractor. \
Kernel EDMD of equal size sees only as many pairs, evenly chosen; Nyström EDMD solves for all pairs at once on the dictionary that \
the online learner kept. Powers of a linear operator on 100 steps are a hard test: \
they forget a chaotic state and fall back to the mean, as the true expectation does.";
