//! Notes taken while rows are learnt.

use mercer_encoding::Face;
use mercer_experts::OutlierScreen;
use mercer_learners::Regressor as _;
use mercer_registry::AnyRegressor;

use super::face::FaceWords;
use super::nearness::{FarRows, alike, beyond, gone};
use super::{Bound, Cause, FEWEST, LearningFacts, Note, crowded, digits, number};

/// Fewest rounds since a doubling of which anything can be said, and how much they must have lost
/// beside a constant.
const FEWEST_OF_LATE: (usize, f64) = (200, 1.05);

/// Fewest rounds since a doubling that are compared with others, and how many times more of the
/// variance they must leave.
const FEWEST_STALE: (usize, f64) = (500, 2.0);

/// Rows whose inputs are kept.
const LAST: usize = 100;

/// Rounds whose inputs have ranges that are kept: `auto` takes its scales from them.
const FIRST: usize = 1024;

/// What was lost over some rounds, and what constants would have lost.
#[derive(Clone, Copy, Debug, Default)]
struct LossSums {
    rounds: usize,
    weight: f64,
    by_learner: f64,
    by_mean: f64,
    by_zero: f64,
}

impl LossSums {
    fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.weight += other.weight;
        self.by_learner += other.by_learner;
        self.by_mean += other.by_mean;
        self.by_zero += other.by_zero;
    }

    /// The share of the variance that is left, of enough rounds.
    fn left(&self) -> Option<f64> {
        (self.rounds >= FEWEST_STALE.0 && self.by_mean > 0.0).then_some(self.by_learner / self.by_mean)
    }
}

/// What is noted while rows are learnt. `O(d)` a row, and the inputs of the last hundred rows are
/// kept.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    rounds: usize,
    /// The largest target by absolute value.
    largest: f64,
    /// All that was lost, and the weight of the rows.
    total: f64,
    scored: f64,
    /// The largest loss, the weight of its row, its round, counted from 1, and its target.
    worst: (f64, f64, usize, f64),
    /// The inputs of the last rounds, in turn.
    inputs: Vec<Vec<f64>>,
    /// The smallest and the largest values of the inputs of the first rounds.
    ranges: Vec<[f64; 2]>,
    /// The means of the targets and the weight of their rows; implausible ones are left out here
    /// and in the losses below.
    means: Vec<f64>,
    weight: f64,
    screen: OutlierScreen,
    /// Over all rounds, over those between the last two doublings of their number, and since.
    whole: LossSums,
    before: LossSums,
    late: LossSums,
    /// The least share of the variance that was left between two doublings, and their last round.
    best: Option<(f64, usize)>,
    /// The dictionary, and the round in which it changed last.
    size: usize,
    grown: usize,
}

