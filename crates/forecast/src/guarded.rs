//! Forecasters that no row, and no run of rows, can ruin.
//!
//! **Wrong values.** An output that is implausible by those before it ([`OutlierScreen`]) counts as
//! missing, and so does an exact value that comes again and again far beyond the others.
//!
//! In the first ten rows nothing is implausible when it comes: a value that turns out to be far
//! beyond all others of them counts as missing then, and the rows are observed anew.
//!
//! **New levels.** Values that stay at a new level pass. A copy of the forecaster then starts anew
//! on them, since coefficients that have met a jump of a million deviations would need as many
//! rows to forget it; it sees the first of them as 0. What was learnt before is put aside for
//! [`TRIAL`] rows: it goes on where the values return within them, and the rows of the trial count
//! as missing. So it is where an output leaves a constant and where a column has its first value
//! after others, but without a way back.
//!
//! **Gaps.** An output without a value so far counts as 0, so that the others are learnt, and one
//! that is missing for more than [`LONG`] rows as its own prediction. One whose values are far
//! apart is forecast by itself (`rare_column.rs`). Predictions are kept within
//! ten widths of the range of late beyond its ends.
//!
//! Cost: a comparison a number, and a second, untaught copy of the forecaster.

use mercer_core::{Inconsistent, ParameterError, Validate, validate_nested};
use mercer_experts::OutlierScreen;

use crate::far_values::set_aside;
use crate::forecaster::{check_observation, check_prediction};
use crate::rare_column::RareColumn;
use crate::{Epoch, Error, ForecastScratch, Forecaster};

/// Rows that are looked at together for values far beyond the others.
const BEGINNING: usize = 10;

/// Rows without a return to the level before, after which a new level is one.
const TRIAL: usize = 50;

/// Rows after which a column that is missing is not waited for.
const LONG: u32 = 200;

/// Widths of the range of late within which predictions lie beyond it.
const REACH: f64 = 10.0;

/// A forecaster behind a screen for wrong values, new levels and gaps.
///
/// # Invariants
/// `fresh` has observed nothing. There is one screen, and one count of missing rows, for each
/// output.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "F: serde::Deserialize<'de>")))]
pub struct GuardedForecaster<F> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    inner: F,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    fresh: F,
    screens: Vec<OutlierScreen>,
    /// What the forecaster inside sees as 0: 0 at first, and the first value of a new level.
    origins: Vec<f64>,
    /// Rows since the last value; none before the first.
    missing: Vec<Option<u32>>,
    columns: Vec<RareColumn>,
    time: usize,
    /// Outputs and inputs of the first rows, until there are ten.
    beginning: Vec<f64>,
    held: u64,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    aside: Option<Box<SetAside<F>>>,
    /// The origins of the row that is being taken.
    #[cfg_attr(feature = "serde", serde(skip))]
    next_origins: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: ForecastScratch,
}

/// The state before a new level that is on trial.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "F: serde::Deserialize<'de>")))]
struct SetAside<F> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    inner: F,
    screens: Vec<OutlierScreen>,
    origins: Vec<f64>,
    /// The output that has a new level.
    output: usize,
    /// Rows of the trial, and their inputs.
    rows: usize,
    inputs: Vec<f64>,
}

/// What a row means to the forecaster inside.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SeriesEvent {
    Plain,
    /// This output has a new level, which is on trial.
    Enters(usize),
    /// The series is another from now on.
    Begins,
    /// The level before is back.
    Returns,
}

