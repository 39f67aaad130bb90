//! The part of [`Auto`](super::Auto) that holds a window of the stream: processes on the nearest examples, and learners that forget.
//!
//! Three windows of the same examples, in three metrics, each with eight [processes](Process):
//!
//! | metric | of | relevance |
//! |---|---|---|
//! | ranks | features by their ranks among the first rows | from the marginal likelihood |
//! | time | scaled features, and the number of the row with a length of 1000 rows | from the marginal likelihood, except for the time |
//! | otherwise | scaled features | from the next best peak of the likelihood |
//!
//! Four of the eight learn the target, four what the rest of the mixture leaves of it. Their kernels are Matérn 3/2 of the length and noise that the
//! likelihood chose, the same with twice of both, and Laplace with twice and once the length and more noise: targets are often rougher than the
//! first rows tell. The time makes the nearest examples recent ones where rows change slowly.
//!
//! **Variance.** Each example remembers by how much it was mispredicted when it came, `e_i²`. The variance at `x` is the mean of these errors over the `k`
//! nearest examples by ranks, drawn towards the mean error `ē²` of late as if one more example had it: `(Σ e_i² + ē²)/(k + 1)`. So it holds
//! noise that depends on the input, and what the members do not know.
//!
//! Several outputs have the neighbours, the kernels and the weights of the members in common.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::LANES;

use super::ranks::Ranks;
use crate::aggregation::{Aggregation, Rule, square_loss_regret};
use crate::learner::Target;
use crate::local::relevance::Relevance;
use crate::local::{Memory, Neighbours, Process, TARGETS, with_column};
use crate::mixture::LARGEST_REGRET;
use crate::{Error, Fogd, FogdParams, Regressor, Scratch};

/// Rows from which relevance is learnt, and how many of them are looked at.
const ROWS_FOR_RELEVANCE: usize = 256;
const MOST_ROWS: usize = 400;
/// The shorter of two lengths from which relevance is sought, in units of the median distance.
const SHORT: f64 = 0.25;
/// Length of the time, in rows.
const ROWS_OF_TIME: f64 = 1000.0;
/// Least noise of the Laplace processes.
const ROUGH: f64 = 0.1;
/// Steps of the learners that forget, and their frequencies.
const STEPS: [f64; 3] = [0.1, 0.3, 1.0];
const FREQUENCIES: usize = 200;
/// What predicts beside the processes: the grid, nothing, and the learners that forget.
const OTHERS: usize = 2 + STEPS.len();
const METRICS: usize = 3;
pub(super) const MEMBERS: usize = OTHERS + METRICS * LANES;

/// Examples that the mean error counts for in a variance, and rows over which it is taken.
const MEAN_COUNTS: f64 = 1.0;
const ROWS_OF_ERROR: f64 = 1000.0;

/// What all that predicts is called: the grid, nothing, what forgets, and the processes by metric and lane.
const NAMES: [&str; MEMBERS] = [
    "grid",
    "mean",
    "fogd step=0.1",
    "fogd step=0.3",
    "fogd step=1",
    "near by ranks, matern32",
    "near by ranks, laplace 2x",
    "near by ranks, laplace",
    "near by ranks, matern32 2x",
    "near by ranks, matern32, rest",
    "near by ranks, laplace 2x, rest",
    "near by ranks, laplace, rest",
    "near by ranks, matern32 2x, rest",
    "near by time, matern32",
    "near by time, laplace 2x",
    "near by time, laplace",
    "near by time, matern32 2x",
    "near by time, matern32, rest",
    "near by time, laplace 2x, rest",
    "near by time, laplace, rest",
    "near by time, matern32 2x, rest",
    "near otherwise, matern32",
    "near otherwise, laplace 2x",
    "near otherwise, laplace",
    "near otherwise, matern32 2x",
    "near otherwise, matern32, rest",
    "near otherwise, laplace 2x, rest",
    "near otherwise, laplace, rest",
    "near otherwise, matern32 2x, rest",
];

/// Examples in the units of a metric.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Metric {
    /// `√w_j`
    rates: Vec<f64>,
    neighbours: Neighbours,
}

