//! The inference protocol that KServe, Triton and MLflow share, version 2: tensors instead of rows.
//! A request is made into that of `/predict`, and its answer back into tensors.

use serde_json::{Map, Value as Json, json};

use super::model::{Prediction, Schema, Takes};
use super::refusal::Refusal;

/// What the paths below `/v2` are about, once the name of the model is taken out.
pub(super) fn known_path(path: &str, model: &str) -> Option<&'static str> {
    match path.strip_prefix("/v2/models/").and_then(|rest| rest.strip_prefix(model)) {
        Some("") => Some("/v2/models/MODEL"),
        Some("/ready") => Some("/v2/models/MODEL/ready"),
        Some("/infer") => Some("/v2/models/MODEL/infer"),
        _ => None,
    }
}

/// The service.
pub(super) fn server() -> Json {
    json!({ "name": "mercer", "version": env!("CARGO_PKG_VERSION"), "extensions": [] })
}

/// The model: a tensor for each column, or one of all where they are numbers.
pub(super) fn model(name: &str, schema: &Schema) -> Json {
    let kind = |takes: &Takes| if *takes == Takes::Number { "FP64" } else { "BYTES" };
    let column = |name: &String, kind: &str| json!({ "name": name, "datatype": kind, "shape": [-1] });
    let inputs: Vec<Json> = schema.columns.iter().map(|of| column(&of.name, kind(&of.takes))).collect();
    let answers = if schema.classes.is_some() { "BYTES" } else { "FP64" };
    let outputs: Vec<Json> = schema.outputs.iter().map(|name| column(name, answers)).collect();
    json!({ "name": name, "platform": format!("mercer-{}", schema.learner), "inputs": inputs, "outputs": outputs })
}

/// The rows of a request, as `/predict` has them, and its id.
///
/// # Errors
/// 422, if the tensors are not those of rows.
pub(super) fn rows(body: &Map<String, Json>, schema: &Schema) -> Result<(Vec<Json>, Option<Json>), Refusal> {
    let refused = |why: String| {
        Refusal::unprocessable(format!(
            "{why}; send {{\"inputs\": [{{\"name\", \"shape\", \"datatype\", \"data\"}}, …]}}"
        ))
    };
    let known = ["id", "parameters", "inputs", "outputs"];
    if let Some(other) = body.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(refused(format!("{other:?} is not known here")));
    }
    let inputs = body.get("inputs").and_then(Json::as_array).filter(|inputs| !inputs.is_empty());
    let inputs = inputs.ok_or_else(|| refused("there are no inputs".to_owned()))?;
    let tensors = inputs.iter().map(Tensor::read).collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let rows = match &tensors[..] {
        [Tensor { shape, data, .. }] if shape.len() == 2 && shape[1] == schema.columns.len() && shape[1] > 0 => {
            data.chunks(shape[1]).map(|row| json!(row)).collect()
        }
        tensors => by_column(tensors, schema).map_err(refused)?,
    };
    Ok((rows, body.get("id").cloned()))
}

/// Rows of a tensor for each column.
fn by_column(tensors: &[Tensor<'_>], schema: &Schema) -> Result<Vec<Json>, String> {
    let count = tensors.first().map_or(0, |first| first.data.len());
    for Tensor { name, shape, data } in tensors {
        if !schema.columns.iter().any(|column| column.name == *name) {
            return Err(format!("{name:?} is no column of this model"));
        }
        if tensors.iter().filter(|other| other.name == *name).count() > 1 {
            return Err(format!("{name:?} is there twice"));
        }
        if data.len() != count || !matches!(shape[..], [_] | [_, 1]) {
            return Err(format!("{name:?} has the shape {shape:?}, and a column has [{count}] or [{count}, 1]"));
        }
    }
    // A column that is missing is refused, or is not needed, as in any row.
    let cell = |column: &str, row: usize| {
        let tensor = tensors.iter().find(|tensor| tensor.name == column)?;
        Some((column.to_owned(), tensor.data[row].clone()))
    };
    let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    let row = |row: usize| match schema.named {
        true => Json::Object(names.iter().filter_map(|name| cell(name, row)).collect()),
        false => names.iter().map(|name| cell(name, row).map_or(Json::Null, |(_, value)| value)).collect(),
    };
    Ok((0..count).map(row).collect())
}

struct Tensor<'a> {
    name: &'a str,
    shape: Vec<usize>,
    data: Vec<Json>,
}

impl<'a> Tensor<'a> {
    fn read(told: &'a Json) -> Result<Self, String> {
        let name = told["name"].as_str().ok_or("an input has no name")?;
        let kinds =
            ["FP64", "FP32", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8", "BOOL", "BYTES"];
        if !told["datatype"].as_str().is_some_and(|kind| kinds.contains(&kind)) {
            return Err(format!(
                "{name:?} has the datatype {}, and takes one of {}",
                told["datatype"],
                kinds.join(", ")
            ));
        }
        let shape = told["shape"].as_array().map(|shape| shape.iter().map(Json::as_u64).collect::<Option<Vec<u64>>>());
        let shape: Vec<usize> =
            shape.flatten().ok_or_else(|| format!("{name:?} has no shape"))?.into_iter().map(|n| n as usize).collect();
        let mut data = Vec::new();
        flatten(told["data"].as_array().ok_or_else(|| format!("{name:?} has no data"))?, &mut data);
        let wanted = shape.iter().try_fold(1_usize, |product, n| product.checked_mul(*n));
        if wanted != Some(data.len()) {
            return Err(format!("{name:?} has {} values and the shape {shape:?}", data.len()));
        }
        Ok(Self { name, shape, data })
    }
}

/// Data may be nested as its shape is.
fn flatten(from: &[Json], into: &mut Vec<Json>) {
    for value in from {
        match value {
            Json::Array(nested) => flatten(nested, into),
            value => into.push(value.clone()),
        }
    }
}

/// The answer: a tensor for each output.
pub(super) fn answer(name: &str, id: Option<Json>, schema: &Schema, made: &[Prediction]) -> Json {
    let count = made.len();
    let tensor = |name: &str, kind: &str, data: Vec<Json>| json!({ "name": name, "datatype": kind, "shape": [count], "data": data });
    let mut outputs = Vec::new();
    for (at, output) in schema.outputs.iter().enumerate() {
        let value = |one: &Prediction| match one {
            Prediction::Numbers { values, .. } => json!(values.get(at)),
            Prediction::Class { name, .. } => json!(name),
        };
        let kind = if schema.classes.is_some() { "BYTES" } else { "FP64" };
        outputs.push(tensor(output, kind, made.iter().map(value).collect()));
        for (end, side) in ["lower", "upper"].into_iter().zip(0..).filter(|_| schema.has_intervals) {
            let value = |one: &Prediction| match one {
                Prediction::Numbers { lower, upper, .. } => json!([lower, upper][side].get(at)),
                Prediction::Class { .. } => Json::Null,
            };
            outputs.push(tensor(&format!("{output}_{end}"), "FP64", made.iter().map(value).collect()));
        }
    }
    let mut told = json!({ "model_name": name, "outputs": outputs });
    if let Some(id) = id {
        told["id"] = id;
    }
    told
}
