//! The question a dictionary asks of every point.

use crate::newton_basis::Probe;

/// A rule that keeps or skips a point of the stream.
pub trait Admission {
    /// `Some(√δ)` when the probed point is kept, with the coordinate that it adds. A rule with a state of its own moves
    /// on, so this is asked once a round.
    fn admits(&mut self, probe: &Probe) -> Option<f64>;
}

/// Residuals up to this share of `k(x, x)` are what rounding leaves of zero: the point is in the span.
const ROUNDING: f64 = 1e-13;

/// `√δ`, if `δ` exceeds `threshold` and is more than rounding.
pub(crate) fn coordinate_above(threshold: f64, probe: &Probe) -> Option<f64> {
    let residual = probe.residual();
    (residual > threshold.max(ROUNDING * probe.self_value())).then(|| residual.sqrt())
}

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

/// `value`, if it is a finite number above zero.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, ParameterError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(ParameterError { name, requirement: "a positive number", value })
    }
}
