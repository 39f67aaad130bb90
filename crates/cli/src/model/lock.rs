//! The lock of a model file, with what is said where it cannot be had.

use std::path::Path;

use mercer_session::lock::LockError;
pub(crate) use mercer_session::lock::ModelLock;

use crate::report::failure::Failure;
use crate::report::verbosity;

/// Takes the lock of the model that an `option` names, or will name.
///
/// # Errors
/// At once, when another process holds it.
pub(crate) fn take(option: &str, path: &Path) -> Result<ModelLock, Failure> {
    let lock = ModelLock::take(path).map_err(|error| match error {
        LockError::Taken { .. } => Failure::because(format!("{error}, or give another {option}")),
        other => Failure::because(other.to_string()),
    })?;
    if let Some(error) = lock.unlocked() {
        verbosity::remark(format!(
            "{}: cannot be locked ({error}), so nothing keeps another process from writing over what is learnt here",
            path.display()
        ));
    }
    Ok(lock)
}
