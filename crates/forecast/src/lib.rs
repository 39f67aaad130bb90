//! Online prediction of linear dynamical systems, and of ordinary series, from their past outputs.
//!
//! A system `x_{k+1} = A x_k + B u_k + w_k`, `y_k = C x_k + D u_k + v_k` of which nothing is known
//! but that it does not explode. At time `k` a [`Forecaster`] predicts the output `y_k` (`m`
//! numbers) from `y_0 … y_{k−1}` (and the inputs, if there are any), then observes it. Everything
//! that learns here regresses `y_k` upon the last `p` outputs, in one form or another.
//!
//! | forecaster | source | multiply-adds a step, `n = mp` | memory |
//! |---|---|---|---|
//! | [`Opf`] | \[Q\] Algorithm 1, F.1, F.2; Tsiamis and Pappas 2023 is `γ = 1` | `1½n²` | `½n²` |
//! | [`Discounted`] | \[Q\] (16) | `½n³`; `1½n²` when the regulariser is discounted too | `½n²` |
//! | [`Slip`] | Rashidinejad, Jiao and Russell 2020 | `mkT`, and `1½(mk)²` | `T(m + k)` |
//! | [`WindowedSlip`] | the same, over the last `p` outputs | `1½n² + 1½(mk)²` | `½n²` |
//! | [`SpectralFilter`] | Hazan, Singh and Zhang 2017 | `mkT`, and `1½(mk)²` | `T(m + k)` |
//! | [`KalmanPredictor`] | Kalman 1960; needs the system | `s² + 2sm`, `s` states | `s² + 2sm` |
//! | [`LastValue`], [`LinearExtrapolation`] | | `m` | `m` |
//! | [`Seasons`] | a [`SeasonMixture`] an output: filters, regressions and free forecasts, weighed by horizon; trends, gaps, quantiles, known inputs | theirs | theirs |
//! | [`ForecastMixture`] | a set of forecasters, aggregated; [`ForecastMixture::grid`] is [`Opf`] over `γ` and `β` | theirs | theirs |
//! | [`GuardedForecaster`] | a forecaster that wrong values, new levels and gaps do not ruin | `m` and its | twice its |
//! | [`ScaledForecaster`] | a forecaster that sees each column in units of its own | `m` and its | its |
//!
//! \[Q\] is Qian and Zheng, *Model-free online learning for the Kalman filter: forgetting factor
//! and logarithmic regret*. [`ConformalIntervals`] puts an interval around the predictions of any
//! of them, [`HorizonIntervals`] around forecasts of several steps. [`AnyForecaster`] is one of
//! them, chosen when a program runs.
//!
//! Contracts: `predict_with` is pure and allocates nothing; a refused observation leaves the
//! forecaster as it was; a missing output (NaN) is allowed and never enters the state, see
//! [`Forecaster::predict_then_observe`]; a step allocates nothing once scratch memory has grown,
//! but where an epoch begins, and memory does not grow with the series.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod any;
mod discounted;
mod epoch_schedule;
mod error;
mod evidence;
mod extrapolation;
mod far_values;
mod filtered;
mod filters;
mod forecaster;
mod guarded;
mod horizons;
mod kalman;
mod known;
mod lag_regression;
mod lags;
mod last_value;
mod matrix;
mod mixture;
mod opf;
mod rare_column;
mod scaled;
mod season;
mod seasons;
mod seen_range;
mod slip;
mod spectral;
mod sums;
mod windowed_slip;

pub use any::AnyForecaster;
pub use discounted::{Discounted, DiscountedParams};
pub use epoch_schedule::{Epoch, EpochSchedule};
pub use error::Error;
pub use extrapolation::LinearExtrapolation;
pub use forecaster::{ForecastScratch, Forecaster, forecast_by_missing};
pub use guarded::GuardedForecaster;
pub use horizons::HorizonIntervals;
pub use kalman::{KalmanPredictor, StateSpace};
pub use known::InputEffect;
pub use lags::Forgetting;
pub use last_value::LastValue;
pub use mercer_experts::{ConformalIntervals, IntervalParams};
pub use mixture::{ForecastMixture, GridParams};
pub use opf::{InputParams, Opf, OpfParams};
pub use scaled::{ScaledForecaster, ScaledParams};
pub use season::{
    Detail, ErrorSums, ForecastParts, Periods, SeasonMixture, SeasonParams, SeasonScores, SharedWeights, Tally,
};
pub use seasons::Seasons;
pub use slip::{Slip, SlipParams};
pub use spectral::{SpectralFilter, SpectralParams, SpectralRule};
pub use sums::{TotalMethod, TotalShares};
pub use windowed_slip::{WindowedSlip, WindowedSlipParams};