/// Windows of the stream, learners that forget, and the weights of all that predicts.
///
/// # Invariants
/// `low ≤ 0 ≤ high`; the windows hold the same examples in the same places. `errors` has as many rows, or is empty with `mean_error` in a state of before
/// there were any.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Nearest {
    ranks: Ranks,
    by_rank: Metric,
    by_time: Metric,
    by_other: Metric,
    forgetting: Vec<Fogd>,
    /// Of the grid and the learners that forget.
    rest: Aggregation,
    all: Aggregation,
    losses: Vec<f64>,
    low: f64,
    high: f64,
    rounds: u64,
    /// Squared errors with which the examples of the windows were predicted, and their mean of late, one an output.
    #[cfg_attr(feature = "serde", serde(default, deserialize_with = "mercer_core::since::<5, _, _>"))]
    errors: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(default, deserialize_with = "mercer_core::since::<5, _, _>"))]
    mean_error: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: Work,
}

/// Memory of a round.
#[derive(Clone, Debug, Default)]
struct Work {
    scratch: Scratch,
    regrets: Vec<f64>,
}

/// What a part of this kind may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) neighbours: usize,
    pub(super) window: usize,
}

impl Size {
    /// The window that `budget` multiply-adds a round allow; `None` where it would be small.
    pub(super) fn within(budget: f64, dimension: usize, outputs: usize, neighbours: usize) -> Option<Self> {
        let (k, d, m) = (neighbours as f64, dimension as f64, outputs as f64);
        // An exponential costs as much as twenty multiply-adds.
        let solutions = k * k * k / 6.0 + (1.0 + 0.5 * m) * k * k;
        let processes = LANES as f64 * (solutions + 20.0 * (0.5 * k * k + k)) + 0.5 * k * k * d;
        let rest = budget - METRICS as f64 * processes - (STEPS.len() * FREQUENCIES) as f64 * (d + 22.0 + 2.0 * m);
        let window = rest / (METRICS as f64 * (d + 1.0));
        (neighbours > 0 && window >= 4.0 * k).then_some(Self { neighbours, window: window as usize })
    }
}

/// Rows of the past: as they came, scaled, and what the grid predicted for each when it came. Targets and predictions are `outputs` numbers a row.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    pub(super) outputs: usize,
    pub(super) raw: &'a [f64],
    pub(super) scaled: &'a [f64],
    pub(super) targets: &'a [f64],
    pub(super) weights: &'a [f64],
    pub(super) predictions: &'a [f64],
}

/// A row: as it came, and scaled.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) raw: &'a [f64],
    pub(super) scaled: &'a [f64],
}

impl Nearest {
    /// What `past` says, learnt row by row; `unit` is the median distance of the scaled rows.
    pub(super) fn learn(dimension: usize, unit: f64, size: Size, rule: Rule, past: Past<'_>) -> Result<Self, Error> {
        let ranks = Ranks::of(dimension, past.raw);
        let mut ranked = Vec::with_capacity(past.raw.len());
        let mut row = Vec::new();
        for x in past.raw.chunks_exact(dimension.max(1)) {
            ranks.apply(x, &mut row);
            ranked.extend_from_slice(&row);
        }
        let units = Units { dimension, size, past };
        let [long, short] = [1.0, SHORT].map(|share| Relevance::uniform(dimension, share * unit));
        let [of_scaled, of_other] = units.relevance([&long, &short], past.scaled, true);
        // Ranks are nearly as long as scaled features, so what these say is a good beginning for them.
        let [of_ranks, _] = units.relevance([&long, &short, &of_scaled], &ranked, false);
        let outputs = past.outputs;
        let forgetting = STEPS.map(|step| {
            let params = FogdParams::default().sigma(unit).features(FREQUENCIES).step(step);
            with_outputs(Fogd::new(dimension, params)?, outputs)
        });
        let mut nearest = Self {
            ranks,
            by_rank: units.metric(&of_ranks, false),
            by_time: units.metric(&of_scaled, true),
            by_other: units.metric(&of_other, false),
            forgetting: forgetting.into_iter().collect::<Result<_, _>>()?,
            rest: Aggregation::new(OTHERS, rule)?,
            all: Aggregation::new(MEMBERS, rule)?,
            losses: vec![0.0; MEMBERS],
            low: 0.0,
            high: 0.0,
            rounds: 0,
            errors: Vec::new(),
            mean_error: Vec::new(),
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

    /// Gains an output, a copy of output `like` or zero. Nothing is changed where one of those that forget cannot.
    pub(super) fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let mut forgetting = self.forgetting.clone();
        forgetting.iter_mut().try_for_each(|fogd| fogd.add_output(like))?;
        self.forgetting = forgetting;
        for metric in [&mut self.by_rank, &mut self.by_time, &mut self.by_other] {
            metric.neighbours.add_output(like);
        }
        for errors in [&mut self.errors, &mut self.mean_error] {
            *errors = with_column(errors, self.by_rank.neighbours.outputs() - 1, like);
        }
        Ok(())
    }

    /// `scratch.neighbours.predictions ←` what everything predicts at `row`, with `grid` for the grid: clipped to where targets have been, or 0.
    /// `rest ←` what all without processes predict.
    fn predict_each(&self, row: Row<'_>, grid: &[f64], rest: &mut [f64], scratch: &mut Scratch) {
        let mut work = std::mem::take(&mut scratch.neighbours);
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
        mix(&self.rest, &work.predictions, rest);
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.raw, &mut ranked);
        for (metric, x, time) in [
            (&self.by_rank, &*ranked, None),
            (&self.by_time, row.scaled, Some(self.rounds)),
            (&self.by_other, row.scaled, None),
        ] {
            metric.means(x, time, &mut work);
            let mut predictions = std::mem::take(&mut work.predictions);
            for lane in 0..LANES {
                let beyond = if lane < LANES / 2 { 0.0 } else { 1.0 };
                let means = work.means().iter().skip(lane).step_by(LANES);
                predictions.extend(means.zip(&*rest).map(|(mean, rest)| clip(mean + beyond * rest)));
            }
            work.predictions = predictions;
        }
        work.input = ranked;
        scratch.neighbours = work;
    }

