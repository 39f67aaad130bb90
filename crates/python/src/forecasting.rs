//! Forecasters of series.

use std::sync::Mutex;

use mercer::forecast::{
    AnyForecaster, ConformalIntervals, Discounted, DiscountedParams, EpochSchedule, ForecastMixture, ForecastScratch,
    Forecaster, Forgetting, GridParams, InputParams, IntervalParams, KalmanPredictor, Opf, OpfParams, ScaledForecaster,
    ScaledParams, Slip, SlipParams, SpectralFilter, SpectralParams, SpectralRule, StateSpace, WindowedSlip,
    WindowedSlipParams,
};
use mercer::model::{Model, ModelError, ModelKind, Own, Prediction, SeriesErrors};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::front::own;
use crate::rows::{at_row, in_pieces};
use crate::shared::Shared;
use crate::{arrays, errors};

/// A forecaster, which is made when the first rows tell how many outputs and inputs there are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct ForecastCore {
    model: Shared<Option<Box<Prediction>>>,
    scratch: Mutex<ForecastScratch>,
}

/// The regulariser where columns are scaled, as the command has it.
const LAMBDA_IN_SCALES: f64 = 0.01;

/// What a Python object says of its forecaster.
#[derive(FromPyObject)]
struct Spec {
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
}

impl Spec {
    fn make(&self, m: usize, q: usize) -> PyResult<Box<Prediction>> {
        let schedule =
            EpochSchedule { beta: self.betas.first().copied().unwrap_or(2.5), t_init: self.t_init, max_lags: None };
        let lambda = self.lambda.unwrap_or(LAMBDA_IN_SCALES);
        let Self { t_init, rank, horizon, feed_through, .. } = *self;
        let inputs = |gamma: f64| {
            let forgetting = Forgetting::Scalar(self.gamma_input.unwrap_or(gamma));
            InputParams::default().count(q).forgetting(forgetting).feed_through(feed_through)
        };
        let mut shared = false;
        let made: Result<AnyForecaster, mercer::forecast::Error> = match self.method.as_str() {
            "opf" => {
                let forgetting = match &self.gamma_matrix {
                    Some(rows) => {
                        shared = rows
                            .iter()
                            .enumerate()
                            .any(|(i, row)| row.iter().enumerate().any(|(j, entry)| i != j && *entry != 0.0));
                        Forgetting::Matrix(rows.concat())
                    }
                    None => Forgetting::Scalar(self.gamma.unwrap_or(1.0)),
                };
                let params = OpfParams::default().schedule(schedule).lambda(lambda).forgetting(forgetting);
                if q == 0 {
                    Opf::new(m, &params)
                } else {
                    Opf::with_inputs(m, &inputs(self.gamma.unwrap_or(1.0)), &params)
                }
                .map(Into::into)
            }
            "experts" => {
                let params = GridParams::default().schedule(schedule).lambda(lambda).betas(self.betas.clone());
                let params = params.gamma_for_inputs(self.gamma_input.is_none());
                let grid = if q == 0 {
                    ForecastMixture::<Opf>::grid(m, &params)
                } else {
                    ForecastMixture::<Opf>::grid_with_inputs(m, &inputs(1.0), &params)
                };
                grid.map(|grid| grid.recovering().into())
            }
            "discounted" => {
                let params = DiscountedParams::default().schedule(schedule).lambda(lambda).alpha(self.alpha);
                if q == 0 { Discounted::new(m, &params) } else { Discounted::with_inputs(m, &inputs(1.0), &params) }
                    .map(Into::into)
            }
            "slip" => {
                let params = SlipParams::default().t_init(t_init).lambda(lambda).rank(rank).horizon(horizon);
                if q == 0 { Slip::new(m, &params) } else { Slip::with_inputs(m, q, feed_through, &params) }
                    .map(Into::into)
            }
            "slip-window" => {
                let params = WindowedSlipParams::default().schedule(schedule).lambda(lambda).rank(rank);
                if q == 0 {
                    WindowedSlip::new(m, &params)
                } else {
                    WindowedSlip::with_inputs(m, q, feed_through, &params)
                }
                .map(Into::into)
            }
            "spectral" => {
                let params = SpectralParams::default()
                    .t_init(t_init)
                    .rank(rank)
                    .horizon(horizon)
                    .rule(SpectralRule::Ridge { lambda });
                if q == 0 {
                    SpectralFilter::new(m, &params)
                } else {
                    SpectralFilter::with_inputs(m, q, feed_through, &params)
                }
                .map(Into::into)
            }
            "kalman" => {
                let Some([a, b, c, d, q_, r]) = self.system.as_deref() else {
                    return Err(errors::settings("a Kalman predictor needs the matrices of its system"));
                };
                let system =
                    StateSpace { a: a.clone(), b: b.clone(), c: c.clone(), d: d.clone(), q: q_.clone(), r: r.clone() };
                let kalman = KalmanPredictor::new(&system).map_err(errors::settings)?;
                if kalman.outputs() != m || kalman.inputs() != q {
                    return Err(errors::data(format!(
                        "the system has {} outputs and {} inputs, and the series {m} and {q}",
                        kalman.outputs(),
                        kalman.inputs()
                    )));
                }
                Ok(kalman.into())
            }
            other => return Err(errors::settings(format!("{other:?} is no method of forecasting"))),
        };
        let mut forecaster = made.map_err(errors::settings)?;
        if self.lambda.is_none() && self.method != "kalman" {
            let params = ScaledParams::default().rows(t_init.saturating_add(1)).shared(shared);
            forecaster = ScaledForecaster::new(forecaster, params).map_err(errors::settings)?.into();
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

#[pymethods]
impl ForecastCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: Shared::new(None), scratch: Mutex::default() }
    }

