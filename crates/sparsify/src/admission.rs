//! The question a dictionary asks of every point.

use crate::newton_basis::Probe;

/// A rule that keeps or skips a point of the stream.
pub trait Admission {
    /// `Some(√δ)` when the probed point is kept, with the coordinate that it adds: the dictionary then takes it in. A rule
    /// with a state of its own moves on, so this is asked once a round.
    fn admits(&mut self, probe: &Probe) -> Option<f64>;

    /// Whether its state is that of a rule which has kept `points` points: what a rule with coordinates of its own answers when it was
    /// read back.
    fn fits(&self, _points: usize) -> bool {
        true
    }
}

/// Residuals up to this share of `k(x, x)` are what rounding leaves of zero: the point is in the span.
const ROUNDING: f64 = 1e-13;

/// `√δ`, if `δ` exceeds `threshold` and is more than rounding.
pub(crate) fn coordinate_above(threshold: f64, probe: &Probe) -> Option<f64> {
    let residual = probe.residual();
    (residual > threshold.max(ROUNDING * probe.self_value())).then(|| residual.sqrt())
}
