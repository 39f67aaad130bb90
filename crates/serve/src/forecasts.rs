//! Forecasts of a series: what may be asked of the rows to come, and the answer.

use serde_json::{Map, Value as Json, json};

use super::model::{ForecastAnswer, ForecastQuery, ForecastRows, Schema};
use super::refusal::Refusal;
use super::request::{kind, number, object};

/// Most scenarios in a request.
pub(super) const MOST_SCENARIOS: usize = 20;

/// The object that tells rows to come.
fn rows_json(told: ForecastRows, schema: &Schema) -> Json {
    let rows: Vec<Json> = told.rows.iter().map(|row| row.json(schema, false)).collect();
    let mut object = json!({ "predictions": rows });
    for (name, value) in [("times", told.times.map(Json::from)), ("parts", told.parts)] {
        if let Some(value) = value {
            object[name] = value;
        }
    }
    object
}

/// The object that tells an answer.
pub(super) fn answer(made: ForecastAnswer, schema: &Schema) -> Json {
    let mut object = rows_json(made.ahead, schema);
    if !made.scenarios.is_empty() {
        object["scenarios"] = made.scenarios.into_iter().map(|(name, rows)| (name, rows_json(rows, schema))).collect();
    }
    for (name, value) in [("input_effects", made.input_effects), ("anomalies", made.anomalies)] {
        if let Some(value) = value {
            object[name] = value;
        }
    }
    object
}

/// Reads what is asked for.
///
/// # Errors
/// 400 for what is not JSON, 422 for JSON of another form.
pub(super) fn query(body: &[u8], schema: &Schema, most: usize) -> Result<ForecastQuery, Refusal> {
    let known = &schema.known;
    let mut form = match &known[..] {
        [] => "send {\"steps\": H}, where H is how many rows ahead to forecast".to_owned(),
        _ => format!(
            "send {{\"steps\": H, \"inputs\": [ROW, ...]}}, where H is how many rows ahead to forecast, and each ROW an array of its {}",
            known.join(", ")
        ),
    };
    if schema.tells_parts {
        form += "; \"parts\", \"input_effects\" and \"anomalies\" may be true";
        form += if known.is_empty() { "" } else { ", and \"scenarios\" an object of such inputs" };
    }
    let body = object(body, &form)?;
    let takes = |name: &str| match name {
        "steps" => true,
        "inputs" => !known.is_empty(),
        "scenarios" => schema.tells_parts && !known.is_empty(),
        "parts" | "input_effects" | "anomalies" => schema.tells_parts,
        _ => false,
    };
    if let Some(name) = body.keys().find(|name| !takes(name)) {
        return Err(Refusal::unprocessable(format!("{name:?} is not known here; {form}")));
    }
    // A whole number may be written as 2.0.
    let whole =
        |asked: &Json| asked.as_f64().filter(|steps| steps.fract() == 0.0 && (1.0..=most as f64).contains(steps));
    let steps = body.get("steps").map_or(Ok(1.0), |asked| {
        let refused = || format!("steps is {}; give a whole number from 1 to {most}", kind(asked));
        whole(asked).ok_or_else(|| Refusal::unprocessable(refused()))
    })? as usize;
    let asks = |name: &str| match body.get(name) {
        None => Ok(false),
        Some(Json::Bool(asked)) => Ok(*asked),
        Some(other) => Err(Refusal::unprocessable(format!("{name} is {}; give true or false", kind(other)))),
    };
    let rows = |place: &str, told: &Json| inputs(place, told, known, (steps, &form));
    Ok(ForecastQuery {
        steps,
        inputs: body.get("inputs").map_or(Ok(Vec::new()), |told| rows("inputs", told))?,
        scenarios: body.get("scenarios").map_or(Ok(Vec::new()), |told| scenarios(told, (steps, most), rows))?,
        parts: asks("parts")?,
        input_effects: asks("input_effects")?,
        anomalies: asks("anomalies")?,
    })
}

/// The inputs of at most so many rows to come, row by row.
fn inputs(place: &str, told: &Json, known: &[String], (steps, form): (usize, &str)) -> Result<Vec<f64>, Refusal> {
    let rows = told.as_array().filter(|rows| rows.len() <= steps);
    let refused = || format!("{place} is not an array of at most {steps} rows; {form}");
    let rows = rows.ok_or_else(|| Refusal::unprocessable(refused()))?;
    let mut inputs = Vec::with_capacity(rows.len() * known.len());
    for (at, row) in rows.iter().enumerate() {
        let cells = row.as_array().filter(|cells| cells.len() == known.len());
        let cells = cells.ok_or_else(|| Refusal::unprocessable(format!("{place}[{at}] is no row; {form}")))?;
        for (name, cell) in known.iter().zip(cells) {
            let value = number(Some(cell));
            inputs.push(value.map_err(|why| Refusal::unprocessable(format!("{place}[{at}]: {name:?} {why}")))?);
        }
    }
    Ok(inputs)
}