impl<F: Forecaster + Clone> GuardedForecaster<F> {
    /// `inner`, which has observed nothing, behind a guard.
    ///
    /// # Errors
    /// When `inner` has observed something.
    pub fn new(inner: F) -> Result<Self, Error> {
        let (time, outputs) = (inner.time(), inner.outputs());
        ParameterError::require(time == 0, "inner", "a forecaster that has observed nothing", time as f64)?;
        Ok(Self {
            fresh: inner.clone(),
            inner,
            screens: vec![OutlierScreen::default(); outputs],
            origins: vec![0.0; outputs],
            missing: vec![None; outputs],
            columns: vec![RareColumn::new(); outputs],
            time: 0,
            beginning: Vec::new(),
            held: 0,
            aside: None,
            next_origins: Vec::new(),
            work: Vec::new(),
            scratch: ForecastScratch::default(),
        })
    }

    /// The forecaster inside.
    #[must_use]
    pub fn inner(&self) -> &F {
        &self.inner
    }

    /// Values that were taken for wrong, and counted as missing.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// True if this output has had a value.
    #[must_use]
    pub fn has_value(&self, output: usize) -> bool {
        self.missing.get(output).is_some_and(Option::is_some)
    }

    /// Keeps a row of the beginning. At its end, values far beyond the others count as missing.
    fn begin(&mut self, input: &[f64], output: &[f64]) {
        if self.time > BEGINNING {
            return;
        }
        self.beginning.extend_from_slice(output);
        self.beginning.extend_from_slice(input);
        if self.time == BEGINNING {
            let rows = std::mem::take(&mut self.beginning);
            // A row that is refused was taken as it came, and so are all.
            if let Ok(Some(anew)) = self.without_far(rows, output.len() + input.len()) {
                *self = anew;
            }
        }
    }

    /// One that has observed these rows less what is far beyond the others, if anything is.
    fn without_far(&self, mut rows: Vec<f64>, width: usize) -> Result<Option<Self>, Error> {
        let (outputs, mut aside) = (self.outputs(), 0);
        for k in 0..outputs {
            let values = rows.chunks_exact(width).map(|row| Some(row[k]).filter(|y| !y.is_nan()));
            let mut values: Vec<Option<f64>> = values.collect();
            aside += set_aside(&mut values);
            rows.chunks_exact_mut(width).zip(values).for_each(|(row, y)| row[k] = y.unwrap_or(f64::NAN));
        }
        if aside == 0 {
            return Ok(None);
        }
        let mut anew = Self::new(self.fresh.clone())?;
        let unused = &mut vec![0.0; outputs];
        for row in rows.chunks_exact(width) {
            let (output, input) = row.split_at(outputs);
            anew.take(input, output, unused)?;
        }
        anew.held += aside as u64;
        Ok(Some(anew))
    }

    /// Predicts a row that is checked, and observes it.
    fn take(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        let event = self.event(output);
        let gone = |(y, missing): (&f64, &Option<u32>)| y.is_nan() && missing.is_some_and(|rows| rows > LONG);
        let ahead = event != SeriesEvent::Plain || output.iter().zip(&self.missing).any(gone);
        if ahead {
            let mut scratch = std::mem::take(&mut self.scratch);
            let predicted = self.predict_with(input, prediction, &mut scratch);
            self.scratch = scratch;
            predicted?;
        }
        let held = self.screened(event, output, prediction);
        let mut next = match (event, &self.aside) {
            (SeriesEvent::Enters(_) | SeriesEvent::Begins, _) => Some(self.fresh.clone()),
            (SeriesEvent::Returns, Some(aside)) => Some(self.returned(aside)?),
            _ => None,
        };
        if ahead {
            let unused = &mut vec![0.0; prediction.len()];
            next.as_mut().unwrap_or(&mut self.inner).predict_then_observe(input, &self.work, unused)?;
        } else {
            self.inner.predict_then_observe(input, &self.work, prediction)?;
            self.finish(prediction);
        }
        self.commit(event, next);
        self.held += held;
        for (k, y) in output.iter().enumerate() {
            if y.is_nan() {
                self.missing[k] = self.missing[k].map(|rows| rows.saturating_add(1));
                continue;
            }
            if self.screens[k].share(*y) == 1.0 {
                self.columns[k].see(*y, self.missing[k].map_or(1, |rows| rows.saturating_add(1)));
            }
            self.screens[k].observe(*y);
            self.missing[k] = Some(0);
        }
        if let Some(aside) = &mut self.aside {
            aside.rows += 1;
            aside.inputs.extend_from_slice(input);
        }
        self.aside = self.aside.take().filter(|aside| aside.rows < TRIAL);
        self.time += 1;
        Ok(())
    }

