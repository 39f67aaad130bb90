//! The report that `mercer compare` prints.

use std::fmt::Write as _;

use serde::Serialize;

use crate::arguments::typed;
#[cfg(feature = "plots")]
use crate::eval::picture;
use crate::eval::scaled_table::PassResult;
use crate::report::evaluation::Parameters;
use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::digits;
use crate::report::plain::Plain;
#[cfg(feature = "plots")]
use crate::report::plot::short_name;
use crate::report::scores::{Metric, Scores};
use crate::report::trace::Checkpoint;

/// A learner as it was named, and what came of it, or why nothing did.
pub(super) struct ComparisonRow {
    pub(super) spec: String,
    pub(super) passed: Result<PassResult, String>,
}

pub(super) struct ComparisonReport {
    pub(super) data: String,
    pub(super) n: usize,
    pub(super) d: usize,
    pub(super) metric: Metric,
    /// Rows of the last window.
    pub(super) window: usize,
    pub(super) rows: Vec<ComparisonRow>,
}

#[derive(Serialize)]
struct Object<'a> {
    data: &'a str,
    rows: usize,
    features: usize,
    metric: String,
    window: usize,
    learners: Vec<ComparisonSetup>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ComparisonSetup {
    Done(Box<Done>),
    Failed { learner: String, error: String },
}

#[derive(Serialize)]
struct Done {
    learner: String,
    kernel: String,
    parameters: Parameters,
    #[serde(flatten)]
    scores: Scores,
    second_half: Scores,
    last_window: Scores,
    dictionary_size: usize,
    seconds: f64,
    seconds_per_example: f64,
    checkpoints: Vec<Checkpoint>,
    notes: Vec<String>,
}

/// Widths of the columns of numbers.
const CELL: usize = 13;

impl ComparisonReport {
    fn sections(&self, passed: &PassResult) -> [Scores; 3] {
        [passed.scores(), passed.second_half(), passed.window(self.n, self.window)]
    }

    pub(super) fn text(&self) -> String {
        let Self { data, n, d, metric, .. } = self;
        let mut text = format!("{} on {}: {n} rows of {d} features\n\n", metric.head(), Plain(data));
        let done: Vec<(&str, &PassResult)> =
            self.rows.iter().filter_map(|row| Some((row.spec.as_str(), row.passed.as_ref().ok()?))).collect();
        let sections: Vec<[Scores; 3]> = done.iter().map(|(_, passed)| self.sections(passed)).collect();
        let scores: Vec<[Option<f64>; 3]> =
            sections.iter().map(|three| [0, 1, 2].map(|column| metric.value(&three[column]))).collect();
        let best = [0, 1, 2].map(|column| {
            let all = scores.iter().filter_map(|three| three[column]);
            all.reduce(|a, b| if (b < a) == metric.is_error() { b } else { a })
        });
        let baselines: Vec<(String, [Option<f64>; 3])> = sections.first().map_or(Vec::new(), |three| {
            let baseline = |i: usize| {
                let name = three[0].baselines.0[i].said();
                (name, [0, 1, 2].map(|column| metric.of_baseline(&three[column].baselines.0[i])))
            };
            (0..three[0].baselines.0.len()).map(baseline).collect()
        });
        let names = done.iter().map(|(spec, _)| *spec).chain(baselines.iter().map(|(name, _)| name.as_str()));
        let width = names.map(|name| name.chars().count()).max().unwrap_or(0).max(8);
        // Writing to a string cannot fail.
        let _ = write!(text, "  {:<width$}", "");
        for head in ["all rows", "second half", &format!("last {}", self.window.min(self.n))] {
            let _ = write!(text, "  {head:>CELL$} ");
        }
        let _ = writeln!(text, "  {:>10}  {:>10}", "µs a row", "dictionary");
        let mut cells = |name: &str, scores: &[Option<f64>; 3], stars: bool, rest: &str| {
            let _ = write!(text, "  {name:<width$}");
            for (score, best) in scores.iter().zip(best) {
                let star = if stars && score.is_some() && *score == best { '*' } else { ' ' };
                let _ = write!(text, "  {:>CELL$}{star}", score.map_or_else(|| "–".to_owned(), digits));
            }
            let line = rest.trim_end();
            let _ = writeln!(text, "{line}");
        };
        for ((spec, passed), scores) in done.iter().zip(&scores) {
            let micros = digits3(passed.seconds * 1e6 / *n as f64);
            cells(spec, scores, done.len() > 1, &format!("  {micros:>10}  {:>10}", passed.dictionary_size));
        }
        for (name, scores) in baselines.iter().filter(|(_, scores)| scores.iter().any(Option::is_some)) {
            cells(name, scores, false, "");
        }
        for ComparisonRow { spec, passed } in &self.rows {
            let notes = match passed {
                Err(why) => vec![format!(" has no score: {why}")],
                Ok(passed) => passed.notes.iter().map(|note| format!(": {note}")).collect(),
            };
            for note in notes {
                let _ = writeln!(text, "\nNote: {spec}{note}");
            }
        }
        text
    }

    /// The scores of windows along the rows, one curve a learner.
    #[cfg(feature = "plots")]
    pub(super) fn picture(&self) -> mercer_plots::Panels {
        let curves = |row: &ComparisonRow| {
            row.passed.as_ref().ok().map(|passed| passed.curves(&row.spec, self.metric, self.window))
        };
        let (learners, baselines): (Vec<_>, Vec<_>) = self.rows.iter().filter_map(curves).unzip();
        // They are the same for all learners.
        let baselines = baselines.into_iter().next().unwrap_or_default();
        let figure = picture::figure(self.metric, Some(self.window), &learners, &baselines);
        mercer_plots::Panels::new(short_name(&self.data), 1).panel(figure)
    }

    pub(super) fn json(self) -> Result<String, Failure> {
        let Self { n, d, metric, window, .. } = self;
        let data = self.data.clone();
        let described = |row: &ComparisonRow| match &row.passed {
            Err(error) => ComparisonSetup::Failed { learner: row.spec.clone(), error: error.clone() },
            Ok(passed) => {
                let [scores, second_half, last_window] = self.sections(passed);
                ComparisonSetup::Done(Box::new(Done {
                    learner: row.spec.clone(),
                    kernel: passed.kernel.clone(),
                    parameters: Parameters(passed.parameters.clone()),
                    scores,
                    second_half,
                    last_window,
                    dictionary_size: passed.dictionary_size,
                    seconds: passed.seconds,
                    seconds_per_example: passed.seconds / n as f64,
                    checkpoints: passed.checkpoints.clone(),
                    notes: passed.notes.clone(),
                }))
            }
        };
        let learners = self.rows.iter().map(described).collect();
        json::line(&Object {
            data: &data,
            rows: n,
            features: d,
            metric: typed(&metric),
            window: window.min(n),
            learners,
        })
    }
}

/// A duration, of which three digits mean something.
fn digits3(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    digits(rounded)
}