impl Watch {
    /// Takes note of a row that was learnt: its inputs as the learner saw them, the prediction made
    /// before (empty where the row is not scored), the targets, its weight, and the points that are
    /// kept after it.
    #[inline]
    pub fn record(&mut self, inputs: &[f64], made: &[f64], targets: &[f64], weight: f64, size: usize) {
        match self.inputs.get_mut(self.rounds % LAST) {
            Some(oldest) => {
                oldest.clear();
                oldest.extend_from_slice(inputs);
            }
            None => self.inputs.push(inputs.to_vec()),
        }
        self.rounds += 1;
        if self.rounds <= FIRST {
            self.ranges.resize(inputs.len().max(self.ranges.len()), [f64::INFINITY, f64::NEG_INFINITY]);
            for ([low, high], x) in self.ranges.iter_mut().zip(inputs) {
                (*low, *high) = (low.min(*x), high.max(*x));
            }
        }
        if size != self.size {
            (self.size, self.grown) = (size, self.rounds);
        }
        let scored = if made.is_empty() { 0.0 } else { weight };
        let mut lost = LossSums { rounds: 1, weight: scored, ..LossSums::default() };
        self.means.resize(targets.len(), 0.0);
        let (mut largest, mut plausible) = (0.0_f64, weight > 0.0);
        let share = if weight > 0.0 { weight / (self.weight + weight) } else { 0.0 };
        for ((made, y), mean) in made.iter().zip(targets).zip(&self.means) {
            lost.by_learner += weight * (made - y) * (made - y);
            lost.by_mean += weight * (mean - y) * (mean - y);
            lost.by_zero += weight * y * y;
            if y.abs() > largest.abs() {
                largest = *y;
            }
            // Of several outputs the first tells.
            plausible = plausible && (targets.len() > 1 || self.screen.observe(*y) >= 1.0);
        }
        self.total += lost.by_learner;
        self.scored += scored;
        if lost.by_learner > self.worst.0 {
            self.worst = (lost.by_learner, scored, self.rounds, largest);
        }
        if weight > 0.0 {
            self.largest = self.largest.max(largest.abs());
        }
        if plausible {
            self.weight += weight;
            self.means.iter_mut().zip(targets).for_each(|(mean, y)| *mean += share * (y - *mean));
            self.whole.add(lost);
            self.late.add(lost);
        }
        if self.rounds.is_power_of_two() {
            self.before = std::mem::take(&mut self.late);
            if let Some(left) = self.before.left().filter(|left| self.best.is_none_or(|(least, _)| *left < least)) {
                self.best = Some((left, self.rounds));
            }
        }
    }

    /// Rows that were taken note of.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// The remarks.
    #[must_use]
    pub fn notes(&self, facts: &LearningFacts<'_>, face: Face) -> Vec<Note> {
        let crowded = crowded(facts.entry, facts.rounds, facts.learner.dictionary_size(), face);
        let (far, forgetful) = (self.far(facts, face), self.forgetful(facts, face));
        let unknown = if far.is_none() && forgetful.is_none() { self.no_better(facts, face) } else { None };
        let stale = if far.is_none() { self.stale(facts, face) } else { None };
        let all = [self.out_of_reach(facts, face), crowded, far, stale, forgetful, unknown, self.dominated(facts)];
        all.into_iter().flatten().collect()
    }

    /// When a dictionary has no points where the rows are, or features are of inputs elsewhere.
    fn far(&self, facts: &LearningFacts<'_>, face: Face) -> Option<Note> {
        let rows = self.inputs.len();
        if let AnyRegressor::Auto(auto) = facts.learner {
            let has_window = auto.members().any(|member| member.name.starts_with("near"));
            return if has_window { None } else { self.wandered(face) };
        }
        let FarRows { far, what } = beyond(facts.learner, &self.inputs)?;
        if rows < FEWEST || 5 * far < rows {
            return None;
        }
        let entry = facts.entry;
        let Some(size) = what.points() else {
            let centre = if entry.key("centre").is_some() {
                format!("take the mean of such rows for it ({}), ", face.set("centre", "…"))
            } else {
                String::new()
            };
            return Some(Note::new(
                Cause::FullDictionary,
                format!(
                    "{far} of the last {rows} rows are far from the centre of the features, where predictions fall to 0; {centre}\
                     widen the kernel ({}), or take {}",
                    face.width(),
                    face.pick("--learner krls or auto", "mercer.Krls or mercer.Auto"),
                ),
            ));
        };
        let removal = old_points(facts, face);
        let more = more_points(facts, face);
        let full = is_full(facts) && self.grown > 1;
        let since =
            if full { format!(", which is full since row {} at the latest", self.grown) } else { String::new() };
        Some(Note::new(
            Cause::FullDictionary,
            format!(
                "{far} of the last {rows} rows are far from all {size} points of the dictionary{since}, where predictions fall \
                 to 0; {removal}, {more}or widen the kernel ({})",
                face.width()
            ),
        ))
    }

