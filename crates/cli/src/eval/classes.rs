//! Rounds whose targets are classes.

use std::collections::VecDeque;

use mercer_learners::{ClassScore, Loss, RegressorExt, Scratch};
use mercer_learners::{Error, area_under_curve};
use mercer_readers::Labels;

use crate::eval::feed::{ExampleChunk, Names};
use crate::report::sample::RoundSample;
use crate::report::scores::{Baseline, Baselines, ClassScores, Scores};
use crate::report::stretches::{Stretches, Sum};
use mercer_session::classes::{AnyClassifier, ClassPrediction, find_class};

/// Rounds whose scores are kept for the area under the curve (128 MiB). Of a longer pass at least
/// half as many are kept, chosen by a hash of their numbers: the area has then a standard error of
/// at most `√(A(1 − A)/m)`, `m` rounds of the rarer class being kept.
const MOST_SCORES: usize = 1 << 22;

/// Sums over a stretch of rounds.
#[derive(Clone, Debug, Default)]
struct ClassSums {
    score: ClassScore,
    /// The weight that the class which was most frequent before each round had right, and the one
    /// of the round before.
    majority: f64,
    last: f64,
}

impl Sum for ClassSums {
    fn merge(&mut self, later: &Self) {
        self.score.merge(&later.score);
        self.majority += later.majority;
        self.last += later.last;
    }
}

/// What predicts without learning.
#[derive(Clone, Debug, Default)]
struct NaiveClasses {
    /// Of each class.
    weights: Vec<f64>,
    majority: Option<usize>,
    last: Option<usize>,
}

impl NaiveClasses {
    /// Takes in a class after it was scored.
    fn learn(&mut self, class: usize, weight: f64) {
        if weight == 0.0 {
            return;
        }
        if self.weights.len() <= class {
            self.weights.resize(class + 1, 0.0);
        }
        self.weights[class] += weight;
        // Of equals the one that was ahead stays.
        if self.majority.is_none_or(|ahead| self.weights[class] > self.weights[ahead]) {
            self.majority = Some(class);
        }
        self.last = Some(class);
    }
}

/// A row of the last chunk as it was predicted.
#[derive(Clone, Debug, Default)]
struct PredictedRow {
    judged: ClassPrediction,
    /// The class that it has, and those met before it.
    class: usize,
    known: usize,
    /// What the learner minimises; a class that was not met has none.
    loss: Option<f64>,
}

/// A row that waits for its class.
struct LateClass {
    inputs: Vec<f64>,
    class: usize,
    weight: f64,
}

/// The rounds so far.
pub(super) struct ClassRounds {
    pub(super) classifier: AnyClassifier,
    /// The names of the classes.
    labels: Labels,
    /// How many of them were met, or known beforehand.
    known: usize,
    /// The class of each text of the feed, if it has one.
    class_of: Vec<Option<usize>>,
    pub(super) score: ClassScore,
    naive: NaiveClasses,
    stretches: Stretches<ClassSums>,
    /// Score, whether the class is the positive one, and weight, by the number of the scored round.
    curve: RoundSample<(f64, bool, f64)>,
    /// Of the last chunk.
    made: Vec<PredictedRow>,
    classes: Vec<usize>,
    late: VecDeque<LateClass>,
    /// Rows of the last chunk whose classes have come.
    due: usize,
    /// Classes and weights that baselines do not know yet.
    late_classes: VecDeque<(usize, f64)>,
    scratch: Scratch,
}

impl ClassRounds {
    pub(super) fn new(classifier: AnyClassifier, labels: Labels) -> Self {
        Self {
            classifier,
            known: labels.len(),
            labels,
            class_of: Vec::new(),
            score: ClassScore::default(),
            naive: NaiveClasses::default(),
            stretches: Stretches::default(),
            curve: RoundSample::new(MOST_SCORES),
            made: Vec::new(),
            classes: Vec::new(),
            late: VecDeque::new(),
            due: 0,
            late_classes: VecDeque::new(),
            scratch: Scratch::default(),
        }
    }

    pub(super) fn labels(&self) -> &Labels {
        &self.labels
    }

    pub(super) fn begin(&mut self) {
        self.made.clear();
        self.due = 0;
    }

