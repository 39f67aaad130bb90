//! The sight of a column: everything that a look has seen of it.

use std::collections::HashMap;

use mercer_core::{Calendar, Cell, List, TruthWords, ValueRange, is_gap_mark, parse_instant};

use crate::key::Key;
use crate::notation::Notation;
use crate::numeral::{CELLS_A_MISFIT, NumberMarks, code};
use crate::schema::{LISTED, LONGEST_NAME, TimeParts};
use crate::time_form::TimeForms;
use crate::zone::{Zone, tells_zone};

/// Different values of a column that are counted.
const MOST_DISTINCT: usize = 10_000;

/// Values of a column that are found by going through them.
const FEW: usize = 16;

/// Texts of which none comes twice before they count as identifiers.
pub(super) const ENOUGH_TEXTS: u64 = 20;

const DAY: f64 = 86_400.0;
/// Steps of months and years differ by less than this part.
const LONGER: f64 = 0.2;

/// Everything that a look has seen of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnSight {
    pub(super) missing: u64,
    /// Texts that are gaps among numbers and times, and values among categories.
    pub(super) marks: u64,
    pub(super) numbers: u64,
    pub(super) instants: u64,
    pub(super) durations: u64,
    pub(super) truths: u64,
    pub(super) texts: u64,
    /// Lists and objects.
    pub(super) lists: u64,
    /// Texts among the texts that are lists or objects.
    pub(super) written_lists: u64,
    /// Texts that are numbers as every program writes them.
    pub(super) plain: u64,
    /// Texts that are dates or times.
    pub(super) dates: u64,
    /// Their bytes.
    pub(super) bytes: u64,
    pub(super) range: ValueRange,
    pub(super) last: Option<f64>,
    /// From the first number to the second.
    pub(super) step: Option<f64>,
    /// Another step from one number to the next; and one that differs by more than months do.
    pub(super) uneven: bool,
    pub(super) ragged: bool,
    /// A number that is no integer, or not above the one before.
    pub(super) not_running: bool,
    /// A number that is not above the one before.
    pub(super) falls: bool,
    pub(super) times: TimeVariation,
    /// The forms of the times that are typed, or written as usual.
    pub(super) forms: TimeForms,
    /// Texts of times of a day were met without a zone, and with one.
    pub(super) told_zones: [bool; 2],
    /// The different values with how often each came, in the order in which they came first.
    pub(super) values: Vec<(String, u64)>,
    /// Where each of them stands there, once there are many.
    pub(super) places: HashMap<String, usize>,
    /// The form of the first number that may be a code.
    pub(super) code: Option<&'static str>,
    /// Values that are too long to be listed, or too many.
    pub(super) unlisted: u64,
    /// The marks of numbers, told or shown by other columns.
    pub(super) number_marks: NumberMarks,
    /// The zone of times, if it is told.
    pub(super) zone: Option<Zone>,
}

/// Variation of the times of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeVariation {
    pub(super) range: ValueRange,
    pub(super) first: Option<Calendar>,
    pub(super) last: Option<f64>,
    pub(super) least_gap: Option<f64>,
    pub(super) hours: bool,
    pub(super) days: bool,
}

impl TimeVariation {
    pub(super) fn observe(&mut self, instant: f64) {
        self.range.observe(instant);
        let calendar = Calendar::from_instant(instant);
        let first = *self.first.get_or_insert(calendar);
        self.hours |= first.of_day != calendar.of_day;
        self.days |= first.day != calendar.day;
        if let Some(last) = self.last.replace(instant) {
            let gap = (instant - last).abs();
            if gap > 0.0 {
                self.least_gap = Some(self.least_gap.map_or(gap, |least| least.min(gap)));
            }
        }
    }

    pub(super) fn parts(&self) -> TimeParts {
        let closer = |days: f64| self.days && self.least_gap.is_some_and(|gap| gap < days * DAY);
        TimeParts { hour: self.hours, weekday: closer(7.0), season: closer(300.0) }
    }
}

