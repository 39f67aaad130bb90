//! SLIP over a growing window: the filters of [`Slip`](crate::Slip) on the last `p` outputs, `p`
//! and the epochs as in [`Opf`](crate::Opf).
//!
//! The features `f = WᵀZ` are linear in the lags, `W` holding `σ_j^{1/4} φ_j` for each channel. So
//! when an epoch begins, nothing of the past is needed but the factor of the lags: with
//! `RᵀR = λ₀I + Σ ZZᵀ` and `U = R⁻ᵀ Σ Zyᵀ`, the rows `(R_i W, U_i)` upon the prior `λI − λ₀WᵀW`
//! make up `λI + Σ ffᵀ` and `Σ fyᵀ` exactly. Memory does not grow with the series.
//!
//! Cost a step: `1½N²` for the lags (`N = (m + q) · max_lags`), `(m + q)kp` to filter and `1½n²`,
//! `n = (m + q)k`, for the features; the beginning of an epoch computes its filters, `O(p³)`, and
//! allocates.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate, parameters};
use mercer_linalg_incremental::{AlignedVec, SquareRootRls};

use crate::Error;
use crate::filters::{Bank, Hankel};
use crate::forecaster::{check_finite, check_observation, check_prediction};
use crate::lag_regression::{LagRegression, Weighting, check_lambda};
use crate::lags::SystemShape;
use crate::{Epoch, EpochSchedule, ForecastScratch, Forecaster, Forgetting};

/// The lags' own regulariser, as a part of `λ`: what it weighs through the filters, `λ₀WᵀW`, must
/// stay below `λ`, and the eigenvalues of the Hankel matrix, whose roots are on the diagonal of
/// `WᵀW`, are below `π`.
const LAG_SHARE: f64 = 0.25;

parameters! {
    /// Parameters of [`WindowedSlip`].
    #[derive(Copy)]
    pub struct WindowedSlipParams {
        /// Epochs and lags.
        schedule: EpochSchedule = EpochSchedule::default(),
        /// Regulariser `λ`, between 1e−40 and 1e40.
        lambda: f64 = 1.0,
        /// Filters `k ≥ 1`; never more than lags.
        rank: usize = 10,
    }
}

/// Ridge regression upon a window of outputs, filtered.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WindowedSlip {
    lags: LagRegression,
    lambda: f64,
    rank: usize,
    /// There from the end of the warm-up on.
    filtered: Option<EpochFeatures>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: ForecastScratch,
}

/// The filters of an epoch and the regression upon them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct EpochFeatures {
    shape: SystemShape,
    lags: usize,
    bank: Bank,
    factor: SquareRootRls,
}

impl WindowedSlip {
    /// A predictor of `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: &WindowedSlipParams) -> Result<Self, Error> {
        Self::with_inputs(outputs, 0, false, params)
    }

    /// The same for a system with `inputs` numbers of input.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn with_inputs(
        outputs: usize,
        inputs: usize,
        feed_through: bool,
        params: &WindowedSlipParams,
    ) -> Result<Self, Error> {
        let WindowedSlipParams { schedule, lambda, rank } = *params;
        ParameterError::at_least_one("rank", rank)?;
        check_lambda(lambda)?;
        let weighting = Weighting { lambda: LAG_SHARE * lambda, alpha: 1.0, discount_lambda: false };
        let shape = SystemShape { outputs, inputs, feed_through };
        let one = Forgetting::Scalar(1.0);
        let lags = LagRegression::new(shape, schedule, weighting, &one, &one)?;
        Ok(Self { lags, lambda, rank, filtered: None, scratch: ForecastScratch::default() })
    }

    /// The features of an epoch, from the factor of its lags.
    fn features(&self) -> Result<EpochFeatures, Error> {
        let (shape, lags) = (self.lags.shape, self.lags.lags());
        let bank = Bank::new(Hankel::Slip, lags, self.rank)?;
        let mut features = EpochFeatures { shape, lags, factor: SquareRootRls::new(&[], shape.outputs), bank };
        let (n, coordinates) = (self.lags.leading(), features.coordinates());
        // `WᵀW`, on whose diagonal alone it is not rounding: the eigenvectors are orthonormal.
        let mut square = vec![1.0; coordinates];
        let (mut unit, mut column) = (vec![0.0; n], AlignedVec::new());
        square[shape.front()..].fill(0.0);
        for i in shape.front()..n {
            unit[i] = 1.0;
            features.project(&unit, &mut column);
            square.iter_mut().zip(&*column).for_each(|(sum, w)| *sum += w * w);
            unit[i] = 0.0;
        }
        let prior: Vec<f64> = square.iter().map(|square| self.lambda * (1.0 - LAG_SHARE * square)).collect();
        features.factor = SquareRootRls::new(&prior, shape.outputs);
        let (mut scratch, mut factor) = (ForecastScratch::default(), self.lags.factor.clone());
        factor.settle();
        for i in 0..n {
            let row: Vec<f64> = (0..n).map(|j| factor.entry(i, j)).collect();
            let outputs: Vec<f64> = (0..shape.outputs).map(|o| factor.output_entry(i, o)).collect();
            features.project(&row, &mut column);
            features.factor.update(&column, &outputs, &mut scratch.factor).map_err(|_| ExampleError::Diverged)?;
        }
        Ok(features)
    }
}

