//! The picture of an evaluation: scores against t beside the baselines, and what the last rows and
//! a sample of all rows look like.

use std::collections::VecDeque;

use mercer_plots::{Curve, Figure, Panels, Score, learning_curves, significant};

use super::Scoring;
use super::classes::RoundsOfClasses;
use super::rounds::Rounds;
use crate::report::evaluation::EvalReport;
use crate::report::plot::short_name;
use crate::report::sample::RoundSample;
use crate::report::scores::Metric;
use crate::report::trace::Checkpoint;

/// Points of a curve; those of the area under the curve are sorted for each and are fewer.
const POINTS: usize = 300;
const AREA_POINTS: usize = 40;
/// Rows in a cloud.
const CLOUD: usize = 1500;
/// Rows that are shown one by one, at the end.
const RECENT: usize = 100;
/// Outputs that have panels.
const OUTPUTS: usize = 4;
/// Classes that have rows and columns of their own.
const CLASSES: usize = 16;
/// Kinds of alarms with their columns that have marks.
const ALARMS: usize = 8;
/// Letters that have room below a matrix.
const MOST_LETTERS: usize = 52;

/// The rows that are kept for the picture; their number does not grow with the stream.
pub(super) enum PictureData {
    Numbers(Box<PictureRows>),
    Classes(Confusion),
}

/// Rows whose targets are numbers.
pub(super) struct PictureRows {
    /// For each of the first outputs its target and its prediction.
    cloud: RoundSample<Vec<[f64; 2]>>,
    /// The last rounds of the first output.
    recent: VecDeque<RecentErrors>,
}

struct RecentErrors {
    t: f64,
    target: f64,
    prediction: f64,
    interval: Option<[f64; 2]>,
}

/// Counts of each class predicted for each other class.
#[derive(Default)]
pub(super) struct Confusion {
    /// By class and predicted class: the classes beyond the first ones share the last place but
    /// one, no prediction has the last.
    counts: Vec<[f64; CLASSES + 2]>,
}

impl PictureData {
    pub(super) fn new(body: &Scoring) -> Self {
        match body {
            Scoring::Numbers(_) => Self::Numbers(
                PictureRows { cloud: RoundSample::new(CLOUD), recent: VecDeque::with_capacity(RECENT) }.into(),
            ),
            Scoring::Classes(_) => Self::Classes(Confusion::default()),
        }
    }

    /// Takes in a round, the `t`th of all, which was scored.
    pub(super) fn take(&mut self, rounds: &Rounds, index: usize, t: usize) {
        match self {
            Self::Numbers(rows) => rows.take(rounds, index, t),
            Self::Classes(confusion) => {
                let (class, predicted) = (rounds.class(index).class, rounds.class(index).judged.class);
                let place = |class: usize| class.min(CLASSES);
                let row = place(class);
                if confusion.counts.len() <= row {
                    confusion.counts.resize(row + 1, [0.0; CLASSES + 2]);
                }
                confusion.counts[row][predicted.map_or(CLASSES + 1, place)] += rounds.weight(index);
            }
        }
    }
}

impl PictureRows {
    fn take(&mut self, rounds: &Rounds, index: usize, t: usize) {
        let (targets, predictions) = (rounds.targets(index), rounds.predictions(index));
        self.cloud.offer(t, || targets.iter().zip(predictions).take(OUTPUTS).map(|(y, made)| [*y, *made]).collect());
        if let ([target, ..], [prediction, ..]) = (targets, predictions) {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            let interval = rounds.interval(index, 0);
            self.recent.push_back(RecentErrors { t: t as f64, target: *target, prediction: *prediction, interval });
        }
    }
}

/// What the picture states of the run.
pub(super) struct PictureFacts<'a> {
    /// The name of the data, as the user gave it.
    pub(super) data: &'a str,
    /// The names of the targets, if they have names.
    pub(super) targets: &'a [String],
    pub(super) trace: &'a [Checkpoint],
    pub(super) report: &'a EvalReport,
}