    /// `scores ←` the prediction at `row`; they hold the grid's.
    pub(super) fn predict(&self, row: Row<'_>, scratch: &mut Scratch, scores: &mut [f64]) {
        let mut rest = scratch.lend(scores.len());
        self.predict_each(row, scores, &mut rest, scratch);
        scratch.take_back(rest);
        mix(&self.all, &scratch.neighbours.predictions, scores);
    }

    /// Predicts into `prediction` and learns.
    pub(super) fn round(&mut self, row: Row<'_>, grid: &[f64], target: Target<'_>, prediction: &mut [f64]) {
        let Work { mut scratch, mut regrets } = std::mem::take(&mut self.work);
        let Target { y, weight } = target;
        let mut rest = scratch.lend(y.len());
        self.predict_each(row, grid, &mut rest, &mut scratch);
        let made = &scratch.neighbours.predictions;
        mix(&self.all, made, prediction);
        for (loss, made) in self.losses.iter_mut().zip(made.chunks_exact(y.len())) {
            let squared: f64 = made.iter().zip(y).map(|(made, y)| (made - y).powi(2)).sum();
            *loss = (*loss + weight * squared).min(f64::MAX);
        }
        charge(&mut self.rest, &made[..OTHERS * y.len()], &rest, target, &mut regrets);
        charge(&mut self.all, made, prediction, target, &mut regrets);
        // What the processes for the rest learn.
        rest.iter_mut().zip(y).for_each(|(rest, y)| *rest = y - *rest);
        let mut scores = scratch.lend(y.len());
        for fogd in &mut self.forgetting {
            // A step that is refused is not made; the others go on.
            let _ = fogd.learn(row.scaled, target, &mut scores);
        }
        let place = self.push(row, ([y, &*rest], weight), &mut scratch.neighbours);
        (self.low, self.high) = y.iter().fold((self.low, self.high), |(low, high), y| (low.min(*y), high.max(*y)));
        self.remember(place, y, prediction);
        scratch.take_back(rest);
        scratch.take_back(scores);
        self.work = Work { scratch, regrets };
    }

