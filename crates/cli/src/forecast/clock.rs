//! The times of a series: how they are written, how far apart they are, and which are missing.

use crate::data::day_roll::{are_of_day, roll};
use crate::data::part_columns::PartColumns;
use mercer_encoding::{Calendar, Cell, Clock as Count, Notation, TimeStep, Zone, tells_zone};
use mercer_readers::instant_text;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::report::failure::Failure;
use crate::report::output::number;

/// Rows that may be missing in one place; more are a wrong time.
const MOST_MISSING: u64 = 100_000;

/// The column of times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Clock {
    /// The column's name.
    pub(super) name: String,
    step: Option<TimeStep>,
    style: TimeStyle,
    /// True if the step is still to be found, from the first two rows.
    open: bool,
    /// True if the first rows are in order.
    in_order: bool,
    /// The zone of the times, if it is told.
    #[serde(default)]
    zone: Option<Zone>,
    /// True if times are local ones of the zone, which has days of 23 and 25 hours; else they are
    /// instants.
    #[serde(default)]
    local: bool,
    /// The columns that tell the times with this one.
    #[serde(default)]
    pub(super) parts: PartColumns,
}

/// How the column of times is read, beside its notation.
#[derive(Clone, Debug, Default)]
pub(super) struct ClockOptions {
    /// True if more rows are needed to know the step.
    pub(super) open: bool,
    /// True if the rows are of several series.
    pub(super) grouped: bool,
    pub(super) zone: Option<Zone>,
}

/// The form in which times are written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum TimeStyle {
    Number,
    Year,
    Quarter,
    Half,
    Month,
    /// A day, or a time of day where rows have one; with a `Z` if the zone is told.
    Instant {
        zone: bool,
    },
    /// A time of day alone.
    OfDay,
}

