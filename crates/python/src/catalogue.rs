//! The catalogue as Python objects, of which the Python classes are made.

use mercer::catalogue::{Context, Kind, entries};
use mercer::model::Model;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors;

/// The heads of the files that register learners, by the names of the learners.
const HEADS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/heads.rs"));

/// A dictionary for each learner: what it is, its keys, costs, source and losses.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = PyList::empty(py);
    for entry in entries() {
        let keys = PyList::empty(py);
        for key in entry.keys {
            let one = PyDict::new(py);
            one.set_item("name", key.name)?;
            one.set_item("symbol", key.symbol)?;
            one.set_item("range", key.range)?;
            one.set_item("meaning", key.meaning)?;
            one.set_item("default", key.default_text())?;
            let usual = key.default_for(&Context { classes: true, ..Context::default() });
            let for_classes = if usual == key.default() { key.default_text() } else { usual.to_string() };
            one.set_item("default_for_classes", for_classes)?;
            one.set_item("none", key.none)?;
            one.set_item("auto", key.auto.map(|rule| (rule.formula, rule.source)))?;
            let (kind, names): (&str, Vec<&str>) = match key.kind {
                Kind::Number => ("number", Vec::new()),
                Kind::Count => ("count", Vec::new()),
                Kind::Numbers => ("numbers", Vec::new()),
                Kind::Name(names) => ("name", names.to_vec()),
                Kind::Loss => ("loss", entry.takes.losses.to_vec()),
                Kind::Members => ("members", Vec::new()),
                Kind::Kernels => ("kernels", Vec::new()),
                Kind::Learner => ("learner", Vec::new()),
                _ => ("other", Vec::new()),
            };
            one.set_item("kind", kind)?;
            one.set_item("names", names)?;
            keys.append(one)?;
        }
        let one = PyDict::new(py);
        one.set_item("name", entry.name)?;
        one.set_item("summary", entry.summary)?;
        one.set_item("head", HEADS.iter().find(|(name, _)| *name == entry.name).map_or("", |(_, head)| *head))?;
        one.set_item("keys", keys)?;
        one.set_item("time", entry.time.to_string())?;
        one.set_item("memory", entry.memory.to_string())?;
        one.set_item("growth", entry.growth)?;
        one.set_item("source", entry.source)?;
        one.set_item("advice", entry.advice)?;
        one.set_item("autonomous", entry.autonomous)?;
        one.set_item("gaussian", entry.gaussian)?;
        one.set_item("numbers", entry.takes.numbers())?;
        one.set_item("vectors", entry.takes.vectors)?;
        one.set_item("many_classes", entry.takes.many_classes)?;
        one.set_item("losses", entry.takes.losses.to_vec())?;
        all.append(one)?;
    }
    Ok(all)
}

/// What a model file holds: "regression", "classification", "prediction", "operator", "table" or
/// "classes of a table"; and the name of its learner.
#[pyfunction]
pub(crate) fn model_kind(bytes: &[u8]) -> PyResult<(String, String)> {
    let model = Model::from_bytes(bytes).map_err(errors::model)?;
    let learner = match &model {
        Model::Regression(model) => model.description.learner.clone(),
        Model::Classification(model) => model.description.learner.clone(),
        Model::Prediction(model) => model.method.clone(),
        Model::Operator(model) if model.learner.sums().is_some() => "sums".to_owned(),
        _ => String::new(),
    };
    let kind = match &model {
        Model::Regression(model) if model.encoding.is_some() => "table".to_owned(),
        Model::Classification(model) if model.encoding.is_some() => "classes of a table".to_owned(),
        other => other.kind().to_string(),
    };
    Ok((kind, learner))
}
