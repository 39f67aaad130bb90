//! The forms of requests and answers in tensors, for the OpenAPI document.

use serde_json::{Value as Json, json};

use super::super::model::Schema;
use super::{KINDS, outputs};

/// The forms by their names.
pub(in super::super) fn forms(schema: &Schema) -> Vec<(&'static str, Json)> {
    let text = json!({ "type": "string" });
    let truth = json!({ "type": "boolean" });
    let metadata = object(
        &["name", "datatype", "shape"],
        json!({
            "name": text, "datatype": { "enum": KINDS },
            "shape": { "type": "array", "items": { "type": "integer", "minimum": -1 }, "description": "-1 for as many as there are rows." },
        }),
    );
    let several = |name: &str| json!({ "type": "array", "items": reference(name) });
    let mut forms = vec![
        (
            "V2Server",
            object(
                &["name", "version", "extensions"],
                json!({ "name": text, "version": text, "extensions": { "type": "array", "items": text } }),
            ),
        ),
        ("V2Live", object(&["live", "status"], json!({ "live": truth, "status": text }))),
        ("V2Ready", object(&["ready", "status"], json!({ "ready": truth, "status": text }))),
        ("V2ModelReady", object(&["name", "ready", "status"], json!({ "name": text, "ready": truth, "status": text }))),
        ("V2Metadata", metadata),
        (
            "V2Model",
            object(
                &["name", "platform", "inputs", "outputs"],
                json!({
                    "name": text, "platform": text, "inputs": several("V2Metadata"), "outputs": several("V2Metadata"),
                }),
            ),
        ),
    ];
    if schema.series.is_none() {
        forms.extend(tensors(schema));
    }
    forms
}

/// The forms of `/infer`.
fn tensors(schema: &Schema) -> [(&'static str, Json); 5] {
    let text = json!({ "type": "string" });
    let shape = json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } });
    let free = json!({ "type": "object", "description": "Not looked at." });
    let columns: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    let mut input = object(
        &["name", "shape", "datatype", "data"],
        json!({
            "name": text, "shape": shape, "datatype": { "enum": KINDS }, "parameters": free,
            "data": { "type": "array", "items": {}, "description": "The values row by row; they may be nested as the shape is." },
        }),
    );
    input["description"] = format!(
        "One of the shape [rows, {}], or one of [rows] for each column by its name: {columns:?}",
        columns.len()
    )
    .into();
    input["additionalProperties"] = true.into();
    let all = outputs(schema);
    let names: Vec<&str> = all.iter().map(|of| of.name.as_str()).collect();
    let mut wanted = object(&["name"], json!({ "name": { "enum": names }, "parameters": free }));
    wanted["additionalProperties"] = true.into();
    let output = object(
        &["name", "shape", "datatype", "data"],
        json!({
            "name": { "enum": names }, "shape": shape, "datatype": { "enum": ["FP64", "BYTES"] },
            "data": { "type": "array", "items": { "type": ["number", "string", "null"] } },
        }),
    );
    let inputs = json!({ "type": "array", "items": reference("V2Input"), "minItems": 1 });
    let chosen = json!({ "type": "array", "items": reference("V2Wanted"), "description": "All, if it is not there." });
    let told = json!({ "type": "array", "items": reference("V2Output") });
    let asked = json!({ "id": text, "parameters": free, "inputs": inputs, "outputs": chosen });
    let answer = json!({ "model_name": text, "id": text, "outputs": told });
    [
        ("V2Input", input),
        ("V2Wanted", wanted),
        ("V2Output", output),
        ("V2InferRequest", object(&["inputs"], asked)),
        ("V2InferAnswer", object(&["model_name", "outputs"], answer)),
    ]
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn object(required: &[&str], properties: impl Into<Json>) -> Json {
    let properties = properties.into();
    json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false })
}
