//! A parameter outside its range: what every constructor of the crates above refuses with.

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{name} must be {requirement}, got {value}")]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: &'static str,
    /// What it has to be.
    pub requirement: &'static str,
    /// What was given.
    pub value: f64,
}

impl ParameterError {
    /// `value`, if `holds`.
    ///
    /// # Errors
    /// The error that names the parameter and says what it has to be.
    pub fn require(
        holds: bool,
        name: &'static str,
        requirement: &'static str,
        value: f64,
    ) -> Result<f64, ParameterError> {
        if holds { Ok(value) } else { Err(ParameterError { name, requirement, value }) }
    }

    /// `value`, if it is a finite number above zero.
    ///
    /// # Errors
    /// When it is not.
    pub fn positive(name: &'static str, value: f64) -> Result<f64, ParameterError> {
        Self::require(value.is_finite() && value > 0.0, name, "a positive number", value)
    }

    /// `value`, if it is a finite number and not negative.
    ///
    /// # Errors
    /// When it is not.
    pub fn non_negative(name: &'static str, value: f64) -> Result<f64, ParameterError> {
        Self::require(value.is_finite() && value >= 0.0, name, "a number ≥ 0", value)
    }

    /// `value`, if it is at least 1.
    ///
    /// # Errors
    /// When it is not.
    pub fn at_least_one(name: &'static str, value: usize) -> Result<usize, ParameterError> {
        Self::require(value >= 1, name, "at least 1", value as f64).map(|_| value)
    }
}