impl PictureFacts<'_> {
    fn title(&self) -> String {
        let data = short_name(self.data);
        let said = |score: Option<f64>| score.map_or_else(|| "–".to_owned(), |score| significant(score, 4));
        let EvalReport { learner, followed, scores, .. } = self.report;
        let mut title = format!("{learner} on {data}: {} {}", followed.head(), said(followed.value(scores)));
        let baselines = scores.baselines.0.iter().map(|one| (one.said(), followed.of_baseline(one)));
        let known: Vec<String> = baselines
            .filter(|(_, score)| score.is_some())
            .map(|(name, score)| format!("{name} {}", said(score)))
            .collect();
        if !known.is_empty() {
            title += &format!(" ({})", known.join(", "));
        }
        title
    }

    fn name(&self, output: usize) -> String {
        self.targets.get(output).cloned().unwrap_or_else(|| format!("output {}", output + 1))
    }
}

/// The picture.
pub(super) fn draw(gathered: &PictureData, body: &Scoring, about: &PictureFacts<'_>) -> Panels {
    let mut panels = Panels::new(about.title(), 2);
    panels = panels.panel(marked(scores(body, about, about.report.followed, Some(about.report.window)), body, about));
    panels = panels.panel(scores(body, about, about.report.followed, None));
    match (gathered, body) {
        (PictureData::Numbers(rows), _) => panels = rows.draw(panels, about),
        (PictureData::Classes(confusion), Scoring::Classes(classes)) => {
            panels = confusion.draw(panels, classes, about.report.learner);
            // In the place of the curve that only two classes have.
            let probable = about.report.scores.classes.as_ref().is_some_and(|one| one.log_loss.is_some());
            if about.report.followed != Metric::LogLoss && probable && classes.curve().is_empty() {
                panels = panels.panel(scores(body, about, Metric::LogLoss, Some(about.report.window)));
            }
        }
        _ => {}
    }
    if about.trace.iter().any(|point| point.dictionary_size > 0) {
        panels = panels.panel(sizes(about));
    }
    panels
}

/// A score of the learner and its baselines: of the window that ends at each point, or of all rows
/// so far.
fn scores(body: &Scoring, about: &PictureFacts<'_>, metric: Metric, window: Option<usize>) -> Figure {
    let (learner, baselines) = curves(body, about.report.learner, about.report.skipped, metric, window);
    figure(metric, window, &[learner], &baselines)
}

/// The same with a mark on the learner's curve at each alarm.
fn marked(mut figure: Figure, body: &Scoring, about: &PictureFacts<'_>) -> Figure {
    let Some(alarms) = &about.report.alarms else { return figure };
    let (curve, _) =
        curves(body, about.report.learner, about.report.skipped, about.report.followed, Some(about.report.window));
    let height = |row: &f64| {
        let next = curve.xs.partition_point(|x| x < row).min(curve.ys.len() - 1);
        curve.ys[next]
    };
    if !curve.xs.is_empty() {
        for (name, rows) in alarms.by_column(|_| true).iter().take(ALARMS) {
            figure = figure.points(name, rows, &rows.iter().map(height).collect::<Vec<_>>());
        }
    }
    figure
}

/// The curves of a score over windows, or over all rows so far.
pub(crate) fn figure(metric: Metric, window: Option<usize>, learners: &[Curve], baselines: &[Curve]) -> Figure {
    let title = match window {
        Some(window) => format!("Score of the last {window} rows"),
        None => "Score of all rows so far".to_owned(),
    };
    let label = if metric.is_error() { Score::Error(metric.head()) } else { Score::Gain(metric.head()) };
    learning_curves(&title, label, learners, baselines)
}

