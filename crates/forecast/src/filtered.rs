//! Least squares, or gradient descent, upon filtered outputs: what SLIP and spectral filtering
//! share.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_linalg_incremental::{AlignedVec, SquareRootRls};

use crate::Error;
use crate::ForecastScratch;
use crate::filters::Bank;
use crate::forecaster::check_finite;
use crate::lag_regression::{RegressionMemory, check_coordinates, check_lambda};
use crate::lags::SystemShape;
use crate::seen_range::SeenRange;

/// Method to learn coefficients.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Learning {
    /// Ridge regression on all rows.
    Ridge(SquareRootRls),
    /// `M ← M − (η/√t) · 2(MX − y)Xᵀ`, then scaled into the ball of Frobenius norm `radius`. `M` is
    /// stored an output after the other.
    Gradient { coefficients: Vec<f64>, rate: f64, radius: f64 },
}

/// Features of the past and what is learnt upon them.
///
/// # Invariants
/// `past` holds the last rows of outputs and inputs, oldest first: all of them, or between
/// `horizon` and `2 · horizon`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FilteredRegression {
    pub(super) shape: SystemShape,
    t_init: usize,
    horizon: usize,
    bank: Bank,
    /// True if the last row itself is among the features.
    direct: bool,
    pub(super) learning: Learning,
    past: Vec<f64>,
    range: SeenRange,
    pub(super) time: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: RegressionMemory,
    #[cfg_attr(feature = "serde", serde(skip))]
    features: AlignedVec,
}

/// Parts of a [`FilteredRegression`].
pub(super) struct Filtering {
    pub(super) shape: SystemShape,
    pub(super) t_init: usize,
    pub(super) horizon: usize,
    pub(super) bank: Bank,
    pub(super) direct: bool,
}

/// The longest filters, which some dozens of megabytes hold.
const LONGEST_FILTER: usize = 1 << 20;

/// Checks what both need of a window.
pub(super) fn check_window(outputs: usize, horizon: usize, rank: usize) -> Result<(), ParameterError> {
    ParameterError::at_least_one("outputs", outputs)?;
    ParameterError::at_least_one("horizon", horizon)?;
    ParameterError::require(horizon <= LONGEST_FILTER, "horizon", "at most 1048576 rows", horizon as f64)?;
    ParameterError::at_least_one("rank", rank).map(drop)
}

impl Filtering {
    fn dimension(&self) -> usize {
        let channels = self.shape.channels();
        self.shape.front() + if self.direct { channels } else { 0 } + channels * self.bank.rank()
    }

    pub(super) fn ridge(self, lambda: f64) -> Result<FilteredRegression, ParameterError> {
        check_lambda(lambda)?;
        let n = check_coordinates(self.dimension())?;
        let factor = SquareRootRls::new(&vec![lambda; n], self.shape.outputs);
        Ok(self.learning(Learning::Ridge(factor)))
    }

    pub(super) fn gradient(self, rate: f64, radius: f64) -> Result<FilteredRegression, ParameterError> {
        ParameterError::positive("rate", rate)?;
        ParameterError::positive("radius", radius)?;
        let coefficients = vec![0.0; self.dimension() * self.shape.outputs];
        Ok(self.learning(Learning::Gradient { coefficients, rate, radius }))
    }

    fn learning(self, learning: Learning) -> FilteredRegression {
        let Self { shape, t_init, horizon, bank, direct } = self;
        FilteredRegression {
            shape,
            t_init,
            horizon,
            bank,
            direct,
            learning,
            past: Vec::with_capacity(2 * horizon * shape.channels()),
            range: SeenRange::new(shape.outputs),
            time: 0,
            work: RegressionMemory::default(),
            features: AlignedVec::new(),
        }
    }
}

impl Validate for FilteredRegression {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "regression upon filters";
        self.shape.validate()?;
        self.bank.validate()?;
        self.past.validate()?;
        self.range.validate(self.shape.outputs)?;
        let channels = self.shape.channels();
        // Rank and length of a bank are backed by its numbers.
        let past = self.bank.rank() > 0
            && self.horizon == self.bank.length()
            && self.past.len().is_multiple_of(channels)
            && self.past.len() / channels <= 2 * self.horizon;
        Inconsistent::require(past, WHAT, "its past is as long as its filters want")?;
        Inconsistent::require(self.time < usize::MAX / 4, WHAT, "its time can be counted")?;
        let direct = if self.direct { channels } else { 0 };
        let n = self.shape.front().saturating_add(direct).saturating_add(channels.saturating_mul(self.bank.rank()));
        let fits = match &self.learning {
            Learning::Ridge(factor) => {
                factor.validate()?;
                (factor.dimension(), factor.outputs()) == (n, self.shape.outputs)
            }
            Learning::Gradient { coefficients, rate, radius } => {
                coefficients.validate()?;
                Inconsistent::positive(*rate, "rate")?;
                Inconsistent::positive(*radius, "radius")?;
                n.checked_mul(self.shape.outputs) == Some(coefficients.len())
            }
        };
        Inconsistent::require(fits, WHAT, "it has a coefficient for each feature and output")
    }
}