    /// When more of the variance is left than there once was, and most points of a full dictionary
    /// lie where no row is any more.
    fn stale(&self, facts: &LearningFacts<'_>, face: Face) -> Option<Note> {
        let (best, until) = self.best?;
        let left = self.late.left().or_else(|| self.before.left()).filter(|left| *left > FEWEST_STALE.1 * best)?;
        let (gone, size) = gone(facts.learner, &self.inputs).filter(|(gone, size)| 2 * gone > *size)?;
        is_full(facts).then(|| {
            Note::new(
                Cause::FullDictionary,
                format!(
                    "{gone} of {size} points of the full dictionary are far from all of the last {} rows, and {} of the \
                     variance is left of late, where it was {} until row {until}; {}or {}",
                    self.inputs.len(),
                    percent(left),
                    percent(best),
                    more_points(facts, face),
                    old_points(facts, face)
                ),
            )
        })
    }

    /// When inputs have left the range in which `auto` without a window tells them apart.
    fn wandered(&self, face: Face) -> Option<Note> {
        let rows = self.inputs.len();
        let beyond = |([low, high], x): (&[f64; 2], &f64)| (low - x).max(x - high) > 0.5 * (high - low);
        let far = self.inputs.iter().filter(|row| self.ranges.iter().zip(*row).any(beyond)).count();
        (self.rounds > FIRST && 2 * far > rows).then(|| {
            Note::new(
                Cause::FullDictionary,
                format!(
                    "{far} of the last {rows} rows lie beyond the range of the first {FIRST}, where auto without a window \
                     (neighbours=0, or a budget below some 30,000) hardly tells rows apart: give it one ({})",
                    face.set("budget", "40000")
                ),
            )
        })
    }

    /// When fewer rows are remembered than there are coefficients, so that each of them is noise.
    /// Forgetting in the direction of each row alone remembers all others.
    fn forgetful(&self, facts: &LearningFacts<'_>, face: Face) -> Option<Note> {
        let factor: f64 = facts.value("forgetting")?.parse().ok()?;
        let directional = facts.value("forgets").is_some_and(|way| way == "directional");
        let (memory, size) = (1.0 / (1.0 - factor), facts.learner.dictionary_size());
        let forgets = factor < 1.0 && !directional && self.rounds as f64 > memory && self.rounds >= FEWEST;
        (forgets && size as f64 > memory).then(|| {
            let fewer = if facts.entry.key("max_dictionary").is_some() {
                format!(", keep fewer points ({}) or widen the kernel ({})", face.set("max_dictionary", "N"), face.width())
            } else {
                String::new()
            };
            Note::new(
                Cause::Forgetting,
                format!(
                    "forgetting={factor} remembers some {} rows, fewer than the {size} coefficients that they are to tell: raise \
                     it towards 1{fewer}",
                    digits(memory.round())
                ),
            )
        })
    }

    /// What the kernel makes of inputs in their units.
    fn unit_of_inputs(&self, kernel: &str, face: Face) -> Option<String> {
        let alike = alike(&kernel.parse().ok()?, &self.inputs)?;
        let (what, other) = match alike {
            alike if alike < 0.01 => ("far from each other", "wider"),
            alike if alike > 0.99 => ("all the same", "narrower"),
            _ => return None,
        };
        Some(format!(
            "inputs are {what} to the kernel {kernel} ({} for successive rows, where 1 is equal and 0 unrelated): bring them to \
             one unit ({}) or take a {other} kernel",
            digits(alike),
            face.pick("--scale standard, or robust where some are wrong", "mercer.Pipeline scales them")
        ))
    }

