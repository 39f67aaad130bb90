//! Error of `auto` against its budget of multiply-adds a row.

use std::path::Path;

use super::pass::pass;
use super::peers::{best_online, light_gbm};
use super::streams::{Loaded, VARIABLE, folder, load};
use crate::figure::{Figure, Panels};
use crate::judgement::Kind;
use crate::plan::{ExperimentError, Plan};
use crate::report::Report;
use crate::runner::Job;
use crate::table::{Format, Table, short};
use crate::verdict::Claims;

/// Multiply-adds a row.
const BUDGETS: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// The most that a larger budget may raise the error.
const WORSE: f64 = 1.01;

/// Runs the experiment.
///
/// # Errors
/// [`ExperimentError`] of the first stream that cannot be read or learnt.
pub fn run(plan: &Plan) -> Result<Report, ExperimentError> {
    let rows = if plan.full { usize::MAX } else { super::REDUCED_ROWS };
    run_in(plan, folder(&plan.registry).as_deref(), rows)
}

/// The same on the streams of this folder, of which `rows` rows are learnt.
///
/// # Errors
/// As [`run`].
pub fn run_in(plan: &Plan, folder: Option<&Path>, rows: usize) -> Result<Report, ExperimentError> {
    let (streams, missing) = load(plan, folder, rows)?;
    let mut jobs: Vec<Job<(usize, usize)>> = Vec::new();
    for (place, Loaded { name, table, .. }) in streams.iter().enumerate() {
        for budget in BUDGETS {
            let words = format!("quality_budgets / {name} / {budget}");
            jobs.push(Job::new(words, plan.seed, table.len() as u64, (place, budget)));
        }
    }
    let passes = plan.run(&jobs, |job, bar| pass(&streams[job.input.0].table, job.input.1, bar))?;
    let shares: Vec<f64> = passes.iter().map(|pass| pass.nmse).collect();

    let mut table = Table::new().words("stream");
    for budget in BUDGETS {
        table = table.numbers(format!("{budget:.0e}"), Format::Decimals(4));
    }
    let mut times = Table::new().words("stream");
    for budget in BUDGETS {
        times = times.numbers(format!("{budget:.0e}, µs a row"), Format::Significant(3));
    }
    let mut panels = Panels::new("", 3);
    let (xs, whole) = (BUDGETS.map(|budget| budget as f64), rows == usize::MAX);
    let mut worse = Vec::new();
    for (loaded, (shares, passes)) in streams.iter().zip(shares.chunks(BUDGETS.len()).zip(passes.chunks(BUDGETS.len())))
    {
        table.push(
            std::iter::once(loaded.name.clone().into()).chain(shares.iter().map(|share| (*share).into())).collect(),
        )?;
        let micros = passes.iter().map(|pass| pass.microseconds.into());
        times.push(std::iter::once(loaded.name.clone().into()).chain(micros).collect())?;
        let mut figure = Figure::new(&loaded.name).x_label("multiply-adds a row").y_label("NMSE").log_x();
        figure = figure.line("auto", &xs, shares);
        if let Some(stream) = loaded.stream.filter(|_| whole) {
            for (name, peer) in
                [("best online peer", best_online(stream.name)), ("LightGBM refitted", light_gbm(stream.name))]
            {
                if let Some(peer) = peer {
                    figure = figure.dashed(name, &xs, &[peer.nmse; BUDGETS.len()]);
                }
            }
        }
        panels = panels.panel(figure);
        let rises = shares.windows(2).map(|pair| pair[1] / pair[0]).fold(0.0, f64::max);
        if rises > WORSE {
            worse.push(format!("{} {}", loaded.name, short(rises)));
        }
    }
    let mut report = Report::new("Quality: error against the budget");
    report.words("The same passes with budgets of multiply-adds a row; NMSE over the last half.");
    if whole {
        let mut claims = Claims::new();
        let measured = if worse.is_empty() { "on no stream".to_owned() } else { format!("on {}", worse.join(", ")) };
        let statement =
            format!("a budget ten times as large never raises the error by more than {:.0}%", 100.0 * (WORSE - 1.0));
        claims.ours(statement, measured, worse.is_empty())?;
        report.table("quality_budgets_claims", "What a budget buys (statements of this project)", claims.table());
    } else {
        report.words(format!(
            "**Shortened**: the first {rows} rows of a stream; what the peers reach on all rows is not drawn."
        ));
    }
    report.table("quality_budgets", "NMSE over the last half against multiply-adds a row", table);
    report.table("quality_budgets_times", "Microseconds a row on this machine, with other streams beside", times);
    report.picture("quality_budgets", "Error against the budget", panels);
    if !missing.is_empty() {
        report.not_run(
            Kind::Claim,
            missing.len(),
            missing.join(", "),
            format!("The files of these streams were not found; {VARIABLE} names their folder."),
        );
    }
    Ok(report)
}
