//! A series of known periods: its experts, their weights, and the forecasts that wait for their
//! rows.

mod judging;

use std::collections::VecDeque;

use mercer_core::{Inconsistent, Validate};

use super::beginning::growth_of;
use super::buckets::{Buckets, bucket};
use super::coordinates::LARGEST;
use super::experts::Experts;
use super::free::FreeExperts;
use super::params::SeasonParams;
use super::parts::ForecastParts;
use super::quantiles::Quantiles;
use super::scores::SeasonScores;
use super::shared::SharedWeights;
use super::stack::{NextRow, StackedStep};
use super::surprises::{JudgedRow, Surprises, Taken};
use crate::ForecastScratch;
use crate::far_values::set_aside;
use judging::{Judged, WaitingForecast};

/// Rows of the warm-up without a season; with one they are two seasons and two rows.
const WARM_UP: usize = 10;

/// Rows after which forecasts of all horizons are made more seldom.
const YOUNG: usize = 1200;

/// Forecasts that wait together at most, while the series is young and later.
const WAITING: usize = 12;
const WAITING_LATER: usize = 4;

/// The series once the warm-up is over.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SettledSeries {
    experts: Experts,
    buckets: Buckets,
    quantiles: Quantiles,
    waiting: VecDeque<WaitingForecast>,
    scores: SeasonScores,
    surprises: Surprises,
    /// The size of a usual change: see [`usual_change`].
    change: f64,
    /// Where there is a learner.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) stack: Option<Box<StackedStep>>,
}

/// Memory of a step, which is no part of the state.
#[derive(Clone, Debug, Default)]
struct StepMemory {
    scratch: ForecastScratch,
    mixture: Vec<f64>,
    experts: Vec<f64>,
    spare: Vec<WaitingForecast>,
}

/// A series of known periods.
///
/// # Invariants
/// Rows count from the first that was observed. During the warm-up `beginning` holds them all;
/// later it is empty.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SeasonSeries {
    periods: Vec<usize>,
    rows: usize,
    /// Rows missing since the last observation.
    gap: usize,
    negative: bool,
    free: FreeExperts,
    beginning: Vec<Option<f64>>,
    /// Until the warm-up is over.
    shared: Option<Box<SharedWeights>>,
    #[cfg_attr(feature = "serde", serde(with = "super::stored"))]
    settled: Option<SettledSeries>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: StepMemory,
}

/// Rows until the experts begin.
fn warm_up(periods: &[usize]) -> usize {
    periods.first().map_or(WARM_UP, |period| 2 * period + 2)
}

/// Rows from one forecast of all horizons to the next.
fn stride(rows: usize, horizons: usize) -> usize {
    horizons.div_ceil(if rows < YOUNG { WAITING } else { WAITING_LATER })
}

/// The deviation of changes from row to row that are no 0, by the median of their sizes: one wrong
/// row does not move it.
fn usual_change(rows: &[Option<f64>]) -> f64 {
    let observed = || rows.iter().flatten();
    let mut changes: Vec<f64> = observed().zip(observed().skip(1)).map(|(a, b)| (b - a).abs()).collect();
    changes.retain(|change| *change > 0.0);
    if changes.is_empty() {
        return 0.0;
    }
    let middle = changes.len() / 2;
    *changes.select_nth_unstable_by(middle, f64::total_cmp).1 / 0.6745
}

impl SeasonSeries {
    pub(super) fn new(periods: Vec<usize>) -> Self {
        Self {
            free: FreeExperts::new(&periods),
            beginning: Vec::with_capacity(warm_up(&periods)),
            periods,
            rows: 0,
            gap: 0,
            negative: false,
            shared: None,
            settled: None,
            work: StepMemory::default(),
        }
    }

    pub(super) fn periods(&self) -> &[usize] {
        &self.periods
    }

    /// Takes the weights of other series, if none have been settled.
    pub(super) fn begin_like(&mut self, shared: &SharedWeights) {
        self.shared = self.settled.is_none().then(|| Box::new(shared.clone()));
    }

