//! A positive combination of kernels.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{AlignedVec, axpy, scale};

use crate::kernel::{Kernel, KernelError};
use crate::points::Points;
use crate::scratch::scratch;

/// `k(x, z) = Σ wᵢ kᵢ(x, z)` with positive weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "K: serde::Deserialize<'de>")))]
pub struct KernelMixture<K> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    terms: Vec<(f64, K)>,
}

impl<K> KernelMixture<K> {
    /// The mixture of `(weight, kernel)` terms.
    ///
    /// # Errors
    /// [`KernelError::EmptyMixture`] without a term, [`KernelError::Weight`] when a weight is not a
    /// positive finite number.
    pub fn new(terms: Vec<(f64, K)>) -> Result<Self, KernelError> {
        if terms.is_empty() {
            return Err(KernelError::EmptyMixture);
        }
        match terms.iter().find(|(weight, _)| !weight.is_finite() || *weight <= 0.0) {
            Some((weight, _)) => Err(KernelError::Weight(*weight)),
            None => Ok(Self { terms }),
        }
    }

    /// The `(weight, kernel)` terms.
    #[must_use]
    pub fn terms(&self) -> &[(f64, K)] {
        &self.terms
    }
}

impl<K: Validate> Validate for KernelMixture<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(!self.terms.is_empty(), "mixture of kernels", "it has a term")?;
        self.terms.iter().try_for_each(|(weight, kernel)| {
            Inconsistent::positive(*weight, "weight of a kernel")?;
            mercer_core::validate_nested(|| kernel.validate())
        })
    }
}

impl<K: Kernel> Kernel for KernelMixture<K> {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        self.terms.iter().map(|(weight, kernel)| weight * kernel.evaluate(x, z)).sum()
    }

    fn self_value(&self, x: &[f64]) -> f64 {
        self.terms.iter().map(|(weight, kernel)| weight * kernel.self_value(x)).sum()
    }

    fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
        let mut terms = self.terms.iter();
        if let Some((weight, kernel)) = terms.next() {
            kernel.row_of_part(points, offset, x, row);
            scale(*weight, row);
        }
        scratch(|term| {
            for (weight, kernel) in terms {
                kernel.row_of_part(points, offset, x, term);
                axpy(*weight, term.lanes(), row.lanes_mut());
            }
        });
    }
}
