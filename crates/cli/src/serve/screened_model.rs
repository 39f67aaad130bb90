//! Around the model that is served: which targets it takes, and whether its losses have changed.

use mercer_experts::{Adwin, ChangeDetector};
use mercer_serve::{Forecast, Model, Oddity, Prediction, Reason, Row, Schema, Standing};

/// Targets from the first to the second.
pub(super) type TargetRange = [f64; 2];

/// Two numbers with a colon between.
pub(super) fn range(text: &str) -> Result<TargetRange, &'static str> {
    let numbers = text.split_once(':').and_then(|(low, high)| Some([low.parse().ok()?, high.parse().ok()?]));
    numbers.filter(|[low, high]| low < high).ok_or("give two numbers, the smaller first, such as -10:50")
}

/// A model that is looked after.
pub(super) struct ScreenedModel {
    model: Box<dyn Model>,
    range: Option<TargetRange>,
    /// The places of the outputs among the columns of a series.
    outputs: Vec<usize>,
    losses: Adwin,
    changes: u64,
}

impl ScreenedModel {
    pub(super) fn new(model: Box<dyn Model>, range: Option<TargetRange>) -> Self {
        let Schema { columns, outputs, targets, .. } = model.schema();
        let columns = columns.into_iter().map(|column| column.name).enumerate();
        let columns = columns.filter(|(_, name)| targets.is_empty() && outputs.contains(name));
        let outputs = columns.map(|(place, _)| place).collect();
        Self { model, range, outputs, losses: Adwin::default(), changes: 0 }
    }

    /// Refuses a target that lies outside; a class is never refused.
    fn check(&self, row: &Row) -> Result<(), Reason> {
        let Some([low, high]) = self.range else { return Ok(()) };
        let of_series = self.outputs.iter().map(|place| &row.values[*place]);
        for value in row.targets.iter().chain(of_series).map(mercer_serve::Value::number) {
            if value < low || value > high {
                return Err(format!("the target {value} lies outside --target-range {low}:{high}; correct it").into());
            }
        }
        Ok(())
    }
}

impl Model for ScreenedModel {
    fn schema(&self) -> Schema {
        self.model.schema()
    }

    fn standing(&self) -> Standing {
        Standing { changes: self.changes, ..self.model.standing() }
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
        let after = self.model.standing();
        let loss = (after.loss - before.loss) / (after.weight - before.weight);
        if loss.is_finite() && self.losses.observe(loss) {
            self.changes += 1;
        }
        Ok(prediction)
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        self.model.remarks()
    }

    fn forecast(&self) -> Forecast {
        self.model.forecast()
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Reason> {
        self.model.to_bytes()
    }
}
