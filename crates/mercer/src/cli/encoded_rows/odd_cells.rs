//! What is told of the columns of a table: what each is, once, and the odd cells of each, the first
//! by its place and all by their number.

use mercer::encoding::{Column, Encoding, EncodingOptions, Kind, Notation, Oddity, Schema, Use};
use mercer::readers::Record;
use serde_json::{Value, json};

use crate::cli::verbosity;

/// Columns that are told one by one.
const MOST_TOLD: usize = 30;

/// How many cells of which column were odd.
#[derive(Default)]
pub(crate) struct Oddities {
    counts: Vec<((usize, Oddity), u64)>,
    /// Columns that the table does not have.
    lacking: Vec<String>,
}

impl Oddities {
    /// Of a table that has not all columns.
    pub(crate) fn lacking(columns: &[String]) -> Self {
        Self { counts: Vec::new(), lacking: columns.to_vec() }
    }

    /// Tells what is odd in a record, which is to be encoded by `encoding` and stands at `place`.
    pub(crate) fn tell(&mut self, encoding: &Encoding, record: &Record, place: impl Fn() -> String) {
        for odd in encoding.transform().oddities(record) {
            if let Some((_, count)) = self.counts.iter_mut().find(|(known, _)| *known == odd) {
                *count += 1;
                continue;
            }
            self.counts.push((odd, 1));
            let (column, oddity) = odd;
            let Column { name, missing, .. } = &encoding.schema().columns()[column];
            let what = match oddity {
                Oddity::NewCategory => "has no number of its own for this category and hashes it",
                // What the first rows have is told with the column.
                Oddity::Gap if *missing > 0 || self.lacking.contains(name) => continue,
                Oddity::Gap => "is empty and counts as missing",
                _ => "does not fit its column and counts as missing",
            };
            verbosity::remark(format!("{}, column {name:?}: {what}", place()));
        }
    }

    /// What was odd in all rows, column by column.
    pub(crate) fn report(&self, encoding: &Encoding) {
        for ((column, oddity), count) in &self.counts {
            let name = &encoding.schema().columns()[*column].name;
            if *count > 1 && !self.lacking.contains(name) {
                verbosity::remark(format!("column {name:?}: {count} cells {}", oddity_words(*oddity)));
            }
        }
    }

    /// The same as an object: how many cells were what.
    pub(crate) fn counts(&self) -> Value {
        let all = |wanted: Oddity| -> u64 {
            self.counts.iter().filter(|((_, oddity), _)| *oddity == wanted).map(|(_, count)| count).sum()
        };
        json!({ "gaps": all(Oddity::Gap), "misfits": all(Oddity::Misfit), "hashed": all(Oddity::NewCategory) })
    }
}

fn oddity_words(oddity: Oddity) -> &'static str {
    match oddity {
        Oddity::NewCategory => "of categories without a number of their own",
        Oddity::Gap => "empty, counted as missing",
        _ => "did not fit and counted as missing",
    }
}

/// What each column is that is no plain number, in lines for people.
pub(crate) fn tell_columns(encoding: &Encoding) {
    let schema = encoding.schema();
    let told: Vec<String> = schema.columns().iter().filter_map(|column| told(column, schema.rows())).collect();
    told.iter().take(MOST_TOLD).for_each(verbosity::remark);
    if told.len() > MOST_TOLD {
        verbosity::remark(format!("and {} columns more; mercer inspect tells all", told.len() - MOST_TOLD));
    }
}

/// What may surprise of a table that is read as numbers as they are.
pub(crate) fn tell_plain(schema: &Schema) {
    for Column { name, kind, used, why, .. } in schema.columns() {
        if *used == Use::Unwanted || (*used == Use::SetAside && *kind != Kind::Category) {
            continue;
        }
        if *kind == Kind::Identifier {
            verbosity::remark(format!("column {name:?}: {}", taken(name)));
        } else if !why.is_empty() {
            let what = if *used == Use::SetAside { "target or weight".to_owned() } else { kind.to_string() };
            verbosity::remark(format!("column {name:?}: {what}, {why}"));
        }
    }
}

/// Why a column that names rows is a number, where all columns are.
pub(crate) fn taken(name: &str) -> String {
    format!("counts the rows, and is taken as a number; --as '{name}=identifier' leaves it out")
}

/// The columns as JSON.
pub(crate) fn columns(encoding: &Encoding) -> Value {
    let rows = encoding.schema().rows();
    encoding.schema().columns().iter().map(|column| facts_of(column, rows)).collect()
}

/// A column as JSON: what it is, what is done with it, and why.
pub(crate) fn facts_of(column: &Column, rows: u64) -> Value {
    let Column { name, kind, used, .. } = column;
    json!({ "name": name, "kind": kind.to_string(), "use": used.to_string(), "why": why(column, rows) })
}

/// A column that is no plain number, in words.
pub(crate) fn told(column: &Column, rows: u64) -> Option<String> {
    let name = &column.name;
    let why = why(column, rows);
    Some(match column.used {
        Use::SetAside if column.kind == Kind::Number => {
            format!("column {name:?}: target or weight, {}", column.notation.words()?)
        }
        Use::SetAside if column.kind == Kind::Category && !column.why.is_empty() => {
            format!("column {name:?}: target or weight, {}", column.why)
        }
        Use::SetAside | Use::Unwanted => return None,
        Use::Encoded if column.kind == Kind::Number && why.is_empty() => return None,
        Use::Encoded if column.kind == Kind::Constant && column.range.is_some() && column.missing == 0 => return None,
        Use::Encoded if why.is_empty() => format!("column {name:?}: {}", column.kind),
        Use::Encoded => format!("column {name:?}: {}, {why}", column.kind),
        _ => format!("column {name:?}: {why}"),
    })
}

/// Why a column is what it is, and what would make it another thing.
fn why(column: &Column, rows: u64) -> String {
    let Column { name, kind, used, missing, distinct, notation, why, .. } = column;
    let mut parts = Vec::new();
    match (used, kind) {
        (Use::Identifier, _) if column.range.is_some() => {
            return format!("left out, for it names rows; --as '{name}=number' or '{name}=category' takes it");
        }
        (Use::Identifier, _) => return format!("left out, for it names rows; --as '{name}=category' takes it"),
        (Use::Text, _) if why.is_empty() => {
            return format!("left out, for it is text; --as '{name}=category' takes it");
        }
        (Use::Text, _) => return format!("left out, for {why}"),
        (Use::Late, _) => {
            return format!("has no value in the first {rows} rows, and begins with the first that it has");
        }
        (Use::Encoded, Kind::Category) if *distinct > EncodingOptions::default().categories as u64 => {
            parts.push(format!("{distinct} values so far; --as '{name}=mean' takes the mean target of each"));
        }
        (_, Kind::Category | Kind::Mean) => parts.push(format!("{distinct} values so far")),
        _ => {}
    }
    if *notation != Notation::Plain
        && let Some(words) = notation.words()
    {
        parts.push(words);
    }
    if *missing > 0 {
        parts.push(format!("{missing} of the first {rows} cells missing"));
    }
    if !why.is_empty() {
        parts.push(why.clone());
    }
    parts.join(", ")
}