    /// Tells what the experts were worth.
    pub(super) fn share(&self, shared: &mut SharedWeights) {
        if let Some(settled) = &self.settled {
            let count = settled.experts.count() + FreeExperts::count(self.periods.len());
            shared.learn(&self.periods, count, &settled.buckets.ratios());
        }
    }

    /// True if forecasts are more than the last value: a season is known, or the experts have
    /// begun.
    pub(super) fn warmed_up(&self) -> bool {
        self.settled.is_some() || self.periods.first().is_some_and(|period| self.rows >= *period)
    }

    /// True if a number was observed.
    pub(super) fn is_begun(&self) -> bool {
        self.free.observed() > 0
    }

    /// The mean of what was observed.
    pub(super) fn mean(&self) -> f64 {
        self.free.mean()
    }

    /// 0 while no observation was negative.
    pub(super) fn floor(&self) -> Option<f64> {
        (!self.negative && self.is_begun()).then_some(0.0)
    }

    /// Rows missing since the last observation.
    pub(super) fn gap(&self) -> usize {
        self.gap
    }

    /// An observation as it counts.
    pub(super) fn counts(&self, y: f64) -> f64 {
        self.settled.as_ref().map_or(y, |settled| settled.experts.tame(y))
    }

    pub(super) fn scores(&self) -> SeasonScores {
        self.settled.as_ref().map_or_else(SeasonScores::default, |settled| settled.scores)
    }

    /// Distance of the quantile of `p` from the forecast of `step` steps.
    pub(super) fn offset(&self, p: f64, step: usize, horizons: usize) -> f64 {
        match &self.settled {
            Some(settled) => settled.quantiles.offset(p, self.gap + step, settled.change),
            None => {
                let observed = || self.beginning.iter().flatten();
                let changes = observed().zip(observed().skip(1)).map(|(a, b)| (b - a) * (b - a));
                let mean = changes.sum::<f64>() / observed().count().saturating_sub(1).max(1) as f64;
                Quantiles::new(horizons).offset(p, self.gap + step, mean.sqrt())
            }
        }
    }

    /// Rows that were set aside as surprises, and shifts of the level.
    pub(super) fn surprises(&self) -> (usize, usize) {
        self.settled.as_ref().map_or((0, 0), |settled| settled.surprises.counted())
    }

    /// The mixture's path from the next row on.
    pub(super) fn forecast(&self, path: &mut [f64], horizons: usize, scratch: &mut ForecastScratch) {
        scratch.with_buffer(|experts, scratch| {
            let sharper = self.mix(path, experts, horizons, scratch);
            let Some(stack) = self.stack_of_next() else { return };
            if let (Some(sharper), Some(settled)) = (sharper, &self.settled) {
                let learnt = stack.predict(settled.experts.plain().recent, &self.periods, scratch);
                let shift = settled.experts.shift();
                settled.correct(&NextRow::new(path[0], sharper, learnt, shift), shift, self.floor(), path);
            }
        });
    }

    /// The parts of a forecast from the next row on.
    pub(super) fn parts(&self, path: &[f64], horizons: usize) -> ForecastParts {
        let mut parts = ForecastParts::new(path, self.periods.len());
        let Some(settled) = self.settled.as_ref().filter(|_| !path.is_empty()) else { return parts };
        let [first, last] = [1, path.len()].map(|step| bucket(self.gap + step, horizons));
        let filters = settled.experts.filters();
        let weights: Vec<Vec<f64>> = (first..=last).map(|b| settled.buckets.of_first(filters, b, self.rows)).collect();
        let weights = |step: usize| &weights[bucket(self.gap + step + 1, horizons) - first][..];
        settled.experts.explain(&self.periods, weights, &mut parts);
        parts
    }

    /// The learner of forecasts of one step, where it knows the row before.
    fn stack_of_next(&self) -> Option<&StackedStep> {
        self.settled.as_ref()?.stack.as_deref().filter(|_| self.gap == 0)
    }

