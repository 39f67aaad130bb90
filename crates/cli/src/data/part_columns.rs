//! Times that stand in several columns: the month and the day beside a year, the time of day beside
//! a day.

use std::collections::HashMap;

use mercer_encoding::{Column, Kind, Notation, TimeStep, month_of_year};
use mercer_readers::{Cell, Record};
use serde::{Deserialize, Serialize};

const DAY: f64 = 86_400.0;
const HOUR: f64 = 3600.0;
const MONTHLY: TimeStep = TimeStep::Months { count: 1, day: 1 };

/// Columns that tell the time of a row together with the one before them, the coarsest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartColumns(Vec<PartColumn>);

/// A column that says where within a year, a month or a day a row is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PartColumn {
    pub(crate) name: String,
    #[serde(skip)]
    pub(crate) place: usize,
    part: Part,
}

/// The parts, each within the one before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Part {
    /// Numbers or names of the months of a year.
    Month,
    /// Numbers of the quarters of a year, alone or as `Q1`, `1Q`, `T1`.
    Quarter,
    /// Numbers of the days of a month.
    Day,
    /// Times of day.
    OfDay(Notation),
    /// Numbers of the hours of a day, of which the first is 0 or 1.
    Hour(f64),
}

/// The quarter that a cell names, from 1 to 4.
fn quarter_of_year(cell: Cell<'_>) -> Option<u64> {
    let number = match cell {
        Cell::Text(text) => text.trim().trim_matches(['Q', 'q', 'T', 't']).parse().ok(),
        cell => cell.number(),
    };
    number.filter(|number| [1.0, 2.0, 3.0, 4.0].contains(number)).map(|number| number as u64)
}

impl Part {
    /// The time so far within a year, a month or a day, made finer.
    fn refine(&self, time: f64, cell: Cell<'_>) -> Option<f64> {
        match self {
            Self::Month => Some(MONTHLY.after(time, month_of_year(cell)? - 1)),
            Self::Quarter => {
                let quarter = quarter_of_year(cell)?;
                Some(MONTHLY.after(time, 3 * (quarter - 1)))
            }
            Self::Day => {
                let day = cell.number().filter(|day| day.fract() == 0.0 && *day >= 1.0)?;
                Some(time + DAY * (day - 1.0)).filter(|day| *day < MONTHLY.after(time, 1))
            }
            Self::OfDay(notation) => {
                notation.instant(cell).filter(|time| (0.0..=DAY).contains(time)).map(|of| time + of)
            }
            Self::Hour(first) => {
                let seconds = HOUR * (cell.number()? - first);
                (0.0..=DAY).contains(&seconds).then_some(time + seconds)
            }
        }
    }

    /// True if it tells a part of what such a column holds: of a year, a month or a day.
    fn is_within(&self, whole: Option<&Self>, of_years: bool) -> bool {
        match self {
            Self::Month | Self::Quarter => whole.is_none() && of_years,
            Self::Day => matches!(whole, Some(Self::Month)),
            Self::OfDay(_) | Self::Hour(_) => matches!(whole, Some(Self::Day)) || whole.is_none() && !of_years,
        }
    }
}

impl PartColumn {
    /// The column as such, if its cells in the first rows may be parts of times.
    fn of(column: &Column, place: usize) -> Option<Self> {
        let is_called = |names: &str| {
            let name = column.name.trim().to_lowercase();
            names.split(' ').any(|known| known == name)
        };
        let within = |first: f64, last: f64| column.range.is_some_and(|(low, high)| low >= first && high <= last);
        let part = match column.kind {
            Kind::Time if within(0.0, DAY) => Part::OfDay(column.times()?.clone()),
            Kind::Time => return None,
            _ if is_called("hour hours hr he stunde std heure hora ora uur") && within(0.0, 24.0) => {
                Part::Hour(if column.range?.1 == 24.0 { 1.0 } else { 0.0 })
            }
            _ if is_called("month months mon mm mo monat mois mes mês mese maand")
                && (column.range.is_none() || within(1.0, 12.0)) =>
            {
                Part::Month
            }
            _ if is_called("quarter qtr quartal trimestre kwartaal")
                && (column.range.is_none() || within(1.0, 4.0)) =>
            {
                Part::Quarter
            }
            _ if is_called("day dd dom mday day_of_month tag jour día dia giorno dag") && within(1.0, 31.0) => {
                Part::Day
            }
            _ => return None,
        };
        Some(Self { name: column.name.clone(), place, part })
    }
}

