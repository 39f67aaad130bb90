//! LKAPA and NLKAPA: leaky kernel affine projection, plain and normalised (Liu and Principe 2008).
//!
//! With the last `p` examples, this one included (fewer at first), `e` their errors under the
//! current `f` and `Ω` their weights: `α ← (1 − λη) α`, `x` joins with 0, and the coefficients of
//! the `p` examples, the last ones, gain `η Ωe`; for NLKAPA `η (K + εI)⁻¹ Ωe`, `K` being the kernel
//! matrix of the examples. The first point joins with `η ω y`. A repeated input moves the
//! coefficient that it has, which is the same function. Once the dictionary is full, inputs that it
//! does not hold teach nothing. `λ = 0` is the projection without a leak.
//!
//! `Jd + pd + pJ` multiply-adds a round, `p³/6` more for NLKAPA; `J(d + 2 + p)` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel};
use mercer_simd::scale;
use mercer_sparsify::{Answer, Basis, DistinctPoints};

use super::norma::leaking_step;
use crate::engines::coefficients::window::{Move, SampleWindow, Solver};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::Coefficients;
use crate::entry::{Entry, Learner, Parameters};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`Lkapa`].
    #[derive(Copy)]
    pub struct LkapaParams {
        /// step size
        eta: f64 = 0.01 => "η" POSITIVE.search(0.005, 0.5),
        /// regulariser: coefficients shrink by 1 − λη a round; at most 1/η
        lambda: f64 = 0.01 => "λ" NOT_NEGATIVE.search(0.0001, 0.5),
        /// examples in the window
        order: usize = 10 => "p" COUNT,
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.none("every input is kept"),
    }
}

parameters! {
    /// Parameters of [`Nlkapa`].
    #[derive(Copy)]
    pub struct NlkapaParams {
        /// step size, below 2
        eta: f64 = 0.05 => "η" POSITIVE.search(0.01, 1.0),
        /// regulariser: coefficients shrink by 1 − λη a round; at most 1/η
        lambda: f64 = 0.01 => "λ" NOT_NEGATIVE.search(0.0001, 0.5),
        /// examples in the window
        order: usize = 10 => "p" COUNT,
        /// added to the diagonal of the matrix of the window
        eps: f64 = 1.0 => "ε" POSITIVE,
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.none("every input is kept"),
    }
}

/// Leaky kernel affine projection.
pub type Lkapa<K> = OnCoefficients<K, DistinctPoints, LeakyProjection<false>>;

/// Normalised leaky kernel affine projection.
pub type Nlkapa<K> = OnCoefficients<K, DistinctPoints, LeakyProjection<true>>;

impl<K: Kernel> Lkapa<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: LkapaParams) -> Result<Self, Error> {
        params.check()?;
        let LkapaParams { eta, lambda, order, max_dictionary } = params;
        let update = LeakyProjection::from_params([eta, lambda, 0.0], SampleWindow::new("order", order, dimension)?)?;
        Self::from_parts(kernel, dimension, DistinctPoints, update, (1, max_dictionary))
    }
}

impl<K: Kernel> Nlkapa<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: NlkapaParams) -> Result<Self, Error> {
        params.check()?;
        let NlkapaParams { eta, lambda, order, eps, max_dictionary } = params;
        let update = LeakyProjection::from_params([eta, lambda, eps], SampleWindow::new("order", order, dimension)?)?;
        Self::from_parts(kernel, dimension, DistinctPoints, update, (1, max_dictionary))
    }
}

/// `α ← (1 − λη) α`, and `η Ωe` or `η (K + εI)⁻¹ Ωe` for the last points.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeakyProjection<const NORMALISED: bool> {
    eta: f64,
    lambda: f64,
    eps: f64,
    window: SampleWindow,
    /// The places of the samples in the dictionary.
    places: Vec<usize>,
    #[cfg_attr(feature = "serde", serde(skip))]
    errors: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    solver: Solver,
    #[cfg_attr(feature = "serde", serde(skip))]
    moved: Move,
}

