//! Forecasts of ordinary series by the season mixture, beside methods that are refitted at each
//! origin.
//!
//! A series is the file `NAME.csv.gz` (or `NAME.csv`), one column, in the folder that the
//! environment variable `MERCER_SERIES` names or else in one called `forecast` beside a folder of
//! data sets. `crates/experiments/series` has the origins, the horizons and the peers' scores.
//!
//! **MASE:** the mean absolute error over all origins and steps, divided by the mean of
//! |y_t − y_{t−m}| over the rows before the first origin, m the first period or 1. **One step:** the
//! root mean square error over the last third of the rows, 500 at most.

use std::path::PathBuf;

use mercer_auto::{Auto, AutoParams};
use mercer_datasets::{Registry, sha256_file};
use mercer_forecast::{Periods, SeasonMixture, SeasonParams};
use mercer_learners::RegressorExt as _;
use mercer_readers::{ReadOptions, RowReader, TargetColumn};

use super::streams::folder_of;
use crate::prelude::*;

/// The environment variable that names the folder.
const VARIABLE: &str = "MERCER_SERIES";

const LIST: &str = include_str!("../../series/series.csv");
const SCORES: &str = include_str!("../../series/peers.csv");

/// The most that the geometric mean of MASE ratios to the seasonal naive forecast may be, with
/// periods that are told and with those that are found.
const OF_NAIVE: [f64; 2] = [0.58, 0.60];
/// On how many series one step is to be at least as good as the best peer and `auto`.
const ONE_STEP: usize = 18;
/// Share of the values that 90 % bands are to hold on average.
const HELD: [f64; 2] = [0.88, 0.92];
/// The seasonal naive forecast among the peers.
const NAIVE: &str = "SNaive";

/// A series of the comparison.
#[derive(Clone, Debug)]
struct Series {
    name: &'static str,
    rows: usize,
    periods: Vec<usize>,
    steps: usize,
    origins: Vec<usize>,
    sha256: &'static str,
}

/// A series with its values.
type SeriesValues = (Series, Vec<f64>);

/// Results of a pass.
#[derive(Clone, Copy, Debug)]
struct SeriesPass {
    mase: f64,
    one_step: f64,
    /// Share of the values of the origins within bands of 90 %.
    held: f64,
}

/// Passes with the periods told and found, and the error of one step by `auto` on lags.
#[derive(Clone, Copy, Debug)]
struct SeriesScores {
    passes: [SeriesPass; 2],
    auto: f64,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(300, usize::MAX);
    let (found, missing) = find(plan)?;
    let chosen: Vec<&SeriesValues> = found.iter().filter(|(series, _)| series.rows <= rows).collect();
    let name = |(series, _): &&SeriesValues| format!("quality_series / {}", series.name);
    let results = plan.each(chosen, name, |(series, values), _| scores(series, values))?.0;
    let results: Vec<(&Series, SeriesScores)> =
        results.into_iter().map(|((series, _), scores)| (series, scores)).collect();

    let mut report = Report::new("Quality: forecasts of ordinary series");
    report.words(INTRODUCTION);
    if rows < usize::MAX {
        report.words(format!("**Shortened**: series of at most {rows} rows, so that nothing is judged."));
    }
    if !results.is_empty() {
        if rows == usize::MAX && missing.is_empty() {
            report.table("quality_series_claims", "What is wanted (statements of this project)", claims(&results)?);
        }
        report.table("quality_series", "MASE, and the share of values that 90 % bands hold", several_steps(&results)?);
        report.table("quality_series_one", "Root mean square errors of one step", one_step(&results)?);
    }
    if !missing.is_empty() {
        report.not_run(
            ComparisonKind::Claim,
            missing.len(),
            missing.join(", "),
            format!("The series are no part of the tree. Put their files into a folder and name it in {VARIABLE}."),
        );
    }
    Ok(report)
}

fn list() -> impl Iterator<Item = Series> {
    let numbers = |cell: &str| cell.split(' ').filter_map(|number| number.parse().ok()).collect::<Vec<usize>>();
    LIST.lines().skip(1).filter_map(move |line| {
        let [name, rows, periods, steps, origins, sha256] = line.split(',').collect::<Vec<_>>()[..] else {
            return None;
        };
        let (periods, origins) = (numbers(periods), numbers(origins));
        Some(Series { name, rows: rows.parse().ok()?, periods, steps: steps.parse().ok()?, origins, sha256 })
    })
}

/// The files of the series that are there, as the peers saw them.
pub(crate) fn files(registry: &Registry) -> Vec<(&'static str, PathBuf)> {
    let file = |folder: &PathBuf, name: &str| {
        ["csv.gz", "csv"].map(|ending| folder.join(format!("{name}.{ending}"))).into_iter().find(|path| path.is_file())
    };
    let names: Vec<&str> = list().map(|series| series.name).collect();
    let folder =
        folder_of(registry, VARIABLE, "forecast", |folder| names.iter().any(|name| file(folder, name).is_some()));
    let all = folder.iter().flat_map(|folder| names.iter().filter_map(move |name| Some((*name, file(folder, name)?))));
    all.collect()
}

