//! Pictures of the passes behind Table 3.

use super::printed::PrintedCell;
use super::{StreamResult, Table3Learner, Table3Runs, grid_permutations, is_whole, mean_size, printed};
use crate::prelude::*;

/// Columns of a picture with one panel a data set.
const COLUMNS: usize = 3;

/// Adds every picture for which there is something to draw.
pub(super) fn add(report: &mut Report, results: &[StreamResult], plan: &Plan) {
    let measured: Vec<&StreamResult> = results.iter().filter(|result| !result.runs().is_empty()).collect();
    if measured.is_empty() {
        return;
    }
    let compared = compared(&measured, plan);
    if !compared.is_empty() {
        report.picture(
            "table3_printed",
            "Ours against the paper's: errors by its tuning procedure, dictionaries at the setting that comes nearest; on the dashed \
             line both are equal. Bars: ours ± a standard deviation over the permutations",
            beside_printed(&compared),
        );
    }
    report.picture(
        "cumulative_loss",
        "Cumulative loss against the round: the mean over the permutations, and the range from the smallest to the largest",
        panels("Cumulative loss", &measured, cumulative_loss),
    );
    report.picture(
        "dictionary_growth",
        "Dictionary size against the round, mean over the permutations; both ALD learners keep the same points",
        panels("Dictionary growth", &measured, growth),
    );
    report.picture(
        "mse_against_time",
        "Squared error against time a round, mean over the permutations",
        trade(&measured),
    );
}

/// A cell of the table that the paper prints and this run measured at full length.
struct FigureCell<'a> {
    dataset: &'static str,
    learner: Table3Learner,
    runs: &'a Table3Runs,
    tuned: &'a Table3Runs,
    printed: PrintedCell,
}

/// Where a cell's mark stands: to the right, upwards, and half its error bar.
type MarkPlace = dyn Fn(&FigureCell<'_>) -> Option<(f64, f64, Option<f64>)>;

fn compared<'a>(results: &[&'a StreamResult], plan: &Plan) -> Vec<FigureCell<'a>> {
    let cell = |result: &'a StreamResult, learner: Table3Learner| {
        let runs = result.at_paper_setting(learner).filter(|runs| is_whole(runs, plan) && !runs.passes.is_empty())?;
        let tuned = result.tuned(learner, grid_permutations(plan))?;
        Some(FigureCell { dataset: result.stream.dataset, learner, runs, tuned, printed: printed(result, learner)? })
    };
    let all = results.iter().flat_map(|&result| Table3Learner::ALL.map(|learner| (result, learner)));
    all.filter_map(|(result, learner)| cell(result, learner)).collect()
}

/// Errors and sizes, printed ones to the right and ours upwards.
fn beside_printed(compared: &[FigureCell<'_>]) -> Panels {
    let panel = |title: &str, x: &str, y: &str, place: &MarkPlace| {
        let marks: Vec<Mark> = compared
            .iter()
            .filter_map(|cell| {
                let (x, y, y_error) = place(cell)?;
                let (series, group) = (cell.learner.name().to_owned(), cell.dataset.to_owned());
                Some(Mark { series, group, x, y, y_error })
            })
            .collect();
        let low = marks.iter().map(|mark| mark.x.min(mark.y)).fold(f64::INFINITY, f64::min);
        let high = marks.iter().map(|mark| mark.x.max(mark.y)).fold(0.0, f64::max);
        let figure = Figure::new(title).x_label(x).y_label(y).log_x().log_y();
        figure.dashed("equal", &[low, high], &[low, high]).marks("learner", "data set", marks)
    };
    Panels::new("Table 3, printed and measured", 2)
        .panel(panel("Mean squared error", "printed error", "our error", &|cell| {
            let ours = Summary::from_samples(&cell.tuned.errors())?;
            Some((cell.printed.mse.mean, ours.mean, ours.std.is_finite().then_some(ours.std)))
        }))
        .panel(panel("Stored points or features", "printed size", "our size", &|cell| {
            Some((cell.printed.size, mean_size(cell.runs), None))
        }))
}

fn panels(title: &str, results: &[&StreamResult], draw: impl Fn(&StreamResult) -> Figure) -> Panels {
    let columns = if results.len() == 4 { 2 } else { COLUMNS };
    results.iter().fold(Panels::new(title, columns), |panels, result| panels.panel(draw(result)))
}

/// The rounds at which every pass was recorded (a diverged one ends early), and a value of each
/// pass there.
fn curves(runs: &Table3Runs, value: impl Fn(&super::Table3Checkpoint) -> f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let length = runs.passes.iter().map(|pass| pass.curve.len()).min().unwrap_or(0);
    let rounds = runs.passes.first().map_or(&[][..], |pass| &pass.curve[..length]);
    let values = (0..length).map(|i| runs.passes.iter().map(|pass| value(&pass.curve[i])).collect());
    (rounds.iter().map(|point| point.t as f64).collect(), values.collect())
}

fn cumulative_loss(result: &StreamResult) -> Figure {
    let figure = Figure::new(result.stream.dataset).x_label("round t").y_label("cumulative loss");
    Table3Learner::ALL.iter().fold(figure, |figure, &learner| {
        let Some(runs) = result.at_paper_setting(learner) else { return figure };
        let (rounds, losses) = curves(runs, |point| point.loss);
        Band::range(&losses).draw(figure, learner.name(), &rounds)
    })
}

fn growth(result: &StreamResult) -> Figure {
    let figure = Figure::new(result.stream.dataset).x_label("round t").y_label("stored points").log_x();
    let learners = [Table3Learner::ProsNKons, Table3Learner::ConKons, Table3Learner::AogdAld, Table3Learner::NonsAld];
    let drawn = learners.into_iter().filter_map(|learner| {
        let (rounds, sizes) = curves(result.at_paper_setting(learner)?, |point| point.size as f64);
        Some((learner, rounds, sizes.iter().map(|values| mean(values)).collect::<Vec<_>>()))
    });
    let drawn: Vec<_> = drawn.collect();
    let same = drawn.len() == 4 && drawn[2].2 == drawn[3].2;
    drawn.into_iter().fold(figure, |figure, (learner, rounds, sizes)| match learner {
        Table3Learner::AogdAld if same => figure,
        Table3Learner::NonsAld if same => figure.line("NONS-ALD and AOGD-ALD", &rounds, &sizes),
        _ => figure.line(learner.name(), &rounds, &sizes),
    })
}

fn trade(results: &[&StreamResult]) -> Figure {
    let mut marks = Vec::new();
    for result in results {
        for learner in Table3Learner::ALL {
            let Some(runs) = result.at_paper_setting(learner) else { continue };
            let Some(errors) = Summary::from_samples(&runs.errors()) else { continue };
            let times: Vec<f64> = runs.passes.iter().map(|pass| 1e6 * pass.seconds / pass.rounds as f64).collect();
            marks.push(Mark {
                series: learner.name().to_owned(),
                group: result.stream.dataset.to_owned(),
                x: mean(&times),
                y: errors.mean,
                y_error: None,
            });
        }
    }
    Figure::new("Error against time")
        .x_label("microseconds a round")
        .y_label("mean squared error")
        .log_x()
        .log_y()
        .marks("learner", "data set", marks)
}
