//! The means of inputs and targets that sums are about.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;

/// The means that sums are about.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Means {
    /// `x̄`
    pub(super) inputs: AlignedVec,
    /// `ȳ` of each output.
    pub(super) targets: Vec<f64>,
}

impl Means {
    pub(super) fn zeros(inputs: usize, outputs: usize) -> Self {
        Self { inputs: AlignedVec::zeros(inputs), targets: vec![0.0; outputs] }
    }
}

impl Validate for Means {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.inputs.validate()?;
        self.targets.validate()
    }
}
