//! PKAWV and PKRR with Nyström projections (Jézéquel, Gaillard and Rudi 2019, section 3.2,
//! Algorithm 2).
//!
//! `f̂_t` minimises `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of the points that
//! KORS has kept, `x_t` included when its coin says so; PKRR leaves the last term out. A point kept
//! in the span of the others changes nothing. Any other kept point projects the whole past anew,
//! so **past inputs and their coordinates are stored: memory grows with the stream**, `n(d + m)`
//! numbers for `m` kept points.
//!
//! The listing up- and downdates a factor of the normal equations of kernel columns, indexes
//! `a_t, b_t, c_t` by the wrong set and breaks down on near duplicates. Here the past has
//! orthonormal coordinates `F` (`n × m`), `A = FᵀF + λI`, and a kept point appends one: its values
//! over the past are `f_s = (k(x_s, x) − φ_sᵀφ(x))/√δ`, the Schur complement of the new entry of
//! `A` is at least `λ`, and nothing breaks. Weights scale the stored rows. There is one output.
//! `Jd + 3m²` multiply-adds a round, `n(d + 2m)` more when a point is kept.

use mercer_core::{ExampleError, Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points};
use mercer_simd::{axpy, dot, scale};
use mercer_sparsify::{Admission, Answer, Kors, KorsDecision, NewtonBasis, Probe};

use crate::engines::update::{Awv, Enlargement, LeastSquares, LinearUpdate, Readout, Ridge, in_range};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::Target;
use crate::learner::check_input;
use crate::parameters::parameters;
use crate::{Blocks, Error, Growth, ParameterError, Problem, Regressor, RegressorExt, Scratch, Tokens, Variance};

/// Share of the largest weight of least squares that an example may have here, where kept points
/// project the past anew by differences of weighted squares.
const MODEST: f64 = 1.0 / 4096.0;

parameters! {
    /// Parameters of [`PkawvNystrom`] and [`PkrrNystrom`].
    #[derive(Copy)]
    pub struct NystromParams {
        /// ridge
        lambda: f64 = 1.0 => "λ" POSITIVE.search(0.0001, 10.0),
        /// regulariser of the leverage scores; larger keeps fewer points
        mu: f64 = 1.0 => "μ" POSITIVE.search(0.1, 10.0),
        /// oversampling of the leverage scores; larger keeps more points
        beta: f64 = 1.0 => "β" POSITIVE,
        /// accuracy of the leverage scores
        epsilon: f64 = 0.5 => "ε" NOT_NEGATIVE,
        /// seed of what is drawn
        seed: u64 = 0 => context seed,
    }
}

/// Least squares on the span of the points kept by KORS, over the whole past, predicting by the
/// [`Readout`] `F`.
///
/// # Invariants
/// `columns[j][s]` is coordinate `j` of past input `s`; `history` and `targets` hold the past in
/// order. Coordinates and targets of an example of weight `ω` are stored times `√ω`, and `roots`
/// holds the `√ω` once one of them is not 1.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProjectedRidge<K, F> {
    basis: NewtonBasis<K>,
    kors: Kors,
    update: LeastSquares<F>,
    history: Points,
    columns: Vec<AlignedVec>,
    targets: AlignedVec,
    roots: Option<AlignedVec>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

/// The Azoury–Warmuth–Vovk forecaster with Nyström projections.
pub type PkawvNystrom<K> = ProjectedRidge<K, Awv>;

/// Online ridge regression with Nyström projections.
pub type PkrrNystrom<K> = ProjectedRidge<K, Ridge>;

