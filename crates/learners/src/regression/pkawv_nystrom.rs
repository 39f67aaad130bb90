//! PKAWV and PKRR with Nyström projections (Jézéquel, Gaillard and Rudi 2019, section 3.2, Algorithm 2).
//!
//! `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the points that KORS has kept, `x_t` included
//! when its coin says so; PKRR leaves the last term out. A point kept in the span of the others changes nothing. Any other kept
//! point projects the whole past anew, so **past inputs and their coordinates are stored: memory grows with the stream**,
//! `n(d + m)` numbers for `m` kept points.
//!
//! The listing up- and downdates a factor of the normal equations of kernel columns, indexes `a_t, b_t, c_t` by the wrong
//! set and breaks down on near duplicates. Here the past has orthonormal coordinates `F` (`n × m`), `A = FᵀF + λI`, and a
//! kept point appends one: its values over the past are `f_s = (k(x_s, x) − φ_sᵀφ(x))/√δ`, the Schur complement of the new
//! entry of `A` is at least `λ`, and nothing breaks. `Jd + 3m²` multiply-adds a round, `n(d + 2m)` more when a point is kept.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_simd::{axpy, dot, scale};
use mercer_sparsify::{Admission, Kors, KorsScratch, NewtonBasis, Probe};

use crate::regression::regressor::{check_example, check_input};
use crate::regression::update::{Awv, Enlargement, Forecast, LeastSquares, LinearUpdate, Ridge, finite};
use crate::{Error, ParameterError, Regressor, Scratch};

/// Parameters of [`PkawvNystrom`] and [`PkrrNystrom`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NystromParams {
    /// Ridge `λ > 0`.
    pub lambda: f64,
    /// Regulariser `μ > 0` of the leverage scores; larger keeps fewer points.
    pub mu: f64,
    /// Oversampling `β > 0`; Proposition 5 takes `12 ln(n/δ)`, the experiments 1.
    pub beta: f64,
    /// Accuracy `ε ≥ 0` of the scores.
    pub epsilon: f64,
    /// Seed of the coins.
    pub seed: u64,
}

impl Default for NystromParams {
    fn default() -> Self {
        Self { lambda: 1.0, mu: 1.0, beta: 1.0, epsilon: 0.5, seed: 0 }
    }
}

/// Memory of a prediction.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectionScratch {
    probe: Probe,
    kors: KorsScratch,
    /// The new coordinate's values over the past, and their products with the old ones'.
    f: AlignedVec,
    a: AlignedVec,
    c: AlignedVec,
}

/// Least squares on the span of the points kept by KORS, over the whole past, predicting by the [`Forecast`] `F`.
///
/// # Invariants
/// `columns[j][s]` is coordinate `j` of past input `s`; `history` and `targets` hold the past in order.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProjectedRidge<K, F> {
    basis: NewtonBasis<K>,
    kors: Kors,
    update: LeastSquares<F>,
    history: Points,
    columns: Vec<AlignedVec>,
    targets: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: ProjectionScratch,
}

/// The Azoury–Warmuth–Vovk forecaster with Nyström projections.
pub type PkawvNystrom<K> = ProjectedRidge<K, Awv>;

/// Online ridge regression with Nyström projections.
pub type PkrrNystrom<K> = ProjectedRidge<K, Ridge>;

