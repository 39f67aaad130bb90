//! MXKLMS: mixture kernel least mean squares (Pokharel, Seth and Príncipe 2013).
//!
//! With `y_p(x) = Σ_i A_ip k_p(d_i, x)`, `ψ = softmax(v)`, `f(x) = Σ_p ψ_p y_p(x)` and
//! `e = y − f(x)`: first `v_p ← v_p + 2μ ω e ψ_p (y_p − f)`, `ω` being the weight of the example
//! and `v = 0` at the start; then `x` joins with the coefficients `A_p = η ω e ψ_p` of the new `ψ`.
//! A repeated input adds them to those that it has, which is the same function. Once the dictionary
//! is full, inputs that it does not hold teach nothing. `P(Jd + J)` multiply-adds a round,
//! `Jd + PJ` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};

use super::kernels::KERNELS;
use crate::Error;
use crate::engines::several_kernels::{MultikernelUpdate, OnSeveralKernels, SeenByKernels};
use crate::engines::update::importance::squared_rate;
use crate::engines::update::{Coefficients, finite};
use crate::entry::keys::join;
use crate::entry::{Entry, Learner, Parameters};
use crate::loss::Softmax;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Mxklms`].
    #[derive(Copy)]
    pub struct MxklmsParams {
        /// step size, below 2/k(x,x)
        eta: f64 = 0.2 => "η" POSITIVE.search(0.01, 1.0),
        /// step size of the kernels' weights
        mu: f64 = 1.0 => "μ" NOT_NEGATIVE.search(0.1, 10.0),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
    }
}

/// Mixture kernel least mean squares.
pub type Mxklms<K> = OnSeveralKernels<K, SoftmaxMixture>;

impl<K: Kernel> Mxklms<K> {
    /// A learner with these kernels, at least one, for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// Without a kernel, or when a parameter is out of its range.
    pub fn new(kernels: Vec<K>, dimension: usize, params: MxklmsParams) -> Result<Self, Error> {
        params.check()?;
        let MxklmsParams { eta, mu, max_dictionary } = params;
        let update = SoftmaxMixture { eta, mu, v: vec![0.0; kernels.len()], moved: Vec::new(), psi: Vec::new() };
        Self::from_parts(kernels, dimension, update, max_dictionary)
    }

    /// `ψ`, the weight of each kernel; they sum to 1.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        let mut psi = self.state().v.clone();
        Softmax.probabilities(&mut psi);
        psi
    }
}

/// Stochastic gradient steps on the weights `ψ = softmax(v)` of the kernels and on the
/// coefficients.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SoftmaxMixture {
    eta: f64,
    mu: f64,
    v: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    moved: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    psi: Vec<f64>,
}

impl Validate for SoftmaxMixture {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.eta, "step size")?;
        Inconsistent::non_negative(self.mu, "step size of a mixture's weights")?;
        self.v.validate()
    }
}

impl MultikernelUpdate for SoftmaxMixture {
    fn combine(&self, parts: &[f64]) -> f64 {
        let top = self.v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut total) = (0.0, 0.0);
        for (v, part) in self.v.iter().zip(parts) {
            let weight = (v - top).exp();
            sum += weight * part;
            total += weight;
        }
        sum / total
    }

    fn step(&mut self, a: &mut Coefficients, seen: SeenByKernels<'_>) -> Result<(), Error> {
        let SeenByKernels { parts, prediction, target, is_full, same, self_values, .. } = seen;
        if is_full && same.is_none() {
            return Ok(());
        }
        let moves = self_values.iter().copied().fold(0.0, f64::max);
        let weight = squared_rate(self.eta, moves, target.weight) / self.eta;
        let error = finite(weight * (target.y[0] - prediction))?;
        self.psi.clone_from(&self.v);
        Softmax.probabilities(&mut self.psi);
        self.moved.clone_from(&self.v);
        for ((v, psi), part) in self.moved.iter_mut().zip(&self.psi).zip(parts) {
            *v = finite(*v + 2.0 * self.mu * error * psi * (part - prediction))?;
        }
        self.psi.clone_from(&self.moved);
        Softmax.probabilities(&mut self.psi);
        for (psi, a) in self.psi.iter_mut().zip(a.vectors()) {
            *psi *= self.eta * error;
            // Squares in range keep the predictions of all points together in range.
            let next = *psi + same.map_or(0.0, |place| a[place]);
            finite(next * next)?;
        }
        std::mem::swap(&mut self.v, &mut self.moved);
        match same {
            Some(place) => a.add_to(place, &self.psi),
            None => a.push(&self.psi),
        }
        Ok(())
    }

    fn fits(&self, kernels: usize) -> bool {
        self.v.len() == kernels
    }
}

#[doc(hidden)]
pub const MXKLMS: Learner<Mxklms<AnyKernel>> = Entry {
    name: "mxklms",
    summary: "mixture of kernels, each with least mean squares, on one dictionary of the first points",
    keys: &join::<4>(&[KERNELS], MxklmsParams::KEYS),
    time: cost!(P * (1.0 J d, 1.0 J)),
    memory: cost!(1.0 J d, 1.0 P J),
    source: "Pokharel et al. 2013",
    remedy: Some("take a smaller step"),
    advice: "short streams of which no good width is known",
    start: "`kernels` of several widths, `eta=0.2`; `max_dictionary` as long as the stream",
    trial: &["max_dictionary=20"],
    ..Entry::PLAIN
}
.made_by(|_, context, values| {
    let (kernels, params) = (values.read("kernels", context)?, values.parameters(context)?);
    Ok(Mxklms::new(kernels, context.dimension, params)?)
});
