//! Forecasters of series.

mod making;
mod observing;

use mercer::forecast::{ForecastParts, Forecaster, InputEffect, Seasons, TotalMethod, TotalShares};
use mercer::model::{Model, ModelError, ModelKind, Own, Prediction};
use mercer::session::series::{MOST_STEPS, UsualShare};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::front;
use crate::rows::{at_row, in_pieces, patiently};
use crate::shared::FairLock;
use crate::{arrays, errors};
use making::ForecasterSpec;
use observing::{ObservedRows, RowBacktest, RowWishes, levels, reach, share, tails};

/// A forecaster, which is made when the first rows tell how many outputs and inputs there are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct ForecastCore {
    model: FairLock<Option<Box<Prediction>>>,
}

/// Multiply-adds of a step ahead of one output, about those of a grid of forecasters.
const STEP: usize = 1 << 14;

/// About the multiply-adds of forecasts.
fn work_ahead(outputs: usize, steps: usize) -> usize {
    STEP.saturating_mul(outputs).saturating_mul(steps)
}

/// Numbers of the parts of an output: trend, seasons, effects of inputs, and the rest.
fn part_count(model: &Prediction) -> usize {
    2 + model.seasons().map_or(0, Seasons::most_seasons) + model.forecaster.inputs()
}

/// Outputs and inputs of rows, row by row.
type SeriesRows<'a> = (&'a [f64], &'a [f64]);

