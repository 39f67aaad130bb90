//! A column of times: where in the day, the week and the year, and how long ago.

use std::f64::consts::TAU;

use mercer_core::{Calendar, Cell, Inconsistent, Validate};

use crate::notation::Notation;
use crate::scale::{NumberScale, Scale};
use crate::schema::{Column, TimeParts};

use super::{gap_name, push_gap};

/// Seconds of an average year.
const YEAR: f64 = 365.25 * 86_400.0;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Times {
    /// The first instant of the head.
    origin: f64,
    parts: TimeParts,
    /// Of the years since then.
    elapsed: NumberScale,
    gaps: bool,
    notation: Notation,
}

impl Times {
    pub(super) fn new(column: &Column, scale: Scale, gaps: bool) -> Self {
        let (origin, last) = column.range.unwrap_or_default();
        let elapsed = NumberScale::new(scale, Some((0.0, years(origin, last))));
        Self { origin, parts: column.time, elapsed, gaps, notation: column.notation.clone() }
    }

    pub(super) fn width(&self) -> usize {
        let TimeParts { hour, weekday, season } = self.parts;
        2 * [hour, weekday, season].into_iter().filter(|part| *part).count() + 1 + usize::from(self.gaps)
    }

    pub(super) fn gaps(&self) -> bool {
        self.gaps
    }

    /// The instant of a cell, in seconds.
    pub(super) fn instant(&self, cell: Cell<'_>) -> Option<f64> {
        self.notation.instant(cell)
    }

    pub(super) fn encode(&self, cell: Cell<'_>, numbers: &mut Vec<f64>) {
        let instant = self.instant(cell);
        let Calendar { of_day, of_week, of_year, .. } = Calendar::of(instant.unwrap_or_default());
        for (has, share) in [(self.parts.hour, of_day), (self.parts.weekday, of_week), (self.parts.season, of_year)] {
            if has {
                // A gap lies in the middle of the circle.
                let (sine, cosine) = if instant.is_some() { (TAU * share).sin_cos() } else { (0.0, 0.0) };
                numbers.extend([sine, cosine]);
            }
        }
        let elapsed = instant.map(|instant| years(self.origin, instant));
        numbers.push(elapsed.map_or_else(|| self.elapsed.gap(), |elapsed| self.elapsed.encode(elapsed)));
        push_gap(self.gaps, instant.is_none(), numbers);
    }

    pub(super) fn learn(&mut self, cell: Cell<'_>) {
        if let Some(instant) = self.instant(cell) {
            self.elapsed.learn(years(self.origin, instant));
        }
    }

    pub(super) fn names(&self, column: &str, names: &mut Vec<String>) {
        let TimeParts { hour, weekday, season } = self.parts;
        for (has, part) in [(hour, "hour"), (weekday, "weekday"), (season, "season")] {
            if has {
                names.extend(["sin", "cos"].map(|function| format!("{function} of {part} of {column}")));
            }
        }
        names.push(format!("years of {column}"));
        names.extend(self.gaps.then(|| gap_name(column)));
    }

    pub(super) fn words(&self) -> String {
        let TimeParts { hour, weekday, season } = self.parts;
        let parts = [(hour, "hour, "), (weekday, "weekday, "), (season, "season, ")];
        let parts: String = parts.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect();
        let read = self.notation.words().map(|words| format!("; {words}"));
        format!("{parts}elapsed years {}{}", self.elapsed.words(), read.unwrap_or_default())
    }
}

fn years(origin: f64, instant: f64) -> f64 {
    instant / YEAR - origin / YEAR
}

impl Validate for Times {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.origin.validate()?;
        self.elapsed.validate()
    }
}
