//! Changes of the law of rows, at a false-alarm rate that is stated beforehand.
//!
//! The first rows (512) settle what is taken out of serial dependence ([`TakenOut`]) and the
//! scores, which are then frozen: columns, what the others foretell of them, pairs, and novelty.
//! The sequential ranks of a score in 64 bins are bet on by 11 bets of mean 1, and
//!
//! ```text
//! R_km ← (R_km + 1) f̄_m(p_k),   R = Σ_k w_k mean_m R_km,   Σ w_k = 1;   alarm at R ≥ N
//! ```
//!
//! While rows are exchangeable, `R_t − t` is a martingale, so the mean number of rows to a false
//! alarm is `N` at least, whatever their law. Nothing is calibrated. Serial dependence that was not
//! taken out makes alarms more frequent: clustered volatility and runs of equal values up to 4
//! times (`cargo xtask soak --watch`).
//!
//! **After an alarm** `R` begins anew. If one column by its own scores has a share of .9, only
//! scores about it get new bins, and those of columns given the others, which move with it: a false
//! alarm costs little elsewhere. Otherwise all do, else one change would give several alarms.
//!
//! Cost: about `80 K` operations of bets, eight scores at a time, and `d² + 256 d` multiply-adds a
//! row, with `K = 2d + min(d²/2, 256) + 2` scores. Memory: `200 K + 256 d + d²` numbers, and the
//! rows of the burn-in until it is over.

use mercer_core::{Inconsistent, ParameterError, Validate, parameters};

use crate::LARGEST;
use crate::bets::RankBins;
use crate::betted::BettedScores;
use crate::error::Error;
use crate::scores::{FrozenScores, ScoreKind};
use crate::serial::{SerialFilter, TakenOut};

/// Shares above this name a column.
const NAMED: f64 = 0.1;
/// Share of one column that is alone to blame.
const ALONE: f64 = 0.9;

parameters! {
    /// Parameters of [`Change`].
    #[derive(Copy)]
    pub struct ChangeParams {
        /// `N ≥ 1`: rows to a false alarm in the mean, at least.
        rows_to_a_false_alarm: f64 = 10_000.0,
        /// Rows that settle the scores, `≥ 64`.
        burn_in: usize = 512,
        /// True if rows are known to be independent: nothing is taken out then.
        independent: bool = false,
        /// Of the pairs if there are more than 256.
        seed: u64 = 0,
    }
}

/// An alarm.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// The row in which it came, from 1.
    pub row: u64,
    /// The first row that speaks for it: from there on the winning bet has won most.
    pub since: u64,
    /// The kind of scores that has won most.
    pub kind: ScoreKind,
    /// Share of each column in what scores about columns have won, 1 in sum.
    pub shares: Vec<f64>,
}

/// Detector of changes in rows of numbers, some of which may be missing (NaN).
///
/// ```
/// use mercer_watch::{Change, ChangeParams};
///
/// let mut change = Change::new(2, ChangeParams::default())?;
/// let mut alarms = Vec::new();
/// let mut state = 1_u64;
/// let mut uniform = || {
///     state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
///     let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
///     let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
///     ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
/// };
/// for t in 0..1500 {
///     let shift = if t < 1000 { 0.0 } else { 0.5 };
///     alarms.extend(change.learn(&[uniform(), uniform() + shift])?);
/// }
/// let alarm = &alarms[0];
/// assert!(alarm.row > 1000 && alarm.row < 1060 && alarm.shares[1] > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Change {
    params: ChangeParams,
    columns: usize,
    rows: u64,
    stage: Stage,
    row: Vec<f64>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    /// Rows for the filter, which has its level once it is there.
    Filter {
        rows: Vec<Vec<f64>>,
        level: Option<Box<SerialFilter>>,
    },
    /// Rows that came out of it, for the scores.
    Scores {
        filter: Box<SerialFilter>,
        rows: Vec<Vec<f64>>,
    },
    Watch(Box<Watching>),
}

/// # Invariants
/// One betted score for each frozen one. `fresh` has the rows of scores since the last alarm while
/// those that are `waiting` get new bins.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Watching {
    filter: SerialFilter,
    frozen: FrozenScores,
    betted: BettedScores,
    waiting: Vec<bool>,
    fresh: Vec<f64>,
    /// Rows of scores that make new bins.
    renewal: usize,
    scores: Vec<f64>,
}

