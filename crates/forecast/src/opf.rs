//! Online prediction with forgetting: \[Q\] Algorithm 1, with control inputs (F.1) and matrix
//! forgetting (F.2).
//!
//! In epoch `l` (`k = T_l … 2T_l − 2`, `p = ⌈β ln T_l⌉` lags, see [`EpochSchedule`]) the prediction
//! is
//!
//! ```text
//! ỹ_k = G̃ Z̃_k,   G̃ = Σ_{t=p}^{k−1} y_t Z̃_tᵀ Ṽ⁻¹,   Ṽ = λI + Σ_{t=p}^{k−1} Z̃_t Z̃_tᵀ,   Z̃_t = D_p (y_{t−1}, …, y_{t−p})
//! ```
//!
//! where `D_p` scales lag `a` by `γ^(a−1)` (11)–(14): the regression of `y_t` upon the plain lags
//! with regulariser `λ‖G D_p⁻¹‖²` (17), (18; there with `λ` inside the norm by mistake). The true
//! coefficients of lag `a` are of the order `ρ(A − LC)^(a−1)`, so `γ` near this radius keeps far
//! lags from fitting noise; `γ = 1` is the predictor of Tsiamis and Pappas 2023.
//!
//! With inputs, `Z̃_t` also has `γ_u^(a−1) u_{t−a}`, and `u_t` itself with feed-through. With a
//! matrix `Γ`, the block of lag `a` is `Γ^(a−1) y_{t−a}`.
//!
//! **Numbers.** Outputs of a marginally stable system grow like a power of time, and `cond(Ṽ)`
//! reaches 1e16 after some thousand steps: an explicit `Ṽ⁻¹`, recursive or not, is then lost. Here
//! the factor `R` of `Ṽ = RᵀR` is kept
//! ([`SquareRootRls`](mercer_linalg_incremental::SquareRootRls)), for the largest number of lags;
//! shorter windows read its leading block, and an epoch change takes the rows away that a longer
//! window may not use, so that predictions are those of a dense least-squares solution over all
//! rows. With fewer outputs than lags there is no row to learn from, and the prediction is zero
//! (12).
//!
//! Cost a step: `½N²` fused multiply-adds to predict, `N²` more to learn, `N = m · max_lags` (and
//! the inputs'); memory `½N²` and the first `4N` rows of the series, whatever its length.

use mercer_core::{ParameterError, parameters};

use crate::Error;
use crate::forecaster::check_prediction;
use crate::forecaster::forecast_by;
use crate::lag_regression::{LagRegression, Weighting};
use crate::lags::{Forgetting, SystemShape};
use crate::{EpochSchedule, ForecastScratch};

parameters! {
    /// Parameters of [`Opf`]. The defaults of the schedule and of `λ` are those of \[Q\] §5.
    pub struct OpfParams {
        /// Epochs and lags.
        schedule: EpochSchedule = EpochSchedule::default(),
        /// Regulariser `λ` of `λ‖G D⁻¹‖²`, between 1e−40 and 1e40.
        lambda: f64 = 1.0,
        /// Forgetting of past outputs.
        forgetting: Forgetting = Forgetting::Scalar(0.5),
    }
}

impl OpfParams {
    /// The predictor of Tsiamis and Pappas 2023: nothing is forgotten, `γ = 1`.
    #[must_use]
    pub fn tsiamis_pappas(schedule: EpochSchedule, lambda: f64) -> Self {
        Self { schedule, lambda, forgetting: Forgetting::Scalar(1.0) }
    }
}

parameters! {
    /// Control inputs of a system.
    pub struct InputParams {
        /// Numbers in an input, `q ≥ 1`.
        count: usize = 1,
        /// Forgetting of past inputs.
        forgetting: Forgetting = Forgetting::Scalar(0.5),
        /// True if `u_k` acts on `y_k` at once and is itself a regressor, of weight 1.
        feed_through: bool = false,
    }
}

impl InputParams {
    /// The rows of a system with these inputs.
    pub(super) fn shape(&self, outputs: usize) -> Result<SystemShape, ParameterError> {
        let inputs = ParameterError::at_least_one("inputs", self.count)?;
        Ok(SystemShape { outputs, inputs, feed_through: self.feed_through })
    }
}

/// Online prediction with forgetting.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Opf {
    regression: LagRegression,
}

impl Opf {
    /// A predictor of `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: &OpfParams) -> Result<Self, Error> {
        Self::from_shape(SystemShape { outputs, inputs: 0, feed_through: false }, &Forgetting::Scalar(1.0), params)
    }

    /// The same for a system with inputs.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn with_inputs(outputs: usize, inputs: &InputParams, params: &OpfParams) -> Result<Self, Error> {
        Self::from_shape(inputs.shape(outputs)?, &inputs.forgetting, params)
    }

    fn from_shape(shape: SystemShape, inputs: &Forgetting, params: &OpfParams) -> Result<Self, Error> {
        let weighting = Weighting { lambda: params.lambda, alpha: 1.0, discount_lambda: false };
        let regression = LagRegression::new(shape, params.schedule, weighting, &params.forgetting, inputs)?;
        Ok(Self { regression })
    }

    /// `Z̃_kᵀ Ṽ⁻¹ Z̃_k = ‖V̄_{k−1}^{−½} Z_k‖²` of the next row: the a-priori term of the
    /// accumulation factor of \[Q\] (22). `input` is `u_k` with feed-through.
    ///
    /// # Errors
    /// As [`predict_with`](crate::Forecaster::predict_with).
    pub fn leverage(&self, input: &[f64], scratch: &mut ForecastScratch) -> Result<f64, Error> {
        let mut prediction = vec![0.0; self.regression.shape.outputs];
        check_prediction(self, input, &prediction)?;
        Ok(self.regression.predict(input, &mut prediction, scratch) - 1.0)
    }

    /// The estimate `G` in unscaled coordinates, one row an output: the coefficients of `u_k` if
    /// there is feed-through, then those of lag 1, lag 2, …, in each the outputs' before the
    /// inputs'.
    #[must_use]
    pub fn coefficients(&self) -> Vec<f64> {
        self.regression.coefficients()
    }

    /// `ln det Ṽ` of the current lags.
    #[must_use]
    pub fn log_determinant(&self) -> f64 {
        self.regression.factor.log_determinant(self.regression.leading())
    }

    /// `λ tr Ṽ⁻¹` of the current lags; `mp` less this is the trace of \[Q\] D.1. `O((mp)³)`.
    #[must_use]
    pub fn regulariser_trace(&self) -> f64 {
        self.regression.regulariser_trace()
    }

    /// Rows of the series' beginning that the current window is too long for but which could not be
    /// taken back from the regression without losing its digits; 0 except for series whose first
    /// rows outweigh all that follow.
    #[must_use]
    pub fn rows_held(&self) -> usize {
        self.regression.held()
    }
}

forecast_by!(Opf, regression);
