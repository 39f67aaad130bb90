//! A model that learns row by row, with its file: what `train` and `predict --learn` share.

use mercer_encoding::{Encoding, Kind, Schema};
use mercer_readers::Example;
use mercer_session::model::RowDigest;
use mercer_session::notes::Watch;
use mercer_session::{EarlyPrediction, LabelDelay, LateRows, Row, RowPrediction, Session, record_time};

use crate::arguments::groups::LabelArguments;
use crate::data::bad_rows::BadRows;
use crate::data::encoded_rows::Oddities;
use crate::data::rows::Origin;
use crate::data::stop::Stop;
use crate::model::groups::CommonAnswers;
use crate::model::labels::{LabelsById, has_features};
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
    /// Rows that wait for their labels, where these come late, and memory for their predictions.
    late: Option<LateRows<UnlearntRow>>,
    /// The same where labels come by id.
    labels: Option<LabelsById<UnlearntRow>>,
    /// Rows of groups without a model.
    common: CommonAnswers,
    relearnt: RowPrediction,
    classes: NewClasses,
}

/// A row that was predicted and waits for its label.
struct UnlearntRow {
    sample: Row,
    /// `None` for a bad row, which is met in its turn.
    early: Option<EarlyPrediction>,
    place: String,
    record: Vec<u8>,
}

impl UnlearntRow {
    fn new(origin: &impl Origin, sample: Row, early: Option<EarlyPrediction>) -> Self {
        Self { sample, early, place: origin.place(), record: origin.record().to_vec() }
    }
}