impl Change {
    /// A detector for rows of so many columns.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(columns: usize, params: ChangeParams) -> Result<Self, ParameterError> {
        ParameterError::at_least_one("columns", columns)?;
        let n = params.rows_to_a_false_alarm;
        ParameterError::require(n.is_finite() && n >= 1.0, "rows_to_a_false_alarm", "a number from 1", n)?;
        let burn_in = params.burn_in;
        ParameterError::require(burn_in >= 64, "burn_in", "64 rows or more", burn_in as f64)?;
        let stage = Stage::Filter { rows: Vec::new(), level: None };
        Ok(Self { params, columns, rows: 0, stage, row: Vec::new() })
    }

    /// Takes a row; NaN is a missing value, and beyond 1e8 deviations a value counts as that far.
    ///
    /// # Errors
    /// [`Error::Columns`]; the row is then not taken.
    pub fn learn(&mut self, row: &[f64]) -> Result<Option<Alarm>, Error> {
        let (expected, got) = (self.columns, row.len());
        if expected != got {
            return Err(Error::Columns { expected, got });
        }
        self.rows += 1;
        self.row.clear();
        // A gap is told by a column of its own.
        self.row.extend(row.iter().map(|value| value.clamp(-LARGEST, LARGEST)));
        self.row.extend(row.iter().map(|value| f64::from(u8::from(value.is_nan()))));
        let row = std::mem::take(&mut self.row);
        let alarm = self.advance(&row);
        self.row = row;
        Ok(alarm)
    }

    fn advance(&mut self, row: &[f64]) -> Option<Alarm> {
        match &mut self.stage {
            Stage::Filter { rows, level } => {
                rows.push(row.to_vec());
                if let Some(filter) = fitted(rows, level, &self.params) {
                    let mut rows = std::mem::take(rows);
                    let mut filter = Box::new(filter);
                    rows = filter.all(&rows);
                    self.stage = Stage::Scores { filter, rows };
                    self.freeze();
                }
                None
            }
            Stage::Scores { filter, rows } => {
                rows.extend(filter.push(row).map(<[f64]>::to_vec));
                self.freeze();
                None
            }
            Stage::Watch(watching) => {
                let alarm = watching.advance(row, self.rows, self.params.rows_to_a_false_alarm)?;
                Some(alarm.for_columns(self.columns))
            }
        }
    }

    /// Freezes the scores if there are rows enough for them.
    fn freeze(&mut self) {
        let Stage::Scores { filter, rows } = &mut self.stage else { return };
        let (burn_in, block) = (self.params.burn_in, filter.block());
        // Blocks have a burn-in four times as long.
        let needed = if block == 1 { burn_in } else { (burn_in / block * 4).max(40) };
        if rows.len() < needed {
            return;
        }
        let about: Vec<usize> = (0..rows[0].len()).map(|j| j % filter.width()).collect();
        let mut frozen = FrozenScores::freeze(rows, &about, self.params.seed);
        let mut scores = Vec::new();
        rows[needed / 2..].iter().for_each(|row| frozen.score(row, &mut scores));
        let all = frozen.facts().len();
        self.stage = Stage::Watch(Box::new(Watching {
            filter: (**filter).clone(),
            betted: BettedScores::new((0..all).map(|k| bins(&scores, all, k)).collect(), self.rows),
            waiting: vec![false; all],
            fresh: Vec::new(),
            renewal: (needed / 4).max(64),
            frozen,
            scores,
        }));
    }

    /// Columns of a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// True once the first rows have settled the scores: before there is no alarm.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        matches!(self.stage, Stage::Watch(_))
    }

    /// The serial dependence that is taken out, once the first rows have shown it.
    #[must_use]
    pub fn taken_out(&self) -> &[TakenOut] {
        match &self.stage {
            Stage::Filter { .. } => &[],
            Stage::Scores { filter, .. } => filter.taken_out(),
            Stage::Watch(watching) => watching.filter.taken_out(),
        }
    }

    /// `R`, which gives an alarm at `N`; 0 before the first rows have settled the scores.
    #[must_use]
    pub fn evidence(&self) -> f64 {
        let Stage::Watch(watching) = &self.stage else { return 0.0 };
        watching.filter.block() as f64 * watching.sum()
    }
}

/// The filter once there are rows enough for it, with their gaps filled.
fn fitted(rows: &mut [Vec<f64>], level: &mut Option<Box<SerialFilter>>, params: &ChangeParams) -> Option<SerialFilter> {
    if level.is_none() && rows.len() == params.burn_in {
        let mut filter = SerialFilter::standardising(rows, rows[0].len() / 2);
        if !params.independent {
            filter.fit_level(rows);
        }
        *level = Some(Box::new(filter));
    }
    let filter = level.as_ref().filter(|filter| rows.len() >= params.burn_in + filter.lost())?;
    let mut filter = (**filter).clone();
    if !params.independent {
        filter.fit_rest(rows);
    }
    Some(filter)
}

/// New bins of score `k`, by rows of `all` scores.
fn bins(scores: &[f64], all: usize, k: usize) -> RankBins {
    let mut values: Vec<f64> = scores.iter().skip(k).step_by(all).copied().collect();
    RankBins::between_quantiles(&mut values)
}

