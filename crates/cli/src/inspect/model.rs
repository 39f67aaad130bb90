//! The content of a model file, in its order.

use mercer_encoding::{Column, Encoding, Use};
use mercer_forecast::{ConformalIntervals, Forecaster};
use mercer_koopman::OperatorLearner;
use mercer_learners::Expert;
use mercer_learners::FeatureMap;
use mercer_learners::RegressorExt;
use mercer_registry::AnyRegressor;
use mercer_registry::catalogue::find;
use mercer_session::model::{
    Classes, Classification, Description, GroupPredictions, Model, Moments, Numbers, Operator, Prediction, Regression,
    SeriesErrors, Tabular, Taught, VERSION,
};
use mercer_session::notes::{Face, crowded};
use mercer_session::predicts_late;
use serde_json::{Value, json};

use super::told;
use super::words::strongest;
use crate::arguments::dialect::known_gaps;
use crate::forecast;
use crate::model::store::LoadedModel;
use crate::report::facts::{Facts, ToldColumn};
use crate::report::notes::texts;

/// The facts about a model.
pub(super) fn facts(LoadedModel { model, bytes }: &LoadedModel) -> Facts {
    let mut facts = Facts::default();
    facts.tell("kind", model.kind().to_string());
    facts.tell("format", VERSION);
    facts.tell("bytes", *bytes);
    match model {
        Model::Regression(model) => facts.tell_numbers(model),
        Model::Classification(model) => facts.tell_classes(model),
        Model::Prediction(model) => facts.tell_prediction(model),
        Model::Operator(model) => facts.tell_operator(model),
        Model::Moments(model) => facts.tell_moments(model),
        Model::GroupPredictions(model) => facts.tell_groups(model),
        // Kinds to come are told by their name.
        _ => {}
    }
    facts
}

impl Facts {
    /// Tells the parts of a learner of rows, and the columns that it was made for.
    fn tell_rows<T: Taught>(&mut self, model: &Tabular<T>) {
        let (about, encoding) = (&model.description, &model.encoding);
        self.tell_learner(about);
        self.tell("features", model.dimension());
        self.tell_inputs(encoding.as_ref(), &about.features);
        self.tell("target", about.target_name.clone());
        if !about.target_names.is_empty() {
            self.tell("targets", about.target_names.clone());
        }
        self.tell("rows", model.progress.rows);
        self.tell("bad_rows", model.progress.bad);
        // The row from which on rows are scored.
        let learner = model.task.learner();
        self.tell("scored_from_row", 1 + u64::from(predicts_late(learner)));
        if let AnyRegressor::Restarting(learner) = learner {
            self.tell("restarts", learner.restarts());
            self.tell("rows_since_restart", learner.rounds());
        }
        self.tell("dictionary_size", model.dictionary_size());
        if let (Some(groups), Some(encoding)) = (&model.groups, encoding) {
            self.tell("group_column", encoding.schema().columns()[groups.column].name.as_str());
            self.tell("max_groups", groups.most);
            self.tell("groups", groups.models.keys().cloned().collect::<Vec<_>>());
            let sizes = groups
                .models
                .values()
                .map(|model| Value::from(mercer_learners::Regressor::dictionary_size(model.learner())));
            self.tell("group_sizes", sizes.collect::<Value>());
        }
    }

    /// Tells the columns of a table, or the names of plain numbers.
    fn tell_inputs(&mut self, encoding: Option<&Encoding>, features: &[String]) {
        match encoding {
            Some(encoding) => self.tell_columns(columns(encoding)),
            None => self.tell("columns", features.to_vec()),
        }
    }

    /// Tells the strongest words, where there are some.
    fn tell_words(&mut self, words: Value) {
        if !words.is_null() {
            self.tell("strongest_words", words);
        }
    }

