//! The result of an evaluation, for people and as JSON.

use std::fmt::Write as _;

use mercer::catalogue::Value;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::failure::Failure;
use super::output::{digits, number};
use super::plain::Plain;
use super::trace::Checkpoint;

/// The fields are the JSON object's keys, in its order.
#[derive(serde::Serialize)]
pub(crate) struct Report {
    pub(crate) learner: &'static str,
    pub(crate) kernel: String,
    pub(crate) parameters: Parameters,
    pub(crate) n: usize,
    pub(crate) d: usize,
    #[serde(flatten)]
    pub(crate) scores: Scores,
    /// Over the later half of the rounds.
    pub(crate) second_half: Scores,
    /// One by one, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<Output>,
    pub(crate) dictionary_size: usize,
    pub(crate) seconds: f64,
    pub(crate) seconds_per_example: f64,
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Remarks on the result.
    pub(crate) notes: Vec<String>,
}

/// How good predictions were. What is not defined is null.
#[derive(serde::Serialize)]
pub(crate) struct Scores {
    pub(crate) mse: Option<f64>,
    pub(crate) mae: Option<f64>,
    pub(crate) error_rate: Option<f64>,
    pub(crate) rmse: Option<f64>,
    pub(crate) r2: Option<f64>,
    #[serde(flatten)]
    pub(crate) intervals: Option<IntervalScores>,
    #[serde(flatten)]
    pub(crate) classes: Option<ClassScores>,
}

/// How good intervals were, over the rows that had one: weighted means, and means over several outputs.
#[derive(Clone, Copy, serde::Serialize)]
pub(crate) struct IntervalScores {
    /// The share of the targets in their intervals.
    pub(crate) coverage: f64,
    pub(crate) mean_width: f64,
}

/// How good predictions of classes were.
#[derive(serde::Serialize)]
pub(crate) struct ClassScores {
    pub(crate) accuracy: f64,
    pub(crate) log_loss: Option<f64>,
    pub(crate) balanced_accuracy: f64,
    pub(crate) auc: Option<f64>,
    pub(crate) calibration_error: Option<f64>,
    /// The accuracy of the most frequent class, for people.
    #[serde(skip)]
    pub(crate) majority: f64,
}

/// The scores of one output of several.
#[derive(serde::Serialize)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) mse: f64,
    pub(crate) mae: f64,
    pub(crate) r2: f64,
    #[serde(flatten)]
    pub(crate) intervals: Option<IntervalScores>,
}

/// The learner's keys with their values, as an object that keeps their order.
pub(crate) struct Parameters(pub(crate) Vec<(&'static str, Value)>);

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            match value {
                Value::None => map.serialize_entry(key, &None::<f64>)?,
                Value::Whole(count) => map.serialize_entry(key, count)?,
                Value::Number(number) => map.serialize_entry(key, number)?,
                Value::Numbers(numbers) => map.serialize_entry(key, numbers)?,
                Value::Words(words) => map.serialize_entry(key, words)?,
                Value::Kernels(kernels) => {
                    let specs: Vec<String> = kernels.iter().map(ToString::to_string).collect();
                    map.serialize_entry(key, &specs)?;
                }
            }
        }
        map.end()
    }
}

impl Report {
    pub(crate) fn json(&self) -> Result<String, Failure> {
        json(self)
    }

    /// `data` is how the data were named.
    pub(crate) fn text(&self, data: &str) -> String {
        let mut text = format!("{} on {data}: {} rows of {} features\n\n", self.learner, self.n, self.d);
        let settings: Vec<String> = self.parameters.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<21}{value}");
        };
        line("kernel", &self.kernel);
        line("parameters", &settings.join(" "));
        let [mse, mae] = [self.scores.mse, self.scores.mae].map(|score| score.map(number));
        mse.inspect(|mse| line("mean squared error", mse));
        mae.inspect(|mae| line("mean absolute error", mae));
        if let Some(rate) = self.scores.error_rate {
            line("error rate", &number(rate));
        }
        if let Some(classes) = &self.scores.classes {
            let ClassScores { accuracy, log_loss, balanced_accuracy, auc, calibration_error, majority } = classes;
            let majority = digits(*majority);
            line("accuracy", &format!("{} (of the most frequent class: {majority})", digits(*accuracy)));
            line("balanced accuracy", &digits(*balanced_accuracy));
            log_loss.inspect(|loss| line("log loss", &digits(*loss)));
            auc.inspect(|auc| line("area under the curve", &digits(*auc)));
            calibration_error.inspect(|error| line("calibration error", &digits(*error)));
        }
        let held = |IntervalScores { coverage, mean_width }: &IntervalScores| {
            format!("{} of the targets, mean width {}", digits(*coverage), digits(*mean_width))
        };
        self.scores.intervals.as_ref().inspect(|intervals| line("intervals hold", &held(intervals)));
        for Output { name, mse, mae, r2, intervals } in &self.outputs {
            let mut scores =
                format!("mean squared error {}, absolute {}, R² {}", digits(*mse), digits(*mae), digits(*r2));
            if let Some(intervals) = intervals {
                let _ = write!(scores, ", intervals hold {}", held(intervals));
            }
            line("", &format!("{}: {scores}", Plain(name)));
        }
        line("dictionary size", &self.dictionary_size.to_string());
        line("seconds", &format!("{}, {} a row", number(self.seconds), number(self.seconds_per_example)));
        let losses = if self.scores.classes.is_some() { "mistakes" } else { "cumulative loss" };
        let _ = writeln!(text, "\n  {:>12}  {:>12}  {:<24}mean so far", "row", "dictionary", losses);
        for Checkpoint { t, cumulative_loss, dictionary_size } in &self.checkpoints {
            let (loss, mean) = (number(*cumulative_loss), number(cumulative_loss / *t as f64));
            let _ = writeln!(text, "  {t:>12}  {dictionary_size:>12}  {loss:<24}{mean}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "\nNote: {note}");
        }
        text
    }
}

/// One object on one line, with the control characters escaped that JSON leaves as they are.
pub(crate) fn json(object: &impl Serialize) -> Result<String, Failure> {
    match serde_json::to_string(object) {
        Ok(text) => {
            let mut line = String::with_capacity(text.len() + 1);
            for c in text.chars() {
                // Such a character can only be part of a string. Writing to a string cannot fail.
                let _ = if c.is_control() { write!(line, "\\u{:04x}", c as u32) } else { line.write_char(c) };
            }
            line.push('\n');
            Ok(line)
        }
        Err(error) => {
            Err(Failure::because(format!("the result cannot be written as JSON ({error}); leave --json out")))
        }
    }
}