    fn event(&self, output: &[f64]) -> SeriesEvent {
        let values = || output.iter().zip(&self.screens).enumerate().filter(|(_, (y, _))| !y.is_nan());
        if let Some(aside) = &self.aside {
            let (y, screen) = (output[aside.output], &aside.screens[aside.output]);
            return if !y.is_nan() && screen.share(y) == 1.0 && !screen.stretches(y) {
                SeriesEvent::Returns
            } else {
                SeriesEvent::Plain
            };
        }
        let first = |(k, _): (usize, _)| self.missing[k].is_none();
        let leaves = |(_, (y, screen)): (usize, (&f64, &OutlierScreen))| {
            screen.waiting().is_some() && screen.range().is_some_and(|(constant, _)| constant != *y)
        };
        if self.inner.time() > 0 && (values().any(first) || values().any(leaves)) {
            return SeriesEvent::Begins;
        }
        let entered = values().find(|(_, (y, screen))| screen.stretches(**y));
        entered.map_or(SeriesEvent::Plain, |(k, _)| SeriesEvent::Enters(k))
    }

    /// The prediction in units of the series, within reach of the values of late, or that of a rare
    /// column by itself.
    fn finish(&self, prediction: &mut [f64]) {
        for (k, prediction) in prediction.iter_mut().enumerate() {
            *prediction += self.origins[k];
            if let Some(rare) = self.columns[k].prediction() {
                *prediction = rare;
                continue;
            }
            let screen = &self.screens[k];
            if let Some((low, high)) = screen.range().filter(|(low, high)| low < high) {
                let reach = REACH * (high - low);
                *prediction = prediction.clamp(low - reach, high + reach);
            }
        }
    }

    /// The output as the forecaster inside sees it, in `work`, and the number of values held back.
    fn screened(&mut self, event: SeriesEvent, output: &[f64], prediction: &[f64]) -> u64 {
        let before = self.aside.as_ref().filter(|_| event == SeriesEvent::Returns);
        let screens = before.map_or(&self.screens, |aside| &aside.screens);
        let mut origins = std::mem::take(&mut self.next_origins);
        origins.clear();
        origins.extend_from_slice(before.map_or(&self.origins, |aside| &aside.origins));
        if matches!(event, SeriesEvent::Enters(_) | SeriesEvent::Begins) {
            let values = origins.iter_mut().zip(output).filter(|(_, y)| !y.is_nan());
            values.for_each(|(origin, y)| *origin = *y);
        }
        self.work.clear();
        let mut held = 0;
        for (k, y) in output.iter().enumerate() {
            let wrong = !y.is_nan() && screens[k].share(*y) < 1.0;
            held += u64::from(wrong);
            let rare = self.columns[k].prediction().filter(|_| y.is_nan() || wrong);
            self.work.push(match (self.missing[k], rare) {
                (None, _) if y.is_nan() => 0.0,
                (_, Some(rare)) => rare - origins[k],
                (Some(rows), None) if y.is_nan() && rows > LONG => prediction[k] - origins[k],
                _ if wrong => f64::NAN,
                _ => *y - origins[k],
            });
        }
        self.next_origins = origins;
        held
    }