/// The series that are there, and the names of the others.
fn find(plan: &Plan) -> Result<(Vec<SeriesValues>, Vec<&'static str>)> {
    let (mut found, mut missing, files) = (Vec::new(), Vec::new(), files(&plan.registry));
    for series in list() {
        let path = files.iter().find(|(name, _)| *name == series.name).map(|(_, path)| path);
        match path {
            Some(path) if sha256_file(path)? == series.sha256 => {
                let options = ReadOptions { target: TargetColumn::None, ..ReadOptions::default() };
                let (mut reader, mut row, mut values) = (RowReader::open(path, &options)?, Vec::new(), Vec::new());
                while reader.next_features(&mut row)? {
                    values.extend(row.first());
                }
                found.push((series, values));
            }
            _ => missing.push(series.name),
        }
    }
    Ok((found, missing))
}

/// The first row whose prediction of one step counts.
fn first_scored(rows: usize) -> usize {
    rows - (rows / 3).min(500)
}

fn root_mean_square(errors: impl Iterator<Item = f64>) -> f64 {
    mean(&errors.map(|error| error * error).collect::<Vec<_>>()).sqrt()
}

fn scores(series: &Series, values: &[f64]) -> Result<SeriesScores> {
    let periods = [Periods::Given(series.periods.clone()), Periods::Found];
    let [told, found] = periods.map(|periods| pass(series, values, periods));
    Ok(SeriesScores { passes: [told?, found?], auto: by_auto(series, values)? })
}

/// One pass over a series: each row is predicted, then learnt; before each origin its steps are
/// forecast.
fn pass(series: &Series, values: &[f64], periods: Periods) -> Result<SeriesPass> {
    let params = SeasonParams::default().periods(periods).horizons(series.steps.max(12));
    let mut mixture = SeasonMixture::new(params)?;
    let (mut errors, mut held, mut one_step) = (Vec::new(), Vec::new(), Vec::new());
    for (t, value) in values.iter().enumerate() {
        if series.origins.contains(&t) {
            for ((step, forecast), truth) in (1..).zip(mixture.path(series.steps)).zip(&values[t..]) {
                let [low, high] = [0.05, 0.95].map(|p| mixture.quantile(p, step, forecast));
                errors.push((forecast - truth).abs());
                held.push(f64::from(u8::from((low..=high).contains(truth))));
            }
        }
        let predicted = mixture.learn(Some(*value))?;
        one_step.push(predicted - value);
    }
    let (first, period) = (series.origins[0], series.periods.first().copied().unwrap_or(1));
    let changes: Vec<f64> = (period..first).map(|t| (values[t] - values[t - period]).abs()).collect();
    let scored = one_step[first_scored(values.len())..].iter().copied();
    Ok(SeriesPass { mase: mean(&errors) / mean(&changes), one_step: root_mean_square(scored), held: mean(&held) })
}

/// The error of one step by `auto` on the last 13 values and those around one and two seasons ago.
fn by_auto(series: &Series, values: &[f64]) -> Result<f64> {
    let seasons = series.periods.iter().flat_map(|period| [period - 1, *period, period + 1, 2 * period]);
    let mut lags: Vec<usize> = (1..=13).chain(seasons).collect();
    lags.sort_unstable();
    lags.dedup();
    let (mut auto, mut errors) = (Auto::new(lags.len(), AutoParams::default())?, Vec::new());
    for (t, value) in values.iter().enumerate() {
        // A value before the first is the first.
        let x: Vec<f64> = lags.iter().map(|lag| values[t.saturating_sub(*lag)]).collect();
        errors.push(if t == 0 { 0.0 } else { auto.predict_then_update(&x, *value)? - value });
    }
    Ok(root_mean_square(errors[first_scored(values.len())..].iter().copied()))
}

/// The peers' scores of a series: method, MASE, and the error of one step.
fn peers(series: &str) -> impl Iterator<Item = (&'static str, [Option<f64>; 2])> {
    let rows = SCORES.lines().skip(1).filter_map(|line| {
        let [name, method, mase, one_step] = line.split(',').collect::<Vec<_>>()[..] else { return None };
        Some((name, method, [mase, one_step].map(|cell| cell.parse().ok())))
    });
    rows.filter(move |(name, ..)| *name == series).map(|(_, method, scores)| (method, scores))
}

/// The least score of the peers, 0 for MASE and 1 for one step.
fn best_peer(series: &str, score: usize) -> Option<(&'static str, f64)> {
    let told = peers(series).filter_map(|(method, scores)| Some((method, scores[score]?)));
    told.min_by(|a, b| a.1.total_cmp(&b.1))
}

fn mase_of(series: &str, method: &str) -> Option<f64> {
    peers(series).find(|(name, _)| *name == method)?.1[0]
}

