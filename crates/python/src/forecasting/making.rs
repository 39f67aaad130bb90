//! From what a Python object says of its forecaster to that.

use mercer::forecast::{
    AnyForecaster, ConformalIntervals, Discounted, DiscountedParams, EpochSchedule, ForecastMixture, Forecaster,
    Forgetting, GridParams, GuardedForecaster, InputParams, IntervalParams, KalmanPredictor, Opf, OpfParams, Periods,
    ScaledForecaster, ScaledParams, SeasonParams, Slip, SlipParams, SpectralFilter, SpectralParams, SpectralRule,
    StateSpace, WindowedSlip, WindowedSlipParams,
};
use mercer::model::{Prediction, SeriesErrors};
use mercer::session::series::season_mixture;
use pyo3::prelude::*;

use crate::errors;

/// The regulariser where columns are scaled, as the command has it.
const LAMBDA_IN_SCALES: f64 = 0.01;

/// What a Python object says of its forecaster.
#[derive(FromPyObject)]
pub(super) struct ForecasterSpec {
    #[pyo3(item)]
    method: String,
    #[pyo3(item)]
    betas: Vec<f64>,
    #[pyo3(item)]
    t_init: usize,
    #[pyo3(item)]
    lambda: Option<f64>,
    #[pyo3(item)]
    gamma: Option<f64>,
    #[pyo3(item)]
    gamma_matrix: Option<Vec<Vec<f64>>>,
    #[pyo3(item)]
    gamma_input: Option<f64>,
    #[pyo3(item)]
    alpha: f64,
    #[pyo3(item)]
    rank: usize,
    #[pyo3(item)]
    horizon: usize,
    #[pyo3(item)]
    feed_through: bool,
    #[pyo3(item)]
    intervals: Option<f64>,
    #[pyo3(item)]
    system: Option<Vec<Vec<f64>>>,
    #[pyo3(item)]
    season: Option<Vec<usize>>,
    #[pyo3(item)]
    horizons: usize,
    #[pyo3(item)]
    light: Option<bool>,
}

impl ForecasterSpec {
    /// A season mixture for each output, as the command makes it.
    fn season(&self, m: usize, q: usize) -> PyResult<Box<Prediction>> {
        let periods = self.season.clone().map_or(Periods::Found, Periods::Given);
        let params = SeasonParams::default().periods(periods).horizons(self.horizons);
        let made = season_mixture(Vec::new(), [m, q], params, (self.intervals, self.light));
        Ok(Box::new(made.map_err(errors::settings)?))
    }

    /// The regressions on lags.
    fn on_lags(&self, m: usize, q: usize) -> Result<AnyForecaster, mercer::forecast::Error> {
        let beta = self.betas.first().copied().unwrap_or(2.5);
        let schedule = EpochSchedule { beta, t_init: self.t_init, max_lags: None };
        let lambda = self.lambda.unwrap_or(LAMBDA_IN_SCALES);
        let gamma = if self.method == "opf" { self.gamma.unwrap_or(1.0) } else { 1.0 };
        let forgetting = Forgetting::Scalar(self.gamma_input.unwrap_or(gamma));
        let inputs = InputParams::default().count(q).forgetting(forgetting).feed_through(self.feed_through);
        let alone = q == 0;
        match self.method.as_str() {
            "opf" => {
                let forgetting = self.gamma_matrix.as_ref().map(|rows| Forgetting::Matrix(rows.concat()));
                let forgetting = forgetting.unwrap_or(Forgetting::Scalar(gamma));
                let params = OpfParams::default().schedule(schedule).lambda(lambda).forgetting(forgetting);
                if alone { Opf::new(m, &params) } else { Opf::with_inputs(m, &inputs, &params) }.map(Into::into)
            }
            "experts" => {
                let params = GridParams::default().schedule(schedule).lambda(lambda).betas(self.betas.clone());
                let params = params.gamma_for_inputs(self.gamma_input.is_none());
                let grid = if alone {
                    ForecastMixture::<Opf>::grid(m, &params)
                } else {
                    ForecastMixture::<Opf>::grid_with_inputs(m, &inputs, &params)
                };
                grid.map(|grid| grid.recovering().into())
            }
            _ => {
                let params = DiscountedParams::default().schedule(schedule).lambda(lambda).alpha(self.alpha);
                let made =
                    if alone { Discounted::new(m, &params) } else { Discounted::with_inputs(m, &inputs, &params) };
                made.map(Into::into)
            }
        }
    }

