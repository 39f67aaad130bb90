//! Common parts of the oracles of filters in kernel coefficients: `f(x) = Σ α_i k(d_i, x)` over
//! plain vectors, and one prequential pass.
//!
//! An example of weight 0 is predicted and changes nothing.

use super::{KernelFn, Trace, WeightedExample};

/// The function that a filter holds.
pub(super) struct Filter<'a> {
    stream: &'a [WeightedExample],
    pub(super) kernel: KernelFn<'a>,
    /// Positions in the stream of the points, oldest first.
    pub(super) points: Vec<usize>,
    pub(super) alpha: Vec<f64>,
}

impl<'a> Filter<'a> {
    /// Point `i`.
    pub(super) fn point(&self, i: usize) -> &'a [f64] {
        &self.stream[self.points[i]].x
    }

    /// The place of the point that equals `x`.
    pub(super) fn place(&self, x: &[f64]) -> Option<usize> {
        (0..self.points.len()).find(|i| self.point(*i) == x)
    }

    /// The kernel values at all points.
    pub(super) fn k(&self, x: &[f64]) -> Vec<f64> {
        (0..self.points.len()).map(|i| (self.kernel)(self.point(i), x)).collect()
    }

    /// `f(x)`
    pub(super) fn f(&self, x: &[f64]) -> f64 {
        self.alpha.iter().zip(self.k(x)).map(|(alpha, k)| alpha * k).sum()
    }

    /// The example of round `t` joins with this coefficient.
    pub(super) fn join(&mut self, t: usize, alpha: f64) {
        self.points.push(t);
        self.alpha.push(alpha);
    }

    /// Point `i` leaves.
    pub(super) fn drop(&mut self, i: usize) {
        self.points.remove(i);
        self.alpha.remove(i);
    }

    /// True if the coherence of `x` with the points is at most `mu0`.
    pub(super) fn is_incoherent(&self, x: &[f64], mu0: f64) -> bool {
        let coherence = |i: usize| {
            let d = self.point(i);
            (self.kernel)(d, x).abs() / ((self.kernel)(x, x) * (self.kernel)(d, d)).sqrt()
        };
        (0..self.points.len()).map(coherence).fold(0.0, f64::max) <= mu0
    }
}

/// Step of a gradient filter for each unit of error: `ηω`, where the score moves `moves` times as
/// far. A weight above 1 draws it to the target at most, or as far as weight 1 does.
pub(super) fn rate(eta: f64, moves: f64, weight: f64) -> f64 {
    let step = eta * weight;
    if weight > 1.0 { step.min(eta.max(1.0 / moves)) } else { step }
}

/// One pass: in each round of positive weight `learn` gets the filter, the round and its example.
pub(super) fn pass<'a>(
    stream: &'a [WeightedExample],
    kernel: KernelFn<'a>,
    mut learn: impl FnMut(&mut Filter<'a>, usize, &'a WeightedExample),
) -> Trace {
    let mut filter = Filter { stream, kernel, points: Vec::new(), alpha: Vec::new() };
    let mut predictions = Vec::new();
    for (t, example) in stream.iter().enumerate() {
        predictions.push(filter.f(&example.x));
        if example.weight > 0.0 {
            learn(&mut filter, t, example);
        }
    }
    Trace { predictions, dictionary: filter.points }
}