impl Clock {
    /// From the first cells of the column.
    pub(super) fn new(name: &str, notation: Option<&Notation>, cells: &[Cell<'_>], options: ClockOptions) -> Self {
        let time = |cell: &Cell<'_>| notation.map_or_else(|| cell.number(), |notation| notation.instant(*cell));
        let read: Vec<f64> = cells.iter().filter_map(time).collect();
        let style = match notation {
            None => TimeStyle::Number,
            Some(Notation::Clock(Count::Years)) => TimeStyle::Year,
            Some(Notation::Clock(Count::Months) | Notation::Month(_)) => TimeStyle::Month,
            Some(Notation::Quarter(_)) => TimeStyle::Quarter,
            Some(Notation::Half(_)) => TimeStyle::Half,
            Some(Notation::Clock(Count::DigitsToHour | Count::DigitsToMinute | Count::DigitsToSecond)) => {
                TimeStyle::Instant { zone: false }
            }
            Some(_) => {
                let texts = || {
                    cells.iter().filter_map(|cell| if let Cell::Text(text) = cell { Some(text.trim()) } else { None })
                };
                let month = texts().next().is_some() && texts().all(|text| text.len() == 7);
                let local = cells.iter().any(|cell| matches!(cell, Cell::LocalTime(_)));
                // The end of a span looks like an offset.
                let of_spans = notation.is_some_and(|notation| *notation.written() == Notation::Span);
                let zone = !local && !of_spans && (texts().next().is_none() || texts().any(tells_zone));
                match month {
                    _ if of_spans && texts().all(|text| !text.contains(':')) => TimeStyle::Year,
                    true => TimeStyle::Month,
                    false => TimeStyle::Instant { zone },
                }
            }
        };
        Self::of_times(name, (style, notation.is_some()), &read, options)
    }

    /// From the times of the first rows, as clocks show them.
    pub(super) fn of_local_times(name: &str, read: &[f64], options: ClockOptions) -> Self {
        Self::of_times(name, (TimeStyle::Instant { zone: false }, true), read, options)
    }

    fn of_times(name: &str, (style, are_times): (TimeStyle, bool), read: &[f64], options: ClockOptions) -> Self {
        let ClockOptions { open, grouped, zone } = options;
        let of_day = style == TimeStyle::Instant { zone: false } && are_of_day(read, grouped);
        let style = if of_day { TimeStyle::OfDay } else { style };
        let zone = zone.filter(|_| matches!(style, TimeStyle::Instant { .. }));
        let mut clock = Self {
            name: name.to_owned(),
            step: None,
            style,
            open: false,
            in_order: true,
            zone,
            local: true,
            parts: PartColumns::default(),
        };
        let mut times = clock.placed(read, grouped);
        clock.step = TimeStep::detect(&times, are_times);
        // A step of days is one of local days; hours are those of UTC.
        clock.local = clock.zone.is_some() && clock.step.is_some_and(TimeStep::is_of_days);
        if clock.zone.is_some() && !clock.local {
            times = clock.placed(read, grouped);
            clock.step = TimeStep::detect(&times, true);
        }
        clock.in_order = times.is_sorted();
        clock.open = (open || grouped) && clock.step.is_none();
        clock
    }

    /// The times of the first rows, each once.
    fn placed(&self, read: &[f64], grouped: bool) -> Vec<f64> {
        let mut times: Vec<f64> = Vec::with_capacity(read.len());
        for time in read {
            let before = times.last().copied().filter(|_| !grouped);
            times.extend(self.place(*time, before));
        }
        if grouped {
            times.sort_by(f64::total_cmp);
        }
        times.dedup();
        times
    }

    /// The time of what a cell says, where that of the row before is told. In a zone it is an
    /// instant, or the local time if the step is one of days. `None` for a local time that clocks
    /// of the zone never show.
    pub(super) fn place(&self, read: f64, before: Option<f64>) -> Option<f64> {
        if self.style == TimeStyle::OfDay {
            return Some(roll(read, before, self.step.map(|step| step.after(0.0, 1))));
        }
        let (Some(zone), TimeStyle::Instant { zone: is_utc }) = (&self.zone, self.style) else { return Some(read) };
        match (is_utc, self.local) {
            (true, true) => Some(read + zone.offset(read)),
            (true, false) | (false, true) => Some(read),
            (false, false) => zone.instant(read, before),
        }
    }

    /// A refusal of a local time that clocks of the zone never show.
    pub(super) fn never_shown(&self, read: f64) -> String {
        let zone = self.zone.as_ref().map_or("", Zone::name);
        let text = instant_text(read);
        let text = text.trim_end_matches('Z');
        format!("the time {text} is none in {zone}, where clocks are set forward; correct it, or give another --zone")
    }

    /// True if times of day alone are told.
    pub(super) fn is_of_day(&self) -> bool {
        self.style == TimeStyle::OfDay
    }

    /// True if the step is still to be found.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// True if the first rows have no even step, though they are in order.
    pub(super) fn is_uneven(&self) -> bool {
        self.step.is_none() && !self.open && self.in_order
    }

    /// Goes on with the step of rows that a model has observed.
    pub(super) fn go_on(&mut self, known: &Self) {
        (self.zone, self.local) = (known.zone.clone(), known.local);
        if known.step.is_some() {
            (self.step, self.open) = (known.step, false);
        }
    }

    /// A remark where these times tell their offset from UTC and those of a model do not, or the
    /// other way round.
    pub(super) fn other_offset(&self, known: &Self) -> Option<&'static str> {
        match (self.style, known.style) {
            (TimeStyle::Instant { zone: true }, TimeStyle::Instant { zone: false }) => {
                Some("tell their offset from UTC, and those that the model has observed do not and count as UTC")
            }
            (TimeStyle::Instant { zone: false }, TimeStyle::Instant { zone: true }) => {
                Some("tell no offset from UTC and count as UTC, and those that the model has observed tell theirs")
            }
            _ => None,
        }
        .filter(|_| self.zone.is_none() && known.zone.is_none())
    }

    /// True if `now` may be a local time of the hour in which clocks are set back, and so not
    /// behind `before`. This holds in the first hours of a Sunday of autumn, where no zone is told.
    pub(super) fn may_be_set_back(&self, before: f64, now: f64) -> bool {
        let Calendar { of_day, of_week, of_year, .. } = Calendar::from_instant(now);
        let is_autumn = (0.2..0.35).contains(&of_year) || (0.72..0.86).contains(&of_year);
        self.style == (TimeStyle::Instant { zone: false })
            && self.zone.is_none()
            && (0.0..=3600.0).contains(&(before - now))
            && (6.0..7.0).contains(&(7.0 * of_week))
            && of_day < 3.5 / 24.0
            && is_autumn
            && self.step.is_some_and(|step| !step.is_of_days())
    }

    /// The step, if it is known.
    pub(super) fn step(&self) -> Option<TimeStep> {
        self.step
    }

    /// The step as people say it.
    pub(super) fn words(&self) -> Option<String> {
        self.step.map(|step| step.words(self.style != TimeStyle::Number))
    }

