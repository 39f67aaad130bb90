//! The extension module behind the Python package `mercer`: learners, forecasters and operators of
//! the library crate as Python objects.
//!
//! Each class here is one family of learners. It holds the model as a model file does, behind a
//! lock. Predictions share the lock; learning takes it alone, one piece of a batch at a time.
//! Batches run without the interpreter's lock. Python code in `python/mercer` derives its classes
//! from these, and adds parameters, data frames and the interfaces of scikit-learn and river.

mod arrays;
mod batch;
mod body;
mod catalogue;
mod cells;
mod classes;
mod errors;
mod expansion;
mod explaining;
mod fixed;
mod forecasting;
mod front;
mod learner;
mod making;
mod moments;
mod names;
mod notes;
mod operator;
mod operator_moments;
mod operator_sums;
mod rates;
mod reading;
mod rows;
mod shared;
mod steps;
mod table;
mod tuning;
mod watching;

use mercer::forecast::{TotalMethod, TotalShares};
use mercer::session::series::{ORIGINS, UsualShare};
use numpy::PyArray1;
use pyo3::prelude::*;

/// Learners of the library crate `mercer` as Python objects.
#[pymodule]
fn _mercer(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add(module)?;
    // Looks up numpy's functions here: an interrupt while a later call looks them up is a panic.
    PyArray1::<f64>::zeros(module.py(), 0, false);
    module.add_class::<learner::LearnerCore>()?;
    module.add_class::<forecasting::ForecastCore>()?;
    module.add_class::<operator::OperatorCore>()?;
    module.add_class::<operator_sums::OperatorSumsCore>()?;
    module.add_class::<table::TableCore>()?;
    module.add_class::<moments::MomentsCore>()?;
    module.add_class::<operator_moments::OperatorMomentsCore>()?;
    module.add_class::<watching::NoveltyCore>()?;
    module.add_class::<watching::ChangeCore>()?;
    module.add_class::<watching::RisesCore>()?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::model_kind, module)?)?;
    module.add_function(wrap_pyfunction!(forecasting::add_up, module)?)?;
    module.add("TOTAL_METHODS", TotalMethod::NAMES)?;
    module.add("TOTAL_ERRORS", TotalShares::ERRORS)?;
    module.add("USUAL_SHARE", UsualShare::default().get())?;
    module.add("ORIGINS", ORIGINS)?;
    module.add_function(wrap_pyfunction!(making::takes_tokens, module)?)?;
    module.add_function(wrap_pyfunction!(names::places, module)?)?;
    module.add_function(wrap_pyfunction!(names::row, module)?)?;
    module.add_function(wrap_pyfunction!(rates::rates, module)?)?;
    module.add_function(wrap_pyfunction!(reading::read, module)?)?;
    module.add_function(wrap_pyfunction!(reading::write_model, module)?)?;
    module.add_function(wrap_pyfunction!(tuning::tune, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