impl<const NORMALISED: bool> Validate for LeakyProjection<NORMALISED> {
    fn validate(&self) -> Result<(), Inconsistent> {
        let sound = leaking_step(self.eta, self.lambda).is_ok() && self.eps.is_finite();
        let regularised = if NORMALISED { self.eps > 0.0 } else { self.eps == 0.0 };
        Inconsistent::require(sound && regularised, "leaky projection", "its parameters are in range")?;
        self.window.validate()
    }
}

impl<const NORMALISED: bool> LeakyProjection<NORMALISED> {
    fn from_params([eta, lambda, eps]: [f64; 3], window: SampleWindow) -> Result<Self, Error> {
        leaking_step(eta, lambda)?;
        let (errors, solver, moved) = (AlignedVec::new(), Solver::default(), Move::default());
        Ok(Self { eta, lambda, eps, window, places: Vec::new(), errors, solver, moved })
    }
}

impl<K: Kernel, const NORMALISED: bool> CoefficientUpdate<K> for LeakyProjection<NORMALISED> {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, mut seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let Self { eta, lambda, eps, window, places, errors, solver, moved } = self;
        alpha.values(seen.probe.row(), scores);
        places.push(match seen.answer {
            Answer::Merge(place) => place,
            Answer::Keep(_) => seen.basis.len(),
            Answer::Skip => return Ok(()),
        });
        let learnt = window.learn(alpha, &mut seen, moved, |window, alpha, next| {
            let (rows, is_first) = (window.rows(), places.len() == 1);
            let places = &places[places.len() - rows.len()..];
            // A step of all of the error, at most: the trace bounds what the rows do together.
            let trace = if NORMALISED { 1.0 } else { rows.iter().zip(places).map(|(row, i)| row[*i]).sum() };
            window.weighted_errors(alpha, 1.0 / (*eta * trace), errors);
            if NORMALISED && !is_first {
                solver.solve(*eps, |i, j| rows[i][places[j]], errors)?;
            }
            scale(1.0 - *lambda * *eta, next);
            places.iter().zip(errors.iter()).for_each(|(place, e)| next[*place] += *eta * e);
            Ok(())
        });
        if learnt.is_err() {
            places.pop();
        } else if places.len() > window.order() {
            places.remove(0);
        }
        learnt
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        self.window.reshape(growth)
    }

    fn fits(&self, points: usize, inputs: usize) -> bool {
        let held = self.places.len() == self.window.rows().len() && self.places.iter().all(|place| *place < points);
        held && self.window.fits(points) && self.window.fits_inputs(inputs)
    }
}

#[doc(hidden)]
pub const LKAPA: Learner<Lkapa<AnyKernel>> = Entry {
    name: "lkapa",
    summary: "leaky kernel affine projection: a gradient step for several examples at once",
    keys: LkapaParams::KEYS,
    time: cost!(1.0 J d, 1.0 p d, 1.0 p J),
    memory: cost!(1.0 J d, 2.0 J, 1.0 p J),
    source: "Liu and Principe 2008",
    remedy: Some("take a smaller step"),
    advice: "a yardstick of affine projection",
    start: "`eta=0.01`, `order=10`",
    trial: &["max_dictionary=40", "order=4"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Lkapa::new(kernel, context.dimension, values.parameters(context)?)?));

#[doc(hidden)]
pub const NLKAPA: Learner<Nlkapa<AnyKernel>> = Entry {
    name: "nlkapa",
    summary: "leaky kernel affine projection, normalised by the kernel matrix of its examples",
    keys: NlkapaParams::KEYS,
    time: cost!(1.0 J d, 1.0 p d, 1.0 p J, 1.0 p p),
    start: "`eta=0.05`, `order=10`, `eps=1`",
    ..LKAPA.entry
}
.made_by(|kernel, context, values| Ok(Nlkapa::new(kernel, context.dimension, values.parameters(context)?)?));
