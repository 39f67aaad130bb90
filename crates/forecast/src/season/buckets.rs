//! The mixture: weights of the experts for each bucket of horizons.
//!
//! Horizons `1 | 2, 3 | 4 … 7 | 8 … 15 | …` share a bucket of `w` horizons. When the row of a
//! forecast has come, the absolute error of expert `k` joins its bucket with weight `1/w`, and the
//! bucket decays by `η^{1/w}`, with two memories `1/(1 − η)`: 100 rows, and 300 or four of the
//! longest seasons. With mean losses `L_k` over `n` rows of a memory, and those of the bucket
//! before, as ratios to the least, for as many as 24 rows,
//!
//! ```text
//! L̃_k = (n L_k + 24 min L · L̃'_k/min L̃')/(n + 24)
//! weight_k ∝ (L̃_k + 10⁻⁴ min L̃)^{−q},   q = min(16, n/6)
//! ```
//!
//! The weights are the means of both memories. Few errors leave them nearly equal, and many give
//! nearly all to the best; after 1000 rows all go to the best eight. While a bucket has no error,
//! the median of the experts is the forecast.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::exp;

use super::coordinates::{exp_each, ln};
use super::shared::MeanRatios;

/// The largest `q`, and the rows for each unit of it.
const SHARPEST: f64 = 16.0;
const ROWS_A_POWER: f64 = 6.0;

/// Rows that the losses of other series count as.
const BEGINS_WITH: f64 = 24.0;

/// Rows that the losses of the bucket before count as.
const NEARER: f64 = 24.0;

/// Rows of the shorter memory, and of the longer one at least.
const SHORT: f64 = 100.0;
const LONG: f64 = 300.0;

/// Rows of a series after which the best experts of a bucket alone have weight, and how many.
const MANY_ROWS: usize = 1000;
const BEST: usize = 8;

/// Losses that decay.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Memory {
    losses: Vec<f64>,
    rows: f64,
    /// Factor that multiplies `rows` and losses for an error, `η^{1/w}`.
    decay: f64,
}

/// Horizons that share their weights.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Bucket {
    /// The longer one first.
    memories: [Memory; 2],
    /// `1/w`
    share: f64,
}

/// The weights of all buckets.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Buckets {
    buckets: Vec<Bucket>,
}

/// The bucket of a number of steps; those beyond the largest horizon are in the last.
pub(crate) fn bucket(step: usize, horizons: usize) -> usize {
    step.clamp(1, horizons).ilog2() as usize
}

/// Horizons of each bucket.
pub(super) fn widths(horizons: usize) -> Vec<usize> {
    (0..=bucket(horizons, horizons)).map(|b| width(b, horizons)).collect()
}

/// Horizons of a bucket.
pub(crate) fn width(b: usize, horizons: usize) -> usize {
    (2 << b).min(horizons + 1) - (1 << b)
}

impl Memory {
    fn new(rows: f64, share: f64, experts: usize) -> Self {
        Self { losses: vec![0.0; experts], rows: 0.0, decay: exp(ln(1.0 - 1.0 / rows) * share) }
    }

    fn learn(&mut self, share: f64, errors: impl Iterator<Item = f64>) {
        for (loss, error) in self.losses.iter_mut().zip(errors) {
            *loss = *loss * self.decay + share * error;
        }
        self.rows = self.rows * self.decay + share;
    }

    /// `L`; the smallest loss that still is a number keeps the logarithm one.
    fn means(&self, means: &mut [f64]) {
        means.iter_mut().zip(&self.losses).for_each(|(mean, loss)| *mean = loss / self.rows + 1e-300);
    }

    /// `L̃ ← (n L + 24 min L · L̃/min L̃)/(n + 24)`, from those of the bucket before, of as many
    /// experts as these are.
    fn join(&self, nearer: &mut [f64]) {
        let mean = |loss: &f64| loss / self.rows + 1e-300;
        let (before, least) = (smallest(nearer), smallest(&self.losses[..nearer.len()]) / self.rows + 1e-300);
        for (joint, loss) in nearer.iter_mut().zip(&self.losses) {
            *joint = (self.rows * mean(loss) + NEARER * least * (*joint / before)) / (self.rows + NEARER);
        }
    }
}

