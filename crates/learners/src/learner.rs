//! The face of every learner from examples. No learner is known here.
//!
//! A learner predicts *scores*, one number for each of its outputs, and learns a *target*: as many
//! numbers, or a class for the softmax loss. Most learners have one output; their scores and
//! targets are plain `f64`, which methods of [`RegressorExt`] take.
//!
//! [`Regressor`] is what every learner is, without default bodies: what it cannot do it says. So a
//! learner around another one, such as a box or [`Restarting`](crate::Restarting), cannot lose an
//! ability of the one within by forgetting it. [`RegressorExt`] is what every learner has from
//! that: the ways to call it.

use std::cell::RefCell;

use mercer_core::ExampleError;

use crate::Error;
use crate::example::{Problem, Rows, Shape, Target, Targets};
use crate::input::Input;
use crate::loss::Loss;
pub use crate::scratch::Scratch;
pub use crate::token_learning::Tokens;
pub(crate) use mercer_core::check_input;

/// A learner from a stream of examples: predict, suffer a loss, update.
///
/// A learner of one's own implements these methods; it then has those of [`RegressorExt`], and
/// works with [`prequential`](crate::prequential), in a [`Mixture`](crate::Mixture) and behind a
/// [`Classifier`](crate::Classifier). Boxes and mutable references of learners are learners.
///
/// No method has a body, so a learner around another one says of every ability whether it passes it
/// on:
///
/// ```compile_fail,E0046
/// use mercer_learners::{Blocks, Error, Growth, Problem, Regressor, Scratch, Target, Tokens};
///
/// struct Halved<R>(R);
///
/// // `variance` is forgotten: E0046, not all trait items implemented.
/// impl<R: Regressor> Regressor for Halved<R> {
///     fn problem(&self) -> Problem {
///         self.0.problem()
///     }
///     fn dictionary_size(&self) -> usize {
///         self.0.dictionary_size()
///     }
///     fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
///         self.0.predict_into(x, scratch, scores)?;
///         scores.iter_mut().for_each(|score| *score /= 2.0);
///         Ok(())
///     }
///     fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
///         self.0.step(x, target, scores)?;
///         scores.iter_mut().for_each(|score| *score /= 2.0);
///         Ok(())
///     }
///     fn blocks(&mut self) -> Option<&mut dyn Blocks> {
///         None
///     }
///     fn tokens(&self) -> Option<&dyn Tokens> {
///         None
///     }
///     fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
///         None
///     }
///     fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
///         self.0.reshape(growth)
///     }
/// }
/// ```
pub trait Regressor: Send + Sync {
    /// Which examples it takes, and what it minimises.
    fn problem(&self) -> Problem;

    /// Number of points stored, or of random features for a learner that stores none.
    fn dictionary_size(&self) -> usize;

    /// `scores ← f_t(x)`. Never changes the learner, never allocates once `scratch` has grown to
    /// its size.
    ///
    /// # Errors
    /// When `x` has another dimension or a coordinate that is not finite, or the kernel overflows.
    ///
    /// # Panics
    /// If `scores` has not an entry for each output.
    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error>;

    /// Predicts `x` and learns an example that was [checked](Problem::check) and has a positive
    /// weight. Callers want [`learn`](RegressorExt::learn).
    ///
    /// # Errors
    /// When the kernel overflows or the update is not finite. The learner is then unchanged.
    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error>;

    /// Variances around its predictions, of learners that have them.
    fn variance(&self) -> Option<&dyn Variance>;

    /// The pass over rows known in advance, of learners that share work between them.
    fn blocks(&mut self) -> Option<&mut dyn Blocks>;

    /// Predictions of rows with tokens, of learners that take them.
    fn tokens(&self) -> Option<&dyn Tokens>;

    /// The learning of such rows, of the same learners.
    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens>;

    /// Takes on another shape; what was learnt stays.
    ///
    /// # Errors
    /// [`Growth::refused`] by learners that cannot, which are then unchanged. Whether inputs can
    /// grow does not depend on how many features join: 0 asks.
    fn reshape(&mut self, growth: Growth) -> Result<(), Error>;
}

/// A change of a learner's [`Shape`](crate::Shape).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Inputs have so many features more, behind the others; in the inputs learnt so far they count
    /// as 0.
    Inputs(usize),
    /// Gains an output, the last, which starts as a copy of output `like` or, without one, at zero.
    /// An output `like` that is not there counts as none.
    Output {
        /// The output that is copied.
        like: Option<usize>,
    },
}

