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
use mercer_experts::{Aggregation, Rule};
use mercer_learners::mixture::{LARGEST_REGRET, squared_error};
use mercer_learners::{Error, Fogd, FogdParams, Regressor, RegressorExt, Scratch, Target};
use mercer_simd::LANES;

use super::metrics::{Metric, Row};
use super::plan::{Past, Size};
use super::ranks::Ranks;
use super::search::{Relevances, learn_anew};
use super::series::LEAST_ROWS;
use super::watch::Watch;
use super::weights::{Weights, charge, mix};
use crate::local::{Memory, TARGETS, with_column};

/// Steps of the learners that forget, and their frequencies.
const STEPS: [f64; 3] = [0.1, 0.3, 1.0];
/// What predicts beside the processes: the grid, nothing, and the learners that forget.
const OTHERS: usize = 2 + STEPS.len();

/// Windows grow to so many times the examples that the budget pays for where a search looks at all
/// of them.
const LARGEST_GROWTH: usize = 4;

/// With less weight than this a mixture says nothing.
const LEFT: f64 = 1e-6;

/// Examples that the mean error counts for in a variance, and rows over which it is taken.
const MEAN_COUNTS: f64 = 1.0;
const ROWS_OF_ERROR: f64 = 1000.0;

/// What predicts beside the processes is called: the grid, nothing, and what forgets.
const NAMES: [&str; OTHERS] = ["grid", "mean", "fogd step=0.1", "fogd step=0.3", "fogd step=1"];

/// Windows of the stream, learners that forget, and the weights of all that predicts.
///
/// # Invariants
/// `low ≤ 0 ≤ high`; the windows hold the same examples in the same places. `errors` has as many
/// rows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Nearest {
    ranks: Ranks,
    /// The first is by ranks.
    metrics: Vec<Metric>,
    watch: Watch,
    forgetting: Vec<Fogd>,
    /// Of the grid and the learners that forget.
    rest: Aggregation,
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
    work: Work,
}

/// Memory of a round.
#[derive(Clone, Debug, Default)]
struct Work {
    scratch: Scratch,
    regrets: Vec<f64>,
}

impl Nearest {
    /// What `budget` multiply-adds a round allow, if they allow a window.
    pub(super) fn size(budget: f64, shape: (usize, usize), neighbours: usize) -> Option<Size> {
        Size::within(budget, shape, neighbours, STEPS.len())
    }

    /// What `past` says, learnt row by row, after what fewer rows made `before`; `unit` is the
    /// median distance of the scaled rows.
    pub(super) fn learn(
        unit: f64,
        size: Size,
        rule: Rule,
        past: Past<'_>,
        before: Option<&Self>,
    ) -> Result<Self, Error> {
        let Past { dimension, outputs, .. } = past;
        let ranks = Ranks::of(dimension, past.raw);
        let mut ranked = Vec::with_capacity(past.raw.len());
        let mut row = Vec::new();
        for x in past.raw.chunks_exact(dimension.max(1)) {
            ranks.apply(x, &mut row);
            ranked.extend_from_slice(&row);
        }
        let known = before.filter(|before| before.rounds > LEAST_ROWS as u64);
        let before = known.and_then(|before| Relevances::of(&before.metrics));
        let metrics = size.metrics(unit, &ranked, past, before.as_ref());
        let members = OTHERS + metrics.len() * LANES;
        let forgetting = STEPS.map(|step| {
            let params = FogdParams::default().sigma(unit).features(size.frequencies()).step(step);
            with_outputs(Fogd::new(dimension, params)?, outputs)
        });
        let mut nearest = Self {
            ranks,
            metrics,
            watch: Watch::default(),
            forgetting: forgetting.into_iter().collect::<Result<_, _>>()?,
            rest: Aggregation::new(OTHERS, rule)?.recovering(),
            all: Weights::new(members, rule)?,
            losses: vec![0.0; members],
            low: 0.0,
            high: 0.0,
            rounds: 0,
            errors: Vec::new(),
            mean_error: Vec::new(),
            paid: size.window,
            work: Work::default(),
        };
        let rows = past.raw.chunks_exact(dimension.max(1)).zip(past.scaled.chunks_exact(dimension.max(1)));
        let mut made = vec![0.0; outputs];
        let numbers = past.predictions.chunks_exact(outputs).zip(past.targets.chunks_exact(outputs));
        for (t, ((raw, scaled), (grid, y))) in rows.zip(numbers).enumerate() {
            let weight = past.weights.get(t).copied().unwrap_or(1.0);
            nearest.round(Row { raw, scaled }, grid, Target::weighted(y, weight), &mut made);
        }
        Ok(nearest)
    }

