//! A model that learns row by row, with its file: what `train` and `predict --learn` share.

use mercer::data::Example;
use mercer::model::Seen;

use super::bad_rows::BadRows;
use super::failure::Failure;
use super::notes::Watch;
use super::rows::Origin;
use super::saving::Saving;
use super::table::Table;
use super::trained::{Answer, Trained};

/// The model and what surrounds it.
pub(crate) struct Learning {
    pub(crate) model: Trained,
    pub(crate) bad: BadRows,
    pub(crate) table: Table,
    pub(crate) saving: Saving,
    pub(crate) watch: Watch,
    /// Whether rows have weights.
    pub(crate) weighted: bool,
    pub(crate) answer: Answer,
}

impl Learning {
    /// Predicts the row from there, scaled as the model has it, and learns it. The prediction, in the target's own units, is left in
    /// `answer`; false is a bad row.
    pub(crate) fn learn(&mut self, origin: &impl Origin, example: &mut Example) -> Result<bool, Failure> {
        // Scaling changes the row, so it is taken note of first.
        let met = seen_after(self.model.seen(), example, self.weighted);
        match self.model.learn(example, &mut self.watch, &mut self.answer) {
            Ok(()) => {
                self.table.round(self.model.standing(), || self.model.dictionary_size());
                self.model.meet(met);
                self.saving.checkpoint(met.rows, || self.model.to_bytes())?;
                Ok(true)
            }
            Err(why) => {
                self.refuse(format!("{}: {why}", origin.place()), origin, met)?;
                Ok(false)
            }
        }
    }

    /// The row from there is no row.
    pub(crate) fn unreadable(&mut self, why: String, origin: &impl Origin) -> Result<(), Failure> {
        let met = self.model.seen().after([&[], &[f64::NAN]]);
        self.refuse(why, origin, met)
    }

    /// A bad row counts as met only when the run goes on, so that one that is mended and resumed sees it again.
    fn refuse(&mut self, why: String, origin: &impl Origin, met: Seen) -> Result<(), Failure> {
        self.bad.take(why, origin)?;
        self.model.meet(met);
        self.model.leave_out();
        self.saving.checkpoint(met.rows, || self.model.to_bytes())
    }

    /// The last line of the table, and what was left out.
    pub(crate) fn report(&mut self) {
        self.table.end(self.model.standing(), self.model.dictionary_size());
        if let Some(report) = self.bad.report() {
            eprintln!("mercer: {report}");
        }
    }
}

/// What was met after one row more: its numbers, the checksum of its label, and its weight, if rows have weights.
pub(super) fn seen_after(seen: Seen, example: &Example, weighted: bool) -> Seen {
    with_numbers(example, weighted, |row| seen.after(row))
}

/// Hands on a row as the numbers by which it is known again.
pub(crate) fn with_numbers<T>(example: &Example, weighted: bool, take: impl FnOnce([&[f64]; 2]) -> T) -> T {
    if example.label.is_empty() && !weighted {
        return take([&example.features, &example.targets]);
    }
    let mut rest = example.targets.clone();
    if !example.label.is_empty() {
        rest.push(f64::from(crc32fast::hash(example.label.as_bytes())));
    }
    if weighted {
        rest.push(example.weight);
    }
    take([&example.features, &rest])
}
