//! Forecasters in units of the series' own, so that no result depends on the units in which its
//! columns are written.
//!
//! A regulariser `λ` has the square of a unit. Here the columns are divided by scales that the
//! series itself tells, and `λ` is a number without a unit in the forecaster inside: to it a column
//! looks alike in metres and in millimetres. The scale of a column is
//!
//! ```text
//! s = √max(δ, 2⁻⁴⁰ υ),   δ = mean (y_k − y_{k−1})²,   υ = mean y_k²,   1 if all of it is zero
//! ```
//!
//! over its first rows: the error of the last value as a prediction, which is of the size of the
//! noise that a regularised regression weighs its coefficients against, and not the level, however
//! far from zero that lies. The bound keeps a series that hardly moves apart from the rounding of
//! its numbers.
//!
//! Until the scales are known the last value is predicted, and the rows are kept; then they are
//! told to the forecaster inside, one after the other, and forgotten. So it is as if it had known
//! the scales from the beginning. Series that differ by powers of two in any column have
//! predictions that differ by them, bit for bit.
//!
//! Cost: a division or multiplication a number, beside the forecaster inside.

use mercer_core::{Inconsistent, ParameterError, Validate, parameters, validate_nested};

use crate::Error;
use crate::forecaster::{check_observation, check_prediction};
use crate::{Epoch, ForecastScratch, Forecaster, LastValue};

/// Rows that scales are learnt from at most.
const MOST_ROWS: usize = 1024;

/// Least share of a column's mean square that is added to that of its differences: 2⁻⁴⁰.
const LEAST_SHARE: f64 = 1.0 / (1_u64 << 40) as f64;

parameters! {
    /// Parameters of [`ScaledForecaster`].
    #[derive(Copy, Eq)]
    pub struct ScaledParams {
        /// Rows that the scales are learnt from, at least 1; more than 1024 count as 1024. The
        /// warm-up of the forecaster inside should not be shorter, for the last value is predicted
        /// until then.
        rows: usize = 61,
        /// True if all outputs are divided by one scale, the smallest of theirs. A forecaster wants
        /// this if its parameters mix the outputs (a matrix of forgetting factors that is not
        /// diagonal). Inputs have scales of their own all the same.
        shared: bool = false,
    }
}

/// A forecaster that sees every column in units of its own.
///
/// # Invariants
/// While the scales are open, `inner` has observed nothing and `kept` holds the rows so far,
/// outputs before inputs, with the last value in the place of what `missing` marks. Later both are
/// empty and `last` stays behind.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "F: serde::Deserialize<'de>")))]
pub struct ScaledForecaster<F> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    inner: F,
    params: ScaledParams,
    /// Scales of the outputs and then of the inputs; empty while they are open.
    scales: Vec<f64>,
    last: LastValue,
    kept: Vec<f64>,
    missing: Vec<bool>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Vec<f64>,
}

impl<F: Forecaster + Clone> ScaledForecaster<F> {
    /// `inner`, which has observed nothing, behind scales.
    ///
    /// # Errors
    /// When `rows` is 0, or `inner` has observed something.
    pub fn new(inner: F, params: ScaledParams) -> Result<Self, Error> {
        let rows = ParameterError::at_least_one("rows", params.rows)?.min(MOST_ROWS);
        let time = inner.time();
        ParameterError::require(time == 0, "inner", "a forecaster that has observed nothing", time as f64)?;
        let last = LastValue::with_inputs(inner.outputs(), inner.inputs());
        let params = params.rows(rows);
        Ok(Self { inner, params, scales: Vec::new(), last, kept: Vec::new(), missing: Vec::new(), work: Vec::new() })
    }

    /// The scales of the outputs and then of the inputs; none while they are open.
    #[must_use]
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// The forecaster inside.
    #[must_use]
    pub fn inner(&self) -> &F {
        &self.inner
    }

    fn open(&self) -> bool {
        self.scales.is_empty()
    }

    fn width(&self) -> usize {
        self.inner.outputs() + self.inner.inputs()
    }

    /// The row that ends the learning of the scales has been kept: tells all rows to a copy of the
    /// forecaster inside.
    fn settle(&mut self) -> Result<(), Error> {
        let (m, width) = (self.inner.outputs(), self.width());
        let mut scales: Vec<f64> = (0..width).map(|column| self.scale(column)).collect();
        if self.params.shared {
            let least = scales[..m].iter().copied().fold(f64::INFINITY, f64::min);
            scales[..m].fill(least);
        }
        let mut inner = self.inner.clone();
        let (mut row, mut prediction) = (vec![0.0; width], vec![0.0; m]);
        for (kept, missing) in self.kept.chunks_exact(width).zip(self.missing.chunks_exact(width)) {
            for ((value, kept), (missing, scale)) in row.iter_mut().zip(kept).zip(missing.iter().zip(&scales)) {
                *value = if *missing { f64::NAN } else { kept / scale };
            }
            let (output, input) = row.split_at(m);
            inner.predict_then_observe(input, output, &mut prediction)?;
        }
        (self.inner, self.scales, self.kept, self.missing) = (inner, scales, Vec::new(), Vec::new());
        Ok(())
    }