impl FilteredRegression {
    pub(super) fn warmed_up(&self) -> bool {
        self.time > self.t_init
    }

    /// Filters look at the whole past, without a window.
    pub(super) fn lags(&self) -> usize {
        0
    }

    /// There are no epochs.
    pub(super) fn epochs(&self) -> &[crate::Epoch] {
        &[]
    }

    /// `[u_k, y_{k−1}, u_{k−1}, filters of every channel]`, the first three as the method has them.
    fn features(&self, input: &[f64], features: &mut AlignedVec) {
        let (front, channels) = (self.shape.front(), self.shape.channels());
        let direct = if self.direct { channels } else { 0 };
        features.resize(front + direct + channels * self.bank.rank());
        features[..front].copy_from_slice(&input[..front]);
        match self.past.last_chunk_of(direct) {
            Some(last) => features[front..front + direct].copy_from_slice(last),
            None => features[front..front + direct].fill(0.0),
        }
        self.bank.apply(&self.past, channels, &mut features[front + direct..]);
    }

    pub(super) fn predict(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) {
        if !self.warmed_up() {
            match self.past.last_chunk_of(self.shape.channels()) {
                Some(last) => prediction.copy_from_slice(&last[..self.shape.outputs]),
                None => prediction.fill(0.0),
            }
            return;
        }
        self.features(input, &mut scratch.features);
        match &self.learning {
            Learning::Ridge(factor) => {
                factor.predict(&scratch.features, factor.dimension(), prediction, &mut scratch.factor);
            }
            Learning::Gradient { coefficients, .. } => {
                let n = scratch.features.len();
                for (prediction, row) in prediction.iter_mut().zip(coefficients.chunks_exact(n)) {
                    *prediction = row.iter().zip(&*scratch.features).map(|(m, x)| m * x).sum();
                }
            }
        }
    }

    /// The prequential step. The observation has been checked.
    pub(super) fn predict_then_observe(
        &mut self,
        input: &[f64],
        output: &[f64],
        prediction: &mut [f64],
    ) -> Result<(), Error> {
        let mut scratch = std::mem::take(&mut self.work.scratch);
        self.predict(input, prediction, &mut scratch);
        self.work.scratch = scratch;
        check_finite(prediction)?;
        self.range.impute(output, prediction, &mut self.work.kept)?;
        if !output.iter().any(|y| y.is_nan()) {
            let mut features = std::mem::take(&mut self.features);
            self.features(input, &mut features);
            let step = self.learn(&features, output);
            self.features = features;
            step?;
        }
        self.range.see(output);
        if self.past.len() == 2 * self.horizon * self.shape.channels() {
            self.past.drain(..self.horizon * self.shape.channels());
        }
        self.past.extend_from_slice(&self.work.kept);
        self.past.extend_from_slice(input);
        self.time += 1;
        Ok(())
    }

    fn learn(&mut self, features: &AlignedVec, output: &[f64]) -> Result<(), Error> {
        match &mut self.learning {
            Learning::Ridge(factor) => factor
                .update(features, output, &mut self.work.scratch.factor)
                .map(drop)
                .map_err(|_| ExampleError::Diverged.into()),
            Learning::Gradient { coefficients, rate, radius } => {
                let step = *rate / ((self.time + 1) as f64).sqrt();
                let n = features.len();
                let moved = &mut self.work.sink;
                moved.clear();
                for (row, y) in coefficients.chunks_exact(n).zip(output) {
                    let residual = row.iter().zip(&**features).map(|(m, x)| m * x).sum::<f64>() - y;
                    moved.extend(row.iter().zip(&**features).map(|(m, x)| m - step * 2.0 * residual * x));
                }
                let norm = moved.iter().map(|m| m * m).sum::<f64>().sqrt();
                if !norm.is_finite() {
                    return Err(ExampleError::Diverged.into());
                }
                let shrink = if norm > *radius { *radius / norm } else { 1.0 };
                for (coefficient, moved) in coefficients.iter_mut().zip(moved) {
                    *coefficient = shrink * *moved;
                }
                Ok(())
            }
        }
    }
}

/// The last `n` numbers, if there are as many.
trait LastChunk {
    fn last_chunk_of(&self, n: usize) -> Option<&[f64]>;
}

impl LastChunk for [f64] {
    fn last_chunk_of(&self, n: usize) -> Option<&[f64]> {
        self.len().checked_sub(n).map(|first| &self[first..])
    }
}
