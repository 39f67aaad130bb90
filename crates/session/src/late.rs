//! Labels that come later than their rows: a row is predicted when it comes, and learnt when its
//! label has come.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::str::FromStr;

use mercer_core::Cells;
use mercer_encoding::{Kind, Schema};

use crate::classes::ClassPrediction;
use crate::step::RowPrediction;

/// How long after its row a label comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabelDelay {
    /// Behind so many further rows.
    Rows(usize),
    /// So many seconds later by the times of the rows.
    Seconds(f64),
}

impl FromStr for LabelDelay {
    type Err = &'static str;

    /// A number of rows, `100`; or a duration with its unit, `45s`, `30m`, `36h`, `7d`, `2w`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const REFUSED: &str = "give a number of rows such as 100, or a duration such as 45s, 30m, 36h, 7d or 2w";
        let text = text.trim();
        if let Ok(rows) = text.parse() {
            return Ok(Self::Rows(rows));
        }
        parse_span(text).map(Self::Seconds).ok_or(REFUSED)
    }
}

/// The seconds of a span with its unit: `45s`, `30m`, `1.5h`, `7d`, `2w`.
#[must_use]
pub fn parse_span(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let unit = match unit {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => return None,
    };
    let number = number.trim().parse::<f64>().ok().filter(|number| *number >= 0.0 && number.is_finite())?;
    Some(number * unit)
}

/// Rows that wait for their labels, in the order in which they came.
#[derive(Clone, Debug)]
pub struct LateRows<T> {
    delay: LabelDelay,
    waiting: VecDeque<(f64, T)>,
    /// The latest time of a row so far.
    now: f64,
}

impl<T> LateRows<T> {
    /// None yet.
    #[must_use]
    pub fn new(delay: LabelDelay) -> Self {
        Self { delay, waiting: VecDeque::new(), now: f64::NEG_INFINITY }
    }

    /// The next row whose label has come before a row of that time; to be asked until there is
    /// none. A row without a time is of that of the row before.
    pub fn due(&mut self, time: Option<f64>) -> Option<T> {
        self.now = time.map_or(self.now, |time| time.max(self.now));
        let (came, _) = self.waiting.front()?;
        let is_due = match self.delay {
            LabelDelay::Rows(rows) => self.waiting.len() > rows,
            LabelDelay::Seconds(seconds) => came + seconds <= self.now,
        };
        if is_due { self.take_oldest() } else { None }
    }

    /// Has the row of the time that was asked for last wait for its label.
    pub fn wait(&mut self, row: T) {
        self.waiting.push_back((self.now, row));
    }

    /// The row that waits longest, whether or not its label has come.
    pub fn take_oldest(&mut self) -> Option<T> {
        self.waiting.pop_front().map(|(_, row)| row)
    }

    /// The number of rows that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if no row waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// The time of a record by the first column of times of its schema.
#[must_use]
pub fn record_time(schema: &Schema, record: &(impl Cells + ?Sized)) -> Option<f64> {
    let place = schema.columns().iter().position(|column| column.kind == Kind::Time)?;
    schema.columns()[place].times()?.instant(record.cell(place))
}

/// A prediction that was made before its label came.
#[derive(Clone, Debug, Default)]
pub struct EarlyPrediction {
    pub(crate) numbers: Vec<f64>,
    /// With which the intervals learn how far it was off.
    pub(crate) scales: Vec<f64>,
    pub(crate) judged: ClassPrediction,
    /// True if the learner had learnt nothing, and predicts nothing then.
    pub(crate) silent: bool,
}

impl EarlyPrediction {
    /// An answer, to be scored when the label has come.
    #[must_use]
    pub fn new(answer: &RowPrediction) -> Self {
        let RowPrediction { numbers, scales, judged, group, silent, .. } = answer;
        let judged = group.own.as_ref().unwrap_or(judged).clone();
        Self { numbers: numbers.clone(), scales: scales.clone(), judged, silent: *silent }
    }
}

/// Rows that wait for labels that come by id, in the order in which they came; the oldest are
/// forgotten where there are too many.
#[derive(Clone, Debug)]
pub struct RowsById<T> {
    most: usize,
    rows: HashMap<String, (u64, T)>,
    order: BTreeMap<u64, String>,
    next: u64,
    forgotten: u64,
}

impl<T> RowsById<T> {
    /// None yet, and so many at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, rows: HashMap::new(), order: BTreeMap::new(), next: 0, forgotten: 0 }
    }

    /// Has a row wait for its label. `O(log rows)`.
    ///
    /// # Errors
    /// The row, if one of that id waits already.
    pub fn wait(&mut self, id: &str, row: T) -> Result<(), T> {
        if self.rows.contains_key(id) {
            return Err(row);
        }
        self.rows.insert(id.to_owned(), (self.next, row));
        self.order.insert(self.next, id.to_owned());
        self.next += 1;
        if self.rows.len() > self.most
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.rows.remove(&oldest);
            self.forgotten += 1;
        }
        Ok(())
    }

    /// Takes out the row of an id, whose label has come. `O(log rows)`.
    pub fn take(&mut self, id: &str) -> Option<T> {
        let (number, row) = self.rows.remove(id)?;
        self.order.remove(&number);
        Some(row)
    }

    /// The number of rows that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if no row waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of rows that were forgotten before their labels came.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_wait_by_id_in_bounded_number() {
        let mut waiting = RowsById::new(2);
        assert_eq!([waiting.wait("a", 1), waiting.wait("b", 2), waiting.wait("a", 3)], [Ok(()), Ok(()), Err(3)]);
        assert_eq!((waiting.take("a"), waiting.take("a"), waiting.len()), (Some(1), None, 1));
        assert_eq!([waiting.wait("c", 4), waiting.wait("d", 5)], [Ok(()), Ok(())]);
        // The oldest of three is forgotten, whether or not others have come and gone.
        assert_eq!((waiting.take("b"), waiting.forgotten()), (None, 1));
        assert_eq!((waiting.take("d"), waiting.take("c"), waiting.is_empty()), (Some(5), Some(4), true));
    }

    #[test]
    fn labels_come_after_rows_or_seconds() {
        let mut of_rows = LateRows::new("2".parse().unwrap());
        let mut learnt = Vec::new();
        for row in 0..6 {
            learnt.push(std::iter::from_fn(|| of_rows.due(None)).collect::<Vec<_>>());
            of_rows.wait(row);
        }
        assert_eq!(learnt, [vec![], vec![], vec![], vec![0], vec![1], vec![2]]);
        assert_eq!((of_rows.len(), of_rows.take_oldest()), (3, Some(3)));

        let mut of_seconds = LateRows::new("1m".parse().unwrap());
        let mut learnt = Vec::new();
        for (row, time) in [Some(0.0), Some(30.0), Some(60.0), None, Some(95.0), Some(200.0)].into_iter().enumerate() {
            learnt.push(std::iter::from_fn(|| of_seconds.due(time)).collect::<Vec<_>>());
            of_seconds.wait(row);
        }
        assert_eq!(learnt, [vec![], vec![], vec![0], vec![], vec![1], vec![2, 3, 4]]);
        assert_eq!("1.5h".parse(), Ok(LabelDelay::Seconds(5400.0)));
        for text in ["", "h", "-1h", "1 fortnight", "-3", "1.5"] {
            assert!(text.parse::<LabelDelay>().is_err(), "{text}");
        }
    }
}
