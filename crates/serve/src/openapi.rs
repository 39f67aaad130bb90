//! The description of the service that machines read: OpenAPI 3.1, with the columns of the model.

use mercer_core::Oddity;
use serde_json::{Map, Value, json};

use super::Options;
use super::components;
use super::forecasts;
use super::functions;
use super::model::{Column, Schema, Takes};
use super::request::MOST;
use super::routes::MOST_EXPLAINED;
use super::v2;

mod operations;

const JSON: &str = "application/json";

/// The document.
pub(super) fn document(schema: &Schema, options: &Options) -> Value {
    let about = [&*schema.learner, &schema.details].join(", ");
    let mut components = json!({ "schemas": components::named(Forms { schema, options }.all()) });
    if options.access.tokens.exist() {
        components["securitySchemes"] = json!({ "token": { "type": "http", "scheme": "bearer" } });
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            // Generated clients are named by it.
            "title": "Mercer service",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!("A model of Mercer, which predicts and learns row by row: {}", about.trim_end_matches(", ")),
        },
        "paths": operations::paths(schema, options),
        "components": components,
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn refusal(why: &str) -> Value {
    json!({ "description": why, "content": { JSON: { "schema": reference("Error") } } })
}

/// An object that has these fields and no others.
fn object(required: &[&str], properties: impl Into<Value>) -> Value {
    json!({ "type": "object", "required": required, "properties": properties.into(), "additionalProperties": false })
}

fn number() -> Value {
    json!({ "type": "number", "minimum": -MOST, "maximum": MOST })
}

fn number_or_null() -> Value {
    json!({ "type": ["number", "null"] })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn weight() -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": MOST })
}

/// Parts of an answer about cells that are read otherwise than they stand, where there are some.
fn odd() -> [(&'static str, Value); 2] {
    let counts: Value = Oddity::ALL.into_iter().map(|oddity| (oddity.name().to_owned(), count())).collect();
    let mut of_column = counts.clone();
    of_column["name"] = json!({ "type": "string" });
    let columns = json!({
        "type": "array",
        "items": { "type": "object", "properties": of_column },
        "description": "The columns with cells that have no value, that do not fit, or that are categories without a number of their own.",
    });
    let counts = json!({ "type": "object", "properties": counts, "description": "The same of all columns." });
    [("columns", columns), ("counts", counts)]
}

fn health() -> Value {
    let told = "unsaved: the last attempt to write the model file failed; journal: it takes no rows";
    let status = json!({ "type": "string", "enum": ["ok", "unsaved", "journal"], "description": told });
    let form = json!({
        "status": status,
        "rows": count(),
        "learnt": count(),
        "dictionary_size": count(),
        "mean_loss": number_or_null(),
        "groups": object(&["open", "most"], json!({ "open": count(), "most": count() })),
    });
    object(&["status", "rows", "learnt", "dictionary_size", "mean_loss"], form)
}

fn groups() -> Value {
    let group = object(
        &["group", "rows", "learnt", "dictionary_size", "mean_loss", "unsaved"],
        json!({
            "group": { "type": "string" },
            "rows": count(),
            "learnt": count(),
            "dictionary_size": count(),
            "mean_loss": number_or_null(),
            "unsaved": { "type": "boolean", "description": "Whether the last attempt to write its model failed." },
        }),
    );
    object(&["groups", "most"], json!({ "groups": { "type": "array", "items": group }, "most": count() }))
}

fn compared() -> Value {
    let form = json!({
        "challenger": { "type": "string", "description": "Its learner." },
        "rows": count(),
        "refused": count(),
        "champion_loss": number_or_null(),
        "challenger_loss": number_or_null(),
        "difference": number_or_null(),
        "lower": number_or_null(),
        "upper": number_or_null(),
        "better": { "type": "string", "enum": ["champion", "challenger", "undecided"] },
        "unsaved": { "type": ["string", "null"], "description": "Why the challenger could not be saved." },
    });
    let losses = ["champion_loss", "challenger_loss", "difference", "lower", "upper"];
    object(&[&["challenger", "rows", "refused"][..], &losses, &["better"]].concat(), form)
}

/// The forms of requests and answers.
struct Forms<'a> {
    schema: &'a Schema,
    options: &'a Options,
}

impl Forms<'_> {
    fn all(&self) -> Map<String, Value> {
        let schema = self.schema;
        let (mut learnt, required) = self.prediction();
        let mut told = learnt.clone();
        let variance = if schema.has_variance { self.each(&number_or_null()) } else { json!({ "type": "null" }) };
        told.insert("variance".to_owned(), variance);
        told.insert("id".to_owned(), json!({ "type": "string", "description": "Of a row that is kept." }));
        let rows = json!({ "rows": count() });
        let (mut asked, mut predicted) = (self.request("Row", false), answer(&told, &required, "Prediction", false));
        if let Some(most) = schema.series {
            // Always a list, of as many rows as there are steps.
            [asked, predicted] = forecasts::forms(schema, most, predicted["oneOf"][1].take());
        }
        if schema.tells_parts {
            let mut anomaly = self.each(&json!({ "type": "boolean" }));
            anomaly["description"] = "Whether a value lay outside of the band of its forecast of one step.".into();
            learnt.insert("anomaly".to_owned(), anomaly);
        }
        let forms = json!({
            "Row": self.row(false),
            "LearnRow": self.row(true),
            "Label": self.label(),
            "PredictRequest": asked,
            "LearnRequest": self.request("LearnRow", true),
            "Prediction": object(&required, told),
            "LearntPrediction": object(&required, learnt.clone()),
            "PredictAnswer": predicted,
            "LearnAnswer": answer(&learnt, &required, "LearntPrediction", true),
            "ExplainRequest": self.explain_request(),
            "ExplainAnswer": explain_answer(),
            "Rows": object(&["rows"], rows),
            "Health": health(),
            "Groups": groups(),
            "Compared": compared(),
            "Curve": object(&["points"], json!({ "points": {
                "type": "array",
                "items": object(&["row", "loss"], json!({ "row": count(), "loss": number_or_null() })),
            } })),
            "Error": object(&["error"], json!({
                "error": { "type": "string", "description": "What is wrong, where, and how to mend it." },
                "learnt": count(),
            })),
        });
        let mut forms = if let Value::Object(forms) = forms { forms } else { Map::new() };
        let of_functions = functions::forms(schema, self.options.limits.rows);
        forms.extend(["FunctionsRequest", "FunctionsAnswer"].map(str::to_owned).into_iter().zip(of_functions));
        forms.extend(v2::forms(schema).into_iter().map(|(name, form)| (name.to_owned(), form)));
        forms
    }

    /// One value, or one for each output.
    fn each(&self, of: &Value) -> Value {
        let names = &self.schema.outputs;
        match names.len() {
            1 => of.clone(),
            m => {
                json!({ "type": "array", "items": of, "minItems": m, "maxItems": m, "description": names.join(", ") })
            }
        }
    }

    fn target(&self) -> Value {
        let name = json!({ "type": "string", "pattern": "\\S", "maxLength": self.options.limits.class_name });
        match self.schema.classes {
            Some(_) => json!({ "anyOf": [name, number(), { "type": "boolean" }] }),
            None => number(),
        }
    }

    fn label(&self) -> Value {
        let mut fields = json!({ "id": { "type": "string" }, "target": self.each(&self.target()) });
        if self.schema.weight.is_some() {
            fields["weight"] = weight();
        }
        object(&["id", "target"], fields)
    }

    fn row(&self, learn: bool) -> Value {
        let schema = self.schema;
        let widths = schema.widths(learn);
        let targets = schema.targets.iter().map(|_| self.target());
        let beside = targets.chain(schema.weight.iter().map(|_| weight())).filter(|_| learn);
        let values: Vec<Value> = schema.columns.iter().map(value).chain(beside).collect();
        let mut listed = json!({ "type": "array", "minItems": widths.start(), "maxItems": widths.end() });
        if values.iter().all(|value| *value == number()) {
            listed["items"] = number();
        } else {
            listed["prefixItems"] = values.clone().into();
        }
        let names: Vec<&String> = schema.names().take(*widths.end()).collect();
        listed["description"] = format!("The values in this order: {names:?}").into();
        if !schema.named {
            return listed;
        }
        let idle = |name: &String| schema.columns.iter().any(|column| !column.needed && column.name == *name);
        let required: Vec<&str> = names.iter().filter(|name| !idle(name)).map(|name| name.as_str()).collect();
        let properties: Map<String, Value> = names.iter().map(|name| (*name).clone()).zip(values).collect();
        let mut named = object(&required, properties);
        named["description"] = "The values by the names of their columns.".into();
        named["additionalProperties"] = (!self.options.refuse_unknown).into();
        json!({ "oneOf": [named, listed] })
    }

    fn request(&self, of: &str, learn: bool) -> Value {
        let most = self.options.limits.rows;
        let form = |[one, several]: [&str; 2], of: &str| {
            let forms =
                [(one, reference(of)), (several, json!({ "type": "array", "items": reference(of), "maxItems": most }))];
            forms.map(|(name, form)| {
                let mut fields = json!({ name: form });
                if !learn {
                    let told = "Whether to tell the variance of the target, which least-squares learners know.";
                    fields["variance"] = json!({ "type": "boolean", "description": told });
                    let told = "Whether the rows get ids and wait for their labels.";
                    fields["keep"] = json!({ "type": "boolean", "description": told });
                }
                object(&[name], fields)
            })
        };
        let mut forms = form(["row", "rows"], of).to_vec();
        if learn && self.schema.series.is_none() {
            forms.extend(form(["label", "labels"], "Label"));
        }
        json!({ "oneOf": forms })
    }

    fn explain_request(&self) -> Value {
        let most = self.options.limits.rows.min(MOST_EXPLAINED);
        let rows = json!({ "type": "array", "items": reference("Row"), "maxItems": most });
        let of = [("row", reference("Row")), ("rows", rows)];
        let several = self.schema.outputs.len() > 1;
        let form = of.map(|(name, told)| {
            let mut fields = json!({ name: told });
            if several {
                fields["output"] =
                    json!({ "enum": self.schema.outputs, "description": "The number that is explained." });
            }
            let required = if several { vec![name, "output"] } else { vec![name] };
            object(&required, fields)
        });
        json!({ "oneOf": form })
    }

    /// The fields of a prediction before learning, and those that are always there.
    fn prediction(&self) -> (Map<String, Value>, Vec<&'static str>) {
        let schema = self.schema;
        let mut told = Map::new();
        let mut required = vec!["prediction"];
        let mut tell = |name: &'static str, always: bool, form: Value| {
            told.insert(name.to_owned(), form);
            required.extend((always && name != "prediction").then_some(name));
        };
        if schema.classes.is_none() {
            tell("prediction", true, self.each(&json!({ "type": "number" })));
            for (end, share) in ["lower", "upper"].into_iter().zip(schema.interval_share.into_iter().cycle()) {
                let mut form = self.each(&number_or_null());
                let told = format!("The end of an interval that is to hold {} % of the targets", 100.0 * share);
                let of =
                    if schema.outputs.len() == 1 { String::new() } else { format!(": {}", schema.outputs.join(", ")) };
                form["description"] = format!("{told}{of}.").into();
                tell(end, true, form);
            }
            return (told, required);
        }
        let class = json!({ "type": ["string", "null"], "description": "The class; null before the first is known." });
        tell("prediction", true, class);
        if schema.has_probabilities {
            let share = json!({ "type": "number", "minimum": 0, "maximum": 1 });
            let by_class = json!({ "type": "object", "additionalProperties": share, "description": "By class." });
            tell("probabilities", true, by_class);
        }
        let score = "Of two classes: positive for the later one in sorted order.";
        tell("score", false, json!({ "type": "number", "description": score }));
        (told, required)
    }
}