impl PartColumns {
    /// A time with its parts; `None` where one of them is none.
    pub(crate) fn refine(&self, time: f64, record: &Record) -> Option<f64> {
        self.0.iter().try_fold(time, |time, column| column.part.refine(time, record.cell(column.place)))
    }

    /// The first column of which the cell is no part of this time.
    pub(crate) fn misfit(&self, time: f64, record: &Record) -> Option<usize> {
        let mut time = time;
        self.0.iter().find_map(|column| {
            match column.part.refine(time, record.cell(column.place)) {
                Some(finer) => time = finer,
                None => return Some(column.place),
            }
            None
        })
    }

    /// The columns.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PartColumn> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same in another file; `None` where a column is missing.
    pub(crate) fn at(&self, place: impl Fn(&str) -> Option<usize>) -> Option<Self> {
        let at = |column: &PartColumn| Some(PartColumn { place: place(&column.name)?, ..column.clone() });
        self.0.iter().map(at).collect::<Option<_>>().map(Self)
    }

    /// Words about them, behind the name of the column of the times.
    pub(crate) fn words(&self) -> String {
        let first = |part: &Part| if let Part::Hour(1.0) = part { ", whose hour 1 begins at 00:00" } else { "" };
        let words = self.0.iter().map(|column| format!(" with column {:?}{}", column.name, first(&column.part)));
        words.collect::<Vec<_>>().join(" and")
    }

    /// The fewest columns that go with one of times, if these come again in the first rows and with
    /// the columns rise from row to row of a group. `columns` may be they; `base` reads the times,
    /// which are years or days.
    pub(crate) fn find<'a>(
        columns: impl Iterator<Item = (usize, &'a Column)>,
        rows: &[Record],
        (base, of_years): (impl Fn(&Record) -> Option<f64>, bool),
        group: Option<usize>,
    ) -> Self {
        let group = |record: &Record| group.map(|group| record.cell(group).to_string()).unwrap_or_default();
        let candidates: Vec<PartColumn> = columns.filter_map(|(place, column)| PartColumn::of(column, place)).collect();
        let mut parts = vec![Self::default()];
        while let Some(known) = parts.pop() {
            let is_next = |column: &&PartColumn| column.part.is_within(known.0.last().map(|last| &last.part), of_years);
            for next in candidates.iter().filter(is_next) {
                let mut finer = known.clone();
                finer.0.push(next.clone());
                if finer.order(rows, &base, group) {
                    return finer;
                }
                parts.push(finer);
            }
        }
        Self::default()
    }

    /// True if times come again in rows, and with these parts rise in each group.
    fn order(&self, rows: &[Record], base: impl Fn(&Record) -> Option<f64>, group: impl Fn(&Record) -> String) -> bool {
        let is_whole = |time: &f64| time.rem_euclid(DAY) == 0.0;
        let (mut last, mut repeats) = (HashMap::<String, (f64, f64)>::new(), false);
        for record in rows {
            let Some(whole) = base(record).filter(is_whole) else { return false };
            let Some(time) = self.refine(whole, record) else { return false };
            if let Some((before, earlier)) = last.insert(group(record), (whole, time)) {
                repeats |= before == whole;
                if time <= earlier {
                    return false;
                }
            }
        }
        repeats
    }
}