fn several_steps(results: &[(&Series, SeriesScores)]) -> Result<Table> {
    let mut table = Table::with(
        "series | rows # | periods | steps # | periods told .3 | periods found .3 | seasonal naive .3 | best peer .3 | which | \
         held, told .3 | held, found .3",
    );
    for (series, SeriesScores { passes: [told, found], .. }) in results {
        let best = best_peer(series.name, 0);
        let periods = series.periods.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        table.push(row![
            series.name,
            series.rows,
            periods,
            series.steps,
            told.mase,
            found.mase,
            mase_of(series.name, NAIVE),
            best.map(|best| best.1),
            best.map_or("", |best| best.0),
            told.held,
            found.held
        ])?;
    }
    Ok(table)
}

fn one_step(results: &[(&Series, SeriesScores)]) -> Result<Table> {
    let mut table = Table::with("series | periods told ~4 | periods found ~4 | auto on lags ~4 | best peer ~4 | which");
    for (series, SeriesScores { passes: [told, found], auto }) in results {
        let best = best_peer(series.name, 1);
        let (score, which) = (best.map(|best| best.1), best.map_or("", |best| best.0));
        table.push(row![series.name, told.one_step, found.one_step, *auto, score, which])?;
    }
    Ok(table)
}

/// The geometric mean of what is told of each series that has it, and how many are below one.
fn ratios(of: impl Iterator<Item = Option<f64>>) -> (f64, usize, usize) {
    let logs: Vec<f64> = of.flatten().map(f64::ln).collect();
    (mean(&logs).exp(), logs.iter().filter(|log| **log < 0.0).count(), logs.len())
}

/// The statements, judged on all series.
fn claims(results: &[(&Series, SeriesScores)]) -> Result<Table> {
    let mut claims = Claims::new();
    let against = |method: &str, which: usize| {
        ratios(results.iter().map(|(series, s)| Some(s.passes[which].mase / mase_of(series.name, method)?)))
    };
    for (which, words) in ["told", "found"].into_iter().enumerate() {
        let ((ratio, ..), most) = (against(NAIVE, which), OF_NAIVE[which]);
        let statement =
            format!("periods {words}: MASE at most {most} of the seasonal naive forecast’s, geometric mean");
        claims.ours(statement, short(ratio), ratio <= most)?;
        let held = mean_of(results, |(_, scores)| scores.passes[which].held);
        let statement = format!("periods {words}: 90 % bands hold {} to {} of the values on average", HELD[0], HELD[1]);
        claims.ours(statement, short(held), (HELD[0]..=HELD[1]).contains(&held))?;
    }
    for method in ["AutoETS", "AutoTheta", "AutoARIMA", "MSTL", "LGBM", "LGBMdiff"] {
        let (ratio, ahead, all) = against(method, 0);
        let statement = format!("periods told: ahead of {method} on average and on more series than not");
        let measured = format!("{} of its MASE, ahead on {ahead} of {all}", short(ratio));
        claims.ours(statement, measured, ratio < 1.0 && 2 * ahead > all)?;
    }
    let level = |(series, scores): &&(&Series, SeriesScores)| {
        let best = best_peer(series.name, 1).map_or(f64::INFINITY, |best| best.1);
        scores.passes[0].one_step <= best.min(scores.auto)
    };
    let count = results.iter().filter(level).count();
    let statement =
        format!("one step at most the error of the best peer and of auto on {ONE_STEP} of {}", results.len());
    claims.ours(statement, format!("on {count}"), count >= ONE_STEP)?;
    Ok(claims.table())
}

const INTRODUCTION: &str = "Series of months, quarters, weeks, days, hours and half hours, and some without a season. The season mixture learns row by row and has no option \
set but, in one of two runs, the periods. The peers know the periods and are refitted at each origin: AutoETS, AutoTheta, AutoARIMA, MSTL and CrostonSBA of statsforecast, LightGBM \
on lags (LGBM) and after a seasonal difference (LGBMdiff). `crates/experiments/series` has their scores.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_peers() {
        assert_eq!(list().count(), 23);
        for series in list() {
            assert!(series.origins.iter().all(|origin| origin + series.steps <= series.rows), "{}", series.name);
            assert!(mase_of(series.name, NAIVE).is_some() && best_peer(series.name, 1).is_some(), "{}", series.name);
        }
        assert_eq!(list().map(|series| peers(series.name).count()).sum::<usize>(), SCORES.lines().count() - 1);
    }

    #[test]
    fn scores_are_those_of_a_line_that_is_known() {
        let values: Vec<f64> = (0..90).map(f64::from).collect();
        let series =
            Series { name: "line", rows: 90, periods: Vec::new(), steps: 3, origins: vec![60, 80], sha256: "" };
        let found = pass(&series, &values, Periods::Found).unwrap();
        assert!(found.mase < 0.05 && found.one_step < 0.05, "{found:?}");
    }
}
