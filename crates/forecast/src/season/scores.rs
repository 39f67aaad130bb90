//! Scores of forecasts when their rows had come, beside forecasts that cost nothing.

use mercer_core::{Inconsistent, Validate};

/// Errors of the mixture and of the forecasts beside it, over the same rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tally {
    /// Forecasts whose rows have come.
    pub count: usize,
    /// Errors of the mixture.
    pub mixture: ErrorSums,
    /// Errors of the value of a season ago; of the last value without a season.
    pub seasonal_naive: ErrorSums,
    /// Errors of the last value.
    pub last_value: ErrorSums,
    /// Errors of the running mean.
    pub mean: ErrorSums,
}

/// Sums of the sizes and squares of errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorSums {
    /// `Σ |e|`
    pub absolute: f64,
    /// `Σ e²`
    pub squared: f64,
}

/// The scores of a [`SeasonMixture`](crate::SeasonMixture) since its warm-up. Missing rows do not
/// count, and a spoilt number counts as the bound that it was pulled to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SeasonScores {
    /// Forecasts of one step.
    pub one_step: Tally,
    /// Forecasts of `1 … H` steps from every row at which such were made, all steps alike.
    pub horizons: Tally,
    /// Changes over a season, `|y_t − y_{t−m}|`, of which their mean is the unit of MASE: their
    /// number and their sum.
    pub changes: (usize, f64),
}

impl ErrorSums {
    fn push(&mut self, error: f64) {
        self.absolute += error.abs();
        self.squared += error * error;
    }

    fn is_sound(&self) -> bool {
        [self.absolute, self.squared].iter().all(|sum| *sum >= 0.0 && sum.is_finite())
    }
}

impl Tally {
    /// Learns what came of forecasts of mixture, seasonal naive, last value and mean.
    pub(super) fn push(&mut self, forecasts: [f64; 4], y: f64) {
        self.count += 1;
        let sums = [&mut self.mixture, &mut self.seasonal_naive, &mut self.last_value, &mut self.mean];
        for (sums, forecast) in sums.into_iter().zip(forecasts) {
            sums.push(forecast - y);
        }
    }

    /// Mean absolute error of some sums of this tally; NaN before the first forecast.
    #[must_use]
    pub fn mae(&self, sums: &ErrorSums) -> f64 {
        sums.absolute / self.count as f64
    }

    /// Root of the mean squared error of some sums of this tally; NaN before the first forecast.
    #[must_use]
    pub fn rmse(&self, sums: &ErrorSums) -> f64 {
        (sums.squared / self.count as f64).sqrt()
    }

    fn is_sound(&self) -> bool {
        let sums = [self.mixture, self.seasonal_naive, self.last_value, self.mean];
        self.count < usize::MAX / 4 && sums.iter().all(ErrorSums::is_sound)
    }
}

impl SeasonScores {
    /// Mean absolute error of the mixture over `1 … H` steps, in units of the mean change over a
    /// season; NaN while either is not known.
    #[must_use]
    pub fn mase(&self) -> f64 {
        self.horizons.mae(&self.horizons.mixture) * self.changes.0 as f64 / self.changes.1
    }
}

impl Validate for SeasonScores {
    fn validate(&self) -> Result<(), Inconsistent> {
        let changes = self.changes.0 < usize::MAX / 4 && self.changes.1 >= 0.0 && self.changes.1.is_finite();
        let sound = self.one_step.is_sound() && self.horizons.is_sound() && changes;
        Inconsistent::require(sound, "scores", "they are sums of sizes")
    }
}
