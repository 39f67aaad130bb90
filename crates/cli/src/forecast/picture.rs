//! The picture of a forecast: the last rows with their predictions and what comes next, the parts
//! of these, and scores beside the baselines. Of groups each has a panel.

use std::collections::VecDeque;

use mercer_forecast::ForecastParts;
use mercer_plots::{Curve, Figure, Panels, Score, learning_curves, significant};

use super::feed::SeriesFeed;
use super::pass::{SeriesAhead, SeriesPass};
use super::passes::Passes;
use super::record::SeriesRecord;
use crate::report::plot::short_name;
use crate::report::scores::{Baseline, Metric};

/// Rows that are shown one by one; as many steps ahead at most as there are rows, so that the rows
/// can be seen.
const RECENT: usize = 200;
/// Outputs that have a panel.
const OUTPUTS: usize = 6;
/// Points of a curve.
const POINTS: usize = 300;
/// The window of the scores is a twentieth of the rows, this many at least.
const LEAST_WINDOW: usize = 50;

/// Groups that have a panel, and panels beside each other.
const GROUPS: usize = 12;
const BESIDE: usize = 3;

/// What comes, by the names of scenarios if there are several: those of a series, or one a group.
type Aheads = [(Option<String>, Option<SeriesAhead>)];

/// The rows that are kept for the picture of the first groups, or of the series.
#[derive(Default)]
pub(super) struct ForecastPicture(Vec<SeriesPicture>);

impl ForecastPicture {
    /// Takes in the row that was observed last.
    pub(super) fn take(&mut self, pass: &SeriesPass, feed: &SeriesFeed) {
        while self.0.len() < (feed.now() + 1).min(GROUPS) {
            self.0.push(SeriesPicture::new());
        }
        if let Some(own) = self.0.get_mut(feed.now()) {
            own.take(pass, feed);
        }
    }

    /// The picture of what comes behind the rows.
    pub(super) fn draw(
        &self,
        passes: &Passes,
        feed: &mut SeriesFeed,
        scored: &SeriesRecord,
        data: &str,
        aheads: &Aheads,
    ) -> Panels {
        if feed.group_column().is_none() {
            let empty = SeriesPicture::new();
            return self.0.first().unwrap_or(&empty).draw(passes.first(), feed, scored, data, aheads);
        }
        let (method, groups) = (passes.first().model().method.as_str(), passes.all().len());
        let shown = if groups > GROUPS { format!(", the first {GROUPS} of {groups} groups") } else { String::new() };
        let title = format!("{method} on {}{shown}", short_name(data));
        let mut panels = Panels::new(title, groups.min(BESIDE));
        for (group, (own, pass)) in self.0.iter().zip(passes.all()).enumerate() {
            feed.turn_to(group);
            let name = feed.group().unwrap_or_default().to_owned();
            panels = panels.panel(own.series(pass, feed, (&name, 0), &aheads[group..=group]));
        }
        panels
    }
}

/// The rows that are kept for the picture of a series; their number does not grow with it.
struct SeriesPicture {
    /// The time of each row, and what is shown of its first outputs.
    recent: VecDeque<(Option<f64>, Vec<PictureRow>)>,
    /// The parts of the prediction of each row's first output, if they are wanted.
    parts: VecDeque<ForecastParts>,
}

#[derive(Clone, Copy)]
struct PictureRow {
    k: f64,
    value: f64,
    prediction: f64,
    ends: Option<[f64; 2]>,
    is_anomaly: bool,
}

impl SeriesPicture {
    fn new() -> Self {
        Self { recent: VecDeque::with_capacity(RECENT), parts: VecDeque::new() }
    }

    /// Takes in the row that was observed last.
    fn take(&mut self, pass: &SeriesPass, feed: &SeriesFeed) {
        let (k, [values, predictions], band) = (pass.rows() - 1, pass.last(), pass.band());
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        if self.parts.len() == RECENT {
            self.parts.pop_front();
        }
        // Before the experts have begun there are no parts.
        self.parts.extend(pass.look().parts.first().filter(|_| pass.is_scored()).cloned());
        let shown = |output: usize| PictureRow {
            k: k as f64,
            value: values[output],
            prediction: predictions[output],
            ends: band[output],
            is_anomaly: pass.look().anomaly(output, pass.last()[0][output]).is_some(),
        };
        self.recent.push_back((feed.time(0), (0..values.len().min(OUTPUTS)).map(shown).collect()));
    }

