//! Remarks on a result that its numbers alone do not make plain.

use mercer::catalogue::{Built, Entry, Settings, Value};
use mercer::encoding::{Implausible, ScaledTargets};
use mercer::experts::Outliers;
use mercer::{AnyKernel, AnyRegressor, ClassScore, Score};

use super::FIRST_ROWS;
use super::nearness::{alike, far};
use super::output::{digits, number};
use super::verbosity;

/// Fewest rounds of which anything can be said.
const FEWEST: usize = 20;

/// Rows whose inputs are kept.
const LAST: usize = 100;

/// What is noted while rows are learnt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    rounds: usize,
    /// Of the rounds.
    weight: f64,
    /// The largest target by absolute value.
    largest: f64,
    /// The largest loss, its round, counted from 1, and its target.
    worst: (f64, usize, f64),
    /// The inputs of the last rounds, in turn.
    inputs: Vec<Vec<f64>>,
    /// The mean of the targets, and what it would have cost to predict it, as it was before each
    /// round.
    mean: f64,
    mean_loss: f64,
    /// What it would have cost to predict 0.
    zero_loss: f64,
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

/// What was learnt.
pub(crate) struct LearningFacts<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) kernel: &'a str,
    /// The key that bounds predictions, with its value, if there is one and targets are not scaled.
    pub(crate) bound: Option<(&'a str, &'a Value)>,
    pub(crate) learner: &'a AnyRegressor<AnyKernel>,
    pub(crate) score: &'a Score,
    pub(crate) dictionary_size: usize,
}

impl Watch {
    #[inline]
    pub(crate) fn record(&mut self, inputs: &[f64], prediction: f64, target: f64, weight: f64) {
        let loss = |x: f64| weight * (x * x);
        match self.inputs.get_mut(self.rounds % LAST) {
            Some(oldest) => {
                oldest.clear();
                oldest.extend_from_slice(inputs);
            }
            None => self.inputs.push(inputs.to_vec()),
        }
        self.rounds += 1;
        let lost = loss(prediction - target);
        if lost > self.worst.0 {
            self.worst = (lost, self.rounds, target);
        }
        if weight == 0.0 {
            return;
        }
        self.weight += weight;
        self.largest = self.largest.max(target.abs());
        self.zero_loss += loss(target);
        self.mean_loss += loss(target - self.mean);
        self.mean += weight * (target - self.mean) / self.weight;
    }

    /// The remarks.
    pub(crate) fn notes(&self, outcome: &LearningFacts<'_>) -> Vec<String> {
        let reach = outcome.bound.and_then(|(key, value)| self.out_of_reach(key, value, outcome.kernel));
        let crowded = crowded(outcome.entry, outcome.score.rounds(), outcome.dictionary_size);
        let far = self.far(outcome);
        let hopeless = if far.is_some() { None } else { self.hopeless(outcome) };
        [reach, crowded, far, hopeless, self.dominated(outcome.score)].into_iter().flatten().collect()
    }

    /// When a dictionary has no points where the rows are.
    fn far(&self, outcome: &LearningFacts<'_>) -> Option<String> {
        let LearningFacts { entry, learner, dictionary_size, .. } = outcome;
        let rows = self.inputs.len();
        entry.key("max_dictionary")?;
        let far = far(learner, &self.inputs).filter(|far| rows >= FEWEST && 5 * far >= rows)?;
        let removal = match entry.key("removal") {
            Some(_) => "let old points leave (--set removal=oldest)",
            None => "take a learner whose old points leave (--learner krls --set removal=oldest)",
        };
        Some(format!(
            "{far} of the last {rows} rows are far from all {dictionary_size} points of the dictionary, where predictions fall to 0; \
             {removal}, keep more points (--set max_dictionary=N), or widen the kernel (--kernel gaussian:SIGMA)"
        ))
    }

    /// What the kernel makes of inputs in their units.
    fn unit_of_inputs(&self, kernel: &str) -> Option<String> {
        let alike = alike(&kernel.parse().ok()?, &self.inputs)?;
        let (what, other) = match alike {
            alike if alike < 0.01 => ("far from each other", "wider"),
            alike if alike > 0.99 => ("all the same", "narrower"),
            _ => return None,
        };
        Some(format!(
            "inputs are {what} to the kernel {kernel} ({} for successive rows, where 1 is equal and 0 unrelated): bring them to \
             one unit (--scale standard, or robust where some are wrong) or take a {other} kernel",
            digits(alike)
        ))
    }

    /// When the targets lie beyond what the learner can predict, which is the commonest surprise of
    /// unscaled data.
    fn out_of_reach(&self, key: &str, value: &Value, kernel: &str) -> Option<String> {
        let bound = reach(key, value, kernel)?;
        (self.largest > bound).then(|| {
            format!(
                "targets reach {}, but {key}={value} keeps predictions within ±{value}; scale the data (--scale standard) or \
                 raise {key}",
                digits(self.largest)
            )
        })
    }

    /// When a constant would have done as well.
    fn hopeless(&self, outcome: &LearningFacts<'_>) -> Option<String> {
        let score = outcome.score;
        // Of a run that was resumed not all rounds were seen here.
        if self.rounds < FEWEST || self.rounds != score.rounds() {
            return None;
        }
        let (loss, what) = if self.zero_loss <= self.mean_loss {
            (self.zero_loss, "0 everywhere")
        } else {
            (self.mean_loss, "the mean of the targets so far")
        };
        (score.cumulative_loss() >= loss && loss > 0.0).then(|| {
            let advice = self.unit_of_inputs(outcome.kernel).unwrap_or_else(|| {
                "try another kernel width (--kernel gaussian:SIGMA), --scale standard, or --learner auto".to_owned()
            });
            format!(
                "the error is not below that of predicting {what}, whose mean squared error is {}; {advice}",
                digits(loss / self.weight)
            )
        })
    }