    /// When the targets lie beyond what the learner can predict, which is the commonest surprise of
    /// unscaled data.
    fn out_of_reach(&self, facts: &LearningFacts<'_>, face: Face) -> Option<Note> {
        let bound = Bound::of(facts.entry, facts.kernel, facts.parameters, facts.scaled)?;
        let Bound { key, value, limit, .. } = &bound;
        (self.largest > *limit).then(|| {
            Note::new(
                Cause::UnitOfTargets,
                format!(
                    "targets reach {}, but {key}={value} keeps predictions within ±{value}; {} or raise {key}",
                    digits(self.largest),
                    face.pick("scale the data (--scale standard)", "scale the targets, as mercer.Pipeline does,"),
                ),
            )
        })
    }

    /// When a constant would have done as well, over all rows or of late.
    fn no_better(&self, facts: &LearningFacts<'_>, face: Face) -> Option<Note> {
        let mut late = self.late;
        if 2 * late.rounds < self.before.rounds {
            late.add(self.before);
        }
        let (fewest, margin) = FEWEST_OF_LATE;
        let LossSums { weight, by_learner, by_mean, by_zero, .. } = self.whole;
        let least = by_mean.min(by_zero);
        let (since, least, weight) = if self.rounds >= FEWEST && by_learner >= least && least > 0.0 {
            (String::new(), least, weight)
        } else if late.rounds >= fewest && late.by_learner > margin * late.by_mean && late.by_mean > 0.0 {
            (format!("since row {} ", self.rounds - late.rounds + 1), late.by_mean, late.weight)
        } else {
            return None;
        };
        let what = if least == by_zero { "0 everywhere" } else { "the mean of the targets so far" };
        let (cause, advice) = match self.unit_of_inputs(facts.kernel, face) {
            Some(advice) => (Cause::UnitOfInputs, advice),
            None => (Cause::NoBetterThanConstant, face.anything(facts.entry.autonomous).to_owned()),
        };
        Some(Note::new(
            cause,
            format!(
                "{since}the error is not below that of predicting {what}, whose mean squared error is {}; {advice}",
                digits(least / weight)
            ),
        ))
    }

    /// When most of the loss is that of one row; the first is predicted before anything was seen.
    fn dominated(&self, facts: &LearningFacts<'_>) -> Option<Note> {
        let (lost, weight, row, target) = self.worst;
        let rest = self.total - lost;
        // Of a run that was resumed the rows before are not known.
        (self.rounds >= FEWEST && self.rounds == facts.rounds && lost > rest && self.scored > weight).then(|| {
            let why = match row {
                1 => "which was predicted before anything was seen".to_owned(),
                _ => format!("whose target is {}", number(target)),
            };
            let rest = digits(rest.max(0.0) / (self.scored - weight));
            Note::new(
                Cause::OneRow,
                format!(
                    "more than half of the loss is that of row {row}, {why}; without it the mean squared error is {rest}"
                ),
            )
        })
    }
}

/// The key of the largest number of points.
fn bound_of(facts: &LearningFacts<'_>) -> Option<&'static str> {
    ["max_dictionary", "budget"].into_iter().find(|key| facts.entry.key(key).is_some())
}

/// True if a dictionary has as many points as it may have.
fn is_full(facts: &LearningFacts<'_>) -> bool {
    let bound = bound_of(facts).and_then(|key| facts.value(key)).and_then(|bound| bound.parse().ok());
    bound.is_some_and(|bound: usize| bound <= facts.learner.dictionary_size())
}

fn old_points(facts: &LearningFacts<'_>, face: Face) -> String {
    match facts.entry.key("removal") {
        Some(_) => format!("let old points leave ({})", face.set("removal", "oldest")),
        None => format!(
            "take a learner whose old points leave ({})",
            face.pick("--learner krls --set removal=oldest", "mercer.Krls(removal=\"oldest\")")
        ),
    }
}

fn more_points(facts: &LearningFacts<'_>, face: Face) -> String {
    bound_of(facts).map_or(String::new(), |key| format!("keep more points ({}), ", face.set(key, "N")))
}

fn percent(share: f64) -> String {
    format!("{} %", digits(100.0 * share))
}
