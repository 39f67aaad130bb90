//! Ridge regressions that are sums over rows: states of shards that merge, and from which a learner
//! is made.

use std::sync::Arc;

use mercer::core::ExampleError;
use mercer::learners::{FeatureMap, MomentScratch, MomentSums, RidgeMoments};
use mercer::model::{Model, ModelError, ModelKind, Moments, Own, Regression};
use mercer::{Regressor, RegressorExt, Rows, Scratch, Targets};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::fixed::{features, fit_error, spec, table};
use crate::front::own;
use crate::rows::{at_row, in_pieces, patiently};
use crate::shared::FairLock;
use crate::{arrays, errors};

/// Rows and numbers of a chunk at most, those of the command: so the sums of one batch are those of
/// one file, to the bit.
const CHUNK: usize = 8192;
const CHUNK_NUMBERS: usize = 1 << 20;
/// Rows that are summed up together; a chunk has a multiple of them.
const TILE: usize = 64;
/// Multiply-adds of a chunk beyond which signals are looked at after each tile.
const LONG: usize = 1 << 27;
/// Rows that are predicted between two looks at signals.
const PIECE: usize = 256;

/// `Σ ωzzᵀ`; and for each target `Σ ωyz`, `Σ ωy` and `Σ ωy²`.
type RidgeSums<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// A ridge and its effective dimension; and for each target the residuals, R² and generalised
/// cross-validation.
type PathRow = (f64, f64, Vec<f64>, Vec<f64>, Vec<f64>);
/// The learner, the kernel, each key with its value, the seed, and the names of the features.
type RidgeFacts = (String, String, Vec<(String, String)>, u64, Vec<String>);

/// The sums of a ridge regression, which are begun when the first batch tells how many features
/// there are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct MomentsCore {
    state: FairLock<Option<MomentsState>>,
}

#[derive(Clone)]
struct MomentsState {
    moments: Box<Moments>,
    /// Rows that were summed up and are in no shard yet.
    open: u64,
    /// The learner of all rows; none after a change.
    fitted: Option<Arc<Regression>>,
    changes: u64,
}

impl MomentsState {
    fn new(moments: Moments) -> Self {
        Self { moments: Box::new(moments), open: 0, fitted: None, changes: 0 }
    }

    /// There are other sums.
    fn changed(&mut self) {
        self.fitted = None;
        self.changes += 1;
    }

    /// Has the rows since the last time be a shard of their own.
    fn settle(&mut self) -> PyResult<()> {
        if self.open > 0 {
            let parts = std::mem::take(&mut self.moments.parts);
            self.moments.close((0, 1), self.open, Vec::new()).map_err(errors::model)?;
            self.moments.parts.extend(parts);
            self.moments.parts.sort_unstable();
            self.open = 0;
        }
        Ok(())
    }
}

