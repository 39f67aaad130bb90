//! Sums of pairs of a state and its successor: Koopman operators on fixed features, over shards.

use mercer::AnyKernel;
use mercer::core::Validate;
use mercer::learners::{FeatureMap, FixedMap, OperatorMoments};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::fixed::{features, fit_error, spec, table};
use crate::rows::{in_pieces, patiently};
use crate::shared::FairLock;
use crate::{arrays, errors};

/// Pairs that are summed up between two looks at signals.
const PIECE: usize = 1024;

type Sums = OperatorMoments<FixedMap<AnyKernel>>;

/// The sums of an operator, which are begun when the first batch tells how many numbers a state
/// has.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct OperatorMomentsCore {
    sums: FairLock<Option<Box<Sums>>>,
}

#[pymethods]
impl OperatorMomentsCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { sums: FairLock::new(None) }
    }

    /// Forgets everything, and begins sums for states of `dimension` numbers, on the features of
    /// the learner `learner` of ridge regression.
    #[expect(clippy::too_many_arguments, reason = "called from one place, by its names")]
    fn _begin(
        &self,
        py: Python<'_>,
        learner: &str,
        kernel: Option<&str>,
        pairs: Vec<String>,
        seed: u64,
        dimension: usize,
        points: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<()> {
        let spec = spec(learner, kernel, &pairs, seed)?;
        let points = points.as_ref().map(table).transpose()?;
        let map = spec.map(dimension, points.as_ref()).map_err(fit_error)?;
        *self.sums.write(py) = Some(Box::new(OperatorMoments::new(map)));
        Ok(())
    }

    /// Takes over what another has learnt, which then has nothing.
    fn _take_over(&self, py: Python<'_>, other: &Self) {
        let theirs = other.sums.write(py).take();
        *self.sums.write(py) = theirs;
    }

    /// Sums pairs up: all of them, or none where one is refused.
    fn _learn_rows(&self, py: Python<'_>, x: PyReadonlyArray2<'_, f64>, y: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let ((states, rows, d), (successors, others, width)) = (arrays::table(&x)?, arrays::table(&y)?);
        if (rows, d) != (others, width) {
            return Err(errors::data(format!("{rows} states of {d} numbers and {others} successors of {width}")));
        }
        let map = {
            let sums = self.sums.read(py);
            sums.as_ref().ok_or_else(errors::not_learnt)?.feature_map().clone()
        };
        let mut seen = OperatorMoments::new(map);
        let total = &mut seen;
        in_pieces(
            py,
            rows,
            |range| {
                let range = range.start * d..range.end * d;
                total.add_pairs(&states[range.clone()], &successors[range]).map_err(errors::learner)
            },
            || PIECE,
        )?;
        self.sums.write(py).as_mut().ok_or_else(errors::not_learnt)?.merge(&seen).map_err(errors::learner)
    }

    /// Adds (or takes back) the pairs of another state.
    fn _combine(&self, py: Python<'_>, other: &Self, retract: bool) -> PyResult<()> {
        let theirs = other.snapshot(py)?;
        let mut sums = self.sums.write(py);
        match sums.as_mut() {
            None if retract => Err(errors::not_learnt()),
            None => {
                *sums = Some(theirs);
                Ok(())
            }
            Some(ours) if retract => ours.retract(&theirs).map_err(errors::learner),
            Some(ours) => ours.merge(&theirs).map_err(errors::learner),
        }
    }

    /// The features of states, one row each.
    fn _features<'py>(&self, py: Python<'py>, x: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (inputs, _, dimension) = arrays::table(&x)?;
        let sums = self.sums.read(py);
        let map = sums.as_ref().ok_or_else(errors::not_learnt)?.feature_map();
        features(py, map, inputs, dimension)
    }

    /// `M = (G + λI)⁻¹ A`, and `Σ ω‖φ⁺ − Mᵀφ‖²`.
    fn _operator<'py>(&self, py: Python<'py>, ridge: f64) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
        let sums = self.snapshot(py)?;
        let (made, error) = patiently(py, sums.feature_map().coordinates().saturating_pow(3), move || {
            let made = sums.operator(ridge)?;
            let error = sums.squared_error(&made);
            Ok((made, error))
        })?
        .map_err(errors::learner)?;
        let (r, columns) = (made.rows(), made.columns());
        let numbers = (0..r * columns).map(|place| made.entry(place / columns, place % columns)).collect();
        Ok((arrays::columns(py, numbers, columns)?, error))
    }

    /// The eigenvalues of the operator by decreasing modulus, `(count, 2)`: real and imaginary
    /// parts.
    fn _eigenvalues<'py>(&self, py: Python<'py>, ridge: f64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let sums = self.snapshot(py)?;
        let cost = sums.feature_map().coordinates().saturating_pow(3).saturating_mul(10);
        let values = patiently(py, cost, move || sums.eigenvalues(ridge))?.map_err(errors::learner)?;
        arrays::columns(py, values.iter().flat_map(|value| [value.re, value.im]).collect(), 2)
    }

    /// Whether there are sums.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.sums.read(py).is_some()
    }

    /// Numbers of a state, features, and pairs seen.
    fn _facts(&self, py: Python<'_>) -> PyResult<(usize, usize, f64)> {
        let sums = self.sums.read(py);
        let sums = sums.as_ref().ok_or_else(errors::not_learnt)?;
        Ok((sums.feature_map().input_dimension(), sums.feature_map().coordinates(), sums.weight()))
    }

    /// The sums as bytes, for Python alone: no model file holds them.
    fn _sums_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sums = self.sums.read(py);
        let bytes = postcard::to_allocvec(sums.as_ref().ok_or_else(errors::not_learnt)?).map_err(unreadable)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Takes sums of bytes.
    fn _set_sums(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let sums: Box<Sums> = postcard::from_bytes(bytes).map_err(unreadable)?;
        sums.validate().map_err(|error| errors::ModelFileError::new_err(error.to_string()))?;
        *self.sums.write(py) = Some(sums);
        Ok(())
    }
}

impl OperatorMomentsCore {
    fn snapshot(&self, py: Python<'_>) -> PyResult<Box<Sums>> {
        self.sums.read(py).as_ref().cloned().ok_or_else(errors::not_learnt)
    }
}

fn unreadable(error: postcard::Error) -> PyErr {
    errors::ModelFileError::new_err(format!("these bytes hold no sums of an operator: {error}"))
}
