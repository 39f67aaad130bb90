//! From the JSON of a request to rows of values.

use std::collections::HashSet;
use std::fmt;

use bytes::Bytes;
use mercer_core::List;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value as Json};

use super::model::{Column, Row, Schema, Takes, Value};
use super::reading::{Held, SMALL, turn};
use super::refusal::Refusal;
use super::{Level, Service};

/// The largest number by absolute value: its square is far from the largest `f64`, so that a
/// learner is not made to diverge by one row.
pub(super) const MOST: f64 = 1e100;

/// The rows of a request.
pub(super) struct RequestRows {
    pub(super) rows: Vec<Row>,
    /// The ids of rows that were kept: then `rows` have targets and weights alone.
    pub(super) ids: Vec<String>,
    /// True if they came as one `row`, whose answer is one object.
    pub(super) single: bool,
    /// True if variances are asked for.
    pub(super) variance: bool,
    /// True if the rows are to be kept until their labels come.
    pub(super) keep: bool,
    /// The place of the number that is to be explained.
    pub(super) output: usize,
    /// A checksum of the body.
    pub(super) digest: u64,
    /// Their part of the budget.
    pub(super) held: Held,
    /// Their name.
    name: &'static str,
}

/// Purpose of rows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    Predict,
    Explain,
    Learn,
}

/// The names of a row and of several.
const ROWS: [&str; 2] = ["row", "rows"];
const LABELS: [&str; 2] = ["label", "labels"];

const LABEL_FORM: &str =
    "a label is {\"id\": ID, \"target\": VALUE}, of several targets an array, and may have a weight";

const FORM: &str = "send {\"row\": ROW} or {\"rows\": [ROW, …]}, where a ROW is {\"COLUMN\": VALUE, …} or [VALUE, …]";

impl RequestRows {
    /// # Errors
    /// 400 for what is not JSON, 422 for JSON of another form.
    pub(super) fn parse(body: &[u8], purpose: Purpose, service: &Service) -> Result<Self, Refusal> {
        Self::of(object(body, FORM)?, purpose, service)
    }

    /// The same of JSON that was read already.
    pub(super) fn of(mut body: Map<String, Json>, purpose: Purpose, service: &Service) -> Result<Self, Refusal> {
        let labels = purpose == Purpose::Learn && LABELS.iter().any(|name| body.contains_key(*name));
        let names @ [name, plural] = if labels { LABELS } else { ROWS };
        let [one, several] = names.map(|name| body.remove(name));
        let single = one.is_some();
        let rows = match (one, several) {
            (Some(row), None) => vec![row],
            (None, Some(Json::Array(rows))) => rows,
            (None, Some(other)) => {
                return Err(Refusal::unprocessable(format!("{plural} is {}; give an array", kind(&other))));
            }
            (None, None) => return Err(Refusal::unprocessable(format!("there is neither row nor rows; {FORM}"))),
            (Some(_), Some(_)) => {
                return Err(Refusal::unprocessable(format!("there are both {name} and {plural}; give one of them")));
            }
        };
        let most = service.options.limits.rows;
        if rows.len() > most {
            return Err(Refusal::unprocessable(format!(
                "there are {} rows; send {most} at most in a request",
                rows.len()
            )));
        }
        let mut asks = |name: &str| match body.remove(name) {
            Some(Json::Bool(asked)) => Ok(asked),
            Some(other) => Err(Refusal::unprocessable(format!("{name} is {}; give true or false", kind(&other)))),
            None => Ok(false),
        };
        let [variance, keep] = match purpose {
            Purpose::Predict => [asks("variance")?, asks("keep")?],
            Purpose::Explain | Purpose::Learn => [false; 2],
        };
        let output = if purpose == Purpose::Explain { output(body.remove("output"), &service.schema)? } else { 0 };
        if let Some(name) = body.keys().next() {
            return Err(Refusal::unprocessable(format!("{name:?} is not known here; {FORM}")));
        }
        let mut asked = Self {
            rows: Vec::with_capacity(rows.len()),
            ids: Vec::new(),
            single,
            variance,
            keep,
            output,
            digest: 0,
            held: Held::default(),
            name,
        };
        for (at, told) in rows.iter().enumerate() {
            let read = if labels {
                label_row(told, service).map(|(id, row)| {
                    asked.ids.push(id);
                    row
                })
            } else {
                row(told, purpose, service)
            };
            asked.rows.push(read.map_err(|why| Refusal::unprocessable(format!("{}: {why}", asked.place(at))))?);
        }
        Ok(asked)
    }

    /// Name of a row in messages.
    pub(super) fn place(&self, at: usize) -> String {
        if self.single { self.name.to_owned() } else { format!("{}s[{at}]", self.name) }
    }
}

