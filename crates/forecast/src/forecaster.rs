//! The face of every forecaster.

use mercer_core::ExampleError;
use mercer_learners::Scratch;
use mercer_linalg_incremental::{AlignedVec, SquareRootScratch};

use crate::Epoch;
use crate::Error;

/// Memory of a prediction, reused from call to call so that predicting allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct ForecastScratch {
    pub(crate) row: AlignedVec,
    pub(crate) features: AlignedVec,
    pub(crate) factor: SquareRootScratch,
    pub(crate) learner: Scratch,
    pub(crate) lags: Vec<f64>,
    /// One buffer for each level of forecasters inside forecasters, the innermost first; those in
    /// use are taken out.
    buffers: Vec<Vec<f64>>,
}

impl ForecastScratch {
    /// Lends `work` an empty buffer beside the scratch memory, which `work` passes on to the
    /// forecasters inside. Each level of nesting gets the same buffer in each prediction, so no
    /// buffer grows once all levels have had their sizes.
    pub(crate) fn with_buffer<R>(&mut self, work: impl FnOnce(&mut Vec<f64>, &mut Self) -> R) -> R {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.clear();
        let result = work(&mut buffer, self);
        self.buffers.push(buffer);
        result
    }
}

/// A predictor of the next output `y_k` (`m` numbers) of a system from what it did before: predict
/// `ŷ_k`, suffer `‖ŷ_k − y_k‖²`, observe `y_k`.
///
/// Time counts outputs from 0. A system may have an input `u_k` (`q` numbers) at each time; with
/// *feed-through* `u_k` acts on `y_k` at once and is an argument of the prediction, without it
/// `u_k` acts from `y_{k+1}` on and is told with the observation.
///
/// The trait is object-safe: `Box<dyn Forecaster>` is a forecaster, and clones. What a method can
/// do of its own has no default body, so a wrapper around another forecaster forgets none of it.
pub trait Forecaster: Send + Sync + 'static {
    /// Numbers in an output, `m`.
    fn outputs(&self) -> usize;

    /// Numbers in an input, `q`; 0 for a system without inputs.
    fn inputs(&self) -> usize;

    /// True if predictions take the input `u_k` of the same time; false without inputs.
    fn feed_through(&self) -> bool;

    /// Outputs observed so far, which is the time `k` of the output that is predicted next.
    fn time(&self) -> usize;

    /// True if the warm-up is over, so that the next prediction is the method's own. Until then a
    /// forecaster predicts the last output, or goes on from it by as much as outputs have changed,
    /// and zeros before the first.
    fn warmed_up(&self) -> bool;

    /// Past outputs `p` that the next prediction uses at most; 0 for a method without a window.
    fn lags(&self) -> usize;

    /// The epochs so far, oldest first: empty for a method without epochs. The last one tells
    /// whether `p` has reached its limit.
    fn epochs(&self) -> &[Epoch];

    /// `ŷ_k`. Never changes the forecaster, never allocates once `scratch` has grown to its size.
    /// `input` is `u_k` with feed-through and is not read without it (an empty slice will do).
    ///
    /// # Errors
    /// When `input` or `prediction` has another length than the system's, an input is not finite,
    /// or the prediction would not be.
    fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error>;

    /// `ŷ_k` in the convenient form: [`predict_with`](Self::predict_with) with fresh memory.
    ///
    /// # Errors
    /// As [`predict_with`](Self::predict_with).
    fn predict(&self, input: &[f64]) -> Result<Vec<f64>, Error> {
        let mut prediction = vec![0.0; self.outputs()];
        self.predict_with(input, &mut prediction, &mut ForecastScratch::default())?;
        Ok(prediction)
    }

    /// The prequential step: predicts `ŷ_k`, then observes `u_k` and `y_k`, sharing the work of
    /// both. `input` always holds the `q` numbers of `u_k`.
    ///
    /// A NaN in `output` is a **missing** observation: no regression is made upon this row, and
    /// where later rows need the missing number as a lag they take `ŷ_k` for it (what was observed
    /// of the row they take as it is). During the warm-up that is the last value. A series may be
    /// missing for as long as it likes; what then is predicted is the forecast several steps ahead.
    ///
    /// # Errors
    /// When a length is not the system's, an output is infinite, an input is not finite, a number
    /// is larger than 1e100, or the update would leave the range of numbers. The forecaster is then
    /// unchanged.
    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error>;

    /// Observes `u_k` and `y_k`; NaN is missing, as in
    /// [`predict_then_observe`](Self::predict_then_observe), of which this is the convenient form
    /// that allocates room for the prediction.
    ///
    /// # Errors
    /// As [`predict_then_observe`](Self::predict_then_observe).
    fn observe(&mut self, input: &[f64], output: &[f64]) -> Result<(), Error> {
        self.predict_then_observe(input, output, &mut vec![0.0; self.outputs()])
    }

    /// Predictions of `y_k … y_{k+steps−1}`, row after row (`steps × m`). `inputs` holds `u_k,
    /// u_{k+1}, …` (`steps × q` numbers; without feed-through the last is not used). A method
    /// without a way of its own gives [`forecast_by_missing`] a copy of itself.
    ///
    /// # Errors
    /// As [`predict_with`](Self::predict_with).
    fn forecast(&self, steps: usize, inputs: &[f64]) -> Result<Vec<f64>, Error>;

    /// A copy with all that was learnt.
    fn boxed(&self) -> Box<dyn Forecaster>;
}

