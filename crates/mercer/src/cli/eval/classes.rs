//! Rounds whose targets are classes.

use mercer::data::Labels;
use mercer::learners::{Error, area_under_curve};
use mercer::{ClassScore, Loss, Regressor};

use super::halves::{Halves, Sum};
use crate::cli::classes::{AnyClassifier, Judged, class_of};
use crate::cli::feed::{Chunk, Names};
use crate::cli::report::{ClassScores, Scores};

/// Rounds whose scores are kept for the area under the curve (96 MiB); a longer pass has none.
const MOST_SCORES: usize = 1 << 22;

impl Sum for ClassScore {
    fn merge(&mut self, later: &Self) {
        ClassScore::merge(self, later);
    }
}

/// A row of the last chunk as it was predicted.
#[derive(Clone, Debug, Default)]
struct Made {
    judged: Judged,
    /// The class that it has, and those met before it.
    class: usize,
    known: usize,
    /// What the learner minimises; a class that was not met has none.
    loss: Option<f64>,
}

/// The rounds so far.
pub(super) struct Classes {
    pub(super) classifier: AnyClassifier,
    /// The names of the classes.
    labels: Labels,
    /// How many of them were met, or known beforehand.
    known: usize,
    /// The class of each text of the feed, if it has one.
    class_of: Vec<Option<usize>>,
    pub(super) score: ClassScore,
    halves: Halves<ClassScore>,
    /// Score, whether the class is the positive one, and weight; and the round of each.
    curve: Vec<(f64, bool, f64)>,
    curve_rounds: Vec<usize>,
    rounds: usize,
    /// Of the last chunk.
    made: Vec<Made>,
    classes: Vec<usize>,
}

impl Classes {
    pub(super) fn new(classifier: AnyClassifier, labels: Labels) -> Self {
        Self {
            classifier,
            known: labels.len(),
            labels,
            class_of: Vec::new(),
            score: ClassScore::default(),
            halves: Halves::default(),
            curve: Vec::new(),
            curve_rounds: Vec::new(),
            rounds: 0,
            made: Vec::new(),
            classes: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.made.clear();
    }

    /// The class of row `row`; a label that is learnt for the first time gets the next one.
    fn class(&mut self, chunk: &Chunk, names: &Names, row: usize) -> Result<usize, String> {
        let text = chunk.targets[row] as usize;
        if self.class_of.len() <= text {
            self.class_of.resize(text + 1, None);
        }
        if let Some(class) = self.class_of[text] {
            return Ok(class);
        }
        let label = names.texts().get(text).unwrap_or_default();
        let class = class_of(&self.labels, &self.classifier, label)?;
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
        chunk: &Chunk,
        names: &Names,
        from: usize,
        to: usize,
    ) -> (usize, Result<(), Refusal>) {
        let d = self.classifier.learner().dimension();
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
        let inputs = &chunk.features[from * d..to * d];
        let learnt = classifier.learn_rows(inputs, classes, weights, |row, classifier, scores| {
            let class = classes[row];
            let mut one = Made { class, known: *known, ..Made::default() };
            one.judged.of(classifier, labels, *known, scores);
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

    /// Scores row `index` of the chunk.
    pub(super) fn record(&mut self, chunk: &Chunk, index: usize) {
        let Made { judged, class, .. } = &self.made[index];
        let weight = chunk.weight(index);
        let probability = judged.scored(*class, &self.classifier);
        self.rounds += 1;
        let record = |score: &mut ClassScore| {
            score.record(*class, judged.class, probability, weight);
            if let Some(confidence) = judged.confidence() {
                score.record_confidence(confidence, judged.class == Some(*class), weight);
            }
        };
        record(&mut self.score);
        self.halves.record(record);
        if let Some(z) = judged.score.filter(|_| weight != 0.0 && self.curve.len() <= MOST_SCORES) {
            let positive = self.labels.later(0, 1) == Some(*class);
            self.curve.push((z, positive, weight));
            self.curve_rounds.push(self.rounds);
        }
    }

    fn auc(&self, after: usize) -> Option<f64> {
        let first = self.curve_rounds.partition_point(|round| *round <= after);
        let whole = self.labels.len() == 2 && self.curve.len() <= MOST_SCORES;
        whole.then(|| area_under_curve(&mut self.curve[first..].to_vec())).flatten()
    }

    /// Over all rounds.
    pub(super) fn scores(&self) -> Scores {
        scores(&self.score, self.auc(0))
    }

    /// Over the later half.
    pub(super) fn later(&self) -> Scores {
        let (before, score) = self.halves.later();
        scores(&score, self.auc(before))
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

fn scores(score: &ClassScore, auc: Option<f64>) -> Scores {
    let classes = ClassScores {
        accuracy: score.accuracy(),
        log_loss: score.log_loss(),
        balanced_accuracy: score.balanced_accuracy(),
        auc,
        calibration_error: score.calibration_error(),
        majority: score.majority(),
    };
    Scores { mse: None, mae: None, error_rate: None, rmse: None, r2: None, intervals: None, classes: Some(classes) }
}
