//! Classes with names: the classifier that suits the data, and what its scores say.

use mercer_kernels::AnyKernel;
use mercer_learners::{ClassScore, Classifier, Loss, RegressorExt};
use mercer_readers::Labels;
use mercer_registry::AnyRegressor;
use mercer_registry::catalogue::{Built, Entry, Value};

use super::failure::Failure;

pub(crate) type AnyClassifier = Classifier<AnyRegressor<AnyKernel>>;

/// A classifier that has learnt nothing.
pub(crate) struct Fresh {
    pub(crate) classifier: AnyClassifier,
    /// The names of its classes, as far as they are settled beforehand.
    pub(crate) labels: Labels,
    pub(crate) parameters: Vec<(&'static str, Value)>,
}

impl Fresh {
    /// The classifier for two classes of these names, or for classes to come. `build` makes a
    /// learner with a setting more. A learner that cannot take classes as they come knows two.
    pub(crate) fn make(
        entry: &Entry,
        two: Option<[&str; 2]>,
        build: impl Fn(Option<&str>) -> Result<Built, Failure>,
    ) -> Result<Self, Failure> {
        let refused = |error: mercer_learners::Error| Failure::because(format!("{}: {error}", entry.name));
        // What needs no settings is not to need any for its probabilities either.
        let finish = |classifier: Classifier<_>| if entry.autonomous { classifier.calibrated() } else { classifier };
        // The loss that suits the classes, unless the user has set one: then this is refused.
        let with_loss = |loss: &str| {
            let has = entry.keys.iter().any(|key| key.name == "loss");
            has.then(|| build(Some(loss)).ok()).flatten()
        };
        let mut built = build(None)?;
        if let Some(names) = two {
            if built.learner.loss() == Loss::SOFTMAX {
                built = with_loss("loss=logistic").unwrap_or(built);
            }
            let labels = Labels::from(names.map(str::to_owned).to_vec());
            let classifier = Classifier::two(built.learner).map_err(refused)?;
            return Ok(Self { classifier: finish(classifier), labels, parameters: built.parameters });
        }
        if !is_open(&built.learner) {
            built = with_loss("loss=softmax").filter(|built| is_open(&built.learner)).unwrap_or(built);
        }
        let open = is_open(&built.learner);
        let classifier = if open { Classifier::new(built.learner) } else { Classifier::two(built.learner) };
        let classifier = finish(classifier.map_err(refused)?);
        Ok(Self { classifier, labels: Labels::new(), parameters: built.parameters })
    }
}

/// Whether a learner takes classes as they come.
fn is_open(learner: &AnyRegressor<AnyKernel>) -> bool {
    let like = (learner.loss() != Loss::SOFTMAX).then_some(0);
    learner.clone().add_output(like).is_ok()
}

/// The class of a label: one of those known, or the next.
///
/// # Errors
/// In words, when there are two classes and the label is a third.
pub(crate) fn class_of(labels: &Labels, classifier: &AnyClassifier, label: &str) -> Result<usize, String> {
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

/// What scores say, the first `known` classes having been met.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassVerdict {
    /// The class that is predicted.
    pub(crate) class: Option<usize>,
    /// Positive for the later of two classes.
    pub(crate) score: Option<f64>,
    /// One a class; empty where there are none.
    pub(crate) probabilities: Vec<f64>,
}

impl ClassVerdict {
    pub(crate) fn of(&mut self, classifier: &AnyClassifier, labels: &Labels, known: usize, scores: &[f64]) {
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

    /// The probability of a class that has been met.
    pub(crate) fn probability(&self, class: usize, known: usize) -> Option<f64> {
        self.probabilities.get(class).copied().filter(|_| class < known)
    }

    /// Scores what was said of a row whose class is shown; the probability of one that had not been
    /// met counts as 0.
    pub(crate) fn score_in(&self, score: &mut ClassScore, class: usize, classifier: &AnyClassifier, weight: f64) {
        let probability = |class| self.probabilities.get(class).copied();
        let shown = classifier.has_probabilities().then(|| probability(class).unwrap_or(0.0));
        score.record(class, self.class, shown, weight);
        if let Some(confidence) = self.class.and_then(probability) {
            score.record_confidence(confidence, self.class == Some(class), weight);
        }
    }
}

/// A text as a cell of CSV: in quotes where it has to be.
pub(crate) fn quoted(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']) && text.trim() == text;
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_have_to_be() {
        assert_eq!(["a b", "a,b", "say \"x\"", ""].map(quoted), ["a b", "\"a,b\"", "\"say \"\"x\"\"\"", ""]);
    }
}