impl EpochFeatures {
    fn coordinates(&self) -> usize {
        self.shape.front() + self.shape.channels() * self.bank.rank()
    }

    /// `Wᵀ row`, for a row of unscaled lags, newest first.
    fn project(&self, row: &[f64], features: &mut AlignedVec) {
        let (front, channels) = (self.shape.front(), self.shape.channels());
        features.resize(self.coordinates());
        features[..front].copy_from_slice(&row[..front]);
        self.bank.apply_newest_first(&row[front..front + self.lags * channels], channels, &mut features[front..]);
    }
}

impl Validate for WindowedSlip {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "windowed SLIP";
        self.lags.validate()?;
        let sound = check_lambda(self.lambda).is_ok() && self.rank > 0;
        Inconsistent::require(sound, WHAT, "its parameters are in their ranges")?;
        let Some(EpochFeatures { shape, lags, bank, factor }) = &self.filtered else { return Ok(()) };
        bank.validate()?;
        factor.validate()?;
        let n = shape.front().saturating_add(shape.channels().saturating_mul(bank.rank()));
        let fits = *shape == self.lags.shape
            && *lags <= self.lags.lags()
            && bank.length() == *lags
            && bank.rank() > 0
            && (factor.dimension(), factor.outputs()) == (n, shape.outputs);
        Inconsistent::require(fits, WHAT, "its filters fit the lags")
    }
}

impl Forecaster for WindowedSlip {
    fn outputs(&self) -> usize {
        self.lags.shape.outputs
    }
    fn inputs(&self) -> usize {
        self.lags.shape.inputs
    }
    fn feed_through(&self) -> bool {
        self.lags.shape.feed_through
    }
    fn time(&self) -> usize {
        self.lags.time
    }
    fn warmed_up(&self) -> bool {
        self.lags.warmed_up()
    }
    fn lags(&self) -> usize {
        self.lags.lags()
    }
    fn epochs(&self) -> &[Epoch] {
        &self.lags.epochs
    }

    fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        let Some(filtered) = &self.filtered else {
            prediction.copy_from_slice(self.lags.window.last());
            return Ok(());
        };
        self.lags.row(input, &mut scratch.row);
        filtered.project(&scratch.row, &mut scratch.features);
        let n = filtered.coordinates();
        filtered.factor.predict(&scratch.features, n, prediction, &mut scratch.factor);
        check_finite(prediction)
    }

    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_observation(self, input, output)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let predicted = self.predict_with(input, prediction, &mut scratch);
        self.scratch = scratch;
        predicted?;
        let (epoch, regresses) = (self.lags.epochs.len(), self.lags.regresses(output));
        self.lags.observe(input, output, prediction)?;
        if self.lags.epochs.len() > epoch {
            self.filtered = Some(self.features()?);
        } else if let Some(filtered) = self.filtered.as_mut().filter(|_| regresses) {
            // The features of this row are in the scratch memory; numbers that the lags could take
            // are in range here too.
            let ForecastScratch { features, factor, .. } = &mut self.scratch;
            filtered.factor.update(features, output, factor).map_err(|_| ExampleError::Diverged)?;
        }
        Ok(())
    }
    crate::forecaster::by_missing!();
}
