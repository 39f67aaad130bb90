//! Functions of an operator at given states: what may be asked, and the forms of it.

use serde_json::{Value as Json, json};

use super::model::{FunctionQuery, Schema};
use super::refusal::Refusal;
use super::request::{kind, number, object};

/// Reads what is asked for, of `most` states at most.
///
/// # Errors
/// 400 for what is not JSON, 422 for JSON of another form.
pub(super) fn query(body: &[u8], schema: &Schema, most: usize) -> Result<FunctionQuery, Refusal> {
    let form = format!(
        "send {{\"rows\": [STATE, ...]}}, where each STATE is an array of its {}, and with \"sets\": K also \"committor\": [A, B]",
        schema.states.join(", ")
    );
    let refused = |what: String| Refusal::unprocessable(format!("{what}; {form}"));
    let body = object(body, &form)?;
    if let Some(name) = body.keys().find(|name| !["rows", "sets", "committor"].contains(&name.as_str())) {
        return Err(refused(format!("{name:?} is not known here")));
    }
    // Sets count from 1; a whole number may be written as 2.0.
    let whole = |asked: &Json| {
        let number = asked.as_f64().filter(|number| number.fract() == 0.0 && (1.0..=1e6).contains(number));
        number.map(|number| number as usize).ok_or_else(|| refused(format!("{} is no count", kind(asked))))
    };
    let rows = body.get("rows").and_then(Json::as_array).filter(|rows| rows.len() <= most);
    let rows = rows.ok_or_else(|| refused(format!("rows is no array of {most} states at most")))?;
    let mut asked = FunctionQuery { sets: body.get("sets").map(whole).transpose()?, ..FunctionQuery::default() };
    for (at, row) in rows.iter().enumerate() {
        let cells = row.as_array().filter(|cells| cells.len() == schema.states.len());
        let cells = cells.ok_or_else(|| refused(format!("rows[{at}] is no state")))?;
        let value = |(name, cell): (&String, &Json)| {
            number(Some(cell)).map_err(|why| Refusal::unprocessable(format!("rows[{at}]: {name:?} {why}")))
        };
        asked.rows.push(schema.states.iter().zip(cells).map(value).collect::<Result<_, _>>()?);
    }
    asked.committor = match (body.get("committor"), asked.sets) {
        (None, _) => None,
        (Some(_), None) => return Err(refused("committor needs sets".to_owned())),
        (Some(told), Some(_)) => match told.as_array().map(Vec::as_slice) {
            Some([from, to]) => Some([whole(from)? - 1, whole(to)? - 1]),
            _ => return Err(refused(format!("committor is {}, and not two sets", kind(told)))),
        },
    };
    Ok(asked)
}

/// The forms of a request and of its answer.
pub(super) fn forms(schema: &Schema, most: usize) -> [Json; 2] {
    let (width, numbers) = (schema.states.len(), json!({ "type": "array", "items": { "type": "number" } }));
    let mut state = numbers.clone();
    state["minItems"] = width.into();
    state["maxItems"] = width.into();
    state["description"] = schema.states.join(", ").into();
    let count = json!({ "type": "integer", "minimum": 1 });
    let asked = json!({
        "type": "object",
        "required": ["rows"],
        "properties": {
            "rows": { "type": "array", "items": state, "maxItems": most },
            "sets": count,
            "committor": { "type": "array", "items": count, "minItems": 2, "maxItems": 2 },
        },
        "additionalProperties": false,
    });
    let part = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
    let of_rows = |item: &Json| json!({ "type": "array", "items": item });
    let answer = json!({
        "type": "object",
        "required": ["functions"],
        "properties": {
            "functions": of_rows(&of_rows(&part)),
            "weights": numbers,
            "jumps": of_rows(&numbers),
            "memberships": of_rows(&numbers),
            "committor": numbers,
        },
        "additionalProperties": false,
    });
    [asked, answer]
}
