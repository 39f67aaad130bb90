//! EX-KRLS: extended kernel recursive least squares (Liu, Park, Wang and Príncipe 2009).
//!
//! A state-space model: the function moves by `f ← a f` between two rounds, with noise of size `q`,
//! and is observed with noise; `β` discounts the past, `λ` is the regulariser. In round `i`, with
//! kernel row `k`, `κ = k(x, x)`, `e = y − kᵀα` and `ω` the weight of the example (noise `1/ω`):
//! `z = Qk`, `r = βⁱρ/ω + κ − kᵀz`, `α ← a[α − ze/r; e/r]`, `d = a² + βⁱqρ`, `ρ ← ρ/d`,
//! `Q ← (a²/d)[Q + zzᵀ/r, −z/r; −zᵀ/r, 1/r]`, from `ρ = λ` and nothing else. An input that equals
//! kept point `j` moves the coefficients that there are, which is the same function:
//! `α ← a(α − we/r)`, `Q ← (a²/d)(Q + wwᵀ/r)` with `w = z − e_j`. When the dictionary is full,
//! other inputs teach nothing, but `i` counts on. `Jd + J²` multiply-adds a round while it grows,
//! `Jd + J` after, `Jd + ½J²` numbers of memory.
//!
//! **Range.** The recursion carries an inverse: `Q` is near `(K + βⁱρ I)⁻¹`, and rounding grows
//! with the square of its condition. On up to 500 points under a Gaussian kernel predictions agree
//! with the exact solution to 1e-7 while `βⁱρ` stays above 1e-3 `κ`, to 1e-5 above 1e-4 `κ`, and
//! have lost all digits at 1e-6 `κ`. A `β` below 1 lets `βⁱρ` vanish as the dictionary grows: 0.995
//! makes it 1e-3 of `λ` after 1400 rounds, 0.99 after 700. So the noise `βⁱρ/ω` in `r` counts as
//! [`LEAST_NOISE`]` κ` at least. For streams without end take [`KrlsT`](crate::KrlsT).

use mercer_core::{ExampleError, Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel};
use mercer_linalg_incremental::SymmetricMatrix;
use mercer_simd::{axpy, dot};
use mercer_sparsify::{Answer, DistinctPoints};

use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

/// Least noise of an example, in units of `κ`.
const LEAST_NOISE: f64 = 1.0 / (1_u64 << 16) as f64;

parameters! {
    /// Parameters of [`ExKrls`].
    #[derive(Copy)]
    pub struct ExKrlsParams {
        /// state transition
        alpha: f64 = 0.999 => "a" POSITIVE,
        /// weight of past errors a round
        beta: f64 = 1.0 => "β" FRACTION,
        /// regulariser
        lambda: f64 = 0.1 => "λ" POSITIVE.search(0.001, 10.0),
        /// state noise
        q: f64 = 1e-3 => "q" NOT_NEGATIVE.search(1e-6, 0.1),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
    }
}

/// Extended kernel recursive least squares.
pub type ExKrls<K> = OnCoefficients<K, DistinctPoints, StateSpaceStep>;

impl<K: Kernel> ExKrls<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: ExKrlsParams) -> Result<Self, Error> {
        params.check()?;
        let ExKrlsParams { alpha, beta, lambda, q, max_dictionary } = params;
        let update = StateSpaceStep {
            transition: alpha,
            beta,
            state_noise: q,
            discount: 1.0,
            rho: lambda,
            q: SymmetricMatrix::new(),
            z: AlignedVec::new(),
        };
        Self::from_parts(kernel, dimension, DistinctPoints, update, (1, max_dictionary))
    }
}

/// The Kalman filter of EX-KRLS.
///
/// # Invariants
/// `discount` is `βⁱ` after `i` rounds.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateSpaceStep {
    transition: f64,
    beta: f64,
    state_noise: f64,
    discount: f64,
    rho: f64,
    q: SymmetricMatrix,
    #[cfg_attr(feature = "serde", serde(skip))]
    z: AlignedVec,
}

impl Validate for StateSpaceStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.transition, "state transition")?;
        Inconsistent::non_negative(self.state_noise, "state noise")?;
        Inconsistent::non_negative(self.rho, "regulariser of a state-space model")?;
        let beta = self.beta > 0.0 && self.beta <= 1.0;
        let discount = self.discount >= 0.0 && self.discount <= 1.0;
        Inconsistent::require(beta && discount, "forgetting", "it is above 0 and at most 1")?;
        self.q.validate()
    }
}

impl<K: Kernel> CoefficientUpdate<K> for StateSpaceStep {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { probe, answer, target, .. } = seen;
        let same = if let Answer::Merge(place) = answer { Some(place) } else { None };
        let k = probe.row();
        alpha.values(k, scores);
        let e = finite(target.y[0] - scores[0])?;
        let discount = self.beta * self.discount;
        if answer == Answer::Skip {
            self.discount = discount;
            return Ok(());
        }
        let (a, z) = (self.transition, &mut self.z);
        self.q.product(k, z);
        let noise = discount * self.rho;
        let own = probe.self_value();
        let new = (own - dot(k.lanes(), z.lanes())).max(0.0);
        let r = (noise / target.weight).max(LEAST_NOISE * own) + new;
        let reciprocal = finite(1.0 / r)?;
        let along = e * reciprocal;
        if let Some(place) = same {
            z[place] -= 1.0;
        }
        let squared = |value: f64| value * value;
        let mut sum = same.map_or(squared(a * along), |_| 0.0);
        for (alpha, z) in alpha.vectors()[0].iter().zip(z.iter()) {
            sum += squared(a * (alpha - z * along));
        }
        // Squares in range keep the predictions of all points together in range.
        finite(sum)?;
        finite(dot(z.lanes(), z.lanes()) * reciprocal)?;
        let divisor = a * a + noise * self.state_noise;
        let factor = a * a / divisor;
        let rho = self.rho / divisor;
        if !(r > 0.0 && rho.is_finite() && factor > 0.0) {
            return Err(ExampleError::Diverged.into());
        }
        let alpha = &mut alpha.vectors_mut()[0];
        axpy(-along, z.lanes(), alpha.lanes_mut());
        self.q.subtract(-reciprocal, z);
        if same.is_none() {
            alpha.push(along);
            z.iter_mut().for_each(|z| *z *= -reciprocal);
            self.q.border(z, reciprocal);
        }
        mercer_simd::scale(a, alpha);
        self.q.scale(factor);
        self.rho = rho;
        self.discount = discount;
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, points: usize, _: usize) -> bool {
        self.q.dimension() == points
    }
}

#[doc(hidden)]
pub const EX_KRLS: Learner<ExKrls<AnyKernel>> = Entry {
    name: "ex-krls",
    summary: "extended kernel recursive least squares: a state-space model of a function that moves",
    keys: ExKrlsParams::KEYS,
    time: cost!(1.0 J d, 1.0 J J),
    memory: cost!(1.0 J d, 0.5 J J),
    source: "Liu et al. 2009",
    remedy: Some("raise lambda"),
    advice: "some hundred rows of a function that drifts; later rows teach nothing",
    start: "`lambda=0.1`, `alpha=0.999`",
    trial: &["max_dictionary=30"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(ExKrls::new(kernel, context.dimension, values.parameters(context)?)?));