impl Growth {
    /// More inputs are taken, another output is [refused](Self::refused).
    ///
    /// # Errors
    /// [`Error::FixedOutputs`].
    pub fn of_inputs(self) -> Result<(), Error> {
        if matches!(self, Self::Inputs(_)) { Ok(()) } else { Err(self.refused()) }
    }

    /// The error of a learner that cannot grow in this way: [`Error::FixedInputs`] or
    /// [`Error::FixedOutputs`].
    #[must_use]
    pub fn refused(self) -> Error {
        match self {
            Self::Inputs(_) => Error::FixedInputs,
            Self::Output { .. } => Error::FixedOutputs,
        }
    }
}

/// Variances around the predictions of a learner.
///
/// Least-squares learners have them: `σ̂²(1 + s)` with `s = φᵀPφ + δ/λ`, the matrix
/// `P = (Σ ω φφᵀ + λI)⁻¹` of the state, the ridge `λ` and the squared distance `δ` from `x` to the
/// span of the dictionary (left out where `λ = 0` or there is no dictionary). With it the learner
/// is Bayesian linear regression with the prior `w ~ N(0, σ²I/λ)`; on all points of a stream it is
/// the Gaussian process with noise `σ² = λ` times its signal's variance.
/// `σ̂² = Σ ω e²/(1 + ωs) / Σ ω` over the rounds, `e` being errors of prediction, maximises the
/// marginal likelihood. It is the variance around the posterior mean, which ridge regression
/// predicts; the Azoury–Warmuth–Vovk forecaster shrinks that mean.
pub trait Variance {
    /// `σ̂²`, the part of the variances of this output that no input changes; `None` while there is
    /// none, and from learners that have no such part.
    fn noise_variance(&self, output: usize) -> Option<f64>;

    /// [`predict_into`](Regressor::predict_into) with `variances ← σ̂²(1 + s)`, the variance of a
    /// target (of weight 1) at `x` for each output. `s` is the variance of the function at `x` in
    /// units of the noise.
    ///
    /// The answer is false, and the variances are NaN, when there is none yet. `½n²` multiply-adds
    /// more than a prediction, where that does not compute `s` anyway.
    ///
    /// # Errors
    /// As [`predict_into`](Regressor::predict_into).
    ///
    /// # Panics
    /// If `scores` or `variances` has not an entry for each output.
    fn predict_with_variance(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error>;
}

/// The pass of a learner over rows known in advance.
pub trait Blocks {
    /// Learns rows in order, as [`learn`](RegressorExt::learn) would one by one, and appends their
    /// predictions.
    ///
    /// Predictions agree to rounding: bit for bit where the learner only looks ahead, and where it
    /// makes several changes of an inverse `P` at once to about ε = 2.2e-16 times the condition
    /// number of `P`, which for a ridge `λ` is at most `1 + Σ‖φ‖²/λ`. That is below 1e-10 while
    /// `Σ‖φ‖²/λ` is below 4e5, and the gap is usually far smaller than the bound; neither way is
    /// nearer the exact fit.
    ///
    /// # Errors
    /// The first refused row's; the rows before it are learnt and `scores` tells how many they are.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error>;

    /// Lets [`learn_together`](Self::learn_together) use up to this many threads, one until it is
    /// told otherwise; predictions agree to rounding, as they do for blocks. Learners with nothing
    /// to share out go on with one.
    fn limit_threads(&mut self, threads: usize);
}

/// The ways to call a [`Regressor`].
///
/// Every learner has these methods. There are two verbs: *predict*, which changes nothing, and
/// *learn*, which predicts and then learns. `predict`, `predict_then_update`, `update` and
/// `learn_block` are the forms for plain numbers: one output, weights 1. Abilities that a learner
/// has not are refused or answered with none.
pub trait RegressorExt: Regressor {
    /// Input dimension `d`.
    #[inline]
    fn dimension(&self) -> usize {
        self.problem().shape.inputs
    }

    /// Numbers in a prediction, `m`.
    #[inline]
    fn outputs(&self) -> usize {
        self.problem().shape.outputs
    }

    /// The loss that it minimises.
    #[inline]
    fn loss(&self) -> Loss {
        self.problem().loss
    }

