//! Around the model that is served: which rows it takes, and whether its losses have changed.

use clap::Args;
use mercer_serve::{
    ALARMS, Explain, Forecast, FunctionQuery, Model, Oddity, Prediction, Reason, Row, Schema, Standing,
};

use mercer_session::AlarmKind;
use mercer_watch::{RiseParams, Rises};

use crate::arguments::alarm_rate::AlarmRate;
use crate::report::failure::Failure;

/// Numbers from the first to the second.
type Bounds = [f64; 2];

/// Rows that are let in.
#[derive(Args, Clone, Copy)]
pub(super) struct Screens {
    /// Refuse a row whose target lies outside
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true, value_parser = range)]
    target_range: Option<Bounds>,
    /// Refuse a row with an input outside: one number far beyond all others can spoil a model with
    /// an unbounded kernel for good
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true, value_parser = range)]
    input_range: Option<Bounds>,
    /// Refuse a row whose weight is larger
    #[arg(long, value_name = "WEIGHT", value_parser = weight)]
    max_weight: Option<f64>,
    #[command(flatten)]
    pub(super) watching: ServeWatch,
}

/// What is watched.
#[derive(Args, Clone, Copy)]
pub(super) struct ServeWatch {
    /// Watch the rows and the target, too, and not only the losses: mercer_watch_alarms_total in
    /// the metrics counts rows unlike those before, changes of inputs and target, and risen errors
    #[arg(long)]
    pub(super) watch: bool,
    /// How often a false alarm may come, of all kinds together: 1/ROWS, or a share of the rows
    #[arg(long, value_name = "RATE", default_value = "1/10000")]
    alarm_rate: AlarmRate,
}

impl ServeWatch {
    /// Rows to a false alarm of one kind, so that all kinds together keep the rate.
    pub(super) fn rows_to_an_alarm(&self) -> f64 {
        self.alarm_rate.rows * if self.watch { ALARMS.len() as f64 } else { 1.0 }
    }
}

fn weight(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|weight| *weight > 0.0).ok_or("give a number above 0, such as 10")
}

/// Two numbers with a colon between.
fn range(text: &str) -> Result<Bounds, &'static str> {
    let numbers = text.split_once(':').and_then(|(low, high)| Some([low.parse().ok()?, high.parse().ok()?]));
    numbers.filter(|[low, high]| low < high).ok_or("give two numbers, the smaller first, such as -10:50")
}

/// A model that is looked after.
pub(super) struct ScreenedModel {
    model: Box<dyn Model>,
    screens: Screens,
    columns: Vec<String>,
    /// The places of the outputs among the columns of a series.
    outputs: Vec<usize>,
    losses: Rises,
    rises: u64,
}

impl ScreenedModel {
    /// # Errors
    /// If the rate of alarms is none that a detector takes.
    pub(super) fn new(model: Box<dyn Model>, screens: Screens) -> Result<Self, Failure> {
        let Schema { columns, outputs, targets, .. } = model.schema();
        let columns: Vec<String> = columns.into_iter().map(|column| column.name).collect();
        let is_output = |name: &String| targets.is_empty() && outputs.contains(name);
        let outputs = (0..columns.len()).filter(|place| is_output(&columns[*place])).collect();
        let params = RiseParams::default().rows_to_a_false_alarm(screens.watching.rows_to_an_alarm());
        let losses = Rises::new(params).map_err(|error| Failure::usage(format!("--alarm-rate: {error}")))?;
        Ok(Self { model, screens, columns, outputs, losses, rises: 0 })
    }

    /// Refuses numbers that lie outside; a class is never refused.
    fn check(&self, row: &Row) -> Result<(), Reason> {
        let Screens { target_range, input_range, max_weight, .. } = self.screens;
        let of_series = self.outputs.iter().map(|place| &row.values[*place]);
        for value in row.targets.iter().chain(of_series).map(mercer_serve::Value::number) {
            if let Some([low, high]) = target_range.filter(|[low, high]| value < *low || value > *high) {
                return Err(format!("the target {value} lies outside --target-range {low}:{high}; correct it").into());
            }
        }
        let inputs = row.values.iter().enumerate().filter(|(place, _)| !self.outputs.contains(place));
        for (place, value) in inputs.map(|(place, value)| (place, value.number())) {
            if let Some([low, high]) = input_range.filter(|[low, high]| value < *low || value > *high) {
                let name = &self.columns[place];
                return Err(format!("{name:?} is {value}, outside --input-range {low}:{high}; correct it").into());
            }
        }
        match max_weight {
            Some(most) if row.weight > most => {
                Err(format!("the weight {} is above --max-weight {most}; correct it", row.weight).into())
            }
            _ => Ok(()),
        }
    }
}

impl Model for ScreenedModel {
    fn schema(&self) -> Schema {
        self.model.schema()
    }

    fn standing(&self) -> Standing {
        let mut standing = self.model.standing();
        for (alarms, kind) in standing.alarms.iter_mut().zip(ALARMS) {
            *alarms += if kind == AlarmKind::Errors.name() { self.rises } else { 0 };
        }
        standing
    }

    fn predict(&self, row: &Row, variance: bool) -> Result<Prediction, Reason> {
        self.model.predict(row, variance)
    }

    fn odd(&self, row: &Row) -> Vec<(usize, Oddity)> {
        self.model.odd(row)
    }

    fn screen(&self, rows: &[Row]) -> Result<(), (usize, Reason)> {
        let refused = rows.iter().enumerate().find_map(|(at, row)| Some((at, self.check(row).err()?)));
        self.model.screen(&rows[..refused.as_ref().map_or(rows.len(), |(at, _)| *at)])?;
        refused.map_or(Ok(()), Err)
    }

    fn learn(&mut self, row: &Row) -> Result<Prediction, Reason> {
        let before = self.model.standing();
        let prediction = self.model.learn(row)?;
        let loss = self.model.standing().loss_since(&before);
        // Losses are squared errors, whose sizes have lighter tails.
        if loss.is_finite() && self.losses.learn(loss.abs().sqrt()).is_some() {
            self.rises += 1;
        }
        Ok(prediction)
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        self.model.remarks()
    }

    fn forecast(&self) -> Forecast {
        self.model.forecast()
    }

    fn modes(&self) -> Option<&serde_json::Value> {
        self.model.modes()
    }

    fn functions(&self, asked: &FunctionQuery) -> Result<serde_json::Value, Reason> {
        self.model.functions(asked)
    }

    fn explain(&self, rows: &[Row], output: usize) -> Explain {
        self.model.explain(rows, output)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Reason> {
        self.model.to_bytes()
    }
}
