//! What is told of a row beside its prediction: its parts, and whether it lies outside of the band
//! that holds usual values.
//!
//! Both are of the time before the row is seen, and are made whole by its prediction.

use mercer_forecast::{Error, ForecastParts, Forecaster, Seasons};

use crate::model::Prediction;

/// The share of the values that are usual: of ordinary rows one in a hundred lies outside of a band
/// that holds 0.99.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsualShare(f64);

impl Default for UsualShare {
    fn default() -> Self {
        Self(0.99)
    }
}

impl UsualShare {
    /// The share.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for UsualShare {
    type Error = &'static str;

    fn try_from(share: f64) -> Result<Self, Self::Error> {
        let usual = (0.5..1.0).contains(&share).then_some(Self(share));
        usual.ok_or("give a number from 0.5 to below 1, such as 0.99")
    }
}

/// What is known of the next row.
#[derive(Clone, Debug, Default)]
pub struct Foresight {
    /// By output, the ends of its band less its prediction.
    reaches: Vec<Option<[f64; 2]>>,
    /// By output, of which the prediction is left out.
    parts: Vec<ForecastParts>,
}

/// What was known of a row.
#[derive(Clone, Debug, Default)]
pub struct RowLook {
    /// By output the band that was to hold its value; none in the warm-up.
    pub bands: Vec<Option<[f64; 2]>>,
    /// By output the parts of its prediction; none unless they are wanted.
    pub parts: Vec<ForecastParts>,
}

impl Foresight {
    /// The look at the row, for which this was predicted.
    #[must_use]
    pub fn around(self, prediction: &[f64]) -> RowLook {
        let Self { reaches, mut parts } = self;
        for (parts, prediction) in parts.iter_mut().zip(prediction) {
            parts.rest[0] += prediction;
        }
        let band = |(reach, made): (Option<[f64; 2]>, &f64)| Some(reach?.map(|end| made + end));
        RowLook { bands: reaches.into_iter().zip(prediction).map(band).collect(), parts }
    }
}

impl RowLook {
    /// The band of an output, if its value lies outside.
    #[must_use]
    pub fn anomaly(&self, output: usize, y: f64) -> Option<[f64; 2]> {
        self.bands.get(output).copied().flatten().filter(|[low, high]| y < *low || y > *high)
    }
}

impl Prediction {
    /// The season mixtures, if the forecaster is made of them.
    #[must_use]
    pub fn seasons(&self) -> Option<&Seasons> {
        self.forecaster.seasons()
    }

    /// The share of the values that the intervals of a season mixture are to hold, if it has some.
    #[must_use]
    pub fn season_share(&self) -> Option<f64> {
        self.seasons()?;
        self.parameters.iter().find(|(key, _)| key == "intervals")?.1.parse().ok()
    }

    /// What is known of the next row, whose inputs these are, by season mixtures: bands that hold
    /// the `usual` values, and parts, each if they are wanted.
    ///
    /// # Errors
    /// When an input is not finite, or there are not as many.
    pub fn foresee(&self, input: &[f64], usual: Option<UsualShare>, parts: bool) -> Result<Foresight, Error> {
        let Some(seasons) = self.seasons() else { return Ok(Foresight::default()) };
        let outputs = self.forecaster.outputs();
        let usual = usual.filter(|_| self.seen().rows >= self.errors.warm_up);
        let reach = |output: usize| {
            let share = usual.filter(|_| seasons.mixture(output).warmed_up())?.get();
            Some([0.5 - share / 2.0, 0.5 + share / 2.0].map(|p| seasons.offset(output, p, 1)))
        };
        let parts = if parts { self.parts(&vec![0.0; outputs], input)? } else { Vec::new() };
        Ok(Foresight { reaches: (0..outputs).map(reach).collect(), parts })
    }

    /// The parts of rows to come by output, each row behind the other, with these inputs; none but
    /// of season mixtures.
    ///
    /// # Errors
    /// When an input is not finite, or there are not as many.
    pub fn parts(&self, rows: &[f64], inputs: &[f64]) -> Result<Vec<ForecastParts>, Error> {
        let (Some(seasons), m) = (self.seasons(), self.forecaster.outputs()) else { return Ok(Vec::new()) };
        let of = |output: usize| {
            let path: Vec<f64> = rows.iter().skip(output).step_by(m).copied().collect();
            seasons.parts(output, &path, inputs)
        };
        (0..m).map(of).collect()
    }
}