    /// A time as its column writes it.
    pub(super) fn text(&self, time: f64) -> String {
        if !time.is_finite() {
            return String::new();
        }
        let ahead = self.zone.as_ref().filter(|_| !self.local).map(|zone| zone.offset(time));
        let text = instant_text(time + ahead.unwrap_or(0.0));
        // A time beyond the calendar is a number, and written as one.
        let begin = |end: usize| text.get(..end).unwrap_or(&text).to_owned();
        let month = || text.get(5..7).and_then(|month| month.parse().ok()).unwrap_or(1_u8);
        let of_day = time.rem_euclid(86_400.0);
        match self.style {
            TimeStyle::Number => number(time),
            TimeStyle::Year => begin(4),
            TimeStyle::Month => begin(7),
            TimeStyle::Quarter => format!("{}Q{}", begin(4), month().div_ceil(3)),
            TimeStyle::Half => format!("{}H{}", begin(4), month().div_ceil(6)),
            TimeStyle::Instant { .. } if of_day == 0.0 && self.step.is_none_or(TimeStep::is_of_days) => begin(10),
            TimeStyle::OfDay => without_seconds(&text).get(11..).unwrap_or_default().to_owned(),
            TimeStyle::Instant { zone } => {
                let bare = without_seconds(&text);
                match ahead {
                    Some(ahead) => format!("{bare}{}", offset_text(ahead)),
                    None => format!("{bare}{}", if zone && !self.local { "Z" } else { "" }),
                }
            }
        }
    }

    /// The same in JSON.
    pub(super) fn value(&self, time: f64) -> Value {
        if self.style == TimeStyle::Number { json!(time) } else { json!(self.text(time)) }
    }

    /// The time so many rows after another, if the step is known.
    pub(super) fn later(&self, time: f64, rows: u64) -> Option<f64> {
        self.step.map(|step| step.after(time, rows))
    }

    /// True if a time is a whole number of steps behind another, or no step is known.
    pub(super) fn is_in_step(&self, before: f64, after: f64) -> bool {
        self.step.is_none_or(|step| step.rows_between(before, after).is_some())
    }

    /// Rows between a time and the next, 1 for neighbours; `None` if that cannot be told.
    fn rows_between(&mut self, before: f64, after: f64) -> Option<u64> {
        if std::mem::take(&mut self.open) {
            self.step = TimeStep::detect(&[before, after], self.style != TimeStyle::Number);
        }
        self.step?.rows_between(before, after)
    }
}

/// An instant without its zone, nor its seconds if there are none.
fn without_seconds(text: &str) -> &str {
    let bare = text.trim_end_matches('Z');
    bare.strip_suffix(":00").filter(|_| bare.len() == 19).unwrap_or(bare)
}

/// Seconds ahead of UTC as `+02:00`.
fn offset_text(ahead: f64) -> String {
    let minutes = (ahead.abs() / 60.0).round() as u64;
    format!("{}{:02}:{:02}", if ahead < 0.0 { '-' } else { '+' }, minutes / 60, minutes % 60)
}

/// Treatment of rows with the time of the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Repeats {
    /// End with the line of the second
    Refuse,
    /// Add them up
    Sum,
    /// Take their mean
    Mean,
    /// Take the last
    Last,
}

/// The rows of one series in their order, those that are missing among them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimedRows {
    /// The time of the row given last.
    last: Option<f64>,
    /// That of the last row which was a whole number of steps behind another such row.
    grid: Option<f64>,
    /// Missing rows to be given before `record`.
    waiting: u64,
    record: Option<(f64, Vec<f64>)>,
    /// The row to which others of its time may be added, with how many were, a count a value.
    held: Option<(f64, Vec<f64>, Vec<u32>)>,
    /// Missing rows, and where the first of them are.
    pub(super) missing: (u64, String),
    /// Rows that are no whole number of steps after the row before, and where the first is.
    pub(super) uneven: (u64, String),
    /// Rows that were taken together with the row before.
    pub(super) merged: u64,
    /// True if a model has learnt the row given last.
    pub(super) learnt: bool,
}

impl TimedRows {
    /// One that goes on behind the row of that time.
    pub(super) fn behind(last: Option<f64>) -> Self {
        Self { last, grid: last, learnt: true, ..Self::default() }
    }

