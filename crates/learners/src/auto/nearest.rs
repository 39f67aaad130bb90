//! The part of [`Auto`](super::Auto) that holds a window of the stream: processes on the nearest examples, and learners that forget.
//!
//! Three windows of the same examples, in three metrics, each with eight [processes](Process):
//!
//! | metric | of | relevance |
//! |---|---|---|
//! | ranks | features by their ranks among the first rows | from the marginal likelihood |
//! | time | scaled features, and the number of the row with a length of 1000 rows | from the marginal likelihood, but for the time |
//! | otherwise | scaled features | from the next best peak of the likelihood |
//!
//! Four of the eight learn the target, four what the rest of the mixture leaves of it. Their kernels are Matérn 3/2 of the length and noise that the
//! likelihood chose, the same with twice of both, and Laplace with twice and once the length and more noise: targets are often rougher than the
//! first rows tell. The time makes the nearest examples recent ones where rows change slowly.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::LANES;

use super::ranks::Ranks;
use crate::aggregation::{Aggregation, Rule, square_loss_regret};
use crate::learner::Target;
use crate::local::relevance::Relevance;
use crate::local::{Memory, Neighbours, Process, TARGETS};
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
/// `low ≤ 0 ≤ high`; both windows hold the same examples.
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
    pub(super) fn within(budget: f64, dimension: usize, neighbours: usize) -> Option<Self> {
        let (k, d) = (neighbours as f64, dimension as f64);
        // An exponential costs as much as twenty multiply-adds.
        let processes = LANES as f64 * (k * k * k / 6.0 + 1.5 * k * k + 20.0 * (0.5 * k * k + k)) + 0.5 * k * k * d;
        let rest = budget - METRICS as f64 * processes - (STEPS.len() * FREQUENCIES) as f64 * (d + 24.0);
        let window = rest / (METRICS as f64 * (d + 1.0));
        (neighbours > 0 && window >= 4.0 * k).then_some(Self { neighbours, window: window as usize })
    }
}