    /// The class of row `row`; a label that is learnt for the first time gets the next one.
    fn class(&mut self, chunk: &ExampleChunk, names: &Names, row: usize) -> Result<usize, String> {
        let text = chunk.targets[row] as usize;
        if self.class_of.len() <= text {
            self.class_of.resize(text + 1, None);
        }
        if let Some(class) = self.class_of[text] {
            return Ok(class);
        }
        let label = names.texts().get(text).unwrap_or_default();
        let class = find_class(&self.labels, &self.classifier, label)?;
        // What is not learnt does not become a class.
        if class < self.labels.len() || chunk.weight(row) != 0.0 {
            self.labels.insert(label);
            self.class_of[text] = Some(class);
        }
        Ok(class)
    }

    /// Learns rows `from..to` of a chunk; tells how many of the chunk were learnt, and why no more.
    pub(super) fn learn(
        &mut self,
        chunk: &ExampleChunk,
        names: &Names,
        from: usize,
        to: usize,
    ) -> (usize, Result<(), Refusal>) {
        let d = self.classifier.learner().dimension();
        if let Some(waiting) = chunk.waiting.get(from) {
            let taken = self.take_late(chunk, names, from, *waiting);
            return (self.made.len(), taken);
        }
        self.classes.clear();
        let mut third = None;
        for row in from..to {
            match self.class(chunk, names, row) {
                Ok(class) => self.classes.push(class),
                Err(why) => {
                    third = Some(why);
                    break;
                }
            }
        }
        let to = from + self.classes.len();
        let Self { classifier, labels, known, made, classes, .. } = self;
        let weights = chunk.weights.get(from..to).unwrap_or_default();
        let inputs = chunk.inputs(from, to, d);
        let learnt = classifier.learn_rows(inputs, classes, weights, |row, classifier, scores| {
            let class = classes[row];
            let mut one = PredictedRow { class, known: *known, ..PredictedRow::default() };
            one.judged.read(classifier, labels, *known, scores);
            one.loss = loss(classifier, scores, class);
            made.push(one);
            if class == *known && chunk.weight(from + row) != 0.0 {
                *known += 1;
            }
        });
        let learnt =
            learnt.map_err(Refusal::Learner).and_then(|()| third.map_or(Ok(()), |why| Err(Refusal::Label(why))));
        (self.made.len(), learnt)
    }

    /// Learns the rows whose classes have come, until so many wait, and predicts a row.
    fn take_late(&mut self, chunk: &ExampleChunk, names: &Names, row: usize, waiting: usize) -> Result<(), Refusal> {
        let d = self.classifier.learner().dimension();
        while self.late.len() > waiting
            && let Some(LateClass { inputs, class, weight }) = self.late.pop_front()
        {
            let encoded = chunk.due.get(self.due * d..(self.due + 1) * d);
            self.due += 1;
            let inputs = encoded.unwrap_or(&inputs);
            let learnt = self.classifier.learn_rows(inputs, &[class], &[weight], |_, _, _| {});
            learnt.map_err(Refusal::Learner)?;
            self.known += usize::from(class == self.known && weight != 0.0);
        }
        let class = self.class(chunk, names, row).map_err(Refusal::Label)?;
        let (inputs, mut scores) = (&chunk.features[row * d..(row + 1) * d], Vec::new());
        self.classifier.scores_with(inputs, &mut self.scratch, &mut scores).map_err(Refusal::Learner)?;
        let mut one = PredictedRow { class, known: self.known, ..PredictedRow::default() };
        one.judged.read(&self.classifier, &self.labels, self.known, &scores);
        one.loss = loss(&self.classifier, &scores, class);
        self.made.push(one);
        self.late.push_back(LateClass { inputs: inputs.to_vec(), class, weight: chunk.weight(row) });
        Ok(())
    }

    /// Takes in row `index` of the chunk, and scores it if it counts.
    pub(super) fn record(&mut self, chunk: &ExampleChunk, index: usize, counts: bool) {
        let waiting = chunk.waiting.get(index).copied();
        while waiting.is_some_and(|waiting| self.late_classes.len() > waiting)
            && let Some((class, weight)) = self.late_classes.pop_front()
        {
            self.naive.learn(class, weight);
        }
        let PredictedRow { judged, class, .. } = &self.made[index];
        let (class, weight) = (*class, chunk.weight(index));
        if counts {
            judged.score_in(&mut self.score, class, &self.classifier, weight);
            let right = |guess: Option<usize>| if guess == Some(class) { weight } else { 0.0 };
            let NaiveClasses { majority, last, .. } = self.naive;
            self.stretches.record(|stretch| {
                judged.score_in(&mut stretch.score, class, &self.classifier, weight);
                stretch.majority += right(majority);
                stretch.last += right(last);
            });
            if let Some(z) = judged.score.filter(|_| weight != 0.0) {
                let positive = self.labels.later(0, 1) == Some(class);
                self.curve.offer(self.stretches.rounds(), || (z, positive, weight));
            }
        }
        match waiting {
            None => self.naive.learn(class, weight),
            Some(_) => self.late_classes.push_back((class, weight)),
        }
    }

