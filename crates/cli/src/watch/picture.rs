//! The picture of a stream under watch: how new rows are, and the evidence for a change, with the
//! alarms and their columns.

use mercer_plots::{Figure, Panels};
use mercer_session::AlarmKind;

use super::pass::WatchTrace;
use super::report::WatchReport;
use crate::report::plot::short_name;

/// Names of columns in a legend at most.
const NAMES: usize = 8;

pub(super) fn draw(trace: &WatchTrace, report: &WatchReport) -> Panels {
    let count = report.alarms.alarms.len();
    let title = format!(
        "{}: {count} alarm{} in {} rows",
        short_name(&report.data),
        if count == 1 { "" } else { "s" },
        report.rows
    );
    let mut panels = Panels::new(title, 1);
    let mut drawn = false;
    let (rows, evidence): (Vec<f64>, Vec<f64>) =
        trace.points.iter().map(|(row, _, evidence)| (*row, evidence.max(1.0))).unzip();
    if evidence.iter().any(|evidence| *evidence > 1.0) {
        panels = panels.panel(change(report, &rows, &evidence));
        drawn = true;
    }
    let new: Vec<(f64, f64)> = trace.points.iter().filter_map(|(row, p, _)| p.map(|p| (*row, p.max(1e-12)))).collect();
    if !new.is_empty() || !drawn {
        panels = panels.panel(newness(report, &new));
    }
    panels
}

/// The evidence for a change along the rows, and the alarms by their first column.
fn change(report: &WatchReport, rows: &[f64], evidence: &[f64]) -> Figure {
    let limit = evidence.iter().copied().fold(10.0, f64::max);
    let mut figure = Figure::new("Evidence for a change of the inputs").x_label("row").y_label("R").log_y();
    figure = figure.line("evidence", rows, evidence);
    let named = report.alarms.by_column(|kind| kind != AlarmKind::Rows);
    for (name, rows) in named.iter().take(NAMES) {
        figure = figure.points(name, rows, &vec![limit; rows.len()]);
    }
    figure
}

/// p-values along the rows, and the rows that gave an alarm.
fn newness(report: &WatchReport, new: &[(f64, f64)]) -> Figure {
    let (rows, values): (Vec<f64>, Vec<f64>) = new.iter().copied().unzip();
    let alarms: Vec<f64> = report
        .alarms
        .alarms
        .iter()
        .filter(|alarm| alarm.kind == AlarmKind::Rows)
        .map(|alarm| alarm.row as f64)
        .collect();
    let p = |row: &f64| new.iter().find(|(at, _)| at >= row).map_or(1e-12, |(_, p)| *p);
    let heights: Vec<f64> = alarms.iter().map(p).collect();
    let figure = Figure::new("How new rows are").x_label("row").y_label("p, smallest of the rows at a point").log_y();
    let figure = figure.dots("rows", &rows, &values);
    if alarms.is_empty() { figure } else { figure.points("alarm: a row", &alarms, &heights) }
}
