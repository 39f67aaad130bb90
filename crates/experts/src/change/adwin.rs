//! ADWIN: a window of the last values that is cut where its mean changed (Bifet and Gavaldà 2007).

use mercer_core::{Inconsistent, ParameterError, Validate};

use super::ChangeDetector;
use super::moments::{Moments, ROUNDING};

/// Buckets of one size, at most.
const SAME_SIZE: usize = 5;

/// Buckets for which there is memory at once: windows of some 20,000 values.
const CAPACITY: usize = 64;

/// A window of the last values `x`, as long as their mean does not change; `δ` bounds the
/// probability of cutting one that did not.
///
/// For every cut of the window into an older part of `n₀` values and a newer of `n₁`, with
/// `1/m = 1/n₀ + 1/n₁`, `k` the number of cuts, and `σ²` and `b` the variance and the range of the
/// values in the window,
///
/// ```text
/// │mean₁ − mean₀│ > ε,   ε = √(2σ²L/m) + 2bL/3m,   L = ln(2k/δ)
/// ```
///
/// tells a change; the oldest values are dropped until no cut does. An alarm is a change to a
/// larger mean.
///
/// **False alarms.** `ε` is that of the paper's section 3.1, with `δ′ = δ/k`: while the mean stands
/// still, a round cuts the window with probability `δ` at most, as far as `σ` and `b`, which are
/// estimated from the window, are those of the values. This is a union bound over all cuts of a
/// round, for the worst distributions. In fact alarms are far rarer: with the default `δ = 0.002`
/// there was none in 2·10⁶ rounds each of squared normal, exponential, uniform and 0–1 values
/// (`tests/experts/detectors.rs`).
///
/// **Range.** The paper's values lie in `[0, 1]`. Here a value counts as `c = mean + 10σ` of the
/// window before it at most (and as ±1e100 at most), so that one wild value neither is a change nor
/// hides one, and `b` is `min(largest, c) − smallest`, with the `c` of now.
///
/// **Memory.** An exponential histogram: buckets of `2^i` values with count, mean, squared
/// deviations and range, at most five of a size, so `5 log₂(n/5)` buckets; cuts are tried between
/// buckets. `O(log n)` time for a value (amortised, since a cut drops buckets) and memory.
///
/// Source: A. Bifet, R. Gavaldà, *Learning from time-changing data with adaptive windowing*,
/// SDM 2007.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Adwin {
    delta: f64,
    /// The oldest first; counts are powers of two that do not rise.
    buckets: Vec<Bucket>,
    /// All of them merged.
    window: Bucket,
}

/// Neighbouring values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Bucket {
    moments: Moments,
    low: f64,
    high: f64,
}

impl Bucket {
    const EMPTY: Self = Self { moments: Moments::EMPTY, low: 0.0, high: 0.0 };

    fn from_value(value: f64) -> Self {
        Self { moments: Moments::from_value(value), low: value, high: value }
    }

    fn merged(&self, other: &Self) -> Self {
        if self.moments.count() == 0 {
            return *other;
        }
        Self {
            moments: self.moments.merged(&other.moments),
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

impl Validate for Bucket {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.moments.validate()?;
        (self.low, self.high).validate()?;
        let ranged = self.low <= self.high && self.moments.count().is_power_of_two();
        Inconsistent::require(ranged, "bucket", "its values have a range, and are a power of two")
    }
}

impl Default for Adwin {
    /// `δ = 0.002`
    fn default() -> Self {
        Self { delta: Self::DELTA, buckets: Vec::new(), window: Bucket::EMPTY }
    }
}

impl Adwin {
    /// The default of `δ`.
    pub const DELTA: f64 = 0.002;

    /// An empty window.
    ///
    /// # Errors
    /// When `delta` is not above 0 and below 1.
    pub fn new(delta: f64) -> Result<Self, ParameterError> {
        ParameterError::require(delta > 0.0 && delta < 1.0, "delta", "above 0 and below 1", delta)?;
        Ok(Self { delta, ..Self::default() })
    }

    /// Values in the window.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.window.moments.count()
    }

    /// The mean of the values in the window, 0 when there is none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.window.moments.mean()
    }

