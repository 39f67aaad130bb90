//! One pass over a series: predict, score, observe, and the lines that tell the predictions.

mod lines;
mod looks;

use std::fmt;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

#[cfg(feature = "serve")]
use mercer_encoding::Cell;
use mercer_forecast::{ConformalIntervals, Error, ForecastScratch, Forecaster, HorizonIntervals, Seasons};
use mercer_session::model::Prediction;
use mercer_session::series::{RowLook, UsualShare};

use super::columns::SeriesColumns;
use super::feed::SeriesFeed;
use super::overshoots::Overshoots;
use super::times::TimeMemory;
use crate::report::failure::Failure;
pub(crate) use looks::SeriesAhead;

/// Options of a pass beside its model.
#[derive(Clone, Default)]
pub(crate) struct PassOptions {
    /// Rows ahead that each row is to be forecast.
    pub(super) steps: Option<NonZeroUsize>,
    /// The inputs of the rows behind the last.
    pub(super) future: Vec<f64>,
    /// Probabilities whose quantiles are told.
    pub(super) quantiles: Vec<f64>,
    /// The share of the values that are usual, if others are to be flagged.
    pub(super) usual: Option<UsualShare>,
    /// True if the parts of forecasts are wanted.
    pub(super) explains: bool,
}

impl PassOptions {
    /// Those of a pass that flags values beyond the band of the usual ones.
    #[cfg(feature = "serve")]
    pub(crate) fn judging(usual: Option<UsualShare>) -> Self {
        Self { usual, ..Self::default() }
    }
}

/// A forecaster on its way through a series.
#[derive(Clone)]
pub(crate) struct SeriesPass {
    /// The name before its lines, where it is none of the groups.
    name: Option<&'static str>,
    model: Prediction,
    columns: SeriesColumns,
    /// Rows observed before this run.
    before: usize,
    steps: Option<usize>,
    scratch: ForecastScratch,
    input: Vec<f64>,
    output: Vec<f64>,
    /// The prediction of the last row, made before it was seen, and the reach of its intervals.
    prediction: Vec<f64>,
    band: Vec<Option<[f64; 2]>>,
    /// Probabilities whose quantiles season mixtures tell, and those of the last row, output by
    /// output. The first two are the ends of the intervals if there are some, which held so much of
    /// each output: rows, and those inside.
    probabilities: Vec<f64>,
    levels: Vec<Option<Vec<f64>>>,
    has_ends: bool,
    held: Vec<[u64; 2]>,
    /// The share that is usual, and whether parts are wanted; the last row by them.
    usual: Option<UsualShare>,
    explains: bool,
    look: RowLook,
    /// The inputs of the rows to come, one after the other, where they are known.
    future: Vec<f64>,
    /// The forecast behind the last row, where every row is forecast so far ahead; empty otherwise.
    coming: Vec<f64>,
    time: Duration,
    overshoots: Overshoots,
}

/// Most steps that have intervals: forecasts wait for their rows.
const MOST_STEPS: usize = 1000;

/// Why a row could not be taken.
pub(crate) enum RowFailure {
    MissingInput(String),
    Overflow,
    Refused(Error),
}

