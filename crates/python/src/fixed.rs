//! Features that are fixed before the first row, as sums over rows need them.

use mercer::core::ExampleError;
use mercer::fit::{FitError, FitSpec};
use mercer::kernels::AlignedVec;
use mercer::learners::{FeatureMap, FixedMap};
use mercer::{AnyKernel, Points};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::{arrays, errors};

pub(crate) fn fit_error(error: FitError) -> PyErr {
    match error {
        FitError::Sums(error) => errors::learner(error),
        error => errors::settings(error),
    }
}

/// The features of a learner whose sums add up.
pub(crate) fn spec(learner: &str, kernel: Option<&str>, pairs: &[String], seed: u64) -> PyResult<FitSpec> {
    let kernel = kernel.map(str::parse::<AnyKernel>).transpose().map_err(errors::settings)?;
    FitSpec::new(learner, kernel, pairs.iter().map(String::as_str), seed).map_err(fit_error)
}

/// Points of a table.
pub(crate) fn table(rows: &PyReadonlyArray2<'_, f64>) -> PyResult<Points> {
    let (numbers, _, width) = arrays::table(rows)?;
    let mut points = Points::new(width);
    numbers.chunks_exact(width.max(1)).for_each(|point| {
        points.push(point);
    });
    Ok(points)
}

/// The features of rows, one row each.
pub(crate) fn features<'py>(
    py: Python<'py>,
    map: &FixedMap<AnyKernel>,
    inputs: &[f64],
    dimension: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    if map.input_dimension() != dimension {
        return Err(errors::learner(mercer::Error::Example(ExampleError::Dimension {
            expected: map.input_dimension(),
            got: dimension,
        })));
    }
    let (mut features, mut work, mut made) = (AlignedVec::new(), AlignedVec::new(), Vec::new());
    for input in inputs.chunks_exact(dimension.max(1)) {
        map.map(input, &mut features, &mut work);
        made.extend_from_slice(&features);
    }
    arrays::columns(py, made, map.coordinates())
}
