//! A real series: the orientation of the Earth, one row a day (pole x and y in milliarcseconds, UT1
//! − TAI in milliseconds).
//!
//! Nothing is known of the system, so there is no regret: errors are root mean squares against what
//! came. One day ahead for all methods, up to a month ahead for some, by letting a copy of the
//! forecaster miss one output after the other.

use mercer_forecast::{AnyForecaster, Forecaster};

use super::forecasters::ForecastMethod;
use super::forgetting::intervals;
use super::summary::axis;
use super::{LAMBDA, SECTION_5};
use crate::prelude::*;

const SERIES: &str = "earth_orientation";
const GAMMAS: [f64; 5] = [0.3, 0.5, 0.7, 0.9, 1.0];

/// Days ahead, and days between the beginnings of such forecasts.
const AHEAD: usize = 30;
const EVERY: usize = 15;

/// Mean squared errors of one series that differ by less than this share are told apart from no
/// difference by nothing: there are no seeds to take a standard error from.
const NO_DIFFERENCE: f64 = 0.02;

/// What one method did.
struct EarthResult {
    name: String,
    /// Mean squared error so far, all columns together, at each mark.
    curve: Vec<f64>,
    /// Root mean square by column.
    columns: Vec<f64>,
    /// Root mean square by days ahead and column, from forecasts of the second half.
    ahead: Vec<Vec<f64>>,
    /// Share of the values of the second half within their intervals.
    coverage: f64,
}

fn methods(m: usize, last: usize) -> Result<Vec<(String, AnyForecaster)>> {
    let opf = GAMMAS.map(|gamma| (format!("OPF, γ = {gamma}"), ForecastMethod::Opf(gamma)));
    let others = [
        ("Experts", ForecastMethod::Experts),
        ("windowed SLIP, k = 10", ForecastMethod::WindowedSlip(10)),
        ("linear extrapolation", ForecastMethod::LinearExtrapolation),
        ("last value", ForecastMethod::LastValue),
    ];
    let others = others.map(|(name, method)| (name.to_owned(), method));
    let built = |(name, method): (String, ForecastMethod)| Ok((name, method.build(m, SECTION_5, last)?));
    opf.into_iter().chain(others).map(built).collect()
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let days = plan.size.unwrap_or(usize::MAX);
    let series = plan.registry.open_series(SERIES)?;
    let m = series.dimension();
    let rows: Vec<&[f64]> = series.iter().take(days).collect();
    let names: Vec<String> =
        series.column_names().map_or_else(|| (1..=m).map(|i| format!("y{i}")).collect(), <[String]>::to_vec);
    let marks = log_spaced(SECTION_5.first_start() * 3 / 2, rows.len() - 1, 80);
    let name = |(name, _): &(String, AnyForecaster)| format!("opf_earth / {name}");
    let outcomes =
        plan.each(methods(m, rows.len() - 1)?, name, |(name, method), _| outcome(name, method.clone(), &rows, &marks))?;
    report(&outcomes.of(|_| true), &rows, &names, &marks)
}

fn outcome(name: &str, mut forecaster: AnyForecaster, rows: &[&[f64]], marks: &[usize]) -> Result<EarthResult> {
    let m = rows[0].len();
    let from = SECTION_5.first_start();
    let half = rows.len() / 2;
    let mut intervals = intervals(m)?;
    let (mut prediction, mut curve) = (vec![0.0; m], Vec::new());
    let (mut sums, mut ahead, mut begun) = (vec![0.0; m], vec![vec![0.0; m]; AHEAD], 0.0);
    let (mut within, mut counted) = (0.0, 0.0);
    for (k, y) in rows.iter().enumerate() {
        if k >= half && k + AHEAD <= rows.len() && (k - half).is_multiple_of(EVERY) {
            let forecast = forecaster.forecast(AHEAD, &[])?;
            for ((sums, forecast), y) in ahead.iter_mut().zip(forecast.chunks_exact(m)).zip(&rows[k..]) {
                add_squares(sums, forecast, y);
            }
            begun += 1.0;
        }
        forecaster.predict_then_observe(&[], y, &mut prediction)?;
        if k >= from {
            add_squares(&mut sums, &prediction, y);
            if k >= half {
                counted += m as f64;
                let inside = |i: &usize| (y[*i] - prediction[*i]).abs() <= intervals.radius(*i);
                within += (0..m).filter(inside).count() as f64;
            }
            intervals.observe(&prediction, y)?;
        }
        if marks.get(curve.len()) == Some(&k) {
            curve.push(sums.iter().sum::<f64>() / (k + 1 - from) as f64);
        }
    }
    let root = |sums: &[f64], count: f64| sums.iter().map(|sum| (sum / count).sqrt()).collect::<Vec<f64>>();
    Ok(EarthResult {
        name: name.to_owned(),
        curve,
        columns: root(&sums, (rows.len() - from) as f64),
        ahead: ahead.iter().map(|sums| root(sums, begun)).collect(),
        coverage: within / counted,
    })
}

