//! KRMC: kernel recursive maximum correntropy (Wu, Shi, Zhang, Ma and Chen 2015).
//!
//! Maximises `Σ_s ω_s exp(−(y_s − f(x_s))²/2s²) − λ/2s² ‖f‖²` by one pass of least squares in which
//! an example counts for `ω exp(−e²/2s²)`, `e` being the error of its prediction: an outlier, whose
//! error is many times `s`, teaches nothing. The paper keeps every example and the matrix
//! `Q = (K + λB⁻¹)⁻¹`, `B` the weights; here [`LeastSquares`] works in the coordinates of an ALD
//! dictionary, which with `ν = 0` and no limit is the same. The paper's `γ₂σ²` is `λ`, its `β`
//! is 1. An example whose weight falls below 1e-26 of its own neither joins nor is learnt.
//!
//! Targets should be of the size of `s`: one that is far away from the first predictions on every
//! row is an outlier for ever. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel};
use mercer_linalg_incremental::{Removal, Rotations};
use mercer_sparsify::Ald;

use crate::Error;
use crate::engines::basis::{Eviction, GrowThenStep, OnDictionary};
use crate::engines::update::{
    ByValues, Coefficients, GrowingUpdate, LeastSquares, LinearBlocks, LinearUpdate, LinearVariance, NormalSystem,
    finite,
};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::{Problem, Target};
use crate::parameters::parameters;

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
pub type Krmc<K> = OnDictionary<K, Ald, CorrentropyStep, GrowThenStep>;

impl<K: Kernel> Krmc<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KrmcParams) -> Result<Self, Error> {
        params.check()?;
        let KrmcParams { scale, lambda, nu, max_dictionary, outputs, eviction } = params;
        let update = CorrentropyStep { squares: LeastSquares::new(lambda, 1.0)?.with_outputs(outputs), scale };
        Self::from_parts(kernel, dimension, Ald::new(nu)?, update, max_dictionary)
            .map(|learner| learner.evicting(eviction))
    }
}

/// Beyond this `e²/2s²` a weight is below 1e-26 of what it would be.
const OUTLIES: f64 = 60.0;

/// Least squares that weighs an example by `exp(−e²/2s²)`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CorrentropyStep {
    squares: LeastSquares,
    scale: f64,
}

impl Validate for CorrentropyStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.scale, "scale of errors")?;
        self.squares.validate()
    }
}

impl LinearUpdate for CorrentropyStep {
    fn problem(&self) -> Problem {
        self.squares.problem()
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        self.squares.coefficients()
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        self.squares.predict(phi, scores);
    }

    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        self.squares.predict(phi, scores);
        scores.iter().try_for_each(|score| finite(*score).map(drop))?;
        let errors = target.y.iter().zip(&*scores).map(|(y, score)| (y - score) / self.scale);
        let distance = 0.5 * errors.map(|error| error * error).sum::<f64>();
        if distance > OUTLIES {
            return Ok(());
        }
        let target = Target { weight: target.weight * mercer_simd::exp(-distance), ..target };
        self.squares.step(phi, growth, target, scores)
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        self.squares.by_values()
    }

    fn variance(&self) -> Option<&dyn LinearVariance> {
        self.squares.variance()
    }

    /// What an example counts for depends on the examples before it.
    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        None
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        None
    }

    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        self.squares.add_output(like)
    }
}

impl GrowingUpdate for CorrentropyStep {
    fn grow(&mut self) -> Result<(), Error> {
        self.squares.grow()
    }

    fn remove(&mut self, rotations: &Rotations, how: Removal) {
        self.squares.remove(rotations, how);
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        self.squares.restart(n)
    }
}

#[doc(hidden)]
pub const KRMC: Learner<Krmc<AnyKernel>> = Entry {
    name: "krmc",
    summary: "kernel recursive maximum correntropy: least squares that outliers do not move",
    keys: KrmcParams::KEYS,
    time: cost!(1.0 J d, 2.0 J J),
    memory: cost!(1.0 J d, 1.0 J J),
    source: "Wu et al. 2015",
    remedy: Some("raise lambda or nu"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "targets with outliers, scaled",
    start: "`scale=1` for targets of deviation 1",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Krmc::new(kernel, context.dimension, values.parameters(context)?)?));
