//! Epochs that double, and how many lags each may use.

use mercer_core::{Inconsistent, ParameterError, Validate};

/// The schedule of \[Q\] Algorithm 1: after a warm-up of `y_0 … y_{T_init}`, epoch `l = 1, 2, …`
/// predicts `y_k` for `k = T_l … 2T_l − 2` with `p = ⌈β ln T_l⌉` lags, where
/// `T_l = 2^{l−1} T_init + 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EpochSchedule {
    /// Lags per natural logarithm of the time, `β > 0`.
    pub beta: f64,
    /// Length of the warm-up, `1 ≤ T_init ≤ 2⁴⁰`: the first prediction is that of `y_{T_init + 1}`.
    /// The warm-up is remembered.
    pub t_init: usize,
    /// Lags never used beyond, `≥ 1`. The factor has this size from the start, so a step costs what
    /// this many lags cost. `None`: enough for 2²⁰ steps. Past the limit `p` stays, and
    /// [`Epoch::saturated`] says so.
    pub max_lags: Option<usize>,
}

impl Default for EpochSchedule {
    /// The values of \[Q\] §5.
    fn default() -> Self {
        Self { beta: 2.5, t_init: 60, max_lags: None }
    }
}

/// A stretch of time during which the number of lags stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch {
    /// Time `T_l` of the first prediction.
    pub start: usize,
    /// Lags `p`.
    pub lags: usize,
    /// True if the schedule asked for more lags than the limit allows.
    pub saturated: bool,
}

/// Steps that the default limit of lags is enough for.
const DEFAULT_REACH: usize = 1 << 20;

/// The longest warm-up, in number and words: times after it are far from the largest of their type.
const LONGEST_WARM_UP: (u64, &str) =
    if usize::BITS > 42 { (1 << 40, "at most 2^40") } else { (1 << 30, "at most 2^30") };

impl Validate for EpochSchedule {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.check().is_ok(), "schedule", "its numbers are in their ranges")
    }
}

impl Validate for Epoch {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.start >= 1 && self.lags >= 1, "epoch", "it begins after 0 and has a lag")
    }
}

impl EpochSchedule {
    /// Checks the parameters.
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        ParameterError::positive("beta", self.beta)?;
        ParameterError::at_least_one("t_init", self.t_init)?;
        let (longest, rule) = LONGEST_WARM_UP;
        let short = self.t_init as u64 <= longest;
        ParameterError::require(short, "t_init", rule, self.t_init as f64)?;
        ParameterError::at_least_one("max_lags", self.limit())?;
        Ok(())
    }

    /// `⌈β ln T⌉`, at least 1.
    fn wanted(&self, start: usize) -> usize {
        ((self.beta * (start as f64).ln()).ceil() as usize).max(1)
    }

    /// The largest number of lags.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.max_lags.unwrap_or_else(|| self.wanted(DEFAULT_REACH.max(self.t_init + 1)))
    }

    /// The epoch that begins at time `start`.
    #[must_use]
    pub fn epoch(&self, start: usize) -> Epoch {
        let (wanted, limit) = (self.wanted(start), self.limit());
        Epoch { start, lags: wanted.min(limit), saturated: wanted > limit }
    }

    /// When the first epoch begins, `T_init + 1`.
    #[must_use]
    pub fn first_start(&self) -> usize {
        self.t_init + 1
    }

    /// When the epoch after the one begun at `start` begins: `2T_l − 1`.
    #[must_use]
    pub fn next_start(start: usize) -> usize {
        start.saturating_mul(2) - 1
    }
}