    /// Puts an example into the windows, and says where.
    fn push(&mut self, row: Row<'_>, example: ([&[f64]; TARGETS], f64), work: &mut Memory) -> usize {
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.raw, &mut ranked);
        let place = self.by_rank.push(&ranked, None, example, work);
        self.by_time.push(row.scaled, Some(self.rounds), example, work);
        self.by_other.push(row.scaled, None, example, work);
        work.input = ranked;
        self.rounds += 1;
        place
    }

    /// Puts an example into the windows alone, where it fills its place for a measurement of time.
    pub(super) fn fill(&mut self, row: Row<'_>, y: &[f64]) {
        let mut work = std::mem::take(&mut self.work.scratch.neighbours);
        self.push(row, ([y; TARGETS], 1.0), &mut work);
        self.work.scratch.neighbours = work;
    }

    /// Notes by how much the example in place `place` was mispredicted.
    fn remember(&mut self, place: usize, y: &[f64], prediction: &[f64]) {
        let square = |y: &f64, made: &f64| (y - made).powi(2).min(f64::MAX);
        let squares = || y.iter().zip(prediction).map(|(y, made)| square(y, made));
        if self.mean_error.is_empty() {
            self.mean_error.extend(squares());
        }
        // Examples of which nothing is known count as the mean.
        while self.errors.len() < self.by_rank.neighbours.len() * y.len() {
            self.errors.extend_from_slice(&self.mean_error);
        }
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
        let work = &mut scratch.neighbours;
        let (mut ranked, mut point) = (std::mem::take(&mut work.input), std::mem::take(&mut work.point));
        self.ranks.apply(row.raw, &mut ranked);
        self.by_rank.place(&ranked, None, &mut point);
        variances.iter_mut().zip(&self.mean_error).for_each(|(variance, mean)| *variance = MEAN_COUNTS * mean);
        let near = self.by_rank.neighbours.nearest(&point, work);
        let count = near.len() as f64;
        for place in near {
            let errors = &self.errors[place * variances.len()..];
            variances.iter_mut().zip(errors).for_each(|(variance, error)| *variance += error);
        }
        variances.iter_mut().for_each(|variance| *variance /= count + MEAN_COUNTS);
        (work.input, work.point) = (ranked, point);
        true
    }

    /// The weight of the grid.
    pub(super) fn weight_of_grid(&self) -> f64 {
        self.all.weights()[0]
    }

    /// Names, weights and losses of all others.
    pub(super) fn others(&self) -> impl Iterator<Item = (&'static str, f64, f64)> {
        (1..MEMBERS).map(|k| (NAMES[k], self.all.weights()[k], self.losses[k]))
    }

    /// Features.
    pub(super) fn dimension(&self) -> usize {
        self.ranks.dimension()
    }

    /// Outputs.
    pub(super) fn outputs(&self) -> usize {
        self.by_rank.neighbours.outputs()
    }

    /// Examples held.
    pub(super) fn len(&self) -> usize {
        self.by_rank.neighbours.len()
    }
}

/// How metrics are found.
struct Units<'a> {
    dimension: usize,
    size: Size,
    past: Past<'a>,
}

impl Units<'_> {
    /// The relevance of these inputs, with or without the time, that would have predicted the past best of those that the likelihood leads to from
    /// each beginning, and the next best. The likelihood has several peaks: for rough targets one at short lengths besides that at long ones, which
    /// is often the better one when many rows have come.
    fn relevance<const N: usize>(&self, begins: [&Relevance; N], rows: &[f64], timed: bool) -> [Relevance; 2] {
        let (d, m) = (self.dimension, self.past.outputs);
        let n = self.past.targets.len() / m;
        if n < ROWS_FOR_RELEVANCE || d == 0 {
            return [begins[0].clone(), begins[1].clone()];
        }
        // As many of the last rows as are looked at.
        let first = n - n.min(MOST_ROWS);
        let mut found = begins.map(|begin| {
            let found = begin.learn(&rows[first * d..], &self.past.targets[first * m..], m);
            (self.loss(self.metric(&found, timed), rows, timed), found)
        });
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        [found[0].1.clone(), found[1].1.clone()]
    }

    fn metric(&self, relevance: &Relevance, timed: bool) -> Metric {
        let mut rates: Vec<f64> = relevance.weights.iter().map(|weight| weight.sqrt()).collect();
        rates.extend(timed.then_some(1.0 / ROWS_OF_TIME));
        let Size { window, neighbours } = self.size;
        let shape = (rates.len(), self.past.outputs);
        Metric { neighbours: Neighbours::new(shape, window, neighbours, processes(relevance.noise)), rates }
    }

    /// What the best of its processes loses over the second half of the past.
    fn loss(&self, mut metric: Metric, rows: &[f64], timed: bool) -> f64 {
        let (mut losses, mut memory) = ([0.0; LANES / 2], Memory::default());
        let Past { outputs, targets, weights, .. } = self.past;
        for (t, (x, y)) in rows.chunks_exact(self.dimension).zip(targets.chunks_exact(outputs)).enumerate() {
            let weight = weights.get(t).copied().unwrap_or(1.0);
            let rounds = timed.then_some(t as u64);
            if 2 * t >= targets.len() / outputs {
                metric.means(x, rounds, &mut memory);
                for (means, y) in memory.means().chunks_exact(LANES).zip(y) {
                    losses.iter_mut().zip(means).for_each(|(loss, mean)| *loss += weight * (mean - y).powi(2));
                }
            }
            metric.push(x, rounds, ([y; TARGETS], weight), &mut memory);
        }
        losses.into_iter().fold(f64::INFINITY, f64::min)
    }
}

