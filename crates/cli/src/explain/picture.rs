//! The picture of effects: the first row as steps from the base to its prediction, and the mean
//! sizes over all rows.

use mercer_plots::{Figure, Panels};

use super::report::{ExplainReport, ExplainedRow};
use crate::report::plot::short_name;

/// Columns in a picture at most.
const COLUMNS: usize = 12;

pub(super) fn draw(report: &ExplainReport) -> Panels {
    let title = format!("{}: what the columns do to the prediction", short_name(&report.data));
    let mut panels = Panels::new(title, 1);
    if let Some(row) = report.rows.first() {
        panels = panels.panel(steps(report, row));
    }
    let sizes = report.sizes();
    let names: Vec<&str> = sizes.iter().take(COLUMNS).map(|(j, _)| &*report.names[*j]).collect();
    let heights: Vec<f64> = sizes.iter().take(COLUMNS).map(|(_, size)| *size).collect();
    let title = format!("Mean size of the effects in {}", report.counted());
    let figure = Figure::new(title).y_label("mean |effect|");
    panels.panel(figure.categories(&names).bars("mean size", &heights))
}

/// The way from the base to the prediction of the first row, the largest effects first.
fn steps(report: &ExplainReport, row: &ExplainedRow) -> Figure {
    let explanation = &row.explanation;
    let mut order: Vec<usize> = (0..explanation.effects.len()).collect();
    order.sort_by(|a, b| explanation.effects[*b].abs().total_cmp(&explanation.effects[*a].abs()));
    let shown = order.len().min(COLUMNS - 2);
    let rest: f64 = order[shown..].iter().map(|j| explanation.effects[*j]).sum();
    let mut words = vec!["base".to_owned()];
    let mut levels = vec![explanation.base];
    let mut step = |word: &str, effect: f64| {
        words.push(word.to_owned());
        levels.push(levels[levels.len() - 1] + effect);
    };
    order[..shown].iter().for_each(|j| step(&report.names[row.place(*j)], explanation.effects[*j]));
    if shown < order.len() {
        step("others", rest);
    }
    // A level behind each column.
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for (place, level) in levels.iter().enumerate() {
        xs.extend([place as f64 + 0.5, place as f64 + 1.5]);
        ys.extend([*level, *level]);
    }
    let places: Vec<f64> = (1..=levels.len()).map(|place| place as f64).collect();
    let figure = Figure::new(format!("Row {}, from the base to its prediction", row.row)).categories(&words);
    let figure = figure.y_label("prediction").line("prediction so far", &xs, &ys);
    figure.points("with this column, too", &places, &levels)
}
