//! The kernelised online Newton step in the dual: the engine of [`Kons`](crate::Kons) and
//! [`SketchedKons`](crate::SketchedKons).
//!
//! `A_t = μI + Σ_{s∈S} h_s² k_s k_sᵀ` with `h_s = √η g_s` over the rounds `S` that entered the curvature, and
//! `f ← f − A_t⁻¹ g k_x`. With `H = diag(h)`, the factor `L Lᵀ = H K_S H + μI` and `v(x) = L⁻¹ H k_S(x)`,
//! `A⁻¹ k_x = (k_x − Σ_S h_s (L⁻ᵀv)_s k_s)/μ` (\[A\] Theorem 4.1) and `q = k_xᵀA⁻¹k_x = (k(x,x) − ‖v‖²)/μ`.
//! Every step subtracts a multiple `r` of `μA⁻¹k_x`, so `f(x) = m ᵀv(x) − Σ r_s k(x_s, x)` with `m = Σ r_s v_s`: appending a
//! row to `L` appends a zero to the earlier `v_s`, and one forward solve serves prediction, step and growth alike.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::GrowingCholesky;
use mercer_simd::{axpy, dot};

use crate::regression::regressor::{check_example, check_input};
use crate::regression::update::finite;
use crate::{Error, Regressor, Scratch};

/// Which rounds enter the curvature.
pub trait Curvature {
    /// Whether a round whose curvature is `q = h² k_xᵀA⁻¹k_x` enters; the same answer until [`next`](Self::next).
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

/// What the engine computes of an input; reused from call to call.
#[derive(Clone, Debug, Default)]
pub(crate) struct DualProbe {
    row: AlignedVec,
    v: AlignedVec,
    work: AlignedVec,
    /// `f(x)`
    value: f64,
    /// `q = k_xᵀA⁻¹k_x`
    q: f64,
    /// `‖v‖²` and `k(x, x)`
    squared: f64,
    self_value: f64,
}

/// The online Newton step over all points of a stream, with the rounds that `C` chooses in the curvature.
///
/// # Invariants
/// `factor` is `L`, over the points of `curved` in their order; `h` and `m` have one entry for each of them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DualNewton<K, C> {
    kernel: K,
    curvature: C,
    mu: f64,
    eta: f64,
    clip: Option<f64>,
    /// Rounds in the curvature.
    curved: Terms,
    h: AlignedVec,
    m: AlignedVec,
    factor: GrowingCholesky,
    /// Rounds that only moved `f`.
    plain: Terms,
    #[cfg_attr(feature = "serde", serde(skip))]
    probe: DualProbe,
}

impl<K: Kernel, C: Curvature> DualNewton<K, C> {
    pub(crate) fn from_parts(kernel: K, dimension: usize, curvature: C, mu: f64, eta: f64, clip: Option<f64>) -> Self {
        Self {
            kernel,
            curvature,
            mu,
            eta,
            clip,
            curved: Terms::new(dimension),
            h: AlignedVec::new(),
            m: AlignedVec::new(),
            factor: GrowingCholesky::new(),
            plain: Terms::new(dimension),
            probe: DualProbe::default(),
        }
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

    /// `f(x)` before clipping, and what a step at `x` needs. `td + ½J²` for `J` rounds in the curvature.
    fn probe(&self, x: &[f64], probe: &mut DualProbe) -> Result<(), Error> {
        let DualProbe { row, v, work, .. } = probe;
        self.kernel.row(&self.plain.points, x, row);
        let mut value = -dot(self.plain.r.lanes(), row.lanes());
        self.kernel.row(&self.curved.points, x, row);
        value -= dot(self.curved.r.lanes(), row.lanes());
        work.assign(row);
        work.iter_mut().zip(self.h.iter()).for_each(|(k, h)| *k *= h);
        self.factor.forward_solve(work, v);
        value += dot(self.m.lanes(), v.lanes());
        probe.squared = dot(probe.v.lanes(), probe.v.lanes());
        probe.self_value = self.kernel.self_value(x);
        probe.value = value;
        probe.q = (probe.self_value - probe.squared).max(0.0) / self.mu;
        if value.is_finite() && probe.q.is_finite() { Ok(()) } else { Err(Error::KernelOverflow) }
    }

    /// The prediction of a probed input: `f(x)`, clipped when there is a bound.
    fn prediction(&self, probe: &DualProbe) -> f64 {
        self.clip.map_or(probe.value, |c| probe.value.clamp(-c, c))
    }

    /// Projects on `|f(x)| ≤ C` and learns `y` at the probed `x`; returns the prediction.
    ///
    /// # Errors
    /// [`Error::Diverged`]; nothing is changed.
    fn step(&mut self, x: &[f64], probe: &mut DualProbe, y: f64) -> Result<f64, Error> {
        let prediction = self.prediction(probe);
        let excess = probe.value - prediction;
        // `f ← f − (excess/q) A⁻¹k_x`; where q = 0 the value cannot be moved.
        let projection = if excess == 0.0 || probe.q == 0.0 { 0.0 } else { finite(excess / probe.q)? };
        let g = finite(2.0 * (prediction - y))?;
        let squared_h = finite(self.eta * g * g)?;
        let squared_h = if self.curvature.enters(squared_h * probe.q) { squared_h } else { 0.0 };
        let r = finite((projection + g / (1.0 + squared_h * probe.q)) / self.mu)?;
        let pivot = finite(squared_h * probe.self_value + self.mu - squared_h * probe.squared)?;
        self.curvature.next();
        axpy(r, probe.v.lanes(), self.m.lanes_mut());
        if squared_h > 0.0 {
            let h = squared_h.sqrt() * g.signum();
            probe.v.iter_mut().for_each(|v| *v *= h);
            // In exact arithmetic the pivot is at least μ.
            self.factor.append(&probe.v, pivot.max(self.mu).sqrt());
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
    fn dimension(&self) -> usize {
        self.curved.points.dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.curved.points.len() + self.plain.points.len()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension())?;
        self.probe(x, &mut scratch.dual)?;
        Ok(self.prediction(&scratch.dual))
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        let mut probe = std::mem::take(&mut self.probe);
        let learnt = self.probe(x, &mut probe).and_then(|()| self.step(x, &mut probe, y));
        self.probe = probe;
        learnt
    }
}
