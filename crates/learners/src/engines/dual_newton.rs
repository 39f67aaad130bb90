//! The kernelised online Newton step in the dual: the engine of [`Kons`](crate::Kons) and
//! [`SketchedKons`](crate::SketchedKons).
//!
//! `A_t = μI + Σ_{s∈S} h_s² k_s k_sᵀ` with `h_s = √η g_s` over the rounds `S` that entered the
//! curvature, and `f ← f − A_t⁻¹ g k_x`. With `H = diag(h)`, the factor `L Lᵀ = H K_S H + μI` and
//! `v(x) = L⁻¹ H k_S(x)`, `A⁻¹ k_x = (k_x − Σ_S h_s (L⁻ᵀv)_s k_s)/μ` (\[A\] Theorem 4.1) and
//! `q = k_xᵀA⁻¹k_x = (k(x,x) − ‖v‖²)/μ`. Every step subtracts a multiple `r` of `μA⁻¹k_x`, so
//! `f(x) = m ᵀv(x) − Σ r_s k(x_s, x)` with `m = Σ r_s v_s`: appending a row to `L` appends a zero
//! to the earlier `v_s`, and one forward solve serves prediction, step and growth alike. An example
//! of weight `ω` has `h = √(ηω) g` and steps by `ωg`, or less where `ω > 1` or `μ < 1`
//! ([`NewtonSteps`]). The loss is squared or logistic.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::GrowingCholesky;
use mercer_simd::{axpy, dot};

use crate::engines::update::importance::NewtonSteps;
use crate::engines::update::{finite, in_range};
use crate::example::Target;
use crate::learner::check_input;
use crate::loss::Loss;
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Shape, Tokens, Variance};

/// Largest curvature of a round, in units of `μ/k(x,x)`.
const MOST_CURVATURE: f64 = (1_u64 << 26) as f64;

/// Which rounds enter the curvature.
pub trait Curvature: Send + Sync {
    /// True if a round whose curvature is `q = h² k_xᵀA⁻¹k_x` enters; the same answer until
    /// [`next`](Self::next).
    fn enters(&self, q: f64) -> bool;
    /// A round is over.
    fn next(&mut self);
}

/// Points with coefficients, `Σ r_s k(x_s, ·)`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Terms {
    points: Points,
    r: AlignedVec,
}

impl Validate for Terms {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.points.validate()?;
        self.r.validate()?;
        let fits = self.r.len() == self.points.len();
        Inconsistent::require(fits, "kernel expansion", "it has a coefficient for each point")
    }
}

impl Terms {
    fn new(dimension: usize) -> Self {
        Self { points: Points::new(dimension), r: AlignedVec::new() }
    }

    fn push(&mut self, x: &[f64], r: f64) {
        self.points.push(x);
        self.r.push(r);
    }
}

/// Values that the engine computes for an input, beside `v` in memory.
#[derive(Clone, Copy, Debug)]
struct DualProbe {
    /// `f(x)`
    value: f64,
    /// `q = k_xᵀA⁻¹k_x`
    q: f64,
    /// `‖v‖²` and `k(x, x)`
    squared: f64,
    self_value: f64,
}

/// The online Newton step over all points of a stream, with the rounds that `C` chooses in the
/// curvature.
///
/// # Invariants
/// `factor` is `L`, over the points of `curved` in their order; `h` and `m` have one entry for each
/// of them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DualNewton<K, C> {
    kernel: K,
    curvature: C,
    mu: f64,
    eta: f64,
    clip: Option<f64>,
    steps: NewtonSteps,
    /// Rounds in the curvature.
    curved: Terms,
    h: AlignedVec,
    m: AlignedVec,
    factor: GrowingCholesky,
    /// Rounds that only moved `f`.
    plain: Terms,
    loss: Loss,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

impl<K: Kernel, C: Curvature> DualNewton<K, C> {
    pub(crate) fn from_parts(
        kernel: K,
        dimension: usize,
        curvature: C,
        loss: Loss,
        [mu, eta]: [f64; 2],
        clip: Option<f64>,
        steps: NewtonSteps,
    ) -> Result<Self, Error> {
        if loss.curvature(1.0, 1.0, 1).is_none() || loss == Loss::SOFTMAX {
            let instead = "squared or logistic";
            return Err(Error::Loss { update: "the Newton step in the dual", loss: loss.name(), instead });
        }
        Ok(Self {
            kernel,
            curvature,
            mu: ParameterError::positive("mu", mu)?,
            eta: ParameterError::positive("eta", eta)?,
            clip: clip.map(|c| ParameterError::positive("clip", c)).transpose()?,
            steps,
            curved: Terms::new(dimension),
            h: AlignedVec::new(),
            m: AlignedVec::new(),
            factor: GrowingCholesky::new(),
            plain: Terms::new(dimension),
            loss,
            scratch: Scratch::default(),
        })
    }

    /// Which rounds enter the curvature.
    pub fn curvature(&self) -> &C {
        &self.curvature
    }

    /// Number of rounds `|S|` in the curvature; a step solves with a factor of this order.
    #[must_use]
    pub fn curved_rounds(&self) -> usize {
        self.curved.points.len()
    }