impl Metric {
    /// The input in units of this metric, `rounds` being the time where it counts.
    fn place(&self, x: &[f64], rounds: Option<u64>, point: &mut Vec<f64>) {
        point.clear();
        let numbers = x.iter().copied().chain(rounds.map(|rounds| rounds as f64));
        point.extend(numbers.zip(&self.rates).map(|(value, rate)| value * rate));
    }

    fn means(&self, x: &[f64], rounds: Option<u64>, memory: &mut Memory) {
        let mut point = std::mem::take(&mut memory.point);
        self.place(x, rounds, &mut point);
        self.neighbours.means(&point, memory);
        memory.point = point;
    }

    fn push(
        &mut self,
        x: &[f64],
        rounds: Option<u64>,
        example: ([&[f64]; TARGETS], f64),
        memory: &mut Memory,
    ) -> usize {
        self.place(x, rounds, &mut memory.point);
        self.neighbours.push(&memory.point, example.0, example.1)
    }
}

/// The eight processes of a metric in which the length of Matérn 3/2 is 1, with this noise.
fn processes(noise: f64) -> [Process; LANES] {
    let rough = noise.max(ROUGH);
    std::array::from_fn(|lane| {
        let (length, noise, smooth) = match lane % 4 {
            0 => (1.0, noise, true),
            1 => (2.0, rough, false),
            2 => (1.0, 3.0 * rough, false),
            _ => (2.0, 2.0 * noise, true),
        };
        let rate = if smooth { 3.0_f64.sqrt() } else { 1.0 } / length;
        Process { rate, smooth: f64::from(u8::from(smooth)), noise, target: u8::from(lane >= LANES / 2) }
    })
}

/// A learner that has learnt nothing, with so many outputs.
pub(super) fn with_outputs<R: Regressor>(mut learner: R, outputs: usize) -> Result<R, Error> {
    while learner.outputs() < outputs {
        learner.add_output(None)?;
    }
    Ok(learner)
}

/// `mixture ← Σ p_k ŷ_k`
fn mix(aggregation: &Aggregation, predictions: &[f64], mixture: &mut [f64]) {
    mixture.fill(0.0);
    for (weight, made) in aggregation.weights().iter().zip(predictions.chunks_exact(mixture.len())) {
        mixture.iter_mut().zip(made).for_each(|(mixture, made)| *mixture += weight * made);
    }
}

/// Teaches the weights the regrets of a round; out of the range of numbers they teach nothing.
fn charge(
    aggregation: &mut Aggregation,
    predictions: &[f64],
    mixture: &[f64],
    Target { y, weight }: Target<'_>,
    regrets: &mut Vec<f64>,
) {
    regrets.clear();
    regrets.extend(predictions.chunks_exact(y.len()).map(|made| weight * square_loss_regret(mixture, y, made)));
    if regrets.iter().all(|regret| regret.abs() <= LARGEST_REGRET) {
        // As many regrets as experts are always taken.
        let _ = aggregation.learn(regrets);
    }
}

impl Validate for Nearest {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "processes on the nearest examples";
        self.ranks.validate()?;
        self.rest.validate()?;
        self.all.validate()?;
        self.losses.validate()?;
        let d = self.ranks.dimension();
        for (metric, dimension) in [(&self.by_rank, d), (&self.by_time, d + 1), (&self.by_other, d)] {
            metric.neighbours.validate()?;
            metric.rates.iter().try_for_each(|rate| Inconsistent::positive(*rate, "rate of a feature"))?;
            let fits = metric.rates.len() == dimension
                && metric.neighbours.dimension() == dimension
                && metric.neighbours.outputs() == self.outputs();
            Inconsistent::require(fits, WHAT, "it has a rate for each feature")?;
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
            && self.all.weights().len() == MEMBERS
            && self.losses.len() == MEMBERS
            && self.by_rank.neighbours.len() == self.by_time.neighbours.len()
            && self.by_rank.neighbours.len() == self.by_other.neighbours.len();
        Inconsistent::require(fits, WHAT, "all of its members are there")?;
        let known = self.errors.len() == self.len() * self.outputs() && self.mean_error.len() == self.outputs();
        Inconsistent::require(
            known || (self.errors.is_empty() && self.mean_error.is_empty()),
            WHAT,
            "it knows the error of each example",
        )?;
        let mut errors = self.errors.iter().chain(&self.mean_error);
        Inconsistent::require(errors.all(|error| (0.0..=f64::MAX).contains(error)), WHAT, "errors are numbers")?;
        let range = self.low <= 0.0 && self.high >= 0.0 && self.low.is_finite() && self.high.is_finite();
        Inconsistent::require(range, WHAT, "the range of its targets holds 0")
    }
}
