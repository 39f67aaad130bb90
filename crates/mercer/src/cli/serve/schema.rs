//! The columns of a model, as requests name them.

use mercer::Regressor;
use mercer::encoding::{Encoding, Kind, Use};
use mercer::learners::prediction::Forecaster;
use mercer::model::Description;

use super::served::Served;
use crate::cli::encoded::{column_place, targets as target_places};
use crate::cli::forecast::Pass;
use crate::cli::input::sorted_names;
use crate::cli::predict::known_place;
use crate::cli::trained::Trained;

/// Most steps that a series is forecast ahead.
const MOST_STEPS: usize = 1000;

pub(super) struct Schema {
    /// The columns beside targets and weight, in their order.
    pub(super) features: Vec<Feature>,
    /// Whether rows may be objects by the names of columns; if not, they are arrays.
    pub(super) named: bool,
    /// Of a series: how many steps ahead it can be forecast.
    pub(super) series: Option<usize>,
    /// What predictions are of: the targets, or the outputs of a series.
    pub(super) outputs: Vec<String>,
    /// The names of the targets; `y`, or `y1`, `y2`, … if the model knows none.
    pub(super) targets: Vec<String>,
    /// The column of weights, if rows had weights; `weight` if it had no name.
    pub(super) weight: Option<String>,
    /// Where the columns stand in a record, of a model behind an encoding.
    pub(super) record: Option<Layout>,
    /// Whether the target is a class: then the classes known at the start.
    pub(super) classes: Option<Vec<String>>,
    pub(super) has_probabilities: bool,
    pub(super) has_intervals: bool,
    pub(super) has_variance: bool,
}

pub(super) struct Feature {
    pub(super) name: String,
    /// What it is in a table that is encoded: there any cell is taken. Elsewhere it is a number.
    pub(super) kind: Option<Kind>,
    /// Whether it has a say in predictions, and so must be told.
    pub(super) needed: bool,
    /// Whether its value may be missing, as outputs of a series may.
    pub(super) gaps: bool,
    /// The most frequent categories.
    pub(super) categories: Vec<String>,
    /// Its place in a record.
    pub(super) place: usize,
}

/// The columns of a record.
pub(super) struct Layout {
    pub(super) width: usize,
    pub(super) targets: Vec<usize>,
    pub(super) weight: Option<usize>,
}

impl Schema {
    pub(super) fn of(model: &Served) -> Self {
        match model {
            Served::Examples(model) => Self::of_examples(model),
            Served::Series(pass) => Self::of_series(pass),
        }
    }

    /// All columns of a series are learnt together, and none is needed to predict.
    fn of_series(pass: &Pass) -> Self {
        let model = pass.model();
        let column = |(place, (name, input)): (usize, (&str, bool))| Feature {
            name: name.to_owned(),
            kind: None,
            needed: true,
            gaps: !input,
            categories: Vec::new(),
            place,
        };
        let columns: Vec<(&str, bool)> = pass.columns().all().collect();
        let outputs = columns.iter().filter(|(_, input)| !input).map(|(name, _)| (*name).to_owned()).collect();
        let features: Vec<Feature> = columns.into_iter().enumerate().map(column).collect();
        Self {
            named: are_distinct(features.iter().map(|feature| &feature.name)),
            series: Some(if model.forecaster.inputs() > 0 { 1 } else { MOST_STEPS }),
            features,
            targets: Vec::new(),
            outputs,
            weight: None,
            record: None,
            classes: None,
            has_probabilities: false,
            has_intervals: model.intervals.is_some(),
            has_variance: false,
        }
    }

    fn of_examples(model: &Trained) -> Self {
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
            mercer::data::ColumnChoice::Name(name) => name.clone(),
            _ => "weight".to_owned(),
        });
        let (features, record, named) = match model.encoding() {
            Some(encoding) => of_table(encoding, about),
            None => {
                let number = |at: usize| {
                    let name = about.features.get(at).cloned().unwrap_or_else(|| format!("x{}", at + 1));
                    Feature { name, kind: None, needed: true, gaps: false, categories: Vec::new(), place: at }
                };
                ((0..model.dimension()).map(number).collect(), None, !about.features.is_empty())
            }
        };
        // Where a name does not say which column is meant, rows are arrays.
        let distinct = are_distinct(features.iter().map(|feature| &feature.name).chain(&targets).chain(&weight));
        let has_variance = match model {
            Trained::Numbers(model) => model.learner.has_variance(),
            Trained::Table(model) => model.pipeline.learner().has_variance(),
            Trained::Classes(_) | Trained::ClassTable(_) => false,
        };
        Self {
            named: named && distinct,
            series: None,
            features,
            outputs: targets.clone(),
            targets,
            weight,
            record,
            classes: model.classes().map(|(labels, _)| sorted_names(labels)),
            has_probabilities: model.classes().is_some_and(|(_, classifier)| classifier.has_probabilities()),
            has_intervals: model.intervals().is_some(),
            has_variance,
        }
    }

    /// How many values a row that is an array has, to predict or to learn.
    pub(super) fn width(&self, learn: bool) -> usize {
        self.features.len() + if learn { self.targets.len() + usize::from(self.weight.is_some()) } else { 0 }
    }
}

fn are_distinct<'a>(names: impl Iterator<Item = &'a String>) -> bool {
    let mut names: Vec<&String> = names.collect();
    names.sort();
    names.windows(2).all(|pair| pair[0] != pair[1])
}

/// The columns of a table, in the order of its schema.
fn of_table(encoding: &Encoding, about: &Description) -> (Vec<Feature>, Option<Layout>, bool) {
    let schema = encoding.schema();
    let columns = schema.columns();
    let names: Vec<Option<String>> = columns.iter().map(|column| Some(column.name.clone())).collect();
    let targets = target_places(&known_place(about), &names).unwrap_or_default();
    let weight = about.weight.as_ref().and_then(|choice| column_place(choice, &names));
    let features = columns.iter().enumerate().filter(|(_, column)| column.used != Use::SetAside);
    let features = features.map(|(place, column)| Feature {
        name: column.name.clone(),
        kind: Some(column.kind),
        needed: column.used == Use::Encoded,
        gaps: true,
        categories: column.categories.iter().take(100).map(|(name, _)| name.clone()).collect(),
        place,
    });
    (features.collect(), Some(Layout { width: columns.len(), targets, weight }), schema.is_named())
}