    /// `f(x)` before clipping, and what a step at `x` needs; leaves `v` in the second vector.
    /// `td + ½J²` for `J` rounds in the curvature.
    fn probe(&self, x: &[f64], scratch: &mut Scratch) -> Result<DualProbe, Error> {
        let [row, v, work] = &mut scratch.vectors;
        self.kernel.row(&self.plain.points, x, row);
        let mut value = -dot(self.plain.r.lanes(), row.lanes());
        self.kernel.row(&self.curved.points, x, row);
        value -= dot(self.curved.r.lanes(), row.lanes());
        work.assign(row);
        work.iter_mut().zip(self.h.iter()).for_each(|(k, h)| *k *= h);
        self.factor.forward_solve(work, v);
        value += dot(self.m.lanes(), v.lanes());
        let squared = dot(v.lanes(), v.lanes());
        let self_value = self.kernel.self_value(x);
        let q = (self_value - squared).max(0.0) / self.mu;
        let found = DualProbe { value, q, squared, self_value };
        if value.is_finite() && q.is_finite() { Ok(found) } else { Err(ExampleError::KernelOverflow.into()) }
    }

    /// `f(x)`, clipped when there is a bound.
    fn prediction(&self, value: f64) -> f64 {
        self.clip.map_or(value, |c| value.clamp(-c, c))
    }

    /// Projects on `|f(x)| ≤ C` and learns `y` at the probed `x`; returns the prediction.
    ///
    /// # Errors
    /// [`ExampleError::Diverged`]; nothing is changed.
    fn learn_probed(
        &mut self,
        x: &[f64],
        found: DualProbe,
        v: &mut AlignedVec,
        Target { y, weight }: Target<'_>,
    ) -> Result<f64, Error> {
        let prediction = self.prediction(found.value);
        let excess = found.value - prediction;
        // `f ← f − (excess/q) A⁻¹k_x`; where q = 0 the value cannot be moved.
        let projection = if excess == 0.0 || found.q == 0.0 { 0.0 } else { finite(excess / found.q)? };
        let g = finite(self.loss.derivative(prediction, y[0]))?;
        // More would fix f(x) no better, but spoil what the factor says of other inputs.
        let most = MOST_CURVATURE * self.mu / found.self_value;
        let squared_h = finite(self.eta * g * g * weight)?.min(most);
        let squared_h = if self.curvature.enters(squared_h * found.q) { squared_h } else { 0.0 };
        let divisor = self.steps.divisor(self.loss, (self.mu, weight), squared_h / weight, found.q);
        let r = finite((projection + weight * g / divisor) / self.mu)?;
        in_range(r * found.squared.sqrt().max(1.0))?;
        let pivot = finite(squared_h * found.self_value + self.mu - squared_h * found.squared)?;
        self.curvature.next();
        axpy(r, v.lanes(), self.m.lanes_mut());
        if squared_h > 0.0 {
            let h = squared_h.sqrt() * g.signum();
            v.iter_mut().for_each(|v| *v *= h);
            // In exact arithmetic the pivot is at least μ.
            self.factor.append(v, pivot.max(self.mu).sqrt());
            self.curved.push(x, r);
            self.h.push(h);
            self.m.push(0.0);
        } else if r != 0.0 {
            self.plain.push(x, r);
        }
        Ok(prediction)
    }
}

impl<K: Validate, C: Validate> Validate for DualNewton<K, C> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "dual Newton step";
        self.kernel.validate()?;
        self.curvature.validate()?;
        Inconsistent::positive(self.mu, "regulariser")?;
        Inconsistent::positive(self.eta, "curvature")?;
        self.clip.map_or(Ok(()), |clip| Inconsistent::positive(clip, "bound on predictions"))?;
        let newton = self.loss.curvature(1.0, 1.0, 1).is_some() && self.loss != Loss::SOFTMAX;
        Inconsistent::require(newton, WHAT, "its loss has a curvature")?;
        self.curved.validate()?;
        self.plain.validate()?;
        self.h.validate()?;
        self.m.validate()?;
        self.factor.validate()?;
        let rounds = self.curved.points.len();
        let fits = [self.h.len(), self.m.len(), self.factor.dimension()] == [rounds; 3];
        Inconsistent::require(fits, WHAT, "everything is there for each round of the curvature")?;
        let same = self.curved.points.dimension() == self.plain.points.dimension();
        Inconsistent::require(same, WHAT, "all its points have one dimension")
    }
}

impl<K: Kernel, C: Curvature> Regressor for DualNewton<K, C> {
    fn problem(&self) -> Problem {
        Problem { shape: Shape { inputs: self.curved.points.dimension(), outputs: 1 }, loss: self.loss }
    }

    fn dictionary_size(&self) -> usize {
        self.curved.points.len() + self.plain.points.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension())?;
        scores[0] = self.prediction(self.probe(x, scratch)?.value);
        Ok(())
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let probed = self.probe(x, &mut scratch);
        let learnt = probed.and_then(|found| self.learn_probed(x, found, &mut scratch.vectors[1], target));
        self.scratch = scratch;
        scores[0] = learnt?;
        Ok(())
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => {
                self.curved.points.grow(added);
                self.plain.points.grow(added);
                Ok(())
            }
            Growth::Output { .. } => Err(growth.refused()),
        }
    }
}