/// The score of a learner, and those of its baselines, along the rows; `skipped` rows at the
/// beginning are not scored.
pub(super) fn curves(
    body: &Scoring,
    learner: &str,
    skipped: usize,
    metric: Metric,
    window: Option<usize>,
) -> (Curve, Vec<Curve>) {
    let scored = body.scored();
    let points = if metric == Metric::Auc { AREA_POINTS } else { POINTS }.min(scored);
    let mut learner = Curve { name: learner.to_owned(), ..Curve::default() };
    let mut baselines: Vec<Curve> = Vec::new();
    for point in 1..=points {
        let until = (scored as u128 * point as u128 / points as u128) as usize;
        // A few rows say little.
        if until < window.map_or(scored / 100, |window| window.min(scored / 20)) {
            continue;
        }
        let from = window.map_or(0, |window| until.saturating_sub(window));
        let (_, scores) = body.between(from, until, metric == Metric::Auc);
        let t = (skipped + until) as f64;
        let push = |curve: &mut Curve, score: Option<f64>| {
            if let Some(score) = score {
                curve.xs.push(t);
                curve.ys.push(score);
            }
        };
        push(&mut learner, metric.value(&scores));
        for (place, baseline) in scores.baselines.0.iter().enumerate() {
            if baselines.len() <= place {
                baselines.push(Curve { name: baseline.said(), ..Curve::default() });
            }
            push(&mut baselines[place], metric.of_baseline(baseline));
        }
    }
    baselines.retain(|curve| !curve.xs.is_empty());
    (learner, baselines)
}

fn sizes(about: &PictureFacts<'_>) -> Figure {
    let trace = about.trace;
    let stride = trace.len().div_ceil(4 * POINTS).max(1);
    let kept = || trace.iter().step_by(stride).chain(trace.last());
    let rounds: Vec<f64> = kept().map(|point| point.t as f64).collect();
    let sizes: Vec<f64> = kept().map(|point| point.dictionary_size as f64).collect();
    let most = sizes.iter().copied().fold(1.0, f64::max);
    let figure = Figure::new("Size of the dictionary").x_label("row t").y_label("points");
    figure.y_range(0.0, 1.05 * most).line(about.report.learner, &rounds, &sizes)
}

impl PictureRows {
    fn draw(&self, mut panels: Panels, about: &PictureFacts<'_>) -> Panels {
        let outputs = self.cloud.all().first().map_or(0, |(_, pairs)| pairs.len());
        let of = |output: usize| if outputs > 1 { format!(": {}", about.name(output)) } else { String::new() };
        panels = panels.panel(self.last_rows(about.report.learner, &of(0)));
        for output in 0..outputs {
            panels = panels.panel(self.beside(output, about.report.learner, &of(output)));
            if output == 0 {
                panels = panels.panel(self.residuals(about.report.learner, &of(0)));
            }
        }
        panels
    }

    fn last_rows(&self, learner: &str, of: &str) -> Figure {
        let column = |value: &dyn Fn(&RecentErrors) -> f64| self.recent.iter().map(value).collect::<Vec<f64>>();
        let (rows, targets) = (column(&|row| row.t), column(&|row| row.target));
        let predictions = column(&|row| row.prediction);
        let figure = Figure::new(format!("Predictions and targets of the last {} rows{of}", rows.len()))
            .x_label("row t")
            .y_label("target");
        let ends = |end: usize| column(&|row| row.interval.map_or(row.prediction, |ends| ends[end]));
        let figure = if self.recent.iter().any(|row| row.interval.is_some()) {
            figure.line_with_band(learner, &rows, &predictions, &ends(0), &ends(1))
        } else {
            figure.line(learner, &rows, &predictions)
        };
        figure.dots("target", &rows, &targets)
    }

    /// Targets and predictions of the sample.
    fn columns(&self, output: usize) -> [Vec<f64>; 2] {
        let pairs = || self.cloud.all().iter().filter_map(|(_, pairs)| pairs.get(output));
        [pairs().map(|pair| pair[0]).collect(), pairs().map(|pair| pair[1]).collect()]
    }

