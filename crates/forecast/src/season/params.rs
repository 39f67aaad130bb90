//! Parameters of a season mixture: periods, steps ahead, number of experts, and its intervals.

use mercer_core::{Inconsistent, ParameterError, Validate, parameters};

/// Longest period: a year of hours, and some room.
const LONGEST_PERIOD: usize = 20_000;

/// Longest period of a calendar: it has to be seen twice among the rows that are searched.
const LONGEST_LIKELY: usize = 2_040;

/// Most steps that forecasts are scored for: the forecasts that wait hold as many numbers an
/// expert.
const MOST_HORIZONS: usize = 2_000;

/// Periods that are found at most.
const MOST_FOUND: usize = 2;

/// Largest budget of the learner.
const MOST_BUDGET: usize = 1_000_000_000;

/// The lengths of the seasons, in rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Periods {
    /// They are found from the data, and looked for again as the series grows.
    #[default]
    Found,
    /// Up to three, shortest first; none for a series without a season.
    Given(Vec<usize>),
    /// Those that the calendar makes likely, as the series grows: behind 64 rows a longer one waits
    /// until it has come again, and periods that are found take their place where they foretell the
    /// rows far better.
    Calendar {
        /// One or two periods, the shortest first.
        likely: Vec<usize>,
        /// A longer period that joins them where the data show it: a year of days.
        asked: Option<usize>,
    },
}

impl Periods {
    /// The periods before anything is observed.
    #[must_use]
    pub fn first(&self) -> &[usize] {
        match self {
            Self::Found => &[],
            Self::Given(periods) => periods,
            Self::Calendar { likely, .. } => &likely[..likely.len().min(1)],
        }
    }

    /// The number of periods at most, once the series has shown what it has.
    #[must_use]
    pub fn most(&self) -> usize {
        match self {
            Self::Found => MOST_FOUND,
            Self::Given(periods) => periods.len(),
            Self::Calendar { likely, asked } => MOST_FOUND.max(likely.len() + usize::from(asked.is_some())),
        }
    }
}

/// Number of experts.
///
/// New variants come last, since files count them from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Detail {
    /// All experts, but no learner.
    Full,
    /// A quarter of the filters and no random cosines: larger errors, less time and memory.
    Light,
    /// All filters and fewer random cosines, and for forecasts of one step
    /// [`Auto`](mercer_auto::Auto) on the last rows and those of one and two seasons ago: the best
    /// forecasts.
    WithLearner {
        /// Multiply-adds a row of the learner, at least 1000.
        budget: usize,
    },
}

impl Default for Detail {
    fn default() -> Self {
        Self::WithLearner { budget: 300_000 }
    }
}

impl Detail {
    /// Budget of the learner, if there is one.
    pub(super) fn budget(self) -> Option<usize> {
        if let Self::WithLearner { budget } = self { Some(budget) } else { None }
    }
}

parameters! {
    /// Parameters of [`SeasonMixture`](crate::SeasonMixture).
    pub struct SeasonParams {
        /// The lengths of the seasons.
        periods: Periods = Periods::Found,
        /// `H`, from 1 to 2000: forecasts of `1 … H` steps teach the weights and the intervals.
        /// Longer forecasts use those of `H`.
        horizons: usize = 12,
        /// Number of experts.
        detail: Detail = Detail::default(),
        /// The share of rows that intervals between the quantiles of `(1 ∓ coverage)/2` are held
        /// to.
        coverage: f64 = 0.9,
        /// `≥ 0`: how fast the widths follow what was missed; 0 leaves them as the residuals say.
        rate: f64 = 0.01,
        /// Seed of the random cosines.
        seed: u64 = 0,
    }
}

impl SeasonParams {
    /// Refuses what is outside its range.
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        let Self { horizons, coverage, rate, .. } = *self;
        ParameterError::require(
            (1..=MOST_HORIZONS).contains(&horizons),
            "horizons",
            "from 1 to 2000",
            horizons as f64,
        )?;
        ParameterError::require(coverage > 0.0 && coverage < 1.0, "coverage", "a number between 0 and 1", coverage)?;
        ParameterError::require((0.0..=1.0).contains(&rate), "rate", "a number from 0 to 1", rate)?;
        if let Some(budget) = self.detail.budget() {
            ParameterError::require(
                (1000..=MOST_BUDGET).contains(&budget),
                "budget",
                "from 1000 to 1e9",
                budget as f64,
            )?;
        }
        let periods = match &self.periods {
            Periods::Found => Vec::new(),
            Periods::Given(periods) => periods.clone(),
            Periods::Calendar { likely, asked } => likely.iter().copied().chain(*asked).collect(),
        };
        ParameterError::require(periods.len() <= 3, "periods", "three at most", periods.len() as f64)?;
        for period in &periods {
            let inside = (2..=LONGEST_PERIOD).contains(period);
            ParameterError::require(inside, "periods", "from 2 to 20000 rows", *period as f64)?;
        }
        if let Periods::Calendar { likely, .. } = &self.periods {
            let longest = likely.last().copied().unwrap_or(0);
            let inside = longest <= LONGEST_LIKELY;
            ParameterError::require(inside, "periods", "of a calendar, 2040 rows at most", longest as f64)?;
        }
        let rising = periods.windows(2).find(|pair| pair[0] >= pair[1]);
        let out_of_order = rising.map_or(0.0, |pair| pair[1] as f64);
        ParameterError::require(rising.is_none(), "periods", "different, the shortest first", out_of_order)?;
        Ok(())
    }
}

impl Validate for SeasonParams {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.check().is_ok(), "season mixture", "its parameters are in their ranges")
    }
}
