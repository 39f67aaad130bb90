//! How a season mixture is made.

use mercer_core::ParameterError;
use mercer_forecast::{Detail, Periods, SeasonParams, Seasons};

use crate::model::{Prediction, SeriesErrors};

/// Steps that weights and intervals are learnt for at least, whatever is asked for.
pub const SEASON_HORIZONS: usize = 12;

/// Rows without a season that are not scored.
const WARM_UP: usize = 10;

/// Rows that are not scored at most where a season of the calendar may wait.
const MOST_UNSCORED: usize = 64;

/// Columns beyond which mixtures have fewer experts.
const MANY: usize = 8;

/// A season mixture of columns of these names (or none), the first `m` of them outputs and the
/// others `q` known inputs, with nothing observed. Its forecasts have `intervals` that hold this
/// share of the values, if some are asked for. A `light` one has fewer experts; unless told it is
/// so beyond eight outputs.
///
/// # Errors
/// When a parameter is outside its range.
pub fn season_mixture(
    names: Vec<String>,
    [m, q]: [usize; 2],
    mut params: SeasonParams,
    (intervals, light): (Option<f64>, Option<bool>),
) -> Result<Prediction, ParameterError> {
    let season = match &params.periods {
        Periods::Given(periods) | Periods::Calendar { likely: periods, .. } => format!("{periods:?}").replace(' ', ""),
        Periods::Found => "\"found\"".to_owned(),
    };
    let seasons = params.periods.first().first().map_or(WARM_UP, |period| 2 * period + 2);
    let warm_up = if let Periods::Calendar { .. } = params.periods { seasons.min(MOST_UNSCORED) } else { seasons };
    let mut parameters = vec![("season", season), ("horizons", params.horizons.to_string())];
    if light.unwrap_or(m > MANY) {
        params.detail = Detail::Light;
        parameters.push(("detail", "\"light\"".to_owned()));
    }
    if let Some(share) = intervals {
        params.coverage = share;
        parameters.push(("intervals", share.to_string()));
    }
    if q > 0 {
        parameters.push(("known", q.to_string()));
    }
    let seasons = Seasons::new(m, q, &params)?;
    Ok(Prediction {
        method: "season".to_owned(),
        parameters: parameters.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        errors: SeriesErrors { warm_up: warm_up as u64, ..SeriesErrors::default() },
        ..Prediction::new(names, seasons.into())
    })
}
