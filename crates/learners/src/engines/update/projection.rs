//! The update of the Projectron: a mistake outside of the span is kept, another one is projected on
//! it.
//!
//! In orthonormal coordinates `φ` the projection of `k(x, ·)` on the span is `φ` itself: with the
//! coefficients `d = K⁻¹k` of the papers, `Σ d_i k(d_i, ·)` has the coordinates `φ`, and
//! `kᵀd = ‖φ‖²`. No inverse of a Gram matrix is needed. `O(J)` a step.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Removal, Rotations};
use mercer_simd::dot;

use crate::Error;
use crate::engines::update::margin::Margin;
use crate::engines::update::{
    ByValues, Coefficients, GrowingUpdate, LinearBlocks, LinearUpdate, LinearVariance, NormalSystem, finite,
};
use crate::example::{Problem, Shape, Target};
use crate::loss::Loss;

/// `w ← w + ω y τ φ`, with `√δ` the distance of `k(x, ·)` from the span.
///
/// A mistake, `y f(x) ≤ 0`, has `τ = 1`; if `√δ > η` the point joins first, unless the dictionary
/// is full. With `MARGINS` also a margin below 1 is learnt, and no point joins: `ℓ = 1 − y f(x)`,
/// `r = ℓ − √δ/η`, and where `r > 0`, `τ = min(ℓ/‖φ‖², 2r/‖φ‖², 1)`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProjectionStep<const MARGINS: bool> {
    w: Coefficients,
    eta: f64,
    max_dictionary: Option<usize>,
}

impl<const MARGINS: bool> ProjectionStep<MARGINS> {
    /// No coordinates yet; `eta ≥ 0` is the distance beyond which a point joins (positive with
    /// `MARGINS`). Not the engine but the update bounds the dictionary: a full one still needs to
    /// know the distance.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn new(eta: f64, max_dictionary: Option<usize>) -> Result<Self, ParameterError> {
        let eta =
            if MARGINS { ParameterError::positive("eta", eta)? } else { ParameterError::non_negative("eta", eta)? };
        if let Some(max) = max_dictionary {
            ParameterError::at_least_one("max_dictionary", max)?;
        }
        Ok(Self { w: Coefficients::zeros(1, 0), eta, max_dictionary })
    }

    /// The coefficients.
    #[must_use]
    pub fn weights(&self) -> &Coefficients {
        &self.w
    }

    /// `τ` for a margin that is no mistake; `None` where nothing is learnt.
    fn share(&self, margin: Margin, distance: f64, squared: f64) -> Option<f64> {
        let loss = margin.loss();
        let rest = loss - distance / self.eta;
        let learns = MARGINS && loss > 0.0 && rest > 0.0;
        learns.then(|| (loss / squared).min(2.0 * rest / squared).min(1.0))
    }
}

impl<const MARGINS: bool> Validate for ProjectionStep<MARGINS> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "step by projection";
        self.w.validate()?;
        Inconsistent::non_negative(self.eta, WHAT)?;
        Inconsistent::require(!MARGINS || self.eta > 0.0, WHAT, "its distance is positive")?;
        Inconsistent::require(self.w.outputs() == 1, WHAT, "it has one output")?;
        let bounded = self.max_dictionary.is_none_or(|max| max >= 1 && self.w.coordinates() <= max);
        Inconsistent::require(bounded, WHAT, "its dictionary is not larger than the largest")
    }
}

impl<const MARGINS: bool> LinearUpdate for ProjectionStep<MARGINS> {
    fn problem(&self) -> Problem {
        Problem { shape: Shape { inputs: self.w.coordinates(), outputs: 1 }, loss: Loss::HINGE }
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.w)
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        self.w.values(phi, scores);
    }

    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let margin = Margin::compute(&self.w, phi, target, scores)?;
        // The engine says nothing of a distance that is zero to rounding.
        let (distance, mut squared) = (growth.unwrap_or(0.0), dot(phi.lanes(), phi.lanes()));
        let mistake = margin.is_mistake();
        let tau = if mistake { Some(1.0) } else { self.share(margin, distance, squared) };
        let Some(tau) = tau else { return Ok(()) };
        let room = self.max_dictionary.is_none_or(|max| self.w.coordinates() < max);
        let joins = mistake && room && distance > self.eta;
        if joins {
            squared += distance * distance;
        }
        let step = finite(margin.y * tau * margin.weight)?;
        // ‖w + sφ‖² before any change.
        finite(self.w.squared_norm() + 2.0 * step * margin.f + step * step * squared)?;
        if joins {
            self.w.grow();
            phi.push(distance);
        }
        self.w.add(&[step], phi);
        Ok(())
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        Some(self)
    }

    fn variance(&self) -> Option<&dyn LinearVariance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        None
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        None
    }

    fn add_output(&mut self, _: Option<usize>) -> Result<(), Error> {
        Err(Error::FixedOutputs)
    }
}

impl<const MARGINS: bool> ByValues for ProjectionStep<MARGINS> {
    fn function(&self, index: usize) -> Option<&AlignedVec> {
        self.w.vectors().get(index)
    }

    fn read(&self, _: &mut [f64]) {}
}

impl<const MARGINS: bool> GrowingUpdate for ProjectionStep<MARGINS> {
    fn grow(&mut self) -> Result<(), Error> {
        self.w.grow();
        Ok(())
    }

    fn remove(&mut self, rotations: &Rotations, _: Removal) {
        self.w.rotate(rotations);
        self.w.drop_last(None);
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        self.w.restart(n);
        Ok(())
    }
}
