//! Least squares upon past outputs with epochs: what OPF, sample discounting and windowed SLIP
//! share.
//!
//! One factor serves every number of lags: it is kept for as many lags as there will ever be, over
//! rows in which lags before the beginning of the series are zero, and the current `p` lags read
//! its leading block. The estimator of `p` lags is over the rows `t ≥ p` (none of them padded). So
//! when an epoch ends, the rows `t = p_l … p_{l+1} − 1` have to go. While the beginning of the
//! series is still remembered (a bounded stretch) they go by rebuilding the factor from it; later
//! each is taken back. Taking back a row that alone knew a direction would leave few digits: such a
//! row stays, and is tried again at the next epoch.
//!
//! Every row is swept through the whole factor, since columns that later epochs read must have seen
//! all of the past.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_linalg_incremental::{AlignedVec, SquareRootRls};

use crate::Error;
use crate::forecaster::check_finite;
use crate::lags::{Forgetting, LagWeights, LagWindow, SystemShape};
use crate::seen_range::SeenRange;
use crate::{Epoch, EpochSchedule, ForecastScratch};

/// Rows remembered from the beginning, for each coordinate of the factor: with that many a row
/// seldom stands alone.
const REMEMBERED: usize = 4;

/// Rows for which room is made at once; a warm-up that is longer makes its room as it goes.
const ROOM: usize = 1 << 16;

/// Coordinates of the largest factor, a quarter of a gigabyte.
const LARGEST_FACTOR: usize = 8192;

/// Least part of the unit pivot that is left for a row to be taken back: six digits may go.
const LEAST_PIVOT: f64 = 1e-6;

/// Weights of `λ` and of past rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Weighting {
    pub(super) lambda: f64,
    /// A row counts `α` of what it counted the step before.
    pub(super) alpha: f64,
    /// True if `λ` is discounted with the rows.
    pub(super) discount_lambda: bool,
}

impl Weighting {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_lambda(self.lambda)?;
        let inside = self.alpha > 0.0 && self.alpha <= 1.0;
        ParameterError::require(inside, "alpha", "a number above 0 and at most 1", self.alpha).map(drop)
    }
}

/// A regulariser far below all numbers would let a row outweigh everything before it.
pub(super) fn check_lambda(lambda: f64) -> Result<f64, ParameterError> {
    ParameterError::require((1e-40..=1e40).contains(&lambda), "lambda", "a number between 1e-40 and 1e40", lambda)
}

/// A factor that does not fit memory is refused before it is made.
pub(super) fn check_coordinates(n: usize) -> Result<usize, ParameterError> {
    let requirement = "at most 8192 (take fewer outputs; or lower beta, max_lags or rank)";
    ParameterError::require(n <= LARGEST_FACTOR, "coordinates", requirement, n as f64).map(|_| n)
}

/// Memory of a step, which is no part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct RegressionMemory {
    pub(super) scratch: ForecastScratch,
    /// The output as it is kept, `y` with the prediction in place of what is missing.
    pub(super) kept: Vec<f64>,
    row: AlignedVec,
    /// A prediction nobody asked for.
    pub(super) sink: Vec<f64>,
}

/// The regression and the series' recent past.
///
/// # Invariants
/// `factor` holds the rows `current.lags ≤ t < time` that were observed in full, and those of
/// `held`, each weighed `α^(time − 1 − t)`; `λ`, if discounted, weighs `α^time`. `beginning` holds
/// the first outputs and inputs, `channels` numbers a row, as many as `remembered` allows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LagRegression {
    pub(super) shape: SystemShape,
    schedule: EpochSchedule,
    weighting: Weighting,
    scaling: LagWeights,
    pub(super) window: LagWindow,
    pub(super) factor: SquareRootRls,
    pub(super) time: usize,
    /// The lags and the beginning of the epoch to come while the warm-up lasts, of the running one
    /// after it.
    current: Epoch,
    pub(super) epochs: Vec<Epoch>,
    beginning: Vec<f64>,
    /// Which rows of the beginning were not regressed upon.
    missing: Vec<bool>,
    remembered: usize,
    held: Vec<usize>,
    range: SeenRange,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) work: RegressionMemory,
}

