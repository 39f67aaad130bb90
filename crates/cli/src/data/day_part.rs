//! The time of day in a column of its own, beside one of days.

use mercer_encoding::{Column, Kind, Notation};
use mercer_readers::{Cell, Record};

const DAY: f64 = 86_400.0;
const HOUR: f64 = 3600.0;

/// A column that says when on its day a row is: a time of day, or the number of an hour.
#[derive(Clone, Debug)]
pub(crate) struct DayPart {
    /// The column's name and place.
    pub(crate) name: String,
    pub(crate) place: usize,
    /// `None` for numbers of hours.
    notation: Option<Notation>,
    /// The number of the first hour, 0 or 1.
    first: f64,
}

impl DayPart {
    /// The column as such, if its cells in the first rows may be times of days.
    fn of(column: &Column, place: usize) -> Option<Self> {
        let (low, high) = column.range?;
        let made = |notation, first| Some(Self { name: column.name.clone(), place, notation, first });
        match column.kind {
            Kind::Time if low >= 0.0 && high <= DAY => made(column.times().cloned(), 0.0),
            Kind::Number if is_name_of_hours(&column.name) && low >= 0.0 && high <= 24.0 => {
                made(None, if high == 24.0 { 1.0 } else { 0.0 })
            }
            _ => None,
        }
    }

    /// The same in another file.
    pub(crate) fn at(self, place: usize) -> Self {
        Self { place, ..self }
    }

    /// Seconds since midnight.
    pub(crate) fn seconds(&self, cell: Cell<'_>) -> Option<f64> {
        let seconds = match &self.notation {
            Some(notation) => notation.instant(cell)?,
            None => HOUR * (cell.number()? - self.first),
        };
        (0.0..=DAY).contains(&seconds).then_some(seconds)
    }

    /// What is told of it.
    pub(crate) fn words(&self) -> String {
        let hours = if self.first == 1.0 { ", whose hour 1 begins at 00:00" } else { "" };
        format!(" with column {:?}{hours}", self.name)
    }

    /// The column that goes with one of days: days come again in the first rows, and with it the
    /// times rise from row to row of a group. `columns` may be it.
    pub(crate) fn find<'a>(
        columns: impl Iterator<Item = (usize, &'a Column)>,
        rows: &[Record],
        (days, notation): (usize, &Notation),
        group: Option<usize>,
    ) -> Option<Self> {
        let groups = |record: &Record| group.map(|group| record.cell(group).to_string()).unwrap_or_default();
        let rises = |part: &Self| {
            let (mut last, mut repeats) = (std::collections::HashMap::<String, (f64, f64)>::new(), false);
            for record in rows {
                let Some(day) = notation.instant(record.cell(days)) else { return false };
                let Some(seconds) = part.seconds(record.cell(part.place)) else { return false };
                if day.rem_euclid(DAY) != 0.0 {
                    return false;
                }
                if let Some((before, time)) = last.insert(groups(record), (day, day + seconds)) {
                    repeats |= before == day;
                    if day + seconds <= time {
                        return false;
                    }
                }
            }
            repeats
        };
        columns.filter_map(|(place, column)| Self::of(column, place)).find(rises)
    }
}

/// True for `Hour`, `HE`, `Stunde` and the like.
fn is_name_of_hours(name: &str) -> bool {
    const NAMES: [&str; 10] = ["hour", "hours", "hr", "he", "stunde", "std", "heure", "hora", "ora", "uur"];
    NAMES.contains(&name.trim().to_lowercase().as_str())
}
