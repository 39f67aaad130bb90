//! Forecasters of series.

use mercer::forecast::{
    AnyForecaster, ConformalIntervals, Discounted, DiscountedParams, EpochSchedule, ForecastMixture, Forecaster,
    Forgetting, GridParams, GuardedForecaster, InputParams, IntervalParams, KalmanPredictor, Opf, OpfParams, Periods,
    ScaledForecaster, ScaledParams, SeasonParams, Seasons, Slip, SlipParams, SpectralFilter, SpectralParams,
    SpectralRule, StateSpace, WindowedSlip, WindowedSlipParams,
};
use mercer::model::{Model, ModelError, ModelKind, Own, Prediction, SeriesErrors};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::front;
use crate::rows::{at_row, in_pieces, patiently};
use crate::shared::FairLock;
use crate::{arrays, errors};

/// A forecaster, which is made when the first rows tell how many outputs and inputs there are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct ForecastCore {
    model: FairLock<Option<Box<Prediction>>>,
}

/// Rows of a season mixture without a season that are not scored.
const FIRST_ROWS: usize = 10;

/// The regulariser where columns are scaled, as the command has it.
const LAMBDA_IN_SCALES: f64 = 0.01;

/// What a Python object says of its forecaster.
#[derive(FromPyObject)]
struct ForecasterSpec {
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
}

impl ForecasterSpec {
    /// A season mixture for each output, as the command makes it.
    fn season(&self, m: usize, q: usize) -> PyResult<Box<Prediction>> {
        let periods = self.season.clone().map_or(Periods::Found, Periods::Given);
        let shown = self.season.as_ref().map_or_else(|| "\"found\"".to_owned(), |given| format!("{given:?}"));
        let warm_up = periods.first().first().map_or(FIRST_ROWS, |period| 2 * period + 2);
        let mut parameters = vec![("season".to_owned(), shown), ("horizons".to_owned(), self.horizons.to_string())];
        let mut params = SeasonParams::default().periods(periods).horizons(self.horizons);
        if let Some(share) = self.intervals {
            params = params.coverage(share);
            parameters.push(("intervals".to_owned(), share.to_string()));
        }
        let seasons = Seasons::new(m, q, &params).map_err(errors::settings)?;
        Ok(Box::new(Prediction {
            method: self.method.clone(),
            parameters,
            errors: SeriesErrors { warm_up: warm_up as u64, ..SeriesErrors::default() },
            ..Prediction::new(Vec::new(), seasons.into())
        }))
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
    fn cost(&self) -> usize {
        let filters = if matches!(self.method.as_str(), "slip" | "spectral") { self.horizon } else { 0 };
        let states = self.system.as_ref().map_or(0, |system| system[0].len());
        filters.saturating_pow(3).saturating_add(states.saturating_mul(states))
    }

    fn make(&self, m: usize, q: usize) -> PyResult<Box<Prediction>> {
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

/// Multiply-adds of a step ahead of one output, about those of a grid of forecasters.
const STEP: usize = 1 << 14;

/// About the multiply-adds of forecasts.
fn work_ahead(outputs: usize, steps: usize) -> usize {
    STEP.saturating_mul(outputs).saturating_mul(steps)
}

/// The season mixtures of a model, if it has some.
fn seasons(model: &Prediction) -> Option<&Seasons> {
    if let AnyForecaster::Seasons(seasons) = &model.forecaster { Some(seasons) } else { None }
}

/// The share of values that intervals are to hold, of a model that has some.
fn share(model: &Prediction) -> Option<f64> {
    let told = || model.parameters.iter().find(|(key, _)| key == "intervals")?.1.parse::<f64>().ok();
    model
        .intervals
        .as_ref()
        .map(|intervals| intervals.params().coverage)
        .or_else(|| seasons(model).and_then(|_| told()))
}

/// How far the ends of the interval of the next row are from its prediction, for each output;
/// infinite where there is none.
fn reach(model: &Prediction, output: usize) -> [f64; 2] {
    let radius = model.intervals.as_ref().map_or(f64::INFINITY, |intervals| intervals.radius(output));
    let offsets = seasons(model).zip(share(model)).filter(|_| model.forecaster.warmed_up());
    offsets.map_or([-radius, radius], |(seasons, share)| tails(share).map(|p| seasons.offset(output, p, 1)))
}

/// What no value of an output is below.
fn floor(model: &Prediction, output: usize) -> f64 {
    seasons(model).and_then(|seasons| seasons.floor(output)).unwrap_or(f64::NEG_INFINITY)
}

/// The probabilities between which an interval of this share lies.
fn tails(share: f64) -> [f64; 2] {
    [0.5 - share / 2.0, 0.5 + share / 2.0]
}

#[pymethods]
impl ForecastCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: FairLock::new(None) }
    }

