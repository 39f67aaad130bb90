//! Coherence (Richard, Bermudez and Honeine 2009).
//!
//! `x` is kept when `max_i |k(d_i, x)|/√(k(x,x) k(d_i,d_i)) ≤ μ₀`: when its angle in the feature
//! space to every kept point is large. The number of points that can be kept is finite for a
//! continuous kernel on a compact set. The first point is always kept; one with `k(x, x) = 0`,
//! which is the zero function, never is.

use mercer_core::{Inconsistent, ParameterError, Validate};

use crate::admission::{Admission, Answer};
use crate::basis::Basis;
use crate::probe::Probe;

/// The coherence test with threshold `μ₀ ∈ [0, 1]`. `O(J)` in a
/// [`KernelBasis`](crate::KernelBasis), `O(J²)` in a [`NewtonBasis`](crate::NewtonBasis).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Coherence {
    threshold: f64,
}

impl Coherence {
    /// The test with threshold `mu0`; 1 keeps every point.
    ///
    /// # Errors
    /// When `mu0` is not in `[0, 1]`.
    pub fn new(mu0: f64) -> Result<Self, ParameterError> {
        let sound = (0.0..=1.0).contains(&mu0);
        Ok(Self { threshold: ParameterError::require(sound, "mu0", "a number in [0, 1]", mu0)? })
    }

    /// The threshold `μ₀`.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }
}

impl Validate for Coherence {
    fn validate(&self) -> Result<(), Inconsistent> {
        let sound = (0.0..=1.0).contains(&self.threshold);
        Inconsistent::require(sound, "coherence threshold", "it is at least 0 and at most 1")
    }
}

impl<B: Basis> Admission<B> for Coherence {
    type Decision = Answer;

    fn decide(&self, basis: &B, _: &[f64], probe: &Probe) -> Answer {
        // The roots apart, for their product may overflow where they do not.
        let root = probe.self_value().sqrt();
        let coherent = |(i, k): (usize, &f64)| k.abs() / (root * basis.self_value(i).sqrt()) > self.threshold;
        if root > 0.0 && (self.threshold == 1.0 || !probe.row().iter().enumerate().any(coherent)) {
            basis.new_coordinate(probe).into()
        } else {
            Answer::Skip
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KernelBasis, NewtonBasis};
    use mercer_kernels::Gaussian;

    fn kept<B: Basis>(mut basis: B, rule: Coherence) -> usize {
        let mut probe = Probe::default();
        for t in 0..100 {
            let x = [f64::from(t * 37 % 100) * 0.05];
            basis.probe(&x, &mut probe);
            if let Some(new) = rule.decide(&basis, &x, &probe).growth() {
                basis.append(&x, probe.coordinates(), new);
            }
        }
        basis.len()
    }

    #[test]
    fn any_basis_keeps_the_same_points() -> Result<(), Box<dyn std::error::Error>> {
        let kernel = Gaussian::new(0.4)?;
        for (mu0, expected) in [(0.0, 1), (1.0, 100)] {
            assert_eq!(kept(KernelBasis::new(kernel, 1), Coherence::new(mu0)?), expected);
        }
        for mu0 in [0.3, 0.5, 0.9] {
            let rule = Coherence::new(mu0)?;
            assert_eq!(kept(KernelBasis::new(kernel, 1), rule), kept(NewtonBasis::new(kernel, 1), rule));
        }
        assert!(Coherence::new(1.1).is_err() && Coherence::new(f64::NAN).is_err());
        Ok(())
    }
}
