//! What can be looked into: the parts of forecasts, and values outside of their bands.

use mercer_forecast::ForecastParts;

use super::{RowFailure, SeriesPass, seasons};

/// A forecast of the next rows, one after the other.
pub(in crate::forecast) struct SeriesAhead {
    pub(in crate::forecast) forecast: Vec<f64>,
    /// Its parts by output, if they are wanted.
    pub(in crate::forecast) parts: Vec<ForecastParts>,
}

impl SeriesAhead {
    /// Changes the forecast of a step of an output, of so many; the difference is rest.
    pub(in crate::forecast) fn move_to(&mut self, (step, output, outputs): (usize, usize, usize), value: f64) {
        let forecast = &mut self.forecast[step * outputs + output];
        if let Some(parts) = self.parts.get_mut(output) {
            parts.rest[step] += value - *forecast;
        }
        *forecast = value;
    }
}

impl SeriesPass {
    /// Distances from the next prediction of an output that hold the usual share of the values;
    /// none in the warm-up.
    pub(super) fn usual_reach(&self, output: usize) -> Option<[f64; 2]> {
        let share = self.usual.filter(|_| self.model.seen().rows >= self.model.errors.warm_up)?;
        let seasons = seasons(&self.model).filter(|seasons| seasons.mixture(output).warmed_up())?;
        Some([0.5 - share / 2.0, 0.5 + share / 2.0].map(|p| seasons.offset(output, p, 1)))
    }

    /// The band that was to hold the last value of an output, if it was judged.
    pub(in crate::forecast) fn usual(&self, output: usize) -> Option<[f64; 2]> {
        self.usual_band[output]
    }

    /// The same if the value lay outside.
    pub(in crate::forecast) fn anomaly(&self, output: usize) -> Option<[f64; 2]> {
        let y = self.output[output];
        self.usual_band[output].filter(|[low, high]| y < *low || y > *high)
    }

    /// The parts of the last row's prediction, output by output.
    pub(in crate::forecast) fn parts(&self) -> &[ForecastParts] {
        &self.parts
    }

    /// The next `steps` rows, with their parts if these are wanted.
    pub(in crate::forecast) fn ahead_of(&mut self, steps: usize) -> Result<SeriesAhead, RowFailure> {
        let forecast = self.forecast(steps)?;
        let inputs = self.future.get(..steps * self.input.len()).unwrap_or(&self.future);
        let parts = if self.explains { self.explain(&forecast, inputs)? } else { Vec::new() };
        Ok(SeriesAhead { forecast, parts })
    }

    /// The parts of rows to come, each behind the other, with these inputs.
    pub(super) fn explain(&self, rows: &[f64], inputs: &[f64]) -> Result<Vec<ForecastParts>, RowFailure> {
        let (Some(seasons), m) = (seasons(&self.model), self.output.len()) else { return Ok(Vec::new()) };
        let of = |output: usize| {
            let path: Vec<f64> = rows.iter().skip(output).step_by(m).copied().collect();
            Ok(seasons.parts(output, &path, inputs)?)
        };
        (0..m).map(of).collect()
    }
}
