//! Quantiles of a stream in bounded memory.

use mercer_core::{Inconsistent, Validate};

/// Size of the topmost level.
const K: usize = 200;
/// Size of a level at least.
const LEAST: usize = 8;
/// Levels at most: a level holds values of weight `2^level`.
const MOST_LEVELS: usize = 50;

/// A sketch of the quantiles of a stream.
///
/// Level `h` of `H` holds values that stand for `2^h` each, at most `max(8, ⌈200·(2/3)^{H−1−h}⌉)`
/// of them. A full level is sorted, and every second of its values moves up; a coin says whether
/// the odd ones or the even ones. The coins are a fixed sequence (SplitMix64 of the number of
/// compactions), so the same stream gives the same sketch.
///
/// Up to 199 values quantiles are exact. Beyond, the rank of a quantile errs by 1.33% of the values
/// with 99% confidence (Apache DataSketches states this for the same sizes), whatever the length of
/// the stream. Memory: some 600 numbers, and 8 more each time that the stream doubles. `O(log K)` a
/// value on average, `O(K log K)` a query. Source: Z. Karnin, K. Lang and E. Liberty, *Optimal
/// quantile approximation in streams*, FOCS 2016.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QuantileSketch {
    count: u64,
    low: f64,
    high: f64,
    compactions: u64,
    levels: Vec<Vec<f64>>,
}

impl Default for QuantileSketch {
    fn default() -> Self {
        Self { count: 0, low: f64::MAX, high: f64::MIN, compactions: 0, levels: vec![Vec::new()] }
    }
}

impl QuantileSketch {
    /// Takes a finite value in.
    pub fn observe(&mut self, value: f64) {
        self.count += 1;
        self.low = self.low.min(value);
        self.high = self.high.max(value);
        self.levels[0].push(value);
        let mut level = 0;
        while level < self.levels.len() && self.levels[level].len() >= capacity(level, self.levels.len()) {
            self.compact(level);
            level += 1;
        }
    }

    /// Halves a level into the one above it.
    fn compact(&mut self, level: usize) {
        if level + 1 == self.levels.len() {
            self.levels.push(Vec::new());
        }
        let mut full = std::mem::take(&mut self.levels[level]);
        // An odd value stays behind.
        let odd = if full.len() % 2 == 1 { full.pop() } else { None };
        full.sort_unstable_by(f64::total_cmp);
        let first = usize::from(coin(self.compactions));
        self.compactions += 1;
        self.levels[level + 1].extend(full.iter().skip(first).step_by(2));
        full.clear();
        full.extend(odd);
        self.levels[level] = full;
    }

    /// Values so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest and the largest value, `None` before the first.
    #[must_use]
    pub fn ends(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.low, self.high))
    }

    /// The quantiles of rising `shares` in `[0, 1]`. The quantile of a share is the smallest value
    /// that at least this share of the values does not exceed. `None` before the first value.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> Option<[f64; N]> {
        let mut weighted: Vec<(f64, u64)> = Vec::with_capacity(self.levels.iter().map(Vec::len).sum());
        for (level, values) in self.levels.iter().enumerate() {
            weighted.extend(values.iter().map(|value| (*value, 1 << level)));
        }
        weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut last, mut place, mut below) = (*weighted.last()?, 0, 0);
        last.0 = self.high;
        Some(shares.map(|share| {
            let rank = (share * self.count as f64).max(1.0);
            while place < weighted.len() && ((below + weighted[place].1) as f64) < rank {
                below += weighted[place].1;
                place += 1;
            }
            weighted.get(place).unwrap_or(&last).0
        }))
    }
}

/// Values that level `level` of `levels` holds before it is halved.
fn capacity(level: usize, levels: usize) -> usize {
    let shrunk = (level + 1..levels).fold(K as f64, |size, _| size * (2.0 / 3.0));
    (shrunk.ceil() as usize).max(LEAST)
}

/// The top bit of SplitMix64 (Steele, Lea and Flood, 2014).
fn coin(number: u64) -> bool {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) >> 63 == 1
}

