//! PKAWV and PKRR on Taylor features of the Gaussian kernel (Jézéquel, Gaillard and Rudi 2019, section 3.1, Algorithm 1).
//!
//! `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the features up to degree `M` (eq. 4); PKRR,
//! the variant for independent data of section 4, leaves the last term out. With `A = λI + Σ_{s<t} z zᵀ`, `w = A⁻¹Σ y z`:
//! `ŷ = wᵀz/(1 + zᵀA⁻¹z)` and `ŷ = wᵀz`. (Algorithm 1's right-hand side means `A_{t−1}⁻¹`.) `2r²` multiply-adds a round and
//! `½r²` numbers for `r = C(d + M, M)` features, whatever the length of the stream.

use mercer_kernels::{AlignedVec, TaylorFeatures};

use crate::regression::on_features::{FeatureMap, OnFeatures};
use crate::regression::update::{Awv, Forecast, LeastSquares, LinearUpdate, Ridge};
use crate::{Error, ParameterError};

/// Parameters of [`PkawvTaylor`] and [`PkrrTaylor`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TaylorParams {
    /// Width `σ > 0` of the Gaussian kernel.
    pub sigma: f64,
    /// Degree `M`; [`TaylorFeatures::sufficient_degree`] is the rule of Theorem 4.
    pub degree: usize,
    /// Ridge `λ > 0`.
    pub lambda: f64,
    /// Where the inputs are measured from; `None` is the origin.
    pub centre: Option<Vec<f64>>,
    /// Most bytes that the matrix of the features may take.
    pub max_bytes: u64,
}

impl Default for TaylorParams {
    fn default() -> Self {
        Self { sigma: 1.0, degree: 2, lambda: 1.0, centre: None, max_bytes: 4 << 30 }
    }
}

impl FeatureMap for TaylorFeatures {
    fn input_dimension(&self) -> usize {
        Self::input_dimension(self)
    }
    fn coordinates(&self) -> usize {
        self.dimension()
    }
    fn size(&self) -> usize {
        self.dimension()
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, _: &mut AlignedVec) {
        Self::map(self, x, features);
    }
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        Self::map_block(self, xs, features, work);
    }
}

/// The Azoury–Warmuth–Vovk forecaster on Taylor features.
pub type PkawvTaylor = OnFeatures<TaylorFeatures, LeastSquares<Awv>>;

/// Online ridge regression on Taylor features.
pub type PkrrTaylor = OnFeatures<TaylorFeatures, LeastSquares<Ridge>>;

impl<F: Forecast> OnFeatures<TaylorFeatures, LeastSquares<F>> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, the centre has another dimension, or the features do not fit the memory.
    pub fn new(dimension: usize, params: TaylorParams) -> Result<Self, Error> {
        let TaylorParams { sigma, degree, lambda, centre, max_bytes } = params;
        let centre = centre.unwrap_or_else(|| vec![0.0; dimension]);
        if centre.len() != dimension {
            return Err(Error::Dimension { expected: dimension, got: centre.len() });
        }
        let map = TaylorFeatures::new(sigma, degree, centre, max_bytes)?;
        let mut update = LeastSquares::new(ParameterError::positive("lambda", lambda)?, 1.0);
        update.restart(map.dimension());
        Ok(Self::from_parts(map, update))
    }
}
