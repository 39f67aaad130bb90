//! The result of an evaluation, for people and as JSON.

use std::fmt::Write as _;

use mercer::catalogue::Value;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::failure::Failure;
use super::output::number;
use super::trace::Checkpoint;

/// The fields are the JSON object's keys, in its order.
#[derive(serde::Serialize)]
pub(crate) struct Report {
    pub(crate) learner: &'static str,
    pub(crate) kernel: String,
    pub(crate) parameters: Parameters,
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) mse: f64,
    pub(crate) mae: f64,
    pub(crate) error_rate: Option<f64>,
    pub(crate) dictionary_size: usize,
    pub(crate) seconds: f64,
    pub(crate) seconds_per_example: f64,
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Remarks on the result.
    pub(crate) notes: Vec<String>,
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
        line("mean squared error", &number(self.mse));
        line("mean absolute error", &number(self.mae));
        if let Some(rate) = self.error_rate {
            line("error rate", &number(rate));
        }
        line("dictionary size", &self.dictionary_size.to_string());
        line("seconds", &format!("{}, {} a row", number(self.seconds), number(self.seconds_per_example)));
        let _ = writeln!(text, "\n  {:>12}  {:>12}  {:<24}mean so far", "row", "dictionary", "cumulative loss");
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

/// One object on one line.
pub(crate) fn json(object: &impl Serialize) -> Result<String, Failure> {
    match serde_json::to_string(object) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => {
            Err(Failure::because(format!("the result cannot be written as JSON ({error}); leave --json out")))
        }
    }
}