    fn draw(&self, pass: &SeriesPass, feed: &SeriesFeed, scored: &SeriesRecord, data: &str, aheads: &Aheads) -> Panels {
        let outputs = pass.columns().outputs.len();
        let method = pass.model().method.as_str();
        let data = short_name(data);
        let (rows, all) = (scored.rows(), scored.between(0, scored.rows()));
        let mut title = format!("{method} on {data}");
        if rows > 0 {
            let said = |score: Option<f64>| score.map_or_else(|| "–".to_owned(), |score| significant(score, 4));
            let baseline = |one: &Baseline| format!("{} {}", one.said(), said(one.rmse));
            let baselines: Vec<String> = all.baselines.0.iter().map(baseline).collect();
            title += &format!(": RMSE {} ({})", said(all.rmse), baselines.join(", "));
        }
        let shown = outputs.min(OUTPUTS);
        let mut panels = Panels::new(title, if shown == 1 && rows == 0 { 1 } else { 2 });
        for output in 0..shown {
            let name = pass.columns().output_name(output);
            panels = panels.panel(self.series(pass, feed, (name, output), aheads));
        }
        if !self.parts.is_empty() {
            panels = self.parts(pass, aheads).into_iter().fold(panels, Panels::panel);
        }
        if rows > 0 {
            panels = panels.panel(scores(scored, method, rows));
        }
        panels
    }

    /// A panel for each part of the first output: of the last rows, and of those to come.
    fn parts(&self, pass: &SeriesPass, aheads: &Aheads) -> Vec<Figure> {
        let columns = pass.columns();
        let first = (pass.rows() - self.parts.len()) as f64;
        let coming = aheads.first().and_then(|(_, ahead)| ahead.as_ref()?.parts.first());
        let seasons = pass.seasons().map_or(&[][..], |seasons| seasons.mixture(0).periods());
        let figure = |title: String, of: &dyn Fn(&ForecastParts) -> Option<&Vec<f64>>| {
            let past: Vec<f64> = self.parts.iter().map(|parts| of(parts).map_or(0.0, |part| part[0])).collect();
            let ks = |from: f64, rows: usize| (0..rows).map(|row| from + row as f64).collect::<Vec<f64>>();
            let figure = Figure::new(title).x_label("row k").y_label(columns.output_name(0));
            let figure = figure.line("prediction", &ks(first, past.len()), &past);
            match coming.and_then(of) {
                Some(coming) if coming.len() > 1 => {
                    figure.line("forecast", &ks(pass.rows() as f64, coming.len()), coming)
                }
                _ => figure,
            }
        };
        let mut figures = vec![figure("trend".to_owned(), &|parts| Some(&parts.trend))];
        for (i, period) in seasons.iter().enumerate() {
            figures.push(figure(format!("season of {period} rows"), &|parts| parts.seasons.get(i)));
        }
        for (i, name) in columns.input_names().into_iter().take(OUTPUTS).enumerate() {
            figures.push(figure(format!("effect of {name}"), &|parts| parts.inputs.get(i)));
        }
        figures.push(figure("rest".to_owned(), &|parts| Some(&parts.rest)));
        figures
    }

