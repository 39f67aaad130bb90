//! What a model file holds, in its order.

use mercer::catalogue::find;
use mercer::encoding::{Column, Encoding, ScaledTargets, Use};
use mercer::forecast::{ConformalIntervals, Forecaster};
use mercer::koopman::OperatorLearner;
use mercer::learners::Expert;
use mercer::model::{
    ClassTable, Classification, Description, Model, Moments, Operator, Prediction, Regression, SeriesErrors, Table,
    VERSION,
};
use mercer::readers::{Scaling, Scheme};
use mercer::{AnyKernel, AnyRegressor, Regressor, RegressorExt};
use serde_json::{Value, json};

use super::{Facts, told};
use crate::cli::dialect::known_gaps;
use crate::cli::store::Loaded;
use crate::cli::{forecast, notes};

/// What is to be said.
pub(super) fn facts(Loaded { model, bytes }: &Loaded) -> Facts {
    let mut facts = Facts::default();
    facts.tell("kind", model.kind().to_string());
    facts.tell("format", VERSION);
    facts.tell("bytes", *bytes);
    match model {
        Model::Regression(model) => facts.tell_regression(model),
        Model::Classification(model) => facts.tell_classification(model),
        Model::Prediction(model) => facts.tell_prediction(model),
        Model::Operator(model) => facts.tell_operator(model),
        Model::Table(model) => facts.tell_table(model),
        Model::ClassTable(model) => facts.tell_class_table(model),
        Model::Moments(model) => facts.tell_moments(model),
        // Kinds to come are told by their name.
        _ => {}
    }
    facts
}