impl Clone for Box<dyn Forecaster> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

impl<F: Forecaster + ?Sized> Forecaster for Box<F> {
    fn outputs(&self) -> usize {
        (**self).outputs()
    }
    fn inputs(&self) -> usize {
        (**self).inputs()
    }
    fn feed_through(&self) -> bool {
        (**self).feed_through()
    }
    fn time(&self) -> usize {
        (**self).time()
    }
    fn warmed_up(&self) -> bool {
        (**self).warmed_up()
    }
    fn lags(&self) -> usize {
        (**self).lags()
    }
    fn epochs(&self) -> &[Epoch] {
        (**self).epochs()
    }
    fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error> {
        (**self).predict_with(input, prediction, scratch)
    }
    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        (**self).predict_then_observe(input, output, prediction)
    }
    fn forecast(&self, steps: usize, inputs: &[f64]) -> Result<Vec<f64>, Error> {
        (**self).forecast(steps, inputs)
    }
    fn boxed(&self) -> Box<dyn Forecaster> {
        (**self).boxed()
    }
}

/// Several steps of a forecaster that knows one: `copy` misses one output after the other. Costs a
/// prediction a step.
///
/// # Errors
/// As [`Forecaster::forecast`].
pub fn forecast_by_missing(mut copy: impl Forecaster, steps: usize, inputs: &[f64]) -> Result<Vec<f64>, Error> {
    let (m, q) = (copy.outputs(), copy.inputs());
    if inputs.len() != steps * q {
        return Err(ExampleError::Dimension { expected: steps * q, got: inputs.len() }.into());
    }
    let missing = vec![f64::NAN; m];
    let mut predictions = vec![0.0; steps * m];
    for (step, prediction) in predictions.chunks_exact_mut(m).enumerate() {
        copy.predict_then_observe(&inputs[step * q..(step + 1) * q], &missing, prediction)?;
    }
    Ok(predictions)
}

/// Largest size of a number that a forecaster takes: its square, times any number of rows, is one.
pub(crate) const LARGEST: f64 = 1e100;

/// Refuses an input or a place for a prediction that does not fit; the input is looked at only with
/// feed-through.
pub(crate) fn check_prediction(
    forecaster: &(impl Forecaster + ?Sized),
    input: &[f64],
    prediction: &[f64],
) -> Result<(), Error> {
    if prediction.len() != forecaster.outputs() {
        return Err(ExampleError::Outputs { expected: forecaster.outputs(), got: prediction.len() }.into());
    }
    if forecaster.feed_through() { check_inputs(input, forecaster.inputs()) } else { Ok(()) }
}

