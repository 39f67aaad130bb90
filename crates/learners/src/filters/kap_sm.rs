//! KAP-SM: kernel adaptive projected subgradients (Slavakis, Theodoridis and Yamada 2008).
//!
//! With the last `q ≤ p` examples, this one included, `e_j` their errors under the current `f`,
//! `κ_j = k(x_j, x_j)` and `ω_j` their weights: `x` joins with 0, and the coefficients of the `q`
//! examples, the last ones, lose `μβ_j`, `β_j = ω_j L_j g_j/(q(g_j² κ_j + u))`, `u = 2.2e−16`.
//! Without the factor `ω_j/q` and for `μ = 1`, a term projects `f` on the half-space where the
//! linearised loss of its example is not positive. Of more than `M` points the oldest leaves;
//! `p ≤ M`. The loss is
//!
//! - `l2`: `L = e²`, `g = −2e`;
//! - `huber`: `L = e²/2s`, `g = −e/s` for `|e| ≤ s`, otherwise `L = |e| − s/2`, `g = −sign e`.
//!
//! A factor of the loss would leave the projection where it is, so a weight multiplies `β` instead.
//!
//! `Jd + pd + pJ` multiply-adds a round, `J(d + 2 + p)` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel};
use mercer_sparsify::EveryPoint;

use crate::engines::coefficients::window::{Move, SampleWindow};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::Coefficients;
use crate::entry::{Entry, Learner, Parameters, Takes, choices};
use crate::loss::{Huber, Loss};
use crate::parameters::parameters;
use crate::{Error, Growth, ParameterError};

/// The loss that [`KapSm`] minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum KapSmLoss {
    /// `l2`, the squared loss.
    #[default]
    Squared,
    /// The Huber loss of a width.
    Huber,
}

choices!(KapSmLoss { "l2" = Squared, "huber" = Huber });

parameters! {
    /// Parameters of [`KapSm`].
    #[derive(Copy)]
    pub struct KapSmParams {
        /// step size, below 2
        mu: f64 = 0.3 => "μ" POSITIVE.search(0.05, 1.9),
        /// what is minimised
        loss: KapSmLoss = KapSmLoss::Squared => "" "l2 or huber",
        /// width of the Huber loss, in units of the target
        width: f64 = 2.0 => "s" POSITIVE,
        /// examples in the window
        window: usize = 10 => "p" COUNT,
        /// most points kept
        max_dictionary: usize = 500 => "" COUNT,
    }
}

/// Kernel adaptive projected subgradients.
pub type KapSm<K> = OnCoefficients<K, EveryPoint, SubgradientProjection>;

impl<K: Kernel> KapSm<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KapSmParams) -> Result<Self, Error> {
        params.check()?;
        let KapSmParams { mu, loss, width, window, max_dictionary: budget } = params;
        let huber = (loss == KapSmLoss::Huber).then_some(width);
        ParameterError::require(window <= budget, "window", "at most max_dictionary", window as f64)?;
        let window = SampleWindow::new("window", window, dimension)?;
        let (errors, moved) = (AlignedVec::new(), Move::default());
        let update = SubgradientProjection { mu, huber, budget, window, errors, moved };
        Self::from_parts(kernel, dimension, EveryPoint, update, (1, None))
    }
}

/// `−μβ_j` for the last points.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SubgradientProjection {
    mu: f64,
    huber: Option<f64>,
    budget: usize,
    window: SampleWindow,
    #[cfg_attr(feature = "serde", serde(skip))]
    errors: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    moved: Move,
}

impl Validate for SubgradientProjection {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.mu, "step size")?;
        Inconsistent::positive(self.huber.unwrap_or(1.0), "width of a loss")?;
        let holds = self.window.order() <= self.budget;
        Inconsistent::require(holds, "budget", "it is at least the number of samples in the window")?;
        self.window.validate()
    }
}

/// `L` and `g` of an error; with a width, those of the Huber loss.
fn loss_of(e: f64, huber: Option<f64>) -> [f64; 2] {
    match huber {
        None => [e * e, -2.0 * e],
        Some(s) if e.abs() <= s => [e * e / (2.0 * s), -e / s],
        Some(s) => [e.abs() - 0.5 * s, -e.signum()],
    }
}

impl<K: Kernel> CoefficientUpdate<K> for SubgradientProjection {
    fn loss(&self) -> Loss {
        // The width was checked when the learner was made or read.
        self.huber.and_then(|width| Huber::new(width).ok()).map_or(Loss::SQUARED, Loss::Huber)
    }

    fn step(&mut self, alpha: &mut Coefficients, mut seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let Self { mu, huber, budget, window, errors, moved } = self;
        alpha.values(seen.probe.row(), scores);
        window.learn(alpha, &mut seen, moved, |window, alpha, next| {
            window.errors(alpha, errors);
            // The samples are the last points.
            let (q, first) = (errors.len() as f64, next.len() - errors.len());
            let samples = errors.iter().zip(window.weights()).zip(window.rows());
            for (((e, weight), row), i) in samples.zip(first..) {
                let [loss, slope] = loss_of(*e, *huber);
                // A projection of all of the error, at most.
                let weight = weight.min((1.0 / *mu).max(1.0));
                next[i] -= *mu * weight * loss * slope / (q * (slope * slope * row[i] + f64::EPSILON));
            }
            Ok(())
        })?;
        if alpha.coordinates() > *budget {
            window.leave(0);
            seen.leaving.push(0);
        }
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        self.window.reshape(growth)
    }

    fn fits(&self, points: usize, inputs: usize) -> bool {
        self.window.ends(points) && points <= self.budget && self.window.fits_inputs(inputs)
    }
}

#[doc(hidden)]
pub const KAP_SM: Learner<KapSm<AnyKernel>> = Entry {
    name: "kap-sm",
    summary: "projected subgradients of several examples at once over a window of points",
    keys: KapSmParams::KEYS,
    time: cost!(1.0 J d, 1.0 p d, 1.0 p J),
    memory: cost!(1.0 J d, 2.0 J, 1.0 p J),
    source: "Slavakis et al. 2008",
    remedy: Some("take a smaller step"),
    takes: Takes { losses: &["squared", "huber:δ"], ..Takes::SQUARED },
    advice: "outliers, with the Huber loss",
    start: "`mu=0.3`, `window=10`",
    trial: &["max_dictionary=40", "window=4"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(KapSm::new(kernel, context.dimension, values.parameters(context)?)?));
