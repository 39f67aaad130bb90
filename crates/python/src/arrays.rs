//! Tables of numbers from and to numpy.

use mercer::Points;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors;

/// A table in row-major order: its numbers, rows and columns.
pub(crate) fn table<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<(&'a [f64], usize, usize)> {
    let [rows, columns] = [array.shape()[0], array.shape()[1]];
    let numbers = array
        .as_slice()
        .map_err(|_| errors::data("the array is not contiguous; pass numpy.ascontiguousarray of it"))?;
    Ok((numbers, rows, columns))
}

/// Numbers in order.
pub(crate) fn numbers<'a>(array: &'a PyReadonlyArray1<'_, f64>) -> PyResult<&'a [f64]> {
    array.as_slice().map_err(|_| errors::data("the array is not contiguous; pass numpy.ascontiguousarray of it"))
}

/// Numbers that may be left out: none then.
pub(crate) fn optional<'a>(array: &'a Option<PyReadonlyArray1<'_, f64>>) -> PyResult<&'a [f64]> {
    array.as_ref().map_or(Ok(&[]), numbers)
}

/// Numbers as an array of `width` columns.
pub(crate) fn columns<'py>(py: Python<'py>, numbers: Vec<f64>, width: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = numbers.len().checked_div(width).unwrap_or(0);
    numbers.into_pyarray(py).reshape([rows, width])
}

/// Points as an array, a row each.
pub(crate) fn points<'py>(py: Python<'py>, points: &Points) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let width = points.dimension();
    let mut numbers = vec![0.0; points.len() * width];
    for (row, place) in numbers.chunks_exact_mut(width.max(1)).enumerate() {
        points.copy_point(row, place);
    }
    columns(py, numbers, width)
}

/// Numbers as an array.
pub(crate) fn vector(py: Python<'_>, numbers: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    numbers.into_pyarray(py)
}