    /// The same where an earlier row was the last one in step.
    pub(super) fn in_step_at(self, grid: Option<f64>) -> Self {
        Self { grid: grid.or(self.grid), ..self }
    }

    /// The time of the last row that was in step.
    pub(super) fn grid(&self) -> Option<f64> {
        self.grid
    }

    /// The time of the row given last.
    pub(super) fn last(&self) -> Option<f64> {
        self.last
    }

    /// The time before which no row may come.
    pub(super) fn newest(&self) -> Option<f64> {
        self.held.as_ref().map(|(time, ..)| *time).or(self.last)
    }

    /// Takes a row that is not before the [newest](Self::newest), and of its time only if repeats
    /// are merged.
    pub(super) fn offer(
        &mut self,
        clock: &mut Clock,
        repeats: Repeats,
        (time, row): (f64, &[f64]),
        place: &dyn Fn() -> String,
    ) -> Result<(), Failure> {
        self.learnt = false;
        if repeats == Repeats::Refuse {
            return self.admit(clock, time, row.to_vec(), place);
        }
        if let Some((held, values, counts)) = &mut self.held
            && *held == time
        {
            self.merged += 1;
            merge(values, counts, row, repeats);
            return Ok(());
        }
        let counts = row.iter().map(|value| u32::from(!value.is_nan())).collect();
        match self.held.replace((time, row.to_vec(), counts)) {
            Some((time, values, _)) => self.admit(clock, time, values, place),
            None => Ok(()),
        }
    }

    /// True if a row waits for others of its time.
    pub(super) fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// Gives out what waits for others of its time; false if nothing does.
    pub(super) fn finish(&mut self, clock: &mut Clock, place: &dyn Fn() -> String) -> Result<bool, Failure> {
        match self.held.take() {
            Some((time, values, _)) => self.admit(clock, time, values, place).map(|()| true),
            None => Ok(false),
        }
    }

    fn admit(
        &mut self,
        clock: &mut Clock,
        time: f64,
        row: Vec<f64>,
        place: &dyn Fn() -> String,
    ) -> Result<(), Failure> {
        if let Some(last) = self.last {
            let between = clock.rows_between(last, time);
            let grid = self.grid.unwrap_or(last);
            if between.is_some() && grid == last || clock.is_in_step(grid, time) {
                self.grid = Some(time);
            }
            match between {
                Some(rows) if rows > MOST_MISSING => {
                    return Err(Failure::because(format!(
                        "{}: {} is {rows} rows after the row before, {}; correct the time, or leave the rows before it out",
                        place(),
                        clock.text(time),
                        clock.text(last)
                    )));
                }
                Some(rows) => {
                    note(&mut self.missing, rows - 1, place);
                    self.waiting = rows - 1;
                }
                None => note(&mut self.uneven, 1, place),
            }
        }
        self.grid.get_or_insert(time);
        self.record = Some((time, row));
        Ok(())
    }

    /// Puts the next row into `row`; false if another must be offered first. A missing one has no
    /// values, but the inputs of the row that follows.
    pub(super) fn next(&mut self, clock: &Clock, inputs: &[usize], row: &mut Vec<f64>) -> bool {
        let Some((time, values)) = &self.record else { return false };
        row.clear();
        if self.waiting > 0 {
            self.waiting -= 1;
            row.resize(values.len(), f64::NAN);
            inputs.iter().for_each(|input| row[*input] = values[*input]);
            self.last = self.last.and_then(|last| clock.later(last, 1));
            return true;
        }
        row.extend_from_slice(values);
        self.last = Some(*time);
        self.record = None;
        true
    }

    /// Leaves out the missing rows that were to come, where they cannot be given.
    pub(super) fn skip_missing(&mut self) {
        self.waiting = 0;
    }
}

fn note(found: &mut (u64, String), rows: u64, place: &dyn Fn() -> String) {
    if found.0 == 0 && rows > 0 {
        found.1 = place();
    }
    found.0 += rows;
}

/// Takes a row together with others of its time. What is missing counts nowhere.
fn merge(values: &mut [f64], counts: &mut [u32], row: &[f64], repeats: Repeats) {
    for ((held, count), value) in values.iter_mut().zip(counts).zip(row).filter(|(_, value)| !value.is_nan()) {
        *count += 1;
        *held = match repeats {
            _ if held.is_nan() => *value,
            Repeats::Refuse | Repeats::Last => *value,
            Repeats::Sum => *held + value,
            Repeats::Mean => *held + (value - *held) / f64::from(*count),
        };
    }
}