impl Origin for UnlearntRow {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn record(&self) -> &[u8] {
        &self.record
    }
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
        let (watch, answer, relearnt) = (Watch::default(), RowPrediction::default(), RowPrediction::default());
        // The classes of a model that has learnt nothing are those of the first rows.
        let known = model.classes().filter(|task| task.learnt > 0).map_or(0, |task| task.labels.len());
        let classes = NewClasses { known, new: Vec::new() };
        Self {
            model,
            bad,
            table,
            saving,
            watch,
            weighted,
            answer,
            odd,
            implausible,
            unlabelled: (0, None),
            late: None,
            labels: None,
            common: CommonAnswers::default(),
            relearnt,
            classes,
        }
    }

    /// Has labels come so much later than their rows, if they do.
    ///
    /// # Errors
    /// If durations are told and no column has times.
    pub(crate) fn with_delay(mut self, delay: Option<LabelDelay>) -> Result<Self, Failure> {
        let Some(delay) = delay else { return Ok(self) };
        check_delay(delay, self.model.encoding.as_ref().map(Encoding::schema))?;
        self.late = Some(LateRows::new(delay));
        Ok(self)
    }

    /// Has labels come in later lines by id, if they do.
    pub(crate) fn with_ids(mut self, labels: &LabelArguments) -> Self {
        self.labels = labels.label_id.as_ref().map(|_| LabelsById::new(labels.max_kept));
        self
    }

    /// The number of rows that were learnt, or wait to be.
    pub(crate) fn rounds(&self) -> usize {
        self.model.running_score().rounds + self.late.as_ref().map_or(0, LateRows::len)
    }

    /// Predicts the row from there, and learns it if it has its target. The prediction is left in
    /// `answer`; false is a bad row.
    pub(crate) fn learn(&mut self, origin: &impl Origin, sample: &mut Row) -> Result<bool, Failure> {
        if self.late.is_some() {
            return self.predict_early(origin, sample);
        }
        if self.labels.is_some() && self.takes_label(origin, sample)? {
            return Ok(false);
        }
        if !self.model.has_target(&sample.example) {
            return self.predict(origin, sample);
        }
        let met = sample.digest(self.model.progress.seen(), self.weighted);
        match self.model.learn(sample, &mut self.watch, &mut self.answer) {
            Ok(()) => {
                self.tell_new_class(origin, &sample.example.label);
                self.common.take(&self.answer.group, || origin.place());
                // A new category that got a number of its own is nothing odd.
                if let Some(encoding) = &self.model.encoding {
                    self.odd.tell(encoding, &sample.record, || origin.place());
                }
                self.learnt(met, sample.example.weight).map(|()| true)
            }
            Err(why) => {
                self.refuse(format!("{}: {why}", origin.place()), origin, met)?;
                Ok(false)
            }
        }
    }

    /// A row of that weight was learnt.
    fn learnt(&mut self, met: RowDigest, weight: f64) -> Result<(), Failure> {
        if let Some(learner) = self.model.screened() {
            self.implausible.take(learner, met.rows, weight);
        }
        self.table.round(self.model.running_score(), || self.model.dictionary_size());
        self.model.progress.meet(met);
        self.checkpoint(met.rows)
    }

    /// Learns the rows whose labels have come before that from there, predicts it, and has it wait
    /// for its own label.
    fn predict_early(&mut self, origin: &impl Origin, sample: &mut Row) -> Result<bool, Failure> {
        let encoding = self.model.encoding.as_ref();
        let time = encoding.and_then(|encoding| record_time(encoding.schema(), &sample.record));
        while let Some(row) = self.late.as_mut().and_then(|late| late.due(time)) {
            self.learn_late(row)?;
        }
        if !self.model.has_target(&sample.example) {
            return self.predict(origin, sample);
        }
        if let Err(why) = self.model.predict(sample, &mut self.answer) {
            return self.unreadable(format!("{}: {why}", origin.place()), origin).map(|()| false);
        }
        if let Some(encoding) = &self.model.encoding {
            self.odd.tell(encoding, &sample.record, || origin.place());
        }
        self.common.take(&self.answer.group, || origin.place());
        let early = EarlyPrediction::new(&self.answer);
        let row = UnlearntRow::new(origin, std::mem::take(sample), Some(early));
        if let Some(late) = &mut self.late {
            late.wait(row);
        }
        Ok(true)
    }

    /// Learns the row that waits for a label, if this one is a label; true if it is.
    fn takes_label(&mut self, origin: &impl Origin, sample: &Row) -> Result<bool, Failure> {
        let Some(labels) = self.labels.as_mut().filter(|_| self.model.has_target(&sample.example)) else {
            return Ok(false);
        };
        let Some(mut row) = labels.take(&sample.id) else {
            let schema = self.model.encoding.as_ref().map(Encoding::schema);
            let is_label = schema.is_some_and(|schema| !has_features(schema, &sample.record));
            if is_label {
                labels.orphan(|| origin.place());
            }
            return Ok(is_label);
        };
        let Example { targets, label, .. } = &sample.example;
        row.sample.example.targets.clone_from(targets);
        row.sample.example.label.clone_from(label);
        self.learn_late(row).map(|()| true)
    }

    /// Learns a row whose label has come.
    fn learn_late(&mut self, mut row: UnlearntRow) -> Result<(), Failure> {
        let Some(early) = row.early.take() else {
            let met = self.model.progress.seen().after([&[], &[f64::NAN]]);
            return self.meet_bad(met);
        };
        let met = row.sample.digest(self.model.progress.seen(), self.weighted);
        match self.model.learn_late(&mut row.sample, &early, &mut self.watch, &mut self.relearnt) {
            Ok(()) => {
                self.tell_new_class(&row, &row.sample.example.label);
                self.learnt(met, row.sample.example.weight)
            }
            Err(why) => self.refuse(format!("{}: {why}", row.place), &row, met),
        }
    }

    /// Learns the rows that wait: those at the end have their labels, too.
    pub(crate) fn learn_rest(&mut self) -> Result<(), Failure> {
        while let Some(row) = self.late.as_mut().and_then(LateRows::take_oldest) {
            self.learn_late(row)?;
        }
        Ok(())
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
        self.common.take(&self.answer.group, || origin.place());
        if let Some(labels) = &mut self.labels {
            let early = EarlyPrediction::new(&self.answer);
            let row = UnlearntRow::new(origin, std::mem::take(sample), Some(early));
            let id = row.sample.id.clone();
            labels.wait(&id, row, || origin.place());
            return Ok(true);
        }
        self.unlabelled.0 += 1;
        self.unlabelled.1.get_or_insert_with(|| origin.place());
        Ok(true)
    }

    /// The row from there is no row.
    pub(crate) fn unreadable(&mut self, why: String, origin: &impl Origin) -> Result<(), Failure> {
        if let Some(late) = &mut self.late {
            self.bad.take(why, origin)?;
            late.wait(UnlearntRow::new(origin, Row::default(), None));
            return Ok(());
        }
        let met = self.model.progress.seen().after([&[], &[f64::NAN]]);
        self.refuse(why, origin, met)
    }

    /// A bad row counts as met only when the run goes on, so that one that is mended and resumed
    /// sees it again.
    fn refuse(&mut self, why: String, origin: &impl Origin, met: RowDigest) -> Result<(), Failure> {
        self.bad.take(why, origin)?;
        self.meet_bad(met)
    }

    fn meet_bad(&mut self, met: RowDigest) -> Result<(), Failure> {
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
        self.model.groups.iter().filter_map(|groups| self.common.line(groups)).for_each(verbosity::say);
        self.labels.iter().flat_map(LabelsById::report).for_each(verbosity::say);
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

/// Refuses a delay in time where no column has times.
pub(crate) fn check_delay(delay: LabelDelay, schema: Option<&Schema>) -> Result<(), Failure> {
    let has_times = schema.is_some_and(|schema| schema.columns().iter().any(|column| column.kind == Kind::Time));
    match delay {
        LabelDelay::Seconds(_) if !has_times => Err(Failure::usage(
            "--label-delay: a duration needs a column of times, and there is none; give a number of rows, or --as NAME=time",
        )),
        _ => Ok(()),
    }
}
