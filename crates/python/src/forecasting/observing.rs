//! Rows observed one after the other, and what is told of each.

use mercer::forecast::{Error, Forecaster, Seasons};
use mercer::model::Prediction;
use mercer::session::series::{RollingOrigins, UsualShare};

/// Facts that are wanted of rows beside their predictions and the ends of their intervals.
#[derive(Clone, Copy, Default)]
pub(super) struct RowWishes {
    /// The bands that hold usual values.
    pub(super) usual: Option<UsualShare>,
    /// The parts of the predictions.
    pub(super) parts: bool,
}

/// Facts of the rows observed, row by row and then output by output.
#[derive(Default)]
pub(super) struct ObservedRows {
    pub(super) predictions: Vec<f64>,
    /// Two ends each; infinite where there are none.
    pub(super) ends: Vec<f64>,
    /// Two ends each; not numbers where none was judged.
    pub(super) bands: Vec<f64>,
    pub(super) parts: Vec<f64>,
    /// Rows whose errors do not count, the first ones.
    pub(super) unscored: usize,
}

impl ObservedRows {
    /// Predicts and observes one row, which is an output and an input.
    pub(super) fn observe(
        &mut self,
        model: &mut Prediction,
        (output, input): (&[f64], &[f64]),
        wishes: RowWishes,
    ) -> Result<(), Error> {
        let outputs = 0..output.len();
        let reached: Vec<[f64; 2]> = outputs.clone().map(|output| reach(model, output)).collect();
        let floors: Vec<f64> = outputs.map(|output| floor(model, output)).collect();
        let foresight = model.foresee(input, wishes.usual, wishes.parts)?;
        let seasons = model.seasons().map_or(0, Seasons::most_seasons);
        let Prediction { forecaster, intervals, errors: sums, .. } = model;
        let (warm, time) = (forecaster.warmed_up(), forecaster.time() as u64);
        let mut prediction = vec![0.0; output.len()];
        forecaster.predict_then_observe(input, output, &mut prediction)?;
        for ((made, reached), floor) in prediction.iter().zip(reached).zip(floors) {
            self.ends.extend(reached.map(|offset| (made + offset).max(floor)));
        }
        if let Some(intervals) = intervals.as_mut().filter(|_| warm) {
            intervals.observe(&prediction, output)?;
        }
        if time >= sums.warm_up {
            for (y, predicted) in output.iter().zip(&prediction).filter(|(y, _)| !y.is_nan()) {
                sums.scored += 1;
                sums.sum += (y - predicted) * (y - predicted);
            }
        } else {
            self.unscored += 1;
        }
        let look = foresight.around(&prediction);
        self.bands.extend(look.bands.iter().flat_map(|band| band.unwrap_or([f64::NAN; 2])));
        self.parts.extend(look.parts.iter().flat_map(|parts| parts.row(0, seasons)));
        self.predictions.extend(prediction);
        Ok(())
    }
}

/// Rolling origins over rows that are there.
pub(super) struct RowBacktest<'a> {
    steps: usize,
    shares: Vec<f64>,
    /// Outputs and inputs, row by row.
    rows: (&'a [f64], &'a [f64]),
    origins: RollingOrigins<OriginForecast, OriginForecast>,
}

/// The forecast of an origin.
struct OriginForecast {
    /// Rows that were known, and the place of the first of those that follow.
    known: usize,
    first: usize,
    path: Vec<f64>,
    quantiles: Vec<f64>,
}

impl<'a> RowBacktest<'a> {
    pub(super) fn new(steps: usize, most: usize, shares: Vec<f64>, rows: (&'a [f64], &'a [f64])) -> Self {
        Self { steps, shares, rows, origins: RollingOrigins::new(steps, most) }
    }

    /// Goes on behind the row of this place, which was observed last.
    pub(super) fn take(&mut self, model: &Prediction, place: usize) -> Result<(), Error> {
        if let Some(origin) = self.origins.row(|_| ()) {
            self.origins.keep(origin);
        }
        let (m, q) = (model.forecaster.outputs(), model.forecaster.inputs());
        let (first, last) = (place + 1, place + 1 + self.steps);
        // An origin without all its rows tells nothing.
        if last * m <= self.rows.0.len() && self.origins.is_due(model.seen().rows > model.errors.warm_up) {
            let path = model.forecaster.forecast(self.steps, &self.rows.1[first * q..last * q])?;
            let quantiles = levels(model, &self.shares, &path);
            self.origins.begin(OriginForecast { known: model.forecaster.time(), first, path, quantiles });
        }
        Ok(())
    }

    /// Rows of origin, step, output, what came, the forecast and its quantiles.
    pub(super) fn rows(&self) -> Vec<f64> {
        let mut told = Vec::new();
        for OriginForecast { known, first, path, quantiles } in self.origins.done() {
            let m = path.len() / self.steps;
            for (place, forecast) in path.iter().enumerate() {
                let numbers = [*known, place / m + 1, place % m].map(|number| number as f64);
                told.extend(numbers.into_iter().chain([self.rows.0[first * m + place], *forecast]));
                told.extend(&quantiles[place * self.shares.len()..][..self.shares.len()]);
            }
        }
        told
    }
}

/// The share of values that intervals are to hold, of a model that has some.
pub(super) fn share(model: &Prediction) -> Option<f64> {
    model.intervals.as_ref().map(|intervals| intervals.params().coverage).or_else(|| model.season_share())
}

/// How far the ends of the interval of the next row are from its prediction, for each output;
/// infinite where there is none.
pub(super) fn reach(model: &Prediction, output: usize) -> [f64; 2] {
    let radius = model.intervals.as_ref().map_or(f64::INFINITY, |intervals| intervals.radius(output));
    let offsets = model.seasons().zip(share(model)).filter(|_| model.forecaster.warmed_up());
    offsets.map_or([-radius, radius], |(seasons, share)| tails(share).map(|p| seasons.offset(output, p, 1)))
}

/// What no value of an output is below.
fn floor(model: &Prediction, output: usize) -> f64 {
    model.seasons().and_then(|seasons| seasons.floor(output)).unwrap_or(f64::NEG_INFINITY)
}

/// The probabilities between which an interval of this share lies.
pub(super) fn tails(share: f64) -> [f64; 2] {
    [0.5 - share / 2.0, 0.5 + share / 2.0]
}

/// The quantiles of rows to come, value by value; none but of season mixtures.
pub(super) fn levels(model: &Prediction, shares: &[f64], path: &[f64]) -> Vec<f64> {
    let (Some(seasons), m) = (model.seasons(), model.forecaster.outputs()) else { return Vec::new() };
    let of = |(place, forecast): (usize, &f64)| -> Vec<f64> {
        shares.iter().map(|p| seasons.quantile(place % m, *p, place / m + 1, *forecast)).collect()
    };
    path.iter().enumerate().flat_map(of).collect()
}
