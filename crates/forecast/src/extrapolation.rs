//! The line through the last two outputs, as a floor for series with a drift.

use mercer_core::{Inconsistent, Validate};

use crate::Error;
use crate::forecaster::{check_observation, check_prediction, impute};
use crate::{Epoch, ForecastScratch, Forecaster};

/// Predicts `2y_{k−1} − y_{k−2}`, and before there are two outputs the last one, or zeros. Inputs
/// are taken and not used.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinearExtrapolation {
    last: Vec<f64>,
    before: Vec<f64>,
    inputs: usize,
    time: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    kept: Vec<f64>,
}

impl LinearExtrapolation {
    /// A predictor of `outputs` numbers.
    #[must_use]
    pub fn new(outputs: usize) -> Self {
        Self::with_inputs(outputs, 0)
    }

    /// The same for a system with `inputs` numbers of input.
    #[must_use]
    pub fn with_inputs(outputs: usize, inputs: usize) -> Self {
        Self { last: vec![0.0; outputs], before: vec![0.0; outputs], inputs, time: 0, kept: Vec::new() }
    }
}

impl Validate for LinearExtrapolation {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::size(self.inputs, "number of inputs")?;
        self.last.validate()?;
        self.before.validate()?;
        let fits = self.last.len() == self.before.len() && self.time < usize::MAX / 4;
        Inconsistent::require(fits, "linear extrapolation", "it has two values of each output")
    }
}

impl Forecaster for LinearExtrapolation {
    fn outputs(&self) -> usize {
        self.last.len()
    }
    fn inputs(&self) -> usize {
        self.inputs
    }
    fn feed_through(&self) -> bool {
        false
    }
    fn time(&self) -> usize {
        self.time
    }
    fn warmed_up(&self) -> bool {
        self.time >= 2
    }
    fn lags(&self) -> usize {
        2
    }
    fn epochs(&self) -> &[Epoch] {
        &[]
    }
    fn predict_with(&self, input: &[f64], prediction: &mut [f64], _: &mut ForecastScratch) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        for ((prediction, last), before) in prediction.iter_mut().zip(&self.last).zip(&self.before) {
            *prediction = if self.time < 2 { *last } else { 2.0 * last - before };
        }
        Ok(())
    }
    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_observation(self, input, output)?;
        self.predict_with(input, prediction, &mut ForecastScratch::default())?;
        impute(output, prediction, &mut self.kept)?;
        self.before.copy_from_slice(&self.last);
        self.last.copy_from_slice(&self.kept);
        self.time += 1;
        Ok(())
    }
    crate::forecaster::by_missing!();
}
