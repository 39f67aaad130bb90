//! A model that learns row by row, with its file: what `train` and `predict --learn` share.

use mercer_session::model::RowDigest;
use mercer_session::notes::Watch;
use mercer_session::{Row, RowPrediction, Session};

use crate::data::bad_rows::BadRows;
use crate::data::encoded_rows::Oddities;
use crate::data::rows::Origin;
use crate::data::stop::Stop;
use crate::model::saving::Saving;
use crate::report::failure::Failure;
use crate::report::notes::Implausibles;
use crate::report::table::ProgressTable;
use crate::report::verbosity;

/// The model and what surrounds it.
pub(crate) struct Learning {
    pub(crate) model: Session,
    pub(crate) bad: BadRows,
    pub(crate) table: ProgressTable,
    pub(crate) saving: Saving,
    pub(crate) watch: Watch,
    /// Whether rows have weights.
    pub(crate) weighted: bool,
    pub(crate) answer: RowPrediction,
    /// What was odd about cells.
    pub(crate) odd: Oddities,
    pub(crate) implausible: Implausibles,
    /// Rows without a target that were predicted, and where the first is.
    unlabelled: (u64, Option<String>),
    classes: NewClasses,
}

/// Classes that a model knew before, and those that it has met since.
struct NewClasses {
    known: usize,
    new: Vec<String>,
}

impl Learning {
    /// A model that goes on learning rows, which may have weights.
    pub(crate) fn new(model: Session, bad: BadRows, saving: Saving, weighted: bool, odd: Oddities) -> Self {
        let table = ProgressTable::new(verbosity::is_quiet(), model.classes().is_some(), model.running_score());
        let implausible = model.screened().map_or_else(Implausibles::default, Implausibles::after);
        let (watch, answer, unlabelled) = (Watch::default(), RowPrediction::default(), (0, None));
        // The classes of a model that has learnt nothing are those of the first rows.
        let known = model.classes().filter(|task| task.learnt > 0).map_or(0, |task| task.labels.len());
        let classes = NewClasses { known, new: Vec::new() };
        Self { model, bad, table, saving, watch, weighted, answer, odd, implausible, unlabelled, classes }
    }

    /// Predicts the row from there, and learns it if it has its target. The prediction is left in
    /// `answer`; false is a bad row.
    pub(crate) fn learn(&mut self, origin: &impl Origin, sample: &mut Row) -> Result<bool, Failure> {
        if !self.model.has_target(&sample.example) {
            return self.predict(origin, sample);
        }
        let met = sample.digest(self.model.progress.seen(), self.weighted);
        match self.model.learn(sample, &mut self.watch, &mut self.answer) {
            Ok(()) => {
                self.tell_new_class(origin, &sample.example.label);
                // A new category that got a number of its own is nothing odd.
                if let Some(encoding) = &self.model.encoding {
                    self.odd.tell(encoding, &sample.record, || origin.place());
                }
                if let Some(learner) = self.model.screened() {
                    self.implausible.take(learner, met.rows, sample.example.weight);
                }
                self.table.round(self.model.running_score(), || self.model.dictionary_size());
                self.model.progress.meet(met);
                self.checkpoint(met.rows)?;
                Ok(true)
            }
            Err(why) => {
                self.refuse(format!("{}: {why}", origin.place()), origin, met)?;
                Ok(false)
            }
        }
    }

    /// Tells that a model which knew classes has met another.
    fn tell_new_class(&mut self, origin: &impl Origin, label: &str) {
        let now = self.model.classes().map_or(0, |task| task.labels.len());
        if self.classes.known > 0 && now > self.classes.known + self.classes.new.len() {
            if self.classes.new.is_empty() {
                verbosity::remark(format!(
                    "{}: the class {label:?} is new to the model, which learns it",
                    origin.place()
                ));
            }
            self.classes.new.push(label.to_owned());
        }
    }

    /// Predicts a row without its target.
    fn predict(&mut self, origin: &impl Origin, sample: &mut Row) -> Result<bool, Failure> {
        if let Err(why) = self.model.predict(sample, &mut self.answer) {
            let met = self.model.progress.seen().after([&[], &[f64::NAN]]);
            return self.refuse(format!("{}: {why}", origin.place()), origin, met).map(|()| false);
        }
        if let Some(encoding) = &self.model.encoding {
            self.odd.tell(encoding, &sample.record, || origin.place());
        }
        self.unlabelled.0 += 1;
        self.unlabelled.1.get_or_insert_with(|| origin.place());
        Ok(true)
    }

    /// The row from there is no row.
    pub(crate) fn unreadable(&mut self, why: String, origin: &impl Origin) -> Result<(), Failure> {
        let met = self.model.progress.seen().after([&[], &[f64::NAN]]);
        self.refuse(why, origin, met)
    }

    /// A bad row counts as met only when the run goes on, so that one that is mended and resumed
    /// sees it again.
    fn refuse(&mut self, why: String, origin: &impl Origin, met: RowDigest) -> Result<(), Failure> {
        self.bad.take(why, origin)?;
        self.model.progress.meet(met);
        self.model.progress.bad += 1;
        self.checkpoint(met.rows)
    }

    /// Saves the model after so many rows, if it is time to, and puts the bad rows among them
    /// aside.
    fn checkpoint(&mut self, rows: u64) -> Result<(), Failure> {
        if !self.saving.is_due(rows) && !self.bad.are_many() {
            return Ok(());
        }
        self.put_aside()?;
        self.saving.save(self.model.to_bytes())
    }

    /// Puts the bad rows so far aside, which the model keeps in mind.
    pub(crate) fn put_aside(&mut self) -> Result<(), Failure> {
        let aside = self.bad.put_aside();
        self.bad.keep(&mut self.model.description.own);
        aside
    }

    /// The rows have ended: saves the model as [`Saving::end`] has it.
    pub(crate) fn end(&mut self, ended: Result<(), Failure>, stop: &Stop) -> Result<(), Failure> {
        let aside = if self.saving.saves(&ended) { self.put_aside() } else { Ok(()) };
        self.saving.end(ended.and(aside), stop, || self.model.to_bytes())
    }

    /// What became of rows with implausible targets.
    pub(crate) fn implausible_note(&self) -> Option<String> {
        self.implausible.note(self.model.screened()?)
    }

    /// The last line of the table, and what was left out.
    pub(crate) fn report(&mut self) {
        self.table.end(self.model.running_score(), self.model.dictionary_size());
        if let Some(encoding) = &self.model.encoding {
            self.odd.report(encoding);
        }
        if let (count, Some(first)) = &self.unlabelled {
            let (rows, were) = if *count == 1 { ("row", "was") } else { ("rows", "were") };
            verbosity::say(format!(
                "{count} {rows} without a target {were} predicted and not learnt, the first: {first}"
            ));
        }
        if self.classes.new.len() > 1 {
            let (first, more) = (&self.classes.new[..self.classes.new.len().min(8)], self.classes.new.len());
            verbosity::remark(format!("{more} classes were new to the model: {}", first.join(", ")));
        }
        if let Some(report) = self.bad.report() {
            verbosity::say(report);
        }
    }
}