impl Validate for LagRegression {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "regression upon lags";
        self.shape.validate()?;
        self.schedule.validate()?;
        Inconsistent::require(self.weighting.check().is_ok(), WHAT, "its weights are in their ranges")?;
        self.factor.validate()?;
        // The factor backs the lags; only then may they be multiplied.
        let (lags, n) = (self.schedule.limit(), self.factor.dimension());
        let fits = lags <= n && self.shape.channels() <= n && self.shape.coordinates(lags) == n;
        Inconsistent::require(fits, WHAT, "its factor has a row for each lag")?;
        Inconsistent::require(self.factor.outputs() == self.shape.outputs, WHAT, "its factor has every output")?;
        self.scaling.validate(self.shape, lags)?;
        self.window.validate(self.shape, lags)?;
        self.range.validate(self.shape.outputs)?;
        self.current.validate()?;
        self.epochs.validate()?;
        let begun = self.current.lags <= lags && self.current.start < usize::MAX / 4 && self.time < usize::MAX / 4;
        Inconsistent::require(begun, WHAT, "its epoch is one of the schedule")?;
        self.beginning.validate()?;
        let remembered = self.remembered == remembered(n, lags, &self.schedule)
            && self.missing.len() == self.time.min(self.remembered)
            && self.beginning.len() == self.missing.len() * self.shape.channels()
            && self.held.iter().all(|row| *row < self.missing.len());
        Inconsistent::require(remembered, WHAT, "it remembers the beginning of its series")
    }
}

/// Number of rows of the beginning that are remembered.
fn remembered(n: usize, lags: usize, schedule: &EpochSchedule) -> usize {
    (REMEMBERED * n).max(2 * lags).max(schedule.first_start())
}

impl LagRegression {
    pub(super) fn new(
        shape: SystemShape,
        schedule: EpochSchedule,
        weighting: Weighting,
        outputs: &Forgetting,
        inputs: &Forgetting,
    ) -> Result<Self, ParameterError> {
        ParameterError::at_least_one("outputs", shape.outputs)?;
        schedule.check()?;
        weighting.check()?;
        let lags = schedule.limit();
        let n = check_coordinates(shape.front().saturating_add(lags.saturating_mul(shape.channels())))?;
        let scaling = LagWeights::new(shape, lags, outputs, inputs)?;
        let remembered = remembered(n, lags, &schedule);
        Ok(Self {
            shape,
            schedule,
            weighting,
            scaling,
            window: LagWindow::new(shape, lags),
            factor: SquareRootRls::new(&vec![weighting.lambda; n], shape.outputs),
            time: 0,
            current: schedule.epoch(schedule.first_start()),
            epochs: Vec::with_capacity(usize::BITS as usize),
            beginning: Vec::with_capacity(remembered.min(ROOM) * shape.channels()),
            missing: Vec::with_capacity(remembered.min(ROOM)),
            remembered,
            held: Vec::with_capacity(lags),
            range: SeenRange::new(shape.outputs),
            work: RegressionMemory::default(),
        })
    }

    pub(super) fn warmed_up(&self) -> bool {
        !self.epochs.is_empty()
    }

    pub(super) fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// The current `p`; while the warm-up lasts, that of the first epoch.
    pub(super) fn lags(&self) -> usize {
        self.current.lags
    }

    /// Coordinates of the current regression.
    pub(super) fn leading(&self) -> usize {
        self.shape.coordinates(self.current.lags)
    }

    /// The row of the current time.
    pub(super) fn row(&self, input: &[f64], row: &mut AlignedVec) {
        self.window.row(&self.scaling, input, row);
    }

