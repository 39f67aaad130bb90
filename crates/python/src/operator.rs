//! The learner of an operator between states and their successors.

use mercer::koopman::{
    Budget, BudgetTest, DictionaryShape, KernelOperator, OperatorLearner, Sogd, SogdParams, StepSchedule,
};
use mercer::model::{AnyOperator, Model, ModelError, ModelKind, Operator, Own};
use mercer::{AnyKernel, Gaussian, KernelSpec, median_width};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::front;
use crate::rows::{at_row, in_pieces, patiently, piece};
use crate::shared::FairLock;
use crate::{arrays, errors, fixed};

/// A learner of an operator, which is made when the first pairs tell their dimensions.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct OperatorCore {
    model: FairLock<Option<Box<Operator>>>,
}

/// What a Python object says of its learner.
#[derive(FromPyObject)]
struct OperatorSpec {
    #[pyo3(item)]
    kernel: String,
    #[pyo3(item)]
    output_kernel: Option<String>,
    #[pyo3(item)]
    eta: Option<f64>,
    #[pyo3(item)]
    eta_power: Option<(f64, f64)>,
    #[pyo3(item)]
    lambda: f64,
    #[pyo3(item)]
    budget: Option<f64>,
    #[pyo3(item)]
    budget_eta_squared: bool,
    #[pyo3(item)]
    test: String,
    #[pyo3(item)]
    shape: String,
    #[pyo3(item)]
    rank_guard: f64,
    #[pyo3(item)]
    max_dictionary: Option<usize>,
}

impl OperatorSpec {
    fn params(&self) -> PyResult<SogdParams> {
        let step = StepSchedule::given(self.eta, self.eta_power);
        let budget = if self.budget_eta_squared {
            Budget::EtaSquared(self.budget.unwrap_or(0.1))
        } else {
            Budget::Constant(self.budget.unwrap_or_else(|| step.usual_budget()))
        };
        let test = match self.test.as_str() {
            "norm" => BudgetTest::Norm,
            "squared" => BudgetTest::Squared,
            "output-ald" => BudgetTest::OutputAld,
            other => {
                return Err(errors::settings(format!(
                    "budget_test is {other:?}; give \"norm\", \"squared\" or \"output-ald\""
                )));
            }
        };
        let shape = match self.shape.as_str() {
            "paired" => DictionaryShape::Paired,
            "rectangular" => DictionaryShape::Rectangular,
            other => {
                return Err(errors::settings(format!(
                    "dictionary_shape is {other:?}; give \"paired\" or \"rectangular\""
                )));
            }
        };
        let params = SogdParams::default().step(step).lambda(self.lambda).budget(budget).test(test).shape(shape);
        Ok(params.rank_guard(self.rank_guard).max_dictionary(self.max_dictionary))
    }

    fn make(&self, x: &[f64], d: usize, y: &[f64], d_plus: usize) -> PyResult<Box<Operator>> {
        let median = |d: usize, rows: &[f64]| {
            let rows = &rows[..rows.len().min(256 * d)];
            Gaussian::new(median_width(d, rows)).map(AnyKernel::Gaussian).map_err(errors::settings)
        };
        let parsed = |spec: &str| spec.parse::<KernelSpec>().map_err(errors::settings);
        let given = parsed(&self.kernel)?;
        let input = match &given {
            KernelSpec::Given(kernel) => kernel.clone(),
            KernelSpec::Median => median(d, x)?,
        };
        let output = match (self.output_kernel.as_deref().map(parsed).transpose()?, &given) {
            (Some(KernelSpec::Given(kernel)), _) => kernel,
            (Some(KernelSpec::Median), _) => median(d_plus, y)?,
            (None, KernelSpec::Median) if d != d_plus => median(d_plus, y)?,
            (None, _) => input.clone(),
        };
        let learner = Sogd::new(input, d, output, d_plus, self.params()?).map_err(errors::settings)?;
        Ok(Box::new(Operator::new(Vec::new(), AnyOperator::Sparse(Box::new(learner)))))
    }
}

/// Eigenvalues, and eigenfunctions at points, each as real and imaginary parts.
type Eigen<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