    /// When most of the loss is that of one row; the first is predicted before anything was seen.
    fn dominated(&self, score: &Score) -> Option<String> {
        let rounds = score.rounds();
        let (lost, row, target) = self.worst;
        let rest = score.cumulative_loss() - lost;
        (rounds >= FEWEST && self.rounds == rounds && lost > rest).then(|| {
            let why = match row {
                1 => "which was predicted before anything was seen".to_owned(),
                _ => format!("whose target is {}", number(target)),
            };
            let rest = digits(rest.max(0.0) / (rounds - 1) as f64);
            format!(
                "more than half of the loss is that of row {row}, {why}; without it the mean squared error is {rest}"
            )
        })
    }
}

/// How far predictions reach that a key bounds.
fn reach(key: &str, value: &Value, kernel: &str) -> Option<f64> {
    let Value::Number(bound) = value else { return None };
    // A ball of functions bounds predictions by U√k(x,x), which is U for kernels with k(x,x) = 1
    // only.
    let unit = !["linear", "polynomial", "mix"].iter().any(|name| kernel.starts_with(name));
    (unit || key == "clip").then_some(*bound)
}

/// Says at once, and once, that one of the first targets is beyond what the learner can predict.
pub(crate) struct Alarm {
    /// What is said behind the target.
    mending: String,
    shown: String,
    bound: f64,
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
        let told = parameters.iter().find(|(key, _)| Some(*key) == entry.bound).filter(|_| !scaled);
        let bound = told.and_then(|(key, value)| Some((key, value, reach(key, value, kernel)?)));
        let (mending, bound) = bound.map_or((String::new(), f64::INFINITY), |(key, value, bound)| {
            let mending = format!(
                "{} keeps predictions within ±{value} ({key}); add --scale standard, which scales the inputs and the target, or raise {key}",
                entry.name
            );
            (mending, bound)
        });
        Self { mending, shown: shown.to_owned(), bound, left: FIRST_ROWS }
    }

    /// The targets of a row.
    pub(crate) fn hear(&mut self, targets: &[f64]) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        // What overflows when it is squared is refused, and that tells more.
        let beyond = |target: &&f64| target.abs() > self.bound && (*target * *target).is_finite();
        if let Some(target) = targets.iter().find(beyond) {
            self.left = 0;
            verbosity::remark(format!("{}: a target is {}, and {}", self.shown, number(*target), self.mending));
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
    /// Those that come from now on.
    pub(crate) fn after(learner: &ScaledTargets<AnyRegressor<AnyKernel>>) -> Self {
        let found = learner.implausible().map_or(0, |found| found.rows);
        Self { before: (learner.screened(), found), ..Self::default() }
    }

    /// Row `row` was learnt with this weight.
    pub(crate) fn take(&mut self, found: Option<Implausible>, row: u64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.screened += 1;
        if self.early.len() < EARLY {
            self.early.push(row);
        }
        if self.late.is_none() && found.is_some_and(|found| found.first == self.before.0 + self.screened) {
            self.late = Some(row);
        }
    }

    /// What became of them, if there are any.
    pub(crate) fn note(&self, learner: &ScaledTargets<AnyRegressor<AnyKernel>>, scaled: bool) -> Option<String> {
        let found = learner.implausible().filter(|found| found.rows > self.before.1)?;
        let outliers = learner.outliers();
        let (done, other) = match outliers {
            Outliers::Keep => ("learnt", "skip"),
            Outliers::Weigh => ("learnt with less weight", "skip"),
            Outliers::Skip => ("not learnt", "keep"),
        };
        // Of a model that had met some before, the first was told then.
        let early = found.first.checked_sub(self.before.0 + 1).and_then(|at| self.early.get(at as usize));
        let place = early.copied().or(self.late).map_or_else(String::new, |row| format!(" in row {row}"));
        let more = found.rows - 1;
        let rows = if more == 0 { String::new() } else { format!(" and of {more} rows more") };
        let units = if scaled { " (scaled)" } else { "" };
        Some(format!(
            "the target {}{units}{place}{rows} is far beyond the others and was {done} (--outliers {}); --outliers {other} \
             does otherwise",
            number(found.target),
            outliers.name()
        ))
    }
}

/// When the class that is most frequent would have done as well.
pub(crate) fn majority(score: &ClassScore) -> Option<String> {
    (score.rounds() >= FEWEST && score.accuracy() <= score.majority()).then(|| {
        format!(
            "the accuracy is not above that of always predicting the most frequent class, {}; try another kernel width (--kernel \
             gaussian:SIGMA), --scale standard, or --learner auto",
            digits(score.majority())
        )
    })
}

/// Points from which a dictionary that should stay small is remarked on.
const MANY_POINTS: usize = 500;

/// When a dictionary that should stay small does not, which makes rounds slow.
pub(crate) fn crowded(entry: &Entry, rounds: usize, dictionary_size: usize) -> Option<String> {
    let meant_small = entry.growth.is_none() && entry.key("max_dictionary").is_some();
    (meant_small && dictionary_size >= MANY_POINTS).then(|| {
        let threshold = ["nu", "alpha"].into_iter().find(|key| entry.key(key).is_some());
        let threshold = threshold.map_or(String::new(), |key| format!(", raise {key} (--set {key}=…)"));
        let removal = entry.key("removal").map_or("", |_| " --set removal=least-significant");
        format!(
            "the dictionary holds {dictionary_size} of {rounds} rows, and a row costs {} multiply-adds, J being {dictionary_size}; \
             widen the kernel (--kernel gaussian:SIGMA){threshold} or bound it (--set max_dictionary=N{removal})",
            entry.time
        )
    })
}