/// The weights of experts with these losses, which sum to 1; of `best` experts alone. `ordered` is
/// scratch memory of as many numbers.
fn weigh(losses: &[f64], power: f64, best: usize, weights: &mut [f64], ordered: &mut [f64]) {
    let least = smallest(losses);
    for (weight, loss) in weights.iter_mut().zip(losses) {
        *weight = power * ln(1.0001 * least / (loss + 1e-4 * least));
    }
    exp_each(weights);
    if best < weights.len() {
        ordered.copy_from_slice(weights);
        let (_, threshold, _) = ordered.select_nth_unstable_by(best, |a, b| b.total_cmp(a));
        weights.iter_mut().filter(|weight| **weight <= *threshold).for_each(|weight| *weight = 0.0);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

fn smallest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

impl Bucket {
    fn new(width: usize, experts: usize, periods: &[usize]) -> Self {
        let share = 1.0 / width as f64;
        let long = LONG.max(4.0 * periods.last().copied().unwrap_or(1) as f64);
        Self { memories: [long, SHORT].map(|rows| Memory::new(rows, share, experts)), share }
    }
}

impl Buckets {
    pub(super) fn new(horizons: usize, experts: usize, periods: &[usize]) -> Self {
        let bucket = |width| Bucket::new(width, experts, periods);
        Self { buckets: widths(horizons).into_iter().map(bucket).collect() }
    }

    /// `ln(L_k / min L)` of each bucket, `None` where there was no error.
    pub(super) fn ratios(&self) -> Vec<Option<Vec<f64>>> {
        let ratios = |bucket: &Bucket| {
            let losses = &bucket.memories[0].losses;
            let least = smallest(losses);
            // The same floor as that of the weights.
            let ratio = |loss: &f64| ln((loss + 1e-4 * least) / (1.0001 * least));
            (least > 0.0 && least.is_finite()).then(|| losses.iter().map(ratio).collect())
        };
        self.buckets.iter().map(ratios).collect()
    }

    /// Begins with the losses of other series, in units of a change.
    pub(super) fn begin(&mut self, shared: &[MeanRatios], unit: f64) {
        for (bucket, mean) in self.buckets.iter_mut().zip(shared) {
            for memory in &mut bucket.memories {
                memory.rows = BEGINS_WITH;
                for (loss, logarithm) in memory.losses.iter_mut().zip(&mean.logarithms) {
                    *loss = BEGINS_WITH * unit * exp(*logarithm);
                }
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.buckets.len()
    }

    /// The weights of the first experts, so many of them, behind so many rows, as if there were no
    /// others; equal ones before the first error.
    pub(super) fn of_first(&self, experts: usize, b: usize, rows: usize) -> Vec<f64> {
        if self.buckets[b].memories[0].rows == 0.0 {
            return vec![1.0 / experts as f64; experts];
        }
        let mut work = Vec::new();
        self.weigh(b, rows, experts, &mut work);
        work.truncate(experts);
        work
    }

    fn experts(&self) -> usize {
        self.buckets[0].memories[0].losses.len()
    }

    /// The weights of the first `experts` in a bucket that has errors, of a series of so many rows:
    /// means of the memories, in the first places of `work`.
    fn weigh(&self, b: usize, rows: usize, experts: usize, work: &mut Vec<f64>) {
        let first = (0..b).rev().find(|nearer| self.buckets[*nearer].memories[0].rows == 0.0).map_or(0, |b| b + 1);
        let best = if rows < MANY_ROWS { usize::MAX } else { BEST };
        work.clear();
        work.resize(4 * experts, 0.0);
        let (mean, rest) = work.split_at_mut(experts);
        let (losses, rest) = rest.split_at_mut(experts);
        let (own, ordered) = rest.split_at_mut(experts);
        for i in 0..2 {
            self.buckets[first].memories[i].means(losses);
            self.buckets[first + 1..=b].iter().for_each(|bucket| bucket.memories[i].join(losses));
            let power = SHARPEST.min(self.buckets[b].memories[i].rows / ROWS_A_POWER);
            weigh(losses, power, best, own, ordered);
            mean.iter_mut().zip(&*own).for_each(|(mean, own)| *mean += 0.5 * own);
        }
    }

    /// The mixture of the experts' paths (`steps` numbers each) behind so many rows, whose first
    /// step is number `first`. `work` is scratch memory.
    pub(super) fn mix(
        &self,
        paths: &[f64],
        (rows, first): (usize, usize),
        path: &mut [f64],
        horizons: usize,
        work: &mut Vec<f64>,
    ) {
        let steps = path.len();
        let mut weighed = None;
        for step in 0..steps {
            let b = bucket(first + step, horizons);
            let values = paths.chunks_exact(steps).map(|own| own[step]);
            if self.buckets[b].memories[0].rows == 0.0 {
                work.clear();
                work.extend(values);
                weighed = None;
                path[step] = median(work);
                continue;
            }
            if weighed != Some(b) {
                self.weigh(b, rows, self.experts(), work);
                weighed = Some(b);
            }
            path[step] = values.zip(&*work).map(|(value, weight)| weight * value).sum();
        }
    }

    /// The mixture of one step with weights that are sharper and become so earlier; not a number
    /// before the first error.
    pub(super) fn sharper(&self, paths: &[f64], steps: usize, work: &mut Vec<f64>) -> f64 {
        let next = &self.buckets[0].memories[0];
        if next.rows == 0.0 {
            return f64::NAN;
        }
        let experts = self.experts();
        work.clear();
        work.resize(2 * experts, 0.0);
        let (weights, losses) = work.split_at_mut(experts);
        next.means(losses);
        weigh(losses, 4.0 * SHARPEST.min(next.rows / (2.0 * ROWS_A_POWER)), usize::MAX, weights, &mut []);
        paths.iter().step_by(steps).zip(&*weights).map(|(value, weight)| weight * value).sum()
    }

    /// Learns the experts' errors of a forecast of `step` steps.
    pub(super) fn learn(&mut self, step: usize, horizons: usize, forecasts: impl Iterator<Item = f64> + Clone, y: f64) {
        let Bucket { memories, share } = &mut self.buckets[bucket(step, horizons)];
        let errors = forecasts.map(|forecast| (forecast - y).abs());
        memories.iter_mut().for_each(|memory| memory.learn(*share, errors.clone()));
    }

    pub(super) fn validate(&self, horizons: usize, experts: usize, periods: &[usize]) -> Result<(), Inconsistent> {
        const WHAT: &str = "weights of the mixture";
        let expected = Self::new(horizons, experts, periods);
        Inconsistent::require(self.buckets.len() == expected.buckets.len(), WHAT, "all horizons have some")?;
        for (bucket, expected) in self.buckets.iter().zip(&expected.buckets) {
            Inconsistent::require(bucket.share == expected.share, WHAT, "each horizon has its share")?;
            for (memory, expected) in bucket.memories.iter().zip(&expected.memories) {
                memory.losses.validate()?;
                memory.rows.validate()?;
                let same = memory.losses.len() == experts && memory.decay == expected.decay;
                let sound = memory.losses.iter().all(|loss| *loss >= 0.0) && memory.rows >= 0.0;
                Inconsistent::require(same && sound, WHAT, "each expert has a loss")?;
            }
        }
        Ok(())
    }
}

/// The median of some numbers, which are put in order.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn horizons_fall_into_buckets() {
        assert_eq!((1..=9).map(|step| bucket(step, 9)).collect::<Vec<_>>(), [0, 1, 1, 2, 2, 2, 2, 3, 3]);
        assert_eq!((bucket(100, 9), bucket(100, 5)), (3, 2));
        assert_eq!((widths(9), widths(1), widths(12)), (vec![1, 2, 4, 2], vec![1], vec![1, 2, 4, 5]));
    }

    /// Mean losses of `w` horizons with a memory of so many rows, and `q`.
    fn means(errors: &[[f64; 3]], memory: f64, w: f64) -> ([f64; 3], f64) {
        let (mut losses, mut rows) = ([0.0; 3], 0.0);
        for errors in errors {
            let decay = (1.0 - 1.0 / memory).powf(1.0 / w);
            losses.iter_mut().zip(errors).for_each(|(loss, error)| *loss = *loss * decay + error / w);
            rows = rows * decay + 1.0 / w;
        }
        (losses.map(|loss| loss / rows), rows)
    }

    fn least(losses: &[f64; 3]) -> f64 {
        losses.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The mixture of 10, 20 and 40 by the formula: means over both memories.
    fn mixed(losses: &[([f64; 3], f64); 2]) -> f64 {
        let of_one = |(losses, rows): &([f64; 3], f64)| {
            let powers = losses.map(|mean| (mean + 1e-4 * least(losses)).powf(-(rows / 6.0).min(16.0)));
            (powers[0] * 10.0 + powers[1] * 20.0 + powers[2] * 40.0) / powers.iter().sum::<f64>()
        };
        losses.iter().map(of_one).sum::<f64>() / 2.0
    }

    #[test]
    fn weights_are_those_of_the_formula() {
        let mut buckets = Buckets::new(3, 3, &[]);
        let mut work = Vec::new();
        let mut path = [0.0];
        buckets.mix(&[1.0, 7.0, 3.0], (9, 1), &mut path, 3, &mut work);
        assert_eq!(path, [3.0]);
        let mut errors = [Vec::new(), Vec::new()];
        let mut learn = |buckets: &mut Buckets, step: usize, y: f64| {
            let forecasts = [y + 1.0, y - 0.5, 2.0 - step as f64];
            buckets.learn(step, 3, forecasts.into_iter(), y);
            errors[step - 1].push(forecasts.map(|f| (f - y).abs()));
            [300.0, 100.0].map(|memory| means(&errors[step - 1], memory, step as f64))
        };
        let mut far = [([0.0; 3], 0.0); 2];
        (0..40).for_each(|t| far = learn(&mut buckets, 2, f64::from(t % 5)));
        // The nearer bucket has no errors yet.
        buckets.mix(&[10.0, 20.0, 40.0], (40, 3), &mut path, 3, &mut work);
        assert!((path[0] - mixed(&far)).abs() < 1e-10 * path[0], "{path:?} {}", mixed(&far));
        let mut near = far;
        (0..25).for_each(|t| near = learn(&mut buckets, 1, f64::from(t % 7)));
        let joined = std::array::from_fn(|i| {
            let ((nearer, _), (own, n)) = (near[i], far[i]);
            let share = |k: usize| 24.0 * least(&own) * nearer[k] / least(&nearer);
            (std::array::from_fn(|k| (n * own[k] + share(k)) / (n + 24.0)), n)
        });
        buckets.mix(&[10.0, 20.0, 40.0], (40, 3), &mut path, 3, &mut work);
        assert!((path[0] - mixed(&joined)).abs() < 1e-10 * path[0], "{path:?} {}", mixed(&joined));
        assert!((mixed(&joined) - mixed(&far)).abs() > 1e-3);
        assert!(buckets.validate(3, 3, &[]).is_ok() && buckets.validate(3, 4, &[]).is_err());
    }

    #[test]
    fn after_many_rows_the_best_alone_have_weight() {
        let mut buckets = Buckets::new(1, 12, &[]);
        for _ in 0..3 {
            buckets.learn(1, 1, (0..12).map(|k| 5.0 + f64::from(k)), 0.0);
        }
        let (mut weights, paths) = (Vec::new(), [0.0; 12]);
        for (rows, kept) in [(999, 12), (1000, 8)] {
            buckets.mix(&paths, (rows, 1), &mut [0.0], 1, &mut weights);
            assert_eq!(weights[..12].iter().filter(|weight| **weight > 0.0).count(), kept);
            assert!((weights[..12].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
