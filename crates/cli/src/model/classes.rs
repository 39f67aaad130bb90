//! Classes with names: the classifier that suits the data, and what its scores say.

use mercer_kernels::AnyKernel;
use mercer_learners::{Classifier, Loss, RegressorExt};
use mercer_readers::Labels;
use mercer_registry::AnyRegressor;
use mercer_registry::catalogue::{Built, Entry, Value};
use mercer_session::classes::AnyClassifier;

use crate::report::failure::Failure;

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
        let finish = |classifier: Classifier<AnyRegressor<AnyKernel>>| {
            if entry.calibrates(classifier.learner().loss()) { classifier.calibrated() } else { classifier }
        };
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
