//! The forecasters of all experiments, at the λ of all of them.

use mercer_forecast::{
    AnyForecaster, Discounted, DiscountedParams, EpochSchedule, ForecastMixture, Forgetting, GridParams, LastValue,
    LinearExtrapolation, Opf, OpfParams, Slip, SlipParams, SpectralFilter, SpectralParams, SpectralRule, WindowedSlip,
    WindowedSlipParams,
};

use super::LAMBDA;
use crate::prelude::*;

/// OPF with this factor.
pub(super) fn opf(outputs: usize, schedule: EpochSchedule, gamma: f64) -> Result<Opf> {
    let params = OpfParams::default().schedule(schedule).lambda(LAMBDA).forgetting(Forgetting::Scalar(gamma));
    Ok(Opf::new(outputs, &params)?)
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ForecastMethod {
    /// OPF with this γ; 1 is the algorithm of Tsiamis and Pappas.
    Opf(f64),
    /// SLIP of this rank over the whole past.
    Slip(usize),
    /// The same over OPF's window.
    WindowedSlip(usize),
    /// Spectral filtering of this rank, by ridge regression.
    Spectral(usize),
    /// Sample discounting (16).
    Discounted {
        /// α
        alpha: f64,
        /// True if the regulariser is discounted as well, which is cheaper and not printed.
        discount_regulariser: bool,
    },
    /// The default grid of γ.
    Experts,
    LastValue,
    LinearExtrapolation,
}

impl ForecastMethod {
    /// The forecaster of a run that ends at k = `last`.
    pub(super) fn build(self, outputs: usize, schedule: EpochSchedule, last: usize) -> Result<AnyForecaster> {
        let (lambda, t_init, horizon) = (LAMBDA, schedule.t_init, last + 1);
        Ok(match self {
            Self::Opf(gamma) => opf(outputs, schedule, gamma)?.into(),
            Self::Slip(rank) => {
                let params = SlipParams::default().t_init(t_init).lambda(lambda).rank(rank).horizon(horizon);
                Slip::new(outputs, &params)?.into()
            }
            Self::WindowedSlip(rank) => {
                let params = WindowedSlipParams::default().schedule(schedule).lambda(lambda).rank(rank);
                WindowedSlip::new(outputs, &params)?.into()
            }
            Self::Spectral(rank) => {
                let rule = SpectralRule::Ridge { lambda };
                let params = SpectralParams::default().t_init(t_init).rank(rank).horizon(horizon).rule(rule);
                SpectralFilter::new(outputs, &params)?.into()
            }
            Self::Discounted { alpha, discount_regulariser } => {
                let params = DiscountedParams::default().schedule(schedule).lambda(lambda).alpha(alpha);
                Discounted::new(outputs, &params.discount_regulariser(discount_regulariser))?.into()
            }
            Self::Experts => {
                let params = GridParams::default().schedule(schedule).lambda(lambda);
                ForecastMixture::<Opf>::grid(outputs, &params)?.into()
            }
            Self::LastValue => LastValue::new(outputs).into(),
            Self::LinearExtrapolation => LinearExtrapolation::new(outputs).into(),
        })
    }
}
