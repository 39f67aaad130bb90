//! Predictions as JSON.

use std::cell::RefCell;

use mercer::learners::prediction::Forecaster;
use mercer::{Regressor, Scratch};

use crate::cli::encoded::Sample;
use crate::cli::forecast::Pass;
use crate::cli::output::number;
use crate::cli::trained::{Answer, Trained};

/// The memory of one thread.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    answer: Answer,
    inputs: Vec<f64>,
    scores: Vec<f64>,
    variances: Vec<f64>,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

/// Predicts a row, which is scaled, and appends the object that tells it.
pub(super) fn predict(model: &Trained, sample: &mut Sample, variance: bool, text: &mut String) -> Result<(), String> {
    WORK.with_borrow_mut(|work| {
        model.predict(sample, &mut work.scratch, &mut work.answer)?;
        if variance {
            work.variances(model, sample)?;
        }
        write(model, &work.answer, variance.then_some(&*work.variances), text);
        Ok(())
    })
}

impl Work {
    /// The variances of the targets in their own units; none if the model does not tell any.
    fn variances(&mut self, model: &Trained, sample: &Sample) -> Result<(), String> {
        let Self { scratch, inputs, scores, variances, .. } = self;
        let m = model.outputs();
        scores.resize(m, 0.0);
        variances.clear();
        let told = match model {
            Trained::Numbers(model) if model.learner.has_variance() => {
                variances.resize(m, f64::NAN);
                // The row was scaled when it was predicted.
                let x = &sample.example.features;
                let told = model.learner.predict_variance_into(x, scratch, scores, variances);
                let units = model.scaling.iter().flat_map(mercer::data::Scaling::target_units);
                variances.iter_mut().zip(units).for_each(|(variance, unit)| *variance *= unit * unit);
                told
            }
            Trained::Table(model) if model.pipeline.learner().has_variance() => {
                variances.resize(m, f64::NAN);
                inputs.clear();
                model.encoding().encode(&sample.record, inputs).map_err(|error| error.to_string())?;
                model.pipeline.learner().predict_variance_into(inputs, scratch, scores, variances)
            }
            _ => return Ok(()),
        };
        told.map(drop).map_err(|error| error.to_string())
    }
}

/// Appends the objects that tell the next rows of a series, with commas between.
pub(super) fn forecast(pass: &mut Pass, steps: usize, text: &mut String) -> Result<(), String> {
    let rows = pass.forecast(steps).map_err(|error| error.to_string())?;
    let outputs = pass.model().forecaster.outputs();
    let intervals = pass.model().intervals.is_some();
    for (step, row) in rows.chunks_exact(outputs).enumerate() {
        if step > 0 {
            text.push(',');
        }
        write_forecast(row, intervals.then(|| pass.reach(step + 1)).as_deref(), text);
    }
    Ok(())
}

/// Appends the object that tells a row of a series, and how far its intervals reach if there are any.
pub(super) fn write_forecast(row: &[f64], radii: Option<&[f64]>, text: &mut String) {
    text.push_str("{\"prediction\":");
    numbers(row, text);
    if let Some(radii) = radii {
        for (name, side) in [("lower", -1.0), ("upper", 1.0)] {
            let ends: Vec<f64> = row.iter().zip(radii).map(|(value, radius)| value + side * radius).collect();
            text.push_str(&format!(",\"{name}\":"));
            numbers(&ends, text);
        }
    }
    text.push('}');
}

/// Appends the object that tells an answer.
pub(super) fn write(model: &Trained, answer: &Answer, variances: Option<&[f64]>, text: &mut String) {
    text.push_str("{\"prediction\":");
    match model.classes() {
        None => {
            numbers(&answer.numbers, text);
            if !answer.lower.is_empty() {
                text.push_str(",\"lower\":");
                numbers(&answer.lower, text);
                text.push_str(",\"upper\":");
                numbers(&answer.upper, text);
            }
        }
        Some((labels, classifier)) => {
            let judged = &answer.judged;
            match judged.class.and_then(|class| labels.get(class)) {
                Some(name) => string(name, text),
                None => text.push_str("null"),
            }
            if classifier.has_probabilities() {
                text.push_str(",\"probabilities\":{");
                let mut first = true;
                for (class, name) in labels.names().iter().enumerate() {
                    let Some(probability) = judged.probability(class, labels.len()) else { continue };
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
