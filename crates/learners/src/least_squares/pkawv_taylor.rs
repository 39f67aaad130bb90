//! PKAWV and PKRR on Taylor features of the Gaussian kernel (Jézéquel, Gaillard and Rudi 2019,
//! section 3.1, Algorithm 1).
//!
//! `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the features up to
//! degree `M` (eq. 4); PKRR, the variant for independent data of section 4, leaves the last term
//! out. With `A = λI + Σ_{s<t} z zᵀ`, `w = A⁻¹Σ y z`: `ŷ = wᵀz/(1 + zᵀA⁻¹z)` and `ŷ = wᵀz`.
//! (Algorithm 1's right-hand side means `A_{t−1}⁻¹`.) `2r²` multiply-adds a round and `½r²` numbers
//! for `r = C(d + M, M)` features, whatever the length of the stream.

use mercer_core::{ExampleError, cost};
use mercer_kernels::{AnyKernel, TaylorFeatures};

use crate::Error;
use crate::engines::basis::OnFeatures;
use crate::engines::update::{Awv, GrowingUpdate, LeastSquares, Readout, Ridge};
use crate::entry::{BuildError, Context, Entry, Learner, NEEDS_GAUSSIAN, Parameters, Rule, Takes, Values};
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`PkawvTaylor`] and [`PkrrTaylor`].
    pub struct TaylorParams {
        /// width `σ > 0` of the Gaussian kernel
        sigma: f64 = 1.0,
        /// ridge
        lambda: f64 = 1.0 => "λ" POSITIVE.search(0.0001, 10.0),
        /// where inputs are measured from; those near it need few features, those far from it are
        /// predicted as 0
        centre: Option<Vec<f64>> = None => "" "a number, d numbers separated by commas"
            .none("the origin")
            .found_by_default(Rule::MEAN),
        /// degree of the Taylor features, r = C(d+M, M) of them; inputs near the origin need few
        degree: usize = 2 => "M" WHOLE,
        /// most bytes that the matrix of the features may take
        max_bytes: u64 = 4 << 30,
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// The Azoury–Warmuth–Vovk forecaster on Taylor features.
pub type PkawvTaylor = OnFeatures<TaylorFeatures, LeastSquares<Awv>>;

/// Online ridge regression on Taylor features.
pub type PkrrTaylor = OnFeatures<TaylorFeatures, LeastSquares<Ridge>>;

impl<F: Readout> OnFeatures<TaylorFeatures, LeastSquares<F>> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, the centre has another dimension, or the features do
    /// not fit the memory.
    pub fn new(dimension: usize, params: TaylorParams) -> Result<Self, Error> {
        params.check()?;
        let TaylorParams { sigma, degree, lambda, centre, max_bytes, outputs } = params;
        let centre = centre.unwrap_or_else(|| vec![0.0; dimension]);
        if centre.len() != dimension {
            return Err(ExampleError::Dimension { expected: dimension, got: centre.len() }.into());
        }
        let map = TaylorFeatures::new(sigma, degree, centre, max_bytes)?;
        let mut update = LeastSquares::new(lambda, 1.0)?.with_outputs(outputs);
        update.restart(map.dimension())?;
        Self::from_parts(map, update)
    }
}

fn width(kernel: &AnyKernel) -> Result<f64, BuildError> {
    let AnyKernel::Gaussian(gaussian) = kernel else { return Err(BuildError::Kernel(NEEDS_GAUSSIAN)) };
    Ok(gaussian.sigma())
}

fn params(kernel: &AnyKernel, context: &Context<'_>, values: &Values<'_>) -> Result<TaylorParams, BuildError> {
    Ok(values.parameters::<TaylorParams>(context)?.sigma(width(kernel)?))
}

#[doc(hidden)]
pub const PKAWV_TAYLOR: Learner<PkawvTaylor> = Entry {
    name: "pkawv-taylor",
    summary: "Azoury–Warmuth–Vovk forecaster on Taylor features of a Gaussian kernel",
    keys: TaylorParams::KEYS,
    time: cost!(2.0 r r),
    memory: cost!(0.5 r r),
    source: "Jézéquel et al. 2019, section 3.1, Algorithm 1",
    remedy: Some("raise lambda"),
    gaussian: true,
    takes: Takes::SQUARED_OUTPUTS,
    advice: "`d` small, Gaussian kernel",
    start: "`degree=4`, `lambda=0.1`; the degree of Theorem 4 is often far more than needed",
    trial: &["centre=none"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(PkawvTaylor::new(context.dimension, params(&kernel, context, values)?)?));

#[doc(hidden)]
pub const PKRR_TAYLOR: Learner<PkrrTaylor> = Entry {
    name: "pkrr-taylor",
    summary: "online ridge regression on Taylor features of a Gaussian kernel",
    time: cost!(1.5 r r),
    source: "Jézéquel et al. 2019, section 4",
    advice: "the same, independent data",
    start: "as pkawv-taylor",
    ..PKAWV_TAYLOR.entry
}
.made_by(|kernel, context, values| Ok(PkrrTaylor::new(context.dimension, params(&kernel, context, values)?)?));
