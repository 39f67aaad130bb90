//! The first `B` points: on a permuted stream, uniform sampling without replacement.

use mercer_core::{Inconsistent, Validate};

use crate::admission::{Admission, Answer, coordinate_above};
use crate::basis::Orthonormal;
use crate::probe::Probe;

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

impl<B: Orthonormal> Admission<B> for FirstB {
    type Decision = Answer;

    fn decide(&self, _: &B, _: &[f64], probe: &Probe) -> Answer {
        let room = probe.dictionary_size() < self.budget;
        coordinate_above(0.0, probe).filter(|_| room).into()
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
        let (rule, mut probe) = (FirstB::new(2), Probe::default());
        let kept: Vec<bool> = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            .iter()
            .map(|x| {
                basis.probe(x, &mut probe);
                let keep = rule.decide(&basis, x, &probe).growth();
                keep.into_iter().for_each(|new| basis.append(x, probe.coordinates(), new));
                keep.is_some()
            })
            .collect();
        assert_eq!(kept, [true, false, true, false]);
    }
}
