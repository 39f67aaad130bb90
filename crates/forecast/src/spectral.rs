//! Spectral filtering (Hazan, Singh and Zhang 2017).
//!
//! ```text
//! ŷ_t = M X_t,   X_t = (u_t, z_{t−1}, σ_j^{1/4} Σ_{s=1}^{T} φ_j(s) z_{t−s})_{j ≤ k},   z = (y, u)
//! ```
//!
//! with `φ_j`, `σ_j` the eigenpairs of `Z_ij = 2/((i + j)³ − (i + j))`. The paper filters the
//! inputs of a system; of a system driven by noise it is the outputs that drive its Kalman filter,
//! so they are filtered here as the inputs are.
//!
//! The paper's `M` follows projected gradients, `M ← M − (η/√t) ∇‖MX − y‖²`, kept in a ball; its
//! guarantee wants bounded signals, and on a series that grows the ball holds it together and no
//! more. Ridge regression upon the same features is the default.
//!
//! Cost a step: `(m + q)kT` to filter, `1½n²`, `n = (m + q)(k + 1)`, to learn (`2mn` by gradients);
//! memory `T(2(m + q) + k)`.

use crate::Error;
use crate::filtered::{FilteredRegression, Filtering, check_window};
use crate::filters::{Bank, Hankel};
use crate::forecaster::forecast_by;
use crate::lags::SystemShape;
use mercer_core::parameters;

/// Rule by which [`SpectralFilter`] learns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SpectralRule {
    /// Projected gradients, the paper's.
    Gradient {
        /// `η > 0`.
        rate: f64,
        /// Frobenius norm that `M` is kept within.
        radius: f64,
    },
    /// Ridge regression over all rows.
    Ridge {
        /// Regulariser, between 1e−40 and 1e40.
        lambda: f64,
    },
}

parameters! {
    /// Parameters of [`SpectralFilter`].
    #[derive(Copy)]
    pub struct SpectralParams {
        /// The last output is predicted until `y_{T_init}`; rows are learnt from the first.
        t_init: usize = 60,
        /// Filters `k ≥ 1`.
        rank: usize = 10,
        /// Length `1 ≤ T ≤ 2²⁰` of the filters.
        horizon: usize = 1000,
        /// Rule by which coefficients are learnt.
        rule: SpectralRule = SpectralRule::Ridge { lambda: 1.0 },
    }
}

/// Regression upon the past through the filters of a Hankel matrix.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpectralFilter {
    filtered: FilteredRegression,
}

impl SpectralFilter {
    /// A predictor of `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: &SpectralParams) -> Result<Self, Error> {
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
        params: &SpectralParams,
    ) -> Result<Self, Error> {
        let SpectralParams { t_init, rank, horizon, rule } = *params;
        check_window(outputs, horizon, rank)?;
        let bank = Bank::new(Hankel::Wave, horizon, rank)?;
        let shape = SystemShape { outputs, inputs, feed_through };
        let filtering = Filtering { shape, t_init, horizon, bank, direct: true };
        let filtered = match rule {
            SpectralRule::Ridge { lambda } => filtering.ridge(lambda)?,
            SpectralRule::Gradient { rate, radius } => filtering.gradient(rate, radius)?,
        };
        Ok(Self { filtered })
    }
}

forecast_by!(SpectralFilter, filtered);
