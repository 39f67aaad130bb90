//! Remarks of the library that Python hears as warnings: the data suit the settings badly, and
//! nothing is refused.

use mercer::catalogue::{Value, find};
use mercer::encoding::{Cells, Column, Encoding, Oddity, ScaledTargets, Use};
use mercer::experts::Outliers;
use mercer::model::Description;
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
/// Rows of single steps after which the size of the dictionary is looked at.
pub(crate) const EVERY: u64 = 1024;

/// What there is to be said of a learner, each thing once.
#[derive(Default)]
pub(crate) struct Notes {
    /// What keeps predictions within which bound; none where nothing does, or after it was said.
    bound: Option<(f64, String)>,
    /// Rows that are still listened to.
    left: usize,
    /// The name of a learner whose dictionary is meant to stay small.
    small: Option<String>,
    /// What was odd of which column.
    odd: Vec<(usize, Oddity)>,
    missing: Vec<String>,
    said: Vec<String>,
    against: Against,
    /// Rows with implausible targets, once the first were looked at; told from then on, once.
    implausible: Option<u64>,
    told_implausible: bool,
}

/// Rows after which a learner is compared with a constant for the first time; later at each
/// doubling, over the rows since the last.
const COMPARED: u64 = 1024;

/// What a constant would have lost.
#[derive(Default)]
struct Against {
    rows: u64,
    /// Sums of weights, and the weighted means of the targets or the weights of the classes.
    weight: f64,
    totals: Vec<f64>,
    lost: f64,
    lost_by_constant: f64,
    told: bool,
}

impl Against {
    /// What is to be said at a doubling.
    fn finish(&mut self, what: &str) -> Option<String> {
        self.rows += 1;
        if self.rows < COMPARED || !self.rows.is_power_of_two() {
            return None;
        }
        let (lost, constant) = (std::mem::take(&mut self.lost), std::mem::take(&mut self.lost_by_constant));
        if self.told || lost < constant || constant == 0.0 || self.rows == COMPARED && lost < 1.02 * constant {
            return None;
        }
        self.told = true;
        let rows = self.rows;
        Some(format!(
            "after {rows} rows the error is not below that of predicting {what}; try another width (kernel=\"gaussian:SIGMA\"), a larger \
             dictionary, standardised inputs, mercer.Pipeline, or mercer.Auto"
        ))
    }
}

impl Notes {
    /// Of an untrained learner.
    pub(crate) fn of(about: &Description) -> Self {
        let Ok(entry) = find(&about.learner) else { return Self::default() };
        // A ball of functions bounds predictions by U√k(x,x), which is U for kernels with k(x,x) =
        // 1 only.
        let unit = !["linear", "polynomial", "mix"].iter().any(|name| about.kernel.starts_with(name));
        let told = about.parameters.iter().find(|(key, _)| Some(key.as_str()) == entry.bound);
        let told = told.filter(|(key, _)| unit || key == "clip");
        let bound = told.and_then(|(key, value)| {
            let mending = format!(
                "{} keeps predictions within ±{value} ({key}); scale the targets, raise {key}, or take mercer.Pipeline, which scales them",
                entry.name
            );
            Some((value.parse().ok()?, mending))
        });
        let small = entry.growth.is_none() && entry.key("max_dictionary").is_some();
        Self { bound, left: FIRST_ROWS, small: small.then(|| entry.name.to_owned()), ..Self::default() }
    }

    /// The targets of some rows.
    pub(crate) fn hear(&mut self, targets: &[f64], outputs: usize) {
        if self.left == 0 {
            return;
        }
        let rows = (targets.len() / outputs.max(1)).min(self.left);
        self.left -= rows;
        let Some((bound, mending)) = &self.bound else { return };
        let beyond = |target: &&f64| target.abs() > *bound && (*target * *target).is_finite();
        if let Some(target) = targets[..rows * outputs].iter().find(beyond) {
            self.said.push(format!("a target is {}, and {mending}", Value::Number(*target)));
            self.bound = None;
        }
    }

