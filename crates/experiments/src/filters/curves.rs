//! Learning curves: the squared error of forecasts one step ahead, smoothed over the stream, for
//! all filters on two chaotic series.
//!
//! Every filter has the same Gaussian (those with several kernels have ¼ to 4 times its width), the
//! same most points, and sees the same rows. Series have variance 1, so an error of 1 is that of
//! forecasting the mean.

use super::methods::{FAMILIES, FilterMethod, filters};
use super::pass::{FilterPass, finals, small_multiples, smoothed};
use super::signals::SignalSeries;
use crate::prelude::*;

/// Most points of a filter.
const BUDGET: usize = 500;
/// Points of a curve.
const WINDOWS: usize = 40;
/// The filter that every picture of a family shows.
const YARDSTICK: &str = "krls";

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let rows = plan.size_or(5000, 20_000);
    let seeds = plan.repetitions_or(2, 20);
    let methods = SignalSeries::ALL.into_iter().flat_map(|series| filters().map(move |method| (series, method)));
    let inputs = methods.flat_map(|(series, method)| (0..seeds).map(move |seed| (series, method, seed)));
    let name = |(series, method, seed): &(SignalSeries, &FilterMethod, usize)| {
        format!("filters_curves / {} / {} / {}", series.name(), method.shown, seed + 1)
    };
    let passes = plan.each(inputs, name, |(series, method, seed), own| {
        method.pass(series.width(), BUDGET, &series.rows(rows, plan.seed.wrapping_add(*seed as u64))?, own)
    })?;

    let mut report = Report::new("Filters: learning curves one step ahead");
    report.words(format!(
        "{rows} rows of each series, {seeds} starts, at most {BUDGET} points. One step ahead from the last ten values of Mackey–Glass \
         (delay 30, sampled every 6) and the last five of Lorenz's first coordinate (every 0.05), both of variance 1 and without noise. \
         The Gaussian has width 2 and 1. Settings were chosen by hand after short trials, and are the same for both series: the curves \
         show how each filter learns, and rank no idea. Times are medians over blocks of 256 rows, with other jobs beside. A curve is the \
         mean over {} rows and all starts.",
        rows / WINDOWS
    ));
    let mut table = Table::with("series | filter | final error ~3 | dictionary .0 | µs a row ~3");
    let (mut claims, mut families, mut gallery) = (Claims::new(), Vec::new(), Vec::new());
    for series in SignalSeries::ALL {
        let (mut curves, mut errors, mut xs) = (Vec::new(), Vec::new(), Vec::new());
        for method in filters() {
            let passes: Vec<&FilterPass> = passes.outcomes_where(|(of, by, _)| (*of, *by) == (series, method));
            let error = finals(&passes);
            table.push(row![
                series.name(),
                method.shown,
                Summary::from_samples(&error),
                mean_of(&passes, |pass| pass.size as f64),
                mean_of(&passes, |pass| pass.microseconds)
            ])?;
            errors.push((method.shown, mean(&error)));
            let smooth = smoothed(&passes, WINDOWS);
            curves.push((method.shown, smooth.1));
            xs = smooth.0;
        }
        judge(&mut claims, series, &errors, series.rows(rows, plan.seed)?.persistence())?;
        let curve = |shown: &str| curves.iter().find(|(name, _)| *name == shown).map(|(_, ys)| ys);
        let axes = |title: &str| Figure::new(title).x_label("row").y_label("mean squared error").log_y();
        let mut panels = Vec::new();
        for family in &FAMILIES {
            let mut figure = axes(series.name());
            if let Some(yardstick) = curve(YARDSTICK).filter(|_| family.methods.iter().all(|m| m.shown != YARDSTICK)) {
                figure = figure.dashed(YARDSTICK, &xs, yardstick);
            }
            for method in family.methods {
                if let Some(ys) = curve(method.shown) {
                    figure = figure.line(method.shown, &xs, ys);
                }
            }
            panels.push(figure);
        }
        families.push(panels);
        let highest = curves.iter().map(|(_, ys)| ys[0]).filter(|y| y.is_finite()).fold(0.0, f64::max);
        let words = ("this filter", "the lowest of all");
        let small = small_multiples(Panels::new(series.name(), 5), &curves, words, &xs, highest, axes);
        gallery.push((series, small));
    }
    report.table("filters_curves_claims", "What the curves show (statements of this project)", claims.table());
    report.table("filters_curves", "Error over the last tenth of the rows, points and time", table);
    for (place, family) in FAMILIES.iter().enumerate() {
        let panels = families.iter().fold(Panels::new("", 2), |panels, own| panels.panel(own[place].clone()));
        let caption = format!("Learning curves: {}; {YARDSTICK} dashed where it is not of the family", family.name);
        report.picture(format!("filters_curves_{}", place + 1), caption, panels);
    }
    for (place, (series, small)) in gallery.into_iter().enumerate() {
        let caption = format!("One learning curve a filter on {}, and the lowest of all (dashed)", series.name());
        report.picture(format!("filters_gallery_{}", place + 1), caption, small);
    }
    Ok(report)
}

/// Statements on the final errors of one series.
fn judge(claims: &mut Claims, series: SignalSeries, errors: &[(&str, f64)], persistence: f64) -> Result<()> {
    let worst = errors.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("none", f64::NAN));
    claims.ours(
        format!("{}: every filter ends below the error of repeating the last value", series.name()),
        format!("{} at most ({}) against {}", short(worst.1), worst.0, short(persistence)),
        worst.1 < persistence,
    )?;
    let least_squares = |name: &str| FAMILIES[3].methods.iter().any(|method| method.shown == name);
    let best = |wanted: bool| {
        let some = errors.iter().copied().filter(|(name, _)| least_squares(name) == wanted);
        some.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("none", f64::NAN))
    };
    let (squares, others) = (best(true), best(false));
    claims.ours(
        format!("{}: least squares ends at a tenth of the error of any other family, or less", series.name()),
        format!("{} ({}) against {} ({})", short(squares.1), squares.0, short(others.1), others.0),
        squares.1 <= 0.1 * others.1,
    )
}
