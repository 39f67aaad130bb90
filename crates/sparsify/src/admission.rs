//! The question a dictionary asks of every point.

use crate::basis::Basis;
use crate::probe::Probe;

/// A rule's answer about a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// It is not kept.
    Skip,
    /// It is kept, and adds this coordinate: `√δ` in an orthonormal basis, 1 in plain kernel rows,
    /// which do not use it.
    Keep(f64),
    /// It is not kept, but learnt as if it were point `0` of the dictionary, which is near it.
    Merge(usize),
}

impl Answer {
    /// The coordinate that the point adds, if it is kept.
    #[must_use]
    pub fn growth(self) -> Option<f64> {
        match self {
            Self::Keep(coordinate) => Some(coordinate),
            Self::Skip | Self::Merge(_) => None,
        }
    }
}

impl From<Option<f64>> for Answer {
    /// Keeps a point that adds a coordinate, and skips one that adds none.
    fn from(growth: Option<f64>) -> Self {
        growth.map_or(Self::Skip, Self::Keep)
    }
}

/// A rule that keeps or skips a point of the stream, looking at a dictionary `B`.
///
/// Deciding changes nothing; [`commit`](Self::commit) makes a decision so, once the round that it
/// belongs to cannot fail any more. A rule is asked at most once a round.
pub trait Admission<B: Basis>: Send + Sync {
    /// The decision, with all that [`commit`](Self::commit) needs.
    type Decision: Copy + Into<Answer>;

    /// True if decisions depend on earlier ones beyond the points kept. Rounds that are known in
    /// advance are then decided one by one.
    const HAS_STATE: bool = false;

    /// Decides about `x`, whose probe this is.
    fn decide(&self, basis: &B, x: &[f64], probe: &Probe) -> Self::Decision;

    /// Carries out a decision. The basis does not hold the point yet.
    fn commit(&mut self, probe: &Probe, decision: Self::Decision) {
        let _ = (probe, decision);
    }

    /// Decides and commits at once, for rounds that cannot fail: the coordinate that `x` adds, if
    /// it is kept.
    fn admits(&mut self, basis: &B, x: &[f64], probe: &Probe) -> Option<f64> {
        let decision = self.decide(basis, x, probe);
        self.commit(probe, decision);
        decision.into().growth()
    }

    /// Point `index` left the dictionary, and this is what became of the coordinates.
    fn remove(&mut self, index: usize, change: &B::Change) {
        let _ = (index, change);
    }

    /// True if its state is that of a rule which has kept `points` points: what a rule with
    /// coordinates of its own answers when it was read back.
    fn fits(&self, points: usize) -> bool {
        let _ = points;
        true
    }
}

/// Residuals up to this share of `k(x, x)` are what rounding leaves of zero: the point is in the
/// span.
const ROUNDING: f64 = 1e-13;

/// `√δ`, if `δ` exceeds `threshold` and is more than rounding.
pub(crate) fn coordinate_above(threshold: f64, probe: &Probe) -> Option<f64> {
    let residual = probe.residual();
    (residual > threshold.max(ROUNDING * probe.self_value())).then(|| residual.sqrt())
}