    /// The mixture's path, with the paths of all experts once they have begun, and its sharper
    /// forecast of one step.
    fn mix(
        &self,
        path: &mut [f64],
        paths: &mut Vec<f64>,
        horizons: usize,
        scratch: &mut ForecastScratch,
    ) -> Option<f64> {
        let steps = path.len();
        let Some(settled) = &self.settled else {
            self.forecast_beginning(path);
            return None;
        };
        if steps == 0 {
            return None;
        }
        scratch.with_buffer(|work, scratch| {
            let learners = settled.experts.count() * steps;
            paths.clear();
            paths.resize(learners + FreeExperts::count(self.periods.len()) * steps, 0.0);
            let (learning, free) = paths.split_at_mut(learners);
            settled.experts.forecast(steps, learning, scratch, work);
            self.free.forecast(self.rows, steps, free);
            if let Some(floor) = self.floor() {
                paths.iter_mut().for_each(|y| *y = y.max(floor));
            }
            settled.buckets.mix(paths, (self.rows, self.gap + 1), path, horizons, work);
            Some(settled.buckets.sharper(paths, steps, work))
        })
    }

    /// The path during the warm-up: what was a season ago, or last, and the growth since.
    fn forecast_beginning(&self, path: &mut [f64]) {
        let season = self.periods.first().copied();
        let whole = season.is_none_or(|season| self.rows >= season);
        let growth = if whole { growth_of(&self.beginning, season) } else { 0.0 };
        let floor = self.floor().unwrap_or(f64::NEG_INFINITY);
        for (i, y) in path.iter_mut().enumerate() {
            // Rows missing at the end are steps, too.
            let ahead = season.map_or(self.gap + i + 1, |season| i / season + 1);
            *y = (self.free.seasonal(self.rows + i) + growth * ahead as f64).max(floor).clamp(-LARGEST, LARGEST);
        }
    }

    /// Predicts the next row, and learns it.
    pub(super) fn step(&mut self, observed: Option<f64>, params: &SeasonParams) -> f64 {
        if observed.is_none() && !self.is_begun() {
            return 0.0;
        }
        let mut work = std::mem::take(&mut self.work);
        let origin = self.gap == 0 && self.rows.is_multiple_of(stride(self.rows, params.horizons));
        work.mixture.clear();
        work.mixture.resize(if origin { params.horizons } else { 1 }, 0.0);
        let StepMemory { mixture, experts, scratch, .. } = &mut work;
        let sharper = self.mix(mixture, experts, params.horizons, scratch);
        let shift = self.settled.as_ref().map_or(0.0, |settled| settled.experts.shift());
        let learnable = observed.filter(|y| self.takes(*y, mixture[0])).map(|y| self.counts(y));
        let next = sharper.and_then(|sharper| self.correct_next(learnable, (sharper, shift), mixture, scratch));
        let prediction = mixture[0];
        if let Some(settled) = &mut self.settled {
            if origin {
                let mut waiting = work.spare.pop().unwrap_or_default();
                (waiting.row, waiting.stale) = (self.rows, false);
                waiting.mixture.clone_from(&work.mixture);
                waiting.experts.clone_from(&work.experts);
                settled.waiting.push_back(waiting);
            }
            if let Some(y) = observed {
                let y = learnable.unwrap_or(y);
                let judged = Judged { y, learnt: learnable.is_some(), periods: self.periods.len() };
                settled.changes(y, self.free.seasonal(self.rows));
                if let (Some(stack), Some(next), true) = (&mut settled.stack, &next, judged.learnt) {
                    stack.judge(next, y);
                }
                if self.gap < settled.surprises.waiting().max(1) {
                    settled.judge(1, &work.mixture, &work.experts, judged, params);
                }
                settled.judge_waiting(self.rows, judged, params);
            }
            match learnable {
                Some(y) => settled.experts.learn(y, &mut work.scratch),
                None => settled.experts.skip(prediction, &mut work.scratch),
            }
            settled.retire(self.rows, params.horizons, &mut work.spare);
            self.negative |= observed.is_some_and(|y| y < 0.0);
            self.pass(learnable);
        } else {
            self.beginning.push(observed);
            self.pass(observed);
        }
        if self.settled.is_none() && self.warm() {
            self.settle(params, &mut work.scratch);
        }
        self.work = work;
        prediction
    }

