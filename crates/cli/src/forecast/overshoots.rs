//! Forecasts beyond everything that a series had shown.

use mercer_core::ValueRange;

use crate::report::output::digits;

/// Values before which nothing is judged.
const FEWEST: u64 = 20;

/// Count of the forecasts that lay farther beyond the range of the values before them than that
/// range is wide, and the farthest.
#[derive(Clone, Debug, Default)]
pub(super) struct Overshoots {
    /// For each output the number of its values so far, and their range.
    ranges: Vec<(u64, ValueRange)>,
    count: u64,
    /// In widths of the range, with its row and forecast.
    farthest: (f64, usize, f64),
}

impl Overshoots {
    /// Row `row` was forecast, and came.
    pub(super) fn take(&mut self, row: usize, made: &[f64], came: &[f64]) {
        self.ranges.resize(came.len(), (0, ValueRange::NOTHING));
        for ((count, range), (made, came)) in self.ranges.iter_mut().zip(made.iter().zip(came)) {
            let widths = range.ends().map_or(0.0, |(low, high)| (low - made).max(made - high) / (high - low));
            // Values that are all the same have no range to be beyond.
            if *count >= FEWEST && widths > 1.0 && widths.is_finite() {
                self.count += 1;
                if widths > self.farthest.0 {
                    self.farthest = (widths, row, *made);
                }
            }
            if !came.is_nan() {
                *count += 1;
                range.observe(*came);
            }
        }
    }

    /// A remark on the forecasts of a method.
    pub(super) fn note(&self, method: &str) -> Option<String> {
        let (widths, row, made) = self.farthest;
        let more = self.count.checked_sub(1)?;
        let rows = if more == 0 { String::new() } else { format!(", and {more} more were beyond it by its width") };
        let why = match method {
            "season" => "few rows or a jump lay before it; errors of later rows tell more".to_owned(),
            other => format!(
                "after a jump {other} follows the few rows behind it exactly; the default method goes no farther than \
                 once their range, and forgets such rows"
            ),
        };
        Some(format!(
            "the forecast of row {row} was {}, beyond all values before it by {} times their range{rows}: {why}",
            digits(made),
            digits(widths.round())
        ))
    }
}
