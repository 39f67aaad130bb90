//! Rises of losses: whether errors have become larger, at a false-alarm rate that is stated.
//!
//! One-sided, since falling losses of a model that learns are no alarm. The sequential rank of a
//! loss in 64 bins is bet on by `1 + λ (2p − 1)` for `λ` of .25, .5, .75 and .95, and by `¼ (1 −
//! p)^(−¾)` and `½ (1 − p)^(−½)`. `R ← (R + 1) f̄` of each, `f̄` its mean where the rank lies; an
//! alarm comes when their mean reaches `N`, and all begins anew. Serial dependence that the first
//! losses show is taken out as in [`Change`](crate::Change).

use mercer_core::{Inconsistent, ParameterError, Validate, parameters};

use crate::bets::RankBins;
use crate::serial::{SerialFilter, TakenOut};

/// Bets on a rise.
const BETS: usize = 6;

parameters! {
    /// Parameters of [`Rises`].
    #[derive(Copy)]
    pub struct RiseParams {
        /// `N ≥ 1`: losses to a false alarm in the mean, at least.
        rows_to_a_false_alarm: f64 = 10_000.0,
        /// Losses that settle the bins, `≥ 64`; after an alarm so many more.
        burn_in: usize = 256,
        /// True if losses are known to be independent: nothing is taken out then.
        independent: bool = false,
    }
}

/// A rise of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// The loss at which it was told, counted from 1.
    pub row: u64,
    /// The first that speaks for it.
    pub since: u64,
}

/// Detector of rises in losses `≥ 0`, such as absolute errors.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rises {
    params: RiseParams,
    rows: u64,
    /// The first losses, until there are enough.
    first: Vec<Vec<f64>>,
    level: Option<Box<SerialFilter>>,
    watching: Option<Box<RiseWatch>>,
}

/// Bins with what the bets have won.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct RiseWatch {
    filter: SerialFilter,
    /// Losses that came out of the filter, until there are enough for the bins.
    first: Vec<f64>,
    bins: Option<RankBins>,
    wealth: [f64; BETS],
    /// As for changes: the largest product of a bet's values, and the row behind which it begins.
    product: [f64; BETS],
    since: [u64; BETS],
}

impl Rises {
    /// A detector that has seen no loss.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(params: RiseParams) -> Result<Self, ParameterError> {
        let n = params.rows_to_a_false_alarm;
        ParameterError::require(n.is_finite() && n >= 1.0, "rows_to_a_false_alarm", "a number from 1", n)?;
        let burn_in = params.burn_in;
        ParameterError::require(burn_in >= 64, "burn_in", "64 losses or more", burn_in as f64)?;
        Ok(Self { params, rows: 0, first: Vec::new(), level: None, watching: None })
    }

    /// Takes a loss, and tells if losses have risen. NaN counts as a row and says nothing.
    pub fn learn(&mut self, loss: f64) -> Option<Rise> {
        self.rows += 1;
        if loss.is_nan() {
            return None;
        }
        let row = [loss.clamp(-1e150, 1e150)];
        let Some(watching) = &mut self.watching else {
            self.first.push(row.to_vec());
            self.begin();
            return None;
        };
        let block = watching.filter.block();
        let value = watching.filter.push(&row)?[0];
        let Some(bins) = &mut watching.bins else {
            watching.first.push(value);
            watching.settle(self.params.burn_in);
            return None;
        };
        let bets = bins.rank(value).rise_bets();
        for k in 0..BETS {
            watching.wealth[k] = (watching.wealth[k] + 1.0) * bets[k];
            if watching.product[k] <= 1.0 {
                (watching.product[k], watching.since[k]) = (1.0, self.rows - 1);
            }
            watching.product[k] *= bets[k];
        }
        let mean = watching.wealth.iter().sum::<f64>() / BETS as f64;
        if mean < self.params.rows_to_a_false_alarm / block as f64 {
            return None;
        }
        let best = (0..BETS).max_by(|a, b| watching.wealth[*a].total_cmp(&watching.wealth[*b]));
        let since = best.map_or(self.rows, |best| watching.since[best] + 1);
        (self.watching, self.level) = (None, None);
        Some(Rise { row: self.rows, since })
    }

    /// Makes the filter once there are losses enough for it.
    fn begin(&mut self) {
        let Self { params, rows, first, level, watching, .. } = self;
        if first.len() < params.burn_in {
            return;
        }
        let filter = level.get_or_insert_with(|| {
            let mut filter = SerialFilter::standardising(first, 1);
            if !params.independent {
                filter.fit_level(first);
            }
            Box::new(filter)
        });
        if first.len() < params.burn_in + filter.lost() {
            return;
        }
        if !params.independent {
            filter.fit_rest(first);
        }
        let out = filter.all(first).into_iter().map(|row| row[0]).collect();
        let (wealth, product, since) = ([0.0; BETS], [1.0; BETS], [*rows; BETS]);
        let mut begun = RiseWatch { filter: (**filter).clone(), first: out, bins: None, wealth, product, since };
        begun.settle(params.burn_in);
        first.clear();
        *watching = Some(Box::new(begun));
    }

    /// Losses so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// True once there are bins: before there is no alarm, nor for as long after one.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        self.watching.as_ref().is_some_and(|watching| watching.bins.is_some())
    }

    /// The serial dependence that is taken out.
    #[must_use]
    pub fn taken_out(&self) -> &[TakenOut] {
        self.watching.as_ref().map_or(&[], |watching| watching.filter.taken_out())
    }
}

impl RiseWatch {
    /// Makes the bins once there are losses enough: their second half is counted.
    fn settle(&mut self, burn_in: usize) {
        let block = self.filter.block();
        let needed = if block == 1 { burn_in } else { (burn_in / block * 4).max(40) };
        if self.first.len() >= needed {
            let mut sorted = self.first.clone();
            let mut bins = RankBins::between_quantiles(&mut sorted);
            self.first[needed / 2..].iter().for_each(|value| bins.count(*value));
            self.bins = Some(bins);
            self.first.clear();
        }
    }
}

impl Validate for Rises {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "detector of rises";
        Inconsistent::require(Self::new(self.params).is_ok(), WHAT, "its parameters are in range")?;
        let first = self.first.iter().all(|row| row.len() == 1);
        Inconsistent::require(first, WHAT, "its losses are single numbers")?;
        self.level.validate()?;
        let Some(watching) = &self.watching else { return Ok(()) };
        watching.filter.validate()?;
        watching.bins.validate()?;
        let wealth = watching.wealth.iter().chain(&watching.product).all(|wealth| wealth.is_finite() && *wealth >= 0.0);
        Inconsistent::require(watching.filter.width() == 1 && wealth, WHAT, "its bets are on losses")
    }
}
