//! Labels that come by id in later lines, and the rows that wait for them.

use mercer_encoding::{Schema, Use};
use mercer_readers::{Cell, Record};
use mercer_session::RowsById;

/// A count of what is told once, with the place of the first.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    count: u64,
    first: String,
}

impl Counted {
    pub(crate) fn take(&mut self, place: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = place();
        }
        self.count += 1;
    }

    /// `N WORDs WHAT, the first: PLACE`, if there are any.
    pub(crate) fn line(&self, [one, many]: [&str; 2], rest: &str) -> Option<String> {
        let words = if self.count == 1 { one } else { many };
        (self.count > 0).then(|| format!("{} {words} {rest}, the first: {}", self.count, self.first))
    }
}

/// Rows that wait for labels, and what came of them.
pub(crate) struct LabelsById<T> {
    rows: RowsById<T>,
    most: u32,
    /// Labels of no row that waits, rows whose id waits already, and rows without an id.
    orphans: Counted,
    repeated: Counted,
    nameless: Counted,
}

impl<T> LabelsById<T> {
    pub(crate) fn new(most: u32) -> Self {
        let (orphans, repeated, nameless) = Default::default();
        Self { rows: RowsById::new(most as usize), most, orphans, repeated, nameless }
    }

    /// The row of a label, if it waits.
    pub(crate) fn take(&mut self, id: &str) -> Option<T> {
        if id.is_empty() { None } else { self.rows.take(id) }
    }

    /// Has a row wait, or counts why it cannot.
    pub(crate) fn wait(&mut self, id: &str, row: T, place: impl FnOnce() -> String) {
        if id.is_empty() {
            self.nameless.take(place);
        } else if self.rows.wait(id, row).is_err() {
            self.repeated.take(place);
        }
    }

    /// Counts a label without a row.
    pub(crate) fn orphan(&mut self, place: impl FnOnce() -> String) {
        self.orphans.take(place);
    }

    /// What came of rows and labels, in lines.
    pub(crate) fn report(&self) -> Vec<String> {
        let (waiting, forgotten) = (self.rows.len(), self.rows.forgotten());
        let plural = |count: u64| if count == 1 { "row" } else { "rows" };
        let left = (waiting > 0).then(|| format!("{waiting} {} got no label", plural(waiting as u64)));
        let most = self.most;
        let lost = (forgotten > 0).then(|| {
            let rows = plural(forgotten);
            format!("{forgotten} {rows} were forgotten, for more than {most} waited for their labels; raise --max-kept")
        });
        let orphans = self.orphans.line(["label", "labels"], "came without a row that waits");
        let repeated = ["row", "rows"];
        let repeated = self.repeated.line(repeated, "had the id of one that waits, and cannot get a label");
        let nameless = self.nameless.line(["row", "rows"], "had neither a target nor an id, and were not learnt");
        [left, lost, orphans, repeated, nameless].into_iter().flatten().collect()
    }
}

/// True if a record has a value in some column that is encoded: it is more than a label.
pub(crate) fn has_features(schema: &Schema, record: &Record) -> bool {
    let mut columns = schema.columns().iter().enumerate();
    columns.any(|(place, column)| column.used == Use::Encoded && record.cell(place) != Cell::Missing)
}
