//! Sample discounting, \[Q\] (16): rows count less the older they are.
//!
//! ```text
//! G = Σ_{t=p}^{k−1} α^{k−1−t} y_t Z_tᵀ (λI + Σ_{t=p}^{k−1} α^{k−1−t} Z_t Z_tᵀ)⁻¹
//! ```
//!
//! with the lags and epochs of [`Opf`](crate::Opf), unscaled. It is the forgetting of adaptive
//! filtering, a comparator here: of a marginally stable system it throws away what it needs.
//!
//! The undiscounted `λI` gains `(1 − α)λI` in every step, which is a row for each coordinate: `½N³`
//! fused multiply-adds a step in all, exactly (16). With the regulariser discounted as well
//! (`λα^k`, the usual recursive least squares) a step costs `1½N²`; a direction in which nothing
//! comes any more is then forgotten in the end.

use crate::Error;
use crate::forecaster::forecast_by;
use crate::lag_regression::{LagRegression, Weighting};
use crate::lags::SystemShape;
use crate::{EpochSchedule, Forgetting, InputParams};
use mercer_core::parameters;

parameters! {
    /// Parameters of [`Discounted`]. The defaults are those of \[Q\] §5, with (16) as it stands.
    #[derive(Copy)]
    pub struct DiscountedParams {
        /// Epochs and lags.
        schedule: EpochSchedule = EpochSchedule::default(),
        /// Regulariser `λ`, between 1e−40 and 1e40.
        lambda: f64 = 1.0,
        /// Factor by which a row counts less with each step, `0 < α ≤ 1`.
        alpha: f64 = 0.9999,
        /// True if `λ` is discounted with the rows.
        discount_regulariser: bool = false,
    }
}

/// Regression upon lags with discounted samples.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discounted {
    regression: LagRegression,
}

impl Discounted {
    /// A predictor of `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: &DiscountedParams) -> Result<Self, Error> {
        Self::from_shape(SystemShape { outputs, inputs: 0, feed_through: false }, &Forgetting::Scalar(1.0), params)
    }

    /// The same for a system with inputs.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn with_inputs(outputs: usize, inputs: &InputParams, params: &DiscountedParams) -> Result<Self, Error> {
        Self::from_shape(inputs.shape(outputs)?, &inputs.forgetting, params)
    }

    fn from_shape(shape: SystemShape, inputs: &Forgetting, params: &DiscountedParams) -> Result<Self, Error> {
        let DiscountedParams { schedule, lambda, alpha, discount_regulariser: discount_lambda } = *params;
        let weighting = Weighting { lambda, alpha, discount_lambda };
        let regression = LagRegression::new(shape, schedule, weighting, &Forgetting::Scalar(1.0), inputs)?;
        Ok(Self { regression })
    }
}

forecast_by!(Discounted, regression);
