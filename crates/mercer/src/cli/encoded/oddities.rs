//! Cells that do not fit their column, told to a person once of each column.

use mercer::encoding::{Encoding, Oddity};
use mercer::readers::Record;

use crate::cli::voice;

/// What was odd of which column.
#[derive(Default)]
pub(crate) struct Oddities(Vec<(usize, Oddity)>);

impl Oddities {
    /// Tells what is odd in a record, which is to be encoded by `encoding` and stands at `place`.
    pub(crate) fn tell(&mut self, encoding: &Encoding, record: &Record, place: impl Fn() -> String) {
        for odd in encoding.transform().oddities(record) {
            if self.0.contains(&odd) {
                continue;
            }
            self.0.push(odd);
            let (column, oddity) = odd;
            let what = match oddity {
                Oddity::NewCategory => "has no number of its own for this category and hashes it",
                _ => "does not fit its column and counts as missing",
            };
            let name = &encoding.schema().columns()[column].name;
            voice::remark(format!("{}, column {name:?}: {what}", place()));
        }
    }
}
