//! The face of every learner from examples, and what examples are.
//!
//! A learner predicts *scores*, one number for each of its outputs, and learns a *target*: as many numbers, or a class for the softmax
//! loss. Most learners have one output; their scores and targets are plain `f64`, which the provided methods of [`Regressor`] take. No
//! learner is known here.

use std::cell::RefCell;

use mercer_core::{ExampleError, ParameterError};
use mercer_kernels::AlignedVec;
use mercer_sparsify::Probe;

use crate::Error;
use crate::local::Memory;
use crate::loss::Loss;
pub(crate) use mercer_core::check_input;

/// Memory of a prediction, reused from call to call so that predicting allocates nothing. What a learner leaves in it means nothing to
/// another.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// For learners on a dictionary.
    pub probe: Probe,
    /// For kernel rows, features and solutions.
    pub vectors: [AlignedVec; 3],
    /// For inputs that are changed before they are learnt.
    pub numbers: Vec<f64>,
    /// For processes on the nearest examples.
    pub(crate) neighbours: Memory,
    /// For the scores of learners within learners.
    spare: Vec<Vec<f64>>,
}

impl Scratch {
    /// Memory of `count` numbers, until it is [taken back](Self::take_back). Who predicts with it may lend more.
    pub(crate) fn lend(&mut self, count: usize) -> Vec<f64> {
        let mut numbers = self.spare.pop().unwrap_or_default();
        numbers.resize(count, 0.0);
        numbers
    }

    /// Keeps memory for the next who asks.
    pub(crate) fn take_back(&mut self, numbers: Vec<f64>) {
        self.spare.push(numbers);
    }
}

/// What is learnt at one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target<'a> {
    /// One number for each output of the learner; one class `0, 1, …` for the softmax loss.
    pub y: &'a [f64],
    /// How much the example counts, a finite number ≥ 0: its loss is multiplied by the weight. An example of weight 0 is only
    /// predicted: nothing is learnt, nothing is kept, no coin is tossed.
    pub weight: f64,
}

impl<'a> Target<'a> {
    /// A target of weight 1.
    #[must_use]
    pub fn new(y: &'a [f64]) -> Self {
        Self { y, weight: 1.0 }
    }

    /// A target that counts `weight` times.
    #[must_use]
    pub fn weighted(y: &'a [f64], weight: f64) -> Self {
        Self { y, weight }
    }
}

/// Targets in order.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    ys: &'a [f64],
    weights: &'a [f64],
    width: usize,
}

impl<'a> Targets<'a> {
    /// Targets of `width ≥ 1` numbers each, row by row, and a weight for each; no weights at all mean 1 for every target.
    ///
    /// # Errors
    /// [`Error::Targets`] when the numbers are no whole targets, or the weights are not as many.
    pub fn new(ys: &'a [f64], weights: &'a [f64], width: usize) -> Result<Self, Error> {
        let rows = ys.len() / width.max(1);
        if width == 0 || !ys.len().is_multiple_of(width) || !(weights.is_empty() || weights.len() == rows) {
            return Err(Error::Targets { numbers: ys.len(), width, weights: weights.len() });
        }
        Ok(Self { ys, weights, width })
    }

    /// Plain numbers of weight 1.
    #[must_use]
    pub fn numbers(ys: &'a [f64]) -> Self {
        Self { ys, weights: &[], width: 1 }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ys.len() / self.width
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ys.is_empty()
    }

    /// Target `row`.
    ///
    /// # Panics
    /// If there is no such target.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> Target<'a> {
        let weight = if self.weights.is_empty() { 1.0 } else { self.weights[row] };
        Target { y: &self.ys[row * self.width..(row + 1) * self.width], weight }
    }

    /// Targets `from..to`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Self {
        let weights = if self.weights.is_empty() { &[] } else { &self.weights[from..to] };
        Self { ys: &self.ys[from * self.width..to * self.width], weights, width: self.width }
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = Target<'a>> + use<'a> {
        let all = *self;
        (0..all.len()).map(move |row| all.get(row))
    }
}

/// Inputs with their targets, in order.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    inputs: &'a [f64],
    dimension: usize,
    targets: Targets<'a>,
}

impl<'a> Rows<'a> {
    /// Row-major `inputs` of `dimension` numbers, one for each target.
    ///
    /// # Errors
    /// [`ExampleError::Block`] when they do not fit together.
    pub fn new(inputs: &'a [f64], dimension: usize, targets: Targets<'a>) -> Result<Self, Error> {
        if inputs.len() == targets.len() * dimension {
            Ok(Self { inputs, dimension, targets })
        } else {
            Err(ExampleError::Block { inputs: inputs.len(), rows: targets.len(), dimension }.into())
        }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// All inputs, row by row.
    #[must_use]
    pub fn inputs(&self) -> &'a [f64] {
        self.inputs
    }

