//! The model that is served, as the protocol sees it: columns, rows of values, and predictions.

use std::error::Error;
use std::ops::RangeInclusive;

use mercer_core::{OddCells, Oddity};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::compared::Compared;

/// Why a model refuses a row, or cannot be saved; the message goes to whoever asked.
pub type Reason = Box<dyn Error + Send + Sync>;

/// Forecasts what is asked for; it shares nothing with the model that it was copied from.
pub type Forecast = Box<dyn FnOnce(ForecastQuery) -> Result<ForecastAnswer, Reason> + Send>;

/// Explains predictions for rows, from a copy of the state; an error has the place of its row.
pub type Explain = Box<dyn FnOnce() -> Result<Vec<Explained>, (usize, Reason)> + Send>;

/// Why a prediction: `base + Σ effects = prediction`.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The number predicted; of classes the score of `class`.
    pub prediction: f64,
    /// The class whose score it is.
    pub class: Option<String>,
    /// The prediction where no column is known.
    pub base: f64,
    /// The effect of each column by its name, and its standard error where effects are sampled.
    pub effects: Vec<(String, f64, Option<f64>)>,
}

impl Explained {
    /// The object that tells it, of several numbers that of the `output` with this name.
    pub(crate) fn json(&self, output: Option<&str>) -> Json {
        let effects: Json = self.effects.iter().map(|(name, effect, _)| (name.clone(), json!(effect))).collect();
        let error = |(name, _, error): &(String, f64, Option<f64>)| Some((name.clone(), json!((*error)?)));
        let errors: Option<Json> = self.effects.iter().map(error).collect();
        let mut told = json!({ "prediction": self.prediction, "base": self.base, "effects": effects });
        told["standard_error"] = errors.filter(|_| !self.effects.is_empty()).unwrap_or_default();
        if let Some(class) = &self.class {
            told["class"] = json!(class);
        }
        if let Some(output) = output {
            told["output"] = json!(output);
        }
        told
    }
}

/// What is asked of the rows to come.
#[derive(Clone, Debug, Default)]
pub struct ForecastQuery {
    /// Number of rows.
    pub steps: usize,
    /// The values of [`Schema::known`] in these rows, row by row, as far as they are told.
    pub inputs: Vec<f64>,
    /// The same by the name of a scenario.
    pub scenarios: Vec<(String, Vec<f64>)>,
    /// True if the parts of the forecasts are wanted.
    pub parts: bool,
    /// True if the effects of the inputs are.
    pub input_effects: bool,
    /// True if the rows that lay outside of their bands are.
    pub anomalies: bool,
}

/// What is asked of the functions of an operator.
#[derive(Clone, Debug, Default)]
pub struct FunctionQuery {
    /// States.
    pub rows: Vec<Vec<f64>>,
    /// Number of almost invariant sets.
    pub sets: Option<usize>,
    /// Two of these sets, from 0: the probability that the second is reached before the first.
    pub committor: Option<[usize; 2]>,
}

/// The rows to come.
#[derive(Clone, Debug)]
pub struct ForecastRows {
    /// A prediction for each.
    pub rows: Vec<Prediction>,
    /// Their times, where they are known.
    pub times: Option<Vec<Json>>,
    /// The parts of each.
    pub parts: Option<Json>,
}

/// An answer to a [`ForecastQuery`].
#[derive(Clone, Debug)]
pub struct ForecastAnswer {
    /// The rows to come; of the first scenario by name, if inputs are told by scenarios alone.
    pub ahead: ForecastRows,
    /// The rows to come by the name of the scenario.
    pub scenarios: Vec<(String, ForecastRows)>,
    /// The effects of the inputs.
    pub input_effects: Option<Json>,
    /// The rows that lay outside of their bands.
    pub anomalies: Option<Json>,
}

impl From<ForecastRows> for ForecastAnswer {
    fn from(ahead: ForecastRows) -> Self {
        Self { ahead, scenarios: Vec::new(), input_effects: None, anomalies: None }
    }
}

/// A model that is served. Many threads predict with it under a shared lock; one learns, a row at a
/// time, under the exclusive one.
pub trait Model: Send + Sync {
    /// Its columns and what it tells of itself. They are asked for once, at the start.
    fn schema(&self) -> Schema;

    /// Its state, in `O(1)`.
    fn standing(&self) -> Standing;

    /// Predicts a row, which has no targets; `variance` asks for variances, too.
    ///
    /// # Errors
    /// If the row cannot be predicted.
    fn predict(&self, row: &Row, variance: bool) -> Result<Prediction, Reason>;

    /// The cells of a row that are read otherwise than they stand, by the model as it is now, with
    /// the places of their columns in [`Schema::columns`].
    fn odd(&self, row: &Row) -> Vec<(usize, Oddity)>;

    /// Refuses rows that the options of the service do not let in. It is asked before they are
    /// written to the journal; rows of the journal are learnt whatever the options are now.
    ///
    /// # Errors
    /// The place of the first such row, and why it is refused.
    fn screen(&self, _rows: &[Row]) -> Result<(), (usize, Reason)> {
        Ok(())
    }