/// The place of the number that is explained: the only one, or the one that is named.
fn output(asked: Option<Json>, schema: &Schema) -> Result<usize, Refusal> {
    let known = || format!("{:?}", schema.outputs).trim_matches(['[', ']']).to_owned();
    let why = match asked {
        None if schema.classes.is_some() || schema.outputs.len() == 1 => return Ok(0),
        None => format!("the model predicts {}; say with output which is explained", known()),
        Some(_) if schema.classes.is_some() => {
            "the model predicts classes, and output is for numbers; leave it out".to_owned()
        }
        Some(Json::String(name)) => match schema.outputs.iter().position(|output| *output == name) {
            Some(place) => return Ok(place),
            None => format!("output: the model predicts no {name:?}; its targets are {}", known()),
        },
        Some(other) => format!("output is {}; give the name of a target: {}", kind(&other), known()),
    };
    Err(Refusal::unprocessable(why))
}

/// The rows of a body. Those of many take their turn, and their bytes are held.
pub(super) async fn parse(
    body: Bytes,
    mut held: Held,
    purpose: Purpose,
    service: &Service,
) -> Result<RequestRows, Refusal> {
    let turn = match body.len() {
        0..SMALL => None,
        _ => Some(turn(service, service.options.limits.wait, "send fewer rows").await?),
    };
    let mut asked = RequestRows::parse(&body, purpose, service)?;
    asked.digest = service.once.digest(&body);
    drop(turn);
    let bytes = if body.len() < SMALL { 0 } else { asked.rows.iter().map(Row::bytes).sum() };
    drop(body);
    service.shared.budget.hold(&mut held, bytes).await?;
    asked.held = held;
    Ok(asked)
}

/// The values of a row: those of the columns, then the targets and the weight where they are
/// needed.
fn row(told: &Json, purpose: Purpose, service: &Service) -> Result<Row, String> {
    let schema = &service.schema;
    let (d, m) = (schema.columns.len(), schema.targets.len());
    let widths = schema.widths(purpose == Purpose::Learn);
    let width = widths.end();
    match told {
        Json::Array(values) if !widths.contains(&values.len()) => {
            let beside = match (purpose, &schema.weight) {
                _ if purpose != Purpose::Learn || schema.series.is_some() => String::new(),
                (_, None) => format!(", then {}", said(&schema.targets)),
                (_, Some(_)) => format!(", then {} and the weight", said(&schema.targets)),
            };
            return Err(format!("it has {} values and needs {width}: {d} features{beside}", values.len()));
        }
        Json::Object(_) if !schema.named => {
            return Err(format!("the columns of this model have no names; give an array of {width} values"));
        }
        Json::Object(told) if service.options.refuse_unknown => {
            let known: HashSet<&String> = schema.names().collect();
            if let Some(name) = told.keys().find(|name| !known.contains(name)) {
                return Err(format!("{name:?} is no column of this model; leave it out, or correct its name"));
            }
        }
        Json::Array(_) | Json::Object(_) => {}
        other => return Err(format!("it is {}; give an object or an array", kind(other))),
    }
    let at = |place: usize, name: &str| match told {
        Json::Array(values) => values.get(place),
        _ => told.get(name),
    };
    if let Json::Object(told) = told {
        tell_unknown(told, service);
    }
    let mut row = Row { values: Vec::with_capacity(d), targets: Vec::new(), weight: 1.0 };
    for (place, Column { name, takes, needed, .. }) in schema.columns.iter().enumerate() {
        let value = match (at(place, name), takes) {
            (None, _) if !needed => Ok(Value::Missing),
            (Some(Json::Null), Takes::NumberOrNull) => Ok(Value::Missing),
            (Some(nested @ (Json::Array(_) | Json::Object(_))), Takes::Any(of)) if !takes_lists(of) => {
                Err(format!("is {}; give a number, a text or null", kind(nested)))
            }
            (value, Takes::Any(_) | Takes::Time) => cell(value),
            (value, _) => number(value).map(Value::Number),
        };
        row.values.push(value.map_err(|why| format!("{name:?} {why}"))?);
    }
    if purpose != Purpose::Learn {
        return Ok(row);
    }
    for (place, name) in (d..).zip(&schema.targets) {
        row.targets.push(target(at(place, name), name, service)?);
    }
    if let Some(name) = &schema.weight {
        row.weight = weight(at(d + m, name), name)?;
    }
    Ok(row)
}

/// Tells, once by name, which values of a row are left out, and counts them.
fn tell_unknown(told: &Map<String, Json>, service: &Service) {
    let known = service.schema.names().filter(|name| told.contains_key(*name)).count();
    if told.len() == known {
        return;
    }
    let known: HashSet<&String> = service.schema.names().collect();
    for name in service.metrics.unknown(told.keys().filter(|name| !known.contains(name))) {
        let shown: String = name.chars().take(80).collect();
        (service.options.log)(
            Level::Warning,
            &format!("the model has no column {shown:?}; it is left out of all rows (--unknown refuse refuses them)"),
        );
    }
}

fn target(value: Option<&Json>, name: &str, service: &Service) -> Result<Value, String> {
    if service.schema.classes.is_some() {
        label(value, service.options.limits.class_name).map_err(|why| format!("the class {name:?} {why}"))
    } else {
        number(value).map(Value::Number).map_err(|why| format!("the target {name:?} {why}"))
    }
}