    /// Forgets everything, and makes a forecaster of `outputs` numbers with `inputs` more.
    fn _begin(slf: &Bound<'_, Self>, outputs: usize, inputs: usize) -> PyResult<()> {
        let spec: Spec = slf.call_method0("_spec")?.extract()?;
        let made = spec.make(outputs, inputs)?;
        *slf.get().model.write(slf.py()) = Some(made);
        Ok(())
    }

    /// Forgets everything.
    fn _reset(&self, py: Python<'_>) {
        *self.model.write(py) = None;
    }

    /// Predicts and observes rows in order: the predictions, and the radii of their intervals
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
        let (mut made, mut radii) = (vec![0.0; rows * m], vec![f64::INFINITY; rows * m]);
        let (all, reach) = (&mut made, &mut radii);
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let Prediction { forecaster, intervals, errors: sums, .. } =
                    &mut **model.as_mut().ok_or_else(errors::not_learnt)?;
                for row in range {
                    let (output, input) = (&ys[row * m..(row + 1) * m], &us[row * q..(row + 1) * q]);
                    let prediction = &mut all[row * m..(row + 1) * m];
                    let warm = forecaster.warmed_up();
                    let time = forecaster.time() as u64;
                    let refused = |error| at_row(row, errors::forecaster(error));
                    forecaster.predict_then_observe(input, output, prediction).map_err(refused)?;
                    if let Some(intervals) = intervals {
                        for (place, radius) in reach[row * m..(row + 1) * m].iter_mut().enumerate() {
                            *radius = intervals.radius(place);
                        }
                        if warm {
                            intervals.observe(prediction, output).map_err(|error| refused(error.into()))?;
                        }
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
            || 64,
        )?;
        Ok((arrays::columns(py, made, m)?, arrays::columns(py, radii, m)?))
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
        let made = py.detach(|| copy.forecast(steps, us)).map_err(errors::forecaster)?;
        arrays::columns(py, made, copy.outputs())
    }

    /// The prediction of the next row, with `input` where it acts at once.
    fn _predict_next(&self, py: Python<'_>, input: Vec<f64>) -> PyResult<Vec<f64>> {
        let model = self.model.read(py);
        let forecaster = &model.as_ref().ok_or_else(errors::not_learnt)?.forecaster;
        let mut made = vec![0.0; forecaster.outputs()];
        let mut scratch = self.scratch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        forecaster.predict_with(&input, &mut made, &mut scratch).map_err(errors::forecaster)?;
        Ok(made)
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

    /// How far the interval around the next prediction reaches, one number an output.
    fn _next_radii(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        let model = self.model.read(py);
        let intervals = model.as_ref().ok_or_else(errors::not_learnt)?.intervals.as_ref();
        let intervals = intervals
            .ok_or_else(|| errors::data("the forecaster has no intervals; make it with intervals=0.9, say"))?;
        Ok((0..intervals.outputs()).map(|output| intervals.radius(output)).collect())
    }

    /// The method, its parameters as JSON, the share of its intervals, and what Python keeps for
    /// itself.
    fn _told(&self, py: Python<'_>) -> PyResult<(String, Own, Option<f64>, Own)> {
        let model = self.model.read(py);
        let Prediction { method, parameters, intervals, own, .. } = &**model.as_ref().ok_or_else(errors::not_learnt)?;
        let share = intervals.as_ref().map(|intervals| intervals.params().coverage);
        Ok((method.clone(), parameters.clone(), share, own.clone()))
    }

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, shared) = (slf.py(), &slf.get().model);
        shared.read(py).as_ref().ok_or_else(errors::not_learnt)?;
        let own = own(slf.as_any(), &Own::new())?;
        let mut model = shared.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        model.own = own;
        Ok(PyBytes::new(py, &model.to_bytes().map_err(errors::model)?))
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