impl<K: Kernel, F: Readout> ProjectedRidge<K, F> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: NystromParams) -> Result<Self, Error> {
        params.check()?;
        let NystromParams { lambda, mu, beta, epsilon, seed } = params;
        ParameterError::require((1.0 / mu).is_finite(), "mu", "so large that its reciprocal is finite", mu)?;
        Ok(Self {
            basis: NewtonBasis::new(kernel, dimension),
            kors: Kors::new(mu, beta, epsilon, seed)?,
            update: LeastSquares::new(lambda, 1.0)?,
            history: Points::new(dimension),
            columns: Vec::new(),
            targets: AlignedVec::new(),
            roots: None,
            scratch: Scratch::default(),
        })
    }

    fn probe(&self, x: &[f64], probe: &mut Probe) -> Result<(), Error> {
        self.basis.probe(x, probe);
        if probe.is_finite() { Ok(()) } else { Err(ExampleError::KernelOverflow.into()) }
    }

    /// The coordinate that keeping the probed `x` adds, over the past; leaves its values in the
    /// first and their products in the third vector of `scratch`. `n(d + 2m)`.
    fn enlargement(&self, x: &[f64], new: f64, scratch: &mut Scratch) -> Enlargement {
        let Scratch { probe, vectors: [f, a, c], .. } = scratch;
        self.basis.kernel().row(&self.history, x, f);
        if let Some(roots) = &self.roots {
            f.iter_mut().zip(roots.iter()).for_each(|(f, root)| *f *= root);
        }
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

    /// `(ŷ_KRR, s)` at `x`, and how the basis grows when `x` is kept; changes nothing but
    /// `scratch`.
    fn look(&self, x: &[f64], scratch: &mut Scratch) -> Result<RoundView, Error> {
        self.probe(x, &mut scratch.probe)?;
        // The zero function of a non-stationary kernel is never kept.
        let asked = scratch.probe.self_value() > 0.0;
        let decision = asked.then(|| self.kors.decide(&self.basis, x, &scratch.probe));
        let kept = decision.and_then(|decision| Answer::from(decision).growth());
        let growth = kept.map(|new| (new, self.enlargement(x, new, scratch)));
        let phi = scratch.probe.coordinates();
        let (z, s) = match growth {
            Some((new, by)) => self.update.fit_enlarged(phi, new, &scratch.vectors[2], by),
            None => self.update.fit(phi),
        };
        if z.is_finite() && s.is_finite() {
            Ok(RoundView { decision, growth, z, s })
        } else {
            Err(ExampleError::KernelOverflow.into())
        }
    }

    fn learn_probed(&mut self, x: &[f64], target: Target<'_>, scratch: &mut Scratch) -> Result<f64, Error> {
        let RoundView { decision, growth, z, s } = self.look(x, scratch)?;
        let weight = target.weight.min((self.update.heaviest(scratch.probe.self_value()) * MODEST).max(1.0));
        let (target, y) = (Target { weight, ..target }, target.y[0]);
        // More than the step below asks for, which may not fail once the point is kept.
        let reach = 1e10 * (s.max(0.0).sqrt() / self.update.ridge().sqrt()).max(1.0);
        in_range((y - z) * weight * (1.0 + weight * s) * reach)?;
        let root = weight.sqrt();
        if let Some(decision) = decision {
            Admission::<NewtonBasis<K>>::commit(&mut self.kors, &scratch.probe, decision);
        }
        if let Some((new, by)) = growth {
            let [f, _, c] = &mut scratch.vectors;
            self.update.enlarge(c, by);
            self.columns.push(f.clone());
            self.basis.append(x, scratch.probe.coordinates(), new);
            scratch.probe.coordinates_mut().push(new);
        }
        let phi = scratch.probe.coordinates_mut();
        for (column, phi) in self.columns.iter_mut().zip(phi.iter()) {
            column.push(root * phi);
        }
        if root != 1.0 && self.roots.is_none() {
            self.roots = Some(std::iter::repeat_n(1.0, self.history.len()).collect());
        }
        if let Some(roots) = &mut self.roots {
            roots.push(root);
        }
        self.history.push(x);
        self.targets.push(root * y);
        self.update.step(phi, None, target, &mut [0.0])?;
        Ok(z / F::divisor(|| s))
    }
}