    fn series(&self, pass: &SeriesPass, feed: &SeriesFeed, (name, output): (&str, usize), aheads: &Aheads) -> Figure {
        let outputs = pass.columns().outputs.len();
        let named: Vec<(&str, &[f64])> = aheads
            .iter()
            .filter_map(|(name, ahead)| Some((name.as_deref().unwrap_or("forecast"), &ahead.as_ref()?.forecast[..])))
            .collect();
        let forecast = named.first().map(|(_, forecast)| *forecast);
        let ahead = forecast.map_or(0, |forecast| forecast.len() / outputs.max(1));
        // Beside a far horizon a few rows would not be seen; of a season two are shown.
        let season =
            pass.seasons().and_then(|seasons| seasons.mixture(output).periods().last()).map_or(0, |period| 2 * period);
        let skip = self.recent.len().saturating_sub(RECENT.min(70.max(2 * ahead).max(season)));
        let rows: Vec<PictureRow> =
            self.recent.iter().skip(skip).filter_map(|(_, row)| row.get(output).copied()).collect();
        let column = |of: &dyn Fn(&PictureRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
        let (k, values, predictions) = (column(&|row| row.k), column(&|row| row.value), column(&|row| row.prediction));
        let mut figure = Figure::new(name).x_label(row_label(feed, ahead)).y_label("value");
        let times = self
            .recent
            .iter()
            .skip(skip)
            .map(|(time, _)| *time)
            .chain((1..=ahead.min(10 * RECENT)).map(|step| feed.time(step)));
        if let (Some(clock), Some(first)) = (feed.clock(), k.first()) {
            let word = |time: Option<f64>| time.map(|time| clock.text(time)).unwrap_or_default();
            figure = figure.x_words(*first, times.map(word).collect());
        }
        let has_intervals = rows.iter().any(|row| row.ends.is_some());
        figure = if has_intervals {
            let end = |side: usize| column(&|row| row.ends.map_or(row.prediction, |ends| ends[side]));
            figure.line_with_band("prediction", &k, &predictions, &end(0), &end(1))
        } else {
            figure.line("prediction", &k, &predictions)
        };
        for (place, (name, forecast)) in named.iter().enumerate() {
            figure = coming(figure, pass, (name, place == 0), (output, forecast));
        }
        let marked: Vec<&PictureRow> = rows.iter().filter(|row| row.is_anomaly).collect();
        figure = figure.dots("value", &k, &values);
        if marked.is_empty() {
            return figure;
        }
        let of = |of: fn(&PictureRow) -> f64| marked.iter().map(|row| of(row)).collect::<Vec<f64>>();
        figure.points("anomaly", &of(|row| row.k), &of(|row| row.value))
    }
}

/// Adds a forecast of the rows to come, with a band if it is the first.
fn coming(
    figure: Figure,
    pass: &SeriesPass,
    (name, is_first): (&str, bool),
    (output, forecast): (usize, &[f64]),
) -> Figure {
    let outputs = pass.columns().outputs.len();
    let steps = (forecast.len() / outputs).min(10 * RECENT);
    let ks: Vec<f64> = (0..steps).map(|step| (pass.rows() + step) as f64).collect();
    let made: Vec<f64> = (0..steps).map(|step| forecast[step * outputs + output]).collect();
    let ends = |step| fan(pass, step, outputs, output, forecast).filter(|_| is_first);
    let ends: Vec<Option<[f64; 2]>> = (0..steps).map(ends).collect();
    let figure = if ends.iter().any(Option::is_some) {
        let end = |side: usize| -> Vec<f64> {
            made.iter().zip(&ends).map(|(made, ends)| ends.map_or(*made, |ends| ends[side])).collect()
        };
        figure.line_with_band(name, &ks, &made, &end(0), &end(1))
    } else {
        figure.line(name, &ks, &made)
    };
    if steps == 1 { figure.points(name, &ks, &made) } else { figure }
}

/// The interval of a row that is forecast; that of 90 % where none is asked for and the forecaster
/// knows one.
fn fan(pass: &SeriesPass, step: usize, outputs: usize, output: usize, forecast: &[f64]) -> Option<[f64; 2]> {
    let row = &forecast[step * outputs..(step + 1) * outputs];
    if pass.has_intervals() {
        return pass.ends(step + 1, row)[output];
    }
    let [low, high] = [0.05, 0.95].map(|p| pass.quantile(p, step + 1, row));
    Some([low?[output], high?[output]])
}

/// The label of the axis: the numbers of rows, or times, and then those of the last row and of the
/// end of the forecast.
fn row_label(feed: &SeriesFeed, ahead: usize) -> String {
    let time = |ahead: usize| feed.clock().zip(feed.time(ahead)).map(|(clock, time)| clock.text(time));
    match (time(0), time(ahead).filter(|_| ahead > 0)) {
        (Some(last), Some(end)) => format!("data until {last}, forecast until {end}"),
        (Some(last), None) => format!("data until {last}"),
        (None, _) => "row k".to_owned(),
    }
}

fn scores(scored: &SeriesRecord, method: &str, rows: usize) -> Figure {
    let window = (rows / 20).max(LEAST_WINDOW).min(rows);
    let mut learner = Curve { name: method.to_owned(), ..Curve::default() };
    let all = scored.between(0, rows);
    let curve = |one: &Baseline| Curve { name: one.said(), ..Curve::default() };
    let mut baselines: Vec<Curve> = all.baselines.0.iter().map(curve).collect();
    let first = scored.first();
    let points = POINTS.min(rows);
    for point in 1..=points {
        let until = (rows as u128 * point as u128 / points as u128) as usize;
        if until < window / 2 {
            continue;
        }
        let scores = scored.between(until.saturating_sub(window), until);
        let push = |curve: &mut Curve, score: Option<f64>| {
            curve.xs.push((first + until) as f64);
            curve.ys.push(score.unwrap_or(f64::NAN));
        };
        push(&mut learner, Metric::Rmse.value(&scores));
        for (curve, baseline) in baselines.iter_mut().zip(&scores.baselines.0) {
            push(curve, Metric::Rmse.of_baseline(baseline));
        }
    }
    let title = format!("Score of the last {window} rows, one step ahead");
    learning_curves(&title, Score::Error("RMSE"), &[learner], &baselines).x_label("row k")
}
