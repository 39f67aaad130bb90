//! A column of times: where in the day, the week and the year, and how long ago.

use std::f64::consts::TAU;

use mercer_core::{Calendar, Cell, Inconsistent, Validate};

use crate::notation::Notation;
use crate::scale::{NumberScale, Scale};
use crate::schema::{Column, TimeParts};
use crate::time_form::TimeForms;

use super::{gap_name, tell_gap};

/// Seconds of an average year.
const YEAR: f64 = 365.25 * 86_400.0;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Times {
    /// The first instant of the head.
    origin: f64,
    parts: TimeParts,
    /// The scale of the years since then.
    elapsed: NumberScale,
    gaps: bool,
    notation: Notation,
    forms: TimeForms,
}

impl Times {
    pub(super) fn new(column: &Column, scale: Scale, gaps: bool) -> Self {
        let (origin, _) = column.range.unwrap_or_default();
        let elapsed = NumberScale::new(scale);
        Self { origin, parts: column.time, elapsed, gaps, notation: column.notation.clone(), forms: column.forms }
    }

    pub(super) fn width(&self) -> usize {
        self.elapsed_at() + 1 + usize::from(self.gaps)
    }

    pub(super) fn gaps(&self) -> bool {
        self.gaps
    }

    /// The instant of a cell, in seconds.
    pub(super) fn instant(&self, cell: Cell<'_>) -> Option<f64> {
        self.notation.instant(cell)
    }

    /// True if a cell is a time in another notation than the head: a number, which is read by its
    /// size, where times are no numbers, or one of a [form](TimeForms) that the head has not.
    pub(super) fn is_otherwise(&self, cell: Cell<'_>) -> bool {
        if matches!(self.notation.written(), Notation::Clock(_)) {
            return false;
        }
        (cell.number().is_some() || self.forms.lack(cell, &self.notation)) && self.instant(cell).is_some()
    }

    pub(super) fn encode(&self, cell: Cell<'_>, numbers: &mut [f64]) {
        let Some(instant) = self.instant(cell) else {
            // A gap lies in the middle of the circles.
            numbers[self.elapsed_at()] = self.elapsed.gap();
            return tell_gap(self.gaps, numbers);
        };
        let Calendar { of_day, of_week, of_year, .. } = Calendar::from_instant(self.notation.shown(instant));
        let TimeParts { hour, weekday, season } = self.parts;
        let shares = [(hour, of_day), (weekday, of_week), (season, of_year)];
        let circles = shares.into_iter().filter(|(has, _)| *has).map(|(_, share)| TAU * share);
        for (place, angle) in numbers.chunks_exact_mut(2).zip(circles) {
            (place[0], place[1]) = angle.sin_cos();
        }
        numbers[self.elapsed_at()] = self.elapsed.encode(years(self.origin, instant));
    }

    /// Where the years stand: behind the circles.
    fn elapsed_at(&self) -> usize {
        let TimeParts { hour, weekday, season } = self.parts;
        2 * [hour, weekday, season].into_iter().filter(|part| *part).count()
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
