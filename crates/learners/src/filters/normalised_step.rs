//! The normalised gradient step on kernel coefficients.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_kernels::Kernel;
use mercer_simd::dot;

use crate::engines::coefficients::{CoefficientUpdate, SampleView, scaled_errors};
use crate::engines::update::importance::squared_rate;
use crate::engines::update::{Coefficients, finite};
use crate::loss::Loss;
use crate::{Error, Growth};

/// `α ← α + η ω e k/(ε + ‖k‖²)`; what is above 10 of a weight goes as infinitely many small steps.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NormalisedStep {
    eta: f64,
    eps: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    steps: Vec<f64>,
}

impl NormalisedStep {
    /// Steps of size `eta > 0`, with `eps ≥ 0` added to the squared norm.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn new(eta: f64, eps: f64) -> Result<Self, ParameterError> {
        let (eta, eps) = (ParameterError::positive("eta", eta)?, ParameterError::non_negative("eps", eps)?);
        Ok(Self { eta, eps, steps: Vec::new() })
    }
}

impl Validate for NormalisedStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.eta, "step size")?;
        Inconsistent::non_negative(self.eps, "regulariser of a normalised step")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for NormalisedStep {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { probe, answer, target, .. } = seen;
        alpha.values(probe.row(), scores);
        let kept = answer.growth().is_some();
        let own = if kept { probe.self_value() } else { 0.0 };
        let squared_row = finite(dot(probe.row().lanes(), probe.row().lanes()) + own * own)?;
        let norm = self.eps + squared_row;
        let moves = if norm > 0.0 { squared_row / norm } else { 0.0 };
        scaled_errors(squared_rate(self.eta, moves, target.weight), target.y, scores, &mut self.steps)?;
        // ‖α + sk‖² before any change, so that a step out of range is refused whole.
        let mut squared = alpha.squared_norm();
        for (s, z) in self.steps.iter_mut().zip(&*scores) {
            *s = if norm > 0.0 { finite(*s / norm)? } else { 0.0 };
            squared += 2.0 * *s * z + *s * *s * squared_row;
        }
        finite(squared)?;
        if kept {
            alpha.grow();
            probe.coordinates_mut().push(own);
        }
        alpha.add(&self.steps, probe.coordinates());
        Ok(())
    }

    fn reshape(&mut self, _: Growth) -> Result<(), Error> {
        Ok(())
    }

    fn fits(&self, _: usize, _: usize) -> bool {
        true
    }
}