    /// False if a row is set aside. Where it tells that the level has shifted, the experts know.
    fn takes(&mut self, y: f64, forecast: f64) -> bool {
        let Some(settled) = &mut self.settled else { return true };
        let (unit, season) = (settled.change, self.periods.first().copied());
        let growth = settled.quantiles.growth(self.gap + 1, unit);
        let row = JudgedRow { y, error: y - forecast, growth, known: settled.experts.holds(y) };
        match settled.surprises.take(row, unit, season) {
            Taken::AsItIs => true,
            Taken::Aside => false,
            Taken::Shifted(by) => {
                settled.experts.shift_by(by);
                settled.waiting.iter_mut().for_each(|waiting| waiting.stale = true);
                true
            }
        }
    }

    /// The learner corrects the forecast of the next row, and learns that row where it is known.
    /// The forecast has the shift before the row, which may tell another.
    fn correct_next(
        &mut self,
        y: Option<f64>,
        (sharper, before): (f64, f64),
        path: &mut [f64],
        scratch: &mut ForecastScratch,
    ) -> Option<NextRow> {
        let floor = self.floor();
        let Self { settled: Some(settled), periods, gap: 0, .. } = self else { return None };
        let SettledSeries { experts, stack: Some(stack), .. } = settled else { return None };
        let recent = experts.plain().recent;
        let mixture = path[0];
        let learnt = match y {
            Some(y) => stack.learn(recent, periods, y - experts.shift(), scratch),
            None => stack.predict(recent, periods, scratch),
        };
        let next = |shift| NextRow::new(mixture, sharper, learnt, shift);
        settled.correct(&next(before), before, floor, path);
        Some(next(settled.experts.shift()))
    }

    /// Time passes.
    fn pass(&mut self, counts: Option<f64>) {
        match counts {
            Some(y) => {
                self.negative |= y < 0.0;
                self.free.push(self.rows, y);
                self.gap = 0;
            }
            None => self.gap += 1,
        }
        self.rows += 1;
    }

    /// True if the beginning is long enough, and full enough or very long.
    fn warm(&self) -> bool {
        let rows = warm_up(&self.periods);
        self.rows >= rows && self.free.observed() >= rows / 3 || self.rows >= 4 * rows
    }

    /// Coordinates and units are settled, and the rows so far are told to the experts.
    fn settle(&mut self, params: &SeasonParams, scratch: &mut ForecastScratch) {
        let mut beginning = std::mem::take(&mut self.beginning);
        let aside = set_aside(&mut beginning);
        if aside > 0 {
            self.tell_free(&beginning);
        }
        let change = usual_change(&beginning);
        let mut experts = Experts::new(&self.periods, params, &beginning);
        let budget = params.detail.budget();
        let mut stack = budget.and_then(|budget| StackedStep::new(&self.periods, budget)).map(Box::new);
        let (mut last, mut before) = (beginning.iter().flatten().next().copied().unwrap_or(0.0), None);
        for row in beginning {
            match row {
                Some(y) => {
                    if let (Some(stack), Some(_)) = (&mut stack, before) {
                        stack.learn(experts.plain().recent, &self.periods, y, scratch);
                    }
                    experts.learn(y, scratch);
                    last = y;
                }
                None => experts.skip(last, scratch),
            }
            before = row;
        }
        let count = experts.count() + FreeExperts::count(self.periods.len());
        let mut buckets = Buckets::new(params.horizons, count, &self.periods);
        if let Some(shared) = self.shared.take() {
            buckets.begin(shared.means(&self.periods, count, buckets.count()), experts.unit());
        }
        self.settled = Some(SettledSeries {
            experts,
            buckets,
            quantiles: Quantiles::new(params.horizons),
            waiting: VecDeque::with_capacity(WAITING + 1),
            scores: SeasonScores::default(),
            surprises: Surprises::after(aside),
            change,
            stack,
        });
    }