    /// Learns a row, and tells what was predicted for it before. It depends on the row and the
    /// model alone, and on no option.
    ///
    /// # Errors
    /// If the row is refused. The model must then be what it was.
    fn learn(&mut self, row: &Row) -> Result<Prediction, Reason>;

    /// The losses of this model and of another that learns the same rows, if there is one.
    fn compared(&self) -> Option<Compared> {
        None
    }

    /// The modes of an operator, with what is known of them; `None` of other models.
    fn modes(&self) -> Option<&Json> {
        None
    }

    /// The functions of the modes at states, real and imaginary part of each, with sets if they are
    /// asked for. It is asked for where [`Schema::states`] are.
    ///
    /// # Errors
    /// When there are no such sets.
    fn functions(&self, _asked: &FunctionQuery) -> Result<Json, Reason> {
        Err("this model is no operator".into())
    }

    /// Remarks on the rows learnt since the service began: a cause, as a name for programs, and a
    /// text for people. They are asked for at each doubling of the rows.
    fn remarks(&self) -> Vec<(&'static str, String)>;

    /// The function that forecasts the rows after the last one learnt, from a copy of the state. It
    /// is asked for where [`Schema::series`] is set.
    fn forecast(&self) -> Forecast;

    /// The function that explains the predictions for rows: of several numbers the one with that
    /// place in [`Schema::outputs`]. It is asked for where [`Schema::explains`] is set.
    fn explain(&self, _rows: &[Row], _output: usize) -> Explain {
        Box::new(|| Err((0, "this model does not tell effects of columns".into())))
    }

    /// The bytes of the model's file.
    ///
    /// # Errors
    /// If it cannot be written, since it holds an infinite number, for example.
    fn to_bytes(&self) -> Result<Vec<u8>, Reason>;
}

/// The columns of a model, as requests name them, and what is told of it.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The name of the learner.
    pub learner: String,
    /// Other facts about it, such as its kernel; may be empty.
    pub details: String,
    /// Name of the loss that [`Standing::loss`] sums, such as `mean squared error`.
    pub loss: String,
    /// The columns beside targets and weight, in their order.
    pub columns: Vec<Column>,
    /// True if rows may be objects by the names of columns, which then differ from each other; if
    /// not, they are arrays.
    pub named: bool,
    /// Number of steps ahead that a series can be forecast. Its columns are its outputs and inputs,
    /// and it has no targets.
    pub series: Option<usize>,
    /// The inputs of a series, whose values in the rows to come a forecast is told.
    pub known: Vec<String>,
    /// True if forecasts of a series are told by their parts, with the effects of inputs and the
    /// rows that lay outside of their bands.
    pub tells_parts: bool,
    /// The names of the targets.
    pub targets: Vec<String>,
    /// Names of the numbers predicted: the targets, or the outputs of a series.
    pub outputs: Vec<String>,
    /// The column of weights, if rows have weights.
    pub weight: Option<String>,
    /// The classes known at the start, if the one target is a class.
    pub classes: Option<Vec<String>>,
    /// True if predictions of classes have probabilities.
    pub has_probabilities: bool,
    /// The share of targets that the intervals of predicted numbers are to hold; none if these
    /// have no intervals.
    pub interval_share: Option<f64>,
    /// True if predictions of numbers have variances when they are asked for.
    pub has_variance: bool,
    /// True if predictions can be explained.
    pub explains: bool,
    /// The numbers of a state of an operator, which has [`Model::modes`] and [`Model::functions`];
    /// none of other models.
    pub states: Vec<String>,
}

/// A column beside targets and weight.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Values that it takes.
    pub takes: Takes,
    /// Description of it, if it is more than a plain number.
    pub about: String,
    /// True if it has a say in predictions, and so must be told.
    pub needed: bool,
    /// Its most frequent categories, to be shown as examples.
    pub categories: Vec<String>,
}

/// Values that a column takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// A number.
    Number,
    /// A number, or null.
    NumberOrNull,
    /// Any number, text or null, of what is called so: `category`, for example.
    Any(String),
    /// The time of a row, which comes behind the last one. Rows may leave it out: the column stands
    /// behind all others.
    Time,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// There is none.
    Missing,
    /// A number within ±1e100: its square is far from the largest `f64`, so that a learner is not
    /// made to diverge by one row.
    Number(f64),
    /// A text.
    Text(String),
    /// A truth value.
    Truth(bool),
    /// A list of texts or an object, as its JSON text.
    List(String),
}

impl Value {
    /// The number, or NaN if it is none.
    pub fn number(&self) -> f64 {
        if let Self::Number(number) = self { *number } else { f64::NAN }
    }
}

/// A row of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// A value for each of [`Schema::columns`].
    pub values: Vec<Value>,
    /// A value for each of [`Schema::targets`]: a number, or a number or a text that is not blank
    /// of a class; empty if the row is to be predicted.
    pub targets: Vec<Value>,
    /// Its weight, at least 0; 1 if rows have none.
    pub weight: f64,
}