fn weight(value: Option<&Json>, name: &str) -> Result<f64, String> {
    let weight = number(value).ok().filter(|weight| *weight >= 0.0);
    weight.ok_or_else(|| {
        let told = value.map_or_else(|| "missing".to_owned(), kind);
        format!("the weight {name:?} is {told}; give a number from 0 to {MOST:e}")
    })
}

/// The id of a row that was kept, and its targets and weight.
fn label_row(told: &Json, service: &Service) -> Result<(String, Row), String> {
    let names = &service.schema.targets;
    let Json::Object(told) = told else { return Err(format!("it is {}; {LABEL_FORM}", kind(told))) };
    if let Some(other) = told.keys().find(|name| !["id", "target", "weight"].contains(&name.as_str())) {
        return Err(format!("{other:?} is not known here; {LABEL_FORM}"));
    }
    let (Some(Json::String(id)), Some(value)) = (told.get("id"), told.get("target")) else {
        return Err(format!("it has no text as id, or no target; {LABEL_FORM}"));
    };
    let values = match value {
        Json::Array(values) => values.iter().collect(),
        one => vec![one],
    };
    if values.len() != names.len() {
        return Err(format!("it has {} values as target and needs {}; {LABEL_FORM}", values.len(), names.len()));
    }
    let targets = values.into_iter().zip(names).map(|(value, name)| target(Some(value), name, service));
    let weight = match (told.get("weight"), &service.schema.weight) {
        (None, _) => 1.0,
        (value, Some(name)) => weight(value, name)?,
        (Some(_), None) => return Err("the rows of this model have no weight; leave it out".to_owned()),
    };
    Ok((id.clone(), Row { values: Vec::new(), targets: targets.collect::<Result<_, _>>()?, weight }))
}

fn said(targets: &[String]) -> String {
    if targets.len() == 1 { "the target".to_owned() } else { format!("{} targets", targets.len()) }
}

/// The class of a row.
fn label(value: Option<&Json>, longest: usize) -> Result<Value, String> {
    match value {
        Some(Json::String(text)) if text.trim().len() > longest => {
            Err(format!("has {} bytes; give a name of {longest} at most", text.trim().len()))
        }
        None => Err("is missing; give a text or a number".to_owned()),
        Some(Json::String(text)) if text.trim().is_empty() => Err("is an empty text; give its name".to_owned()),
        Some(Json::Null | Json::Array(_) | Json::Object(_)) => {
            Err(format!("is {}; give a text or a number", value.map_or_else(String::new, kind)))
        }
        _ => cell(value),
    }
}

/// True if a column of this kind has lists and objects: their members are tokens, as words are.
fn takes_lists(kind: &str) -> bool {
    ["list", "text"].contains(&kind)
}

/// A value of any kind.
fn cell(value: Option<&Json>) -> Result<Value, String> {
    match value {
        None => Err("is missing; give a value, or null if there is none".to_owned()),
        Some(Json::Null) => Ok(Value::Missing),
        Some(Json::Bool(value)) => Ok(Value::Truth(*value)),
        Some(Json::String(text)) => Ok(Value::Text(text.clone())),
        Some(Json::Number(_)) => number(value).map(Value::Number),
        Some(nested) => {
            let text = nested.to_string();
            List::read(&text).map_err(|why| why.to_string())?;
            Ok(Value::List(text))
        }
    }
}

pub(super) fn number(value: Option<&Json>) -> Result<f64, String> {
    let Some(value) = value else { return Err("is missing; give a number".to_owned()) };
    match value.as_f64() {
        Some(number) if number.abs() <= MOST => Ok(number),
        Some(_) => Err(format!("is {value}; give a number within ±{MOST:e}")),
        None => Err(format!("is {}; give a number", kind(value))),
    }
}

pub(super) fn kind(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(value) => value.to_string(),
        Json::String(_) => "a text".to_owned(),
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

/// The object of a body.
pub(super) fn object(body: &[u8], form: &str) -> Result<Map<String, Json>, Refusal> {
    let strict = serde_json::from_slice(body)
        .map_err(|error| Refusal::bad_request(&format!("the body is not JSON ({error}); {form}")))?;
    match strict {
        Strict(Json::Object(object)) => Ok(object),
        Strict(other) => Err(Refusal::unprocessable(format!("the body is {}; {form}", kind(&other)))),
    }
}

/// JSON in which no object has two values of one name: it could not be told which is meant.
struct Strict(Json);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = sequence.next_element()? {
            values.push(value);
        }
        Ok(Json::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Map::new();
        while let Some((name, Strict(value))) = entries.next_entry::<String, Strict>()? {
            match object.entry(name) {
                Entry::Vacant(place) => drop(place.insert(value)),
                Entry::Occupied(place) => return Err(A::Error::custom(format!("{:?} is there twice", place.key()))),
            }
        }
        Ok(Json::Object(object))
    }
}
