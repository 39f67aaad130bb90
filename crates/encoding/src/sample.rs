//! A sample of the records that a table has learnt: what its cells are where nothing is known of a
//! row.

use mercer_core::{Cell, Cells, Inconsistent, List, Validate, mixed};

/// Records that are kept at most, and bytes of them all, of which a cell takes 16 and its text.
const MOST_RECORDS: usize = 128;
const MOST_BYTES: usize = 1 << 18;
const A_CELL: usize = 16;

/// A sample of the records learnt so far, in which every one is as likely as another: 128 at most,
/// and of long ones as many as have 256 KiB. A record that is longer by itself is not kept.
///
/// Each record has a rank, which hangs on nothing but its number; those with the lowest are kept.
/// So two runs over the same records keep the same, and the samples of shards add up.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RecordSample {
    /// By rank, the lowest first.
    kept: Vec<KeptRecord>,
    /// Records that were met.
    met: u64,
    /// The lowest rank that was dropped: what comes with this one or above is not kept.
    bar: u64,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct KeptRecord {
    rank: u64,
    cells: Vec<KeptCell>,
}

/// A cell that has its text.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum KeptCell {
    Missing,
    Number(f64),
    Integer(i128),
    Numeral(f64, String),
    Instant(f64),
    LocalTime(f64),
    Text(String),
    Truth(bool),
    TimeOfDay(f64),
    Duration(f64),
    List(String),
}

impl Default for RecordSample {
    fn default() -> Self {
        Self { kept: Vec::new(), met: 0, bar: u64::MAX }
    }
}

impl RecordSample {
    /// A record was learnt, of which the columns that are not `learnt` are left out. `O(1)`, and
    /// `O(d)` when it is kept.
    pub(crate) fn take(&mut self, record: &(impl Cells + ?Sized), learnt: impl Fn(usize) -> bool) {
        self.met += 1;
        let rank = mixed(self.met.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        if rank >= self.bar {
            return;
        }
        let cell = |place: usize| if learnt(place) { record.cell(place).into() } else { KeptCell::Missing };
        let kept = KeptRecord { rank, cells: (0..record.width()).map(cell).collect() };
        if kept.bytes() <= MOST_BYTES {
            let place = self.kept.partition_point(|other| other.rank <= rank);
            self.kept.insert(place, kept);
            self.drop_beyond_bounds();
        }
    }

    /// The sample of the records of two shards.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.met += other.met;
        self.bar = self.bar.min(other.bar);
        self.kept.extend(other.kept.iter().cloned());
        self.kept.sort_by_key(|record| record.rank);
        self.drop_beyond_bounds();
    }

    fn drop_beyond_bounds(&mut self) {
        let mut bytes: usize = self.kept.iter().map(KeptRecord::bytes).sum();
        while self.kept.len() > MOST_RECORDS || bytes > MOST_BYTES {
            let Some(last) = self.kept.pop() else { return };
            (self.bar, bytes) = (self.bar.min(last.rank), bytes - last.bytes());
        }
        let below = self.kept.partition_point(|record| record.rank < self.bar);
        self.kept.truncate(below);
    }

    /// The cells of the records that are kept, those of `width` columns: of what joined later there
    /// are none.
    pub(crate) fn records(&self, width: usize) -> impl Iterator<Item = Vec<Cell<'_>>> {
        self.kept.iter().map(move |record| {
            record.cells.iter().map(KeptCell::cell).chain(std::iter::repeat(Cell::Missing)).take(width).collect()
        })
    }
}

impl KeptRecord {
    fn bytes(&self) -> usize {
        self.cells.iter().map(|cell| A_CELL + cell.text().len()).sum()
    }
}

impl From<Cell<'_>> for KeptCell {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Number(value) => Self::Number(value),
            Cell::Integer(value) => Self::Integer(value),
            Cell::Numeral(value, text) => Self::Numeral(value, text.to_owned()),
            Cell::Instant(seconds) => Self::Instant(seconds),
            Cell::LocalTime(seconds) => Self::LocalTime(seconds),
            Cell::Text(text) => Self::Text(text.to_owned()),
            Cell::Truth(truth) => Self::Truth(truth),
            Cell::TimeOfDay(seconds) => Self::TimeOfDay(seconds),
            Cell::Duration(seconds) => Self::Duration(seconds),
            Cell::List(list) => Self::List(list.text().to_owned()),
        }
    }
}

