//! KAP: kernel affine projection (Richard, Bermudez and Honeine 2009).
//!
//! Points join as for [`Knlms`](crate::Knlms), by their [coherence](Coherence). With the last `p` examples, this one included (fewer at first), `H` their
//! kernel values at the kept points, one row an example, and `Ω` their weights: `α ← α + η Hᵀ(εI + HHᵀ)⁻¹ Ω (y − Hα)`, over the dictionary that may have
//! grown. The errors are those of the current `f`. For `p = 1` this is KNLMS. Once the dictionary is full no point joins and the steps go on.
//!
//! `Jd + p²J/2 + 2pJ + p³/6` multiply-adds a round and `pd` more when a point joins, `J(d + 2 + p)` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_simd::{axpy, dot};
use mercer_sparsify::Coherence;

use super::window::{Move, Solver, Window};
use super::{CoefficientUpdate, OnCoefficients, Seen};
use crate::catalogue::{Entry, keys};
use crate::parameters::parameters;
use crate::update::Coefficients;
use crate::{Error, ParameterError};

parameters! {
    /// Parameters of [`Kap`].
    #[derive(Copy)]
    pub struct KapParams {
        /// Step size `η > 0`; below 2 the errors in the window shrink.
        eta: f64 = 0.05,
        /// Coherence threshold `μ₀ ∈ [0, 1]`; 1 keeps every point.
        mu0: f64 = 0.9,
        /// `ε > 0`, added to the diagonal of `HHᵀ`.
        eps: f64 = 1.0,
        /// Examples in the window, `p ≥ 1`.
        order: usize = 8,
        /// Largest dictionary; `None` leaves its size to the coherence test.
        max_dictionary: Option<usize> = Some(500),
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
        let KapParams { eta, mu0, eps, order, max_dictionary } = params;
        let (eta, eps) = (ParameterError::positive("eta", eta)?, ParameterError::positive("eps", eps)?);
        let window = Window::new("order", order, dimension)?;
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
    window: Window,
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
    fn step(&mut self, alpha: &mut Coefficients, mut seen: Seen<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let Self { eta, eps, window, errors, solver, moved } = self;
        alpha.values(seen.probe.row(), scores);
        window.learn(alpha, &mut seen, moved, |window, alpha, next| {
            let rows = window.rows();
            window.weighted_errors(alpha, errors);
            solver.solve(*eps, |i, j| dot(rows[i].lanes(), rows[j].lanes()), errors)?;
            for (z, row) in errors.iter().zip(rows) {
                axpy(*eta * z, row.lanes(), next.lanes_mut());
            }
            Ok(())
        })
    }

    fn grow(&mut self, added: usize) {
        self.window.grow(added);
    }

    fn fits(&self, points: usize) -> bool {
        self.window.fits(points)
    }

    fn fits_inputs(&self, dimension: usize) -> bool {
        self.window.fits_inputs(dimension)
    }
}

pub(crate) const KAP: Entry = Entry {
    name: "kap",
    summary: "kernel affine projection: a normalised step for several examples at once",
    keys: &[
        keys::number("eta", "η", || KapParams::default().eta.into(), keys::POSITIVE, "step size, below 2"),
        keys::number("mu0", "μ₀", || KapParams::default().mu0.into(), "a number from 0 to 1", "largest coherence kept"),
        keys::number(
            "eps",
            "ε",
            || KapParams::default().eps.into(),
            keys::POSITIVE,
            "added to the diagonal of the matrix of the window",
        ),
        keys::count("order", "p", || KapParams::default().order.into(), "examples in the window"),
        keys::max_dictionary(|| KapParams::default().max_dictionary.into()),
    ],
    time: cost!(1.0 J d, 0.5 p p J, 2.0 p J),
    memory: cost!(1.0 J d, 2.0 J, 1.0 p J),
    source: "Richard et al. 2009",
    remedy: Some("take a smaller step"),
    advice: "learns faster than knlms where inputs resemble those before them",
    start: "`eta=0.05`, `order=8`, `eps=1`",
    trial: &["mu0=0.7", "order=4"],
    search: &[keys::search("eta", 0.01, 1.0), keys::search_evenly("mu0", 0.5, 0.99), keys::search("eps", 0.001, 1.0)],
    make: |kernel, context, values| {
        let params = KapParams::default().eta(values.number("eta")?).mu0(values.number("mu0")?);
        let params = params.eps(values.number("eps")?).order(values.count("order")?);
        Ok(Kap::new(kernel, context.dimension, params.max_dictionary(values.max_dictionary()?))?.into())
    },
    ..Entry::PLAIN
};