    fn beside(&self, output: usize, learner: &str, of: &str) -> Figure {
        let [targets, predictions] = self.columns(output);
        // A few targets far from all others would press these into a point.
        let (low, high) = (within(&targets, 0.005), within(&targets, 0.995));
        let near = |y: f64| (low - (high - low)..=high + (high - low)).contains(&y);
        let far = targets.iter().filter(|y| !near(**y)).count();
        let pairs = targets.iter().zip(&predictions).filter(|(y, _)| near(**y));
        let (targets, predictions): (Vec<f64>, Vec<f64>) = pairs.map(|(y, made)| (*y, *made)).unzip();
        let of = match far {
            0 => of.to_owned(),
            1 => format!("{of} (1 far target left out)"),
            _ => format!("{of} ({far} far targets left out)"),
        };
        let ends =
            targets.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(*y), high.max(*y)]);
        let figure = Figure::new(format!("Predictions beside targets{of}")).x_label("target").y_label("prediction");
        // Wild predictions, as a stream's first may be, would press all others into a line.
        let (low, high) = (within(&predictions, 0.005).min(ends[0]), within(&predictions, 0.995).max(ends[1]));
        let margin = 0.04 * (high - low);
        let figure = if low < high { figure.y_range(low - margin, high + margin) } else { figure };
        figure.dots(learner, &targets, &predictions).dashed("", &ends, &ends)
    }

    fn residuals(&self, learner: &str, of: &str) -> Figure {
        let [targets, predictions] = self.columns(0);
        let rounds: Vec<f64> = self.cloud.all().iter().map(|(t, _)| *t as f64).collect();
        let errors: Vec<f64> = predictions.iter().zip(&targets).map(|(made, y)| made - y).collect();
        let figure = Figure::new(format!("Residuals{of}")).x_label("row t").y_label("prediction − target");
        let (low, high) = (within(&errors, 0.005), within(&errors, 0.995));
        let (low, high) = (low - 0.3 * (high - low), high + 0.3 * (high - low));
        let cut = low < high && errors.iter().any(|error| !(low..=high).contains(error));
        let figure = if cut { figure.y_range(low.min(0.0), high.max(0.0)) } else { figure };
        let across = [rounds.first().copied().unwrap_or(0.0), rounds.last().copied().unwrap_or(1.0)];
        figure.dots(learner, &rounds, &errors).dashed("", &across, &[0.0, 0.0])
    }
}

/// The value that a share of them does not exceed.
fn within(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share * sorted.len() as f64) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

impl Confusion {
    fn draw(&self, panels: Panels, classes: &RoundsOfClasses, learner: &str) -> Panels {
        let mut panels = panels.panel(self.matrix(&classes.names()));
        let mut bins = classes.score.reliability();
        // What a few rows show is chance.
        let all: f64 = bins.iter().map(|bin| bin[2]).sum();
        bins.retain(|bin| bin[2] >= 0.004 * all);
        if !bins.is_empty() {
            let column = |place: usize| bins.iter().map(|bin| bin[place]).collect::<Vec<f64>>();
            let figure = Figure::new("Calibration (dashed: as it should be)")
                .x_label("probability given")
                .y_label("share that was right");
            let (given, right) = (column(0), column(1));
            let figure = figure.y_range(0.0, 1.02).line(learner, &given, &right);
            let ideal = [given[0].min(0.5), 1.0];
            panels = panels.panel(figure.points(learner, &given, &right).dashed("", &ideal, &ideal));
        }
        let mut rounds = classes.curve();
        if let Some(curve) = receiver(&mut rounds) {
            let figure = Figure::new("ROC curve (dashed: chance)");
            let figure = figure.x_label("false positives, share").y_label("true positives, share");
            let figure = figure.line(learner, &curve.xs, &curve.ys).dashed("", &[0.0, 1.0], &[0.0, 1.0]);
            panels = panels.panel(figure.y_range(0.0, 1.02));
        }
        panels
    }

