//! Values so far beyond all others of late that they are taken for errors of measurement.

use mercer_core::{Inconsistent, Validate};

/// Widths of the range of late beyond its ends where a value still passes.
const MARGIN: f64 = 10.0;
/// Factor of the margin after a value that did not pass.
const WIDER: f64 = 10.0;
/// Factor of the margin after a value that passed: `10^(−1/50)`.
const NARROWER: f64 = 0.954_992_586_021_436;
/// Values that pass whatever they are.
const FIRST: u64 = 4;
/// Values until the margin is as narrow as it gets.
const EARLY: f64 = 20.0;
/// Values after which the range is that of the next block and the one before.
const BLOCK: u64 = 1000;
/// Equal values, and no other, that make a constant.
const CONSTANT: u64 = 15;
/// Different values that did not pass and are remembered.
const REMEMBERED: usize = 4;

/// Treatment of the rows whose targets are no [plausible](OutlierScreen) values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Outliers {
    /// They are learnt as they are.
    Keep,
    /// They are learnt with a weight that falls with their distance, so that none pulls harder than
    /// one that is as far beyond the range of late as that range is wide.
    #[default]
    Weigh,
    /// They are predicted and not learnt.
    Skip,
}

mercer_core::names!(pub Outliers { Keep = "keep", Weigh = "weigh", Skip = "skip" });

impl Outliers {
    /// The part of a row's weight that is left, by the [share](OutlierScreen::observe) of its
    /// value.
    #[must_use]
    pub fn weight(self, share: f64) -> f64 {
        match self {
            Self::Weigh if share < 1.0 => share / MARGIN,
            Self::Keep | Self::Weigh => 1.0,
            Self::Skip => f64::from(share >= 1.0),
        }
    }
}

/// A name that is none of [`Outliers`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such way with outliers as {0:?}; the ways are keep, weigh and skip")]
pub struct UnknownOutliers(pub String);

impl std::str::FromStr for Outliers {
    type Err = UnknownOutliers;

    fn from_str(name: &str) -> Result<Self, UnknownOutliers> {
        Self::named(name).ok_or_else(|| UnknownOutliers(name.to_owned()))
    }
}

/// Tells single wrong values of a stream, of any size, from a stream that has changed.
///
/// Let `[l, h]` be the range of the values that passed among the last 1000 to 2000, and
/// `w = h − l`. A value `v` passes when it lies within
///
/// ```text
/// l − m w ≤ v ≤ h + m w,   m = 10 a · max(1, 20/n)
/// ```
///
/// where `n` values have passed so far and `a ≥ 1` is the allowance, 1 to begin with: each new
/// value that does not pass multiplies it by 10, each that passes by `10^(−1/50)`. The first four
/// values pass.
///
/// It depends neither on the unit of the values nor on their zero, and these properties follow.
/// - *A shift passes.* Of values that stay `D` widths beyond the range, at most
///   `max(0, ⌈log₁₀(D/10)⌉)` are held back: 5 after a jump of a million widths.
/// - *Rare errors do not.* From the 20th value on, one that is more than `10^(1+j)` widths off does
///   not pass, `j ≤ 50`, where every stretch of `r` values has at most `j + r/51` that would not:
///   about one in 51, of any size. (`k` of them among the `r` values before it leave
///   `log₁₀ a ≤ k − (r − k)/50`.)
/// - *A mark does not.* A value that did not pass and comes again, exactly, is no new level but a
///   mark such as −9999, however often it comes: it leaves the allowance as it is. The last four
///   different ones are remembered.
///
/// After fifteen equal values there is no unit to judge by. The first other value
/// [leaves the constant](Self::leaves) and does not pass. The second tells the unit, which is the
/// distance of the nearer of the two, and both are judged by it.
///
/// What passes wrongly leaves the range after 2000 values at most. `O(1)` time and memory.
///
/// ```
/// use mercer_experts::OutlierScreen;
///
/// let mut screen = OutlierScreen::default();
/// for t in 0..100 {
///     assert_eq!(screen.observe((0.7 * f64::from(t)).sin()), 1.0);
/// }
/// assert!(screen.observe(-9999.0) < 0.01);
/// assert_eq!(screen.observe(0.5), 1.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OutlierScreen {
    /// Ranges of the block before, and of this one.
    ranges: [Option<(f64, f64)>; 2],
    /// Values that passed.
    passed: u64,
    allowance: f64,
    /// The last different values that did not pass, the latest first.
    held: [Option<f64>; REMEMBERED],
    /// The value that left a constant.
    left: Option<f64>,
}

