//! The engine of learners that move kernel coefficients: a [`KernelBasis`], an [`Admission`] rule
//! and a [`CoefficientUpdate`].
//!
//! `f(x) = Σ_i α_i k(d_i, x)` over the kept points `d_i`. Nothing is factorised: a round costs `Jd`
//! for the kernel row and `O(J)` for the rest, where the coordinates of
//! [`OnDictionary`](crate::OnDictionary) cost `½J²`. In return the coefficients are not coordinates
//! in an orthonormal basis, so these learners have updates of their own.

mod when_wrong;
pub(crate) mod window;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_sparsify::{Admission, Answer, Basis, KernelBasis, Probe};

use crate::engines::update::{Coefficients, finite};
use crate::example::Target;
use crate::learner::{check_input, check_scores};
use crate::loss::Loss;
use crate::{Blocks, Error, Growth, Problem, Regressor, Scratch, Shape, Tokens, Variance};

/// An example as a [`CoefficientUpdate`] sees it.
pub struct SampleView<'a, K> {
    /// The dictionary before the round.
    pub basis: &'a KernelBasis<K>,
    /// The input.
    pub x: &'a [f64],
    /// Its kernel row `k`, which is also its coordinates, and `κ = k(x, x)`. The update may change
    /// the coordinates.
    pub probe: &'a mut Probe,
    /// The rule's answer to it. A rule that would keep it in a full dictionary says
    /// [`Answer::Skip`].
    pub answer: Answer,
    /// Its target, of positive weight.
    pub target: Target<'a>,
    /// Points that leave at the end of the round: the update names them by their places, those of
    /// `x` included if it was kept. Point and coefficient then go.
    pub leaving: &'a mut Vec<usize>,
}

/// An update of kernel coefficients.
///
/// The engine predicts; no method has a default, so an update around another one forgets none.
pub trait CoefficientUpdate<K>: Clone + Send + Sync {
    /// The loss that it minimises.
    fn loss(&self) -> Loss;

    /// Learns the example and gives the prediction made before. An update that keeps `x` appends a
    /// coefficient to `alpha`; the point then joins the dictionary. Under
    /// [`EveryPoint`](mercer_sparsify::EveryPoint) the update alone decides what is kept.
    ///
    /// # Errors
    /// [`ExampleError::Diverged`] when the step is not finite; `self` and `alpha` are unchanged.
    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error>;

    /// Its own part in a growth of the learner; it accepts [`Growth::of_inputs`] if it keeps no
    /// inputs and works for one output.
    ///
    /// # Errors
    /// [`Growth::refused`] when it cannot.
    fn reshape(&mut self, growth: Growth) -> Result<(), Error>;

    /// True if its state is that of a dictionary of so many points with inputs of this dimension:
    /// the answer when it was read back.
    fn fits(&self, points: usize, inputs: usize) -> bool;
}

/// `scores ← f(x)` of an update that minimises `loss`, at the kernel row of `x`.
fn predict(loss: Loss, alpha: &Coefficients, row: &AlignedVec, scores: &mut [f64]) {
    alpha.values(row, scores);
    loss.predictions(scores);
}

/// A kernel expansion on a growing dictionary.
///
/// A round costs `Jd` for the kernel row and what rule and update cost; memory is `Jd + J(m + 1)`
/// for `m` outputs. At a fixed size nothing is allocated.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnCoefficients<K, A, U> {
    basis: KernelBasis<K>,
    admission: A,
    update: U,
    alpha: Coefficients,
    max_dictionary: Option<usize>,
    #[cfg_attr(feature = "serde", serde(skip))]
    probe: Probe,
    #[cfg_attr(feature = "serde", serde(skip))]
    leaving: Vec<usize>,
}

impl<K: Kernel, A: Admission<KernelBasis<K>>, U: CoefficientUpdate<K>> OnCoefficients<K, A, U> {
    /// An empty dictionary for inputs of dimension `dimension` that never exceeds `max_dictionary`
    /// points.
    ///
    /// # Errors
    /// When no point at all may be kept, or there is no output.
    pub fn from_parts(
        kernel: K,
        dimension: usize,
        admission: A,
        update: U,
        (outputs, max_dictionary): (usize, Option<usize>),
    ) -> Result<Self, Error> {
        if let Some(max) = max_dictionary {
            ParameterError::at_least_one("max_dictionary", max)?;
        }
        let alpha = Coefficients::zeros(ParameterError::at_least_one("outputs", outputs)?, 0);
        let basis = KernelBasis::new(kernel, dimension);
        let (probe, leaving) = (Probe::default(), Vec::new());
        Ok(Self { basis, admission, update, alpha, max_dictionary, probe, leaving })
    }

