//! The online Newton step (\[A\] eqs. 7–8 and Theorem 4.9; Hazan et al. 2007, Luo et al. 2016).
//!
//! `A_t = A_{t−1} + ω h φφᵀ`, `w ← w − ω A_t⁻¹ g φ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U` in
//! the norm of `A_t`, which is made when `x_{t+1}` arrives:
//! `w ← w − sign(z) max(|z| − U, 0) A⁻¹φ/(φᵀA⁻¹φ)`. Both need the one product `c = A⁻¹φ`, so a
//! round reads and writes `P = A⁻¹` once: `1½n²` multiply-adds. `ω` is the weight of the example.
//!
//! | loss | `h` | constant, from its [`Loss::curvature`] |
//! |---|---|---|
//! | squared | `η g²` | `η = 1/(4(U² + Y²))` for targets within `±Y` |
//! | logistic | `η g²` | `η = ½e^{−U}` |
//! | softmax | `κ` | `κ = 1/(1 + (m − 1)e^{2U})`; the `m` classes share one `A` |
//!
//! **Short steps.** Where points leave a dictionary, new ones with `P = 1/prior` keep coming, and
//! each would take a step of some `1/prior` times the gradient. There, and where `ω > 1` or
//! `prior < 1`, which the papers have nowhere, no step is longer than
//! `w ← w − cg/(hs)`, with `s = φᵀA_t⁻¹φ` of before and the largest second derivative `h` of the
//! loss: it does not pass the least loss of its own example (as Karampatziakis and Langford 2011
//! bound the steps of weighted examples). Examples of weights above 1 leave `φᵀA⁻¹φ` no smaller
//! than 1e-13 times that of the prior, or 1e-13.
//!
//! For softmax `κ` bounds the curvature from below in every direction in which the scores of the
//! classes sum to zero, where gradients and steps stay; each class is projected by itself, which
//! may move their common level, and that changes no probability.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{BlockRecursion, Removal, Rotations, SymmetricMatrix};

use crate::Error;
use crate::engines::update::block::{BlockRounds, RoundUpdate, RoundValues, SHORTEST_BLOCK, learn_rounds};
use crate::engines::update::importance::{NewtonSteps, steepest};
use crate::engines::update::{
    ByValues, Coefficients, GrowingUpdate, LinearBlocks, LinearUpdate, LinearVariance, NormalSystem, finite,
    learn_each, make_room, move_in_range, remove_coordinate,
};
use crate::example::{Problem, Shape, Target, Targets};
use crate::loss::Loss;

/// The online Newton step on coordinates, with `A_0 = prior · I`.
///
/// # Invariants
/// `p` is `A⁻¹`, where `A = prior · I + Σ ω_s h_s φ_s φ_sᵀ` with every `φ_s` padded by zeros to
/// today's length.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NewtonStep {
    w: Coefficients,
    p: SymmetricMatrix,
    prior: f64,
    curvature: f64,
    bound: f64,
    steps: NewtonSteps,
    /// True if all steps stay short of the least loss of their own example.
    short: bool,
    loss: Loss,
    #[cfg_attr(feature = "serde", serde(skip))]
    c: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    change: Change,
    #[cfg_attr(feature = "serde", serde(skip))]
    block: BlockRounds,
}

/// The change that a round makes to each output, in units of `c = Pφ`.
#[derive(Clone, Debug, Default)]
struct Change {
    /// The projection that belongs before the step.
    projection: Vec<f64>,
    /// The step.
    along: Vec<f64>,
}

/// What is left of `φᵀA⁻¹φ` where examples with a weight above 1 add no more, beside that of the
/// prior or 1: less would be rounding of the rest of `A⁻¹`, and steps along it would go anywhere.
const LEAST_SHARE: f64 = 1e-13;
/// `−φᵀA⁻¹φ` that is rounding, beside that of the prior.
const ROUNDING: f64 = 1e-9;

/// The constants and state of a round.
#[derive(Clone, Copy)]
struct NewtonRound {
    loss: Loss,
    prior: f64,
    curvature: f64,
    bound: f64,
    steps: NewtonSteps,
    short: bool,
}

impl NewtonRound {
    /// Scores within the bound.
    #[inline(always)]
    fn clip(self, scores: &mut [f64]) {
        scores.iter_mut().for_each(|z| *z = z.clamp(-self.bound, self.bound));
    }

    /// [`round`](Self::round), of which the compiler knows the length in the common case.
    fn dispatch(
        self,
        found: RoundValues<'_>,
        grown: f64,
        target: Target<'_>,
        scores: &mut [f64],
        moves: (&mut [f64], &mut [f64]),
    ) -> Result<f64, Error> {
        match (found.z, scores, moves) {
            (z @ [_], scores @ [_], (projection @ [_], along @ [_])) => self.round(
                RoundValues { z: &z[..1], ..found },
                grown,
                target,
                &mut scores[..1],
                (&mut projection[..1], &mut along[..1]),
            ),
            (_, scores, moves) => self.round(found, grown, target, scores, moves),
        }
    }

