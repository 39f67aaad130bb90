//! `mercer inspect`: what a model file holds, or what the columns of data are.

mod data;
mod model;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use mercer::encoding::{Column, Kind};
use mercer::readers::{TargetColumn, instant_text};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::dialect::Dialect;
use super::encoded::facts_of;
use super::failure::Failure;
use super::plain::Plain;
use super::{output, report, store};

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
        None if store::is_model(&arguments.file) => model::facts(&store::load(&arguments.file)?),
        None => {
            let hint = "if it is data, say how it is written with --format";
            model::facts(&store::load(&arguments.file).map_err(|failure| failure.with(hint))?)
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

/// Names with facts, as an object that keeps their order.
#[derive(Default)]
struct Facts(Vec<(&'static str, Value)>);

impl Facts {
    fn tell(&mut self, name: &'static str, fact: impl Into<Value>) {
        self.0.push((name, fact.into()));
    }
}

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