impl Validate for QuantileSketch {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sketch of quantiles";
        let levels = self.levels.len();
        Inconsistent::require((1..=MOST_LEVELS).contains(&levels), WHAT, "its levels are in range")?;
        let sizes = self.levels.iter().enumerate().all(|(level, values)| values.len() < capacity(level, levels));
        Inconsistent::require(sizes, WHAT, "no level is full")?;
        let weight: u64 = self.levels.iter().enumerate().map(|(level, values)| (values.len() as u64) << level).sum();
        Inconsistent::require(weight == self.count, WHAT, "its weights sum to the count")?;
        (self.low, self.high).validate()?;
        let within = self.levels.iter().flatten().all(|value| (self.low..=self.high).contains(value));
        Inconsistent::require(within, WHAT, "its values lie between the smallest and the largest")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

    fn observed(values: impl Iterator<Item = f64>) -> QuantileSketch {
        let mut sketch = QuantileSketch::default();
        values.for_each(|value| sketch.observe(value));
        sketch
    }

    /// A value by its place and the number of all.
    type Order = fn(u32, u32) -> f64;

    /// The largest error of a rank, as a share of the values, found by counting.
    fn worst_error(sketch: &QuantileSketch, values: &[f64]) -> f64 {
        let made = sketch.quantiles(SHARES).unwrap();
        let n = values.len() as f64;
        let errors = made.iter().zip(SHARES).map(|(value, share)| {
            let below = values.iter().filter(|v| *v < value).count() as f64 / n;
            let not_above = values.iter().filter(|v| *v <= value).count() as f64 / n;
            (below - share).max(share - not_above).max(0.0)
        });
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn ranks_err_by_less_than_stated() {
        for n in [200_u32, 1000, 10_000, 200_000] {
            let orders: [(&str, Order); 5] = [
                ("rising", |i, _| f64::from(i)),
                ("falling", |i, _| -f64::from(i)),
                ("to and fro", |i, n| f64::from(if i % 2 == 0 { i } else { n - i })),
                ("spread", |i, _| f64::from(i.wrapping_mul(2_654_435_761) >> 8)),
                ("heavy tail", |i, _| 1.0 / (f64::from(i.wrapping_mul(2_654_435_761)) + 1.0)),
            ];
            for (name, order) in orders {
                let values: Vec<f64> = (0..n).map(|i| order(i, n)).collect();
                let sketch = observed(values.iter().copied());
                assert_eq!(sketch.validate(), Ok(()));
                let error = worst_error(&sketch, &values);
                assert!(error <= 0.0133, "{name} {n}: {error}");
                let kept: usize = sketch.levels.iter().map(Vec::len).sum();
                assert!(kept < 750, "{kept} numbers kept");
            }
        }
    }

    #[test]
    fn nothing_has_no_quantiles() {
        let sketch = QuantileSketch::default();
        assert_eq!((sketch.quantiles([0.5]), sketch.ends(), sketch.validate()), (None, None, Ok(())));
    }

    #[test]
    fn damage_is_found() {
        let sound = observed((0..1000).map(f64::from));
        let damages: [fn(&mut QuantileSketch); 5] = [
            |sketch| sketch.count += 1,
            |sketch| sketch.levels[0].push(f64::NAN),
            |sketch| sketch.levels.clear(),
            |sketch| sketch.levels = vec![Vec::new(); 64],
            |sketch| sketch.high = 0.0,
        ];
        for damage in damages {
            let mut sketch = sound.clone();
            damage(&mut sketch);
            assert!(sketch.validate().is_err());
        }
    }

    proptest! {
        #[test]
        fn few_values_are_exact(values in prop::collection::vec(-1e308..1e308_f64, 1..200)) {
            let made = observed(values.iter().copied()).quantiles(SHARES).unwrap();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for (value, share) in made.iter().zip(SHARES) {
                let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
                prop_assert_eq!(*value, sorted[rank - 1]);
            }
        }
    }
}
