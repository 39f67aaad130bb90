//! Remarks of the library that Python hears as warnings: the data suit the settings badly, and
//! nothing is refused.

use mercer::catalogue::find;
use mercer::encoding::{Cells, Encoding, OddCells, Oddity, ScaledTargets, lacks_column};
use mercer::model::Description;
use mercer::session::Session;
use mercer::notes::{Bound, Cause, Face, Note, Watch, implausible, of_session};
use mercer::{AnyKernel, AnyRegressor};
use pyo3::create_exception;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

create_exception!(
    mercer,
    MercerWarning,
    PyUserWarning,
    "The data suit the settings badly: the message tells what happened and what to do."
);

/// Targets that are listened to, as by the command.
const FIRST_ROWS: usize = 256;
/// Rows at which the size of a dictionary is judged first; later at each doubling, and with it what
/// was learnt.
const FEWEST_ROWS: u64 = 512;

/// What there is to be said of a learner, each thing once.
#[derive(Default)]
pub(crate) struct Notes {
    /// What keeps predictions within which bound; none where nothing does, or after it was said.
    bound: Option<Bound>,
    /// Rows that are still listened to.
    left: usize,
    /// What was odd of which column.
    odd: OddCells,
    missing: Vec<String>,
    /// What else was told of rows.
    once: Vec<&'static str>,
    said: Vec<String>,
    pub(crate) watch: Watch,
    /// The rows of the model when it was judged last, and what was told.
    judged: u64,
    told: Vec<Cause>,
    /// Rows with implausible targets, once the first were looked at.
    implausible: Option<u64>,
}

impl Notes {
    /// Of an untrained learner.
    pub(crate) fn of(about: &Description) -> Self {
        let entry = find(&about.learner).ok();
        let bound = entry.and_then(|entry| Bound::of(entry, &about.kernel, &about.parameters, false));
        Self { bound, left: FIRST_ROWS, ..Self::default() }
    }

    /// The targets of some rows.
    pub(crate) fn hear(&mut self, targets: &[f64], outputs: usize) {
        if self.left == 0 {
            return;
        }
        let rows = (targets.len() / outputs.max(1)).min(self.left);
        self.left -= rows;
        let Some(bound) = &self.bound else { return };
        if let Some(said) = bound.told(&targets[..rows * outputs], Face::Python) {
            self.said.push(said);
            self.told.push(Cause::UnitOfTargets);
            self.bound = None;
        }
    }

    /// A model has learnt a row or more.
    #[inline]
    pub(crate) fn judge(&mut self, model: &Session) {
        if let Some(early) = self.is_due(model.progress.rows) {
            self.tell(early, of_session(model, &self.watch, Face::Python));
        }
    }

    /// Whether it is early, where it is time to judge.
    #[inline]
    fn is_due(&mut self, rows: u64) -> Option<bool> {
        let due = rows >= FEWEST_ROWS.max(2 * self.judged);
        due.then(|| {
            self.judged = rows;
            rows < 2 * FEWEST_ROWS
        })
    }

    /// Each cause is told once.
    fn tell(&mut self, early: bool, found: Vec<Note>) {
        for Note { cause, text } in found {
            if !(early && cause != Cause::LargeDictionary || self.told.contains(&cause)) {
                self.told.push(cause);
                self.said.push(text);
            }
        }
    }

    /// What is not plain about the columns of a table, but for those whose kind was told.
    pub(crate) fn doubts(&mut self, encoding: &Encoding, told: &[String]) {
        let schema = encoding.schema();
        let doubtful = schema.columns().iter().filter(|column| column.is_doubtful() && !told.contains(&column.name));
        self.said.extend(doubtful.filter_map(|column| column.line(schema.rows(), Face::Python)));
    }

    /// Columns that a pipeline knows and a table lacks.
    pub(crate) fn lacking(&mut self, columns: &[String]) {
        for name in columns {
            if !self.missing.contains(name) {
                self.missing.push(name.clone());
                self.said.push(format!("the table {}", lacks_column(name)));
            }
        }
    }

    /// A feature or a column that came later than the learner can take.
    pub(crate) fn late(&mut self, name: &str) {
        if !self.missing.iter().any(|known| known == name) {
            self.missing.push(name.to_owned());
            self.said.push(format!(
                "{name:?} came after the first rows; this learner takes no further inputs, and leaves it out: begin with a row that has all, \
                 or take another learner, such as Krls"
            ));
        }
    }

    /// A row without a name that the model knows, which is told once.
    pub(crate) fn strange(&mut self, words: &str) {
        self.once("strange", &format!("{words}; such rows are predicted as if all were 0"));
    }

    /// Rows without names are taken in the order of those with names, which is told once.
    pub(crate) fn by_order(&mut self, words: String) {
        self.once("by order", &words);
    }

    fn once(&mut self, what: &'static str, words: &str) {
        if !self.once.contains(&what) {
            self.once.push(what);
            self.said.push(words.to_owned());
        }
    }

    /// What is odd about the cells of a row.
    pub(crate) fn look(&mut self, row: Option<usize>, encoding: &Encoding, record: &impl Cells) {
        for (column, oddity) in encoding.transform().oddities(record) {
            // None and NaN say themselves that a value is missing.
            if self.odd.take(column, oddity) && oddity != Oddity::Gap {
                let name = &encoding.schema().columns()[column].name;
                let said = encoding.remark_on(column, oddity, record.cell(column));
                let row = row.map_or_else(String::new, |row| format!("row {row}, "));
                self.said.push(format!("{row}column {name:?}: {said}"));
            }
        }
    }

    /// A row was learnt by a learner that screens its targets.
    pub(crate) fn screened(&mut self, learner: &ScaledTargets<AnyRegressor<AnyKernel>>) {
        let Some(found) = learner.implausible() else {
            self.implausible = Some(0);
            return;
        };
        // Those that a model brought from its file were told before.
        let before = self.implausible.replace(found.rows).unwrap_or(found.rows);
        if found.rows > before && !self.told.contains(&Cause::ImplausibleTarget) {
            self.told.push(Cause::ImplausibleTarget);
            let place = format!(", number {} of those learnt,", found.first);
            self.said.push(implausible(&found, &place, learner.outliers(), Face::Python).text);
        }
    }

    /// How many cells of the rows so far were odd.
    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        self.odd.totals().to_vec()
    }

    /// What was not told yet.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }
}

/// Warns the caller outside of the package, which may run any code: no lock is held meanwhile.
pub(crate) fn warn(py: Python<'_>, said: Vec<String>) -> PyResult<()> {
    if said.is_empty() {
        return Ok(());
    }
    py.import("mercer._notes")?.call_method1("tell", (said,)).map(drop)
}