    fn tell_numbers(&mut self, model: &Regression) {
        let Numbers { learner, intervals, score } = &model.task;
        self.tell_rows(model);
        self.tell("learnt", score.rounds());
        self.tell("outliers", learner.outliers().name());
        self.tell("implausible_targets", learner.implausible().map_or(0, |found| found.rows));
        if model.encoding.is_some() {
            self.tell("target_scales", learner.scales().iter().map(|scale| scale.scale()).collect::<Value>());
        }
        // Not a number before the first row that counts, which JSON calls null.
        self.tell("mse", score.mse());
        self.tell("mae", score.mae());
        self.tell("tells_variance", learner.has_variance());
        if let Some(intervals) = intervals {
            self.tell("intervals", intervals.coverage());
            let held = (0..intervals.outputs()).map(|output| Value::from(intervals.held(output)));
            self.tell("intervals_hold", held.collect::<Value>());
        }
        let several = model.description.target_names.iter().cloned().enumerate();
        let several: Vec<(usize, String)> = if learner.outputs() > 1 { several.collect() } else { Vec::new() };
        self.tell_words(strongest(model.encoding.as_ref(), learner, &several));
        let members: Option<Vec<Expert<'_>>> = match learner.learner() {
            AnyRegressor::Mixture(experts) => Some(experts.members().collect()),
            AnyRegressor::Auto(auto) => Some(auto.members().collect()),
            AnyRegressor::AutoWithTokens(learner) => Some(learner.auto().members().collect()),
            _ => None,
        };
        if let Some(members) = members {
            self.tell("members", members.iter().map(member).collect::<Value>());
        }
        let entry = find(&model.description.learner).ok();
        let crowded = entry.and_then(|entry| crowded(entry, score.rounds(), model.dictionary_size(), Face::Command));
        self.tell("notes", texts(crowded));
    }

    fn tell_classes(&mut self, model: &Classification) {
        let Classes { classifier, labels, learnt, score } = &model.task;
        self.tell_rows(model);
        self.tell("loss", classifier.learner().loss().to_string());
        // Weights where rows have them: how many rows there were of each class.
        let count = |(class, name): (usize, &String)| (name.clone(), score.weight_of(class).into());
        self.tell("classes", Value::Object(labels.names().iter().enumerate().map(count).collect()));
        self.tell("takes_new_classes", classifier.is_open());
        // Of two classes one output speaks for the second; of more, the first is in reserve.
        let names = labels.names().iter().cloned().enumerate();
        let outputs: Vec<(usize, String)> = match classifier.is_open() {
            true => names
                .map(|(class, name)| (class + usize::from(classifier.learner().outputs() > labels.len()), name))
                .collect(),
            false => names.skip(1).map(|(class, name)| (class - 1, name)).collect(),
        };
        self.tell_words(strongest(model.encoding.as_ref(), classifier.learner(), &outputs));
        self.tell("learnt", *learnt);
        self.tell("accuracy", score.accuracy());
        self.tell("balanced_accuracy", score.balanced_accuracy());
        self.tell("log_loss", score.log_loss());
        self.tell("calibration_error", score.calibration_error());
        self.tell("majority_accuracy", score.majority());
    }

    /// Tells the forecaster, and the columns that it was made for.
    fn tell_forecaster(&mut self, model: &Prediction) {
        let forecaster = &model.forecaster;
        self.tell("forecaster", forecaster.name());
        self.tell("method", model.method.as_str());
        self.tell("parameters", Value::Object(forecast::parameters(model).collect()));
        self.tell("outputs", forecaster.outputs());
        self.tell("inputs", forecaster.inputs());
        self.tell("feed_through", forecaster.feed_through());
        self.tell("columns", model.columns.clone());
    }

    fn tell_groups(&mut self, model: &GroupPredictions) {
        self.tell_forecaster(&model.fresh);
        self.tell("group_column", model.column.as_str());
        self.tell("groups", model.groups.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        self.tell("observed", model.seen.rows);
        let sums = model.groups.iter().map(|(_, group)| (group.errors.scored, group.errors.sum));
        let (scored, sum) = sums.fold((0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        self.tell("scored", scored);
        self.tell("mse", sum / scored as f64);
    }

    fn tell_prediction(&mut self, model: &Prediction) {
        let forecaster = &model.forecaster;
        self.tell_forecaster(model);
        self.tell("observed", forecaster.time());
        self.tell("warmed_up", forecaster.warmed_up());
        self.tell("lags", forecaster.lags());
        let SeriesErrors { scored, sum, .. } = model.errors;
        self.tell("scored", scored);
        self.tell("mse", sum / scored as f64);
        self.tell("intervals_hold", model.intervals.as_ref().map(coverage));
        if let Some(further) = &model.further {
            let horizons = (2..=further.steps()).filter_map(|step| further.horizon(step));
            self.tell("intervals_hold_further", horizons.map(coverage).collect::<Value>());
        }
    }

    fn tell_operator(&mut self, model: &Operator) {
        let descent = model.learner.descent().map(OperatorLearner::operator);
        if let Some(operator) = descent {
            self.tell("input_kernel", operator.input_kernel().to_string());
            self.tell("output_kernel", operator.output_kernel().to_string());
        }
        self.tell("parameters", object(&model.parameters));
        let [d, d_plus] = model.learner.dimensions();
        self.tell("input_dimension", d);
        self.tell("output_dimension", d_plus);
        self.tell("columns", model.columns.clone());
        self.tell("learnt", model.learner.rounds());
        if let Some(trajectory) = &model.trajectory {
            self.tell("delay", trajectory.delay());
            self.tell("cuts", trajectory.cuts());
        }
        if let Some(operator) = descent {
            self.tell("dictionary_size", json!([operator.inputs().len(), operator.outputs().len()]));
            self.tell("hs_norm", operator.hs_norm());
        }
    }

    fn tell_moments(&mut self, model: &Moments) {
        let about = &model.description;
        self.tell_learner(about);
        self.tell("features", model.sums.feature_map().input_dimension());
        self.tell("coordinates", model.sums.sums().features());
        self.tell_inputs(model.encoding.as_ref(), &about.features);
        self.tell("target", about.target_name.clone());
        if !about.target_names.is_empty() {
            self.tell("targets", about.target_names.clone());
        }
        if let Some(classes) = &model.classes {
            self.tell("classes", classes.names().to_vec());
        }
        self.tell("rows", model.rows());
        self.tell("weight", model.sums.weight());
        let shards = model.parts.iter().map(|part| format!("{}/{}", part.shard, part.of));
        self.tell("shards", shards.collect::<Value>());
        if let Ok(point) = model.point() {
            self.tell("lambda", point.lambda);
            self.tell("effective_dimension", point.effective_dimension);
            self.tell("r2", point.r2);
            self.tell("gcv", point.gcv);
        }
    }

    /// Tells the parts of a learner.
    fn tell_learner(&mut self, about: &Description) {
        self.tell("learner", about.learner.as_str());
        self.tell("kernel", about.kernel.as_str());
        self.tell("parameters", object(&about.parameters));
        self.tell("seed", about.seed);
        self.tell("weights", about.weight.as_ref().map(ToString::to_string));
        let gaps = known_gaps(&about.own);
        if !gaps.is_empty() {
            self.tell("gaps", gaps);
        }
    }
}

/// The share that each interval held; null before the first row.
fn coverage(intervals: &ConformalIntervals) -> Value {
    (0..intervals.outputs()).map(|output| Value::from(intervals.coverage(output))).collect()
}

/// The columns of a table, and what is done with them.
fn columns(encoding: &Encoding) -> Vec<ToldColumn> {
    let columns = encoding.schema().columns().iter().enumerate();
    let aside = |column: &Column| (column.used == Use::SetAside).then(|| "the target, or a weight".to_owned());
    let rows = encoding.schema().rows();
    columns.map(|(place, column)| told(column, encoding.transform().treatment(place).or(aside(column)), rows)).collect()
}

/// A member of a mixture: its name tells its parameters.
fn member(expert: &Expert<'_>) -> Value {
    let Expert { name, weight, cumulative_loss, active, .. } = expert;
    json!({ "name": name, "weight": weight, "cumulative_loss": cumulative_loss, "active": active })
}

/// Keys with their values.
fn object(parameters: &[(String, String)]) -> Value {
    Value::Object(parameters.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect())
}