impl Watching {
    fn sum(&self) -> f64 {
        let facts = self.frozen.facts().iter().enumerate();
        facts.map(|(k, facts)| facts.weight * self.betted.mean(k)).sum()
    }

    fn advance(&mut self, row: &[f64], number: u64, n: f64) -> Option<Alarm> {
        let row = self.filter.push(row)?;
        self.scores.clear();
        self.frozen.score(row, &mut self.scores);
        self.betted.bet(&self.scores, &self.waiting, number);
        let sum = self.sum();
        self.renew();
        if sum < n / self.filter.block() as f64 {
            return None;
        }
        let alarm = self.alarm(number, sum);
        self.restart(&alarm);
        Some(alarm)
    }

    /// Gives the scores that wait their new bins, once there are rows for them.
    fn renew(&mut self) {
        if !self.waiting.contains(&true) {
            return;
        }
        self.fresh.extend_from_slice(&self.scores);
        let all = self.scores.len();
        if self.fresh.len() < self.renewal * all {
            return;
        }
        for k in (0..all).filter(|k| self.waiting[*k]) {
            self.betted.set_bins(k, bins(&self.fresh, all, k));
        }
        self.waiting.fill(false);
        self.fresh.clear();
    }

    fn alarm(&self, row: u64, sum: f64) -> Alarm {
        let mut shares = vec![0.0; self.filter.width()];
        let mut kinds = [0.0; ScoreKind::ALL.len()];
        let mut since = (0.0, row);
        for (k, facts) in self.frozen.facts().iter().enumerate() {
            let share = facts.weight * self.betted.mean(k) / sum;
            facts.about.iter().for_each(|j| shares[*j] += share / facts.about.len() as f64);
            kinds[facts.kind as usize] += share;
            if share > since.0 {
                since = (share, self.betted.since(k));
            }
        }
        let kind = ScoreKind::ALL.into_iter().max_by(|a, b| kinds[*a as usize].total_cmp(&kinds[*b as usize]));
        Alarm { row, since: since.1, kind: kind.unwrap_or(ScoreKind::Column), shares }
    }

    fn restart(&mut self, alarm: &Alarm) {
        let named: Vec<usize> = (0..alarm.shares.len()).filter(|j| alarm.shares[*j] > NAMED).collect();
        let largest = alarm.shares.iter().copied().fold(0.0, f64::max);
        let alone = named.len() == 1 && largest >= ALONE && alarm.kind == ScoreKind::Column;
        for (waiting, facts) in self.waiting.iter_mut().zip(self.frozen.facts()) {
            // What others foretell of a column moves with all of them.
            let of_all = facts.about.is_empty() || facts.kind == ScoreKind::Residual;
            let about = of_all || facts.about.iter().any(|j| named.contains(j));
            *waiting |= !alone || about;
        }
        self.betted.restart(alarm.row);
        self.fresh.clear();
    }
}

impl Alarm {
    /// The same with the shares of gaps added to those of their columns, which are 1 in sum.
    fn for_columns(mut self, columns: usize) -> Self {
        let gaps = self.shares.split_off(columns);
        self.shares.iter_mut().zip(gaps).for_each(|(share, gap)| *share += gap);
        let sum: f64 = self.shares.iter().sum();
        if sum > 0.0 {
            self.shares.iter_mut().for_each(|share| *share /= sum);
        }
        self
    }
}

impl Validate for Change {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "detector of changes";
        let fresh = Self::new(self.columns, self.params);
        Inconsistent::require(fresh.is_ok(), WHAT, "its parameters are in range")?;
        let width = 2 * self.columns;
        match &self.stage {
            Stage::Filter { rows, level } => {
                let fits = rows.iter().all(|row| row.len() == width);
                Inconsistent::require(fits, WHAT, "its rows have its columns")?;
                level.validate()
            }
            Stage::Scores { filter, rows } => {
                filter.validate()?;
                let out = if filter.block() > 1 { 2 * width } else { width };
                let fits = filter.width() == width && rows.iter().all(|row| row.len() == out);
                Inconsistent::require(fits, WHAT, "its rows have its columns")
            }
            Stage::Watch(watching) => {
                watching.filter.validate()?;
                watching.frozen.validate()?;
                watching.betted.validate()?;
                let all = watching.frozen.facts().len();
                let about = watching.frozen.facts().iter().flat_map(|facts| &facts.about);
                let fits = watching.filter.width() == width
                    && about.copied().all(|j| j < width)
                    && watching.betted.len() == all
                    && watching.waiting.len() == all
                    && watching.fresh.len() % all.max(1) == 0
                    && watching.renewal > 0;
                Inconsistent::require(fits, WHAT, "it has bets on each score")
            }
        }
    }
}
