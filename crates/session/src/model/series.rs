//! A forecaster in a file.

use mercer_core::{Inconsistent, Validate};
use mercer_forecast::{AnyForecaster, ConformalIntervals, Forecaster, HorizonIntervals};
use serde::{Deserialize, Serialize};

use super::{ModelError, ModelKind, Own, RowDigest, check_names, frame};

/// A forecaster in a file, with all that is needed to go on in the midst of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// The method's name.
    pub method: String,
    /// What it was made of: keys with their values, which the command writes as JSON.
    pub parameters: Vec<(String, String)>,
    /// What the program that made it keeps for itself.
    pub own: Own,
    /// The names of outputs and then of inputs, if the series had names.
    pub columns: Vec<String>,
    /// Where the inputs stand in a row, counted from 0, in the forecaster's order; the outputs are
    /// the other columns. Empty if the inputs stand behind the outputs.
    pub inputs: Vec<u32>,
    /// The [fingerprint](RowDigest) of all rows observed.
    pub fingerprint: u32,
    /// How its predictions fared.
    pub errors: SeriesErrors,
    /// Intervals around its predictions.
    pub intervals: Option<ConformalIntervals>,
    /// Intervals around its forecasts of two and more steps.
    pub further: Option<HorizonIntervals>,
    /// The forecaster.
    pub forecaster: AnyForecaster,
}

/// Errors of predictions that were made before the outputs were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesErrors {
    /// Rows at the beginning whose errors do not count.
    pub warm_up: u64,
    /// Values that counted.
    pub scored: u64,
    /// The sum of their squared errors.
    pub sum: f64,
}

impl Prediction {
    /// A forecaster of which nothing more is known: its inputs stand behind its outputs, and its
    /// errors were not counted.
    #[must_use]
    pub fn new(columns: Vec<String>, forecaster: AnyForecaster) -> Self {
        Self {
            method: forecaster.name().to_owned(),
            parameters: Vec::new(),
            own: Own::new(),
            columns,
            inputs: Vec::new(),
            fingerprint: 0,
            errors: SeriesErrors::default(),
            intervals: None,
            further: None,
            forecaster,
        }
    }

    /// The rows observed.
    #[must_use]
    pub fn seen(&self) -> RowDigest {
        RowDigest { rows: self.forecaster.time() as u64, fingerprint: self.fingerprint }
    }

    /// [`Model::to_bytes`](super::Model::to_bytes) without a model around it.
    ///
    /// # Errors
    /// As [`Model::to_bytes`](super::Model::to_bytes).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::Prediction, self)
    }
}

impl Validate for Prediction {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.forecaster.validate()?;
        let (m, q) = (self.forecaster.outputs(), self.forecaster.inputs());
        check_names(&self.columns, m + q)?;
        let mut places = self.inputs.clone();
        places.sort_unstable();
        places.dedup();
        let distinct = places.len() == self.inputs.len() && (self.inputs.is_empty() || self.inputs.len() == q);
        let inside = places.last().is_none_or(|last| (*last as usize) < m + q);
        Inconsistent::require(distinct && inside, "list of inputs", "each has a column of its own")?;
        let SeriesErrors { scored, sum, .. } = self.errors;
        Inconsistent::non_negative(sum, "sum of squared errors")?;
        let values = (self.forecaster.time() as u64).checked_mul(m as u64);
        Inconsistent::require(
            values.is_some_and(|values| scored <= values),
            "count of errors",
            "they are of the past",
        )?;
        if let Some(intervals) = &self.intervals {
            intervals.validate()?;
            Inconsistent::require(intervals.outputs() == m, "intervals", "there is one for each output")?;
        }
        if let Some(further) = &self.further {
            further.validate()?;
            Inconsistent::require(further.outputs() == m, "intervals", "there is one for each output")?;
            // Forecasts of several steps need no inputs.
            Inconsistent::require(q == 0, "intervals", "those of several steps are of a series without inputs")?;
        }
        Ok(())
    }
}
