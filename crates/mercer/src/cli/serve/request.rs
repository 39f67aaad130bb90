//! From the JSON of a request to rows of numbers.

use mercer::data::{Example, Labels};
use serde_json::Value;

use super::Limits;
use super::routes::Refusal;
use super::schema::Schema;

/// The rows of a request.
pub(super) struct Asked {
    pub(super) examples: Vec<Example>,
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
    /// 400 for what is not JSON, 413 for too many rows, 422 for JSON of another form.
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
            return Err(Refusal::too_large(&format!(
                "there are {} rows; send {most} at most in a request",
                rows.len()
            )));
        }
        let mut variance = false;
        if let (Purpose::Predict, Some(asked)) = (purpose, body.remove("variance")) {
            let refused = || Refusal::unprocessable(format!("variance is {}; give true or false", kind(&asked)));
            variance = asked.as_bool().ok_or_else(refused)?;
        }
        if let Some(name) = body.keys().next() {
            return Err(Refusal::unprocessable(format!("{name:?} is not known here; {FORM}")));
        }
        let example = |(at, row): (usize, Value)| {
            example(&row, purpose, schema).map_err(|why| {
                Refusal::unprocessable(if single { format!("row: {why}") } else { format!("rows[{at}]: {why}") })
            })
        };
        let examples = rows.into_iter().enumerate().map(example).collect::<Result<_, _>>()?;
        Ok(Self { examples, single, variance })
    }
}

/// The columns of a row: the features, then the targets and the weight where they are needed.
fn example(row: &Value, purpose: Purpose, schema: &Schema) -> Result<Example, String> {
    let (d, m) = (schema.dimension, schema.targets.len());
    let width = schema.width(purpose == Purpose::Learn);
    let names = [&schema.features, &schema.targets];
    let column = |at: usize| match (row, names.into_iter().flatten().chain(&schema.weight).nth(at)) {
        (Value::Array(values), _) => values.get(at),
        (Value::Object(values), Some(name)) => values.get(name),
        _ => None,
    };
    match row {
        Value::Array(values) if values.len() != width => {
            let beside = match (purpose, &schema.weight) {
                (Purpose::Predict, _) => String::new(),
                (Purpose::Learn, None) => format!(", then {}", said(&schema.targets)),
                (Purpose::Learn, Some(_)) => format!(", then {} and the weight", said(&schema.targets)),
            };
            return Err(format!("it has {} values and needs {width}: {d} features{beside}", values.len()));
        }
        Value::Object(_) if schema.features.is_empty() => {
            return Err(format!("the columns of this model have no names; give an array of {width} values"));
        }
        Value::Array(_) | Value::Object(_) => {}
        other => return Err(format!("it is {}; give an object or an array", kind(other))),
    }
    let mut example = Example { weight: 1.0, ..Example::default() };
    example.features.reserve_exact(d);
    match row {
        Value::Array(values) => {
            for (at, value) in values[..d].iter().enumerate() {
                example
                    .features
                    .push(number(Some(value)).ok_or_else(|| not_a_number(&schema.feature(at), Some(value)))?);
            }
        }
        _ => {
            for (at, name) in schema.features.iter().enumerate() {
                let value = row.get(name);
                example.features.push(number(value).ok_or_else(|| not_a_number(&schema.feature(at), value))?);
            }
        }
    }
    if purpose == Purpose::Predict {
        return Ok(example);
    }
    if schema.classes.is_some() {
        label(column(d), &schema.targets[0], &mut example.label)?;
    } else {
        for (at, name) in schema.targets.iter().enumerate() {
            let value = column(d + at);
            let target = number(value).ok_or_else(|| not_a_number(&format!("the target {name:?}"), value))?;
            example.targets.push(target);
        }
    }
    if let Some(name) = &schema.weight {
        let value = column(d + m);
        let weight = number(value).filter(|weight| *weight >= 0.0);
        example.weight = weight.ok_or_else(|| {
            let told = value.map_or_else(|| "missing".to_owned(), kind);
            format!("the weight {name:?} is {told}; give a number of at least 0")
        })?;
    }
    Ok(example)
}

fn said(targets: &[String]) -> String {
    if targets.len() == 1 { "the target".to_owned() } else { format!("{} targets", targets.len()) }
}

/// The class of a row as files would have it.
fn label(value: Option<&Value>, name: &str, label: &mut String) -> Result<(), String> {
    match value {
        None => return Err(format!("the class {name:?} is missing; give a text or a number")),
        Some(Value::String(text)) => Labels::canonical(text, label),
        Some(Value::Bool(value)) => Labels::canonical(if *value { "true" } else { "false" }, label),
        Some(other) => match number(value) {
            Some(value) => Labels::canonical_number(value, label),
            None => return Err(format!("the class {name:?} is {}; give a text or a number", kind(other))),
        },
    }
    if label.is_empty() { Err(format!("the class {name:?} is an empty text; give its name")) } else { Ok(()) }
}

fn number(value: Option<&Value>) -> Option<f64> {
    value?.as_f64().filter(|value| value.is_finite())
}

fn not_a_number(name: &str, value: Option<&Value>) -> String {
    match value {
        None => format!("{name} is missing; give a number"),
        Some(value) => format!("{name} is {}; give a number", kind(value)),
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
