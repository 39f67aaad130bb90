//! The description of the service that machines read: OpenAPI 3.1, with the columns of the model.

use serde_json::{Map, Value, json};

use super::Options;
use super::model::{Column, Schema, Takes};
use super::request::MOST;

/// The document.
pub(super) fn document(schema: &Schema, options: &Options) -> Value {
    let access = &options.access;
    let title = [&*schema.learner, &schema.details].join(", ");
    let mut paths = Map::new();
    let mut path = |name: &str, operations: Value| paths.insert(name.to_owned(), operations);
    path(
        "/predict",
        json!({ "post": post("predict", "Predict rows; nothing is learnt", "PredictRequest", "PredictAnswer", &[]) }),
    );
    if access.closed.is_none() {
        let mut learn = post(
            "learn",
            "Predict rows, then learn them, in the order in which requests arrive",
            "LearnRequest",
            "LearnAnswer",
            &[("503", "The service is ending.")],
        );
        if access.token.is_some() {
            learn["security"] = json!([{ "token": [] }]);
            learn["responses"]["401"] = refusal("The token is missing or another one.");
        }
        path("/learn", json!({ "post": learn }));
    }
    let json_of = |schema: &str| json!({ "application/json": { "schema": reference(schema) } });
    let mut health = get("health", "How the service is", &json_of("Health"));
    health["get"]["responses"]["503"] =
        json!({ "description": "What was learnt could not be saved.", "content": json_of("Health") });
    path("/health", health);
    for (name, summary) in [("live", "Whether the service works"), ("ready", "Whether the service takes requests")] {
        let state = json!({ "application/json": { "schema": { "type": "object" } } });
        let mut operation = get(name, summary, &state);
        operation["get"]["responses"]["503"] = json!({ "description": "It does not.", "content": state });
        path(&format!("/health/{name}"), operation);
    }
    path(
        "/curve",
        get("curve", "The mean loss of predictions before learning, since the service began", &json_of("Curve")),
    );
    path(
        "/metrics",
        get(
            "metrics",
            "Counters as Prometheus reads them",
            &json!({ "text/plain": { "schema": { "type": "string" } } }),
        ),
    );
    let mut model_file =
        get("model", "The model file as it would be saved now", &json!({ "application/octet-stream": {} }));
    model_file["get"]["responses"]["409"] = refusal("The model holds what no file can, such as an infinite number.");
    model_file["get"]["responses"]["503"] = refusal("The service is ending.");
    if access.token.is_some() {
        model_file["get"]["security"] = json!([{ "token": [] }]);
        model_file["get"]["responses"]["401"] = refusal("The token is missing or another one.");
    }
    path("/model", model_file);
    path(
        "/openapi.json",
        get("openapi", "This document", &json!({ "application/json": { "schema": { "type": "object" } } })),
    );
    path("/", get("page", "A page for people", &json!({ "text/html": { "schema": { "type": "string" } } })));
    let mut components = json!({ "schemas": schemas(schema, options) });
    if access.token.is_some() {
        components["securitySchemes"] = json!({ "token": { "type": "http", "scheme": "bearer" } });
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": title.trim_end_matches(", "),
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A model of Mercer, which predicts and learns row by row.",
        },
        "paths": paths,
        "components": components,
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn refusal(why: &str) -> Value {
    json!({ "description": why, "content": { "application/json": { "schema": reference("Error") } } })
}

fn get(name: &str, summary: &str, content: &Value) -> Value {
    json!({ "get": {
        "operationId": name,
        "summary": summary,
        "responses": { "200": { "description": summary, "content": content } },
    } })
}

fn post(name: &str, summary: &str, request: &str, answer: &str, more: &[(&str, &str)]) -> Value {
    let mut responses = json!({
        "200": { "description": "The predictions.", "content": { "application/json": { "schema": reference(answer) } } },
        "400": refusal("The body is not JSON, or cannot be read."),
        "408": refusal("The body did not come in time."),
        "413": refusal("The body is too large."),
        "403": refusal("The request names a host that is not this machine."),
        "415": refusal("The body is not said to be JSON, or it is compressed."),
        "422": refusal("The JSON does not describe rows of this model, or the learner refuses a row. Rows before it that were learnt are counted in `learnt`."),
    });
    for (status, why) in more {
        responses[*status] = refusal(why);
    }
    json!({
        "operationId": name,
        "summary": summary,
        "requestBody": { "required": true, "content": { "application/json": { "schema": reference(request) } } },
        "responses": responses,
    })
}

/// What answers tell of cells that are read otherwise than they stand, where there are some.
fn odd() -> [(String, Value); 2] {
    let count = json!({ "type": "integer", "minimum": 0 });
    let counts = json!({ "gaps": count, "misfits": count, "hashed": count });
    let mut of_column = counts.clone();
    of_column["name"] = json!({ "type": "string" });
    let columns = json!({
        "type": "array",
        "items": { "type": "object", "properties": of_column },
        "description": "The columns with cells that have no value, that do not fit, or that are categories without a number of their own.",
    });
    let counts = json!({ "type": "object", "properties": counts, "description": "The same of all columns." });
    [("columns".to_owned(), columns), ("counts".to_owned(), counts)]
}

fn schemas(schema: &Schema, options: &Options) -> Value {
    let limits = &options.limits;
    let number = json!({ "type": "number", "minimum": -MOST, "maximum": MOST });
    let maybe = json!({ "type": ["number", "null"] });
    // One number, or one for each target.
    let m = schema.outputs.len();
    let each = |of: &Value| match m {
        1 => of.clone(),
        _ => {
            json!({ "type": "array", "items": of, "minItems": m, "maxItems": m, "description": schema.outputs.join(", ") })
        }
    };
    let class = json!({ "anyOf": [{ "type": "string", "pattern": "\\S", "maxLength": limits.class_name }, number, { "type": "boolean" }] });
    let target = if schema.classes.is_some() { &class } else { &number };
    let weight = json!({ "type": "number", "minimum": 0, "maximum": MOST });

    let cell = json!({ "anyOf": [number, { "type": ["string", "boolean", "null"] }] });
    let value = |column: &Column| match &column.takes {
        Takes::NumberOrNull => {
            let mut value = number.clone();
            value["type"] = json!(["number", "null"]);
            value
        }
        Takes::Number => number.clone(),
        Takes::Any(kind) => {
            let mut value = cell.clone();
            let without = if column.needed { "" } else { ", which has no say" };
            value["description"] = format!("A {kind}{without}; null if there is no value.").into();
            if !column.categories.is_empty() {
                value["examples"] = column.categories.iter().take(5).cloned().collect();
            }
            value
        }
    };

    let row = |learn: bool| {
        let width = schema.width(learn);
        let beside = std::iter::repeat_n(target.clone(), schema.targets.len())
            .chain(schema.weight.iter().map(|_| weight.clone()));
        let values: Vec<Value> = schema.columns.iter().map(value).chain(beside.filter(|_| learn)).collect();
        let mut listed = json!({ "type": "array", "minItems": width, "maxItems": width });
        if values.iter().all(|value| *value == number) {
            listed["items"] = number.clone();
        } else {
            listed["prefixItems"] = values.clone().into();
        }
        let columns = schema.columns.iter().map(|column| &column.name);
        let names: Vec<&String> =
            columns.chain(schema.targets.iter().chain(&schema.weight).filter(|_| learn)).collect();
        listed["description"] = format!("The values in this order: {names:?}").into();
        if !schema.named {
            return listed;
        }
        let idle: Vec<&String> =
            schema.columns.iter().filter(|column| !column.needed).map(|column| &column.name).collect();
        let required: Vec<&&String> = names.iter().filter(|name| !idle.contains(name)).collect();
        let properties: Map<String, Value> = names.iter().map(|name| (*name).clone()).zip(values).collect();
        let named = json!({
            "type": "object",
            "required": required,
            "properties": properties,
            "description": "The values by the names of their columns.",
            "additionalProperties": !options.refuse_unknown,
        });
        json!({ "oneOf": [named, listed] })
    };
    let request = |of: &str, variance: bool| {
        let mut one = json!({ "row": reference(of) });
        let mut several = json!({ "rows": { "type": "array", "items": reference(of), "maxItems": limits.rows } });
        if variance {
            for properties in [&mut one, &mut several] {
                properties["variance"] = json!({
                    "type": "boolean",
                    "description": "Whether to tell the variance of the target, which least-squares learners know.",
                });
            }
        }
        json!({ "oneOf": [
            { "type": "object", "required": ["row"], "properties": one, "additionalProperties": false },
            { "type": "object", "required": ["rows"], "properties": several, "additionalProperties": false },
        ] })
    };

    let mut told = Map::new();
    let mut required = vec!["prediction"];
    if schema.classes.is_some() {
        let of_class =
            json!({ "type": ["string", "null"], "description": "The class; null before the first is known." });
        told.insert("prediction".to_owned(), of_class);
        if schema.has_probabilities {
            let number = json!({ "type": "number", "minimum": 0, "maximum": 1 });
            let maps = json!({ "type": "object", "additionalProperties": number, "description": "By class." });
            told.insert("probabilities".to_owned(), maps);
            required.push("probabilities");
        }
        let score =
            json!({ "type": "number", "description": "Of two classes: positive for the later one in sorted order." });
        told.insert("score".to_owned(), score);
    } else {
        told.insert("prediction".to_owned(), each(&json!({ "type": "number" })));
        if schema.has_intervals {
            for end in ["lower", "upper"] {
                told.insert(end.to_owned(), each(&maybe));
                required.push(end);
            }
        }
    }
    let learnt = told.clone();
    let mut variance = each(&maybe);
    if !schema.has_variance {
        variance = json!({ "type": "null" });
    }
    told.insert("variance".to_owned(), variance);
    let rows = json!({ "type": "integer", "minimum": 0, "description": "Rows that the model has met in its life." });
    let odd = odd();
    let answer = |fields: &Map<String, Value>, of: &str, rows: Option<&Value>| {
        let (mut one, mut one_required) = (fields.clone(), required.clone());
        let mut several = json!({ "predictions": { "type": "array", "items": reference(of) } });
        let mut several_required = vec!["predictions"];
        for (name, told) in odd.clone() {
            several[&name] = told.clone();
            one.insert(name, told);
        }
        if let Some(rows) = rows {
            one.insert("rows".to_owned(), rows.clone());
            several["rows"] = rows.clone();
            one_required.push("rows");
            several_required.push("rows");
        }
        json!({ "oneOf": [
            { "type": "object", "required": one_required, "properties": one, "additionalProperties": false },
            { "type": "object", "required": several_required, "properties": several, "additionalProperties": false },
        ] })
    };
    let object = |fields: &Map<String, Value>| json!({ "type": "object", "required": required, "properties": fields, "additionalProperties": false });
    let (mut asked, mut predicted) = (request("Row", true), answer(&told, "Prediction", None));
    if let Some(most) = schema.series {
        let steps = json!({ "type": "integer", "minimum": 1, "maximum": most, "default": 1, "description": "How many rows ahead." });
        asked = json!({ "type": "object", "properties": { "steps": steps }, "additionalProperties": false });
        if !schema.known.is_empty() {
            let count = schema.known.len();
            let row = json!({ "type": "array", "items": { "type": "number" }, "minItems": count, "maxItems": count });
            let told = format!("In the rows to come: {}.", schema.known.join(", "));
            asked["properties"]["inputs"] = json!({ "type": "array", "items": row, "description": told });
        }
        // Always a list, of as many rows as there are steps.
        predicted = predicted["oneOf"][1].take();
    }
    json!({
        "Row": row(false),
        "LearnRow": row(true),
        "PredictRequest": asked,
        "LearnRequest": request("LearnRow", false),
        "Prediction": object(&told),
        "LearntPrediction": object(&learnt),
        "PredictAnswer": predicted,
        "LearnAnswer": answer(&learnt, "LearntPrediction", Some(&rows)),
        "Health": {
            "type": "object",
            "required": ["status", "rows", "learnt", "dictionary_size", "mean_loss"],
            "properties": {
                "status": { "enum": ["ok", "unsaved"], "description": "unsaved: the last attempt to write the model file failed" },
                "rows": rows,
                "learnt": { "type": "integer", "minimum": 0, "description": "Rows learnt since the service began." },
                "dictionary_size": { "type": "integer", "minimum": 0 },
                "mean_loss": maybe,
            },
            "additionalProperties": false,
        },
        "Curve": {
            "type": "object",
            "required": ["points"],
            "properties": { "points": { "type": "array", "items": {
                "type": "object",
                "required": ["row", "loss"],
                "properties": { "row": { "type": "integer", "minimum": 0 }, "loss": maybe },
                "additionalProperties": false,
            } } },
            "additionalProperties": false,
        },
        "Error": {
            "type": "object",
            "required": ["error"],
            "properties": {
                "error": { "type": "string", "description": "What is wrong, where, and how to mend it." },
                "learnt": { "type": "integer", "minimum": 0 },
            },
            "additionalProperties": false,
        },
    })
}
