//! The inference protocol that KServe, Triton and MLflow share, version 2: tensors instead of rows.
//! A request is made into that of `/predict`, and its answer back into tensors.

mod forms;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hyper::Request;
use hyper::body::Incoming;
use serde_json::{Map, Value as Json, json};

use super::Service;
use super::model::{Prediction, Row, Schema, Takes};
use super::reading::{TURN, read, turn};
use super::refusal::Refusal;
use super::request::{self, Purpose, RequestRows};

pub(super) use forms::forms;

/// The types of values in tensors.
const KINDS: [&str; 12] =
    ["FP64", "FP32", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8", "BOOL", "BYTES"];

/// What the paths below `/v2` are about, once the name of the model is taken out.
pub(super) fn known_path(path: &str, model: &str) -> Option<&'static str> {
    match path.strip_prefix("/v2/models/").and_then(|rest| rest.strip_prefix(model)) {
        Some("") => Some("/v2/models/MODEL"),
        Some("/ready") => Some("/v2/models/MODEL/ready"),
        Some("/infer") => Some("/v2/models/MODEL/infer"),
        _ => None,
    }
}

/// A path as clients ask for it, with the name of the model.
pub(super) fn place(path: &str, model: &str) -> String {
    match path.strip_prefix("/v2/models/MODEL") {
        Some(rest) => format!("/v2/models/{model}{rest}"),
        None => path.to_owned(),
    }
}

/// Tells whether the service, or its model, takes requests.
pub(super) fn readiness(path: &str, model: &str, ready: bool) -> Json {
    match path {
        "/v2/health/ready" => json!({ "ready": ready }),
        _ => json!({ "name": model, "ready": ready }),
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
    let outputs: Vec<Json> = outputs(schema).iter().map(|of| column(&of.name, of.kind)).collect();
    json!({ "name": name, "platform": format!("mercer-{}", schema.learner), "inputs": inputs, "outputs": outputs })
}

/// A tensor of answers.
struct OutputTensor {
    name: String,
    kind: &'static str,
    /// The place of the output among those of the model.
    output: usize,
    part: Part,
}

#[derive(Clone, Copy)]
enum Part {
    Value,
    Lower,
    Upper,
}

/// All tensors of answers: one for each output, and the ends of its intervals where it has some.
fn outputs(schema: &Schema) -> Vec<OutputTensor> {
    let kind = if schema.classes.is_some() { "BYTES" } else { "FP64" };
    let of = |(output, name): (usize, &String)| {
        let value = OutputTensor { name: name.clone(), kind, output, part: Part::Value };
        let ends =
            [("lower", Part::Lower), ("upper", Part::Upper)].into_iter().filter(|_| schema.interval_share.is_some());
        let end = |(end, part)| OutputTensor { name: format!("{name}_{end}"), kind: "FP64", output, part };
        std::iter::once(value).chain(ends.map(end)).collect::<Vec<_>>()
    };
    schema.outputs.iter().enumerate().flat_map(of).collect()
}

impl OutputTensor {
    fn value(&self, of: &Prediction) -> Json {
        match (of, self.part) {
            (Prediction::Class { name, .. }, Part::Value) => json!(name),
            (Prediction::Class { .. }, Part::Lower | Part::Upper) => Json::Null,
            (Prediction::Numbers { values, .. }, Part::Value) => json!(values.get(self.output)),
            (Prediction::Numbers { lower, .. }, Part::Lower) => json!(lower.get(self.output)),
            (Prediction::Numbers { upper, .. }, Part::Upper) => json!(upper.get(self.output)),
        }
    }
}

/// The answer to a request for predictions.
///
/// # Errors
/// 422, if the tensors are not those of rows that the model predicts, or others are asked for than
/// it has.
pub(super) async fn infer(request: Request<Incoming>, service: &Arc<Service>) -> Result<Json, Refusal> {
    let Service { schema, options, .. } = &**service;
    if schema.series.is_some() {
        return Err(Refusal::unprocessable("a series is forecast by /predict, with {\"steps\": H}".to_owned()));
    }
    let (body, mut held) = read(request, service).await?;
    let _turn = turn(service, options.limits.wait, "send fewer rows").await?;
    let body = request::object(&body, "send the tensors of the version 2 inference protocol")?;
    let asked = read_request(&body, schema)?;
    let rows = Map::from_iter([("rows".to_owned(), asked.rows.into())]);
    let rows = RequestRows::of(rows, Purpose::Predict, service)?.rows;
    service.shared.budget.hold(&mut held, rows.iter().map(Row::bytes).sum()).await?;
    let mut made = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        if at.is_multiple_of(TURN) {
            tokio::task::yield_now().await;
        }
        let predicted = service.model.read().await.predict(row, false);
        made.push(predicted.map_err(|why| Refusal::unprocessable(format!("row {at}: {why}")))?);
    }
    service.metrics.predictions.fetch_add(made.len() as u64, Relaxed);
    let tensor = |of: &OutputTensor| {
        let data: Json = made.iter().map(|one| of.value(one)).collect();
        json!({ "name": of.name, "datatype": of.kind, "shape": [made.len()], "data": data })
    };
    let mut told =
        json!({ "model_name": options.model_name, "outputs": asked.outputs.iter().map(tensor).collect::<Vec<_>>() });
    if let Some(id) = asked.id {
        told["id"] = id.into();
    }
    Ok(told)
}

