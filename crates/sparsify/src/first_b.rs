//! The first `B` points: on a permuted stream, uniform sampling without replacement.

use mercer_core::{Inconsistent, Validate};

use crate::admission::{Admission, coordinate_above};
use crate::newton_basis::Probe;

/// Keeps points until `budget` are kept, skipping those already in the span (`δ = 0` to rounding).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FirstB {
    budget: usize,
}

impl FirstB {
    /// The first `budget` points.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self { budget }
    }
}

impl Validate for FirstB {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl Admission for FirstB {
    fn admits(&mut self, probe: &Probe) -> Option<f64> {
        if probe.dictionary_size() < self.budget { coordinate_above(0.0, probe) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewtonBasis;
    use mercer_kernels::Linear;

    #[test]
    fn stops_at_the_budget_and_skips_dependent_points() {
        let mut basis = NewtonBasis::new(Linear, 3);
        let (mut rule, mut probe) = (FirstB::new(2), Probe::default());
        let kept: Vec<bool> = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            .iter()
            .map(|x| {
                basis.probe(x, &mut probe);
                let keep = rule.admits(&probe);
                keep.into_iter().for_each(|new| basis.append(x, probe.coordinates(), new));
                keep.is_some()
            })
            .collect();
        assert_eq!(kept, [true, false, true, false]);
    }
}