fn add_squares(sums: &mut [f64], predictions: &[f64], ys: &[f64]) {
    for ((sum, prediction), y) in sums.iter_mut().zip(predictions).zip(ys) {
        *sum += (y - prediction) * (y - prediction);
    }
}

fn report(outcomes: &[&EarthResult], rows: &[&[f64]], names: &[String], marks: &[usize]) -> Result<Report> {
    let mut report = Report::new("OPF on a real series: the orientation of the Earth");
    report.words(format!(
        "{} days from 1 January 2004; errors from day {} on, forecasts up to {AHEAD} days ahead begun every {EVERY} days of the \
         second half. The pole in milliarcseconds, UT1 − TAI in milliseconds. λ = {LAMBDA}, β = {}.",
        rows.len(),
        SECTION_5.first_start(),
        SECTION_5.beta
    ));
    let mut table = Table::with("method");
    for name in names {
        table = table.numbers(format!("{name}, 1 day"), Format::Significant(4));
    }
    for name in names {
        table = table.numbers(format!("{name}, {AHEAD} days"), Format::Significant(4));
    }
    table = table.numbers("within 90% intervals", Format::Decimals(4));
    for outcome in outcomes {
        let mut row = vec![outcome.name.as_str().into()];
        row.extend(outcome.columns.iter().map(|error| (*error).into()));
        row.extend(outcome.ahead[AHEAD - 1].iter().map(|error| (*error).into()));
        row.push(outcome.coverage.into());
        table.push(row)?;
    }

    let total = |outcome: &EarthResult| outcome.curve.last().copied().unwrap_or(f64::NAN);
    let find =
        |name: &str| outcomes.iter().find(|outcome| outcome.name == name).map_or(f64::NAN, |outcome| total(outcome));
    let best = outcomes.iter().filter(|outcome| outcome.name.starts_with("OPF"));
    let (best_name, best) =
        best.map(|o| (o.name.as_str(), total(o))).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("", f64::NAN));
    let mut claims = Claims::new();
    let (experts, linear, plain) = (find("Experts"), find("linear extrapolation"), find("OPF, γ = 1"));
    claims.judge(
        format!("Forgetting helps: the best γ is below 1, its error by more than {}% smaller", 100.0 * NO_DIFFERENCE),
        format!("{} ({best_name}) against {} of γ = 1", short(best), short(plain)),
        Judgement::either(ComparisonKind::Claim, best < (1.0 - NO_DIFFERENCE) * plain, "holds", "no difference"),
    )?;
    claims.ours(
        "The expert grid is at most 1.15 times the best γ",
        format!("{} against {}", short(experts), short(best)),
        experts <= 1.15 * best,
    )?;
    claims.ours(
        "It beats the line through the last two days",
        format!("{} against {}", short(experts), short(linear)),
        experts < linear,
    )?;
    report.table("opf_earth_claims", "Mean squared errors one day ahead, all columns together", claims.table());
    report.table("opf_earth", "Root mean squares one day and a month ahead", table);

    let xs = axis(marks);
    let mut errors = Figure::new("one day ahead").x_label("day").y_label("mean squared error so far").log_x().log_y();
    let shown =
        ["OPF, γ = 0.3", "OPF, γ = 0.5", "OPF, γ = 1", "windowed SLIP, k = 10", "linear extrapolation", "last value"];
    // The experts lie upon the best line, so that they are dashed.
    let draw = |figure: Figure, outcome: &EarthResult, xs: &[f64], ys: &[f64]| match outcome.name.as_str() {
        "Experts" => figure.dashed("Experts", xs, ys),
        name if shown.contains(&name) => figure.line(name, xs, ys),
        _ => figure,
    };
    for outcome in outcomes {
        errors = draw(errors, outcome, &xs, &outcome.curve);
    }
    let days: Vec<f64> = (1..=AHEAD).map(|day| day as f64).collect();
    let mut panels = Panels::new("", 2).panel(errors);
    for (column, name) in names.iter().enumerate() {
        let mut figure = Figure::new(name.as_str()).x_label("days ahead").y_label("root mean square").log_y();
        for outcome in outcomes {
            let errors: Vec<f64> = outcome.ahead.iter().map(|error| error[column]).collect();
            figure = draw(figure, outcome, &days, &errors);
        }
        panels = panels.panel(figure);
    }
    report.picture("opf_earth", "Errors one day ahead against time, and against how far ahead", panels);
    let time: Vec<f64> = (0..rows.len()).map(|k| k as f64).collect();
    let mut series = Panels::new("", 3);
    for (column, name) in names.iter().enumerate() {
        let values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        series = series.panel(Figure::new(name.as_str()).x_label("day").line(name.as_str(), &time, &values));
    }
    report.picture("opf_earth_series", "The series", series);
    Ok(report)
}
