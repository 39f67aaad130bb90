//! From the JSON of a request to rows of numbers.

use mercer::data::{Cell, Labels, text_cell};
use serde_json::Value;

use super::Limits;
use super::routes::Refusal;
use super::schema::{Feature, Schema};
use crate::cli::encoded::Sample;

/// The largest number by absolute value: its square is far from the largest `f64`, so that a learner is not made to diverge by one row.
pub(super) const MOST: f64 = 1e100;

/// The rows of a request.
pub(super) struct Asked {
    pub(super) samples: Vec<Sample>,
    /// Whether they came as one `row`, whose answer is one object.
    pub(super) single: bool,
    /// Whether variances are asked for.
    pub(super) variance: bool,
}

/// What is to become of rows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Purpose {
    Predict,
    Learn,
}

const FORM: &str = "send {\"row\": ROW} or {\"rows\": [ROW, …]}, where a ROW is {\"COLUMN\": VALUE, …} or [VALUE, …]";

impl Asked {
    /// # Errors
    /// 400 for what is not JSON, 422 for JSON of another form.
    pub(super) fn parse(body: &[u8], purpose: Purpose, schema: &Schema, limits: &Limits) -> Result<Self, Refusal> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| Refusal::bad_request(&format!("the body is not JSON ({error}); {FORM}")))?;
        let Value::Object(mut body) = value else {
            return Err(Refusal::unprocessable(format!("the body is {}; {FORM}", kind(&value))));
        };
        let (row, rows) = (body.remove("row"), body.remove("rows"));
        let single = row.is_some();
        let rows = match (row, rows) {
            (Some(row), None) => vec![row],
            (None, Some(Value::Array(rows))) => rows,
            (None, Some(other)) => {
                return Err(Refusal::unprocessable(format!("rows is {}; give an array of rows", kind(&other))));
            }
            (None, None) => return Err(Refusal::unprocessable(format!("there is neither row nor rows; {FORM}"))),
            (Some(_), Some(_)) => {
                return Err(Refusal::unprocessable("there are both row and rows; give one of them".to_owned()));
            }
        };
        let most = limits.max_rows as usize;
        if rows.len() > most {
            return Err(Refusal::unprocessable(format!(
                "there are {} rows; send {most} at most in a request",
                rows.len()
            )));
        }
        let mut variance = false;
        if purpose == Purpose::Predict
            && let Some(asked) = body.remove("variance")
        {
            let refused = || Refusal::unprocessable(format!("variance is {}; give true or false", kind(&asked)));
            variance = asked.as_bool().ok_or_else(refused)?;
        }
        if let Some(name) = body.keys().next() {
            return Err(Refusal::unprocessable(format!("{name:?} is not known here; {FORM}")));
        }
        let sample = |(at, row): (usize, Value)| {
            sample(&row, purpose, schema).map_err(|why| {
                Refusal::unprocessable(if single { format!("row: {why}") } else { format!("rows[{at}]: {why}") })
            })
        };
        let samples = rows.into_iter().enumerate().map(sample).collect::<Result<_, _>>()?;
        Ok(Self { samples, single, variance })
    }
}

/// How many rows of a series are asked for.
///
/// # Errors
/// 400 for what is not JSON, 422 for JSON of another form.
pub(super) fn steps(body: &[u8], most: usize) -> Result<usize, Refusal> {
    let form = "send {\"steps\": H}, where H is how many rows ahead to forecast";
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Refusal::bad_request(&format!("the body is not JSON ({error}); {form}")))?;
    let Value::Object(body) = value else {
        return Err(Refusal::unprocessable(format!("the body is {}; {form}", kind(&value))));
    };
    if let Some(name) = body.keys().find(|name| *name != "steps") {
        return Err(Refusal::unprocessable(format!("{name:?} is not known here; {form}")));
    }
    let Some(asked) = body.get("steps") else { return Ok(1) };
    // A whole number may be written as 2.0.
    let steps = asked.as_f64().filter(|steps| steps.fract() == 0.0 && (1.0..=most as f64).contains(steps));
    steps.map(|steps| steps as usize).ok_or_else(|| {
        let told = if most == 1 {
            "1, since the inputs of later rows are not known".to_owned()
        } else {
            format!("a whole number from 1 to {most}")
        };
        Refusal::unprocessable(format!("steps is {}; give {told}", kind(asked)))
    })
}

