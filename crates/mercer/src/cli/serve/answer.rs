//! Predictions as JSON.

use std::cell::RefCell;

use mercer::data::Example;
use mercer::{Regressor, Scratch};

use crate::cli::output::number;
use crate::cli::trained::{Answer, Trained};

/// The memory of one thread.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    answer: Answer,
    scores: Vec<f64>,
    variances: Vec<f64>,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

/// Predicts a row, which is scaled, and appends the object that tells it.
pub(super) fn predict(model: &Trained, example: &mut Example, variance: bool, text: &mut String) -> Result<(), String> {
    WORK.with_borrow_mut(|work| {
        let Work { scratch, answer, scores, variances } = work;
        model.predict(example, scratch, answer)?;
        variances.clear();
        if let (true, Trained::Numbers(model)) = (variance, model) {
            let m = model.learner.outputs();
            scores.resize(m, 0.0);
            variances.resize(m, f64::NAN);
            let told = model.learner.predict_variance_into(&example.features, scratch, scores, variances);
            told.map_err(|error| error.to_string())?;
            // The learner's units are not the target's.
            for (variance, unit) in
                variances.iter_mut().zip(model.scaling.iter().flat_map(mercer::data::Scaling::target_units))
            {
                *variance *= unit * unit;
            }
        }
        write(model, answer, variance.then_some(&**variances), text);
        Ok(())
    })
}

/// Appends the object that tells an answer.
pub(super) fn write(model: &Trained, answer: &Answer, variances: Option<&[f64]>, text: &mut String) {
    text.push_str("{\"prediction\":");
    match model {
        Trained::Numbers(_) => {
            numbers(&answer.numbers, text);
            if !answer.lower.is_empty() {
                text.push_str(",\"lower\":");
                numbers(&answer.lower, text);
                text.push_str(",\"upper\":");
                numbers(&answer.upper, text);
            }
        }
        Trained::Classes(model) => {
            let judged = &answer.judged;
            match judged.class.and_then(|class| model.labels.get(class)) {
                Some(name) => string(name, text),
                None => text.push_str("null"),
            }
            if model.classifier.has_probabilities() {
                text.push_str(",\"probabilities\":{");
                let mut first = true;
                for (class, name) in model.labels.names().iter().enumerate() {
                    let Some(probability) = judged.probability(class, model.labels.len()) else { continue };
                    if !std::mem::take(&mut first) {
                        text.push(',');
                    }
                    string(name, text);
                    text.push(':');
                    value(probability, text);
                }
                text.push('}');
            }
            if let Some(score) = judged.score {
                text.push_str(",\"score\":");
                value(score, text);
            }
        }
    }
    if let Some(variances) = variances {
        text.push_str(",\"variance\":");
        if variances.is_empty() { text.push_str("null") } else { numbers(variances, text) }
    }
    text.push('}');
}

/// One number, or an array of several.
fn numbers(values: &[f64], text: &mut String) {
    if let [one] = values {
        return value(*one, text);
    }
    text.push('[');
    for (at, one) in values.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        value(*one, text);
    }
    text.push(']');
}

/// A number that reads back as the same; null where there is none.
fn value(value: f64, text: &mut String) {
    if value.is_finite() { text.push_str(&number(value)) } else { text.push_str("null") }
}

fn string(name: &str, text: &mut String) {
    text.push_str(&serde_json::Value::from(name).to_string());
}