    /// The regressions on spectral filters.
    fn on_filters(&self, m: usize, q: usize) -> Result<AnyForecaster, mercer::forecast::Error> {
        let lambda = self.lambda.unwrap_or(LAMBDA_IN_SCALES);
        let Self { t_init, rank, horizon, .. } = *self;
        let through = self.feed_through && q > 0;
        match self.method.as_str() {
            "slip" => {
                let params = SlipParams::default().t_init(t_init).lambda(lambda).rank(rank).horizon(horizon);
                Slip::with_inputs(m, q, through, &params).map(Into::into)
            }
            "slip-window" => {
                let beta = self.betas.first().copied().unwrap_or(2.5);
                let schedule = EpochSchedule { beta, t_init, max_lags: None };
                let params = WindowedSlipParams::default().schedule(schedule).lambda(lambda).rank(rank);
                WindowedSlip::with_inputs(m, q, through, &params).map(Into::into)
            }
            _ => {
                let params = SpectralParams::default().t_init(t_init).rank(rank).horizon(horizon);
                let params = params.rule(SpectralRule::Ridge { lambda });
                SpectralFilter::with_inputs(m, q, through, &params).map(Into::into)
            }
        }
    }

    /// The predictor of a known system.
    fn kalman(&self, m: usize, q: usize) -> PyResult<AnyForecaster> {
        let Some([a, b, c, d, q_, r]) = self.system.as_deref() else {
            return Err(errors::settings("a Kalman predictor needs the matrices of its system"));
        };
        let system = StateSpace { a: a.clone(), b: b.clone(), c: c.clone(), d: d.clone(), q: q_.clone(), r: r.clone() };
        let kalman = KalmanPredictor::new(&system).map_err(errors::settings)?;
        let (outputs, inputs) = (kalman.outputs(), kalman.inputs());
        if (outputs, inputs) != (m, q) {
            return Err(errors::data(format!(
                "the system has {outputs} outputs and {inputs} inputs, and the series {m} and {q}"
            )));
        }
        Ok(kalman.into())
    }

    /// About the multiply-adds of its making: the eigenvectors of filters, the gain of a system.
    pub(super) fn cost(&self) -> usize {
        let filters = if matches!(self.method.as_str(), "slip" | "spectral") { self.horizon } else { 0 };
        let states = self.system.as_ref().map_or(0, |system| system[0].len());
        filters.saturating_pow(3).saturating_add(states.saturating_mul(states))
    }

    pub(super) fn make(&self, m: usize, q: usize) -> PyResult<Box<Prediction>> {
        let mut forecaster = match self.method.as_str() {
            "season" => return self.season(m, q),
            "kalman" => self.kalman(m, q)?,
            "opf" | "experts" | "discounted" => self.on_lags(m, q).map_err(errors::settings)?,
            "slip" | "slip-window" | "spectral" => self.on_filters(m, q).map_err(errors::settings)?,
            other => return Err(errors::settings(format!("{other:?} is no method of forecasting"))),
        };
        let t_init = self.t_init;
        if self.lambda.is_none() && self.method != "kalman" {
            let mixed = |rows: &Vec<Vec<f64>>| {
                let mut entries = rows
                    .iter()
                    .enumerate()
                    .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, entry)| (i == j, entry)));
                entries.any(|(diagonal, entry)| !diagonal && *entry != 0.0)
            };
            let shared = self.method == "opf" && self.gamma_matrix.as_ref().is_some_and(mixed);
            let params = ScaledParams::default().rows(t_init.saturating_add(1)).shared(shared);
            let scaled: AnyForecaster = ScaledForecaster::new(forecaster, params).map_err(errors::settings)?.into();
            forecaster = GuardedForecaster::new(scaled).map_err(errors::settings)?.into();
        }
        let intervals =
            self.intervals.map(|coverage| ConformalIntervals::new(m, IntervalParams::default().coverage(coverage)));
        let mut parameters = vec![
            ("t_init".to_owned(), t_init.to_string()),
            ("lambda".to_owned(), self.lambda.map_or("\"auto\"".to_owned(), |lambda| lambda.to_string())),
        ];
        parameters.extend(self.gamma.map(|gamma| ("gamma".to_owned(), gamma.to_string())));
        Ok(Box::new(Prediction {
            method: self.method.clone(),
            parameters,
            errors: SeriesErrors { warm_up: (t_init as u64).saturating_add(1), ..SeriesErrors::default() },
            intervals: intervals.transpose().map_err(errors::settings)?,
            ..Prediction::new(Vec::new(), forecaster)
        }))
    }
}