    /// `ŷ = f_t(x)` of a learner with one output: [`predict_into`](Regressor::predict_into).
    ///
    /// # Errors
    /// As [`predict_into`](Regressor::predict_into), and [`ExampleError::Outputs`] when there are
    /// several outputs.
    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        let mut score = [0.0];
        self.problem().check_single()?;
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

    /// Appends the predictions at row-major `inputs` to `scores`: those of
    /// [`predict_into`](Regressor::predict_into) to rounding, with what is worth preparing for so
    /// many prepared.
    ///
    /// # Errors
    /// [`ExampleError::Block`] when they are no whole inputs, and that of the first input that is
    /// refused; `scores` then has the predictions at those before.
    fn predict_rows(&self, inputs: &[f64], scores: &mut Vec<f64>) -> Result<(), Error> {
        let Shape { inputs: dimension, outputs } = self.problem().shape;
        let rows = inputs.len() / dimension.max(1);
        if rows * dimension != inputs.len() {
            return Err(ExampleError::Block { inputs: inputs.len(), rows, dimension }.into());
        }
        with_scratch(|scratch| {
            let before = std::mem::replace(&mut scratch.inputs_ahead, rows);
            let predicted = learn_in_order(rows, outputs, scores, |row, made| {
                self.predict_into(&inputs[row * dimension..(row + 1) * dimension], scratch, made)
            });
            scratch.inputs_ahead = before;
            predicted
        })
    }

    /// The prequential step: predicts `x` into `scores`, then learns the example, sharing the work
    /// of both.
    ///
    /// # Errors
    /// As [`predict_into`](Regressor::predict_into), when the target is none of the
    /// [`loss`](Self::loss), the weight is negative, or the update is not finite;
    /// [`ExampleError::Outputs`] if `scores` has not an entry for each output. The learner is then
    /// unchanged.
    #[inline]
    fn learn(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let problem = self.problem();
        problem.check(x, target)?;
        let expected = problem.shape.outputs;
        if scores.len() != expected {
            return Err(ExampleError::Outputs { expected, got: scores.len() }.into());
        }
        if target.weight == 0.0 {
            return with_scratch(|scratch| self.predict_into(x, scratch, scores));
        }
        self.step(x, target, scores)
    }

    /// [`learn`](Self::learn) of a row with tokens, where the learner takes them.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    fn learn_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        if input.tokens.is_none() {
            return self.learn(input.numbers, target, scores);
        }
        let problem = self.problem();
        problem.check(input.numbers, target)?;
        let expected = problem.shape.outputs;
        if scores.len() != expected {
            return Err(ExampleError::Outputs { expected, got: scores.len() }.into());
        }
        if target.weight == 0.0 {
            return with_scratch(|scratch| predict_input(self, input, scratch, scores));
        }
        step_input(self, input, target, scores)
    }

    /// [`learn`](Self::learn) for one output and weight 1; returns the prediction.
    ///
    /// # Errors
    /// As [`learn`](Self::learn), and [`ExampleError::Outputs`] when there are several outputs.
    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        let mut score = [0.0];
        self.problem().check_single()?;
        self.learn(x, Target::new(&[y]), &mut score)?;
        Ok(score[0])
    }

    /// Learns one example with one output and weight 1.
    ///
    /// # Errors
    /// As [`predict_then_update`](Self::predict_then_update).
    fn update(&mut self, x: &[f64], y: f64) -> Result<(), Error> {
        self.predict_then_update(x, y).map(drop)
    }

    /// Learns rows in order and appends their predictions: in the learner's
    /// [`blocks`](Regressor::blocks) if it has them, else one by one.
    ///
    /// # Errors
    /// The first refused row's; the rows before it are learnt and `scores` tells how many they are.
    fn learn_rows(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        match self.blocks() {
            Some(blocks) => blocks.learn_together(rows, scores),
            None => learn_one_by_one(self, rows, scores),
        }
    }

    /// [`learn_rows`](Self::learn_rows) for one output and weights 1: `xs` is row-major, `d`
    /// numbers for each target.
    ///
    /// # Errors
    /// As [`learn_rows`](Self::learn_rows), [`ExampleError::Block`] when inputs and targets do not
    /// fit together, and [`ExampleError::Outputs`] when there are several outputs.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let problem = self.problem();
        problem.check_single()?;
        self.learn_rows(Rows::new(xs, problem.shape.inputs, Targets::numbers(ys))?, predictions)
    }

    /// [`Blocks::limit_threads`] of learners that have blocks.
    fn set_threads(&mut self, threads: usize) {
        if let Some(blocks) = self.blocks() {
            blocks.limit_threads(threads);
        }
    }

    /// True if the learner has [variances](Regressor::variance).
    fn has_variance(&self) -> bool {
        self.variance().is_some()
    }

    /// [`Variance::noise_variance`], where there is one.
    fn noise(&self, output: usize) -> Option<f64> {
        self.variance()?.noise_variance(output)
    }

    /// [`Variance::predict_with_variance`]; of learners without variances a prediction, NaN and
    /// false.
    ///
    /// # Errors
    /// As [`predict_into`](Regressor::predict_into).
    ///
    /// # Panics
    /// If `scores` or `variances` has not an entry for each output.
    fn predict_variance_into(
        &self,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        variances: &mut [f64],
    ) -> Result<bool, Error> {
        if let Some(variance) = self.variance() {
            return variance.predict_with_variance(x, scratch, scores, variances);
        }
        variances.fill(f64::NAN);
        self.predict_into(x, scratch, scores).map(|()| false)
    }

    /// [`Growth::Inputs`]: inputs have `added` features more.
    ///
    /// # Errors
    /// [`Error::FixedInputs`] when it cannot, and is then unchanged.
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.reshape(Growth::Inputs(added))
    }

    /// [`Growth::Output`]: one output more, a copy of output `like` or zero.
    ///
    /// # Errors
    /// [`Error::FixedOutputs`] when it cannot, and is then unchanged.
    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        self.reshape(Growth::Output { like })
    }
}