    /// Merges the two oldest of six buckets of one size, and so on with the next size.
    fn compress(&mut self) {
        let mut end = self.buckets.len();
        let size = |bucket: &Bucket| bucket.moments.count();
        while let Some(first) = end.checked_sub(SAME_SIZE + 1) {
            if size(&self.buckets[first]) != size(&self.buckets[end - 1]) {
                break;
            }
            self.buckets[first] = self.buckets[first].merged(&self.buckets[first + 1]);
            self.buckets.remove(first + 1);
            // The merged bucket is the newest of its size.
            end = first + 1;
        }
    }

    /// The change that a cut tells, if one does: true if some cut tells of larger values.
    fn change(&self) -> Option<bool> {
        let Bucket { moments, low, high } = self.window;
        let (n, mean) = (moments.count() as f64, moments.mean());
        let cuts = self.buckets.len().saturating_sub(1).max(1);
        let log = (2.0 * cuts as f64 / self.delta).ln();
        let spread = 2.0 * moments.variance() * log / n;
        // What a wider clip let in long ago does not widen the range of now.
        let range = 2.0 / 3.0 * (moments.clip(high) - low) * log;
        let rounding = ROUNDING * low.abs().max(high.abs());
        let (mut n1, mut sum, mut change) = (0.0, 0.0, None);
        for bucket in self.buckets.iter().skip(1).rev() {
            let count = bucket.moments.count() as f64;
            n1 += count;
            sum += count * (bucket.moments.mean() - mean);
            // m (mean₁ − mean₀) is this sum, so that both sides times m need neither a division nor
            // a root.
            let excess = sum.abs() - range - rounding * n1;
            if excess > 0.0 && excess * excess > spread * n1 * (n - n1) {
                change = Some(change == Some(true) || sum > 0.0);
            }
        }
        change
    }
}

impl ChangeDetector for Adwin {
    fn observe(&mut self, value: f64) -> bool {
        let value = self.window.moments.clip(value);
        if self.buckets.len() == self.buckets.capacity() {
            self.buckets.reserve(CAPACITY);
        }
        self.buckets.push(Bucket::from_value(value));
        self.compress();
        self.window = self.window.merged(&Bucket::from_value(value));
        let mut alarm = false;
        while let Some(rise) = self.change() {
            alarm |= rise;
            self.buckets.remove(0);
            self.window = self.buckets.iter().fold(Bucket::EMPTY, |all, bucket| all.merged(bucket));
        }
        alarm
    }

    fn reset(&mut self) {
        self.buckets.clear();
        self.window = Bucket::EMPTY;
    }
}

impl Validate for Adwin {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "window of a change detector";
        Inconsistent::require(self.delta > 0.0 && self.delta < 1.0, WHAT, "its δ is between 0 and 1")?;
        self.buckets.validate()?;
        // Sizes are powers of two, so that these two rules bound both their number and their sum.
        let counts = || self.buckets.iter().map(|bucket| bucket.moments.count());
        let falling = counts().zip(counts().skip(1)).all(|(older, newer)| older >= newer);
        let few = counts().zip(counts().skip(SAME_SIZE)).all(|(older, newer)| older > newer);
        let small = counts().all(|count| count <= 1 << 48);
        Inconsistent::require(falling && few && small, WHAT, "its buckets become smaller, five of a size at most")?;
        self.window.moments.validate()?;
        (self.window.low, self.window.high).validate()?;
        let all = self.window.moments.count() == counts().sum::<u64>() && self.window.low <= self.window.high;
        Inconsistent::require(all, WHAT, "its sums are those of its buckets")
    }
}