    /// All targets.
    #[must_use]
    pub fn targets(&self) -> Targets<'a> {
        self.targets
    }

    /// The input of row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[inline]
    pub fn input(&self, row: usize) -> &'a [f64] {
        &self.inputs[row * self.dimension..(row + 1) * self.dimension]
    }

    /// The target of row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[inline]
    pub fn target(&self, row: usize) -> Target<'a> {
        self.targets.get(row)
    }

    /// Rows `from..to`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Self {
        let inputs = &self.inputs[from * self.dimension..to * self.dimension];
        Self { inputs, dimension: self.dimension, targets: self.targets.range(from, to) }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [f64], Target<'a>)> + use<'a> {
        let all = *self;
        (0..all.len()).map(move |row| (all.input(row), all.target(row)))
    }
}

/// A learner from a stream of examples: predict, suffer a loss, update.
///
/// A learner of one's own needs the four methods without a body; it then works with [`prequential`](crate::prequential), in a
/// [`Mixture`](crate::Mixture) and behind a [`Classifier`](crate::Classifier). Boxes and mutable references of learners are learners.
pub trait Regressor: Send + Sync {
    /// Input dimension `d`.
    fn dimension(&self) -> usize;

    /// Number of points stored, or of random features for a learner that stores none.
    fn dictionary_size(&self) -> usize;

    /// Numbers in a prediction, `m`.
    fn outputs(&self) -> usize {
        1
    }

    /// What it minimises.
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    /// `scores ← f_t(x)`. Never changes the learner, never allocates once `scratch` has grown to its size.
    ///
    /// # Errors
    /// When `x` has another dimension or a coordinate that is not finite, or the kernel overflows.
    ///
    /// # Panics
    /// If `scores` has not [`outputs`](Self::outputs) entries.
    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error>;

    /// Whether [`predict_variance_into`](Self::predict_variance_into) can tell variances.
    fn has_variance(&self) -> bool {
        false
    }

    /// `σ̂²`, the part of the variances of this output that no input changes; `None` while there is none, and from learners that have no
    /// such part.
    fn noise(&self, output: usize) -> Option<f64> {
        let _ = output;
        None
    }

    /// [`predict_into`](Self::predict_into) with `variances ← σ̂²(1 + s)`, the variance of a target (of weight 1) at `x` for each output. `s` is the
    /// variance of the function at `x` in units of the noise, and `σ̂²` the estimate of the noise.
    ///
    /// Least-squares learners have it: `s = φᵀPφ + δ/λ`, with the matrix `P = (Σ ω φφᵀ + λI)⁻¹` of the state, the ridge `λ` and the squared distance `δ`
    /// from `x` to the span of the dictionary (left out where `λ = 0` or there is no dictionary). With it the learner is Bayesian linear
    /// regression with the prior `w ~ N(0, σ²I/λ)`; on all points of a stream it is the Gaussian process with noise `σ² = λ` times its signal's
    /// variance. `σ̂² = Σ ω e²/(1 + ωs) / Σ ω` over the rounds, `e` being errors of prediction, maximises the marginal likelihood. It is the
    /// variance around the posterior mean, which ridge regression predicts; the Azoury–Warmuth–Vovk forecaster shrinks that mean.
    ///
    /// The answer is false, and the variances are NaN, when there is none (yet): the learner has no
    /// such matrix, or it has learnt nothing. `½n²` multiply-adds more than a prediction, where that
    /// does not compute `s` anyway.
    ///
    /// # Errors
    /// As [`predict_into`](Self::predict_into).
    ///
    /// # Panics
    /// If `scores` or `variances` has not [`outputs`](Self::outputs) entries.
    fn predict_variance_into(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        self.predict_into(x, scratch, scores)?;
        variances.fill(f64::NAN);
        Ok(false)
    }

    /// Predicts `x` and learns an example that was [checked](check_example) and has a positive weight. Callers want
    /// [`learn`](Self::learn).
    ///
    /// # Errors
    /// When the kernel overflows or the update is not finite. The learner is then unchanged.
    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error>;

