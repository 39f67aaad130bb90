//! The part of [`Auto`](super::Auto) that holds a window of the stream: processes on the nearest
//! examples, and learners that forget.
//!
//! Windows of the same examples, each in a [metric](super::metrics) with eight
//! [processes](crate::local::Process).
//!
//! Four of the eight learn the target, four what the rest of the mixture leaves of it. Their
//! kernels are Matérn 3/2 of the length and noise that the likelihood chose, the same with twice of
//! both, and Laplace with twice and once the length and more noise: targets are often rougher than
//! the first rows tell. The time makes the nearest examples recent ones where rows change slowly.
//!
//! **Variance.** Each example remembers by how much it was mispredicted when it came, `e_i²`. The
//! variance at `x` is the mean of these errors over the `k` nearest examples by ranks, drawn
//! towards the mean error `ē²` of late as if one more example had it: `(Σ e_i² + ē²)/(k + 1)`. So
//! it holds noise that depends on the input, and what the members do not know.
//!
//! Several outputs have the neighbours, the kernels and the weights of the members in common.

use mercer_core::{Inconsistent, Validate};
use mercer_experts::Rule;
use mercer_learners::mixture::squared_error;
use mercer_learners::{Error, Fogd, FogdParams, Regressor, RegressorExt, Scratch, Target};
use mercer_simd::LANES;

use super::metrics::Metric;
use super::plan::{Past, STEPS, Size};
use super::ranks::Ranks;
use super::scales::ScaledRow;
use super::search::{Relevances, learn_anew};
use super::series::LEAST_ROWS;
use super::weights::{Weights, mix};
use crate::local::{NeighbourMemory, TARGETS, with_column};

/// Windows grow to so many times the examples that the budget pays for where a search looks at all
/// of them.
const LARGEST_GROWTH: usize = 4;

/// Examples that the mean error counts for in a variance, and rows over which it is taken.
const MEAN_COUNTS: f64 = 1.0;
const ROWS_OF_ERROR: f64 = 1000.0;

/// Places of the grid and of the first linear member among what is given.
const GRID: usize = 0;
const LINEAR: usize = 1;

/// The predictions that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wanted {
    /// The mixture's.
    Mixture,
    /// Those of the views of [classes](super::classes).
    Views,
    /// Those of all members.
    All,
}

/// Names of the members without processes: the mean of the targets, and learners that forget.
const NAMES: [&str; 1 + STEPS.len()] = ["mean", "fogd step=0.3", "fogd step=1"];

/// Windows of the stream, learners that forget, and the weights of all that predicts.
///
/// # Invariants
/// `low ≤ 0 ≤ high`; the windows hold the same examples in the same places. `errors` has as many
/// rows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Nearest {
    ranks: Ranks,
    /// The first is by ranks; none where the budget has no room for a window.
    metrics: Vec<Metric>,
    forgetting: Vec<Fogd>,
    /// Weights of the given members, the mean, learners that forget and the processes.
    all: Weights,
    losses: Vec<f64>,
    low: f64,
    high: f64,
    rounds: u64,
    /// Squared errors with which the examples of the windows were predicted, and their mean of
    /// late, one an output.
    errors: Vec<f64>,
    mean_error: Vec<f64>,
    /// Examples that the budget pays for where a search looks at all of them.
    paid: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: NearestMemory,
}

/// Memory of a round.
#[derive(Clone, Debug, Default)]
struct NearestMemory {
    scratch: Scratch,
    regrets: Vec<f64>,
}

