//! The report that `mercer tune` prints.

use std::fmt::Write as _;

use mercer_registry::tune::{Dimension, SearchResult, Space, Trial};
use serde_json::{Map, Value, json};

use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::{digits, number};

/// Trials that people are shown.
const SHOWN: usize = 10;
/// A value so near to the end of its range, as a share of the range, might lie beyond it.
const NEAR: f64 = 0.05;

/// The outcome of a pass beside its score.
pub(super) struct PassExtras {
    pub(super) values: Vec<f64>,
    pub(super) rows: usize,
    /// Points kept.
    pub(super) size: usize,
    /// Remarks.
    pub(super) notes: Vec<String>,
}

pub(super) struct TuneReport<'a> {
    pub(super) learner: &'static str,
    pub(super) data: String,
    pub(super) n: usize,
    pub(super) d: usize,
    pub(super) space: &'a Space,
    /// Family of the kernel.
    pub(super) family: &'static str,
    pub(super) found: &'a SearchResult,
    pub(super) seen: &'a [PassExtras],
    pub(super) metric: String,
    /// True if more of it is better: scores of the search are then negative.
    pub(super) is_gain: bool,
    pub(super) command: String,
    pub(super) seconds: f64,
}

impl TuneReport<'_> {
    /// As `eval` tells it.
    fn score(&self, trial: &Trial) -> f64 {
        if self.is_gain { -trial.score } else { trial.score }
    }

    fn seen(&self, trial: &Trial) -> Option<&PassExtras> {
        self.seen.iter().find(|seen| seen.values == trial.values && seen.rows == trial.rows)
    }

    fn size(&self, trial: &Trial) -> Option<usize> {
        self.seen(trial).map(|seen| seen.size)
    }

    /// Remarks on the best.
    fn notes(&self) -> Vec<String> {
        let of_pass = self.seen(self.found.best()).map_or(&[][..], |seen| &seen.notes);
        of_pass.iter().cloned().chain(self.at_ends()).collect()
    }

    fn named(&self, values: &[f64]) -> impl Iterator<Item = (&Dimension, String)> {
        self.space.dimensions().iter().zip(values).map(|(dimension, value)| (dimension, dimension.shown(*value)))
    }

    /// Settings whose best value is at the end of their range.
    fn at_ends(&self) -> Vec<String> {
        let beyond = |(dimension, value): (&Dimension, &f64)| {
            let Dimension { name, low, high, .. } = dimension;
            let end = dimension.position(*value);
            let side = if end < NEAR { "lower" } else { "upper" };
            (!(NEAR..=1.0 - NEAR).contains(&end)).then(|| {
                format!(
                    "{name} is at the {side} end of its range, {} to {}; look further with --search {name}=LOW..HIGH",
                    number(*low),
                    number(*high)
                )
            })
        };
        self.space.dimensions().iter().zip(&self.found.best().values).filter_map(beyond).collect()
    }

    pub(super) fn text(&self) -> String {
        let Self { learner, data, n, d, found, metric, .. } = self;
        let mut text = format!(
            "{learner} on {data}: {n} rows of {d} features, {} points tried in {} passes, {} seconds\n\n",
            found.trials().len(),
            found.passes(),
            digits(self.seconds)
        );
        // Writing to a string cannot fail.
        let _ = write!(text, "  {metric:>12}  {:>10}", "dictionary");
        for dimension in self.space.dimensions() {
            let _ = write!(text, "  {:>12}", dimension.name);
        }
        text.push('\n');
        for trial in found.whole().take(SHOWN) {
            let size = self.size(trial).map_or(String::new(), |size| size.to_string());
            let _ = write!(text, "  {:>12}  {size:>10}", digits(self.score(trial)));
            for (_, value) in self.named(&trial.values) {
                let _ = write!(text, "  {value:>12}");
            }
            text.push('\n');
        }
        let _ = write!(text, "\n{metric} {} by\n\n  {}\n", number(self.score(found.best())), self.command);
        for note in self.notes() {
            let _ = writeln!(text, "\nNote: {note}");
        }
        text
    }

    pub(super) fn json(&self) -> Result<String, Failure> {
        let best = self.found.best();
        let settings = |trial: &Trial| {
            let mut settings = Map::new();
            for (dimension, value) in self.space.dimensions().iter().zip(&trial.values) {
                if dimension.name == Space::WIDTH {
                    settings.insert("kernel".to_owned(), json!(format!("{}:{}", self.family, number(*value))));
                } else {
                    settings.insert(
                        dimension.name.clone(),
                        if dimension.whole { json!(*value as u64) } else { json!(value) },
                    );
                }
            }
            Value::Object(settings)
        };
        let trial = |trial: &Trial| {
            let score = trial.score.is_finite().then(|| self.score(trial));
            json!({ "score": score, "rows": trial.rows, "dictionary_size": self.size(trial), "settings": settings(trial) })
        };
        let range = |dimension: &Dimension| {
            let Dimension { name, low, high, logarithmic, .. } = dimension;
            json!({ "key": name, "low": low, "high": high, "log": logarithmic })
        };
        let trials: Vec<Value> = self.found.trials().iter().map(trial).collect();
        json::line(&json!({
            "learner": self.learner,
            "rows": self.n,
            "features": self.d,
            "metric": self.metric,
            "score": self.score(best),
            "settings": settings(best),
            "command": self.command,
            "passes": self.found.passes(),
            "search": self.space.dimensions().iter().map(range).collect::<Vec<_>>(),
            "trials": trials,
            "notes": self.notes(),
            "seconds": self.seconds,
        }))
    }
}