/// Schema of the values that a column takes.
fn value(column: &Column) -> Value {
    match &column.takes {
        Takes::NumberOrNull => json!({ "type": ["number", "null"], "minimum": -MOST, "maximum": MOST }),
        Takes::Number => number(),
        Takes::Time => json!({
            "type": ["string", "number", "null"],
            "description": "The time of the row; without one it is the next.",
            "examples": column.categories,
        }),
        Takes::Any(kind) => {
            let mut value =
                json!({ "anyOf": [number(), { "type": ["string", "boolean", "array", "object", "null"] }] });
            let without = if column.needed { "" } else { ", which has no say" };
            let about = if column.about.is_empty() { String::new() } else { format!(" ({})", column.about) };
            value["description"] = format!("A {kind}{without}; null if there is no value.{about}").into();
            if !column.categories.is_empty() {
                value["examples"] = column.categories.iter().take(5).cloned().collect();
            }
            value
        }
    }
}

/// The answer to a question why.
fn explain_answer() -> Value {
    let by_column =
        |told: &str| json!({ "type": "object", "additionalProperties": { "type": "number" }, "description": told });
    let mut errors = by_column("Standard errors by column where effects are sampled; null where they are exact.");
    errors["type"] = json!(["object", "null"]);
    let row = object(
        &["prediction", "base", "effects", "standard_error"],
        json!({
            "prediction": { "type": "number", "description": "The number predicted; of classes the score of `class`." },
            "class": { "type": "string" },
            "output": { "type": "string", "description": "Of several numbers the one that is explained." },
            "base": { "type": "number", "description": "The prediction where no column is known." },
            "effects": by_column("By column; with the base they add up to the prediction."),
            "standard_error": errors,
        }),
    );
    let rows = object(&["explanations"], json!({ "explanations": { "type": "array", "items": row } }));
    json!({ "oneOf": [row, rows] })
}

/// The answer for a row with these fields, or for several; of learnt ones it tells how many rows
/// the model has met.
fn answer(fields: &Map<String, Value>, required: &[&str], of: &str, learnt: bool) -> Value {
    let several = json!({ "predictions": { "type": "array", "items": reference(of) } });
    let forms = [(Value::Object(fields.clone()), required), (several, &["predictions"][..])];
    let rows = json!({ "type": "integer", "minimum": 0, "description": "Rows that the model has met in its life." });
    let forms = forms.map(|(mut fields, required)| {
        let mut required = required.to_vec();
        for (name, told) in odd() {
            fields[name] = told;
        }
        if learnt {
            fields["rows"] = rows.clone();
            required.push("rows");
        }
        object(&required, fields)
    });
    json!({ "oneOf": forms })
}