impl Nearest {
    /// Learns `past` row by row, after the state `before` that fewer rows made; `unit` is the
    /// median distance of the scaled rows.
    pub(super) fn learn(
        unit: f64,
        size: Size,
        rule: Rule,
        past: Past<'_>,
        before: Option<&Self>,
    ) -> Result<Self, Error> {
        let Past { width, outputs, .. } = past;
        let ranks = Ranks::from_rows(width, &past.scaled.straight);
        let mut ranked = Vec::with_capacity(past.scaled.straight.len());
        let mut row = Vec::new();
        for x in past.scaled.straight.chunks_exact(width.max(1)) {
            ranks.apply(x, &mut row);
            ranked.extend_from_slice(&row);
        }
        let known = before.filter(|before| before.rounds > LEAST_ROWS as u64);
        let before = known.and_then(|before| {
            let mut relevances = Relevances::from_metrics(&before.metrics)?;
            relevances.grow(width - before.ranks.dimension());
            Some(relevances)
        });
        let metrics = size.metrics(unit, &ranked, past, before.as_ref());
        let frequencies = size.frequencies();
        let forgetting = STEPS.into_iter().filter(|_| frequencies > 0).map(|step| {
            let params = FogdParams::default().sigma(unit).features(frequencies).step(step);
            with_outputs(Fogd::new(width, params)?, outputs)
        });
        let forgetting: Vec<Fogd> = forgetting.collect::<Result<_, _>>()?;
        let rest = past.given + 1 + forgetting.len();
        let members = rest + metrics.len() * LANES;
        let mut nearest = Self {
            ranks,
            metrics,
            forgetting,
            all: Weights::new(members, rest, rule)?,
            losses: vec![0.0; members],
            low: 0.0,
            high: 0.0,
            rounds: 0,
            errors: Vec::new(),
            mean_error: vec![0.0; outputs],
            paid: size.window,
            work: NearestMemory::default(),
        };
        let mut made = vec![0.0; outputs];
        let numbers = past.predictions.chunks_exact(past.given * outputs).zip(past.targets.chunks_exact(outputs));
        for (t, (given, y)) in numbers.enumerate() {
            let weight = past.weights.get(t).copied().unwrap_or(1.0);
            nearest.round(past.scaled.row(t, width), given, Target::weighted(y, weight), &mut made);
        }
        Ok(nearest)
    }

    /// Features join that were 0 so far.
    pub(super) fn grow(&mut self, added: usize) -> Result<(), Error> {
        let mut forgetting = self.forgetting.clone();
        forgetting.iter_mut().try_for_each(|fogd| fogd.grow(added))?;
        self.forgetting = forgetting;
        self.ranks.grow(added);
        self.metrics.iter_mut().for_each(|metric| metric.grow(added));
        Ok(())
    }

