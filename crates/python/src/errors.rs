//! Exceptions: all are `ValueError`s, with the message of the library.

use mercer::catalogue::CatalogueError;
use mercer::core::ExampleError;
use mercer::encoding::{EncodingError, Face};
use mercer::model::ModelError;
use mercer::session::StepError;
use mercer::{Error, forecast, koopman};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(mercer, MercerError, PyValueError, "What the library refuses; the message tells how to mend it.");
create_exception!(
    mercer,
    SettingsError,
    MercerError,
    "A parameter is unknown, out of its range, or does not suit the data."
);
create_exception!(mercer, DataError, MercerError, "An input, a target or a weight that cannot be learnt or predicted.");
create_exception!(
    mercer,
    DivergedError,
    MercerError,
    "The numbers of a learner would leave their range; what was learnt before stays."
);
create_exception!(
    mercer,
    ModelFileError,
    MercerError,
    "Bytes that are no model, or no model of the kind that is needed."
);
create_exception!(mercer, NotLearntError, MercerError, "Something is asked of a model that has learnt nothing yet.");

/// Puts the exceptions into the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("MercerWarning", py.get_type::<crate::notes::MercerWarning>())?;
    module.add("MercerError", py.get_type::<MercerError>())?;
    module.add("SettingsError", py.get_type::<SettingsError>())?;
    module.add("DataError", py.get_type::<DataError>())?;
    module.add("DivergedError", py.get_type::<DivergedError>())?;
    module.add("ModelFileError", py.get_type::<ModelFileError>())?;
    module.add("NotLearntError", py.get_type::<NotLearntError>())
}

/// What a learner refuses.
pub(crate) fn learner(error: Error) -> PyErr {
    match error {
        Error::Example(error) => example(&error),
        Error::Parameter(error) => settings(error),
        error => data(error.to_string()),
    }
}

/// A row that was not predicted or learnt.
pub(crate) fn step(error: StepError) -> PyErr {
    match error {
        StepError::Learner(error) => learner(error),
        StepError::Encoding(error) => encoding(error),
        StepError::Target(_) => wrong_kind(),
    }
}

/// What a forecaster refuses.
pub(crate) fn forecaster(error: forecast::Error) -> PyErr {
    match error {
        forecast::Error::Example(error) => example(&error),
        forecast::Error::Parameter(error) => settings(error),
        error => data(error.to_string()),
    }
}

/// What a learner of operators refuses.
pub(crate) fn operator(error: koopman::Error) -> PyErr {
    match error {
        koopman::Error::Example(error) => example(&error),
        koopman::Error::Parameter(error) => settings(error),
        error => data(error.to_string()),
    }
}

/// An example that is refused.
fn example(error: &ExampleError) -> PyErr {
    match error {
        ExampleError::Diverged | ExampleError::KernelOverflow => DivergedError::new_err(error.to_string()),
        _ => data(error.to_string()),
    }
}

/// Parameters that are refused.
pub(crate) fn settings(error: impl ToString) -> PyErr {
    SettingsError::new_err(error.to_string())
}

/// Settings that make no learner.
pub(crate) fn catalogue(error: CatalogueError) -> PyErr {
    SettingsError::new_err(error.to_string())
}

/// What the encoding of a table refuses.
pub(crate) fn encoding(error: EncodingError) -> PyErr {
    match error {
        EncodingError::Learner(error) => learner(error),
        error => DataError::new_err(error.said(Face::Python)),
    }
}

/// Bytes that are no model.
pub(crate) fn model(error: ModelError) -> PyErr {
    ModelFileError::new_err(format!("the model {error}"))
}

/// What no file can hold, or a file holds wrongly.
pub(crate) fn file(message: String) -> PyErr {
    ModelFileError::new_err(message)
}

/// Data that cannot be taken.
pub(crate) fn data(message: impl Into<String>) -> PyErr {
    DataError::new_err(message.into())
}

/// Nothing was learnt.
pub(crate) fn not_learnt() -> PyErr {
    NotLearntError::new_err("the model has learnt nothing yet; call fit, partial_fit or learn_one first")
}

/// What Python refuses of a file with models of groups.
pub(crate) fn of_groups() -> PyErr {
    data("the file has a model for each group; the command and the service use it (mercer predict)")
}

/// What a pipeline refuses that was not made for such targets.
pub(crate) fn wrong_kind() -> PyErr {
    data("the pipeline learns the other kind of targets, or nothing was learnt yet")
}