    /// The dictionary.
    pub fn basis(&self) -> &KernelBasis<K> {
        &self.basis
    }

    /// The kernel coefficients `α`, a vector for each output.
    pub fn coefficients(&self) -> &Coefficients {
        &self.alpha
    }

    fn learn_probed(
        &mut self,
        x: &[f64],
        target: Target<'_>,
        probe: &mut Probe,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        if !probe.is_finite() {
            return Err(ExampleError::KernelOverflow.into());
        }
        let decision = self.admission.decide(&self.basis, x, probe);
        let is_full = self.max_dictionary.is_some_and(|max| self.basis.len() >= max);
        let no_room = is_full && decision.into().growth().is_some();
        let answer = if no_room { Answer::Skip } else { decision.into() };
        self.leaving.clear();
        let seen = SampleView { basis: &self.basis, x, probe: &mut *probe, answer, target, leaving: &mut self.leaving };
        self.update.step(&mut self.alpha, seen, scores)?;
        if !no_room {
            self.admission.commit(probe, decision);
        }
        if self.alpha.coordinates() > self.basis.len() {
            self.basis.append(x, probe.coordinates(), 1.0);
        }
        // The last ones first, so that the places of the others stay true.
        self.leaving.sort_unstable();
        while let Some(index) = self.leaving.pop() {
            self.alpha.remove(index);
            self.basis.remove(index, &mut ());
            self.admission.remove(index, &());
        }
        Ok(())
    }
}

impl<K: Kernel + Validate, A: Admission<KernelBasis<K>> + Validate, U: CoefficientUpdate<K> + Validate> Validate
    for OnCoefficients<K, A, U>
{
    fn validate(&self) -> Result<(), Inconsistent> {
        self.basis.validate()?;
        self.admission.validate()?;
        self.update.validate()?;
        self.alpha.validate()?;
        const WHAT: &str = "learner of kernel coefficients";
        let points = self.basis.len();
        let fits = self.alpha.coordinates() == points && self.admission.fits(points);
        Inconsistent::require(fits, WHAT, "it has a coefficient for each kept point")?;
        let fits = self.update.fits(points, self.basis.dimension());
        Inconsistent::require(fits, WHAT, "its update is one for these points")
    }
}

impl<K: Kernel, A: Admission<KernelBasis<K>>, U: CoefficientUpdate<K>> Regressor for OnCoefficients<K, A, U> {
    fn problem(&self) -> Problem {
        Problem {
            shape: Shape { inputs: self.basis.dimension(), outputs: self.alpha.outputs() },
            loss: self.update.loss(),
        }
    }

    fn dictionary_size(&self) -> usize {
        self.basis.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.basis.dimension())?;
        let row = &mut scratch.vectors[0];
        self.basis.kernel().row(self.basis.points(), x, row);
        predict(self.update.loss(), &self.alpha, row, scores);
        check_scores(scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut probe = std::mem::take(&mut self.probe);
        self.basis.probe(x, &mut probe);
        let learnt = self.learn_probed(x, target, &mut probe, scores);
        self.probe = probe;
        learnt
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
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
        self.update.reshape(growth)?;
        match growth {
            Growth::Inputs(added) => self.basis.grow(added),
            Growth::Output { like } => self.alpha.add_output(like),
        }
        Ok(())
    }
}

/// `steps ← rate · (y − f(x))` for each output, `scores` being `f(x)`.
///
/// # Errors
/// [`ExampleError::Diverged`] when one is not finite.
pub(crate) fn scaled_errors(rate: f64, y: &[f64], scores: &[f64], steps: &mut Vec<f64>) -> Result<(), Error> {
    steps.resize(scores.len(), 0.0);
    for ((step, y), z) in steps.iter_mut().zip(y).zip(scores) {
        *step = finite(rate * (y - z))?;
    }
    Ok(())
}

/// Refuses a step of one output along a kernel row `k` that would leave the range of numbers:
/// `‖α + step · k‖²`, with `score = αᵀk` and `squared_row = ‖k‖²`. Squares in range keep
/// predictions in range.
pub(crate) fn check_move(alpha: &Coefficients, step: f64, score: f64, squared_row: f64) -> Result<(), Error> {
    finite(alpha.squared_norm() + 2.0 * step * score + step * step * squared_row).map(drop)
}
