//! `mercer inspect`: what a model file holds, or what the columns of data are.

pub(crate) mod data;
mod model;
mod words;

use std::path::PathBuf;

use clap::Args;
use mercer_encoding::{Column, ColumnFacts, Face, Kind, Use};
use mercer_readers::{ColumnChoice, TargetColumn, instant_text};
use serde_json::json;

use crate::arguments::dialect::Dialect;
use crate::arguments::zone::ZoneArguments;
use crate::data::day_roll::are_of_day;
use crate::model::store;
use crate::report::facts::ToldColumn;
use crate::report::failure::Failure;
use crate::report::plain::Plain;

/// Tell what a model file holds, or what the columns of data are
///
/// Of data the first 256 rows are read. For each column they tell its kind (number, category, time,
/// text, constant or identifier), how many of its cells are missing, how many different values it
/// has, its smallest and largest number or time, and what `mercer eval` and `mercer train` do with
/// it.
#[derive(Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub(crate) struct InspectArguments {
    /// A model file; or data: a file, `-` for standard input, or a data set's name
    file: PathBuf,
    /// Which column of data is the target, by name or by number from 1, or several with commas
    /// between; the last unless given
    #[arg(long, value_name = "NAME|INDEX,…")]
    target: Option<TargetColumn>,
    /// Kind of the values of a column of data: number, duration, category, mean, time, text or
    /// identifier; may be given several times
    #[arg(long = "as", value_name = "NAME=KIND")]
    kinds: Vec<String>,
    #[command(flatten)]
    zone: ZoneArguments,
    /// Columns that are not looked at, by name or by number from 1, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<ColumnChoice>,
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
    facts.print(arguments.json, &format!("{}\n\n", Plain(&arguments.file.to_string_lossy())))
}

/// A column as `eval` tells it, what was seen of it, and what is done with it.
fn told(column: &Column, treatment: Option<String>, rows: u64) -> ToldColumn {
    let ColumnFacts { name, kind, mut used, mut why } = column.facts(rows, Face::Command);
    if column.used == Use::Identifier && treatment.is_some() {
        (used, why) = (Use::Encoded.to_string(), column.taken(Face::Command));
    }
    if let Some(counting) = column.counting(Face::Command) {
        why = counting;
    }
    // Of a category the numbers among its values say nothing.
    let range = column.range.filter(|_| column.kind != Kind::Category);
    let of_day = range.is_some_and(|(low, high)| column.kind == Kind::Time && are_of_day(&[low, high], true));
    let value = |value: f64| match column.kind {
        Kind::Time if of_day => instant_text(value)[11..].trim_end_matches('Z').into(),
        Kind::Time => instant_text(value).into(),
        _ => json!(value),
    };
    ToldColumn {
        distinct: column.distinct,
        kind,
        largest: range.map(|(_, high)| value(high)),
        missing: column.missing,
        name,
        smallest: range.map(|(low, _)| value(low)),
        treatment: treatment.unwrap_or_else(|| column.used.to_string()),
        used,
        why,
    }
}