    fn auc(&self, after: usize, until: usize) -> Option<f64> {
        let rounds = || self.curve.between(after, until).iter().map(|(_, round)| *round).collect::<Vec<_>>();
        (self.labels.len() == 2).then(|| area_under_curve(&mut rounds())).flatten()
    }

    /// Rounds scored.
    pub(super) fn scored(&self) -> usize {
        self.stretches.rounds()
    }

    /// Over all rounds.
    pub(super) fn scores(&self) -> Scores {
        self.between(0, self.scored(), true).1
    }

    /// Over the scored rounds after `after` and not after `until`, with the area under the curve if
    /// it is wanted, for which they are sorted; and how many they are.
    pub(super) fn between(&self, after: usize, until: usize, area: bool) -> (usize, Scores) {
        let until = until.min(self.scored());
        let (before, sum) = self.stretches.between(after, until);
        let auc = if area { self.auc(before, until) } else { None };
        (until - before, scores(&sum, auc))
    }

    /// The classes met so far, by name.
    #[cfg(feature = "plots")]
    pub(super) fn names(&self) -> Vec<&str> {
        (0..self.known).filter_map(|class| self.labels.get(class)).collect()
    }

    /// The class of row `index`, and the one predicted for it.
    #[cfg(feature = "plots")]
    pub(super) fn judged(&self, index: usize) -> (usize, Option<usize>) {
        (self.made[index].class, self.made[index].judged.class)
    }

    /// The scored rounds that are kept for the area under the curve, of two classes: score, whether
    /// positive, weight.
    #[cfg(feature = "plots")]
    pub(super) fn curve(&self) -> Vec<(f64, bool, f64)> {
        if self.labels.len() == 2 { self.curve.all().iter().map(|(_, round)| *round).collect() } else { Vec::new() }
    }

    /// The class predicted for row `index`.
    pub(super) fn prediction(&self, index: usize) -> Option<&str> {
        self.labels.get(self.made[index].judged.class?)
    }

    pub(super) fn z(&self, index: usize) -> Option<f64> {
        self.made[index].judged.score
    }

    pub(super) fn probability(&self, index: usize, class: &str) -> Option<f64> {
        let made = &self.made[index];
        made.judged.probability(self.labels.find(class)?, made.known)
    }

    pub(super) fn loss(&self, index: usize) -> Option<f64> {
        self.made[index].loss
    }
}

/// Why a row was not learnt.
pub(super) enum Refusal {
    Learner(Error),
    /// Its label cannot be one.
    Label(String),
}

/// What the learner minimises.
fn loss(classifier: &AnyClassifier, scores: &[f64], class: usize) -> Option<f64> {
    let loss = classifier.learner().loss();
    if class >= scores.len() {
        return None;
    }
    let sign = |is: bool| if is { 1.0 } else { -1.0 };
    Some(match scores {
        _ if loss == Loss::SOFTMAX => loss.value(scores, &[class as f64]),
        [_, z] if !classifier.is_open() => loss.value(&[*z], &[sign(class == 1)]),
        _ => (0..scores.len()).map(|k| loss.value(&scores[k..=k], &[sign(k == class)])).sum(),
    })
}

fn scores(ClassSums { score, majority, last }: &ClassSums, auc: Option<f64>) -> Scores {
    let classes = ClassScores {
        accuracy: score.accuracy(),
        log_loss: score.log_loss(),
        balanced_accuracy: score.balanced_accuracy(),
        auc,
        calibration_error: score.calibration_error(),
    };
    let baseline =
        |(name, right): (_, &f64)| Baseline { name, accuracy: Some(right / score.weight()), ..Baseline::default() };
    Scores {
        mse: None,
        mae: None,
        error_rate: None,
        rmse: None,
        r2: None,
        intervals: None,
        classes: Some(classes),
        baselines: Baselines([("majority_class", majority), ("last_class", last)].map(baseline).into()),
    }
}