    /// A prediction and the numbers that came.
    pub(crate) fn compare(&mut self, made: &[f64], target: &[f64], weight: f64) {
        let against = &mut self.against;
        against.totals.resize(target.len(), 0.0);
        against.weight += weight;
        let share = if weight > 0.0 { weight / against.weight } else { 0.0 };
        for ((made, y), mean) in made.iter().zip(target).zip(&mut against.totals) {
            against.lost += weight * (made - y) * (made - y);
            against.lost_by_constant += weight * (*mean - y) * (*mean - y);
            *mean += share * (y - *mean);
        }
        self.said.extend(self.against.finish("the mean of the targets so far"));
    }

    /// A class that was chosen and the one that came.
    pub(crate) fn compare_class(&mut self, class: usize, chosen: Option<usize>, weight: f64) {
        let against = &mut self.against;
        if against.totals.len() <= class {
            against.totals.resize(class + 1, 0.0);
        }
        let most = (0..against.totals.len()).max_by(|a, b| against.totals[*a].total_cmp(&against.totals[*b]));
        against.lost += if chosen == Some(class) { 0.0 } else { weight };
        against.lost_by_constant += if most == Some(class) { 0.0 } else { weight };
        against.totals[class] += weight;
        self.said.extend(self.against.finish("the most frequent class so far"));
    }

    /// So many rows were learnt, and so many points are kept.
    pub(crate) fn crowded(&mut self, rows: u64, size: usize) {
        if size < 500 || 3 * size as u64 <= rows {
            return;
        }
        if let Some(name) = self.small.take() {
            self.said.push(format!(
                "the dictionary of {name} holds {size} of {rows} rows, which makes rows slow; take a wider kernel (kernel=\"gaussian:SIGMA\") or \
                 bound it (max_dictionary=N)"
            ));
        }
    }

    /// What is not plain about the columns of a table, but for those whose kind was told.
    pub(crate) fn doubts(&mut self, encoding: &Encoding, told: &[String]) {
        for Column { name, kind, used, why, .. } in encoding.schema().columns() {
            if told.contains(name) {
                continue;
            }
            if !why.is_empty() {
                self.said.push(format!("column {name:?} is taken for {kind}: {why} (kinds={{{name:?}: ...}})"));
            } else if matches!(used, Use::Identifier | Use::Text) {
                self.said.push(format!("column {name:?} is {used}; kinds={{{name:?}: \"category\"}} has it learnt"));
            }
        }
    }

    /// Columns that a pipeline knows and a table lacks.
    pub(crate) fn lacking(&mut self, columns: &[String]) {
        for name in columns {
            if !self.missing.contains(name) {
                self.missing.push(name.clone());
                self.said
                    .push(format!("there is no column {name:?}, which the model knows; its values count as missing"));
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

    /// What is odd about the cells of a row.
    pub(crate) fn look(&mut self, row: usize, encoding: &Encoding, record: &impl Cells) {
        for odd in encoding.transform().oddities(record) {
            if self.odd.contains(&odd) {
                continue;
            }
            self.odd.push(odd);
            let (column, oddity) = odd;
            let what = match oddity {
                // None and NaN say themselves that a value is missing.
                Oddity::Gap => continue,
                Oddity::NewCategory => "has no number of its own for this category and hashes it",
                _ => "does not fit its column and counts as missing",
            };
            let name = &encoding.schema().columns()[column].name;
            self.said.push(format!("row {row}, column {name:?}: {what}"));
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
        if found.rows > before && !self.told_implausible {
            self.told_implausible = true;
            let (outliers, row, target) = (learner.outliers(), found.first, Value::Number(found.target));
            let done = if outliers == Outliers::Skip { "not learnt" } else { "learnt with less weight" };
            self.said.push(format!(
                "the target {target}, number {row} of those learnt, is far beyond the others and was {done} (outliers=\"{}\"); \
                 outliers=\"keep\" learns all as they are",
                outliers.name()
            ));
        }
    }

    /// What was not told yet.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }
}

/// Warns whoever called a method of the extension, which may run any code: no lock is held
/// meanwhile.
pub(crate) fn warn(py: Python<'_>, said: Vec<String>) -> PyResult<()> {
    if said.is_empty() {
        return Ok(());
    }
    let warnings = py.import("warnings")?;
    let category = py.get_type::<MercerWarning>();
    said.into_iter().try_for_each(|text| warnings.call_method1("warn", (text, &category, 1)).map(drop))
}