#[pymethods]
impl OperatorCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: FairLock::new(None) }
    }

    /// Forgets everything, and makes a learner for such pairs.
    fn _begin(slf: &Bound<'_, Self>, x: PyReadonlyArray2<'_, f64>, y: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let spec: OperatorSpec = slf.call_method0("_spec")?.extract()?;
        let ((x, _, d), (y, _, d_plus)) = (arrays::table(&x)?, arrays::table(&y)?);
        let made = spec.make(x, d, y, d_plus)?;
        *slf.get().model.write(slf.py()) = Some(made);
        Ok(())
    }

    /// Takes over what another has learnt, which then has nothing.
    fn _take_over(&self, py: Python<'_>, other: &Self) {
        let theirs = other.model.write(py).take();
        *self.model.write(py) = theirs;
    }

    /// Learns pairs in order.
    fn _learn_rows(&self, py: Python<'_>, x: PyReadonlyArray2<'_, f64>, y: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let ((xs, rows, d), (ys, others, d_plus)) = (arrays::table(&x)?, arrays::table(&y)?);
        if rows != others {
            return Err(errors::data(format!("{rows} states and {others} successors")));
        }
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let learner = &mut model.as_mut().ok_or_else(errors::not_learnt)?.learner;
                for row in range {
                    let (x, y) = (&xs[row * d..(row + 1) * d], &ys[row * d_plus..(row + 1) * d_plus]);
                    learner.update(x, y).map_err(|error| at_row(row, errors::operator(error)))?;
                }
                Ok(())
            },
            || piece(128),
        )
    }

    /// All eigenvalues by decreasing modulus, `(count, 2)`: real and imaginary parts.
    fn _eigenvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let operator = self.snapshot(py)?;
        let values = patiently(py, cubed(&operator), move || operator.eigenvalues())?.map_err(errors::operator)?;
        arrays::columns(py, values.iter().flat_map(|value| [value.re, value.im]).collect(), 2)
    }

    /// The `count` leading eigenvalues, and their eigenfunctions at these points: a row a point, a
    /// column a function.
    fn _eigen<'py>(&self, py: Python<'py>, x: PyReadonlyArray2<'py, f64>, count: usize) -> PyResult<Eigen<'py>> {
        let operator = self.snapshot(py)?;
        let points = fixed::table(&x)?;
        let n = points.len();
        let cost = cubed(&operator).saturating_add(n.saturating_mul(count));
        let (values, re, im) = patiently(py, cost, move || {
            let eigen = operator.eigen(count)?;
            let parts = |parts: &[Vec<f64>]| {
                let functions: Vec<&[f64]> = parts.iter().map(Vec::as_slice).collect();
                operator.evaluate_all(&functions, &points)
            };
            Ok((eigen.values.clone(), parts(&eigen.re)?, parts(&eigen.im)?))
        })?
        .map_err(errors::operator)?;
        let table = |parts: &[Vec<f64>]| {
            let numbers = (0..n).flat_map(|row| parts.iter().map(move |function| function[row])).collect();
            arrays::columns(py, numbers, parts.len())
        };
        let values: Vec<f64> = values.iter().flat_map(|value| [value.re, value.im]).collect();
        Ok((arrays::columns(py, values, 2)?, table(&re)?, table(&im)?))
    }

    /// The values of observables `steps` steps after each state: `(rows, steps × observables)`.
    /// `values` holds the observables at the points kept of the successors, one row a point.
    fn _forecast<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        values: PyReadonlyArray2<'py, f64>,
        steps: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let operator = self.snapshot(py)?;
        let (points, (values, kept, observables)) = (fixed::table(&x)?, arrays::table(&values)?);
        let n = points.len();
        let values = values.to_vec();
        let cost = observables.saturating_mul(steps).saturating_mul(kept.saturating_mul(kept + n));
        let made = patiently(py, cost, move || {
            let mut made = vec![0.0; n * steps * observables];
            for which in 0..observables {
                let g: Vec<f64> = (0..kept).map(|row| values[row * observables + which]).collect();
                for (step, at) in operator.forecasts(&g, &points, steps)?.iter().enumerate() {
                    for (row, value) in at.iter().enumerate() {
                        made[(row * steps + step) * observables + which] = *value;
                    }
                }
            }
            Ok(made)
        })?
        .map_err(errors::operator)?;
        arrays::columns(py, made, steps * observables)
    }

    /// The points kept: of the states, and of their successors.
    fn _points<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
        let operator = self.snapshot(py)?;
        Ok([arrays::points(py, operator.inputs())?, arrays::points(py, operator.outputs())?])
    }

    /// The weights `W` of `U = Σ W_ij k(x_i⁺, ·) ⊗ k(x_j, ·)`: a row for each successor kept, a
    /// column for each state.
    fn _weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let operator = self.snapshot(py)?;
        Ok(arrays::vector(py, operator.weights()))
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.model.read(py).is_some()
    }

    /// Dimensions of states and successors, pairs learnt, the Hilbert–Schmidt norm, and the
    /// kernels.
    fn _facts(&self, py: Python<'_>) -> PyResult<(usize, usize, u64, f64, String, String)> {
        let model = self.model.read(py);
        let learner = descent(model.as_ref().ok_or_else(errors::not_learnt)?)?;
        let operator = learner.operator();
        let kernels = (operator.input_kernel().to_string(), operator.output_kernel().to_string());
        Ok((
            operator.input_dimension(),
            operator.output_dimension(),
            learner.rounds(),
            operator.hs_norm(),
            kernels.0,
            kernels.1,
        ))
    }

    /// The parameters as the command's options write them, and what Python keeps for itself.
    fn _told(&self, py: Python<'_>) -> PyResult<(Own, Own)> {
        let model = self.model.read(py);
        let model = model.as_ref().ok_or_else(errors::not_learnt)?;
        Ok((model.parameters.clone(), model.own.clone()))
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
            Model::Operator(model) => {
                *self.model.write(py) = Some(model);
                Ok(())
            }
            other => Err(errors::model(ModelError::OtherKind { expected: ModelKind::Operator, got: other.kind() })),
        }
    }
}

impl OperatorCore {
    /// The operator as it is now.
    fn snapshot(&self, py: Python<'_>) -> PyResult<KernelOperator<AnyKernel, AnyKernel>> {
        let model = self.model.read(py);
        Ok(descent(model.as_ref().ok_or_else(errors::not_learnt)?)?.operator().clone())
    }
}

/// About the multiply-adds of the eigenvalues of an operator.
fn cubed(operator: &KernelOperator<AnyKernel, AnyKernel>) -> usize {
    operator.inputs().len().saturating_pow(3).saturating_mul(10)
}

/// The learner by gradient descent.
fn descent(model: &Operator) -> PyResult<&dyn OperatorLearner<AnyKernel, AnyKernel>> {
    model.learner.descent().ok_or_else(|| errors::file("the model holds exact sums; use mercer.load".to_owned()))
}