#[pymethods]
impl MomentsCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { state: FairLock::new(None) }
    }

    /// Forgets everything, and begins sums for rows of `dimension` features and `outputs` targets.
    /// `points` are those of a learner that needs them, `features` and `targets` the names of the
    /// columns if they have some.
    #[expect(clippy::too_many_arguments, reason = "called from one place, by its names")]
    fn _begin(
        &self,
        py: Python<'_>,
        learner: &str,
        kernel: Option<&str>,
        pairs: Vec<String>,
        seed: u64,
        dimension: usize,
        outputs: usize,
        points: Option<PyReadonlyArray2<'_, f64>>,
        features: Vec<String>,
        targets: Vec<String>,
    ) -> PyResult<()> {
        let spec = spec(learner, kernel, &pairs, seed)?;
        let points = points.as_ref().map(table).transpose()?;
        if points.is_some() && !spec.needs_points() {
            return Err(errors::settings(format!("{} takes no points; leave them out", spec.learner())));
        }
        let mut moments = spec.start(dimension, outputs, points.as_ref()).map_err(fit_error)?;
        moments.description.features = features;
        moments.description.target_name = targets.first().cloned();
        moments.description.target_names = if outputs > 1 { targets } else { Vec::new() };
        *self.state.write(py) = Some(MomentsState::new(moments));
        Ok(())
    }

    /// Takes over what another has learnt, which then has nothing.
    fn _take_over(&self, py: Python<'_>, other: &Self) {
        let theirs = other.state.write(py).take();
        *self.state.write(py) = theirs;
    }

    /// Sums rows up: all of them, or none where one is refused.
    #[pyo3(signature = (x, y, weights = None))]
    fn _learn_rows(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let (inputs, rows, dimension) = arrays::table(&x)?;
        let (ys, weights) = (arrays::numbers(&y)?, arrays::optional(&weights)?);
        let (map, outputs) = {
            let state = self.state.read(py);
            let moments = &state.as_ref().ok_or_else(errors::not_learnt)?.moments;
            (moments.sums.feature_map().clone(), moments.sums.outputs())
        };
        let targets = Targets::new(ys, weights, outputs).map_err(errors::learner)?;
        if targets.len() != rows {
            return Err(errors::data(format!("{rows} rows and {} targets; give one for each row", targets.len())));
        }
        let all = Rows::new(inputs, dimension, targets).map_err(errors::learner)?;
        let chunk = (CHUNK_NUMBERS / (dimension + outputs).max(1)).clamp(TILE, CHUNK) / TILE * TILE;
        let work = map.coordinates().saturating_pow(2).saturating_mul(chunk);
        let piece = if work > LONG { TILE } else { chunk };
        let mut whole = MomentSums::new(&map, outputs);
        let mut sums = MomentSums::new(&map, outputs);
        let (mut scratch, total) = (MomentScratch::default(), &mut whole);
        in_pieces(
            py,
            rows,
            |range| {
                sums.add_rows(&map, all.range(range.start, range.end), &mut scratch).map_err(errors::learner)?;
                if range.end == rows || range.end.is_multiple_of(chunk) {
                    total.add(1.0, &sums);
                    sums = MomentSums::new(&map, outputs);
                }
                Ok(())
            },
            || piece,
        )?;
        let mut state = self.state.write(py);
        let state = state.as_mut().ok_or_else(errors::not_learnt)?;
        let seen = RidgeMoments::from_sums(map, whole, 0.0).map_err(errors::learner)?;
        state.moments.sums.merge(&seen).map_err(errors::learner)?;
        state.open += rows as u64;
        state.changed();
        Ok(())
    }

    /// Adds (or takes back) the shards of another state.
    fn _combine(&self, py: Python<'_>, other: &Self, retract: bool) -> PyResult<()> {
        let theirs = {
            let mut state = other.state.write(py);
            let state = state.as_mut().ok_or_else(errors::not_learnt)?;
            state.settle()?;
            state.moments.clone()
        };
        let mut state = self.state.write(py);
        let Some(state) = state.as_mut() else {
            if retract {
                return Err(errors::not_learnt());
            }
            *state = Some(MomentsState::new(*theirs));
            return Ok(());
        };
        state.settle()?;
        let combined = if retract { state.moments.retract(&theirs) } else { state.moments.merge(&theirs) };
        state.changed();
        combined.map_err(|error| errors::data(error.to_string()))
    }

    /// Predictions for rows, one column a target; and the deviations of targets there, if they are
    /// asked for.
    fn _predict_rows<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        deviation: bool,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray2<f64>>>)> {
        let (inputs, rows, dimension) = arrays::table(&x)?;
        let model = self.fitted(py)?;
        let learner = &model.task.learner;
        if learner.dimension() != dimension {
            return Err(errors::learner(mercer::Error::Example(ExampleError::Dimension {
                expected: learner.dimension(),
                got: dimension,
            })));
        }
        let outputs = learner.outputs();
        let mut scores = vec![0.0; rows * outputs];
        let mut others = vec![0.0; if deviation { rows * outputs } else { 0 }];
        let (made, beside) = (&mut scores, &mut others);
        let mut scratch = Scratch::default();
        in_pieces(
            py,
            rows,
            |range| {
                for place in range {
                    let row = &inputs[place * dimension..(place + 1) * dimension];
                    let out = &mut made[place * outputs..(place + 1) * outputs];
                    let told = if deviation {
                        let variances = &mut beside[place * outputs..(place + 1) * outputs];
                        let told = learner.predict_variance_into(row, &mut scratch, out, variances);
                        variances.iter_mut().for_each(|one| *one = one.sqrt());
                        told.map(drop)
                    } else {
                        learner.predict_into(row, &mut scratch, out)
                    };
                    told.map_err(|error| at_row(place, errors::learner(error)))?;
                }
                Ok(())
            },
            || PIECE,
        )?;
        let others = deviation.then(|| arrays::columns(py, others, outputs)).transpose()?;
        Ok((arrays::columns(py, scores, outputs)?, others))
    }

    /// The features of rows, one row each: what is summed up.
    fn _features<'py>(&self, py: Python<'py>, x: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (inputs, _, dimension) = arrays::table(&x)?;
        let state = self.state.read(py);
        let moments = &state.as_ref().ok_or_else(errors::not_learnt)?.moments;
        features(py, moments.sums.feature_map(), inputs, dimension)
    }

    /// `Σ ωzzᵀ` as a table; and for each target a row of `Σ ωyz`, `Σ ωy` and `Σ ωy²`.
    fn _sums<'py>(&self, py: Python<'py>) -> PyResult<RidgeSums<'py>> {
        let state = self.state.read(py);
        let sums = state.as_ref().ok_or_else(errors::not_learnt)?.moments.sums.sums();
        let r = sums.features();
        let gram = sums.gram();
        let gram = (0..r * r).map(|place| gram.entry(place / r, place % r)).collect();
        let cross = sums.cross().iter().flat_map(|row| row.iter().copied()).collect();
        Ok((
            arrays::columns(py, gram, r)?,
            arrays::columns(py, cross, r)?,
            arrays::vector(py, sums.totals().to_vec()),
            arrays::vector(py, sums.squares().to_vec()),
        ))
    }

    /// The coefficients with ridge `lambda` (or the one of the model), a row for each target; and
    /// that ridge.
    #[pyo3(signature = (ridge = None))]
    fn _coefficients<'py>(&self, py: Python<'py>, ridge: Option<f64>) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
        let (coefficients, ridge) = self.solve(py, move |moments| {
            let ridge = chosen(moments, ridge)?;
            Ok((moments.sums.coefficients(ridge).map_err(errors::learner)?, ridge))
        })?;
        let width = coefficients.coordinates();
        let made = coefficients.vectors().iter().flat_map(|row| row.iter().copied()).collect();
        Ok((arrays::columns(py, made, width)?, ridge))
    }

    /// For each ridge its effective dimension, and for each target the residual sum of squares, R²
    /// and generalised cross-validation. Without ridges those of a grid; the last number is the
    /// best of them.
    #[pyo3(signature = (ridges = None))]
    fn _path(&self, py: Python<'_>, ridges: Option<Vec<f64>>) -> PyResult<(Vec<PathRow>, f64)> {
        let path = self.solve(py, |moments| moments.sums.path().map_err(errors::learner))?;
        let ridges = ridges.unwrap_or_else(|| path.grid());
        let points = ridges.iter().map(|ridge| path.at(*ridge)).collect::<Result<Vec<_>, _>>();
        let best = path.best(&ridges).map_err(errors::learner)?.lambda;
        let rows = points.map_err(errors::learner)?.into_iter();
        Ok((rows.map(|one| (one.lambda, one.effective_dimension, one.residuals, one.r2, one.gcv)).collect(), best))
    }

    /// The mean squared error on `shard`, of each target, of the fit to everything else; `shard`
    /// was merged before.
    fn _held_out(&self, py: Python<'_>, shard: &Self, ridge: Option<f64>) -> PyResult<Vec<f64>> {
        let shard = {
            let state = shard.state.read(py);
            state.as_ref().ok_or_else(errors::not_learnt)?.moments.clone()
        };
        self.solve(py, move |moments| {
            moments.check_same(&shard).map_err(|error| errors::data(error.to_string()))?;
            moments.sums.held_out(&shard.sums, chosen(moments, ridge)?).map_err(errors::learner)
        })
    }

    /// Whether there are sums.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.state.read(py).is_some()
    }

    /// Inputs, targets, features, rows, weight, and the rows of each shard.
    fn _facts(&self, py: Python<'_>) -> PyResult<(usize, usize, usize, u64, f64, Vec<u64>)> {
        let mut state = self.state.write(py);
        let state = state.as_mut().ok_or_else(errors::not_learnt)?;
        state.settle()?;
        let sums = &state.moments.sums;
        let (map, parts) = (sums.feature_map(), &state.moments.parts);
        let shards = parts.iter().map(|part| part.rows).collect();
        let (d, r) = (map.input_dimension(), map.coordinates());
        Ok((d, sums.outputs(), r, state.moments.rows(), sums.weight(), shards))
    }

    /// The learner, the kernel, each key with its value, the seed; and the names of the features.
    fn _description(&self, py: Python<'_>) -> PyResult<RidgeFacts> {
        let state = self.state.read(py);
        let about = &state.as_ref().ok_or_else(errors::not_learnt)?.moments.description;
        let names = about.features.clone();
        Ok((about.learner.clone(), about.kernel.clone(), about.parameters.clone(), about.seed, names))
    }

    /// What Python keeps for itself in a file.
    fn _kept(&self, py: Python<'_>) -> PyResult<Own> {
        Ok(self.state.read(py).as_ref().ok_or_else(errors::not_learnt)?.moments.description.own.clone())
    }

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, shared) = (slf.py(), &slf.get().state);
        let own = own(slf.as_any(), &slf.get()._kept(py)?)?;
        let mut state = shared.write(py);
        let state = state.as_mut().ok_or_else(errors::not_learnt)?;
        state.settle()?;
        state.moments.description.own = own;
        Ok(PyBytes::new(py, &state.moments.to_bytes().map_err(errors::model)?))
    }

    /// Takes the sums of a file.
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        match Model::from_bytes(bytes).map_err(errors::model)? {
            Model::Moments(moments) if moments.classes.is_some() => {
                Err(errors::model(ModelError::OtherSums { what: "classes" }))
            }
            Model::Moments(moments) if moments.encoding.is_some() => {
                Err(errors::model(ModelError::OtherSums { what: "a table that is encoded" }))
            }
            Model::Moments(moments) => {
                *self.state.write(py) = Some(MomentsState::new(*moments));
                Ok(())
            }
            other => Err(errors::model(ModelError::OtherKind { expected: ModelKind::Moments, got: other.kind() })),
        }
    }
}