impl Facts {
    fn tell_regression(&mut self, model: &Regression) {
        let (about, progress) = (&model.description, &model.progress);
        self.tell("learner", about.learner.as_str());
        self.tell("kernel", about.kernel.as_str());
        self.tell("parameters", object(&about.parameters));
        self.tell("seed", about.seed);
        self.tell("features", model.learner.dimension());
        self.tell("columns", about.features.clone());
        self.tell("target", about.target_name.clone());
        if !about.target_names.is_empty() {
            self.tell("targets", about.target_names.clone());
        }
        if let Some(weight) = &about.weight {
            self.tell("weights", weight.to_string());
        }
        self.tell("scaled", model.scaling.is_some());
        self.tell("scaling", model.scaling.as_ref().map(scaling));
        self.tell("rows", progress.rows);
        self.tell("bad_rows", progress.bad);
        self.tell("learnt", progress.score.rounds());
        self.tell_rows(model.learner.learner());
        self.tell_outliers(&model.learner);
        // Not a number before the first row that counts, which JSON calls null.
        let units = if model.scaling.is_some() { "scaled units" } else { "the target's units" };
        self.tell("errors_in", units);
        self.tell("mse", progress.score.mse());
        self.tell("mae", progress.score.mae());
        if let Some(scaling) = model.scaling.as_ref().filter(|scaling| scaling.outputs() == 1) {
            self.tell("mse_in_own_units", progress.score.mse() * scaling.target_unit().powi(2));
        }
        let size = model.learner.dictionary_size();
        self.tell("dictionary_size", size);
        self.tell("tells_variance", model.learner.has_variance());
        if let Some(intervals) = &model.intervals {
            self.tell("intervals", intervals.conformal.params().coverage);
            self.tell("intervals_hold", coverage(&intervals.conformal));
        }
        let members: Option<Vec<Expert<'_>>> = match model.learner.learner() {
            AnyRegressor::Mixture(experts) => Some(experts.members().collect()),
            AnyRegressor::Auto(auto) => Some(auto.members().collect()),
            _ => None,
        };
        if let Some(members) = members {
            self.tell("members", members.iter().map(member).collect::<Value>());
        }
        let crowded = find(&about.learner).ok().and_then(|entry| notes::crowded(entry, progress.score.rounds(), size));
        self.tell("notes", crowded.into_iter().collect::<Vec<_>>());
    }

    fn tell_classification(&mut self, model: &Classification) {
        let (about, progress, learner) = (&model.description, &model.progress, model.classifier.learner());
        self.tell("learner", about.learner.as_str());
        self.tell("kernel", about.kernel.as_str());
        self.tell("parameters", object(&about.parameters));
        self.tell("seed", about.seed);
        self.tell("loss", learner.loss().to_string());
        self.tell("features", learner.dimension());
        self.tell("columns", about.features.clone());
        self.tell("target", about.target_name.clone());
        self.tell("weights", about.weight.as_ref().map(ToString::to_string));
        // Weights where rows have them: how many rows there were of each class.
        let count = |(class, name): (usize, &String)| (name.clone(), progress.score.weight_of(class).into());
        self.tell("classes", Value::Object(model.labels.names().iter().enumerate().map(count).collect()));
        self.tell("takes_new_classes", model.classifier.is_open());
        self.tell("scaled", model.scaling.is_some());
        self.tell("rows", progress.rows);
        self.tell("bad_rows", progress.bad);
        self.tell("learnt", progress.learnt);
        self.tell_rows(learner);
        self.tell("accuracy", progress.score.accuracy());
        self.tell("balanced_accuracy", progress.score.balanced_accuracy());
        self.tell("log_loss", progress.score.log_loss());
        self.tell("calibration_error", progress.score.calibration_error());
        self.tell("majority_accuracy", progress.score.majority());
        self.tell("dictionary_size", learner.dictionary_size());
    }

    fn tell_prediction(&mut self, model: &Prediction) {
        let forecaster = &model.forecaster;
        self.tell("forecaster", forecaster.name());
        self.tell("method", model.method.as_str());
        self.tell("parameters", Value::Object(forecast::parameters(model).collect()));
        self.tell("outputs", forecaster.outputs());
        self.tell("inputs", forecaster.inputs());
        self.tell("feed_through", forecaster.feed_through());
        self.tell("columns", model.columns.clone());
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

    fn tell_table(&mut self, model: &Table) {
        let (about, progress, pipeline) = (&model.description, &model.progress, &model.pipeline);
        let learner = pipeline.learner().learner();
        self.tell_learner(about);
        self.tell("features", learner.dimension());
        self.tell("columns", columns(model.encoding()));
        self.tell("target", about.target_name.clone());
        if !about.target_names.is_empty() {
            self.tell("targets", about.target_names.clone());
        }
        let scales: Vec<f64> = pipeline.learner().scales().iter().map(|scale| scale.scale()).collect();
        self.tell("target_scales", scales);
        if let Some(intervals) = &model.intervals {
            self.tell("intervals", intervals.conformal.params().coverage);
            self.tell("intervals_hold", coverage(&intervals.conformal));
        }
        self.tell("rows", progress.rows);
        self.tell("bad_rows", progress.bad);
        self.tell("learnt", progress.score.rounds());
        self.tell_rows(learner);
        self.tell_outliers(pipeline.learner());
        self.tell("mse", progress.score.mse());
        self.tell("mae", progress.score.mae());
        self.tell("dictionary_size", learner.dictionary_size());
    }

    fn tell_class_table(&mut self, model: &ClassTable) {
        let (about, progress, classifier) = (&model.description, &model.progress, model.pipeline.classifier());
        self.tell_learner(about);
        self.tell("loss", classifier.learner().loss().to_string());
        self.tell("features", classifier.learner().dimension());
        self.tell("columns", columns(model.encoding()));
        self.tell("target", about.target_name.clone());
        self.tell("classes", model.labels.names().to_vec());
        self.tell("rows", progress.rows);
        self.tell("bad_rows", progress.bad);
        self.tell("learnt", progress.learnt);
        self.tell_rows(classifier.learner());
        self.tell("accuracy", progress.score.accuracy());
        self.tell("balanced_accuracy", progress.score.balanced_accuracy());
        self.tell("log_loss", progress.score.log_loss());
        self.tell("dictionary_size", classifier.learner().dictionary_size());
    }

    fn tell_moments(&mut self, model: &Moments) {
        let about = &model.description;
        self.tell_learner(about);
        self.tell("features", model.sums.sums().features());
        self.tell("columns", model.encoding.as_ref().map_or_else(|| about.features.clone().into(), columns));
        self.tell("target", about.target_name.clone());
        if !about.target_names.is_empty() {
            self.tell("targets", about.target_names.clone());
        }
        if let Some(classes) = &model.classes {
            self.tell("classes", classes.names().to_vec());
        }
        match model.encoding {
            Some(_) => {
                self.tell("target_scales", model.target_scales.iter().map(|scale| scale.scale()).collect::<Value>());
            }
            None => self.tell("scaled", model.scaling.is_some()),
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

    /// The values that stand for none in the data, if some were told.
    fn tell_gaps(&mut self, about: &Description) {
        let gaps = known_gaps(&about.own);
        if !gaps.is_empty() {
            self.tell("gaps", gaps);
        }
    }

    /// What a learner was made of.
    fn tell_learner(&mut self, about: &Description) {
        self.tell("learner", about.learner.as_str());
        self.tell("kernel", about.kernel.as_str());
        self.tell("parameters", object(&about.parameters));
        self.tell("seed", about.seed);
        self.tell("weights", about.weight.as_ref().map(ToString::to_string));
        self.tell_gaps(about);
    }

    /// The row from which on rows are scored, and how often a learner has started anew if it does so.
    fn tell_rows(&mut self, learner: &AnyRegressor<AnyKernel>) {
        self.tell("scored_from_row", 1 + u64::from(matches!(learner, AnyRegressor::Auto(_))));
        if let AnyRegressor::Restarting(learner) = learner {
            self.tell("restarts", learner.restarts());
            self.tell("rows_since_restart", learner.rounds());
        }
    }

    /// What is done with implausible targets, and how many there were.
    fn tell_outliers(&mut self, learner: &ScaledTargets<AnyRegressor<AnyKernel>>) {
        self.tell("outliers", learner.outliers().name());
        self.tell("implausible_targets", learner.implausible().map_or(0, |found| found.rows));
    }
}

/// The share that each interval held; null before the first row.
fn coverage(intervals: &ConformalIntervals) -> Value {
    (0..intervals.outputs()).map(|output| Value::from(intervals.coverage(output))).collect()
}

/// The columns of a table, and what is done with them.
fn columns(encoding: &Encoding) -> Value {
    let columns = encoding.schema().columns().iter().enumerate();
    let aside = |column: &Column| (column.used == Use::SetAside).then(|| "the target, or a weight".to_owned());
    let rows = encoding.schema().rows();
    columns.map(|(place, column)| told(column, encoding.transform().treatment(place).or(aside(column)), rows)).collect()
}

/// How columns are scaled, and the range of the target that this goes by.
fn scaling(scaling: &Scaling) -> Value {
    let name = match scaling.scheme() {
        Scheme::PAPER01 => "paper01",
        Scheme::PAPER11 => "paper11",
        _ => "another",
    };
    let (low, high) = scaling.target_range();
    json!({ "scheme": name, "target_low": low, "target_high": high })
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
