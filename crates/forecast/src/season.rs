//! The season mixture: forecasts of ordinary series, with seasons, trends and gaps, row by row.
//!
//! Many simple experts forecast each of the next `H` rows, and a mixture weighs them by what their
//! forecasts of as many steps were worth:
//!
//! | experts | file | multiply-adds a row |
//! |---|---|---|
//! | Kalman filters of a level, a slope, an autoregression and the waves of the periods, on a grid of noises | `bank` | `3sK`, `K` filters of `s` states |
//! | regressions upon lags around an anchor, with coefficients that fall with the distance to it | `lags` | `n²` |
//! | the same with random cosines, which are a kernel | `cosines` | `n²` |
//! | last value, mean, the value of a season ago, the mean of a phase | `free` | 1 |
//!
//! A forecast of one step is corrected by least squares upon [`Auto`](mercer_auto::Auto), which
//! learns the lags without a linear model (`stack`).
//!
//! All but the free ones exist once for the series as it is and, where it begins positive, once for
//! its logarithms; filters and lags exist beside a season without one, too.
//! [Quantiles](SeasonMixture::quantile) of each horizon come from the mixture's own errors.
//!
//! **Warm-up** of `2m + 2` rows (`m` the shortest period; 10 without one): the value of a season
//! ago, or the last, and the growth since (`beginning`). Then units and coordinates are settled and
//! the rows so far are told to the experts.
//!
//! **Gaps.** Filters leave a missing row out, regressions go on upon paths of their own, and a
//! forecast after `g` missing rows is one of `g + 1` steps, with weights and intervals of as many.
//!
//! **Robustness.** Outliers and outages count as missing; behind a shift of the level the series is
//! known less the shift (`surprises`). Paths stay within one width of the range of the last 3000
//! rows, and an observation further out counts as the bound. No forecast is below 0 while no
//! observation was.

mod bank;
mod bank_model;
mod beginning;
mod buckets;
mod coordinates;
mod cosines;
mod covariances;
mod experts;
mod free;
mod history;
mod lags;
mod params;
mod parts;
mod periods;
mod quantiles;
mod scores;
mod series;
mod shared;
mod stack;
#[cfg(feature = "serde")]
mod stored;
mod surprises;

use std::collections::VecDeque;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};

pub(crate) use buckets::{bucket, width as bucket_width};
pub(crate) use coordinates::ln;
pub use params::{Detail, Periods, SeasonParams};
pub use parts::ForecastParts;
pub use scores::{ErrorSums, SeasonScores, Tally};
use series::SeasonSeries;
pub use shared::SharedWeights;

use crate::forecaster::LARGEST;
use crate::{Error, ForecastScratch};

/// Rows that periods are found from.
const SEARCHED: usize = 4096;

/// The search for periods.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct PeriodSearch {
    /// The last rows.
    recent: VecDeque<Option<f64>>,
    /// Rows observed at which to look again.
    next: usize,
}

/// An online forecaster of a series of numbers: see the head of its file.
///
/// ```
/// use mercer_forecast::{Periods, SeasonMixture, SeasonParams};
///
/// let params = SeasonParams::default().periods(Periods::Given(vec![12])).horizons(6);
/// let mut sales = SeasonMixture::new(params)?;
/// let value = |t: u32| 100.0 + f64::from(t) + 20.0 * (f64::from(t) * std::f64::consts::TAU /
/// 12.0).sin(); for t in 0..60 {
///     sales.learn(Some(value(t)))?; // `None` where a row is missing
/// }
/// let ahead = sales.path(6);
/// assert!((1..=6).zip(&ahead).all(|(h, y)| (y - value(59 + h)).abs() < 2.0), "{ahead:?}");
/// let (low, high) = (sales.quantile(0.05, 6, ahead[5]), sales.quantile(0.95, 6, ahead[5]));
/// assert!(low <= high && sales.floor() == Some(0.0));
/// # Ok::<(), mercer_forecast::Error>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SeasonMixture {
    params: SeasonParams,
    series: SeasonSeries,
    search: Option<PeriodSearch>,
    time: usize,
}

