//! KRMC: kernel recursive maximum correntropy (Wu, Shi, Zhang, Ma and Chen 2015).
//!
//! Maximises `Σ_s ω_s exp(−(y_s − f(x_s))²/2s²) − λ/2s² ‖f‖²` by one pass of least squares with the
//! weights of correntropy for a fixed scale, see [`Robust`]. The paper keeps every example and the
//! matrix `Q = (K + λB⁻¹)⁻¹`, `B` the weights; here [`Krls`] works on an ALD dictionary, which with
//! `ν = 0` and no limit is the same. The paper's `γ₂σ²` is `λ`, its `β` is 1. An example whose
//! weight falls below 1e-26 of its own neither joins nor is learnt.
//!
//! Targets should be of the size of `s`: one that is far away from the first predictions on every
//! row is an outlier for ever; [`Robust`] finds the scale itself. `2Jd + 2½J²` multiply-adds a
//! round, `Jd + J²` numbers of memory.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, Kernel};

use crate::Error;
use crate::engines::basis::Eviction;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::least_squares::{Krls, KrlsParams};
use crate::parameters::parameters;
use crate::wrappers::{Robust, RobustParams, Weights};

parameters! {
    /// Parameters of [`Krmc`].
    #[derive(Copy)]
    pub struct KrmcParams {
        /// errors several times as large are outliers
        scale: f64 = 1.0 => "s" POSITIVE.search(0.1, 10.0),
        /// ridge
        lambda: f64 = 0.1 => "λ" POSITIVE.search(0.0001, 10.0),
        /// ALD threshold on the squared distance; larger keeps fewer points
        nu: f64 = 1e-3 => "ν" NOT_NEGATIVE.search(0.0001, 0.1),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
        /// which point leaves when the dictionary is full; never keeps the first ones
        eviction: Eviction = Eviction::Never => "" "never, oldest, random, smallest or least-significant".called("removal"),
    }
}

/// Kernel recursive maximum correntropy.
pub type Krmc<K> = Robust<Krls<K>>;

impl<K: Kernel> Krmc<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KrmcParams) -> Result<Self, Error> {
        params.check()?;
        let KrmcParams { scale, lambda, nu, max_dictionary, outputs, eviction } = params;
        let krls = KrlsParams { lambda, nu, max_dictionary, outputs, eviction, ..KrlsParams::default() };
        let weights = RobustParams::default().weights(Weights::Correntropy).cut(Some(1.0)).scale(Some(scale));
        Self::around(Krls::new(kernel, dimension, krls)?, weights)
    }
}

#[doc(hidden)]
pub const KRMC: Learner<Krmc<AnyKernel>> = Entry {
    name: "krmc",
    summary: "kernel recursive maximum correntropy: least squares that outliers do not move",
    keys: KrmcParams::KEYS,
    time: cost!(2.0 J d, 2.5 J J),
    memory: cost!(1.0 J d, 1.0 J J),
    source: "Wu et al. 2015",
    remedy: Some("raise lambda or nu"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "targets with outliers, scaled",
    start: "`scale=1` for targets of deviation 1",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Krmc::new(kernel, context.dimension, values.parameters(context)?)?));
