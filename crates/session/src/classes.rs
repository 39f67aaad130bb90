//! Classes by name: the class of a label, and what the scores of a classifier say.

use mercer_kernels::AnyKernel;
use mercer_learners::{ClassScore, Classifier, Loss, RegressorExt};
use mercer_readers::Labels;
use mercer_registry::AnyRegressor;

/// A classifier around any learner of the registry.
pub type AnyClassifier = Classifier<AnyRegressor<AnyKernel>>;

/// Looks up the class of a canonical label: one of those known, or the next. `O(label)`.
///
/// # Errors
/// In words with a remedy, when there are two classes and the label is a third.
pub fn find_class(labels: &Labels, classifier: &AnyClassifier, label: &str) -> Result<usize, String> {
    let known = labels.len();
    match labels.find(label) {
        Some(class) => Ok(class),
        None if classifier.is_open() || known < classifier.classes() => Ok(known),
        None => {
            let [a, b] = [0, 1].map(|class| labels.get(class).unwrap_or_default());
            let numbers = [a, b, label].iter().all(|text| text.parse::<f64>().is_ok());
            let mend = if numbers && (a == "0" || a == "-1") && b == "1" {
                "if the target is a number, say --task regression and take a learner for numbers, such as krls; if there are more \
                 classes, let one of them be among the first rows"
            } else if numbers {
                "if the target is a number, take a learner for numbers, such as krls; if it is a class, one for more classes, such \
                 as krls with --task class"
            } else {
                "take a learner for more classes, such as krls"
            };
            Err(format!("{label:?} is a third class; the learner was made for the two classes {a:?} and {b:?}; {mend}"))
        }
    }
}

/// A prediction among the classes that were met. The memory is used again.
#[derive(Clone, Debug, Default)]
pub struct ClassPrediction {
    /// The class that is predicted, if any was met.
    pub class: Option<usize>,
    /// Positive for the later of two classes in sorted order; none of more classes.
    pub score: Option<f64>,
    /// One a class of the classifier; empty where its loss has none.
    pub probabilities: Vec<f64>,
}

impl ClassPrediction {
    /// Reads the scores of a classifier, of whose classes the first `known` were met. `O(classes)`.
    pub fn read(&mut self, classifier: &AnyClassifier, labels: &Labels, known: usize, scores: &[f64]) {
        self.class = classifier.choice(scores).filter(|class| *class < known);
        self.score = match scores {
            [a, b] if known == 2 => {
                // Of two classes the scores are −z and z.
                let share = if classifier.learner().loss() == Loss::SOFTMAX { 1.0 } else { 0.5 };
                let z = share * (b - a);
                Some(if labels.later(0, 1) == Some(0) { 0.0 - z } else { z })
            }
            _ => None,
        };
        self.probabilities.clear();
        self.probabilities.extend_from_slice(scores);
        if !classifier.probabilities(&mut self.probabilities) {
            self.probabilities.clear();
        }
    }

    /// The probability of a class, if it is among the `known`.
    #[must_use]
    pub fn probability(&self, class: usize, known: usize) -> Option<f64> {
        self.probabilities.get(class).copied().filter(|_| class < known)
    }

    /// Scores the prediction of a row whose class is shown; the probability of a class that had
    /// not been met counts as 0.
    pub fn score_in(&self, score: &mut ClassScore, class: usize, classifier: &AnyClassifier, weight: f64) {
        let probability = |class| self.probabilities.get(class).copied();
        let shown = classifier.has_probabilities().then(|| probability(class).unwrap_or(0.0));
        score.record(class, self.class, shown, weight);
        if let Some(confidence) = self.class.and_then(probability) {
            score.record_confidence(confidence, self.class == Some(class), weight);
        }
    }
}