impl SeasonMixture {
    /// A mixture that has seen nothing.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(params: SeasonParams) -> Result<Self, ParameterError> {
        params.check()?;
        let searches = !matches!(params.periods, Periods::Given(_));
        let search = searches.then(|| PeriodSearch { recent: VecDeque::new(), next: periods::FEWEST });
        Ok(Self { series: SeasonSeries::new(params.periods.first().to_vec()), params, search, time: 0 })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &SeasonParams {
        &self.params
    }

    /// Begins with the weights of other series, if this one is in its warm-up.
    pub fn begin_like(&mut self, shared: &SharedWeights) {
        self.series.begin_like(shared);
    }

    /// Tells other series what the experts were worth here.
    pub fn share(&self, shared: &mut SharedWeights) {
        self.series.share(shared);
    }

    /// The mean of the values observed, 0 before the first. Values that were set aside do not
    /// count, nor, where periods are found, those more than 4096 rows before a new one was.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.series.mean()
    }

    /// The periods, given or found so far, the shortest first.
    #[must_use]
    pub fn periods(&self) -> &[usize] {
        self.series.periods()
    }

    /// 0 while no observation was negative: no forecast and no quantile is below.
    #[must_use]
    pub fn floor(&self) -> Option<f64> {
        self.series.floor()
    }

    /// Rows so far that were set aside since they were far from their forecasts, and shifts of the
    /// level.
    #[must_use]
    pub fn surprises(&self) -> (usize, usize) {
        self.series.surprises()
    }

    /// Scores of the forecasts so far.
    #[must_use]
    pub fn scores(&self) -> SeasonScores {
        self.series.scores()
    }

    /// Predicts the next row, and then learns it; `None` is a missing row. Returns the prediction.
    ///
    /// # Errors
    /// When the number is not finite or larger than 1e100; nothing is changed then.
    pub fn learn(&mut self, observed: Option<f64>) -> Result<f64, Error> {
        match observed {
            Some(y) if !y.is_finite() => return Err(ExampleError::NonFiniteTarget(y).into()),
            Some(y) if y.abs() > LARGEST => return Err(ExampleError::Diverged.into()),
            _ => {}
        }
        Ok(self.step(observed))
    }

    /// [`learn`](Self::learn) of a number that has been checked.
    pub(crate) fn step(&mut self, observed: Option<f64>) -> f64 {
        let prediction = self.series.step(observed, &self.params);
        self.time += 1;
        self.search(observed);
        prediction
    }

    /// Forgets all rows but their number.
    pub(crate) fn begin_anew(&mut self) {
        self.series = SeasonSeries::new(self.params.periods.first().to_vec());
        if let Some(search) = &mut self.search {
            search.recent.clear();
            search.next = self.time + periods::FEWEST;
        }
    }

    /// Rows missing since the last observation.
    pub(crate) fn gap(&self) -> usize {
        self.series.gap()
    }

    /// An observation as it counts.
    pub(crate) fn counts(&self, y: f64) -> f64 {
        self.series.counts(y)
    }

    /// Rows observed, those before the first number among them.
    #[must_use]
    pub fn time(&self) -> usize {
        self.time
    }

    /// True if forecasts are more than the last value.
    #[must_use]
    pub fn warmed_up(&self) -> bool {
        self.series.warmed_up()
    }

    /// True if a number was observed; forecasts are 0 until then.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.series.is_begun()
    }

    /// Looks for periods when the series is longer by a quarter than when that was done last. With
    /// other ones all begins anew and learns the last rows again.
    fn search(&mut self, observed: Option<f64>) {
        let Some(search) = &mut self.search else { return };
        if observed.is_none() && search.recent.is_empty() {
            return;
        }
        if search.recent.len() == SEARCHED {
            search.recent.pop_front();
        }
        search.recent.push_back(observed);
        if self.time < search.next {
            return;
        }
        let mut last = 0.0;
        let filled: Vec<f64> = search
            .recent
            .iter()
            .map(|row| {
                last = row.unwrap_or(last);
                last
            })
            .collect();
        let found = match &self.params.periods {
            Periods::Given(periods) => periods.clone(),
            Periods::Found => periods::periods(&filled),
            Periods::Calendar { likely, asked } => periods::of_calendar(&filled, likely, *asked, self.params.horizons),
        };
        // The series may have begun late, or anew: what joins counts its own rows.
        let rows = filled.len();
        let likely = if let Periods::Calendar { likely, .. } = &self.params.periods { &likely[..] } else { &[] };
        let joins = periods::joins(likely).filter(|joins| *joins > rows).map(|joins| joins - rows);
        search.next = self.time + joins.fold(self.time / 4, usize::min);
        if found != self.series.periods() {
            self.series = SeasonSeries::new(found);
            for row in &search.recent {
                self.series.step(*row, &self.params);
            }
        }
    }

    /// The forecasts of the next `path.len()` rows, any number of them.
    pub fn forecast_into(&self, path: &mut [f64], scratch: &mut ForecastScratch) {
        self.series.forecast(path, self.params.horizons, scratch);
    }

    /// [`forecast_into`](Self::forecast_into) in the convenient form.
    #[must_use]
    pub fn path(&self, steps: usize) -> Vec<f64> {
        let mut path = vec![0.0; steps];
        self.forecast_into(&mut path, &mut ForecastScratch::default());
        path
    }

    /// The parts of the forecast of the next `path.len()` rows: a trend, a season for each period,
    /// and the rest. They sum to `path`, which is [`path`](Self::path) or what has become of it.
    ///
    /// Trend and seasons are those of the filters that know them, with the weights that these have
    /// among themselves; the rest is what the other experts and the filters' autoregressions add.
    /// In the warm-up all is rest. Cost: that of the filters' forecasts.
    ///
    /// ```
    /// use mercer_forecast::{Periods, SeasonMixture, SeasonParams};
    ///
    /// let mut sales = SeasonMixture::new(SeasonParams::default().periods(Periods::Given(vec![4])))?;
    /// for t in 0..80_u32 {
    ///     sales.learn(Some(100.0 + f64::from(t) + [9.0, -3.0, -5.0, -1.0][t as usize % 4]))?;
    /// }
    /// let path = sales.path(4);
    /// let parts = sales.parts(&path);
    /// assert!((0..4).all(|step| (parts.sum(step) - path[step]).abs() < 1e-9));
    /// assert!((parts.trend[3] - 183.0).abs() < 1.0 && (parts.seasons[0][0] - 9.0).abs() < 1.0);
    /// # Ok::<(), mercer_forecast::Error>(())
    /// ```
    #[must_use]
    pub fn parts(&self, path: &[f64]) -> ForecastParts {
        self.series.parts(path, self.params.horizons)
    }

    /// The quantile of `p` around `forecast`, that of the row `step ≥ 1` steps ahead. It rises with
    /// `p`; probabilities of 0 and 1 count as 10⁻⁶ less.
    #[must_use]
    pub fn quantile(&self, p: f64, step: usize, forecast: f64) -> f64 {
        (forecast + self.offset(p, step)).max(self.floor().unwrap_or(f64::NEG_INFINITY))
    }

    /// Distance of that from the forecast, where there is no floor. The forecast lies between the
    /// quantiles below the middle and those above it.
    pub(crate) fn offset(&self, p: f64, step: usize) -> f64 {
        let offset = self.series.offset(p.clamp(1e-6, 1.0 - 1e-6), step.max(1), self.params.horizons);
        match p {
            p if p < 0.5 => offset.min(0.0),
            p if p > 0.5 => offset.max(0.0),
            _ => offset,
        }
    }
}

impl Validate for SeasonMixture {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "season mixture";
        self.params.validate()?;
        Inconsistent::require(self.time < usize::MAX / 4, WHAT, "its time can be counted")?;
        self.series.validate(&self.params)?;
        match (&self.params.periods, &self.search) {
            (Periods::Given(periods), None) => {
                Inconsistent::require(periods == self.series.periods(), WHAT, "its periods are those given")
            }
            (Periods::Found | Periods::Calendar { .. }, Some(search)) => {
                search.recent.iter().flatten().try_for_each(Validate::validate)?;
                let fits = search.recent.len() <= SEARCHED && search.next < usize::MAX / 4;
                Inconsistent::require(fits, WHAT, "it has the rows that periods are found from")
            }
            _ => Inconsistent::require(false, WHAT, "periods are given or looked for"),
        }
    }
}