impl<E: Into<Error>> From<E> for RowFailure {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl RowFailure {
    /// The same with its place.
    pub(super) fn at(self, place: &str) -> Failure {
        Failure::because(format!("{place}: {self}"))
    }
}

impl fmt::Display for RowFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingInput(name) => {
                write!(f, "the input {name:?} has no value; fill it (outputs may be missing, inputs not)")
            }
            Self::Overflow => f.write_str("the squared error overflows; scale the series"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

/// A description of the inputs that are lacking where a forecast of so many steps needs more than
/// `told` numbers.
fn unknown_inputs(model: &Prediction, steps: usize, told: usize) -> Option<String> {
    let (q, rows) = (model.forecaster.inputs(), if model.forecaster.feed_through() { steps } else { steps - 1 });
    (told < rows * q).then(|| format!("needs the inputs of {rows} rows to come, and {} are known", told / q))
}

impl SeriesPass {
    pub(crate) fn new(mut model: Prediction, columns: SeriesColumns, wanted: PassOptions) -> Result<Self, Failure> {
        let PassOptions { steps, future, quantiles, usual, explains } = wanted;
        let (m, q) = (columns.outputs.len(), columns.inputs.len());
        let ahead = steps.map_or(1, usize::from);
        if let (Some(intervals), 2..) = (&model.intervals, ahead) {
            if ahead > MOST_STEPS {
                return Err(Failure::usage(format!(
                    "--steps {ahead} with --intervals: intervals are kept for {MOST_STEPS} steps at most; lower --steps, or leave --intervals out"
                )));
            }
            let refused = |error| Failure::usage(format!("--intervals: {error}"));
            let further = match model.further.take() {
                Some(further) => further,
                None => HorizonIntervals::new(m, ahead, *intervals.params()).map_err(refused)?,
            };
            model.further.insert(further).extend(ahead).map_err(refused)?;
        }
        let share = model.season_share();
        let tails = share.into_iter().map(|share| [0.5 - share / 2.0, 0.5 + share / 2.0]);
        Ok(Self {
            name: None,
            before: model.forecaster.time(),
            model,
            columns,
            steps: steps.map(usize::from),
            scratch: ForecastScratch::default(),
            input: vec![0.0; q],
            output: vec![0.0; m],
            prediction: vec![0.0; m],
            band: vec![None; m],
            probabilities: tails.flatten().chain(quantiles).collect(),
            levels: vec![None; m],
            has_ends: share.is_some(),
            held: vec![[0; 2]; m],
            usual,
            explains,
            look: RowLook::default(),
            future,
            coming: Vec::new(),
            time: Duration::ZERO,
            overshoots: Overshoots::default(),
        })
    }

    /// The same with a name before its lines.
    pub(super) fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Takes the inputs of the rows to come, of which a forecast of so many steps is asked for.
    #[cfg(feature = "serve")]
    pub(crate) fn await_inputs(&mut self, steps: usize, inputs: Vec<f64>) -> Result<(), String> {
        match unknown_inputs(&self.model, steps, inputs.len()) {
            Some(unknown) => Err(format!("a forecast {steps} steps ahead {unknown}; send them as \"inputs\"")),
            None => {
                self.future = inputs;
                Ok(())
            }
        }
    }

    /// Knows the inputs of the rows to come.
    pub(super) fn foresee(&mut self, inputs: Vec<f64>) {
        self.future = inputs;
    }

    /// Comes to forecast so many steps, where the inputs of all of them are known: those of the
    /// planned rows, and behind them those that the pass has.
    pub(super) fn plan(&mut self, steps: usize, planned: impl Iterator<Item = f64>) -> Result<(), Failure> {
        self.future.splice(..0, planned);
        if let Some(unknown) = unknown_inputs(&self.model, steps, self.future.len()) {
            return Err(Failure::usage(format!(
                "--steps {steps} {unknown}; give them in --future FILE, or append rows with them and empty outputs"
            )));
        }
        self.steps = Some(steps);
        Ok(())
    }

    /// Predicts, scores and learns one row; the clock of the result runs only here.
    pub(crate) fn step(&mut self, row: &[f64]) -> Result<(), RowFailure> {
        if let Some(name) = self.columns.missing_input(row) {
            return Err(RowFailure::MissingInput(name.to_owned()));
        }
        for (value, &column) in self.input.iter_mut().zip(&self.columns.inputs) {
            *value = row[column];
        }
        for (value, &column) in self.output.iter_mut().zip(&self.columns.outputs) {
            *value = row[column];
        }
        let seen = self.model.seen().after([row, &[]]);
        let warm = self.model.forecaster.warmed_up();
        let start = Instant::now();
        // Of the time before the row is seen.
        let reaches: Vec<Option<Reach>> = (0..self.output.len()).map(|output| self.reach(output, 1)).collect();
        let foresight = self.model.foresee(&self.input, self.usual, self.explains)?;
        let Prediction { forecaster, intervals, further, errors, fingerprint, .. } = &mut self.model;
        forecaster.predict_then_observe(&self.input, &self.output, &mut self.prediction)?;
        self.look = foresight.around(&self.prediction);
        for (output, reach) in reaches.into_iter().enumerate() {
            self.levels[output] = reach.map(|reach| reach.around(self.prediction[output]));
            if !self.has_ends {
                continue;
            }
            self.band[output] = ends_of(self.levels[output].as_deref());
            if let Some([low, high]) = self.band[output].filter(|_| !self.output[output].is_nan()) {
                self.held[output][0] += 1;
                self.held[output][1] += u64::from((low..=high).contains(&self.output[output]));
            }
        }
        if let Some(intervals) = intervals {
            for (output, end) in self.band.iter_mut().enumerate() {
                *end = around(self.prediction[output], intervals.radius(output));
            }
            if warm {
                intervals.observe(&self.prediction, &self.output)?;
            }
        }
        if let Some(further) = further {
            // Before the first row nothing was foretold.
            further.observe(&self.output)?;
            self.coming = forecaster.forecast(further.steps(), &[])?;
            further.foretell(if forecaster.warmed_up() { &self.coming } else { &[] })?;
        }
        self.time += start.elapsed();
        self.overshoots.take(seen.rows as usize, &self.prediction, &self.output);
        *fingerprint = seen.fingerprint;
        if seen.rows > errors.warm_up {
            let mut scored = *errors;
            for (y, prediction) in self.output.iter().zip(&self.prediction).filter(|(y, _)| !y.is_nan()) {
                scored.sum += (y - prediction) * (y - prediction);
                scored.scored += 1;
            }
            if !scored.sum.is_finite() {
                return Err(RowFailure::Overflow);
            }
            *errors = scored;
        }
        Ok(())
    }

    /// The reach of quantiles from the forecast of an output so many steps ahead; `None` where
    /// there are none.
    fn reach(&self, output: usize, step: usize) -> Option<Reach> {
        let seasons = self.seasons().filter(|seasons| seasons.mixture(output).warmed_up())?;
        let offsets = self.probabilities.iter().map(|p| seasons.offset(output, *p, step)).collect();
        Some(Reach { offsets, floor: seasons.floor(output).unwrap_or(f64::NEG_INFINITY) })
    }

    /// A remark on forecasts that were beyond everything seen.
    pub(super) fn overshoot(&self) -> Option<String> {
        self.overshoots.note(&self.model.method)
    }

    /// The next `steps` rows, one after the other.
    pub(crate) fn forecast(&mut self, steps: usize) -> Result<Vec<f64>, RowFailure> {
        if let Some(known) = self.coming.get(..steps * self.output.len()) {
            return Ok(known.to_vec());
        }
        if steps == 1 && self.input.is_empty() {
            let mut next = vec![0.0; self.output.len()];
            self.model.forecaster.predict_with(&[], &mut next, &mut self.scratch)?;
            return Ok(next);
        }
        // The last input does nothing without feed-through.
        let mut inputs = self.future.clone();
        inputs.resize(steps * self.input.len(), 0.0);
        Ok(self.model.forecaster.forecast(steps, &inputs)?)
    }

    /// Probabilities whose quantiles are told beside intervals.
    pub(super) fn quantiles(&self) -> &[f64] {
        &self.probabilities[if self.has_ends { 2 } else { 0 }..]
    }

    /// The intervals of a forecast of so many steps, if there are any.
    fn intervals(&self, step: usize) -> Option<&ConformalIntervals> {
        match step {
            1 => self.model.intervals.as_ref(),
            _ => self.model.further.as_ref()?.horizon(step),
        }
    }

    /// The ends of the intervals of a row that is forecast so many steps ahead, where there are
    /// some.
    pub(crate) fn ends(&self, step: usize, row: &[f64]) -> Vec<Option<[f64; 2]>> {
        let end = |(output, value): (usize, &f64)| {
            if self.has_ends {
                return ends_of(Some(&self.reach(output, step)?.around(*value)));
            }
            around(*value, self.intervals(step)?.radius(output))
        };
        row.iter().enumerate().map(end).collect()
    }

    /// True if rows have intervals.
    pub(crate) fn has_intervals(&self) -> bool {
        self.has_ends || self.model.intervals.is_some()
    }

    /// The share of values that the intervals are to hold, if there are some.
    #[cfg(feature = "serve")]
    pub(crate) fn interval_share(&self) -> Option<f64> {
        self.model.season_share().or_else(|| Some(self.model.intervals.as_ref()?.params().coverage))
    }

    /// The season mixtures, if the forecaster is made of them.
    pub(crate) fn seasons(&self) -> Option<&Seasons> {
        self.model.seasons()
    }

    /// The quantile of `p` of a row that is forecast so many steps ahead, of season mixtures.
    pub(super) fn quantile(&self, p: f64, step: usize, row: &[f64]) -> Option<Vec<f64>> {
        let seasons = self.seasons()?;
        Some(row.iter().enumerate().map(|(output, value)| seasons.quantile(output, p, step, *value)).collect())
    }

    /// Outputs that had no value yet.
    pub(super) fn silent(&self) -> impl Iterator<Item = usize> {
        (0..self.output.len()).filter(|output| !self.model.forecaster.has_value(*output))
    }

    /// The shortest season of an output: that of the forecaster, or else of the times.
    pub(super) fn period(&self, feed: &SeriesFeed, output: usize) -> Option<usize> {
        let of_times = || feed.clock()?.step()?.periods().first().copied();
        match self.seasons() {
            Some(seasons) => seasons.mixture(output).periods().first().copied(),
            None => of_times(),
        }
    }

    pub(crate) fn model(&self) -> &Prediction {
        &self.model
    }

    /// Takes a row of this time, behind the missing ones before it.
    ///
    /// # Errors
    /// The pass and the times are then what they were.
    #[cfg(feature = "serve")]
    pub(crate) fn step_at(&mut self, times: &mut TimeMemory, time: Cell<'_>, values: &[f64]) -> Result<(), String> {
        let (after, mut course) = times.after(time, values)?;
        // What is refused behind missing rows leaves the pass as it was.
        let mut gone_on = (after.put_in() > times.put_in()).then(|| self.clone());
        let (inputs, mut row) = (self.columns.inputs.clone(), Vec::new());
        while after.next(&mut course, &inputs, &mut row) {
            let learner = gone_on.as_mut().unwrap_or(&mut *self);
            learner.step(&row).map_err(|why| why.to_string())?;
        }
        if let Some(gone_on) = gone_on {
            *self = gone_on;
        }
        *times = after;
        Ok(())
    }

    /// Has the model keep the times of its rows.
    pub(crate) fn keep(&mut self, times: &TimeMemory) {
        let Some(kept) = times.kept(self.rows()) else { return };
        self.model.own.retain(|(key, _)| *key != kept.0);
        self.model.own.push(kept);
    }

    /// True if a row's own input is needed to predict it.
    pub(super) fn feeds_through(&self) -> bool {
        self.model.forecaster.feed_through()
    }

    pub(crate) fn columns(&self) -> &SeriesColumns {
        &self.columns
    }

    /// Share of every output's values within their intervals so far.
    pub(super) fn coverage(&self) -> Option<Vec<f64>> {
        if self.has_ends {
            return Some(self.held.iter().map(|[rows, inside]| *inside as f64 / *rows as f64).collect());
        }
        let intervals = self.model.intervals.as_ref()?;
        Some((0..self.output.len()).map(|output| intervals.coverage(output)).collect())
    }

    /// The same of forecasts of 2, 3, … steps, in order; null before the first.
    pub(super) fn coverage_further(&self) -> Option<Vec<Vec<f64>>> {
        let further = self.model.further.as_ref()?;
        let share = |of: &ConformalIntervals| (0..self.output.len()).map(|output| of.coverage(output)).collect();
        Some((2..=further.steps()).filter_map(|step| further.horizon(step).map(share)).collect())
    }

    /// Steps that the last row is forecast, if that is asked for.
    pub(super) fn steps(&self) -> Option<usize> {
        self.steps
    }

    /// Steps that each row is forecast in a stream.
    pub(super) fn ahead(&self) -> usize {
        self.steps.unwrap_or(1)
    }

    /// Rows observed, those of earlier runs among them.
    pub(crate) fn rows(&self) -> usize {
        self.model.forecaster.time()
    }

    /// Rows observed in this run.
    pub(super) fn rows_now(&self) -> usize {
        self.rows() - self.before
    }

    /// The values of the last row, and its predictions, made before it was seen.
    pub(crate) fn last(&self) -> [&[f64]; 2] {
        [&self.output, &self.prediction]
    }

    /// The inputs of the last row.
    pub(super) fn last_input(&self) -> &[f64] {
        &self.input
    }

    /// The ends of the intervals around those.
    pub(crate) fn band(&self) -> &[Option<[f64; 2]>] {
        &self.band
    }

    /// True if the last row is behind the warm-up.
    pub(super) fn is_scored(&self) -> bool {
        self.model.seen().rows > self.model.errors.warm_up
    }

    pub(super) fn time(&self) -> Duration {
        self.time
    }
}

/// The distances of the quantiles of a season mixture from a forecast.
struct Reach {
    offsets: Vec<f64>,
    floor: f64,
}

impl Reach {
    fn around(&self, value: f64) -> Vec<f64> {
        self.offsets.iter().map(|offset| (value + offset).max(self.floor)).collect()
    }
}

/// The ends of an interval, which are the first of the quantiles.
fn ends_of(levels: Option<&[f64]>) -> Option<[f64; 2]> {
    levels?.first_chunk().copied()
}

fn around(value: f64, radius: f64) -> Option<[f64; 2]> {
    radius.is_finite().then_some([value - radius, value + radius])
}
