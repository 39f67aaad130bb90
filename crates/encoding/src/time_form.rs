//! The forms in which the times of a column are written: with a day, with a time of day, with an
//! offset from UTC. A cell in another form than those learnt is read as it stands, and told.

use mercer_core::Cell;

use crate::notation::Notation;
use crate::zone::is_shifted;

const DAY: f64 = 86_400.0;

/// The forms that were met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TimeForms {
    /// A day alone, or its midnight.
    pub days: bool,
    /// A time of day alone.
    pub clocks: bool,
    /// Both.
    pub both: bool,
    /// Times of day without an offset from UTC, or with one of 0.
    pub level: bool,
    /// Those with another offset.
    pub shifted: bool,
}

impl TimeForms {
    /// That of a cell, which is a time.
    fn of(cell: Cell<'_>) -> Self {
        let none = Self::default();
        match cell {
            Cell::TimeOfDay(_) => Self { clocks: true, level: true, ..none },
            Cell::Instant(_) | Cell::LocalTime(_) => Self { both: true, level: true, ..none },
            Cell::Text(text) if !text.contains(':') => Self { days: true, ..none },
            Cell::Text(text) => {
                let digits = text.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
                let (clocks, shifted) = (digits.starts_with(':'), is_shifted(text));
                Self { clocks, both: !clocks, level: !shifted, shifted, ..none }
            }
            _ => none,
        }
    }

    /// Takes the form of a cell in account.
    pub(crate) fn observe(&mut self, cell: Cell<'_>) {
        let Self { days, clocks, both, level, shifted } = Self::of(cell);
        *self = Self {
            days: self.days || days,
            clocks: self.clocks || clocks,
            both: self.both || both,
            level: self.level || level,
            shifted: self.shifted || shifted,
        };
    }

    /// True if a cell is written otherwise than all that were met. A midnight is at home among
    /// days. Where clocks are those of a zone, offsets are read by it.
    pub(crate) fn lack(self, cell: Cell<'_>, notation: &Notation) -> bool {
        let form = Self::of(cell);
        if self == Self::default() || form == Self::default() {
            return false;
        }
        let at_midnight = || notation.instant(cell).is_some_and(|instant| instant.rem_euclid(DAY) == 0.0);
        let is_day = form.days || form.both && self.days && at_midnight();
        let is_known = self.days && is_day || self.clocks && form.clocks || self.both && form.both;
        let of_zone = notation.zone().is_some() || !(self.level || self.shifted);
        let is_off = form.level && !self.level || form.shifted && !self.shifted;
        !is_known || !of_zone && is_off
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_met_is_told() {
        let lacks = |known: &[&str], text: &str| {
            let mut forms = TimeForms::default();
            known.iter().for_each(|known| forms.observe(Cell::Text(known)));
            forms.lack(Cell::Text(text), &Notation::Plain)
        };
        let (day, clock, both) = ("2023-05-01", "05:00", "2023-05-01 05:00");
        let (ahead, zulu) = ("2023-05-01T05:00+06:00", "2023-05-01T05:00Z");
        for (known, text, odd) in [
            (&[day][..], day, false),
            (&[day], clock, true),
            (&[day], both, true),
            (&[day], "2023-05-02 00:00", false),
            (&[both], day, true),
            (&[both], clock, true),
            (&[both], zulu, false),
            (&[both], ahead, true),
            (&[both], "2023-05-01 00:00", false),
            (&[both, day], day, false),
            (&[clock], both, true),
            (&[clock], "5:00:00", false),
            (&[ahead], both, true),
            (&[ahead], "2024-01-01 05:00-03:00", false),
            (&[ahead, both], zulu, false),
        ] {
            assert_eq!(lacks(known, text), odd, "{text} behind {known:?}");
        }
        let mut forms = TimeForms::default();
        forms.observe(Cell::Text(day));
        // The midnight of a typed time is a day.
        assert!(!forms.lack(Cell::Instant(DAY), &Notation::Plain) && forms.lack(Cell::Instant(1.0), &Notation::Plain));
    }
}
