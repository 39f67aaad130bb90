//! AOGD-ALD: approximated online gradient descent on an ALD dictionary (\[A\] Algorithm 1).
//!
//! While the dictionary has fewer than `B₀` points, a gradient step in its orthonormal coordinates: an example in the span
//! moves `f` along the projection of `k(x, ·)` (eq. 6), another joins and moves it along `k(x, ·)` itself (eq. 2); both then
//! project on `‖f‖ ≤ U` (eq. 3). `η_t = U/√(1 + Σ_{s≤t} ‖∇̂_s‖²)`. `Jd + ½J²` multiply-adds a round.
//!
//! Past `B₀` every example is kept and learnt by plain kernel gradient descent, whose memory **grows with the stream**;
//! `B₀ = ⌊(√(d² + 4dT) − d)/2⌋` is where that becomes the cheaper of the two ([`AogdAldParams::growth_limit_for`]).

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_sparsify::Ald;

use crate::regression::expansion::KernelExpansion;
use crate::regression::on_dictionary::{GrowThenStep, OnDictionary};
use crate::regression::regressor::{check_block, check_example, check_input};
use crate::regression::update::{GradientStep, StepSize};
use crate::{Error, ParameterError, Regressor, Scratch};

/// Parameters of [`AogdAld`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AogdAldParams {
    /// Radius `U > 0` of the ball of functions, which also sets the steps.
    pub radius: f64,
    /// ALD threshold `α ≥ 0` on the squared distance; the paper takes `25/T`.
    pub alpha: f64,
    /// `B₀`, the dictionary size at which the learner changes to keeping every example; `None` never does.
    pub growth_limit: Option<usize>,
}

impl Default for AogdAldParams {
    fn default() -> Self {
        Self { radius: 2.0, alpha: 1e-3, growth_limit: None }
    }
}

impl AogdAldParams {
    /// The paper's `B₀ = ⌊(√(d² + 4dT) − d)/2⌋` for `rounds` = `T` rounds in dimension `dimension` = `d`.
    #[must_use]
    pub fn growth_limit_for(dimension: usize, rounds: usize) -> usize {
        let (d, t) = (dimension as f64, rounds as f64);
        ((d.mul_add(d, 4.0 * d * t).sqrt() - d) / 2.0) as usize
    }
}

pub(crate) type InSpan<K> = OnDictionary<K, Ald, GradientStep, GrowThenStep>;

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Phase<K> {
    Dictionary(Box<InSpan<K>>),
    Everything(KernelExpansion<K>),
}

/// Approximated online gradient descent on an ALD dictionary.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AogdAld<K> {
    radius: f64,
    growth_limit: Option<usize>,
    phase: Phase<K>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

impl<K> AogdAld<K> {
    /// The learner on its dictionary, when it will never be anything else.
    pub(crate) fn into_dictionary(self) -> Result<Box<InSpan<K>>, Box<Self>> {
        match self {
            Self { growth_limit: None, phase: Phase::Dictionary(dictionary), .. } => Ok(dictionary),
            other => Err(Box::new(other)),
        }
    }
}

impl<K: Kernel + Clone> AogdAld<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: AogdAldParams) -> Result<Self, Error> {
        let AogdAldParams { radius, alpha, growth_limit } = params;
        let radius = ParameterError::positive("radius", radius)?;
        let update = GradientStep::new(0, StepSize::adaptive(radius), Some(radius));
        let dictionary = InSpan::from_parts(kernel, dimension, Ald::new(alpha)?, update, None);
        let phase = Phase::Dictionary(Box::new(dictionary));
        let mut learner = Self { radius, growth_limit, phase, scratch: Scratch::default() };
        learner.switch_if_full();
        Ok(learner)
    }

    /// Whether the learner has passed `B₀` and keeps every example.
    #[must_use]
    pub fn keeps_everything(&self) -> bool {
        matches!(self.phase, Phase::Everything(_))
    }

    /// At `B₀` points the same function goes on as an expansion in the kept points: `β = L⁻ᵀw`.
    fn switch_if_full(&mut self) {
        let Phase::Dictionary(dictionary) = &self.phase else { return };
        let (basis, update) = (dictionary.basis(), dictionary.linear());
        if self.growth_limit.is_none_or(|limit| basis.len() < limit) {
            return;
        }
        let mut coefficients = AlignedVec::new();
        basis.coefficients(update.weights(), &mut coefficients);
        let squared_norm = mercer_simd::dot(update.weights().lanes(), update.weights().lanes());
        self.phase = Phase::Everything(KernelExpansion::resume(
            basis.kernel().clone(),
            basis.points().clone(),
            coefficients,
            squared_norm,
            update.step_size(),
            Some(self.radius),
        ));
    }
}

impl<K: Kernel + Validate> Validate for AogdAld<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.radius, "radius")?;
        match &self.phase {
            Phase::Dictionary(dictionary) => {
                let growing = self.growth_limit.is_none_or(|limit| dictionary.basis().len() < limit);
                Inconsistent::require(growing, "AOGD-ALD", "its dictionary is below the limit")?;
                dictionary.validate()
            }
            Phase::Everything(expansion) => expansion.validate(),
        }
    }
}

impl<K: Kernel + Clone> Regressor for AogdAld<K> {
    fn dimension(&self) -> usize {
        match &self.phase {
            Phase::Dictionary(dictionary) => dictionary.dimension(),
            Phase::Everything(expansion) => expansion.points().dimension(),
        }
    }

    fn dictionary_size(&self) -> usize {
        match &self.phase {
            Phase::Dictionary(dictionary) => dictionary.dictionary_size(),
            Phase::Everything(expansion) => expansion.points().len(),
        }
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        match &self.phase {
            Phase::Dictionary(dictionary) => dictionary.predict_with(x, scratch),
            Phase::Everything(expansion) => {
                check_input(x, self.dimension())?;
                expansion.value(x, &mut scratch.features)
            }
        }
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        match &mut self.phase {
            Phase::Dictionary(dictionary) => {
                let prediction = dictionary.predict_then_update(x, y)?;
                self.switch_if_full();
                Ok(prediction)
            }
            Phase::Everything(expansion) => {
                let z = expansion.value(x, &mut self.scratch.features)?;
                expansion.step(x, z, y)?;
                Ok(z)
            }
        }
    }

    /// In the dictionary's phase its own blocked pass, with at most `B₀ − J` rows at once, so that it ends where the dictionary is full;
    /// one by one afterwards. The same bits.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let d = self.dimension();
        check_block(xs, ys, d)?;
        let mut first = 0;
        while let Phase::Dictionary(dictionary) = &mut self.phase
            && first < ys.len()
        {
            let room = self.growth_limit.map_or(ys.len(), |limit| limit - dictionary.dictionary_size());
            let end = ys.len().min(first + room);
            dictionary.learn_block(&xs[first * d..end * d], &ys[first..end], predictions)?;
            self.switch_if_full();
            first = end;
        }
        for (i, y) in ys.iter().enumerate().skip(first) {
            predictions.push(self.predict_then_update(&xs[i * d..(i + 1) * d], *y)?);
        }
        Ok(())
    }
}
