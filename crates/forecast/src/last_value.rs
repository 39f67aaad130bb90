//! The last output, as a floor: whatever learns should do better.

use mercer_core::{Inconsistent, Validate};

use crate::Error;
use crate::forecaster::{check_observation, check_prediction, impute};
use crate::{Epoch, ForecastScratch, Forecaster};

/// Predicts `y_{k−1}`, and zeros before the first output. Inputs are taken and not used.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LastValue {
    last: Vec<f64>,
    inputs: usize,
    time: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    kept: Vec<f64>,
}

impl LastValue {
    /// A predictor of `outputs` numbers.
    #[must_use]
    pub fn new(outputs: usize) -> Self {
        Self::with_inputs(outputs, 0)
    }

    /// The same for a system with `inputs` numbers of input.
    #[must_use]
    pub fn with_inputs(outputs: usize, inputs: usize) -> Self {
        Self { last: vec![0.0; outputs], inputs, time: 0, kept: Vec::new() }
    }
}

impl Validate for LastValue {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::size(self.inputs, "number of inputs")?;
        Inconsistent::require(self.time < usize::MAX / 4, "last value", "its time can be counted")?;
        self.last.validate()
    }
}

impl Forecaster for LastValue {
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
        true
    }
    fn lags(&self) -> usize {
        1
    }
    fn epochs(&self) -> &[Epoch] {
        &[]
    }
    fn predict_with(&self, input: &[f64], prediction: &mut [f64], _: &mut ForecastScratch) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        prediction.copy_from_slice(&self.last);
        Ok(())
    }
    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_observation(self, input, output)?;
        self.predict_with(input, prediction, &mut ForecastScratch::default())?;
        impute(output, prediction, &mut self.kept)?;
        self.last.copy_from_slice(&self.kept);
        self.time += 1;
        Ok(())
    }
    crate::forecaster::by_missing!();
}