    /// The gain of a round with values `z` and `s = φᵀA⁻¹φ` in the coordinates before growth,
    /// `grown` being what the new one adds to it. Fills in `scores`, and how far projection and
    /// step move each output along `c`.
    #[inline(always)]
    fn round(
        self,
        RoundValues { z, s }: RoundValues<'_>,
        grown: f64,
        target: Target<'_>,
        scores: &mut [f64],
        (projection, along): (&mut [f64], &mut [f64]),
    ) -> Result<f64, Error> {
        scores.copy_from_slice(z);
        self.clip(scores);
        self.loss.gradient(scores, target.y, along);
        // Where it is rounding there is no direction, and what is known is known for good.
        let largest = 1.0 / self.prior;
        let known = finite(s)? <= 0.0 && -s <= ROUNDING * largest;
        let s = if known { 0.0 } else { s };
        let mut squared = 0.0; // η g²
        for ((z, score), (projection, g)) in z.iter().zip(&*scores).zip(projection.iter_mut().zip(&*along)) {
            // In coordinates before growth, where s > 0 as z ≠ 0.
            let excess = z - score;
            *projection = if excess == 0.0 || known { 0.0 } else { -finite(excess / s)? };
            squared += self.curvature * finite(*g)? * g;
        }
        if known && grown == 0.0 {
            along.fill(0.0);
            return Ok(0.0);
        }
        // The diagonal of A⁻¹ is at most that of the prior.
        projection.iter().try_for_each(|projection| move_in_range(*projection, s, largest))?;
        let s = s + grown;
        let curvature = if self.loss.is_softmax() { self.curvature } else { squared };
        let mut weight = target.weight * curvature;
        if target.weight > 1.0 && s > 0.0 {
            weight = weight.min((1.0 / (LEAST_SHARE * largest.min(1.0)) - 1.0 / s).max(0.0));
        }
        let denominator = 1.0 + weight * s;
        let mut divisor = self.steps.divisor(self.loss, (self.prior, target.weight), curvature, s);
        if self.short {
            divisor = divisor.max(target.weight * steepest(self.loss) * s);
        }
        for (g, projection) in along.iter_mut().zip(&*projection) {
            *g = -finite(target.weight * *g / divisor)?;
            move_in_range(*g, s, largest)?;
            finite((*g + projection).abs() * s)?;
        }
        finite(weight / denominator)
    }
}

impl NewtonStep {
    /// No coordinates yet; regulariser `prior > 0`, predictions kept within `±bound`, targets
    /// expected within `±label_bound`; `outputs` is 1, or the number of classes for softmax.
    ///
    /// # Errors
    /// When a parameter is not positive, the loss has no curvature (only squared, logistic and
    /// softmax have), several outputs are asked for with another loss than softmax, or the
    /// curvature vanishes in floating point because a bound is too large.
    pub fn new(prior: f64, bound: f64, label_bound: f64, loss: Loss, outputs: usize) -> Result<Self, Error> {
        let (bound, label_bound) =
            (ParameterError::positive("radius", bound)?, ParameterError::positive("label_bound", label_bound)?);
        let refused = |instead| Error::Loss { update: "an online Newton step", loss: loss.name(), instead };
        let curvature =
            loss.curvature(bound, label_bound, outputs).ok_or_else(|| refused("squared, logistic or softmax"))?;
        if outputs > 1 && loss != Loss::SOFTMAX {
            return Err(refused("softmax for several outputs, or a learner for each of them"));
        }
        ParameterError::require(curvature > 0.0, "radius", "so small that the curvature is not 0", bound)?;
        Self::with_curvature(prior, curvature, bound, loss, outputs)
    }

    /// The same with the constant `curvature > 0` in place of the loss's own; `bound > 0` only
    /// clips.
    ///
    /// # Errors
    /// When a parameter is not positive, or the prior so small that its reciprocal overflows.
    pub fn with_curvature(prior: f64, curvature: f64, bound: f64, loss: Loss, outputs: usize) -> Result<Self, Error> {
        ParameterError::require(
            !(1.0 / prior).is_infinite(),
            "prior",
            "so large that its reciprocal is finite",
            prior,
        )?;
        Ok(Self {
            w: Coefficients::zeros(outputs, 0),
            p: SymmetricMatrix::new(),
            prior: ParameterError::positive("prior", prior)?,
            curvature: ParameterError::positive("curvature", curvature)?,
            bound: ParameterError::positive("bound", bound)?,
            steps: NewtonSteps::default(),
            short: false,
            loss,
            c: AlignedVec::new(),
            change: Change::default(),
            block: BlockRounds::default(),
        })
    }