    /// The row was taken: by `next`, where it is the end of a forecaster or of a trial.
    fn commit(&mut self, event: SeriesEvent, next: Option<F>) {
        let Some(next) = next else { return };
        self.columns.iter_mut().for_each(RareColumn::restart);
        let before = std::mem::replace(&mut self.inner, next);
        let origins = std::mem::replace(&mut self.origins, self.next_origins.clone());
        let aside = self.aside.take();
        match event {
            SeriesEvent::Enters(output) => {
                let screens = self.screens.clone();
                self.aside =
                    Some(Box::new(SetAside { inner: before, screens, origins, output, rows: 0, inputs: Vec::new() }));
            }
            SeriesEvent::Returns => {
                if let Some(aside) = aside {
                    self.held += aside.rows as u64;
                    self.screens = aside.screens;
                }
            }
            SeriesEvent::Plain | SeriesEvent::Begins => {}
        }
    }

    /// The state before the trial, to which its rows are missing.
    fn returned(&self, aside: &SetAside<F>) -> Result<F, Error> {
        let (outputs, inputs) = (self.outputs(), self.inputs());
        let (mut inner, missing) = (aside.inner.clone(), vec![f64::NAN; outputs]);
        for row in 0..aside.rows {
            inner.observe(&aside.inputs[row * inputs..(row + 1) * inputs], &missing)?;
        }
        Ok(inner)
    }
}

impl<F: Forecaster + Validate> Validate for GuardedForecaster<F> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "forecaster behind a guard";
        validate_nested(|| self.inner.validate())?;
        validate_nested(|| self.fresh.validate())?;
        self.screens.validate()?;
        self.origins.validate()?;
        self.columns.validate()?;
        let system = |other: &F| (other.outputs(), other.inputs(), other.feed_through());
        let outputs = self.inner.outputs();
        let sized = outputs > 0
            && [self.screens.len(), self.missing.len(), self.origins.len(), self.columns.len()] == [outputs; 4];
        let same = system(&self.inner) == system(&self.fresh) && self.fresh.time() == 0;
        Inconsistent::require(
            sized && same,
            WHAT,
            "it has a screen and a column for each output, and an untaught copy",
        )?;
        Inconsistent::require(self.time < usize::MAX / 4, WHAT, "its time can be counted")?;
        let kept = if self.time < BEGINNING { self.time * (outputs + self.inner.inputs()) } else { 0 };
        Inconsistent::require(self.beginning.len() == kept, WHAT, "it has the rows of its beginning")?;
        let Some(aside) = &self.aside else { return Ok(()) };
        validate_nested(|| aside.inner.validate())?;
        aside.screens.validate()?;
        aside.origins.validate()?;
        let fits = system(&aside.inner) == system(&self.inner)
            && [aside.screens.len(), aside.origins.len()] == [outputs; 2]
            && aside.output < outputs
            && aside.rows < TRIAL
            && aside.rows.checked_mul(self.inner.inputs()) == Some(aside.inputs.len());
        Inconsistent::require(fits, WHAT, "what is put aside is of the same series")
    }
}

impl<F: Forecaster + Clone> Forecaster for GuardedForecaster<F> {
    fn outputs(&self) -> usize {
        self.inner.outputs()
    }
    fn inputs(&self) -> usize {
        self.inner.inputs()
    }
    fn feed_through(&self) -> bool {
        self.inner.feed_through()
    }
    fn time(&self) -> usize {
        self.time
    }
    fn warmed_up(&self) -> bool {
        self.inner.warmed_up()
    }
    fn lags(&self) -> usize {
        self.inner.lags()
    }
    fn epochs(&self) -> &[Epoch] {
        self.inner.epochs()
    }

    fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error> {
        self.inner.predict_with(input, prediction, scratch)?;
        self.finish(prediction);
        Ok(())
    }

    fn predict_then_observe(&mut self, input: &[f64], output: &[f64], prediction: &mut [f64]) -> Result<(), Error> {
        check_prediction(self, input, prediction)?;
        check_observation(self, input, output)?;
        self.take(input, output, prediction)?;
        self.begin(input, output);
        Ok(())
    }
    crate::forecaster::by_missing!();
}
