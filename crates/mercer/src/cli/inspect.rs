//! `mercer inspect`: what a model file holds, or what the columns of data are.

mod data;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use mercer::catalogue::find;
use mercer::encoding::{Column, Encoding, Kind, ScaledTargets, Use};
use mercer::forecast::{ConformalIntervals, Forecaster};
use mercer::learners::Expert;
use mercer::model::{Description, Model, SeriesErrors, VERSION};
use mercer::readers::{Scaling, Scheme, TargetColumn, instant_text};
use mercer::{AnyKernel, AnyRegressor, Regressor, RegressorExt};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::dialect::{Dialect, known_gaps};
use super::encoded::facts_of;
use super::failure::Failure;
use super::plain::Plain;
use super::store::{self, Loaded};
use super::{forecast, notes, output, report};

/// Tell what a model file holds, or what the columns of data are
///
/// Of data the first 256 rows are read. For each column they tell its kind (number, category, time, text, constant or identifier), how many
/// of its cells are missing, how many different values it has, its smallest and largest number or time, and what `mercer eval` and `mercer train` do with it.
#[derive(Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub(crate) struct InspectArguments {
    /// A model file; or data: a file, `-` for standard input, or a data set's name
    file: PathBuf,
    /// Which column of data is the target, by name or by number from 1, or several with commas between; the last unless given
    #[arg(long, value_name = "NAME|INDEX,…")]
    target: Option<TargetColumn>,
    /// What the values of a column of data are: number, category, time, text or identifier; may be given several times
    #[arg(long = "as", value_name = "NAME=KIND")]
    kinds: Vec<String>,
    #[command(flatten)]
    dialect: Dialect,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  mercer inspect m.mercer
  mercer inspect sales.csv --target price --as shop=category
  zcat log.ndjson.gz | mercer inspect - --format ndjson --json
";

pub(crate) fn run(arguments: &InspectArguments) -> Result<(), Failure> {
    let facts = match data::facts(arguments)? {
        Some(facts) => facts,
        None if store::is_model(&arguments.file) => facts(&store::load(&arguments.file)?),
        None => {
            let hint = "if it is data, say how it is written with --format";
            facts(&store::load(&arguments.file).map_err(|failure| failure.with(hint))?)
        }
    };
    if arguments.json {
        return output::print(&report::json(&facts)?);
    }
    let mut text = format!("{}\n\n", Plain(&arguments.file.to_string_lossy()));
    for (name, fact) in &facts.0 {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<21}{}", name.replace('_', " "), words(fact));
    }
    output::print(&text)
}

/// What is to be said, in its order.
fn facts(Loaded { model, bytes }: &Loaded) -> Facts {
    let mut facts = Vec::new();
    let mut tell = |name: &'static str, fact: Value| facts.push((name, fact));
    tell("kind", model.kind().to_string().into());
    tell("format", VERSION.into());
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
            tell_rows(&mut tell, model.learner.learner());
            tell_outliers(&mut tell, &model.learner);
            // Not a number before the first row that counts, which JSON calls null.
            let units = if model.scaling.is_some() { "scaled units" } else { "the target's units" };
            tell("errors_in", units.into());
            tell("mse", progress.score.mse().into());
            tell("mae", progress.score.mae().into());
            if let Some(scaling) = model.scaling.as_ref().filter(|scaling| scaling.outputs() == 1) {
                tell("mse_in_own_units", (progress.score.mse() * scaling.target_unit().powi(2)).into());
            }
            let size = model.learner.dictionary_size();
            tell("dictionary_size", size.into());
            tell("tells_variance", model.learner.has_variance().into());
            if let Some(intervals) = &model.intervals {
                tell("intervals", intervals.conformal.params().coverage.into());
                tell("intervals_hold", coverage(&intervals.conformal));
            }
            let members: Option<Vec<Expert<'_>>> = match model.learner.learner() {
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
            tell_rows(&mut tell, learner);
            tell("accuracy", progress.score.accuracy().into());
            tell("balanced_accuracy", progress.score.balanced_accuracy().into());
            tell("log_loss", progress.score.log_loss().into());
            tell("calibration_error", progress.score.calibration_error().into());
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
            tell("intervals_hold", model.intervals.as_ref().map(coverage).into());
            if let Some(further) = &model.further {
                let horizons = (2..=further.steps()).filter_map(|step| further.horizon(step));
                tell("intervals_hold_further", horizons.map(coverage).collect());
            }
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
        Model::Table(model) => {
            let (about, progress, pipeline) = (&model.description, &model.progress, &model.pipeline);
            let learner = pipeline.learner().learner();
            tell_learner(&mut tell, about);
            tell("features", learner.dimension().into());
            tell("columns", columns(model.encoding()));
            tell("target", about.target_name.clone().into());
            if !about.target_names.is_empty() {
                tell("targets", about.target_names.clone().into());
            }
            let scales: Vec<f64> = pipeline.learner().scales().iter().map(|scale| scale.scale()).collect();
            tell("target_scales", scales.into());
            if let Some(intervals) = &model.intervals {
                tell("intervals", intervals.conformal.params().coverage.into());
                tell("intervals_hold", coverage(&intervals.conformal));
            }
            tell("rows", progress.rows.into());
            tell("bad_rows", progress.bad.into());
            tell("learnt", progress.score.rounds().into());
            tell_rows(&mut tell, learner);
            tell_outliers(&mut tell, pipeline.learner());
            tell("mse", progress.score.mse().into());
            tell("mae", progress.score.mae().into());
            tell("dictionary_size", learner.dictionary_size().into());
        }
        Model::ClassTable(model) => {
            let (about, progress, classifier) = (&model.description, &model.progress, model.pipeline.classifier());
            tell_learner(&mut tell, about);
            tell("loss", classifier.learner().loss().to_string().into());
            tell("features", classifier.learner().dimension().into());
            tell("columns", columns(model.encoding()));
            tell("target", about.target_name.clone().into());
            tell("classes", model.labels.names().to_vec().into());
            tell("rows", progress.rows.into());
            tell("bad_rows", progress.bad.into());
            tell("learnt", progress.learnt.into());
            tell_rows(&mut tell, classifier.learner());
            tell("accuracy", progress.score.accuracy().into());
            tell("balanced_accuracy", progress.score.balanced_accuracy().into());
            tell("log_loss", progress.score.log_loss().into());
            tell("dictionary_size", classifier.learner().dictionary_size().into());
        }
        Model::Moments(model) => {
            let about = &model.description;
            tell_learner(&mut tell, about);
            tell("features", model.sums.sums().features().into());
            tell("columns", model.encoding.as_ref().map_or_else(|| about.features.clone().into(), columns));
            tell("target", about.target_name.clone().into());
            if !about.target_names.is_empty() {
                tell("targets", about.target_names.clone().into());
            }
            if let Some(classes) = &model.classes {
                tell("classes", classes.names().to_vec().into());
            }
            match model.encoding {
                Some(_) => tell("target_scales", model.target_scales.iter().map(|scale| scale.scale()).collect()),
                None => tell("scaled", model.scaling.is_some().into()),
            }
            tell("rows", model.rows().into());
            tell("weight", model.sums.weight().into());
            let shards = model.parts.iter().map(|part| format!("{}/{}", part.shard, part.of));
            tell("shards", shards.collect());
            if let Ok(point) = model.point() {
                tell("lambda", point.lambda.into());
                tell("effective_dimension", point.effective_dimension.into());
                tell("r2", point.r2.into());
                tell("gcv", point.gcv.into());
            }
        }
        // Kinds to come are told by their name.
        _ => {}
    }
    Facts(facts)
}