/// The inputs by scenario, which together have no more steps than a forecast may have.
fn scenarios(
    told: &Json,
    (steps, most): (usize, usize),
    rows: impl Fn(&str, &Json) -> Result<Vec<f64>, Refusal>,
) -> Result<Vec<(String, Vec<f64>)>, Refusal> {
    let refused = |why: String| Refusal::unprocessable(format!("scenarios {why}"));
    let by_name = told.as_object().ok_or_else(|| refused(format!("is {}; give an object of inputs", kind(told))))?;
    let count = by_name.len();
    if count > MOST_SCENARIOS || count * steps > most {
        let fewer = MOST_SCENARIOS.min(most / steps);
        return Err(refused(format!("are {count} of {steps} steps; give {fewer} at most")));
    }
    by_name.iter().map(|(name, told)| Ok((name.clone(), rows(&format!("scenarios[{name:?}]"), told)?))).collect()
}

/// The forms of a request and its answer, of which `predictions` is the form of the rows.
pub(super) fn forms(schema: &Schema, most: usize, mut predicted: Json) -> [Json; 2] {
    let steps = json!({
        "type": "integer", "minimum": 1, "maximum": most, "default": 1, "description": "How many rows ahead.",
    });
    let mut asked = Map::from_iter([("steps".to_owned(), steps)]);
    let time = json!({ "type": ["string", "number"], "description": "As the series tells it." });
    predicted["properties"]["times"] = json!({ "type": "array", "items": time });
    if !schema.known.is_empty() {
        let (count, number) = (schema.known.len(), json!({ "type": "number" }));
        let row = json!({ "type": "array", "items": number, "minItems": count, "maxItems": count });
        let told = format!("In the rows to come: {}.", schema.known.join(", "));
        let rows = json!({ "type": "array", "items": row, "description": told });
        asked.insert("inputs".to_owned(), rows.clone());
        if schema.tells_parts {
            asked.insert(
                "scenarios".to_owned(),
                json!({
                    "type": "object", "additionalProperties": rows, "maxProperties": MOST_SCENARIOS,
                    "description": "Inputs by the name of a scenario, each of which is forecast.",
                }),
            );
        }
    }
    if schema.tells_parts {
        for name in ["parts", "input_effects", "anomalies"] {
            let told = "Whether to tell what has this name in the answer.";
            asked.insert(name.to_owned(), json!({ "type": "boolean", "default": false, "description": told }));
        }
        tell_parts(schema, &mut predicted);
    }
    [json!({ "type": "object", "properties": asked }), predicted]
}

/// Adds the form of what season mixtures tell beside their forecasts.
fn tell_parts(schema: &Schema, predicted: &mut Json) {
    let (number, text) = (json!({ "type": "number" }), json!({ "type": "string" }));
    let or_null = json!({ "type": ["number", "null"] });
    let by_input = json!({ "type": "object", "additionalProperties": number });
    let part = json!({
        "type": "object",
        "required": ["trend", "seasons", "rest"],
        "properties": { "trend": number, "seasons": { "type": "array", "items": number }, "effects": by_input, "rest": number },
        "description": "They sum to the forecast.",
    });
    let of_step = json!({ "type": "array", "items": part, "description": "For each output." });
    predicted["properties"]["parts"] = json!({ "type": "array", "items": of_step });
    let anomaly = json!({
        "type": "object",
        "required": ["row", "column", "y", "forecast", "lower", "upper"],
        "properties": {
            "row": { "type": "integer", "minimum": 0, "description": "Its number in the series, from 0." },
            "time": { "type": ["string", "number"] },
            "column": text, "y": number, "forecast": number, "lower": number, "upper": number,
        },
    });
    let count = json!({ "type": "integer", "minimum": 0 });
    predicted["properties"]["anomalies"] = json!({
        "type": "object",
        "required": ["share", "judged", "count", "rows"],
        "properties": { "share": number, "judged": count, "count": count, "rows": { "type": "array", "items": anomaly } },
        "description": "Values learnt since the service began that lay outside of the band of their forecast of one step.",
    });
    if schema.known.is_empty() {
        return;
    }
    let effect = json!({
        "type": "object",
        "required": ["column", "input", "per_unit", "standard_error", "of_mean", "share"],
        "properties": {
            "column": text, "input": text, "per_unit": or_null, "standard_error": or_null, "of_mean": or_null, "share": number,
        },
    });
    predicted["properties"]["input_effects"] = json!({ "type": "array", "items": effect });
    let of_scenario: Map<String, Json> = ["predictions", "times", "parts"]
        .map(|name| (name.to_owned(), predicted["properties"][name].clone()))
        .into_iter()
        .collect();
    let scenario = json!({ "type": "object", "required": ["predictions"], "properties": of_scenario });
    predicted["properties"]["scenarios"] = json!({ "type": "object", "additionalProperties": scenario });
}
