//! Days whose order only their even steps tell.

use mercer_core::Cell;

use crate::clock::Clock;
use crate::day_order::DayOrder;
use crate::notation::Notation;
use crate::step::TimeStep;

impl Notation {
    /// The notation of numbers as times, of a column that is told to order its rows. Their size
    /// tells it, where they are no count of rows. `None` where they are plain numbers.
    #[must_use]
    pub fn of_order(numbers: &[f64]) -> Option<Self> {
        Clock::of_sizes(numbers)
            .filter(|clock| !numbers.is_empty() && !matches!(clock, Clock::Days | Clock::DayOfYear))
            .map(Self::Clock)
    }

    /// The order of days that may be two, in the order in which they came first, if they have an
    /// even [step](TimeStep) in one of them alone, or one with the fewest rows missing.
    pub(crate) fn of_even_days<'a>(texts: &(impl Iterator<Item = (&'a str, u64)> + Clone)) -> Option<Self> {
        let missing = |notation: &Self| -> Option<u64> {
            let times: Option<Vec<f64>> = texts.clone().map(|(text, _)| notation.instant(Cell::Text(text))).collect();
            let times = times.filter(|times| times.is_sorted())?;
            let step = TimeStep::detect(&times, true)?;
            Some(times.windows(2).filter_map(|two| step.rows_between(two[0], two[1])).map(|rows| rows - 1).sum())
        };
        let of_order = |order| Self::of_day_order(order, texts.clone().map(|(text, _)| text));
        let [first, others @ ..] =
            [DayOrder::YearMonthDay, DayOrder::DayMonthYear, DayOrder::MonthDayYear].map(of_order);
        // A year of two digits is not often the first part.
        let is_short = matches!(first, Self::Day(_, Some(_)));
        let orders = others.into_iter().chain(Some(&first).filter(|_| !is_short).cloned());
        let mut even: Vec<(u64, Self)> = orders.filter_map(|order| Some((missing(&order)?, order))).collect();
        if even.is_empty() && is_short {
            return missing(&first).map(|_| first);
        }
        even.sort_by_key(|(missing, _)| *missing);
        match &even[..] {
            [(fewest, order), rest @ ..] if rest.iter().all(|(missing, _)| missing > fewest) => Some(order.clone()),
            _ => None,
        }
    }
}
