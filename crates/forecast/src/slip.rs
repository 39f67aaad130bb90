//! SLIP: ridge regression upon the past through fixed filters (Rashidinejad, Jiao and Russell
//! 2020).
//!
//! ```text
//! ŷ_t = Θ f_t,   f_t = (u_t, σ_j^{1/4} Σ_{s=1}^{T} φ_j(s) z_{t−s})_{j ≤ k},   z = (y, u)
//! ```
//!
//! with `φ_j`, `σ_j` the eigenpairs of `H_ij = (1 + (−1)^{i+j})/(2(i + j − 1))`, and `Θ` the ridge
//! solution over all rows so far. `T` is `horizon`: the whole past while the series is shorter, a
//! sliding window after. [`WindowedSlip`](crate::WindowedSlip) has the growing window of \[Q\]'s
//! epochs instead. The paper leaves `k` open; filters beyond double precision (`k` of some dozens)
//! are left out.
//!
//! Cost a step: `(m + q)kT` to filter, `1½n²`, `n = (m + q)k`, to learn; memory `T(2(m + q) + k)`.

use crate::Error;
use crate::filtered::{FilteredRegression, Filtering, check_window};
use crate::filters::{Bank, Hankel};
use crate::forecaster::forecast_by;
use crate::lags::SystemShape;
use mercer_core::parameters;

parameters! {
    /// Parameters of [`Slip`].
    #[derive(Copy)]
    pub struct SlipParams {
        /// The last output is predicted until `y_{T_init}`; rows are learnt from the first.
        t_init: usize = 60,
        /// Regulariser `λ`, between 1e−40 and 1e40.
        lambda: f64 = 1.0,
        /// Filters `k ≥ 1`.
        rank: usize = 10,
        /// Length `1 ≤ T ≤ 2²⁰` of the filters.
        horizon: usize = 1000,
    }
}

/// Ridge regression upon filtered outputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Slip {
    filtered: FilteredRegression,
}

impl Slip {
    /// A predictor of `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: &SlipParams) -> Result<Self, Error> {
        Self::with_inputs(outputs, 0, false, params)
    }

    /// The same for a system with `inputs` numbers of input.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn with_inputs(outputs: usize, inputs: usize, feed_through: bool, params: &SlipParams) -> Result<Self, Error> {
        let SlipParams { t_init, lambda, rank, horizon } = *params;
        check_window(outputs, horizon, rank)?;
        let bank = Bank::new(Hankel::Slip, horizon, rank)?;
        let shape = SystemShape { outputs, inputs, feed_through };
        Ok(Self { filtered: Filtering { shape, t_init, horizon, bank, direct: false }.ridge(lambda)? })
    }
}

forecast_by!(Slip, filtered);
