//! What can be looked into: the parts of forecasts, and values outside of their bands.

use mercer_forecast::ForecastParts;
use mercer_session::series::RowLook;

use super::{RowFailure, SeriesPass};

/// A forecast of the next rows, one after the other.
pub(crate) struct SeriesAhead {
    pub(crate) forecast: Vec<f64>,
    /// Its parts by output, if they are wanted.
    pub(crate) parts: Vec<ForecastParts>,
}

impl SeriesAhead {
    /// Changes the forecast of a step of an output, of so many; the difference is rest.
    pub(crate) fn move_to(&mut self, (step, output, outputs): (usize, usize, usize), value: f64) {
        let forecast = &mut self.forecast[step * outputs + output];
        if let Some(parts) = self.parts.get_mut(output) {
            parts.rest[step] += value - *forecast;
        }
        *forecast = value;
    }
}

impl SeriesPass {
    /// The last row: the bands that were to hold it, and the parts of its prediction.
    pub(crate) fn look(&self) -> &RowLook {
        &self.look
    }

    /// Comes to tell the parts of forecasts.
    #[cfg(feature = "serve")]
    pub(crate) fn explaining(&mut self) {
        self.explains = true;
    }

    /// The next `steps` rows, with their parts if these are wanted.
    pub(crate) fn ahead_of(&mut self, steps: usize) -> Result<SeriesAhead, RowFailure> {
        let forecast = self.forecast(steps)?;
        let inputs = self.future.get(..steps * self.input.len()).unwrap_or(&self.future);
        let parts = if self.explains { self.model.parts(&forecast, inputs)? } else { Vec::new() };
        Ok(SeriesAhead { forecast, parts })
    }
}