    /// Rows are classes, columns what was predicted for them; the colour is the share of the row.
    fn matrix(&self, names: &[&str]) -> Figure {
        let (known, others) = (names.len().min(CLASSES), names.len() > CLASSES);
        let mut order: Vec<usize> = (0..known).collect();
        order.sort_by(|a, b| mercer_readers::Labels::order(names[*a], names[*b]));
        order.extend(others.then_some(CLASSES));
        let name = |place: &usize| match *place {
            CLASSES => "others".to_owned(),
            class if class > CLASSES => "none".to_owned(),
            class => names.get(class).map_or(String::new(), |name| (*name).to_owned()),
        };
        let rows: Vec<String> = order.iter().map(name).collect();
        let count = |row: usize, column: usize| self.counts.get(row).map_or(0.0, |counts| counts[column]);
        let mut places = order.clone();
        if order.iter().any(|row| count(*row, CLASSES + 1) > 0.0) {
            places.push(CLASSES + 1);
        }
        let mut columns: Vec<String> = places.iter().map(name).collect();
        let mut label = "predicted class";
        // Names that would be cut to a letter or two say nothing.
        if columns.iter().any(|name| name.chars().count() * columns.len() > MOST_LETTERS) {
            columns.iter_mut().for_each(String::clear);
            label = if places.len() > order.len() {
                "predicted class, in the rows' order; last: none"
            } else {
                "predicted class, in the rows' order"
            };
        }
        let (mut shares, mut words) = (Vec::new(), Vec::new());
        for row in &order {
            let all: f64 = places.iter().map(|column| count(*row, *column)).sum();
            for column in &places {
                shares.push(if all > 0.0 { count(*row, *column) / all } else { 0.0 });
                let count = count(*row, *column);
                words.push(match count {
                    0.0 => String::new(),
                    whole if whole.fract() == 0.0 => format!("{whole}"),
                    part => significant(part, 4),
                });
            }
        }
        let figure = Figure::new("Confusion matrix");
        figure.x_label(label).y_label("class").matrix(&rows, &columns, &shares, &words)
    }
}

/// Shares of the two classes above each score, from the highest score down; `None` when a class is
/// missing.
fn receiver(rounds: &mut [(f64, bool, f64)]) -> Option<Curve> {
    rounds.sort_by(|a, b| b.0.total_cmp(&a.0));
    let sum = |of: bool| rounds.iter().filter(|round| round.1 == of).map(|round| round.2).sum::<f64>();
    let (positive, negative) = (sum(true), sum(false));
    if positive <= 0.0 || negative <= 0.0 {
        return None;
    }
    let mut curve = Curve { xs: vec![0.0], ys: vec![0.0], ..Curve::default() };
    let (mut hits, mut alarms) = (0.0, 0.0);
    for tied in rounds.chunk_by(|a, b| a.0 == b.0) {
        for (_, is, weight) in tied {
            *if *is { &mut hits } else { &mut alarms } += weight;
        }
        let (x, y) = (alarms / negative, hits / positive);
        let (before_x, before_y) = (curve.xs[curve.xs.len() - 1], curve.ys[curve.ys.len() - 1]);
        if (x - before_x) + (y - before_y) >= 1.0 / POINTS as f64 {
            curve.xs.push(x);
            curve.ys.push(y);
        }
    }
    curve.xs.push(1.0);
    curve.ys.push(1.0);
    Some(curve)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_of_a_perfect_score_goes_through_the_corner() {
        let mut rounds: Vec<(f64, bool, f64)> = (0..100).map(|i| (f64::from(i), i >= 40, 1.0)).collect();
        let curve = receiver(&mut rounds).unwrap();
        assert!(curve.xs.iter().zip(&curve.ys).any(|(x, y)| *x == 0.0 && *y == 1.0));
        assert!(receiver(&mut [(1.0, true, 1.0)]).is_none());
    }

    #[test]
    fn shares_of_values() {
        let values: Vec<f64> = (0..1000).rev().map(f64::from).collect();
        assert_eq!((within(&values, 0.005), within(&values, 0.995), within(&[], 0.5)), (5.0, 995.0, 0.0));
    }
}