    /// Gains an output, a copy of output `like` or zero. Nothing is changed where one of those that
    /// forget cannot.
    pub(super) fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let (mut forgetting, outputs) = (self.forgetting.clone(), self.outputs());
        forgetting.iter_mut().try_for_each(|fogd| fogd.add_output(like))?;
        self.forgetting = forgetting;
        for metric in &mut self.metrics {
            metric.neighbours.add_output(like);
        }
        for errors in [&mut self.errors, &mut self.mean_error] {
            *errors = with_column(errors, outputs, like);
        }
        Ok(())
    }

    /// True if what is wanted needs a member outside the windows. Such a member has a weight, or it
    /// has one among those whose rest a process with a weight tells, or it is a view.
    pub(super) fn needs(&self, member: usize, wanted: Wanted) -> bool {
        let all = wanted == Wanted::All;
        let views = wanted == Wanted::Views;
        let (viewed, has_rest) = (views && [GRID, LINEAR].contains(&member), self.all.rest()[member] != 0.0);
        all || viewed || self.all.weight(member) != 0.0 || (has_rest && (views || self.tells_rest()))
    }

    /// True if a process that tells the rest has a weight.
    fn tells_rest(&self) -> bool {
        self.weights_for_rest().any(|weight| weight != 0.0)
    }

    /// The weights of the processes that tell the rest.
    fn weights_for_rest(&self) -> impl Iterator<Item = f64> {
        let first = self.all.rest().len();
        let for_rest = (first..self.all.len()).filter(move |member| (member - first) % LANES >= LANES / 2);
        for_rest.map(|member| self.all.weight(member))
    }

    /// The weight of each member outside of the windows in the whole: its own, and that by which
    /// processes add to what these members predict.
    pub(super) fn outside(&self) -> impl Iterator<Item = f64> {
        let through: f64 = self.weights_for_rest().sum();
        self.all.rest().iter().enumerate().map(move |(member, rest)| self.all.weight(member) + rest * through)
    }

    /// The learners that forget.
    pub(super) fn forgetting(&self) -> &[Fogd] {
        &self.forgetting
    }

    /// Predictions of all members at `row`, behind what is `given`, in the `predictions` of the
    /// scratch's own memory: clipped to where targets have been, or 0. `rest ←` what all without
    /// processes predict. What is `wanted` by nothing is 0 there.
    fn predict_each(
        &self,
        row: ScaledRow<'_>,
        given: &[f64],
        rest: &mut [f64],
        scratch: &mut Scratch,
        wanted: Wanted,
    ) -> Box<NeighbourMemory> {
        let mut work: Box<NeighbourMemory> = scratch.take_own();
        let outputs = rest.len();
        let clip = |value: f64| if value.is_finite() { value.clamp(self.low, self.high) } else { 0.0 };
        work.predictions.clear();
        work.predictions.extend(given.iter().copied().map(clip));
        work.predictions.resize(given.len() + outputs, 0.0);
        let mut made = scratch.lend(outputs);
        for (place, fogd) in self.forgetting.iter().enumerate() {
            let asked = self.needs(given.len() / outputs + 1 + place, wanted);
            if !asked || fogd.predict_into(row.bent, scratch, &mut made).is_err() {
                made.fill(0.0);
            }
            work.predictions.extend(made.iter().copied().map(clip));
        }
        scratch.take_back(made);
        mix(self.all.rest().iter().copied(), &work.predictions, rest);
        if self.metrics.is_empty() {
            return work;
        }
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.straight, &mut ranked);
        for (place, metric) in self.metrics.iter().enumerate() {
            let first = self.all.rest().len() + place * LANES;
            if wanted != Wanted::All && (first..first + LANES).all(|member| self.all.weight(member) == 0.0) {
                work.predictions.resize(work.predictions.len() + LANES * outputs, 0.0);
                continue;
            }
            let mut point = std::mem::take(&mut work.point);
            metric.place(row, &ranked, self.rounds, &mut point);
            metric.neighbours.means(&point, &mut work);
            work.point = point;
            let mut predictions = std::mem::take(&mut work.predictions);
            for lane in 0..LANES {
                let beyond = if lane < LANES / 2 { 0.0 } else { 1.0 };
                let means = work.means().iter().skip(lane).step_by(LANES);
                predictions.extend(means.zip(&*rest).map(|(mean, rest)| clip(mean + beyond * rest)));
            }
            work.predictions = predictions;
        }
        work.input = ranked;
        work
    }

    /// `views ←` the prediction at `row`, behind what is `given`, and if there is room the others:
    /// of all members outside the windows, of the grid and of a linear member.
    pub(super) fn predict(&self, row: ScaledRow<'_>, given: &[f64], scratch: &mut Scratch, views: &mut [f64]) {
        let wanted = if views.len() > self.outputs() { Wanted::Views } else { Wanted::Mixture };
        let mut rest = scratch.lend(self.outputs());
        let work = self.predict_each(row, given, &mut rest, scratch, wanted);
        self.view(&work.predictions, &rest, views);
        scratch.take_back(rest);
        scratch.put_own(work);
    }

    /// `views ←` what they are by the predictions of all members and by that of those outside.
    fn view(&self, made: &[f64], rest: &[f64], views: &mut [f64]) {
        let outputs = rest.len();
        let (whole, others) = views.split_at_mut(outputs);
        mix(self.all.weights(), made, whole);
        let of = |member: usize| &made[member * outputs..][..outputs];
        for (view, values) in others.chunks_exact_mut(outputs).zip([rest, of(GRID), of(LINEAR)]) {
            view.copy_from_slice(values);
        }
    }

    /// Predicts into `views`, as [`predict`](Self::predict) does, and learns.
    pub(super) fn round(&mut self, row: ScaledRow<'_>, given: &[f64], target: Target<'_>, views: &mut [f64]) {
        let NearestMemory { mut scratch, mut regrets } = std::mem::take(&mut self.work);
        let Target { y, weight } = target;
        let mut rest = scratch.lend(y.len());
        let mut work = self.predict_each(row, given, &mut rest, &mut scratch, Wanted::All);
        let made = &work.predictions;
        self.view(made, &rest, views);
        for (loss, made) in self.losses.iter_mut().zip(made.chunks_exact(y.len())) {
            *loss = (*loss + weight * squared_error(made, y)).min(f64::MAX);
        }
        self.all.learn(made, target, &mut regrets);
        // What the processes for the rest learn.
        rest.iter_mut().zip(y).for_each(|(rest, y)| *rest = y - *rest);
        let mut scores = scratch.lend(y.len());
        for fogd in &mut self.forgetting {
            // A step that is refused is not made; the others go on.
            let _ = fogd.learn(row.bent, target, &mut scores);
        }
        let place = self.push(row, ([y, &*rest], weight), &mut work);
        scratch.put_own(work);
        (self.low, self.high) = y.iter().fold((self.low, self.high), |(low, high), y| (low.min(*y), high.max(*y)));
        self.remember(place, y, &views[..y.len()]);
        scratch.take_back(rest);
        scratch.take_back(scores);
        self.work = NearestMemory { scratch, regrets };
        let allowed = self.allowed();
        learn_anew(&mut self.metrics, self.rounds, allowed);
    }

    /// Multiply-adds of a round that the metrics may cost.
    fn allowed(&self) -> f64 {
        self.metrics.iter().map(|metric| metric.cost_of_looks(self.paid)).sum()
    }

    /// True if the windows may grow: searches that look at few examples leave something of what the
    /// metrics may cost.
    fn may_grow(&self) -> bool {
        let costs = self.metrics.iter().map(Metric::cost);
        self.len() < LARGEST_GROWTH * self.paid && costs.sum::<f64>() <= self.allowed()
    }

    /// Puts an example into the windows, and says where.
    fn push(&mut self, row: ScaledRow<'_>, example: ([&[f64]; TARGETS], f64), work: &mut NeighbourMemory) -> usize {
        if self.metrics.is_empty() {
            self.rounds += 1;
            return 0;
        }
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.straight, &mut ranked);
        let mut place = 0;
        if self.metrics.first().is_some_and(|metric| metric.neighbours.is_just_full()) && self.may_grow() {
            self.metrics.iter_mut().for_each(|metric| metric.neighbours.extend());
        }
        for metric in &mut self.metrics {
            metric.place(row, &ranked, self.rounds, &mut work.point);
            place = metric.neighbours.push(&work.point, example.0, example.1);
        }
        work.input = ranked;
        self.metrics.iter_mut().for_each(|metric| metric.neighbours.arrange(work));
        self.rounds += 1;
        place
    }

    /// Puts an example into the windows alone, where it fills its place for a measurement of time.
    pub(super) fn fill(&mut self, row: ScaledRow<'_>, y: &[f64]) {
        let mut work = self.work.scratch.take_own();
        self.push(row, ([y; TARGETS], 1.0), &mut work);
        self.work.scratch.put_own(work);
    }

    /// Notes by how much the example in place `place` was mispredicted.
    fn remember(&mut self, place: usize, y: &[f64], prediction: &[f64]) {
        self.errors.resize(self.len() * y.len(), 0.0);
        let share = 1.0 / (self.rounds as f64).clamp(1.0, ROWS_OF_ERROR);
        let squares = y.iter().zip(prediction).map(|(y, made)| (y - made).powi(2).min(f64::MAX));
        for (output, (square, mean)) in squares.zip(&mut self.mean_error).enumerate() {
            *mean += share * (square - *mean);
            if let Some(error) = self.errors.get_mut(place * y.len() + output) {
                *error = square;
            }
        }
    }

    /// The mean squared error of late in an output, none before the first row.
    pub(super) fn noise(&self, output: usize) -> Option<f64> {
        self.mean_error.get(output).copied().filter(|_| self.rounds > 0)
    }

    /// `variances ←` those at `row`; `false`, and nothing, while no error is known. Without a
    /// window they are the mean error's.
    pub(super) fn variances(&self, row: ScaledRow<'_>, scratch: &mut Scratch, variances: &mut [f64]) -> bool {
        if self.rounds == 0 {
            return false;
        }
        let Some(metric) = self.metrics.first() else {
            variances.copy_from_slice(&self.mean_error);
            return true;
        };
        let mut work: Box<NeighbourMemory> = scratch.take_own();
        let (mut ranked, mut point) = (std::mem::take(&mut work.input), std::mem::take(&mut work.point));
        self.ranks.apply(row.straight, &mut ranked);
        metric.place(row, &ranked, self.rounds, &mut point);
        variances.iter_mut().zip(&self.mean_error).for_each(|(variance, mean)| *variance = MEAN_COUNTS * mean);
        let near = metric.neighbours.nearest(&point, &mut work);
        let count = near.len() as f64;
        for place in near {
            let errors = &self.errors[place * variances.len()..];
            variances.iter_mut().zip(errors).for_each(|(variance, error)| *variance += error);
        }
        variances.iter_mut().for_each(|variance| *variance /= count + MEAN_COUNTS);
        (work.input, work.point) = (ranked, point);
        scratch.put_own(work);
        true
    }

    /// Names, weights and losses of all members; the first is `grid`, and `linear` are those
    /// given behind it.
    pub(super) fn members(
        &self,
        linear: impl Iterator<Item = &'static str>,
    ) -> impl Iterator<Item = (&'static str, f64, f64)> {
        let own = NAMES.into_iter().take(1 + self.forgetting.len());
        let names = std::iter::once("grid").chain(linear).chain(own);
        let names = names.chain(self.metrics.iter().flat_map(|metric| metric.kind.names()));
        names.zip(self.all.weights()).zip(&self.losses).map(|((name, weight), loss)| (name, weight, *loss))
    }

    /// True if it is of so many features and outputs, and of so many predictions that are given.
    pub(super) fn fits(&self, width: usize, outputs: usize, given: usize) -> bool {
        (self.ranks.dimension(), self.outputs()) == (width, outputs)
            && self.all.rest().len() == given + 1 + self.forgetting.len()
    }

    /// Outputs.
    fn outputs(&self) -> usize {
        self.mean_error.len()
    }

    /// Examples held.
    pub(super) fn len(&self) -> usize {
        self.metrics.first().map_or(0, |metric| metric.neighbours.len())
    }
}