    /// The prequential step: predicts `x` into `scores`, then learns the example, sharing the work of both.
    ///
    /// # Errors
    /// As [`predict_into`](Self::predict_into), when the target is none of the [`loss`](Self::loss), the weight is negative, or the
    /// update is not finite; [`ExampleError::Outputs`] if `scores` has not [`outputs`](Self::outputs)
    /// entries. The learner is then unchanged.
    fn learn(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        check_example(self, x, target)?;
        if scores.len() != self.outputs() {
            return Err(ExampleError::Outputs { expected: self.outputs(), got: scores.len() }.into());
        }
        if target.weight == 0.0 {
            return with_scratch(|scratch| self.predict_into(x, scratch, scores));
        }
        self.step(x, target, scores)
    }

    /// Learns rows in order, as [`learn`](Self::learn) would one by one, and appends their predictions. Learners that can share work
    /// between rows known in advance do.
    ///
    /// Predictions agree to rounding: bit for bit where the learner only looks ahead, and where it makes several changes of an
    /// inverse `P` at once to about ε = 2.2e-16 times the condition number of `P`, which for a ridge `λ` is at most `1 + Σ‖φ‖²/λ`.
    /// That is below 1e-10 while `Σ‖φ‖²/λ` is below 4e5, and the gap is usually far smaller than the bound; neither way is nearer
    /// the exact fit.
    ///
    /// # Errors
    /// The first refused row's; the rows before it are learnt and `scores` tells how many they are.
    fn learn_rows(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        learn_one_by_one(self, rows, scores)
    }

    /// Lets [`learn_rows`](Self::learn_rows) use up to this many threads, one until it is told otherwise; predictions agree to
    /// rounding, as they do for blocks. Learners whose blocked pass has nothing to share out go on with one.
    fn set_threads(&mut self, threads: usize) {
        let _ = threads;
    }

    /// Inputs have `added` features more from now on, behind the others; in the inputs learnt so far they count as 0.
    ///
    /// # Errors
    /// [`Error::FixedInputs`] for learners that cannot, which are then unchanged. Whether one can does not depend on `added`: 0 asks.
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        let _ = added;
        Err(Error::FixedInputs)
    }

    /// Gains an output, the last, which starts as a copy of output `like` or, without one, at zero.
    ///
    /// # Errors
    /// [`Error::FixedOutputs`] for learners that cannot, which are then unchanged. An output `like` that is not there counts as none.
    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let _ = like;
        Err(Error::FixedOutputs)
    }

    /// `ŷ = f_t(x)` of a learner with one output: [`predict_into`](Self::predict_into).
    ///
    /// # Errors
    /// As [`predict_into`](Self::predict_into), and [`ExampleError::Outputs`] when there are several outputs.
    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        let mut score = [0.0];
        check_single(self)?;
        self.predict_into(x, scratch, &mut score)?;
        Ok(score[0])
    }

    /// [`predict_with`](Self::predict_with) with memory of the thread.
    ///
    /// # Errors
    /// As [`predict_with`](Self::predict_with).
    fn predict(&self, x: &[f64]) -> Result<f64, Error> {
        with_scratch(|scratch| self.predict_with(x, scratch))
    }

    /// [`learn`](Self::learn) for one output and weight 1; returns the prediction.
    ///
    /// # Errors
    /// As [`learn`](Self::learn), and [`ExampleError::Outputs`] when there are several outputs.
    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        let mut score = [0.0];
        check_single(self)?;
        self.learn(x, Target::new(&[y]), &mut score)?;
        Ok(score[0])
    }

    /// [`learn_rows`](Self::learn_rows) for one output and weights 1: `xs` is row-major, `d` numbers for each target.
    ///
    /// # Errors
    /// As [`learn_rows`](Self::learn_rows), [`ExampleError::Block`] when inputs and targets do not fit together, and [`ExampleError::Outputs`] when
    /// there are several outputs.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        check_single(self)?;
        let rows = Rows::new(xs, self.dimension(), Targets::numbers(ys))?;
        self.learn_rows(rows, predictions)
    }

    /// Learns one example with one output and weight 1.
    ///
    /// # Errors
    /// As [`predict_then_update`](Self::predict_then_update).
    fn update(&mut self, x: &[f64], y: f64) -> Result<(), Error> {
        self.predict_then_update(x, y).map(drop)
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Calls `predict` with memory that the thread keeps; taken out meanwhile, so that calls may be nested.
fn with_scratch<T>(predict: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take();
    let made = predict(&mut scratch);
    SCRATCH.set(scratch);
    made
}

/// Passes every method on that is not provided or that learners override.
macro_rules! pass_on {
    ($learner:ident for $pointer:ty) => {
        impl<$learner: Regressor + ?Sized> Regressor for $pointer {
            fn dimension(&self) -> usize {
                (**self).dimension()
            }
            fn dictionary_size(&self) -> usize {
                (**self).dictionary_size()
            }
            fn outputs(&self) -> usize {
                (**self).outputs()
            }
            fn loss(&self) -> Loss {
                (**self).loss()
            }
            fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
                (**self).predict_into(x, scratch, scores)
            }
            fn has_variance(&self) -> bool {
                (**self).has_variance()
            }
            fn noise(&self, output: usize) -> Option<f64> {
                (**self).noise(output)
            }
            fn predict_variance_into(
                &self,
                x: &[f64],
                scratch: &mut Scratch,
                scores: &mut [f64],
                variances: &mut [f64],
            ) -> Result<bool, Error> {
                (**self).predict_variance_into(x, scratch, scores, variances)
            }
            fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
                (**self).step(x, target, scores)
            }
            fn learn(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
                (**self).learn(x, target, scores)
            }
            fn learn_rows(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
                (**self).learn_rows(rows, scores)
            }
            fn set_threads(&mut self, threads: usize) {
                (**self).set_threads(threads);
            }
            fn grow(&mut self, added: usize) -> Result<(), Error> {
                (**self).grow(added)
            }
            fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
                (**self).add_output(like)
            }
        }
    };
}