impl<R: Regressor + ?Sized> RegressorExt for R {}

/// [`Regressor::predict_into`], of the tokens where the row has some and the learner takes them.
///
/// # Errors
/// As there.
pub fn predict_input<R: Regressor + ?Sized>(
    learner: &R,
    input: Input<'_>,
    scratch: &mut Scratch,
    scores: &mut [f64],
) -> Result<(), Error> {
    match input.tokens.and_then(|_| learner.tokens()) {
        Some(tokens) => tokens.predict_input(input, scratch, scores),
        None => learner.predict_into(input.numbers, scratch, scores),
    }
}

/// [`Regressor::step`], of the tokens where the row has some and the learner takes them.
///
/// # Errors
/// As there.
pub fn step_input<R: Regressor + ?Sized>(
    learner: &mut R,
    input: Input<'_>,
    target: Target<'_>,
    scores: &mut [f64],
) -> Result<(), Error> {
    // Asked before it is borrowed for good.
    if input.tokens.is_some()
        && let Some(tokens) = learner.tokens_mut()
    {
        return tokens.step_input(input, target, scores);
    }
    learner.step(input.numbers, target, scores)
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Calls `predict` with memory that the thread keeps; taken out meanwhile, so that calls may be
/// nested.
fn with_scratch<T>(predict: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take();
    let made = predict(&mut scratch);
    SCRATCH.set(scratch);
    made
}

/// Passes every method on.
macro_rules! pass_on {
    ($learner:ident for $pointer:ty) => {
        impl<$learner: Regressor + ?Sized> Regressor for $pointer {
            fn problem(&self) -> Problem {
                (**self).problem()
            }
            fn dictionary_size(&self) -> usize {
                (**self).dictionary_size()
            }
            fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
                (**self).predict_into(x, scratch, scores)
            }
            fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
                (**self).step(x, target, scores)
            }
            fn variance(&self) -> Option<&dyn Variance> {
                (**self).variance()
            }
            fn blocks(&mut self) -> Option<&mut dyn Blocks> {
                (**self).blocks()
            }
            fn tokens(&self) -> Option<&dyn Tokens> {
                (**self).tokens()
            }
            fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
                (**self).tokens_mut()
            }
            fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
                (**self).reshape(growth)
            }
        }
    };
}

pass_on!(R for Box<R>);
pass_on!(R for &mut R);

/// [`RegressorExt::learn_rows`] by [`RegressorExt::learn`].
pub fn learn_one_by_one<R: Regressor + ?Sized>(
    learner: &mut R,
    rows: Rows<'_>,
    scores: &mut Vec<f64>,
) -> Result<(), Error> {
    learn_in_order(rows.len(), learner.outputs(), scores, |row, made| {
        learner.learn_input(rows.whole_input(row), rows.target(row), made)
    })
}

/// Learns (or predicts) `rows` rows in order, each with room for its `outputs` numbers at the end
/// of `scores`, up to the first that is refused.
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
