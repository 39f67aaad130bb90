//! `mercer inspect`: what a model file holds.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use mercer::catalogue::find;
use mercer::data::{Scaling, Scheme};
use mercer::learners::Expert;
use mercer::learners::prediction::{ConformalIntervals, Forecaster};
use mercer::model::{Model, SeriesErrors};
use mercer::{AnyRegressor, Regressor};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::failure::Failure;
use super::plain::Plain;
use super::store::{self, Loaded};
use super::{forecast, notes, output, report};

/// Tell what a model file holds
#[derive(Args)]
pub(crate) struct InspectArguments {
    /// The file of the model
    model: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &InspectArguments) -> Result<(), Failure> {
    let facts = facts(&store::load(&arguments.model)?);
    if arguments.json {
        return output::print(&report::json(&facts)?);
    }
    let mut text = format!("{}\n\n", Plain(&arguments.model.to_string_lossy()));
    for (name, fact) in &facts.0 {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<21}{}", name.replace('_', " "), words(fact));
    }
    output::print(&text)
}

/// What is to be said, in its order.
fn facts(Loaded { model, version, bytes }: &Loaded) -> Facts {
    let mut facts = Vec::new();
    let mut tell = |name: &'static str, fact: Value| facts.push((name, fact));
    tell("kind", model.kind().to_string().into());
    tell("format", (*version).into());
    tell("bytes", (*bytes).into());
    match model {
        Model::Regression(model) => {
            let (about, progress) = (&model.description, &model.progress);
            tell("learner", about.learner.as_str().into());
            tell("kernel", about.kernel.as_str().into());
            tell("parameters", object(&about.parameters));
            tell("seed", about.seed.into());
            tell("features", model.learner.dimension().into());
            tell("columns", about.features.clone().into());
            tell("target", about.target_name.clone().into());
            if !about.target_names.is_empty() {
                tell("targets", about.target_names.clone().into());
            }
            if let Some(weight) = &about.weight {
                tell("weights", weight.to_string().into());
            }
            tell("scaled", model.scaling.is_some().into());
            tell("scaling", model.scaling.as_ref().map(scaling).into());
            tell("rows", progress.rows.into());
            tell("bad_rows", progress.bad.into());
            tell("learnt", progress.score.rounds().into());
            // Not a number before the first row, which JSON calls null.
            let units = if model.scaling.is_some() { "scaled units" } else { "the target's units" };
            tell("errors_in", units.into());
            tell("mse", progress.score.mse().into());
            tell("mae", progress.score.mae().into());
            if let Some(scaling) = model.scaling.as_ref().filter(|scaling| scaling.outputs() == 1) {
                tell("mse_in_own_units", (progress.score.mse() * scaling.target_unit().powi(2)).into());
            }
            let size = model.learner.dictionary_size();
            tell("dictionary_size", size.into());
            let members: Option<Vec<Expert<'_>>> = match &model.learner {
                AnyRegressor::Mixture(experts) => Some(experts.members().collect()),
                AnyRegressor::Auto(auto) => Some(auto.members().collect()),
                _ => None,
            };
            if let Some(members) = members {
                tell("members", members.iter().map(member).collect());
            }
            let crowded =
                find(&about.learner).ok().and_then(|entry| notes::crowded(entry, progress.score.rounds(), size));
            tell("notes", crowded.into_iter().collect::<Vec<_>>().into());
        }
        Model::Classification(model) => {
            let (about, progress, learner) = (&model.description, &model.progress, model.classifier.learner());
            tell("learner", about.learner.as_str().into());
            tell("kernel", about.kernel.as_str().into());
            tell("parameters", object(&about.parameters));
            tell("seed", about.seed.into());
            tell("loss", learner.loss().to_string().into());
            tell("features", learner.dimension().into());
            tell("columns", about.features.clone().into());
            tell("target", about.target_name.clone().into());
            tell("weights", about.weight.as_ref().map(ToString::to_string).into());
            // Weights where rows have them: how many rows there were of each class.
            let count = |(class, name): (usize, &String)| (name.clone(), progress.score.weight_of(class).into());
            tell("classes", Value::Object(model.labels.names().iter().enumerate().map(count).collect()));
            tell("takes_new_classes", model.classifier.is_open().into());
            tell("scaled", model.scaling.is_some().into());
            tell("rows", progress.rows.into());
            tell("bad_rows", progress.bad.into());
            tell("learnt", progress.learnt.into());
            tell("accuracy", progress.score.accuracy().into());
            tell("balanced_accuracy", progress.score.balanced_accuracy().into());
            tell("log_loss", progress.score.log_loss().into());
            tell("majority_accuracy", progress.score.majority().into());
            tell("dictionary_size", learner.dictionary_size().into());
        }
        Model::Prediction(model) => {
            let forecaster = &model.forecaster;
            tell("forecaster", forecaster.name().into());
            tell("method", model.method.as_str().into());
            tell("parameters", Value::Object(forecast::parameters(model).collect()));
            tell("outputs", forecaster.outputs().into());
            tell("inputs", forecaster.inputs().into());
            tell("feed_through", forecaster.feed_through().into());
            tell("columns", model.columns.clone().into());
            tell("observed", forecaster.time().into());
            tell("warmed_up", forecaster.warmed_up().into());
            tell("lags", forecaster.lags().into());
            let SeriesErrors { scored, sum, .. } = model.errors;
            tell("scored", scored.into());
            tell("mse", (sum / scored as f64).into());
            let coverage = |intervals: &ConformalIntervals| -> Value {
                (0..intervals.outputs()).map(|output| Value::from(intervals.coverage(output))).collect()
            };
            tell("intervals_hold", model.intervals.as_ref().map(coverage).into());
        }
        Model::Operator(model) => {
            let (learner, columns) = (model.learner.inner(), model.columns.clone());
            let operator = learner.operator();
            tell("input_kernel", operator.input_kernel().to_string().into());
            tell("output_kernel", operator.output_kernel().to_string().into());
            tell("parameters", object(&model.parameters));
            tell("input_dimension", operator.input_dimension().into());
            tell("output_dimension", operator.output_dimension().into());
            tell("columns", columns.into());
            tell("learnt", learner.rounds().into());
            tell("dictionary_size", json!([operator.inputs().len(), operator.outputs().len()]));
            tell("hs_norm", operator.hs_norm().into());
        }
        // Kinds to come are told by their name.
        _ => {}
    }
    Facts(facts)
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

/// Names with facts, as an object that keeps their order.
struct Facts(Vec<(&'static str, Value)>);

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, fact)| (name, fact)))
    }
}

/// A fact without the marks of JSON, and with its control characters escaped.
fn words(fact: &Value) -> String {
    match fact {
        Value::String(text) => Plain(text).to_string(),
        Value::Null => "none".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            list.iter().map(line).collect::<Vec<_>>().join(&format!("\n{:23}", ""))
        }
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            map.iter().map(|(key, value)| format!("{}={}", Plain(key), words(value))).collect::<Vec<_>>().join(" ")
        }
        number @ Value::Number(_) => number.to_string(),
    }
}

/// A thing with a name, and what is said of it.
fn line(thing: &Value) -> String {
    let facts = thing.as_object().into_iter().flatten().filter(|(key, _)| *key != "name");
    let facts: Vec<String> = facts.map(|(key, fact)| format!("{} {}", key.replace('_', " "), words(fact))).collect();
    format!("{}: {}", words(&thing["name"]), facts.join(", "))
}
