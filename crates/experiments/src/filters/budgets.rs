//! Final error against time and against memory, for filters with equal budgets of points, on
//! Mackey–Glass one step ahead.

use mercer_learners::catalogue::{Key, Value};

use super::curves::YARDSTICK;
use super::methods::{FAMILIES, Family, FilterMethod, filters};
use super::pass::finals;
use super::signals::SignalSeries;
use crate::prelude::*;

/// Most points.
const BUDGETS: [usize; 3] = [50, 100, 200];
const SERIES: SignalSeries = SignalSeries::MackeyGlass;

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(5000, 20_000);
    let seeds = plan.repetitions_or(2, 10);
    let budgets = filters().flat_map(|method| BUDGETS.map(|budget| (method, budget)));
    let inputs = budgets.flat_map(|(method, budget)| (0..seeds).map(move |seed| (method, budget, seed)));
    let name = |(method, budget, seed): &(&FilterMethod, usize, usize)| {
        format!("filters_budgets / {} / {budget} / {}", method.shown, seed + 1)
    };
    let passes = plan.each(inputs, name, |(method, budget, seed), own| {
        method.pass(SERIES.width(), *budget, &SERIES.rows(rows, plan.seed.wrapping_add(*seed as u64))?, own)
    })?;

    let dimension = SERIES.rows(1, plan.seed)?.dimension;
    let mut table = Table::with("filter | budget .0 | final error ~3 | dictionary .0 | numbers kept .0 | µs a row ~3");
    let mut trails = Vec::new();
    for method in filters() {
        let mut trail = Trail { shown: method.shown, micros: Vec::new(), kept: Vec::new(), errors: Vec::new() };
        for budget in BUDGETS {
            let mine = passes.of(|(by, most, _)| (*by, *most) == (method, budget));
            let (size, micros) = (mean_of(&mine, |pass| pass.size as f64), mean_of(&mine, |pass| pass.microseconds));
            let kept = numbers_kept(method, dimension, size);
            let errors = finals(&mine);
            trail.micros.push(micros);
            trail.kept.push(kept.unwrap_or(f64::NAN));
            trail.errors.push(mean(&errors));
            let error = Summary::of(&errors);
            table.push(row![method.shown, budget, error, size, kept, micros])?;
        }
        trails.push(trail);
    }
    let mut report = Report::new("Filters: error against time and memory");
    report.words(format!(
        "Mackey–Glass as in the learning curves: {rows} rows, {seeds} starts, the same settings; at most {} points. Error is that of the \
         last tenth of the rows. Numbers kept are what the catalogue says of each filter's memory, at the points it ended with. Times are \
         of this machine, with other jobs beside, medians over blocks of 256 rows.",
        BUDGETS.map(|budget| budget.to_string()).join(", ")
    ));
    report.table("filters_budgets", "Error, points, memory and time at equal budgets", table);
    for (place, family) in FAMILIES.iter().enumerate() {
        let caption =
            format!("Final error against time and memory: {}; a line goes from few points to many", family.name);
        report.picture(format!("filters_budgets_{}", place + 1), caption, panels(family, &trails));
    }
    Ok(report)
}

/// What one filter came to, a number a budget.
struct Trail {
    shown: &'static str,
    micros: Vec<f64>,
    kept: Vec<f64>,
    errors: Vec<f64>,
}

fn panels(family: &Family, trails: &[Trail]) -> Panels {
    let axes = |label| Figure::new("").x_label(label).y_label("final mean squared error").log_x().log_y();
    let (mut time, mut memory) = (axes("µs a row"), axes("numbers kept"));
    let own = |trail: &&Trail| family.methods.iter().any(|method| method.shown == trail.shown);
    let yardstick = |trail: &&Trail| trail.shown == YARDSTICK && !own(trail);
    for trail in trails.iter().filter(yardstick) {
        time = time.dashed(trail.shown, &trail.micros, &trail.errors);
        memory = memory.dashed(trail.shown, &trail.kept, &trail.errors);
    }
    for trail in trails.iter().filter(own) {
        time = time.line(trail.shown, &trail.micros, &trail.errors);
        memory = memory.line(trail.shown, &trail.kept, &trail.errors);
    }
    Panels::new("", 2).panel(time).panel(memory)
}

/// What the catalogue says of the filter's memory, where it depends on nothing but points,
/// features, the default kernels and counts that are keys with their defaults.
fn numbers_kept(method: &FilterMethod, dimension: usize, size: f64) -> Option<f64> {
    /// Of the learners with several, by default.
    const KERNELS: f64 = 5.0;
    let entry = method.entry().ok()?;
    let kept = entry.memory.value(|symbol| match symbol.text() {
        "d" => dimension as f64,
        "J" | "B" => size,
        "P" => KERNELS,
        other => match entry.keys.iter().find(|key| key.symbol == other).map(Key::default) {
            Some(Value::Whole(count)) => count as f64,
            _ => f64::NAN,
        },
    });
    kept.filter(|kept| kept.is_finite())
}