impl<K: Kernel + Validate, F: Readout> Validate for ProjectedRidge<K, F> {
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
        let fits = self.columns.len() == kept
            && self.update.coordinates() == kept
            && self.update.outputs() == 1
            && Admission::<NewtonBasis<K>>::fits(&self.kors, kept);
        Inconsistent::require(fits, WHAT, "it has a coordinate for each kept point")?;
        let past = self.history.len();
        let whole = self.history.dimension() == self.basis.dimension()
            && self.targets.len() == past
            && self.columns.iter().all(|column| column.len() == past)
            && self.roots.as_ref().is_none_or(|roots| roots.len() == past && roots.iter().all(|root| *root > 0.0));
        Inconsistent::require(whole, WHAT, "its past is complete")
    }
}

/// Findings of a round before it changes anything.
struct RoundView {
    /// The sampler's answer, if it was asked.
    decision: Option<KorsDecision>,
    /// The new coordinate and its enlargement, when the point is kept.
    growth: Option<(f64, Enlargement)>,
    z: f64,
    s: f64,
}

impl<K: Kernel, F: Readout> Regressor for ProjectedRidge<K, F> {
    fn problem(&self) -> Problem {
        Problem::squared(self.basis.dimension(), 1)
    }

    fn dictionary_size(&self) -> usize {
        self.basis.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension())?;
        let RoundView { z, s, .. } = self.look(x, scratch)?;
        scores[0] = z / F::divisor(|| s);
        Ok(())
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let learnt = self.learn_probed(x, target, &mut scratch);
        self.scratch = scratch;
        scores[0] = learnt?;
        Ok(())
    }

    fn variance(&self) -> Option<&dyn Variance> {
        Some(self)
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => {
                self.basis.grow(added);
                self.history.grow(added);
                Ok(())
            }
            Growth::Output { .. } => Err(growth.refused()),
        }
    }
}

impl<K: Kernel, F: Readout> Variance for ProjectedRidge<K, F> {
    fn noise_variance(&self, output: usize) -> Option<f64> {
        self.update.noise(output)
    }

    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        check_input(x, self.dimension())?;
        let RoundView { growth, z, s, .. } = self.look(x, scratch)?;
        scores[0] = z / F::divisor(|| s);
        // A point that is going to be kept lies in the span already.
        let outside = if growth.is_some() { 0.0 } else { scratch.probe.residual().max(0.0) };
        Ok(self.update.variances(s, outside, variances))
    }
}

#[doc(hidden)]
pub const PKAWV_NYSTROM: Learner<PkawvNystrom<AnyKernel>> = Entry {
    name: "pkawv-nystrom",
    summary: "Azoury–Warmuth–Vovk forecaster on the span of a KORS dictionary, over the whole past",
    keys: NystromParams::KEYS,
    time: cost!(1.0 J d, 3.0 J J),
    memory: cost!(t * (1.0 d, 1.0 J)),
    growth: Some("past inputs and coordinates are stored, and projected anew, in t(d + 2J), when a point is kept"),
    source: "Jézéquel et al. 2019, section 3.2, Algorithm 2",
    remedy: Some("raise lambda"),
    takes: Takes::SQUARED,
    advice: "the paper's guarantee in more dimensions",
    start: "`mu = lambda`, `beta=1`",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(PkawvNystrom::new(kernel, context.dimension, values.parameters(context)?)?));

#[doc(hidden)]
pub const PKRR_NYSTROM: Learner<PkrrNystrom<AnyKernel>> = Entry {
    name: "pkrr-nystrom",
    summary: "online ridge regression on the span of a KORS dictionary, over the whole past",
    source: "Jézéquel et al. 2019, section 4",
    advice: "the same, independent data",
    ..PKAWV_NYSTROM.entry
}
.made_by(|kernel, context, values| Ok(PkrrNystrom::new(kernel, context.dimension, values.parameters(context)?)?));