    /// Forgets everything, and makes a forecaster of `outputs` numbers with `inputs` more.
    fn _begin(slf: &Bound<'_, Self>, outputs: usize, inputs: usize) -> PyResult<()> {
        let spec: ForecasterSpec = slf.call_method0("_spec")?.extract()?;
        let made = patiently(slf.py(), spec.cost(), move || spec.make(outputs, inputs))??;
        *slf.get().model.write(slf.py()) = Some(made);
        Ok(())
    }

    /// Takes over what another has learnt, which then has nothing.
    fn _take_over(&self, py: Python<'_>, other: &Self) {
        let theirs = other.model.write(py).take();
        *self.model.write(py) = theirs;
    }

    /// Predicts and observes rows in order: the predictions, and the two ends of their intervals
    /// (infinite where there is none).
    fn _observe_rows<'py>(
        &self,
        py: Python<'py>,
        outputs: PyReadonlyArray2<'py, f64>,
        inputs: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let (ys, rows, m) = arrays::table(&outputs)?;
        let (us, input_rows, q) = arrays::table(&inputs)?;
        if input_rows != rows {
            return Err(errors::data(format!("{rows} rows of outputs and {input_rows} of inputs")));
        }
        {
            let model = self.model.read(py);
            let forecaster = &model.as_ref().ok_or_else(errors::not_learnt)?.forecaster;
            if forecaster.outputs() != m || forecaster.inputs() != q {
                let (outputs, inputs) = (forecaster.outputs(), forecaster.inputs());
                return Err(errors::data(format!(
                    "rows of {m} outputs and {q} inputs; the forecaster was made for {outputs} and {inputs}"
                )));
            }
        }
        let (mut made, mut ends) = (vec![0.0; rows * m], Vec::with_capacity(2 * rows * m));
        let (all, bounds) = (&mut made, &mut ends);
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let model = model.as_mut().ok_or_else(errors::not_learnt)?;
                for row in range {
                    let reached: Vec<[f64; 2]> = (0..m).map(|output| reach(model, output)).collect();
                    let floors: Vec<f64> = (0..m).map(|output| floor(model, output)).collect();
                    let Prediction { forecaster, intervals, errors: sums, .. } = &mut **model;
                    let (output, input) = (&ys[row * m..(row + 1) * m], &us[row * q..(row + 1) * q]);
                    let prediction = &mut all[row * m..(row + 1) * m];
                    let warm = forecaster.warmed_up();
                    let time = forecaster.time() as u64;
                    let refused = |error| at_row(row, errors::forecaster(error));
                    forecaster.predict_then_observe(input, output, prediction).map_err(refused)?;
                    for ((made, reached), floor) in prediction.iter().zip(reached).zip(floors) {
                        bounds.extend(reached.map(|offset| (made + offset).max(floor)));
                    }
                    if let Some(intervals) = intervals.as_mut().filter(|_| warm) {
                        intervals.observe(prediction, output).map_err(|error| refused(error.into()))?;
                    }
                    if time >= sums.warm_up {
                        for (y, predicted) in output.iter().zip(prediction.iter()).filter(|(y, _)| !y.is_nan()) {
                            sums.scored += 1;
                            sums.sum += (y - predicted) * (y - predicted);
                        }
                    }
                }
                Ok(())
            },
            || (64 / m.max(1)).max(1),
        )?;
        Ok((arrays::columns(py, made, m)?, arrays::columns(py, ends, 2 * m)?))
    }

    /// Predictions of the next `steps` rows; `inputs` are those of these rows.
    fn _forecast_rows<'py>(
        &self,
        py: Python<'py>,
        steps: usize,
        inputs: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (us, _, _) = arrays::table(&inputs)?;
        let copy = {
            let model = self.model.read(py);
            model.as_ref().ok_or_else(errors::not_learnt)?.forecaster.clone()
        };
        let (us, m) = (us.to_vec(), copy.outputs());
        let made = patiently(py, work_ahead(m, steps), move || copy.forecast(steps, &us))?;
        arrays::columns(py, made.map_err(errors::forecaster)?, m)
    }

    /// The quantiles of these shares of the next `steps` rows, of season mixtures; of others the
    /// ends of the interval of the next. One row a step, for each output all of them. Without
    /// shares they are the ends of intervals.
    fn _quantiles<'py>(
        &self,
        py: Python<'py>,
        steps: usize,
        inputs: PyReadonlyArray2<'py, f64>,
        shares: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let us = arrays::table(&inputs)?.0.to_vec();
        let model = self.model.read(py).as_ref().ok_or_else(errors::not_learnt)?.clone();
        let told = share(&model);
        if shares.is_empty() && told.is_none() {
            return Err(errors::data("the forecaster has no intervals; make it with intervals=0.9, say"));
        }
        let m = model.forecaster.outputs();
        if seasons(&model).is_none() && (steps != 1 || !shares.is_empty()) {
            return Err(errors::data(
                "quantiles, and intervals of several steps, are those of mercer.forecasting.Season",
            ));
        }
        let width = m * if shares.is_empty() { 2 } else { shares.len() };
        let made = patiently(py, work_ahead(m, steps), move || {
            let path = model.forecaster.forecast(steps, &us)?;
            let Some(seasons) = seasons(&model) else {
                let ends = path.iter().enumerate();
                return Ok(ends.flat_map(|(output, made)| reach(&model, output).map(|offset| made + offset)).collect());
            };
            let shares =
                if shares.is_empty() { told.map_or(Vec::new(), |share| tails(share).to_vec()) } else { shares };
            let of = |(place, forecast): (usize, &f64)| -> Vec<f64> {
                shares.iter().map(|p| seasons.quantile(place % m, *p, place / m + 1, *forecast)).collect()
            };
            Ok(path.iter().enumerate().flat_map(of).collect::<Vec<f64>>())
        })?;
        arrays::columns(py, made.map_err(errors::forecaster)?, width)
    }

    /// Whether a forecaster has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.model.read(py).is_some()
    }

    /// Outputs, inputs, rows observed, lags, whether the warm-up is over; then the mean squared
    /// error so far and the coverage of the intervals.
    fn _facts(&self, py: Python<'_>) -> PyResult<(usize, usize, usize, usize, bool, f64, Vec<f64>)> {
        let model = self.model.read(py);
        let Prediction { forecaster, errors: sums, intervals, .. } =
            &**model.as_ref().ok_or_else(errors::not_learnt)?;
        let coverage = intervals
            .as_ref()
            .map_or(Vec::new(), |all| (0..all.outputs()).map(|output| all.coverage(output)).collect());
        Ok((
            forecaster.outputs(),
            forecaster.inputs(),
            forecaster.time(),
            forecaster.lags(),
            forecaster.warmed_up(),
            sums.sum / sums.scored as f64,
            coverage,
        ))
    }

    /// The method, its parameters as JSON, the share of its intervals, and what Python keeps for
    /// itself.
    fn _told(&self, py: Python<'_>) -> PyResult<(String, Own, Option<f64>, Own)> {
        let model = self.model.read(py);
        let model = model.as_ref().ok_or_else(errors::not_learnt)?;
        Ok((model.method.clone(), model.parameters.clone(), share(model), model.own.clone()))
    }

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        front::file(slf.as_any(), &slf.get().model, |model, own| {
            model.own = own;
            model.to_bytes()
        })
    }

    /// Takes the model of a file.
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        match Model::from_bytes(bytes).map_err(errors::model)? {
            Model::Prediction(model) => {
                *self.model.write(py) = Some(model);
                Ok(())
            }
            other => Err(errors::model(ModelError::OtherKind { expected: ModelKind::Prediction, got: other.kind() })),
        }
    }
}