pass_on!(R for Box<R>);
pass_on!(R for &mut R);

/// Refuses an example that `learner` cannot learn whatever its state: an input of another dimension or that is not finite, a target of
/// another width or that its loss does not take, a weight that is negative or not finite.
///
/// # Errors
/// What is wrong with it.
#[inline(always)]
pub fn check_example<R: Regressor + ?Sized>(learner: &R, x: &[f64], target: Target<'_>) -> Result<(), Error> {
    check_input(x, learner.dimension())?;
    check_target(learner.loss(), learner.outputs(), target)
}

/// The part of [`check_example`] that concerns the target.
#[inline(always)]
pub(crate) fn check_target(loss: Loss, outputs: usize, target: Target<'_>) -> Result<(), Error> {
    // A number under the squared loss is by far the commonest, and small learners learn it in a tenth of a microsecond.
    match target.y {
        [y] if outputs == 1 && matches!(loss, Loss::Squared(_)) && y.is_finite() && target.weight == 1.0 => Ok(()),
        _ => check_any_target(loss, outputs, target),
    }
}

fn check_any_target(loss: Loss, outputs: usize, target: Target<'_>) -> Result<(), Error> {
    let expected = loss.target_width(outputs);
    if target.y.len() != expected {
        return Err(ExampleError::Outputs { expected, got: target.y.len() }.into());
    }
    if !(target.weight >= 0.0 && target.weight.is_finite()) {
        let requirement = "a number of at least 0";
        return Err(ParameterError { name: "the weight of an example", requirement, value: target.weight }.into());
    }
    loss.check(target.y, outputs)
}

/// Refuses the methods for one output where there are several.
#[inline]
fn check_single<R: Regressor + ?Sized>(learner: &R) -> Result<(), Error> {
    let outputs = learner.outputs();
    if outputs == 1 { Ok(()) } else { Err(ExampleError::Outputs { expected: outputs, got: 1 }.into()) }
}

/// [`Regressor::learn_rows`] by [`Regressor::learn`].
pub(crate) fn learn_one_by_one<R: Regressor + ?Sized>(
    learner: &mut R,
    rows: Rows<'_>,
    scores: &mut Vec<f64>,
) -> Result<(), Error> {
    learn_in_order(rows.len(), learner.outputs(), scores, |row, made| {
        learner.learn(rows.input(row), rows.target(row), made)
    })
}

/// Learns `rows` rows in order, each with room for its `outputs` numbers at the end of `scores`, up to the first that is refused.
#[inline(always)]
pub(crate) fn learn_in_order(
    rows: usize,
    outputs: usize,
    scores: &mut Vec<f64>,
    mut learn: impl FnMut(usize, &mut [f64]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut end = scores.len();
    scores.resize(end + rows * outputs, 0.0);
    let mut learnt = Ok(());
    for row in 0..rows {
        learnt = learn(row, &mut scores[end..end + outputs]);
        if learnt.is_err() {
            break;
        }
        end += outputs;
    }
    scores.truncate(end);
    learnt
}

/// Refuses a prediction that is not finite.
pub(crate) fn check_scores(scores: &[f64]) -> Result<(), Error> {
    if scores.iter().all(|score| score.is_finite()) { Ok(()) } else { Err(ExampleError::KernelOverflow.into()) }
}