    /// Gains an output, a copy of output `like` or zero. Nothing is changed where one of those that
    /// forget cannot.
    pub(super) fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let mut forgetting = self.forgetting.clone();
        forgetting.iter_mut().try_for_each(|fogd| fogd.add_output(like))?;
        self.forgetting = forgetting;
        for metric in &mut self.metrics {
            metric.neighbours.add_output(like);
        }
        for errors in [&mut self.errors, &mut self.mean_error] {
            *errors = with_column(errors, self.metrics[0].neighbours.outputs() - 1, like);
        }
        Ok(())
    }

    /// What everything predicts at `row`, with `grid` for the grid, in the `predictions` of the
    /// scratch's own memory: clipped to where targets have been, or 0. `rest ←` what all without
    /// processes predict.
    fn predict_each(&self, row: Row<'_>, grid: &[f64], rest: &mut [f64], scratch: &mut Scratch) -> Box<Memory> {
        let mut work: Box<Memory> = scratch.take_own();
        let clip = |value: f64| if value.is_finite() { value.clamp(self.low, self.high) } else { 0.0 };
        work.predictions.clear();
        work.predictions.extend(grid.iter().copied().map(clip));
        work.predictions.extend(grid.iter().map(|_| 0.0));
        let mut made = scratch.lend(grid.len());
        for fogd in &self.forgetting {
            if fogd.predict_into(row.scaled, scratch, &mut made).is_err() {
                made.fill(0.0);
            }
            work.predictions.extend(made.iter().copied().map(clip));
        }
        scratch.take_back(made);
        mix(self.rest.weights().iter().copied(), &work.predictions, rest);
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.raw, &mut ranked);
        let mut all_asked = true;
        for metric in &self.metrics {
            if !metric.standing.is_asked(self.rounds) {
                all_asked = false;
                work.predictions.resize(work.predictions.len() + LANES * grid.len(), f64::NAN);
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
        if !all_asked {
            stand_in(&self.all, &mut work.predictions, grid.len(), &mut work.point);
        }
        work.input = ranked;
        work
    }

    /// Notes what each metric that was asked is worth, has those that are worth little rest and
    /// calls them back.
    fn weigh_metrics(&mut self, made: &[f64], mixture: &[f64], Target { y, weight }: Target<'_>) {
        let loss = weight * squared_error(mixture, y);
        if !loss.is_finite() {
            return;
        }
        let (all, outputs, rounds) = (&self.all, y.len(), self.rounds);
        let asked = self.metrics.iter_mut().enumerate().filter(|(_, metric)| metric.standing.is_asked(rounds));
        for (place, metric) in asked {
            let members = OTHERS + place * LANES..OTHERS + (place + 1) * LANES;
            let others = 1.0 - members.clone().map(|k| all.weight(k)).sum::<f64>();
            let error_without = |output: usize| {
                let own: f64 = members.clone().map(|k| all.weight(k) * made[k * outputs + output]).sum();
                // Where nothing is left, the mean of the targets.
                let left = if others > LEFT { (mixture[output] - own) / others } else { 0.0 };
                (left - y[output]).powi(2)
            };
            let without = weight * (0..outputs).map(error_without).sum::<f64>();
            metric.standing.learn((without - loss).clamp(-LARGEST_REGRET, LARGEST_REGRET));
        }
        self.watch.learn(loss, rounds, &mut self.metrics);
    }

    /// `scores ←` the prediction at `row`; they hold the grid's.
    pub(super) fn predict(&self, row: Row<'_>, scratch: &mut Scratch, scores: &mut [f64]) {
        let mut rest = scratch.lend(scores.len());
        let work = self.predict_each(row, scores, &mut rest, scratch);
        scratch.take_back(rest);
        mix(self.all.weights(), &work.predictions, scores);
        scratch.put_own(work);
    }

    /// Predicts into `prediction` and learns.
    pub(super) fn round(&mut self, row: Row<'_>, grid: &[f64], target: Target<'_>, prediction: &mut [f64]) {
        let Work { mut scratch, mut regrets } = std::mem::take(&mut self.work);
        let Target { y, weight } = target;
        let mut rest = scratch.lend(y.len());
        let mut work = self.predict_each(row, grid, &mut rest, &mut scratch);
        let made = &work.predictions;
        mix(self.all.weights(), made, prediction);
        for (loss, made) in self.losses.iter_mut().zip(made.chunks_exact(y.len())) {
            let squared: f64 = made.iter().zip(y).map(|(made, y)| (made - y).powi(2)).sum();
            *loss = (*loss + weight * squared).min(f64::MAX);
        }
        charge(&mut self.rest, &made[..OTHERS * y.len()], &rest, target, &mut regrets);
        self.weigh_metrics(made, prediction, target);
        self.all.learn(made, target, &mut regrets);
        // What the processes for the rest learn.
        rest.iter_mut().zip(y).for_each(|(rest, y)| *rest = y - *rest);
        let mut scores = scratch.lend(y.len());
        for fogd in &mut self.forgetting {
            // A step that is refused is not made; the others go on.
            let _ = fogd.learn(row.scaled, target, &mut scores);
        }
        let place = self.push(row, ([y, &*rest], weight), &mut work);
        scratch.put_own(work);
        (self.low, self.high) = y.iter().fold((self.low, self.high), |(low, high), y| (low.min(*y), high.max(*y)));
        self.remember(place, y, prediction);
        scratch.take_back(rest);
        scratch.take_back(scores);
        self.work = Work { scratch, regrets };
        let allowed = self.allowed();
        learn_anew(&mut self.metrics, self.rounds, allowed);
    }

    /// Multiply-adds of a round that the metrics may cost.
    fn allowed(&self) -> f64 {
        self.metrics.iter().map(|metric| metric.cost_of_looks(self.paid)).sum()
    }

    /// Whether the windows may grow: searches that look at few examples, and metrics that rest,
    /// leave something of what the metrics may cost.
    fn may_grow(&self) -> bool {
        let costs = self.metrics.iter().map(|metric| metric.cost() * metric.standing.share());
        self.len() < LARGEST_GROWTH * self.paid && costs.sum::<f64>() <= self.allowed()
    }

    /// Puts an example into the windows, and says where.
    fn push(&mut self, row: Row<'_>, example: ([&[f64]; TARGETS], f64), work: &mut Memory) -> usize {
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.raw, &mut ranked);
        let mut place = 0;
        if self.metrics[0].neighbours.is_just_full() && self.may_grow() {
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
    pub(super) fn fill(&mut self, row: Row<'_>, y: &[f64]) {
        let mut work = self.work.scratch.take_own();
        self.push(row, ([y; TARGETS], 1.0), &mut work);
        self.work.scratch.put_own(work);
    }

    /// Notes by how much the example in place `place` was mispredicted.
    fn remember(&mut self, place: usize, y: &[f64], prediction: &[f64]) {
        let square = |y: &f64, made: &f64| (y - made).powi(2).min(f64::MAX);
        let squares = || y.iter().zip(prediction).map(|(y, made)| square(y, made));
        if self.mean_error.is_empty() {
            self.mean_error.extend(squares());
        }
        self.errors.resize(self.metrics[0].neighbours.len() * y.len(), 0.0);
        let share = 1.0 / (self.rounds as f64).clamp(1.0, ROWS_OF_ERROR);
        let kept = self.errors[place * y.len()..].iter_mut().zip(&mut self.mean_error);
        for ((kept, mean), square) in kept.zip(squares()) {
            *kept = square;
            *mean += share * (square - *mean);
        }
    }

    /// The mean squared error of late in an output, none before the first row.
    pub(super) fn noise(&self, output: usize) -> Option<f64> {
        self.mean_error.get(output).copied()
    }

    /// `variances ←` those at `row`; `false`, and nothing, while no error is known.
    pub(super) fn variances(&self, row: Row<'_>, scratch: &mut Scratch, variances: &mut [f64]) -> bool {
        if self.mean_error.is_empty() {
            return false;
        }
        let mut work: Box<Memory> = scratch.take_own();
        let (mut ranked, mut point) = (std::mem::take(&mut work.input), std::mem::take(&mut work.point));
        self.ranks.apply(row.raw, &mut ranked);
        self.metrics[0].place(row, &ranked, self.rounds, &mut point);
        variances.iter_mut().zip(&self.mean_error).for_each(|(variance, mean)| *variance = MEAN_COUNTS * mean);
        let near = self.metrics[0].neighbours.nearest(&point, &mut work);
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

    /// The weight of the grid.
    pub(super) fn weight_of_grid(&self) -> f64 {
        self.all.weight(0)
    }

    /// Names, weights and losses of all others.
    pub(super) fn others(&self) -> impl Iterator<Item = (&'static str, f64, f64)> {
        let of_processes = self.metrics.iter().flat_map(|metric| metric.kind.names());
        let names = NAMES.into_iter().chain(of_processes);
        names.zip(self.all.weights()).zip(&self.losses).skip(1).map(|((name, weight), loss)| (name, weight, *loss))
    }

    /// Features.
    pub(super) fn dimension(&self) -> usize {
        self.ranks.dimension()
    }

    /// Outputs.
    pub(super) fn outputs(&self) -> usize {
        self.metrics[0].neighbours.outputs()
    }

    /// Examples held.
    pub(super) fn len(&self) -> usize {
        self.metrics[0].neighbours.len()
    }
}

/// A learner that has learnt nothing, with so many outputs.
pub(super) fn with_outputs<R: Regressor>(mut learner: R, outputs: usize) -> Result<R, Error> {
    while learner.outputs() < outputs {
        learner.add_output(None)?;
    }
    Ok(learner)
}

/// Has those that were not asked (NaN) say what the others say together, so that they change
/// nothing and learn nothing.
fn stand_in(weights: &Weights, predictions: &mut [f64], outputs: usize, mixture: &mut Vec<f64>) {
    mixture.clear();
    mixture.resize(outputs, 0.0);
    let (mut sum, asked) = (0.0, |made: &[f64]| !made[0].is_nan());
    for (weight, made) in weights.weights().zip(predictions.chunks_exact(outputs)).filter(|(_, made)| asked(made)) {
        sum += weight;
        mixture.iter_mut().zip(made).for_each(|(mixture, made)| *mixture += weight * made);
    }
    if sum > 0.0 {
        mixture.iter_mut().for_each(|mixture| *mixture /= sum);
    } else {
        // The grid, which is always asked.
        mixture.copy_from_slice(&predictions[..outputs]);
    }
    predictions.chunks_exact_mut(outputs).filter(|made| !asked(made)).for_each(|made| made.copy_from_slice(mixture));
}

impl Validate for Nearest {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "processes on the nearest examples";
        self.ranks.validate()?;
        self.rest.validate()?;
        self.all.validate()?;
        self.losses.validate()?;
        self.watch.validate()?;
        let d = self.ranks.dimension();
        Inconsistent::require(!self.metrics.is_empty(), WHAT, "it has a metric")?;
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
        let fits = self.forgetting.len() == STEPS.len()
            && self.rest.weights().len() == OTHERS
            && self.all.len() == OTHERS + self.metrics.len() * LANES
            && self.losses.len() == self.all.len()
            && self.metrics.iter().all(|metric| metric.neighbours.len() == self.len());
        Inconsistent::require(fits, WHAT, "all of its members are there")?;
        let means = if self.len() == 0 { 0 } else { self.outputs() };
        let known = self.errors.len() == self.len() * self.outputs() && self.mean_error.len() == means;
        Inconsistent::require(known, WHAT, "it knows the error of each example")?;
        let mut errors = self.errors.iter().chain(&self.mean_error);
        Inconsistent::require(errors.all(|error| (0.0..=f64::MAX).contains(error)), WHAT, "errors are numbers")?;
        let range = self.low <= 0.0 && self.high >= 0.0 && self.low.is_finite() && self.high.is_finite();
        Inconsistent::require(range, WHAT, "the range of its targets holds 0")
    }
}