    /// The scale of a column of the rows kept. Its largest number is taken out first, that no
    /// square leaves the range of numbers.
    fn scale(&self, column: usize) -> f64 {
        let width = self.width();
        let rows = self.kept.chunks_exact(width).zip(self.missing.chunks_exact(width));
        let present = || rows.clone().filter(|(_, missing)| !missing[column]).map(|(kept, _)| kept[column]);
        let largest = present().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        if largest == 0.0 {
            return 1.0;
        }
        let (mut squares, mut count, mut steps, mut previous) = (0.0, 0.0, 0.0, None);
        for value in present().map(|value| value / largest) {
            squares += value * value;
            count += 1.0;
            if let Some(previous) = previous {
                steps += (value - previous) * (value - previous);
            }
            previous = Some(value);
        }
        let step = if count > 1.0 { steps / (count - 1.0) } else { 0.0 };
        // The smallest numbers have no fractions.
        let scale = largest * (step.max(LEAST_SHARE * squares / count)).sqrt();
        if scale > f64::MIN_POSITIVE { scale } else { 1.0 }
    }
}

/// In units of the series again; a number beyond the largest is the largest.
fn unscale(prediction: &mut [f64], scales: &[f64]) {
    for (value, scale) in prediction.iter_mut().zip(scales) {
        *value = (*value * scale).clamp(-f64::MAX, f64::MAX);
    }
}

impl<F: Forecaster + Validate> Validate for ScaledForecaster<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "forecaster behind scales";
        validate_nested(|| self.inner.validate())?;
        self.last.validate()?;
        let (m, q) = (self.inner.outputs(), self.inner.inputs());
        let width = m.saturating_add(q);
        let same = (self.last.outputs(), self.last.inputs()) == (m, q);
        Inconsistent::require(same && width > 0, WHAT, "it remembers the last row")?;
        let rows = self.params.rows;
        Inconsistent::require((1..=MOST_ROWS).contains(&rows), WHAT, "it learns its scales from some rows")?;
        self.kept.validate()?;
        let scaled = self.scales.iter().all(|scale| *scale > 0.0 && scale.is_finite());
        let whole = if self.scales.is_empty() {
            let kept = self.last.time().checked_mul(width) == Some(self.kept.len());
            kept && self.kept.len() == self.missing.len() && self.last.time() < rows && self.inner.time() == 0
        } else {
            self.scales.len() == width && self.kept.is_empty() && self.missing.is_empty() && self.inner.time() >= rows
        };
        Inconsistent::require(scaled && whole, WHAT, "it has the rows of its beginning, or a scale for each column")
    }
}

impl<F: Forecaster + Clone> Forecaster for ScaledForecaster<F> {
    fn outputs(&self) -> usize {
        self.inner.outputs()
    }
    fn inputs(&self) -> usize {
        self.inner.inputs()
    }
    fn feed_through(&self) -> bool {
        self.inner.feed_through()
    }
    fn time(&self) -> usize {
        if self.open() { self.last.time() } else { self.inner.time() }
    }
    fn warmed_up(&self) -> bool {
        !self.open() && self.inner.warmed_up()
    }
    fn lags(&self) -> usize {
        self.inner.lags()
    }
    fn epochs(&self) -> &[Epoch] {
        self.inner.epochs()
    }

    fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        if self.open() {
            return self.last.predict_with(&[], prediction, scratch);
        }
        let (outputs, inputs) = self.scales.split_at(self.inner.outputs());
        scratch.with_buffer(|scaled, scratch| {
            if self.feed_through() {
                scaled.extend(input.iter().zip(inputs).map(|(value, scale)| value / scale));
            }
            self.inner.predict_with(scaled, prediction, scratch)
        })?;
        unscale(prediction, outputs);
        Ok(())
    }

    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        check_observation(self, input, output)?;
        let m = output.len();
        if !self.open() {
            self.work.clear();
            self.work.extend(output.iter().chain(input).zip(&self.scales).map(|(value, scale)| value / scale));
            let (output, input) = self.work.split_at(m);
            self.inner.predict_then_observe(input, output, prediction)?;
            unscale(prediction, &self.scales[..m]);
            return Ok(());
        }
        let (before, last) = (self.kept.len(), self.last.clone());
        self.last.predict_then_observe(input, output, prediction)?;
        let imputed = output.iter().zip(&*prediction).map(|(y, last)| if y.is_nan() { *last } else { *y });
        self.kept.extend(imputed.chain(input.iter().copied()));
        self.missing.extend(output.iter().chain(input).map(|value| value.is_nan()));
        if self.last.time() < self.params.rows {
            return Ok(());
        }
        let settled = self.settle();
        if settled.is_err() {
            self.kept.truncate(before);
            self.missing.truncate(before);
            self.last = last;
        }
        settled
    }
    crate::forecaster::by_missing!();
}