impl KeptCell {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Number(value) => Cell::Number(*value),
            Self::Integer(value) => Cell::Integer(*value),
            Self::Numeral(value, text) => Cell::Numeral(*value, text),
            Self::Instant(seconds) => Cell::Instant(*seconds),
            Self::LocalTime(seconds) => Cell::LocalTime(*seconds),
            Self::Text(text) => Cell::Text(text),
            Self::Truth(truth) => Cell::Truth(*truth),
            Self::TimeOfDay(seconds) => Cell::TimeOfDay(*seconds),
            Self::Duration(seconds) => Cell::Duration(*seconds),
            Self::List(text) => Cell::List(List::known(text)),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Numeral(_, text) | Self::Text(text) | Self::List(text) => text,
            _ => "",
        }
    }

    /// True if it is a cell that a reader makes.
    fn is_sound(&self) -> bool {
        match self {
            Self::Number(value) | Self::Numeral(value, _) | Self::Instant(value) => value.is_finite(),
            Self::LocalTime(value) | Self::TimeOfDay(value) | Self::Duration(value) => value.is_finite(),
            Self::List(text) => List::read(text).is_ok(),
            Self::Missing | Self::Integer(_) | Self::Text(_) | Self::Truth(_) => true,
        }
    }
}

impl Validate for RecordSample {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "sample of records";
        let Self { kept, met, bar } = self;
        let bytes: usize = kept.iter().map(KeptRecord::bytes).sum();
        let counted = kept.len() as u64 <= *met && *met < u64::MAX / 2;
        let bounded = kept.len() <= MOST_RECORDS && bytes <= MOST_BYTES && counted;
        Inconsistent::require(bounded, WHAT, "it is bounded")?;
        let ranked = kept.is_sorted_by_key(|record| record.rank) && kept.iter().all(|record| record.rank < *bar);
        Inconsistent::require(ranked, WHAT, "those of the lowest ranks are kept")?;
        let sound = kept.iter().flat_map(|record| &record.cells).all(KeptCell::is_sound);
        Inconsistent::require(sound, WHAT, "its cells are those of readers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sample: &RecordSample, width: usize) -> Vec<String> {
        sample.records(width).map(|cells| cells[0].to_string()).collect()
    }

    #[test]
    fn every_record_is_as_likely_as_another() {
        let mut sample = RecordSample::default();
        for row in 0..50_000 {
            sample.take(&[Cell::Number(f64::from(row)), Cell::Text("kept"), Cell::Text("left out")], |place| place < 2);
        }
        let rows: Vec<f64> = sample.records(4).map(|cells| cells[0].number().unwrap()).collect();
        assert_eq!((rows.len(), sample.met, sample.validate()), (MOST_RECORDS, 50_000, Ok(())));
        // A mean of 128 uniform numbers is within 4 deviations.
        let mean = rows.iter().sum::<f64>() / 128.0;
        assert!((mean - 25_000.0).abs() < 4.0 * 14_434.0 / 128f64.sqrt(), "{mean}");
        let early = rows.iter().filter(|row| **row < 12_500.0).count();
        assert!((12..=52).contains(&early), "{early} of the first quarter");
        let first = sample.records(4).next().unwrap();
        assert_eq!(first[1..], [Cell::Text("kept"), Cell::Missing, Cell::Missing]);
    }

    #[test]
    fn long_records_are_few_and_too_long_ones_are_none() {
        let mut sample = RecordSample::default();
        let (long, longest) = ("w ".repeat(20_000), "w".repeat(MOST_BYTES));
        (0..300).for_each(|_| sample.take(&[Cell::Text(&long)], |_| true));
        assert_eq!((sample.kept.len(), sample.validate()), (6, Ok(())));
        let mut none = RecordSample::default();
        none.take(&[Cell::Text(&longest)], |_| true);
        assert_eq!((none.kept.len(), none.met), (0, 1));
        // One that is forged is known.
        sample.kept[0].cells[0] = KeptCell::List("[[1]]".to_owned());
        assert!(sample.validate().is_err());
    }

    #[test]
    fn samples_of_shards_add_up() {
        let all = |name: &'static str, rows: usize| {
            let mut sample = RecordSample::default();
            (0..rows).for_each(|_| sample.take(&[Cell::Text(name)], |_| true));
            sample
        };
        let (mut one, other) = (all("one", 3000), all("other", 1000));
        one.merge(&other);
        assert_eq!((one.met, one.validate()), (4000, Ok(())));
        let shares = texts(&one, 1).iter().filter(|text| *text == "other").count();
        let kept = one.kept.len();
        assert!(kept > 64 && (kept / 8..kept / 2).contains(&shares), "{shares} of {kept}");
        let mut few = all("one", 5);
        few.merge(&all("other", 7));
        assert_eq!(few.kept.len(), 12);
    }
}