#[cfg(test)]
mod tests {
    use mercer_encoding::{Overrides, Schema};

    use super::*;

    fn notation(texts: &[&str]) -> Option<Notation> {
        let rows: Vec<[Cell<'_>; 1]> = texts.iter().map(|text| [Cell::Text(text)]).collect();
        Schema::infer(&["day".to_owned()], &rows, &Overrides::default()).unwrap().columns()[0].times().cloned()
    }

    fn clock(texts: &[&str]) -> Clock {
        let cells: Vec<Cell<'_>> = texts.iter().copied().map(Cell::Text).collect();
        let notation = notation(texts);
        Clock::new("day", notation.as_ref(), &cells, ClockOptions::default())
    }

    #[test]
    fn times_are_written_as_they_were_read() {
        for (texts, next) in [
            (&["2020-01-30", "2020-01-31"][..], "2020-02-01"),
            (&["2020-11", "2020-12"], "2021-01"),
            (&["2020Q3", "2020Q4"], "2021Q1"),
            (&["3Q20", "4Q20"], "2021Q1"),
            (&["T3 2020", "T4 2020"], "2021Q1"),
            (&["2020H1", "2020H2"], "2021H1"),
            (&["11/2020", "12/2020"], "2021-01"),
            (&["Nov-20", "Dec-20"], "2021-01"),
            (&["2020-01-31 22:00", "2020-01-31 23:00"], "2020-02-01T00:00"),
            (&["2020-01-31T22:00Z", "2020-01-31T23:00Z"], "2020-02-01T00:00Z"),
            (&["2020-01-31T22:00:10", "2020-01-31T22:00:20"], "2020-01-31T22:00:30"),
            (&["30/01/2020", "31/01/2020"], "2020-02-01"),
            (&["22:00", "23:00"], "00:00"),
            (&["22:00:10", "22:00:20"], "22:00:30"),
            (&["1899-12-30 22:30:00", "1899-12-30 23:00:00"], "23:30"),
        ] {
            let clock = clock(texts);
            let last = notation(texts).unwrap().instant(Cell::Text(texts[1])).unwrap();
            assert_eq!(clock.text(clock.later(last, 1).unwrap()), next);
        }
    }

    #[test]
    fn rows_that_are_missing_or_twice_there() {
        let mut clock = clock(&["2020-01-01", "2020-01-02"]);
        let at = |day: f64| 86_400.0 * (18_262.0 + day);
        let days: [(f64, f64); 6] = [(0.0, 1.0), (1.0, f64::NAN), (1.0, 2.0), (1.0, 4.0), (4.0, 5.0), (4.4, 6.0)];
        let place = || "here".to_owned();
        for (repeats, second) in [(Repeats::Sum, 6.0), (Repeats::Mean, 3.0), (Repeats::Last, 4.0)] {
            let (mut course, mut row, mut given) = (TimedRows::default(), Vec::new(), Vec::new());
            let mut take = |course: &mut TimedRows, clock: &Clock| {
                while course.next(clock, &[], &mut row) {
                    given.push((course.last().unwrap(), row[0]));
                }
            };
            for (day, value) in days {
                course.offer(&mut clock, repeats, (at(day), &[value]), &place).unwrap();
                take(&mut course, &clock);
            }
            assert!(course.finish(&mut clock, &place).unwrap());
            take(&mut course, &clock);
            let expected = [(0.0, 1.0), (1.0, second), (2.0, f64::NAN), (3.0, f64::NAN), (4.0, 5.0), (4.4, 6.0)];
            assert_eq!(given.len(), expected.len());
            for (given, (day, value)) in given.iter().zip(expected) {
                assert_eq!(given.0, at(day));
                assert!(given.1 == value || (given.1.is_nan() && value.is_nan()), "{repeats:?} {given:?} {value}");
            }
            assert_eq!((course.missing.0, course.uneven.0, course.merged), (2, 1, 2));
        }
        let far = (at(0.0), &[1.0][..]);
        let mut course = TimedRows::default();
        course.offer(&mut clock, Repeats::Refuse, far, &place).unwrap();
        assert!(course.next(&clock, &[], &mut Vec::new()));
        let refused = course.offer(&mut clock, Repeats::Refuse, (at(1e6), &[1.0]), &place);
        assert!(refused.unwrap_err().to_string().contains("here: 4757-11-28 is 1000000 rows after the row before"));
    }
}
