//! The columns of a model, as requests name them.

use mercer::Regressor;
use mercer::data::ColumnChoice;

use crate::cli::input::sorted_names;
use crate::cli::trained::Trained;

pub(super) struct Schema {
    /// The names of the features in their order; empty if rows can only be arrays.
    pub(super) features: Vec<String>,
    /// How many features there are.
    pub(super) dimension: usize,
    /// The names of the targets; `y`, or `y1`, `y2`, … if the model knows none.
    pub(super) targets: Vec<String>,
    /// The column of weights, if rows had weights; `weight` if it had no name.
    pub(super) weight: Option<String>,
    /// Whether the target is a class: then the classes known at the start.
    pub(super) classes: Option<Vec<String>>,
    pub(super) has_probabilities: bool,
    pub(super) has_intervals: bool,
    pub(super) has_variance: bool,
}

impl Schema {
    pub(super) fn of(model: &Trained) -> Self {
        let about = model.description();
        let known = match &about.target_names[..] {
            [] => about.target_name.iter().cloned().collect(),
            names => names.to_vec(),
        };
        let outputs = model.outputs();
        let targets = match outputs {
            _ if known.len() == outputs => known,
            1 => vec!["y".to_owned()],
            _ => (1..=outputs).map(|output| format!("y{output}")).collect(),
        };
        let weight = about.weight.as_ref().map(|weight| match weight {
            ColumnChoice::Name(name) => name.clone(),
            _ => "weight".to_owned(),
        });
        // Where a name does not say which column is meant, rows are arrays.
        let mut names: Vec<&String> = about.features.iter().chain(&targets).chain(&weight).collect();
        names.sort();
        let distinct = names.windows(2).all(|pair| pair[0] != pair[1]);
        let (classes, has_probabilities, has_intervals, has_variance) = match model {
            Trained::Numbers(model) => (None, false, model.intervals.is_some(), model.learner.has_variance()),
            Trained::Classes(model) => {
                (Some(sorted_names(&model.labels)), model.classifier.has_probabilities(), false, false)
            }
        };
        Self {
            features: if distinct { about.features.clone() } else { Vec::new() },
            dimension: model.dimension(),
            targets,
            weight,
            classes,
            has_probabilities,
            has_intervals,
            has_variance,
        }
    }

    /// The name of a feature for messages.
    pub(super) fn feature(&self, at: usize) -> String {
        self.features.get(at).map_or_else(|| format!("number {}", at + 1), |name| format!("{name:?}"))
    }

    /// How many values a row that is an array has, to predict or to learn.
    pub(super) fn width(&self, learn: bool) -> usize {
        self.dimension + if learn { self.targets.len() + usize::from(self.weight.is_some()) } else { 0 }
    }
}
