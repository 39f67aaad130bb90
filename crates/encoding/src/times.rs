//! How the first cells of a series write its times and its numbers.

use mercer_core::Cell;

use crate::notation::{CELLS_A_MISFIT, Clock, DayOrder, Notation, NumberMarks, TextReading, is_gap};
use crate::step::TimeStep;

/// A day of a series in time that may be one of two.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} may be one day or another, for nothing tells the month from the day")]
pub struct AmbiguousDay(pub String);

impl Notation {
    /// How the first cells of a column write the numbers of a series; gaps count nowhere. `None` if
    /// more than one of twenty is no number, if one may be read as two, or where some have
    /// something around them and others have not. `O(cells)`.
    #[must_use]
    pub fn of_values(cells: &[Cell<'_>], marks: NumberMarks) -> Option<Self> {
        let mut texts = Vec::new();
        let mut numbers = false;
        for cell in cells.iter().filter(|cell| !is_gap(**cell)) {
            match cell {
                Cell::Text(text) => texts.push((*text, 1)),
                cell => numbers |= cell.number().is_some(),
            }
        }
        if texts.is_empty() {
            return Some(Self::Plain).filter(|_| numbers);
        }
        match Self::of_numbers(texts.into_iter(), CELLS_A_MISFIT, marks) {
            TextReading::As(notation) => Some(notation).filter(|notation| !numbers || *notation == Self::Plain),
            TextReading::Doubtful(_) | TextReading::Text => None,
        }
    }

    /// How the first cells of a column write the times of a series; gaps count nowhere. `None` if
    /// they are no times. Numbers other than days in eight digits are times only if the column is
    /// `named` as one. Where nothing tells the month from the day, an even [step](TimeStep) does.
    ///
    /// # Errors
    /// When it does not.
    pub fn of_times(cells: &[Cell<'_>], named: bool) -> Result<Option<Self>, AmbiguousDay> {
        let cells: Vec<Cell<'_>> = cells.iter().copied().filter(|cell| !is_gap(*cell)).collect();
        let all = |notation: &Self| cells.iter().all(|cell| notation.instant(*cell).is_some());
        if cells.is_empty() {
            return Ok(None);
        }
        let numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.number()).collect();
        if numbers.len() == cells.len() {
            return Ok(Self::of_numbered_times(&numbers, named));
        }
        let texts = cells.iter().filter_map(|cell| if let Cell::Text(text) = cell { Some((*text, 1)) } else { None });
        if !numbers.is_empty() {
            return Ok(None);
        }
        if all(&Self::Plain) {
            return Ok(Some(Self::Plain));
        }
        if let Some(written) = Self::of_written(&texts, false).filter(all) {
            return Ok(Some(written));
        }
        match Self::of_days(texts) {
            TextReading::As(notation) => Ok(Some(notation).filter(all)),
            TextReading::Text => Ok(None),
            TextReading::Doubtful(text) => {
                let orders = [DayOrder::YearMonthDay, DayOrder::DayMonthYear, DayOrder::MonthDayYear].map(Self::Day);
                // The order with the fewest rows missing between its times, if there is one.
                let missing = |notation: &Self| -> Option<u64> {
                    let times: Vec<f64> = cells.iter().filter_map(|cell| notation.instant(*cell)).collect();
                    let step = TimeStep::of(&times, true).filter(|_| times.is_sorted())?;
                    Some(
                        times.windows(2).filter_map(|two| step.rows_between(two[0], two[1])).map(|rows| rows - 1).sum(),
                    )
                };
                let fitting = orders.into_iter().filter(all);
                let mut even: Vec<(u64, Self)> = fitting.filter_map(|order| Some((missing(&order)?, order))).collect();
                even.sort_by_key(|(missing, _)| *missing);
                match &even[..] {
                    [(fewest, order), rest @ ..] if rest.iter().all(|(missing, _)| missing > fewest) => {
                        Ok(Some(order.clone()))
                    }
                    _ => Err(AmbiguousDay(text)),
                }
            }
        }
    }

    fn of_numbered_times(numbers: &[f64], named: bool) -> Option<Self> {
        let fits = |clock: &Clock| numbers.iter().all(|number| clock.read(*number).is_some());
        let [low, high] = [f64::min, f64::max].map(|least| numbers.iter().copied().reduce(least).unwrap_or(f64::NAN));
        if (1.8e7..2.2e7).contains(&low) && high < 2.2e7 && low < high && fits(&Clock::Digits) {
            return Some(Self::Clock(Clock::Digits));
        }
        let clock = [Clock::Years, Clock::Months].into_iter().find(fits);
        // Since 1973, in the coarsest unit that may be.
        let epoch = || (low >= 1e8).then(|| Self::of_clock((low, high), std::iter::once(f64::NAN)));
        if named { clock.map(Self::Clock).or_else(epoch) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use mercer_core::parse_instant;

    use super::*;

    #[test]
    fn numbers_of_a_series_have_one_notation() {
        let of = |texts: &[&'static str]| {
            let cells: Vec<Cell<'static>> = texts.iter().map(|text| Cell::Text(text)).collect();
            Notation::of_values(&cells, NumberMarks::default())
        };
        let euros = of(&["704,07 €", "", "1.012,50 €"]).unwrap();
        assert_eq!(euros.number(Cell::Text("1.012,50 €")), Some(1012.5));
        assert_eq!((of(&["1.234 €", "2.345 €"]), of(&["closed", "12 €"]), of(&[])), (None, None, None));
        let beside = [Cell::Number(0.5), Cell::Text("50 %")];
        let none = NumberMarks::default();
        assert_eq!(Notation::of_values(&beside, none), None);
        assert_eq!(Notation::of_values(&beside[..1], none), Some(Notation::Plain));
        let doubtful = [Cell::Text("1.234 €"), Cell::Text("2.345 €")];
        for (decimal, read) in [('.', 1.234), (',', 1234.0)] {
            let notation = Notation::of_values(&doubtful, NumberMarks { decimal: Some(decimal), group: None }).unwrap();
            assert_eq!(notation.number(doubtful[0]), Some(read));
        }
    }

    #[test]
    fn columns_of_times_are_known() {
        let of = |texts: &[&'static str], named| {
            let numeral =
                |text: &'static str| text.parse().map_or(Cell::Text(text), |value| Cell::Numeral(value, text));
            Notation::of_times(&texts.iter().copied().map(numeral).collect::<Vec<_>>(), named)
        };
        let clock = |clock| Ok(Some(Notation::Clock(clock)));
        assert_eq!(of(&["2020-01-01", "NA", "2020-01-02"], false), Ok(Some(Notation::Plain)));
        assert_eq!(of(&["2020Q1", "2020Q2"], false), Ok(Some(Notation::Quarter)));
        assert_eq!(Notation::Quarter.instant(Cell::Text("Q3 2020")), parse_instant("2020-07-01"));
        assert_eq!(of(&["12/2020", "01/2021"], false), Ok(Some(Notation::Month)));
        assert_eq!(of(&["8. März 2023", "9. März 2023"], false), Ok(Some(Notation::Written)));
        assert_eq!(of(&["5:03", "5:02"], false), Ok(None));
        assert_eq!(of(&["20200131", "20200201"], false), clock(Clock::Digits));
        assert_eq!(of(&["202001", "202002"], true), clock(Clock::Months));
        assert_eq!(Clock::Months.read(202_002.0), parse_instant("2020-02"));
        assert_eq!(of(&["1999", "2000"], true), clock(Clock::Years));
        assert_eq!(of(&["1577836800", "1577923200"], true), clock(Clock::Seconds));
        assert_eq!(of(&["1577836800000", "1577923200000"], true), clock(Clock::Milliseconds));
        for numbers in [&["1999", "2000"][..], &["1577836800", "1577923200"], &["202001", "202002"], &["1", "2"]] {
            assert_eq!(of(numbers, false), Ok(None), "{numbers:?}");
        }
        assert_eq!(of(&["1", "2", "3"], true), Ok(None));
        assert_eq!(of(&["a", "2020-01-01"], false), Ok(None));
        // Steps of a month tell the order where no day is above 12.
        let order = |order| Ok(Some(Notation::Day(order)));
        assert_eq!(of(&["01/11/2020", "01/12/2020", "01/01/2021"], false), order(DayOrder::DayMonthYear));
        assert_eq!(of(&["11/1/2020", "12/1/2020", "1/1/2021"], false), order(DayOrder::MonthDayYear));
        assert_eq!(
            of(&["01/02/2020", "02/02/2020"], false).map_err(|AmbiguousDay(text)| text),
            Err("01/02/2020".to_owned())
        );
    }
}