    /// The regression's prediction, the last output while the warm-up lasts; returns `τ` of the
    /// row.
    pub(super) fn predict(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> f64 {
        self.row(input, &mut scratch.row);
        let tau = self.factor.predict(&scratch.row, self.leading(), prediction, &mut scratch.factor);
        if !self.warmed_up() {
            prediction.copy_from_slice(self.window.last());
        }
        tau
    }

    /// The prequential step of the regression itself. The observation has been checked.
    pub(super) fn predict_then_observe(
        &mut self,
        input: &[f64],
        output: &[f64],
        prediction: &mut [f64],
    ) -> Result<(), Error> {
        let fused = self.warmed_up() && self.weighting.alpha == 1.0 && self.regresses(output);
        if !fused {
            let mut scratch = std::mem::take(&mut self.work.scratch);
            self.predict(input, prediction, &mut scratch);
            self.work.scratch = scratch;
            check_finite(prediction)?;
            return self.observe(input, output, prediction);
        }
        let mut row = std::mem::take(&mut self.work.row);
        self.row(input, &mut row);
        let leading = self.leading();
        let scratch = &mut self.work.scratch.factor;
        let step = self.factor.predict_then_update(&row, output, leading, prediction, scratch);
        self.work.row = row;
        step.map_err(|_| ExampleError::Diverged)?;
        self.work.kept.clear();
        self.work.kept.extend_from_slice(output);
        self.range.see(output);
        self.advance(input, false);
        Ok(())
    }

    /// Takes in an observation; `prediction` stands for what is missing of the output.
    pub(super) fn observe(&mut self, input: &[f64], output: &[f64], prediction: &[f64]) -> Result<(), Error> {
        self.range.impute(output, prediction, &mut self.work.kept)?;
        let regresses = self.regresses(output);
        let mut row = std::mem::take(&mut self.work.row);
        self.row(input, &mut row);
        let step = self.learn(&mut row, output, regresses);
        self.work.row = row;
        step?;
        self.range.see(output);
        self.advance(input, !regresses);
        Ok(())
    }

    /// True if the row of the current time enters the regression: its lags are all there, and so is
    /// its output.
    pub(super) fn regresses(&self, output: &[f64]) -> bool {
        self.time >= self.current.lags && !output.iter().any(|y| y.is_nan())
    }

    /// `V ← αV + φφᵀ`, and `(1 − α)λI` more when `λ` is not discounted. A row that is not regressed
    /// upon still lets time pass. The row is scaled by `1/√α` first and everything by `α` then, so
    /// that a row that is refused has changed nothing.
    fn learn(&mut self, row: &mut AlignedVec, output: &[f64], regresses: bool) -> Result<(), Error> {
        let Weighting { lambda, alpha, discount_lambda } = self.weighting;
        let scratch = &mut self.work.scratch.factor;
        if regresses {
            let up = 1.0 / alpha.sqrt();
            if alpha < 1.0 {
                row.iter_mut().for_each(|value| *value *= up);
            }
            let sink = &mut self.work.sink;
            sink.clear();
            sink.extend(output.iter().map(|y| y * up));
            self.factor.update(row, sink, scratch).map_err(|_| ExampleError::Diverged)?;
        }
        if alpha < 1.0 {
            self.factor.scale(alpha, lambda * 1e-200);
            if !discount_lambda {
                let outputs = &mut self.work.sink;
                outputs.clear();
                outputs.resize(self.shape.outputs, 0.0);
                row.fill(0.0);
                for i in 0..row.len() {
                    row[i] = (lambda * (1.0 - alpha)).sqrt();
                    self.factor.update(row, outputs, scratch).map_err(|_| ExampleError::Diverged)?;
                    row[i] = 0.0;
                }
            }
        }
        Ok(())
    }

    /// Time passes: the output as kept becomes a lag, and an epoch may begin.
    fn advance(&mut self, input: &[f64], missing: bool) {
        self.window.push(&self.work.kept, input);
        if self.missing.len() < self.remembered {
            self.beginning.extend_from_slice(&self.work.kept);
            self.beginning.extend_from_slice(input);
            self.missing.push(missing);
        }
        self.time += 1;
        if !self.warmed_up() {
            if self.time == self.current.start {
                self.epochs.push(self.current);
            }
        } else if self.time == EpochSchedule::next_start(self.current.start) {
            let next = self.schedule.epoch(self.time);
            self.lengthen(next.lags);
            self.current = next;
            self.epochs.push(next);
        }
    }

    /// Leaves to the regression only the rows that `lags` lags may use.
    fn lengthen(&mut self, lags: usize) {
        let gone = self.current.lags..lags;
        self.current.lags = lags;
        if gone.is_empty() && self.held.is_empty() {
            return;
        }
        if self.time <= self.remembered {
            self.rebuild();
            return;
        }
        let rows: Vec<usize> = self.held.drain(..).chain(gone).filter(|t| !self.missing[*t]).collect();
        for t in rows {
            if !self.take_back(t) {
                self.held.push(t);
            }
        }
    }

    /// The factor anew, from the beginning of the series.
    fn rebuild(&mut self) {
        let now = self.window.clone();
        self.factor.restart(&vec![self.weighting.lambda; self.factor.dimension()]);
        self.held.clear();
        let mut row = AlignedVec::new();
        for t in 0..self.time {
            self.past_row(t, &mut row);
            let output = self.past_output(t).to_vec();
            // Each row was in range when it was learnt with fewer lags; should one not be now, it
            // is left out.
            let _ = self.learn(&mut row, &output, t >= self.current.lags && !self.missing[t]);
        }
        self.window = now;
    }

    /// Takes row `t` back with the weight that it has by now; says whether that could be done.
    fn take_back(&mut self, t: usize) -> bool {
        let now = self.window.clone();
        let mut row = AlignedVec::new();
        self.past_row(t, &mut row);
        self.window = now;
        let root = self.weighting.alpha.powf((self.time - 1 - t) as f64 / 2.0);
        row.iter_mut().for_each(|value| *value *= root);
        let output: Vec<f64> = self.past_output(t).iter().map(|y| y * root).collect();
        self.factor.downdate(&row, &output, LEAST_PIVOT, &mut self.work.scratch.factor).is_ok()
    }

    /// The row of time `t`, as it was; leaves the window there.
    fn past_row(&mut self, t: usize, row: &mut AlignedVec) {
        let c = self.shape.channels();
        self.window.replay(&self.beginning, t);
        let input = t * c + self.shape.outputs..(t + 1) * c;
        self.window.row(&self.scaling, &self.beginning[input], row);
    }

    fn past_output(&self, t: usize) -> &[f64] {
        let first = t * self.shape.channels();
        &self.beginning[first..first + self.shape.outputs]
    }

    /// Rows that the current epoch should not have, but which could not be taken back.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Coefficients of unscaled lags, a row an output.
    pub(super) fn coefficients(&self) -> Vec<f64> {
        let (n, front) = (self.leading(), self.shape.front());
        let mut coefficients = vec![0.0; n * self.shape.outputs];
        self.factor.coefficients(n, &mut coefficients);
        for row in coefficients.chunks_exact_mut(n) {
            self.scaling.unscale(&mut row[front..]);
        }
        coefficients
    }

    /// `λ tr V⁻¹` of the current lags.
    pub(super) fn regulariser_trace(&self) -> f64 {
        let mut unit = AlignedVec::zeros(self.factor.dimension());
        let (mut scratch, mut sink) = (ForecastScratch::default(), vec![0.0; self.shape.outputs]);
        let mut trace = 0.0;
        for i in 0..self.leading() {
            unit[i] = 1.0;
            trace += self.factor.predict(&unit, self.leading(), &mut sink, &mut scratch.factor) - 1.0;
            unit[i] = 0.0;
        }
        self.weighting.lambda * trace
    }
}