impl Default for OutlierScreen {
    fn default() -> Self {
        Self { ranges: [None; 2], passed: 0, allowance: 1.0, held: [None; REMEMBERED], left: None }
    }
}

/// Distance of a value beyond a range.
fn beyond((low, high): (f64, f64), value: f64) -> f64 {
    (low - value).max(value - high)
}

/// The range with a value in it.
fn with((low, high): (f64, f64), value: f64) -> (f64, f64) {
    (low.min(value), high.max(value))
}

impl OutlierScreen {
    /// True if this value did not pass before, of late.
    #[must_use]
    pub fn is_mark(&self, value: f64) -> bool {
        self.held.contains(&Some(value))
    }

    /// The smallest and the largest of the values that passed of late.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let ends = self.ranges.into_iter().flatten();
        ends.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)))
    }

    /// Distance beyond the range that a value may have with an allowance of 1; infinite while that
    /// cannot be told.
    fn margin(&self, (low, high): (f64, f64)) -> f64 {
        let width = high - low;
        if self.passed < FIRST || width == 0.0 {
            return f64::INFINITY;
        }
        MARGIN * (EARLY / self.passed as f64).max(1.0) * width
    }

    /// The value of a stream that has been constant for long.
    fn constant(&self) -> Option<f64> {
        // So few streams are.
        if self.passed < CONSTANT || self.ranges[1].is_some_and(|(low, high)| low < high) {
            return None;
        }
        let (low, high) = self.range()?;
        (low == high).then_some(low)
    }

    /// The value that left a constant and is not judged yet.
    #[must_use]
    pub fn waiting(&self) -> Option<f64> {
        self.left
    }

    /// True if this value would be the first to leave a constant: it is judged with the next.
    #[must_use]
    pub fn leaves(&self, value: f64) -> bool {
        self.left.is_none() && self.constant().is_some_and(|constant| constant != value)
    }

    /// True if this value passes only because others before it did not: a new level, or the end of
    /// a run of wrong values.
    #[must_use]
    pub fn stretches(&self, value: f64) -> bool {
        if self.allowance <= 1.0 || self.constant().is_some() {
            return false;
        }
        let Some(range) = self.range() else { return false };
        let (margin, beyond) = (self.margin(range), beyond(range, value));
        beyond > margin && beyond <= self.allowance * margin && !self.is_mark(value)
    }

    /// The screen after a constant of which a second value, `value`, tells the unit.
    fn left_behind(&self, constant: f64, first: f64, value: f64) -> Self {
        let nearer = if (value - constant).abs() < (first - constant).abs() { value } else { first };
        let ranges = [None, Some(with((constant, constant), nearer))];
        let mut screen = Self { ranges, passed: FIRST, allowance: 1.0, left: None, ..self.clone() };
        for other in [first, value] {
            if screen.share(other) < 1.0 {
                screen.remember(other);
            }
        }
        screen
    }

    fn remember(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.held.rotate_right(1);
        self.held[0] = Some(value);
    }

    /// 1 where the value is plausible, else the part of its distance to the range that would be
    /// with an allowance of 1: `m w` over that distance, which is below 1. It is 0 for what is no
    /// number, for a value that did not pass before, and for the first that leaves a constant.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        if self.is_usual(value) {
            return 1.0;
        }
        let Some(range) = self.range() else { return 1.0 };
        match self.constant().filter(|constant| *constant != value).map(|constant| (constant, self.left)) {
            Some((_, None)) => return 0.0,
            Some((constant, Some(first))) => return self.left_behind(constant, first, value).share(value),
            None => {}
        }
        let (margin, beyond) = (self.margin(range), beyond(range, value));
        if beyond <= self.allowance * margin {
            1.0
        } else if self.is_mark(value) {
            0.0
        } else {
            margin / beyond
        }
    }

    /// True if the value is within the range of late, as nearly all are, and nothing else is to be
    /// asked.
    #[must_use]
    #[inline]
    pub fn is_usual(&self, value: f64) -> bool {
        self.ranges[1].is_some_and(|(low, high)| low < high && low <= value && value <= high)
    }

    /// [`share`](Self::share), and takes the value into account.
    pub fn observe(&mut self, value: f64) -> f64 {
        if self.is_usual(value) {
            return self.pass(value);
        }
        if self.leaves(value) {
            self.left = Some(value).filter(|value| value.is_finite());
            return 0.0;
        }
        if let Some(constant) = self.constant().filter(|constant| *constant != value)
            && let Some(first) = self.left
        {
            *self = self.left_behind(constant, first, value);
        }
        let share = self.share(value);
        if share < 1.0 {
            if !self.is_mark(value) {
                self.allowance = (self.allowance * WIDER).min(f64::MAX);
                self.remember(value);
            }
            return share;
        }
        self.pass(value)
    }

    /// A value that passes.
    #[inline]
    fn pass(&mut self, value: f64) -> f64 {
        self.allowance = (self.allowance * NARROWER).max(1.0);
        if self.passed > 0 && self.passed.is_multiple_of(BLOCK) {
            self.ranges = [self.ranges[1], None];
        }
        self.passed += 1;
        self.ranges[1] = Some(with(self.ranges[1].unwrap_or((value, value)), value));
        1.0
    }

    /// Which values are implausible by those before them; the first that leaves a constant by the
    /// next that does.
    fn in_order(values: impl Iterator<Item = f64>) -> Vec<bool> {
        let (mut screen, mut found, mut left) = (Self::default(), Vec::new(), None);
        for value in values {
            if screen.leaves(value) {
                left = Some((found.len(), value));
            }
            found.push(screen.observe(value) < 1.0);
            if let Some((row, first)) = left.take_if(|_| screen.waiting().is_none()) {
                found[row] = screen.share(first) < 1.0;
            }
        }
        found
    }

    /// Which values of a whole sequence are implausible: by those before them, or, which judges the
    /// first four, by those after them. One value among a constant is.
    #[must_use]
    pub fn implausible(values: &[f64]) -> Vec<bool> {
        let mut found = Self::in_order(values.iter().copied());
        let backwards = Self::in_order(values.iter().rev().copied());
        found.iter_mut().zip(backwards.iter().rev()).for_each(|(found, backwards)| *found |= backwards);
        if let [first, second, .., last] = values {
            let usual = if first == second { first } else { last };
            let others = || values.iter().filter(|value| *value != usual);
            if values.len() as u64 > CONSTANT && others().count() == 1 {
                found.iter_mut().zip(values).for_each(|(found, value)| *found = value != usual);
            }
        }
        found
    }
}

impl Validate for OutlierScreen {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "range of values";
        let ordered = self.ranges.iter().flatten().all(|(low, high)| low <= high);
        let known = (self.passed == 0) == (self.ranges == [None; 2]);
        Inconsistent::require(ordered && known, WHAT, "its ends are in order")?;
        self.ranges.iter().flatten().try_for_each(|(low, high)| (*low, *high).validate())?;
        self.held.iter().chain([&self.left]).flatten().try_for_each(Validate::validate)?;
        let allows = self.allowance >= 1.0 && self.allowance.is_finite() && self.passed < u64::MAX;
        Inconsistent::require(allows, WHAT, "its allowance is at least 1")
    }
}