/// A learner that has learnt nothing, with so many outputs.
pub(super) fn with_outputs<R: Regressor>(mut learner: R, outputs: usize) -> Result<R, Error> {
    while learner.outputs() < outputs {
        learner.add_output(None)?;
    }
    Ok(learner)
}

impl Validate for Nearest {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "processes on the nearest examples";
        self.ranks.validate()?;
        self.all.validate()?;
        self.losses.validate()?;
        let d = self.ranks.dimension();
        for metric in &self.metrics {
            metric.validate()?;
            Inconsistent::require(metric.fits(d, self.outputs()), WHAT, "its metrics fit the features and outputs")?;
        }
        for fogd in &self.forgetting {
            fogd.validate()?;
            Inconsistent::require(
                fogd.dimension() == d && fogd.outputs() == self.outputs(),
                WHAT,
                "its learners fit the features",
            )?;
        }
        let fits = self.forgetting.len() <= STEPS.len()
            && self.all.rest().len() > 1 + self.forgetting.len()
            && self.all.len() == self.all.rest().len() + self.metrics.len() * LANES
            && self.losses.len() == self.all.len()
            && self.metrics.iter().all(|metric| metric.neighbours.len() == self.len());
        Inconsistent::require(fits, WHAT, "all of its members are there")?;
        let known = self.errors.len() == self.len() * self.outputs();
        Inconsistent::require(known, WHAT, "it knows the error of each example")?;
        let mut errors = self.errors.iter().chain(&self.mean_error);
        Inconsistent::require(errors.all(|error| (0.0..=f64::MAX).contains(error)), WHAT, "errors are numbers")?;
        let range = self.low <= 0.0 && self.high >= 0.0 && self.low.is_finite() && self.high.is_finite();
        Inconsistent::require(range, WHAT, "the range of its targets holds 0")
    }
}
