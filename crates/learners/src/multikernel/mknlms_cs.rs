//! MKNLMS-CS: multikernel normalised least mean squares with coherence-based sparsification (Yukawa
//! 2012).
//!
//! With `K_ip = k_p(d_i, x)`, `f(x) = Σ_ip A_ip K_ip` and `e = y − f(x)`: `x` joins with
//! coefficients 0 when no `K_ip` exceeds `δ`, as the first point always does; then, over the
//! dictionary that may have grown, `A ← A + η ω e K/(ε + ΣK²)`, `ω` being the weight of the
//! example. Kernel values are compared with `δ` as they are, so `δ` below 1 means a coherence for
//! normalised kernels only. Once the dictionary is full no point joins and the steps go on.
//! `P(Jd + 4J)` multiply-adds a round, `Jd + PJ` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_simd::{axpy, dot};

use super::kernels::KERNELS;
use crate::Error;
use crate::engines::several_kernels::{MultikernelUpdate, OnSeveralKernels, SeenByKernels};
use crate::engines::update::importance::squared_rate;
use crate::engines::update::{Coefficients, finite};
use crate::entry::keys::join;
use crate::entry::{Entry, Learner, Parameters};
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`MknlmsCs`].
    #[derive(Copy)]
    pub struct MknlmsCsParams {
        /// step size, below 2
        eta: f64 = 0.1 => "η" POSITIVE.search(0.01, 1.0),
        /// a point is kept if no kernel value with a kept one exceeds this
        delta: f64 = 0.995 => "δ" NOT_NEGATIVE.search_evenly(0.9, 0.999),
        /// added to the squared norm
        eps: f64 = 1.0 => "ε" NOT_NEGATIVE.search(0.0001, 1.0),
        /// most points kept
        max_dictionary: Option<usize> = Some(500) => "" COUNT.unlimited(),
    }
}

/// Multikernel normalised least mean squares with coherence-based sparsification.
pub type MknlmsCs<K> = OnSeveralKernels<K, NormalisedSteps>;

impl<K: Kernel> MknlmsCs<K> {
    /// A learner with these kernels, at least one, for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// Without a kernel, or when a parameter is out of its range.
    pub fn new(kernels: Vec<K>, dimension: usize, params: MknlmsCsParams) -> Result<Self, Error> {
        params.check()?;
        let MknlmsCsParams { eta, delta, eps, max_dictionary } = params;
        let update = NormalisedSteps { eta, delta, eps };
        Self::from_parts(kernels, dimension, update, max_dictionary)
    }
}

/// `A ← A + η ω e K/(ε + ΣK²)`, and the rule that keeps points of which no kernel value exceeds
/// `δ`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NormalisedSteps {
    eta: f64,
    delta: f64,
    eps: f64,
}

impl Validate for NormalisedSteps {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.eta, "step size")?;
        Inconsistent::non_negative(self.delta, "largest kernel value kept")?;
        Inconsistent::non_negative(self.eps, "regulariser of a normalised step")
    }
}

impl MultikernelUpdate for NormalisedSteps {
    fn combine(&self, parts: &[f64]) -> f64 {
        parts.iter().sum()
    }

    fn step(&mut self, a: &mut Coefficients, seen: SeenByKernels<'_>) -> Result<(), Error> {
        let SeenByKernels { rows, self_values, prediction, target, is_full, .. } = seen;
        let keeps = !is_full && rows.iter().all(|row| row.iter().all(|value| *value <= self.delta));
        let mut squared: f64 = rows.iter().map(|row| dot(row.lanes(), row.lanes())).sum();
        if keeps {
            squared += self_values.iter().map(|own| own * own).sum::<f64>();
        }
        let norm = self.eps + finite(squared)?;
        let moves = if norm > 0.0 { squared / norm } else { 0.0 };
        let error = squared_rate(self.eta, moves, target.weight) * (target.y[0] - prediction);
        let step = if norm > 0.0 { finite(finite(error)? / norm)? } else { 0.0 };
        // ‖A + sK‖² before any change, so that a step out of range is refused whole.
        finite(a.squared_norm() + 2.0 * step * prediction + step * step * squared)?;
        if keeps {
            a.grow();
            rows.iter_mut().zip(self_values).for_each(|(row, own)| row.push(*own));
        }
        for (a, row) in a.vectors_mut().iter_mut().zip(rows) {
            axpy(step, row.lanes(), a.lanes_mut());
        }
        Ok(())
    }

    fn fits(&self, _: usize) -> bool {
        true
    }
}

#[doc(hidden)]
pub const MKNLMS_CS: Learner<MknlmsCs<AnyKernel>> = Entry {
    name: "mknlms-cs",
    summary: "normalised least mean squares with several kernels on one coherent dictionary",
    keys: &join::<5>(&[KERNELS], MknlmsCsParams::KEYS),
    time: cost!(P * (1.0 J d, 4.0 J)),
    memory: cost!(1.0 J d, 1.0 P J),
    source: "Yukawa 2012",
    remedy: Some("take a smaller step"),
    advice: "cheap steps without a width to choose",
    start: "`kernels` of several widths, `eta=0.1`; `delta` nearer to 1 keeps more",
    trial: &["max_dictionary=20"],
    ..Entry::PLAIN
}
.made_by(|_, context, values| {
    let (kernels, params) = (values.read("kernels", context)?, values.parameters(context)?);
    Ok(MknlmsCs::new(kernels, context.dimension, params)?)
});