impl Row {
    /// The bytes that it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let text = |value: &Value| if let Value::Text(text) | Value::List(text) = value { text.capacity() } else { 0 };
        let values = self.values.iter().chain(&self.targets);
        size_of::<Self>() + values.map(|value| size_of::<Value>() + text(value)).sum::<usize>()
    }
}

/// The fields of an answer that tell how many cells of its rows were odd, column by column, with a
/// comma before; nothing where no cell was.
pub(crate) fn odd_fields(odd: &OddCells, schema: &Schema) -> String {
    if odd.columns().is_empty() {
        return String::new();
    }
    let column = |(place, counts): &(usize, [u64; Oddity::ALL.len()])| -> Json {
        let name = schema.columns.get(*place).map_or_else(String::new, |column| column.name.clone());
        let counts =
            Oddity::ALL.into_iter().zip(counts).map(|(oddity, count)| (oddity.name().to_owned(), json!(count)));
        Json::Object(std::iter::once(("name".to_owned(), json!(name))).chain(counts).collect())
    };
    let columns: Json = odd.columns().iter().map(column).collect();
    let counts: Json = odd.totals().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
    format!(",\"columns\":{columns},\"counts\":{counts}")
}

/// Kinds of alarms of what is watched.
pub const ALARMS: [&str; 4] = ["rows", "inputs", "errors", "target"];

/// State of a model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// Rows that it has met in its life.
    pub met: u64,
    /// A checksum of these rows, by which a journal knows its model; 0 if there is none.
    pub fingerprint: u32,
    /// Number of these rows that it has learnt.
    pub rounds: u64,
    /// The sum of their weights.
    pub weight: f64,
    /// The sum of the losses of predictions made before learning, by weight.
    pub loss: f64,
    /// Points that it keeps, or rows that a forecaster looks back.
    pub size: usize,
    /// Rows whose targets were taken for errors of measurement.
    pub implausible: u64,
    /// Alarms of the kinds [`ALARMS`] since the service began.
    pub alarms: [u64; ALARMS.len()],
}

impl Standing {
    /// The mean loss of the rows since `before`; not a number where none had a weight.
    #[must_use]
    pub fn loss_since(&self, before: &Self) -> f64 {
        (self.loss - before.loss) / (self.weight - before.weight)
    }
}

/// Prediction for a row.
#[derive(Clone, Debug)]
pub enum Prediction {
    /// Numbers, one for each of [`Schema::outputs`].
    Numbers {
        /// The numbers predicted.
        values: Vec<f64>,
        /// The lower ends of the intervals, NaN where there is none yet; empty if the model has no
        /// intervals.
        lower: Vec<f64>,
        /// The upper ends.
        upper: Vec<f64>,
        /// The variances; empty if there are none, or if they were not asked for.
        variance: Vec<f64>,
        /// True for the values learnt that lay outside of the band of [`Schema::tells_parts`];
        /// empty if there is none.
        anomaly: Vec<bool>,
    },
    /// A class.
    Class {
        /// Its name; none before the first class is known.
        name: Option<String>,
        /// The probabilities by name.
        probabilities: Vec<(String, f64)>,
        /// Score of two classes: positive for the later one in sorted order.
        score: Option<f64>,
    },
}

impl Prediction {
    /// The object that tells it; what is not finite is null.
    pub(crate) fn json(&self, schema: &Schema, variance: bool) -> Json {
        let each = |values: &[f64]| if let [one] = values { json!(one) } else { json!(values) };
        let mut told = match self {
            Self::Numbers { values, lower, upper, anomaly, .. } => {
                let mut told = json!({ "prediction": each(values) });
                match anomaly[..] {
                    [] => {}
                    [one] => told["anomaly"] = json!(one),
                    _ => told["anomaly"] = json!(anomaly),
                }
                if schema.interval_share.is_some() {
                    told["lower"] = each(lower);
                    told["upper"] = each(upper);
                }
                told
            }
            Self::Class { name, probabilities, score } => {
                let mut told = json!({ "prediction": name });
                if schema.has_probabilities {
                    told["probabilities"] = probabilities.iter().cloned().collect();
                }
                if let Some(score) = score {
                    told["score"] = json!(score);
                }
                told
            }
        };
        if variance {
            told["variance"] = match self {
                Self::Numbers { variance, .. } if !variance.is_empty() => each(variance),
                _ => Json::Null,
            };
        }
        told
    }
}

impl Schema {
    /// The names of the columns, the targets and the weight.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().map(|column| &column.name).chain(&self.targets).chain(&self.weight)
    }

    /// Number of values in a row that is an array, to predict or to learn; a row with a time may
    /// leave it out.
    pub(crate) fn widths(&self, learn: bool) -> RangeInclusive<usize> {
        let width =
            self.columns.len() + if learn { self.targets.len() + usize::from(self.weight.is_some()) } else { 0 };
        let timed = self.columns.last().is_some_and(|column| column.takes == Takes::Time);
        width - usize::from(timed)..=width
    }
}
