//! Remarks of the command: those of the library in its words, and which rows they are of.

use mercer_encoding::{Implausible, ScaledTargets};
use mercer_kernels::AnyKernel;
use mercer_registry::AnyRegressor;
use mercer_registry::catalogue::{Built, Entry, Settings, Value};
use mercer_session::notes::{self, Bound, Face, Note};

use crate::limits::FIRST_ROWS;
use crate::report::verbosity;

/// The settings of a learner as they are written.
pub(crate) fn written(parameters: &[(&'static str, Value)]) -> Vec<(String, String)> {
    parameters.iter().map(|(key, value)| ((*key).to_owned(), value.to_string())).collect()
}

/// The texts of the notes.
pub(crate) fn texts(notes: impl IntoIterator<Item = Note>) -> Vec<String> {
    notes.into_iter().map(|note| note.text).collect()
}

/// Says which value a time in the settings came to.
pub(crate) fn tell_measured(settings: &Settings, built: &Built) {
    let Some(key) = settings.measured() else { return };
    // The keys of a member are not among these.
    let found = built.parameters.iter().find(|(name, value)| *name == key && matches!(value, Value::Whole(_)));
    let number = found.map_or_else(|| "a number".to_owned(), |(_, value)| format!("{key}={value}"));
    verbosity::remark(format!(
        "the time set as {key} was measured on this machine and came to {number}; set the number itself to repeat this run"
    ));
}

/// Says at once, and once, that one of the first targets is beyond what the learner can predict.
pub(crate) struct Alarm {
    bound: Option<Bound>,
    shown: String,
    /// Rows that are still listened to.
    left: usize,
}

impl Alarm {
    /// For the rows that are `shown` so, and a learner with these parameters, whose targets may be
    /// `scaled`.
    pub(crate) fn new(
        entry: &Entry,
        parameters: &[(&'static str, Value)],
        (kernel, shown): (&str, &str),
        scaled: bool,
    ) -> Self {
        let bound = Bound::of(entry, kernel, &written(parameters), scaled);
        Self { left: if bound.is_some() { FIRST_ROWS } else { 0 }, bound, shown: shown.to_owned() }
    }

    /// The targets of a row.
    pub(crate) fn hear(&mut self, targets: &[f64]) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if let Some(told) = self.bound.as_ref().and_then(|bound| bound.told(targets, Face::Command)) {
            self.left = 0;
            verbosity::remark(format!("{}: {told}", self.shown));
        }
    }
}

/// Rows whose numbers are kept, for targets that the rows after them show to be implausible.
const EARLY: usize = 256;

/// Where implausible targets are: the screen counts rows of positive weight, people count rows.
#[derive(Debug, Default)]
pub(crate) struct Implausibles {
    /// Rows of positive weight, and those with implausible targets, when this began.
    before: (u64, u64),
    /// Rows of positive weight since.
    screened: u64,
    /// The numbers of the first of them.
    early: Vec<u64>,
    /// That of the first which had an implausible target when it came.
    late: Option<u64>,
}

impl Implausibles {
    /// A count of the implausible targets that come from now on.
    pub(crate) fn after(learner: &ScaledTargets<AnyRegressor<AnyKernel>>) -> Self {
        let found = learner.implausible().map_or(0, |found| found.rows);
        Self { before: (learner.screened(), found), ..Self::default() }
    }

    /// Row `row` was learnt with this weight, or waits for another that confirms its target.
    pub(crate) fn take(&mut self, learner: &ScaledTargets<AnyRegressor<AnyKernel>>, row: u64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.screened += 1;
        if self.early.len() < EARLY {
            self.early.push(row);
        }
        let now = |found: Implausible| found.first == self.before.0 + self.screened;
        if learner.implausible().or_else(|| learner.waiting()).is_some_and(now) {
            self.late = Some(row);
        }
    }

    /// A note on the rows with implausible targets, if there are any.
    pub(crate) fn note(&self, learner: &ScaledTargets<AnyRegressor<AnyKernel>>) -> Option<String> {
        // What still waits was not learnt.
        let found = learner.implausible().filter(|found| found.rows > self.before.1).or_else(|| learner.waiting())?;
        // Of a model that had met some before, the first was told then.
        let early = found.first.checked_sub(self.before.0 + 1).and_then(|at| self.early.get(at as usize));
        let place = early.copied().or(self.late).map_or_else(String::new, |row| format!(" in row {row}"));
        Some(notes::implausible(&found, &place, learner.outliers(), Face::Command).text)
    }
}