/// Rows of the past: as they came, scaled, and what the grid predicted for each when it came.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
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
        let forgetting =
            STEPS.map(|step| Fogd::new(dimension, FogdParams::default().sigma(unit).features(FREQUENCIES).step(step)));
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
            work: Work::default(),
        };
        let rows = past.raw.chunks_exact(dimension.max(1)).zip(past.scaled.chunks_exact(dimension.max(1)));
        for (t, (raw, scaled)) in rows.enumerate() {
            let weight = past.weights.get(t).copied().unwrap_or(1.0);
            nearest.round(Row { raw, scaled }, past.predictions[t], past.targets[t], weight);
        }
        Ok(nearest)
    }

    /// `scratch.neighbours.predictions ←` what everything predicts at `row`, with `grid` for the grid: clipped to where targets have been, or 0.
    fn predict_each(&self, row: Row<'_>, grid: f64, scratch: &mut Scratch) {
        let mut work = std::mem::take(&mut scratch.neighbours);
        let clip = |value: f64| if value.is_finite() { value.clamp(self.low, self.high) } else { 0.0 };
        work.predictions.clear();
        work.predictions.extend([clip(grid), 0.0]);
        for fogd in &self.forgetting {
            work.predictions.push(clip(fogd.predict_with(row.scaled, scratch).unwrap_or(0.0)));
        }
        let rest = mix(&self.rest, &work.predictions);
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.raw, &mut ranked);
        for (metric, x, time) in [
            (&self.by_rank, &*ranked, None),
            (&self.by_time, row.scaled, Some(self.rounds)),
            (&self.by_other, row.scaled, None),
        ] {
            let means = metric.means(x, time, &mut work);
            let made =
                means.into_iter().enumerate().map(|(lane, mean)| if lane < LANES / 2 { mean } else { rest + mean });
            work.predictions.extend(made.map(clip));
        }
        work.input = ranked;
        scratch.neighbours = work;
    }

    /// The prediction at `row`, the grid's being `grid`.
    pub(super) fn predict(&self, row: Row<'_>, grid: f64, scratch: &mut Scratch) -> f64 {
        self.predict_each(row, grid, scratch);
        mix(&self.all, &scratch.neighbours.predictions)
    }

    /// Predicts and learns; the prediction.
    pub(super) fn round(&mut self, row: Row<'_>, grid: f64, target: f64, weight: f64) -> f64 {
        let Work { mut scratch, mut regrets } = std::mem::take(&mut self.work);
        self.predict_each(row, grid, &mut scratch);
        let made = &scratch.neighbours.predictions;
        let (rest, prediction) = (mix(&self.rest, made), mix(&self.all, made));
        for (loss, made) in self.losses.iter_mut().zip(made) {
            *loss = (*loss + weight * (made - target).powi(2)).min(f64::MAX);
        }
        charge(&mut self.rest, &made[..OTHERS], rest, (target, weight), &mut regrets);
        charge(&mut self.all, made, prediction, (target, weight), &mut regrets);
        let mut score = [0.0];
        for fogd in &mut self.forgetting {
            // A step that is refused is not made; the others go on.
            let _ = fogd.learn(row.scaled, Target::weighted(&[target], weight), &mut score);
        }
        let targets = [target, target - rest];
        let work = &mut scratch.neighbours;
        let mut ranked = std::mem::take(&mut work.input);
        self.ranks.apply(row.raw, &mut ranked);
        self.by_rank.push(&ranked, None, (targets, weight), work);
        self.by_time.push(row.scaled, Some(self.rounds), (targets, weight), work);
        self.by_other.push(row.scaled, None, (targets, weight), work);
        work.input = ranked;
        self.low = self.low.min(target);
        self.high = self.high.max(target);
        self.rounds += 1;
        self.work = Work { scratch, regrets };
        prediction
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
        let (d, n) = (self.dimension, self.past.targets.len());
        if n < ROWS_FOR_RELEVANCE || d == 0 {
            return [begins[0].clone(), begins[1].clone()];
        }
        // As many of the last rows as are looked at.
        let first = n - n.min(MOST_ROWS);
        let mut found = begins.map(|begin| {
            let found = begin.learn(&rows[first * d..], &self.past.targets[first..]);
            (self.loss(self.metric(&found, timed), rows, timed), found)
        });
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        [found[0].1.clone(), found[1].1.clone()]
    }

    fn metric(&self, relevance: &Relevance, timed: bool) -> Metric {
        let mut rates: Vec<f64> = relevance.weights.iter().map(|weight| weight.sqrt()).collect();
        rates.extend(timed.then_some(1.0 / ROWS_OF_TIME));
        let Size { window, neighbours } = self.size;
        Metric { neighbours: Neighbours::new(rates.len(), window, neighbours, processes(relevance.noise)), rates }
    }

    /// What the best of its processes loses over the second half of the past.
    fn loss(&self, mut metric: Metric, rows: &[f64], timed: bool) -> f64 {
        let (mut losses, mut memory) = ([0.0; LANES / 2], Memory::default());
        for (t, x) in rows.chunks_exact(self.dimension).enumerate() {
            let (target, weight) = (self.past.targets[t], self.past.weights.get(t).copied().unwrap_or(1.0));
            let rounds = timed.then_some(t as u64);
            if 2 * t >= self.past.targets.len() {
                let means = metric.means(x, rounds, &mut memory);
                losses.iter_mut().zip(means).for_each(|(loss, mean)| *loss += weight * (mean - target).powi(2));
            }
            metric.push(x, rounds, ([target; TARGETS], weight), &mut memory);
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

    fn means(&self, x: &[f64], rounds: Option<u64>, memory: &mut Memory) -> [f64; LANES] {
        let mut point = std::mem::take(&mut memory.point);
        self.place(x, rounds, &mut point);
        let means = self.neighbours.means(&point, memory);
        memory.point = point;
        means
    }

    fn push(&mut self, x: &[f64], rounds: Option<u64>, example: ([f64; TARGETS], f64), memory: &mut Memory) {
        self.place(x, rounds, &mut memory.point);
        self.neighbours.push(&memory.point, example.0, example.1);
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

/// `Σ p_k ŷ_k`
fn mix(aggregation: &Aggregation, predictions: &[f64]) -> f64 {
    aggregation.weights().iter().zip(predictions).map(|(weight, made)| weight * made).sum()
}

/// Teaches the weights the regrets of a round; out of the range of numbers they teach nothing.
fn charge(
    aggregation: &mut Aggregation,
    predictions: &[f64],
    mixture: f64,
    (target, weight): (f64, f64),
    regrets: &mut Vec<f64>,
) {
    regrets.clear();
    regrets.extend(predictions.iter().map(|made| weight * square_loss_regret(&[mixture], &[target], &[*made])));
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
            let fits = metric.rates.len() == dimension && metric.neighbours.dimension() == dimension;
            Inconsistent::require(fits, WHAT, "it has a rate for each feature")?;
        }
        for fogd in &self.forgetting {
            fogd.validate()?;
            Inconsistent::require(fogd.dimension() == d && fogd.outputs() == 1, WHAT, "its learners fit the features")?;
        }
        let fits = self.forgetting.len() == STEPS.len()
            && self.rest.weights().len() == OTHERS
            && self.all.weights().len() == MEMBERS
            && self.losses.len() == MEMBERS
            && self.by_rank.neighbours.len() == self.by_time.neighbours.len()
            && self.by_rank.neighbours.len() == self.by_other.neighbours.len();
        Inconsistent::require(fits, WHAT, "all of its members are there")?;
        let range = self.low <= 0.0 && self.high >= 0.0 && self.low.is_finite() && self.high.is_finite();
        Inconsistent::require(range, WHAT, "the range of its targets holds 0")
    }
}