/// Refuses an observation that cannot be taken.
pub(crate) fn check_observation(
    forecaster: &(impl Forecaster + ?Sized),
    input: &[f64],
    output: &[f64],
) -> Result<(), Error> {
    check_inputs(input, forecaster.inputs())?;
    if output.len() != forecaster.outputs() {
        return Err(ExampleError::Outputs { expected: forecaster.outputs(), got: output.len() }.into());
    }
    match output.iter().find(|y| y.abs() > LARGEST) {
        Some(y) if y.is_finite() => Err(ExampleError::Diverged.into()),
        Some(y) => Err(ExampleError::NonFiniteTarget(*y).into()),
        None => Ok(()),
    }
}

/// Refuses an input that cannot be taken.
pub(crate) fn check_inputs(input: &[f64], inputs: usize) -> Result<(), Error> {
    if input.len() != inputs {
        return Err(ExampleError::Dimension { expected: inputs, got: input.len() }.into());
    }
    match input.iter().position(|u| !u.is_finite()) {
        Some(index) => Err(ExampleError::NonFiniteInput { index, value: input[index] }.into()),
        None if input.iter().any(|u| u.abs() > LARGEST) => Err(ExampleError::Diverged.into()),
        None => Ok(()),
    }
}

/// Refuses a prediction that is not a number, which only a state on the edge of the range of
/// numbers makes.
pub(crate) fn check_finite(prediction: &[f64]) -> Result<(), Error> {
    if prediction.iter().all(|y| y.is_finite()) { Ok(()) } else { Err(ExampleError::Diverged.into()) }
}

/// Keeps an output, with the prediction where it is missing. Refuses a prediction that is out of
/// range.
pub(crate) fn impute(output: &[f64], prediction: &[f64], kept: &mut Vec<f64>) -> Result<(), Error> {
    kept.clear();
    kept.extend(output.iter().zip(prediction).map(|(y, predicted)| if y.is_nan() { *predicted } else { *y }));
    if kept.iter().all(|y| y.abs() <= LARGEST) { Ok(()) } else { Err(ExampleError::Diverged.into()) }
}

/// The methods of several steps of a forecaster that knows one, and clones.
macro_rules! by_missing {
    () => {
        fn forecast(&self, steps: usize, inputs: &[f64]) -> Result<Vec<f64>, crate::Error> {
            crate::forecaster::forecast_by_missing(self.clone(), steps, inputs)
        }
        fn boxed(&self) -> Box<dyn crate::Forecaster> {
            Box::new(self.clone())
        }
    };
}
pub(super) use by_missing;

/// Implements [`Forecaster`](crate::Forecaster) for a type whose field `$engine` does all of it.
macro_rules! forecast_by {
    ($forecaster:ty, $engine:ident) => {
        impl mercer_core::Validate for $forecaster {
            fn validate(&self) -> Result<(), mercer_core::Inconsistent> {
                self.$engine.validate()
            }
        }

        impl crate::Forecaster for $forecaster {
            fn outputs(&self) -> usize {
                self.$engine.shape.outputs
            }
            fn inputs(&self) -> usize {
                self.$engine.shape.inputs
            }
            fn feed_through(&self) -> bool {
                self.$engine.shape.feed_through
            }
            fn time(&self) -> usize {
                self.$engine.time
            }
            fn warmed_up(&self) -> bool {
                self.$engine.warmed_up()
            }
            fn lags(&self) -> usize {
                self.$engine.lags()
            }
            fn epochs(&self) -> &[crate::Epoch] {
                self.$engine.epochs()
            }
            fn predict_with(
                &self,
                input: &[f64],
                prediction: &mut [f64],
                scratch: &mut crate::ForecastScratch,
            ) -> Result<(), crate::Error> {
                crate::forecaster::check_prediction(self, input, prediction)?;
                self.$engine.predict(input, prediction, scratch);
                crate::forecaster::check_finite(prediction)
            }
            fn predict_then_observe(
                &mut self,
                input: &[f64],
                output: &[f64],
                prediction: &mut [f64],
            ) -> Result<(), crate::Error> {
                crate::forecaster::check_prediction(self, input, prediction)?;
                crate::forecaster::check_observation(self, input, output)?;
                self.$engine.predict_then_observe(input, output, prediction)
            }
            crate::forecaster::by_missing!();
        }
    };
}
pub(super) use forecast_by;
