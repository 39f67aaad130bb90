//! The face of every regression learner.

use mercer_kernels::AlignedVec;
use mercer_sparsify::Probe;

use crate::Error;
pub(crate) use crate::error::check_input;
use crate::regression::dual_newton::DualProbe;
use crate::regression::pkawv_nystrom::ProjectionScratch;

/// Memory of a prediction, reused from call to call so that predicting allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(crate) probe: Probe,
    pub(crate) features: AlignedVec,
    pub(crate) work: AlignedVec,
    pub(crate) dual: DualProbe,
    pub(crate) projection: ProjectionScratch,
    pub(crate) scaled: Vec<f64>,
}

/// A learner of `y ≈ f(x)` from a stream: predict `ŷ_t`, suffer `(ŷ_t − y_t)²`, update.
pub trait Regressor {
    /// Input dimension `d`.
    fn dimension(&self) -> usize;

    /// Number of points stored, or of random features for a learner that stores none.
    fn dictionary_size(&self) -> usize;

    /// `ŷ = f_t(x)`. Never changes the learner, never allocates once `scratch` has grown to its size.
    ///
    /// # Errors
    /// When `x` has another dimension or a coordinate that is not finite, or the kernel overflows.
    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error>;

    /// `ŷ = f_t(x)` in the convenient form: [`predict_with`](Self::predict_with) with fresh memory.
    ///
    /// # Errors
    /// As [`predict_with`](Self::predict_with).
    fn predict(&self, x: &[f64]) -> Result<f64, Error> {
        self.predict_with(x, &mut Scratch::default())
    }

    /// The prequential step: predicts `x`, then learns `(x, y)`, sharing the work of both; returns the prediction.
    ///
    /// # Errors
    /// As [`predict_with`](Self::predict_with), and when `y` or the update is not finite. The learner is then unchanged.
    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error>;

    /// Learns the rows of a block in order, as [`predict_then_update`](Self::predict_then_update) would one by one, and
    /// appends their predictions. Learners that can share work between rows known in advance do.
    ///
    /// Predictions agree to rounding: bit for bit where the learner only looks ahead, and where it makes several changes of an
    /// inverse `P` at once to about ε = 2.2e-16 times the condition number of `P`, which for a ridge `λ` is at most `1 + Σ‖φ‖²/λ`.
    /// That is below 1e-10 while `Σ‖φ‖²/λ` is below 4e5, and the gap is usually far smaller than the bound; neither way is nearer
    /// the exact fit.
    ///
    /// `xs` is row-major, `d` numbers for each target.
    ///
    /// # Errors
    /// The first refused row's; the rows before it are learnt and `predictions` tells how many they are.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        check_block(xs, ys, self.dimension())?;
        for (x, y) in xs.chunks_exact(self.dimension().max(1)).zip(ys) {
            predictions.push(self.predict_then_update(x, *y)?);
        }
        Ok(())
    }

    /// Lets [`learn_block`](Self::learn_block) use up to this many threads, one until it is told otherwise; predictions agree to
    /// rounding, as they do for blocks. Learners whose blocked pass has nothing to share out go on with one.
    fn set_threads(&mut self, threads: usize) {
        let _ = threads;
    }

    /// Learns one example.
    ///
    /// # Errors
    /// As [`predict_then_update`](Self::predict_then_update).
    fn update(&mut self, x: &[f64], y: f64) -> Result<(), Error> {
        self.predict_then_update(x, y).map(drop)
    }
}

/// Refuses a block whose inputs and targets do not fit together.
pub(crate) fn check_block(xs: &[f64], ys: &[f64], dimension: usize) -> Result<(), Error> {
    if xs.len() == ys.len() * dimension {
        Ok(())
    } else {
        Err(Error::Block { inputs: xs.len(), rows: ys.len(), dimension })
    }
}

/// Refuses an example that is not finite or of another dimension.
pub(crate) fn check_example(x: &[f64], y: f64, dimension: usize) -> Result<(), Error> {
    check_input(x, dimension)?;
    if y.is_finite() { Ok(()) } else { Err(Error::NonFiniteTarget(y)) }
}
