//! A parameter outside its range: what every constructor of the crates above refuses with.

use std::fmt;

/// A number to be read: whole numbers without a point, and very small and very large ones with an
/// exponent instead of rows of zeros. It reads back as the same `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number) = self;
        // Infinity and NaN have no exponent to be written.
        if *number == 0.0 || !number.is_finite() || (1e-5..1e16).contains(&number.abs()) {
            number.fmt(f)
        } else {
            write!(f, "{number:e}")
        }
    }
}

/// A parameter outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{name} must be {requirement}, got {}", Number(*value))]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: &'static str,
    /// The requirement that it breaks.
    pub requirement: &'static str,
    /// The value given.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, shown) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (0.1, "0.1"),
            (1e-300, "1e-300"),
            (-2.5e-7, "-2.5e-7"),
            (1e-5, "0.00001"),
            (1e15, "1000000000000000"),
            (1e300, "1e300"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(Number(number).to_string(), shown);
        }
        let error = ParameterError::positive("mu", -1e-300).unwrap_err();
        assert_eq!(error.to_string(), "mu must be a positive number, got -1e-300");
    }
}