impl MomentsCore {
    /// The learner of all rows, which is made once after each change.
    fn fitted(&self, py: Python<'_>) -> PyResult<Arc<Regression>> {
        if let Some(fitted) = self.state.read(py).as_ref().and_then(|state| state.fitted.clone()) {
            return Ok(fitted);
        }
        let changes = self.state.read(py).as_ref().map(|state| state.changes);
        let fitted = Arc::new(self.solve(py, |moments| moments.fit().map_err(refused))?);
        if let Some(state) = self.state.write(py).as_mut().filter(|state| Some(state.changes) == changes) {
            state.fitted = Some(fitted.clone());
        }
        Ok(fitted)
    }

    /// What `work` makes of the sums as they are now, in some `10r³` multiply-adds.
    fn solve<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Moments) -> PyResult<T> + Send + 'static,
    ) -> PyResult<T> {
        let moments = self.state.read(py).as_ref().ok_or_else(errors::not_learnt)?.moments.clone();
        let cost = moments.sums.feature_map().coordinates().saturating_pow(3).saturating_mul(10);
        patiently(py, cost, move || work(&moments))?
    }
}

/// The ridge given, that of the model, or the one that the sums choose.
fn chosen(moments: &Moments, ridge: Option<f64>) -> PyResult<f64> {
    match ridge.or(moments.lambda) {
        Some(ridge) => Ok(ridge),
        None => Ok(moments.point().map_err(errors::learner)?.lambda),
    }
}

/// Why the sums have no fit.
fn refused(error: ModelError) -> PyErr {
    match error {
        ModelError::Learner(error) => errors::learner(error),
        error => errors::model(error),
    }
}