impl<K: Kernel, F: Forecast> ProjectedRidge<K, F> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: NystromParams) -> Result<Self, Error> {
        let NystromParams { lambda, mu, beta, epsilon, seed } = params;
        ParameterError::positive("mu", mu)?;
        Ok(Self {
            basis: NewtonBasis::new(kernel, dimension),
            kors: Kors::new(mu, beta, epsilon, seed)?,
            update: LeastSquares::new(ParameterError::positive("lambda", lambda)?, 1.0),
            history: Points::new(dimension),
            columns: Vec::new(),
            targets: AlignedVec::new(),
            scratch: ProjectionScratch::default(),
        })
    }

    fn probe(&self, x: &[f64], probe: &mut Probe) -> Result<(), Error> {
        self.basis.probe(x, probe);
        if probe.is_finite() { Ok(()) } else { Err(Error::KernelOverflow) }
    }

    /// The coordinate that keeping the probed `x` adds, over the past; leaves `f` and `c` in `scratch`. `n(d + 2m)`.
    fn enlargement(&self, x: &[f64], new: f64, scratch: &mut ProjectionScratch) -> Enlargement {
        let ProjectionScratch { probe, f, a, c, .. } = scratch;
        self.basis.kernel().row(&self.history, x, f);
        for (column, phi) in self.columns.iter().zip(probe.coordinates().iter()) {
            axpy(-phi, column.lanes(), f.lanes_mut());
        }
        scale(1.0 / new, f);
        a.resize(self.columns.len());
        for (a, column) in a.iter_mut().zip(&self.columns) {
            *a = dot(column.lanes(), f.lanes());
        }
        self.update.enlargement(a, dot(f.lanes(), f.lanes()), dot(f.lanes(), self.targets.lanes()), c)
    }

    /// `(ŷ_KRR, s)` at `x`, and how the basis grows when `x` is kept; changes nothing but `scratch`.
    fn look(&self, x: &[f64], scratch: &mut ProjectionScratch) -> Result<Look, Error> {
        self.probe(x, &mut scratch.probe)?;
        // The zero function of a non-stationary kernel is never kept.
        let asked = scratch.probe.self_value() > 0.0;
        let kept = if asked { self.kors.decide(&scratch.probe, &mut scratch.kors) } else { None };
        let growth = kept.map(|new| (new, self.enlargement(x, new, scratch)));
        let phi = scratch.probe.coordinates();
        let (z, s) = match growth {
            Some((new, by)) => self.update.fit_enlarged(phi, new, &scratch.c, by),
            None => self.update.fit(phi),
        };
        Ok(Look { asked, growth, z: finite(z)?, s: finite(s)? })
    }

    fn learn(&mut self, x: &[f64], y: f64, scratch: &mut ProjectionScratch) -> Result<f64, Error> {
        let Look { asked, growth, z, s } = self.look(x, scratch)?;
        finite((y - z) * (1.0 + s))?;
        if asked {
            self.kors.commit(&scratch.probe, &mut scratch.kors);
        }
        if let Some((new, by)) = growth {
            self.update.enlarge(&mut scratch.c, by);
            self.columns.push(scratch.f.clone());
            self.basis.append(x, scratch.probe.coordinates(), new);
            scratch.probe.coordinates_mut().push(new);
        }
        let phi = scratch.probe.coordinates_mut();
        for (column, phi) in self.columns.iter_mut().zip(phi.iter()) {
            column.push(*phi);
        }
        self.history.push(x);
        self.targets.push(y);
        self.update.step(phi, None, y)?;
        Ok(F::forecast(z, || s))
    }
}

impl<K: Kernel + Validate, F: Forecast> Validate for ProjectedRidge<K, F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "projected ridge regression";
        self.basis.validate()?;
        self.kors.validate()?;
        self.update.validate()?;
        Inconsistent::positive(self.update.ridge(), "ridge")?;
        self.history.validate()?;
        self.columns.validate()?;
        self.targets.validate()?;
        let kept = self.basis.len();
        let fits = self.columns.len() == kept && self.update.coordinates() == kept && self.kors.fits(kept);
        Inconsistent::require(fits, WHAT, "it has a coordinate for each kept point")?;
        let past = self.history.len();
        let whole = self.history.dimension() == self.basis.dimension()
            && self.targets.len() == past
            && self.columns.iter().all(|column| column.len() == past);
        Inconsistent::require(whole, WHAT, "its past is complete")
    }
}

/// What a round finds before it changes anything.
struct Look {
    /// Whether the sampler was asked.
    asked: bool,
    /// The new coordinate and its enlargement, when the point is kept.
    growth: Option<(f64, Enlargement)>,
    z: f64,
    s: f64,
}

impl<K: Kernel, F: Forecast> Regressor for ProjectedRidge<K, F> {
    fn dimension(&self) -> usize {
        self.basis.dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.basis.len()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension())?;
        let Look { z, s, .. } = self.look(x, &mut scratch.projection)?;
        Ok(F::forecast(z, || s))
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let learnt = self.learn(x, y, &mut scratch);
        self.scratch = scratch;
        learnt
    }
}