/// The wishes of a request.
struct TensorQuery {
    /// The rows, as `/predict` has them.
    rows: Vec<Json>,
    outputs: Vec<OutputTensor>,
    id: Option<String>,
}

fn read_request(body: &Map<String, Json>, schema: &Schema) -> Result<TensorQuery, Refusal> {
    let refused = |why: String| {
        Refusal::unprocessable(format!(
            "{why}; send {{\"inputs\": [{{\"name\", \"shape\", \"datatype\", \"data\"}}, …]}}"
        ))
    };
    let known = ["id", "parameters", "inputs", "outputs"];
    if let Some(other) = body.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(refused(format!("{other:?} is not known here")));
    }
    let id = match body.get("id") {
        None => None,
        Some(Json::String(id)) => Some(id.clone()),
        Some(other) => return Err(refused(format!("the id is {}, and takes a text", request::kind(other)))),
    };
    let inputs = body.get("inputs").and_then(Json::as_array).filter(|inputs| !inputs.is_empty());
    let inputs = inputs.ok_or_else(|| refused("there are no inputs".to_owned()))?;
    let tensors = inputs.iter().map(Tensor::read).collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let rows = match &tensors[..] {
        [Tensor { shape, data, .. }] if shape.len() == 2 && shape[1] == schema.columns.len() && shape[1] > 0 => {
            data.chunks(shape[1]).map(|row| json!(row)).collect()
        }
        tensors => by_column(tensors, schema).map_err(refused)?,
    };
    let outputs = wanted(body.get("outputs"), outputs(schema)).map_err(refused)?;
    Ok(TensorQuery { rows, outputs, id })
}

/// The tensors that a request names, in its order; all if it names none.
fn wanted(told: Option<&Json>, mut all: Vec<OutputTensor>) -> Result<Vec<OutputTensor>, String> {
    let Some(told) = told else { return Ok(all) };
    let told = told.as_array().ok_or_else(|| format!("outputs is {}, and takes an array", request::kind(told)))?;
    if told.is_empty() {
        return Ok(all);
    }
    let names: Vec<String> = all.iter().map(|of| of.name.clone()).collect();
    let mut take = |one: &Json| {
        let name = one["name"].as_str().ok_or("an output has no name")?;
        let at = all.iter().position(|of| of.name == name);
        let refused = || match names.iter().any(|known| known == name) {
            true => format!("the output {name:?} is there twice"),
            false => format!("{name:?} is no output of this model, which has {}", names.join(", ")),
        };
        at.map(|at| all.remove(at)).ok_or_else(refused)
    };
    told.iter().map(&mut take).collect()
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
        if !told["datatype"].as_str().is_some_and(|kind| KINDS.contains(&kind)) {
            return Err(format!(
                "{name:?} has the datatype {}, and takes one of {}",
                told["datatype"],
                KINDS.join(", ")
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