    /// Tells the rows of the beginning anew to what learns them as they come.
    fn tell_free(&mut self, beginning: &[Option<f64>]) {
        self.free = FreeExperts::new(&self.periods);
        for (row, y) in beginning.iter().enumerate() {
            y.iter().for_each(|y| self.free.push(row, *y));
        }
        self.gap = beginning.iter().rev().take_while(|row| row.is_none()).count();
        self.negative = beginning.iter().flatten().any(|y| *y < 0.0);
    }

    pub(super) fn validate(&self, params: &SeasonParams) -> Result<(), Inconsistent> {
        const WHAT: &str = "series of a season mixture";
        let given = SeasonParams { periods: super::Periods::Given(self.periods.clone()), ..params.clone() };
        given.validate()?;
        self.free.validate(&self.periods)?;
        let counted = self.rows < usize::MAX / 4 && self.gap <= self.rows && self.free.observed() <= self.rows;
        Inconsistent::require(counted, WHAT, "its rows can be counted")?;
        self.beginning.iter().flatten().try_for_each(Validate::validate)?;
        self.shared.iter().try_for_each(Validate::validate)?;
        let Some(settled) = &self.settled else {
            let young = self.beginning.len() == self.rows && !self.warm();
            return Inconsistent::require(young, WHAT, "it has the rows of its beginning");
        };
        Inconsistent::require(self.beginning.is_empty(), WHAT, "the beginning is forgotten")?;
        settled.validate(&self.periods, self.rows, params)
    }
}

impl SettledSeries {
    /// A change over a season.
    fn changes(&mut self, y: f64, before: f64) {
        self.scores.changes.0 += 1;
        self.scores.changes.1 += (y - before).abs();
    }

    /// Corrects the first step of a path.
    fn correct(&self, next: &NextRow, shift: f64, floor: Option<f64>, path: &mut [f64]) {
        let Some(stack) = &self.stack else { return };
        let (low, high) = self.experts.plain().bounds;
        let corrected = stack.forecast(next).clamp(low + shift, high + shift).clamp(-LARGEST, LARGEST);
        path[0] = corrected.max(floor.unwrap_or(f64::NEG_INFINITY));
    }

    fn validate(&self, periods: &[usize], rows: usize, params: &SeasonParams) -> Result<(), Inconsistent> {
        self.experts.validate(periods, params)?;
        let count = self.experts.count() + FreeExperts::count(periods.len());
        self.buckets.validate(params.horizons, count, periods)?;
        self.quantiles.validate(params.horizons)?;
        self.scores.validate()?;
        self.surprises.validate()?;
        Inconsistent::non_negative(self.change, "usual change")?;
        let learner = self.stack.is_some() == params.detail.budget().is_some();
        Inconsistent::require(learner, "season mixture", "it has a learner where its detail says so")?;
        self.stack.iter().try_for_each(|stack| stack.validate(periods))?;
        for waiting in &self.waiting {
            waiting.mixture.validate()?;
            waiting.experts.validate()?;
            let whole = waiting.mixture.len() == params.horizons
                && waiting.experts.len() == count * params.horizons
                && (waiting.row..waiting.row.saturating_add(params.horizons)).contains(&rows);
            Inconsistent::require(whole, "forecast that waits", "it has the paths of all experts")?;
        }
        let order = self.waiting.iter().zip(self.waiting.iter().skip(1)).all(|(a, b)| a.row < b.row);
        Inconsistent::require(order, "forecasts that wait", "they are in order")
    }
}