/// The share that each interval held; null before the first row.
fn coverage(intervals: &ConformalIntervals) -> Value {
    (0..intervals.outputs()).map(|output| Value::from(intervals.coverage(output))).collect()
}

/// The values that stand for none in the data, if some were told.
fn tell_gaps(tell: &mut impl FnMut(&'static str, Value), about: &Description) {
    let gaps = known_gaps(&about.own);
    if !gaps.is_empty() {
        tell("gaps", gaps.into());
    }
}

/// What a learner was made of.
fn tell_learner(tell: &mut impl FnMut(&'static str, Value), about: &Description) {
    tell("learner", about.learner.as_str().into());
    tell("kernel", about.kernel.as_str().into());
    tell("parameters", object(&about.parameters));
    tell("seed", about.seed.into());
    tell("weights", about.weight.as_ref().map(ToString::to_string).into());
    tell_gaps(tell, about);
}

/// The row from which on rows are scored, and how often a learner has started anew if it does so.
fn tell_rows(tell: &mut impl FnMut(&'static str, Value), learner: &AnyRegressor<AnyKernel>) {
    tell("scored_from_row", (1 + u64::from(matches!(learner, AnyRegressor::Auto(_)))).into());
    if let AnyRegressor::Restarting(learner) = learner {
        tell("restarts", learner.restarts().into());
        tell("rows_since_restart", learner.rounds().into());
    }
}

/// What is done with implausible targets, and how many there were.
fn tell_outliers(tell: &mut impl FnMut(&'static str, Value), learner: &ScaledTargets<AnyRegressor<AnyKernel>>) {
    tell("outliers", learner.outliers().name().into());
    tell("implausible_targets", learner.implausible().map_or(0, |found| found.rows).into());
}

/// The columns of a table, and what is done with them.
fn columns(encoding: &Encoding) -> Value {
    let columns = encoding.schema().columns().iter().enumerate();
    let aside = |column: &Column| (column.used == Use::SetAside).then(|| "the target, or a weight".to_owned());
    let rows = encoding.schema().rows();
    columns.map(|(place, column)| told(column, encoding.transform().treatment(place).or(aside(column)), rows)).collect()
}

/// A column as `eval` tells it, what was seen of it, and what is done with it.
fn told(column: &Column, treatment: Option<String>, rows: u64) -> Value {
    let mut facts = facts_of(column, rows);
    (facts["missing"], facts["distinct"]) = (column.missing.into(), column.distinct.into());
    facts["treatment"] = treatment.unwrap_or_else(|| column.used.to_string()).into();
    // Of a category the numbers among its values say nothing.
    if let Some((low, high)) = column.range.filter(|_| column.kind != Kind::Category) {
        let value = |value: f64| if column.kind == Kind::Time { instant_text(value).into() } else { json!(value) };
        (facts["smallest"], facts["largest"]) = (value(low), value(high));
    }
    facts
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
    // What is done with a column says how it is used, and nothing is a poor reason.
    let shown = |(key, fact): &(&String, &Value)| !["name", "use"].contains(&&***key) && **fact != "";
    let mut facts: Vec<_> = thing.as_object().into_iter().flatten().filter(shown).collect();
    facts.sort_by_key(|(key, _)| *key != "kind");
    let facts: Vec<String> =
        facts.into_iter().map(|(key, fact)| format!("{} {}", key.replace('_', " "), words(fact))).collect();
    format!("{}: {}", words(&thing["name"]), facts.join(", "))
}