impl ForecastCore {
    /// The rows of a table of outputs and one of inputs, for the forecaster that there is; and
    /// their number and outputs.
    fn rows<'a>(
        &self,
        py: Python<'_>,
        outputs: &'a PyReadonlyArray2<'_, f64>,
        inputs: &'a PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(SeriesRows<'a>, [usize; 2])> {
        let (ys, rows, m) = arrays::table(outputs)?;
        let (us, input_rows, q) = arrays::table(inputs)?;
        if input_rows != rows {
            return Err(errors::data(format!("{rows} rows of outputs and {input_rows} of inputs")));
        }
        let model = self.model.read(py);
        let forecaster = &model.as_ref().ok_or_else(errors::not_learnt)?.forecaster;
        if forecaster.outputs() != m || forecaster.inputs() != q {
            let (outputs, inputs) = (forecaster.outputs(), forecaster.inputs());
            return Err(errors::data(format!(
                "rows of {m} outputs and {q} inputs; the forecaster was made for {outputs} and {inputs}"
            )));
        }
        Ok(((ys, us), [rows, m]))
    }

    /// Observes rows, and calls `after` behind each.
    fn observe(
        &self,
        py: Python<'_>,
        ((ys, us), [rows, m]): (SeriesRows<'_>, [usize; 2]),
        wishes: RowWishes,
        mut after: impl FnMut(&Prediction, usize) -> Result<(), mercer::forecast::Error> + Send,
    ) -> PyResult<ObservedRows> {
        let mut told = ObservedRows::default();
        let all = &mut told;
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let model = model.as_mut().ok_or_else(errors::not_learnt)?;
                let q = model.forecaster.inputs();
                for row in range {
                    let of_row = (&ys[row * m..(row + 1) * m], &us[row * q..(row + 1) * q]);
                    let observed = all.observe(model, of_row, wishes).and_then(|()| after(model, row));
                    observed.map_err(|error| at_row(row, errors::forecaster(error)))?;
                }
                Ok(())
            },
            || (64 / m.max(1)).max(1),
        )?;
        Ok(told)
    }
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
    /// (infinite where there is none). Then, of season mixtures, the bands that hold the `usual`
    /// share of the values (not numbers where none was judged); all parts of the predictions of
    /// each output, if they are wanted; and the number of rows whose errors do not count.
    #[pyo3(signature = (outputs, inputs, usual = None, parts = false))]
    fn _observe_rows<'py>(
        &self,
        py: Python<'py>,
        outputs: PyReadonlyArray2<'py, f64>,
        inputs: PyReadonlyArray2<'py, f64>,
        usual: Option<f64>,
        parts: bool,
    ) -> PyResult<(
        Bound<'py, PyArray2<f64>>,
        Bound<'py, PyArray2<f64>>,
        Bound<'py, PyArray2<f64>>,
        Bound<'py, PyArray2<f64>>,
        usize,
    )> {
        let rows = self.rows(py, &outputs, &inputs)?;
        let usual = usual.map(UsualShare::try_from).transpose().map_err(errors::settings)?;
        let told = self.observe(py, rows, RowWishes { usual, parts }, |_, _| Ok(()))?;
        let m = rows.1[1];
        let width = part_count(self.model.read(py).as_ref().ok_or_else(errors::not_learnt)?);
        Ok((
            arrays::columns(py, told.predictions, m)?,
            arrays::columns(py, told.ends, 2 * m)?,
            arrays::columns(py, told.bands, 2 * m)?,
            arrays::columns(py, told.parts, width * m)?,
            told.unscored,
        ))
    }

    /// Observes rows, and forecasts `steps` of them from rolling origins, of which the last `most`
    /// count. Rows of origin, step, output, what came, the forecast and the quantiles of `shares`;
    /// the ends of intervals are the first of these, if there are some.
    fn _backtest_rows<'py>(
        &self,
        py: Python<'py>,
        outputs: PyReadonlyArray2<'py, f64>,
        inputs: PyReadonlyArray2<'py, f64>,
        steps: usize,
        most: usize,
        shares: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, sizes) = self.rows(py, &outputs, &inputs)?;
        if steps > MOST_STEPS {
            return Err(errors::settings(format!(
                "a backtest is of at most {MOST_STEPS} steps, and {steps} were asked for"
            )));
        }
        let told = share(self.model.read(py).as_ref().ok_or_else(errors::not_learnt)?);
        let shares: Vec<f64> = told.into_iter().flat_map(tails).chain(shares).collect();
        let width = 5 + shares.len();
        let mut backtest = RowBacktest::new(steps, most, shares, rows);
        self.observe(py, (rows, sizes), RowWishes::default(), |model, row| backtest.take(model, row))?;
        arrays::columns(py, backtest.rows(), width)
    }

    /// Predictions of the next `steps` rows, and all parts of each output.
    fn _parts_ahead<'py>(
        &self,
        py: Python<'py>,
        steps: usize,
        inputs: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let us = arrays::table(&inputs)?.0.to_vec();
        let model = self.model.read(py).as_ref().ok_or_else(errors::not_learnt)?.clone();
        let (m, width) = (model.forecaster.outputs(), part_count(&model));
        let made = patiently(py, work_ahead(m, steps), move || {
            let path = model.forecaster.forecast(steps, &us)?;
            let (parts, seasons) = (model.parts(&path, &us)?, model.seasons().map_or(0, Seasons::most_seasons));
            let of_step = |step: usize| parts.iter().flat_map(move |parts| parts.row(step, seasons));
            let told: Vec<f64> = (0..steps).flat_map(of_step).collect();
            Ok((path, told))
        })?;
        let (path, parts) = made.map_err(errors::forecaster)?;
        Ok((arrays::columns(py, path, m)?, arrays::columns(py, parts, width * m)?))
    }

    /// The names of the parts of an output, whose inputs have these names.
    fn _part_names(&self, py: Python<'_>, inputs: Vec<String>) -> PyResult<Vec<String>> {
        let model = self.model.read(py);
        let seasons = model.as_ref().ok_or_else(errors::not_learnt)?.seasons().map_or(0, Seasons::most_seasons);
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        Ok(ForecastParts::names(seasons, &inputs).collect())
    }

    /// For each output and then each input: the effect of a unit, its standard error, the effect in
    /// units of the output's mean, each if it is known, and the share of the forecast that is made
    /// with the inputs.
    fn _effects(&self, py: Python<'_>) -> PyResult<Vec<(Option<f64>, Option<f64>, Option<f64>, f64)>> {
        let model = self.model.read(py);
        let Some(seasons) = model.as_ref().ok_or_else(errors::not_learnt)?.seasons() else { return Ok(Vec::new()) };
        let told = |effect: InputEffect| {
            let known = |number: f64| effect.is_known().then_some(number);
            (known(effect.per_unit), known(effect.standard_error), effect.of_mean, effect.share)
        };
        Ok((0..seasons.outputs()).flat_map(|output| seasons.effects(output)).map(told).collect())
    }

    /// The lengths of the seasons of each output, given or found so far.
    fn _periods(&self, py: Python<'_>) -> PyResult<Vec<Vec<usize>>> {
        let model = self.model.read(py);
        let Some(seasons) = model.as_ref().ok_or_else(errors::not_learnt)?.seasons() else { return Ok(Vec::new()) };
        Ok((0..seasons.outputs()).map(|output| seasons.mixture(output).periods().to_vec()).collect())
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
        if model.seasons().is_none() && (steps != 1 || !shares.is_empty()) {
            return Err(errors::data(
                "quantiles, and intervals of several steps, are those of mercer.forecasting.Season",
            ));
        }
        let width = m * if shares.is_empty() { 2 } else { shares.len() };
        let made = patiently(py, work_ahead(m, steps), move || {
            let path = model.forecaster.forecast(steps, &us)?;
            if model.seasons().is_none() {
                let ends = path.iter().enumerate();
                return Ok(ends.flat_map(|(output, made)| reach(&model, output).map(|offset| made + offset)).collect());
            }
            let shares =
                if shares.is_empty() { told.map_or(Vec::new(), |share| tails(share).to_vec()) } else { shares };
            Ok(levels(&model, &shares, &path))
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

/// Forecasts of a total and of its parts made to add up by a method, step by step: the totals, and
/// the parts. `of_one_step` are rows of errors of one step, the total's first.
#[pyfunction]
pub(crate) fn add_up<'py>(
    py: Python<'py>,
    method: &str,
    totals: PyReadonlyArray1<'py, f64>,
    parts: PyReadonlyArray2<'py, f64>,
    of_one_step: PyReadonlyArray2<'py, f64>,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
    let method: TotalMethod = method.parse().map_err(errors::settings)?;
    let (mut totals, (parts, steps, count)) = (arrays::numbers(&totals)?.to_vec(), arrays::table(&parts)?);
    let (of_rows, _, width) = arrays::table(&of_one_step)?;
    if totals.len() != steps || width != count + 1 {
        return Err(errors::data("there is a total a step, and an error for it and each part"));
    }
    let rows: Vec<Vec<f64>> = of_rows.chunks_exact(width).map(<[f64]>::to_vec).collect();
    let (shares, mut parts) = (TotalShares::new(method, count, &rows), parts.to_vec());
    for (total, parts) in totals.iter_mut().zip(parts.chunks_exact_mut(count.max(1))) {
        shares.reconcile(total, parts);
    }
    Ok((arrays::vector(py, totals), arrays::columns(py, parts, count)?))
}
