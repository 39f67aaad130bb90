//! The strongest words and categories of a learner of tokens.

use mercer_encoding::Encoding;
use mercer_learners::Regressor;
use serde_json::{Value, json};

/// Words that are told of an output.
const MOST: usize = 20;

/// The texts with the largest weights, of an output or for each of these classes; none where the
/// learner has no weights of tokens, or no text was kept.
pub(super) fn strongest(encoding: Option<&Encoding>, learner: &impl Regressor, classes: &[(usize, String)]) -> Value {
    let (Some(encoding), Some(tokens)) = (encoding, learner.tokens()) else { return Value::Null };
    let of_output = |output: usize, class: Option<&String>| -> Vec<Value> {
        let weight = |(key, column, text)| Some((tokens.token_weight(key, output)?, column, text));
        let mut all: Vec<(f64, &str, &str)> = encoding.token_names().filter_map(weight).collect();
        all.sort_by(|(a, ..), (b, ..)| b.abs().total_cmp(&a.abs()));
        let told = |(weight, column, text): &(f64, &str, &str)| {
            let mut told = json!({ "name": text, "column": column, "weight": weight });
            if let Some(class) = class {
                told["class"] = class.as_str().into();
            }
            told
        };
        all.iter().take(MOST).filter(|(weight, ..)| *weight != 0.0).map(told).collect()
    };
    let told: Vec<Value> = match classes {
        [] => of_output(0, None),
        classes => classes.iter().flat_map(|(output, class)| of_output(*output, Some(class))).collect(),
    };
    if told.is_empty() { Value::Null } else { told.into() }
}
