//! KAP: kernel affine projection (Richard, Bermudez and Honeine 2009).
//!
//! Points join as for [`Knlms`](crate::Knlms), by their [coherence](Coherence). With the last `p`
//! examples, this one included (fewer at first), `H` their kernel values at the kept points, one
//! row an example, and `Ω` their weights: `α ← α + η Hᵀ(εI + HHᵀ)⁻¹ Ω (y − Hα)`, over the
//! dictionary that may have grown. The errors are those of the current `f`. For `p = 1` this is
//! KNLMS. Once the dictionary is full no point joins and the steps go on.
//!
//! `Jd + p²J/2 + 2pJ + p³/6` multiply-adds a round and `pd` more when a point joins, `J(d + 2 + p)`
//! numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel};
use mercer_simd::{axpy, dot};
use mercer_sparsify::Coherence;

use crate::engines::coefficients::window::{Move, SampleWindow, Solver};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::Coefficients;
use crate::entry::{Entry, Learner, Parameters};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`Kap`].
    #[derive(Copy)]
    pub struct KapParams {
        /// step size, below 2
        eta: f64 = 0.05 => "η" POSITIVE.search(0.01, 1.0),
        /// largest coherence kept
        mu0: f64 = 0.9 => "μ₀" UNIT_INTERVAL.search_evenly(0.5, 0.99),
        /// added to the diagonal of the matrix of the window
        eps: f64 = 1.0 => "ε" POSITIVE.search(0.001, 1.0),
        /// examples in the window
        order: usize = 8 => "p" COUNT,
        /// most points kept
        max_dictionary: Option<usize> = Some(500) => "" COUNT.unlimited(),
    }
}

/// Kernel affine projection.
pub type Kap<K> = OnCoefficients<K, Coherence, AffineProjection>;

impl<K: Kernel> Kap<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KapParams) -> Result<Self, Error> {
        params.check()?;
        let KapParams { eta, mu0, eps, order, max_dictionary } = params;
        let window = SampleWindow::new("order", order, dimension)?;
        let (errors, solver, moved) = (AlignedVec::new(), Solver::default(), Move::default());
        let update = AffineProjection { eta, eps, window, errors, solver, moved };
        Self::from_parts(kernel, dimension, Coherence::new(mu0)?, update, (1, max_dictionary))
    }
}

/// `α ← α + η Hᵀ(εI + HHᵀ)⁻¹ Ω e`
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AffineProjection {
    eta: f64,
    eps: f64,
    window: SampleWindow,
    #[cfg_attr(feature = "serde", serde(skip))]
    errors: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    solver: Solver,
    #[cfg_attr(feature = "serde", serde(skip))]
    moved: Move,
}

impl Validate for AffineProjection {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.eta, "step size")?;
        Inconsistent::positive(self.eps, "regulariser of a projection")?;
        self.window.validate()
    }
}

impl<K: Kernel> CoefficientUpdate<K> for AffineProjection {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, mut seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let Self { eta, eps, window, errors, solver, moved } = self;
        alpha.values(seen.probe.row(), scores);
        window.learn(alpha, &mut seen, moved, |window, alpha, next| {
            let rows = window.rows();
            // A step of all of the error, at most.
            window.weighted_errors(alpha, 1.0 / *eta, errors);
            solver.solve(*eps, |i, j| dot(rows[i].lanes(), rows[j].lanes()), errors)?;
            for (z, row) in errors.iter().zip(rows) {
                axpy(*eta * z, row.lanes(), next.lanes_mut());
            }
            Ok(())
        })
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        self.window.reshape(growth)
    }

    fn fits(&self, points: usize, inputs: usize) -> bool {
        self.window.fits(points) && self.window.fits_inputs(inputs)
    }
}

#[doc(hidden)]
pub const KAP: Learner<Kap<AnyKernel>> = Entry {
    name: "kap",
    summary: "kernel affine projection: a normalised step for several examples at once",
    keys: KapParams::KEYS,
    time: cost!(1.0 J d, 0.5 p p J, 2.0 p J),
    memory: cost!(1.0 J d, 2.0 J, 1.0 p J),
    source: "Richard et al. 2009",
    remedy: Some("take a smaller step"),
    advice: "learns faster than knlms where inputs resemble those before them",
    start: "`eta=0.05`, `order=8`, `eps=1`",
    trial: &["mu0=0.7", "order=4"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Kap::new(kernel, context.dimension, values.parameters(context)?)?));