    /// The same with this length of steps.
    #[must_use]
    pub fn with_steps(self, steps: NewtonSteps) -> Self {
        Self { steps, ..self }
    }

    /// The same with short steps of any weight, for a dictionary that points leave.
    #[must_use]
    pub fn with_short_steps(self) -> Self {
        Self { short: true, ..self }
    }

    /// The bound within which predictions are kept.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.bound
    }

    fn rule(&self) -> NewtonRound {
        NewtonRound {
            loss: self.loss,
            prior: self.prior,
            curvature: self.curvature,
            bound: self.bound,
            steps: self.steps,
            short: self.short,
        }
    }
}

impl Validate for NewtonStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.w.validate()?;
        self.p.validate()?;
        Inconsistent::positive(self.prior, "prior of the Newton step")?;
        Inconsistent::positive(self.curvature, "curvature of the Newton step")?;
        Inconsistent::positive(self.bound, "bound on predictions")?;
        self.loss.validate()?;
        let newton =
            self.loss.curvature(1.0, 1.0, 1).is_some() && (self.w.outputs() == 1 || self.loss == Loss::SOFTMAX);
        Inconsistent::require(newton, "Newton step", "its loss has a curvature")?;
        let fits = self.p.dimension() == self.w.coordinates();
        Inconsistent::require(fits, "Newton step", "its matrix has a row for each coefficient")
    }
}

impl LinearUpdate for NewtonStep {
    fn problem(&self) -> Problem {
        Problem { shape: Shape { inputs: self.w.coordinates(), outputs: self.w.outputs() }, loss: self.loss }
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.w)
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        self.w.values(phi, scores);
        self.read(scores);
    }

    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let rule = self.rule();
        let s = self.p.multiply(phi, &mut self.c);
        let grown = growth.map_or(0.0, |new| new * new / self.prior);
        let Change { projection, along } = &mut self.change;
        make_room(projection, scores.len());
        make_room(along, scores.len());
        make_room(&mut self.block.values, scores.len());
        self.w.values(phi, &mut self.block.values);
        let found = RoundValues { z: &self.block.values, s };
        let gain = rule.dispatch(found, grown, target, scores, (projection, along))?;
        if let Some(new) = growth {
            // The projection belongs to the old coordinates: the new one is moved by the step
            // alone.
            self.w.grow();
            self.p.grow(1.0 / self.prior);
            self.w.add(projection, &self.c);
            self.c.push(new / self.prior);
            phi.push(new);
        } else {
            along.iter_mut().zip(projection).for_each(|(along, projection)| *along += *projection);
        }
        self.w.add(along, &self.c);
        self.p.subtract(gain, &self.c);
        Ok(())
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        Some(self)
    }

    fn variance(&self) -> Option<&dyn LinearVariance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        Some(self)
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        None
    }

    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        if self.loss != Loss::SOFTMAX {
            return Err(Error::FixedOutputs);
        }
        self.w.add_output(like);
        let classes = self.w.outputs();
        // The curvature of a loss over more classes is smaller.
        self.curvature = self.loss.curvature(self.bound, 1.0, classes).unwrap_or(self.curvature).min(self.curvature);
        Ok(())
    }
}

impl ByValues for NewtonStep {
    fn function(&self, index: usize) -> Option<&AlignedVec> {
        self.w.vectors().get(index)
    }

    fn read(&self, values: &mut [f64]) {
        self.rule().clip(values);
    }
}

impl LinearBlocks for NewtonStep {
    fn size(&mut self) -> usize {
        BlockRecursion::suitable(self.w.coordinates())
    }

    fn learn_together(
        &mut self,
        phis: &mut [AlignedVec],
        targets: Targets<'_>,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        if self.size() == 1 || phis.len() < SHORTEST_BLOCK {
            return learn_each(self, phis, targets, scores);
        }
        let rule = self.rule();
        let Self { w, p, block, change: Change { projection, .. }, .. } = self;
        projection.resize(w.outputs(), 0.0);
        learn_rounds(block, p, w, (&*phis, targets), scores, |found, target, RoundUpdate { scores, along }| {
            if target.weight == 0.0 {
                scores.copy_from_slice(found.z);
                rule.clip(scores);
                return Ok(0.0);
            }
            let gain = rule.dispatch(found, 0.0, target, scores, (projection, along))?;
            along.iter_mut().zip(&*projection).for_each(|(along, projection)| *along += *projection);
            Ok(gain)
        })
    }
}

impl GrowingUpdate for NewtonStep {
    fn grow(&mut self) -> Result<(), Error> {
        self.w.grow();
        self.p.grow(1.0 / self.prior);
        Ok(())
    }

    fn remove(&mut self, rotations: &Rotations, how: Removal) {
        remove_coordinate(&mut self.w, &mut self.p, &mut self.c, rotations, how);
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        self.w.restart(n);
        self.p.restart(n, 1.0 / self.prior);
        Ok(())
    }
}