/// The columns of a row: the features, then the targets and the weight where they are needed.
fn sample(row: &Value, purpose: Purpose, schema: &Schema) -> Result<Sample, String> {
    let (d, m) = (schema.features.len(), schema.targets.len());
    let width = schema.width(purpose == Purpose::Learn);
    match row {
        Value::Array(values) if values.len() != width => {
            let beside = match (purpose, &schema.weight) {
                _ if purpose == Purpose::Predict || schema.series.is_some() => String::new(),
                (_, None) => format!(", then {}", said(&schema.targets)),
                (_, Some(_)) => format!(", then {} and the weight", said(&schema.targets)),
            };
            return Err(format!("it has {} values and needs {width}: {d} features{beside}", values.len()));
        }
        Value::Object(_) if !schema.named => {
            return Err(format!("the columns of this model have no names; give an array of {width} values"));
        }
        Value::Array(_) | Value::Object(_) => {}
        other => return Err(format!("it is {}; give an object or an array", kind(other))),
    }
    let column = |at: usize, name: &str| match row {
        Value::Array(values) => values.get(at),
        _ => row.get(name),
    };
    let mut sample = Sample::default();
    let Sample { example, record } = &mut sample;
    example.weight = 1.0;
    match &schema.record {
        None => {
            example.features.reserve_exact(d);
            for (at, Feature { name, gaps, .. }) in schema.features.iter().enumerate() {
                let value = match column(at, name) {
                    Some(Value::Null) if *gaps => Ok(f64::NAN),
                    value => number(value),
                };
                example.features.push(value.map_err(|why| format!("{name:?} {why}"))?);
            }
        }
        Some(layout) => {
            let mut cells = vec![Cell::Missing; layout.width];
            for (at, feature) in schema.features.iter().enumerate() {
                let value = column(at, &feature.name);
                if value.is_none() && !feature.needed {
                    continue;
                }
                cells[feature.place] = cell(value).map_err(|why| format!("{:?} {why}", feature.name))?;
            }
            if purpose == Purpose::Learn {
                let names = schema.targets.iter().chain(&schema.weight).enumerate();
                for ((at, name), &place) in names.zip(layout.targets.iter().chain(&layout.weight)) {
                    cells[place] = cell(column(d + at, name)).map_err(|why| format!("{name:?} {why}"))?;
                }
            }
            cells.into_iter().for_each(|cell| record.push(cell));
        }
    }
    if purpose == Purpose::Predict {
        return Ok(sample);
    }
    if schema.classes.is_some() {
        let name = &schema.targets[0];
        label(column(d, name), &mut example.label).map_err(|why| format!("the class {name:?} {why}"))?;
    } else {
        for (at, name) in schema.targets.iter().enumerate() {
            let target = number(column(d + at, name)).map_err(|why| format!("the target {name:?} {why}"))?;
            example.targets.push(target);
        }
    }
    if let Some(name) = &schema.weight {
        let value = column(d + m, name);
        let weight = number(value).ok().filter(|weight| *weight >= 0.0);
        example.weight = weight.ok_or_else(|| {
            let told = value.map_or_else(|| "missing".to_owned(), kind);
            format!("the weight {name:?} is {told}; give a number from 0 to {MOST:e}")
        })?;
    }
    Ok(sample)
}

fn said(targets: &[String]) -> String {
    if targets.len() == 1 { "the target".to_owned() } else { format!("{} targets", targets.len()) }
}

/// The class of a row as files would have it.
fn label(value: Option<&Value>, label: &mut String) -> Result<(), String> {
    match value {
        None => return Err("is missing; give a text or a number".to_owned()),
        Some(Value::String(text)) => Labels::canonical(text, label),
        Some(Value::Bool(value)) => Labels::canonical(if *value { "true" } else { "false" }, label),
        Some(Value::Number(_)) => Labels::canonical_number(number(value)?, label),
        Some(other) => return Err(format!("is {}; give a text or a number", kind(other))),
    }
    if label.is_empty() { Err("is an empty text; give its name".to_owned()) } else { Ok(()) }
}

/// A cell of a table as files would have it.
fn cell(value: Option<&Value>) -> Result<Cell<'_>, String> {
    match value {
        None => Err("is missing; give a value, or null if there is none".to_owned()),
        Some(Value::Null) => Ok(Cell::Missing),
        Some(Value::Bool(value)) => Ok(Cell::Text(if *value { "true" } else { "false" })),
        Some(Value::String(text)) => Ok(text_cell(text)),
        Some(Value::Number(_)) => number(value).map(Cell::Number),
        Some(nested) => Err(format!("is {}; give a number, a text or null", kind(nested))),
    }
}

fn number(value: Option<&Value>) -> Result<f64, String> {
    let Some(value) = value else { return Err("is missing; give a number".to_owned()) };
    match value.as_f64() {
        Some(number) if number.abs() <= MOST => Ok(number),
        Some(_) => Err(format!("is {value}; give a number within ±{MOST:e}")),
        None => Err(format!("is {}; give a number", kind(value))),
    }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