impl ColumnSight {
    pub(super) fn observe(&mut self, cell: Cell<'_>) {
        let Some(key) = Key::from_cell(cell) else {
            self.missing += 1;
            return;
        };
        match cell {
            Cell::Missing => {}
            Cell::Number(_) | Cell::Integer(_) | Cell::Numeral(..) => {
                self.numbers += 1;
                self.code = self.code.or_else(|| code(cell));
                if let Some(number) = cell.number() {
                    self.range.observe(number);
                    self.observe_order(number);
                }
            }
            Cell::List(_) => {
                self.lists += 1;
                self.not_running = true;
            }
            Cell::Truth(_) => {
                self.truths += 1;
                self.not_running = true;
            }
            Cell::Duration(seconds) => {
                self.durations += 1;
                self.range.observe(seconds);
                self.not_running = true;
            }
            Cell::Instant(instant) | Cell::LocalTime(instant) | Cell::TimeOfDay(instant) => {
                self.instants += 1;
                self.forms.observe(cell);
                self.times.observe(instant);
            }
            Cell::Text(text) if is_gap_mark(text) => self.marks += 1,
            Cell::Text(text) => {
                self.texts += 1;
                match Notation::Plain.number(cell) {
                    Some(number) => {
                        self.plain += 1;
                        self.observe_order(number);
                    }
                    None => self.not_running = true,
                }
                self.written_lists += u64::from(List::begins(text) && List::read(text).is_ok());
                self.bytes += text.len() as u64;
                if let Some(instant) = parse_instant(text) {
                    self.dates += 1;
                    self.forms.observe(cell);
                    self.times.observe(instant);
                    self.told_zones[usize::from(tells_zone(text))] |= text.contains(':');
                }
            }
        }
        self.count(key.as_str());
    }

    /// Counts a value, by name as long as there are few.
    fn count(&mut self, key: &str) {
        if let Some(place) = self.place(key) {
            self.values[place].1 += 1;
        } else if key.len() <= LONGEST_NAME && self.values.len() < MOST_DISTINCT {
            self.values.push((key.to_owned(), 1));
            match self.values.len() {
                few if few < FEW => {}
                FEW => {
                    let values = self.values.iter().enumerate();
                    self.places = values.map(|(place, (value, _))| (value.clone(), place)).collect();
                }
                many => {
                    self.places.insert(key.to_owned(), many - 1);
                }
            }
        } else {
            self.unlisted += 1;
        }
    }

    /// Where a value stands among those that came before.
    fn place(&self, key: &str) -> Option<usize> {
        if self.values.len() < FEW {
            return self.values.iter().position(|(value, _)| value == key);
        }
        self.places.get(key).copied()
    }

    pub(super) fn observe_order(&mut self, number: f64) {
        if let Some(last) = self.last.replace(number) {
            self.not_running |= number <= last;
            self.falls |= number <= last;
            let step = *self.step.get_or_insert(number - last);
            // Numbers of tenths are even to rounding.
            self.ragged |= (number - last - step).abs() > LONGER * step.abs();
            self.uneven |= (number - last - step).abs() > 1e-9 * (step.abs() + number.abs());
        }
        self.not_running |= number != number.trunc();
    }

    /// Cells with a value, whatever the column is.
    pub(super) fn present(&self) -> u64 {
        self.numbers + self.instants + self.durations + self.truths + self.texts + self.lists
    }

    /// Different values that are no marks of gaps.
    pub(super) fn distinct(&self) -> u64 {
        (self.values().count() as u64).saturating_add(self.unlisted)
    }

    /// Values that are no marks of gaps, and how often each came, in the order in which they came
    /// first.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, u64)> + Clone {
        let values = self.values.iter().map(|(value, count)| (value.as_str(), *count));
        values.filter(|(value, _)| self.marks == 0 || !is_gap_mark(value))
    }

    /// True if the values that are listed stand for all: none is too long, or there are very many.
    pub(super) fn is_listed(&self) -> bool {
        self.unlisted == 0 || self.values.len() == MOST_DISTINCT
    }

    /// True if nearly all cells with a value are those counted.
    pub(super) fn are_most(&self, counted: u64) -> bool {
        let present = self.present();
        present > 0 && (present - counted) * CELLS_A_MISFIT <= present
    }

    /// The words for its truth values, if it has them.
    pub(super) fn truth_words(&self) -> Option<TruthWords> {
        TruthWords::find(self.values().map(|(value, _)| value)).filter(|_| self.unlisted == 0)
    }

    /// The earlier of two that are as frequent goes before.
    pub(super) fn most_frequent(mut self) -> Vec<(String, u64)> {
        self.values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        self.values.truncate(LISTED);
        self.values
    }
}
