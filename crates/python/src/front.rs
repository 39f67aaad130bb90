//! What learners of numbers and of classes have in common: a model that is made when the first
//! example or batch tells what the inputs are, and the names of its features.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mercer::core::ExampleError;
use mercer::model::{Description, GAPS, ModelError, Numbers, Own};
use mercer::session::{RowPrediction, Session};
use mercer::{Error, RegressorExt};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict};

use crate::body;
use crate::classes::MetClasses;
use crate::errors;
use crate::features::{FeatureNames, admit, keyed, sequence, words};
use crate::notes::Notes;
use crate::shared::FairLock;

/// True if a model takes so many features more.
fn grows(model: &mut Session, added: usize) -> PyResult<bool> {
    match body::grow(model, added) {
        Ok(()) => Ok(true),
        Err(Error::FixedInputs) => Ok(false),
        Err(error) => Err(errors::learner(error)),
    }
}

/// What is outside of the model: names, and memory that is used again.
#[derive(Default)]
pub(crate) struct Front {
    pub(crate) features: FeatureNames,
    /// The names of the targets, if they came by name.
    pub(crate) targets: Vec<Py<PyAny>>,
    pub(crate) classes: MetClasses,
    pub(crate) y: Vec<f64>,
    pub(crate) work: RowPrediction,
    pub(crate) notes: Notes,
    /// Whether there is a model, so that a step need not ask for its lock to know.
    pub(crate) made: bool,
}

/// A model with its names. Who needs both locks takes that of the front first.
#[derive(Default)]
pub(crate) struct Core {
    pub(crate) model: FairLock<Option<Session>>,
    front: Mutex<Front>,
}

/// A model that was set aside for another, and can be taken back.
#[pyclass(frozen, module = "mercer._mercer")]
pub(crate) struct Aside(Mutex<Option<Box<dyn Any + Send>>>);

/// What a file says of a learner: its name, its kernel, each key with its value, and the seed.
pub(crate) type LearnerFacts = (String, String, Vec<(String, String)>, u64);

/// What `description` says.
pub(crate) fn about(description: &Description) -> LearnerFacts {
    let Description { learner, kernel, parameters, seed, .. } = description.clone();
    (learner, kernel, parameters, seed)
}

impl Core {
    pub(crate) fn front(&self, py: Python<'_>) -> MutexGuard<'_, Front> {
        self.front.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// What `look` finds in the model.
    pub(crate) fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&Session) -> T) -> PyResult<T> {
        self.model.read(py).as_ref().map(look).ok_or_else(errors::not_learnt)
    }

    /// Another model in place of this one, for a batch of such columns (None: numbered).
    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        made: Session,
        names: Option<Vec<Bound<'_, PyAny>>>,
        classes: MetClasses,
    ) -> PyResult<Aside> {
        let mut features = FeatureNames::default();
        match names {
            Some(names) => features.append(&names)?,
            None => features.number(py, made.dimension())?,
        }
        let notes = Notes::of(&made.description);
        let mut front = self.front(py);
        let front = std::mem::replace(&mut *front, Front { features, classes, notes, made: true, ..Front::default() });
        let model = self.model.write(py).replace(made);
        Ok(Aside(Mutex::new(Some(Box::new((front, model))))))
    }

    /// The model that was set aside in place of this one.
    pub(crate) fn take_back(&self, py: Python<'_>, aside: &Aside) {
        let held = aside.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Ok(held)) = held.map(Box::<dyn Any + Send>::downcast::<(Front, Option<Session>)>) {
            let mut front = self.front(py);
            let mut model = self.model.write(py);
            (*front, *model) = *held;
        }
    }

    /// Forgets everything.
    pub(crate) fn reset(&self, py: Python<'_>) {
        let mut front = self.front(py);
        self.forget(py, &mut front);
    }

    pub(crate) fn forget(&self, py: Python<'_>, front: &mut Front) {
        *front = Front::default();
        *self.model.write(py) = None;
    }

    /// Reads an input into `front.work`, to learn it. A learner that was not there is made by
    /// `make`, and one that is grows by the features that are new, if there is nothing against the
    /// target in `front.y`. The answer is whether it was made.
    pub(crate) fn read_to_learn(
        &self,
        front: &mut Front,
        x: &Bound<'_, PyAny>,
        make: impl FnOnce(usize) -> PyResult<Session>,
    ) -> PyResult<bool> {
        let py = x.py();
        let fresh = !front.made;
        let mut new = Vec::new();
        let dict = keyed(x)?;
        match &dict {
            None => sequence(x, &mut front.work.inputs)?,
            Some(dict) => {
                if front.features.read(dict, &mut front.work.inputs)? || fresh {
                    new = front.features.unknown(py, dict.keys().iter())?;
                    new.iter().try_for_each(|name| match dict.get_item(name)? {
                        Some(value) => admit(name, &value),
                        None => Ok(()),
                    })?;
                }
            }
        }
        if fresh {
            let dimension = if dict.is_some() { new.len() } else { front.work.inputs.len() };
            let made = make(dimension)?;
            front.notes = Notes::of(&made.description);
            if dict.is_none() {
                front.features.number(py, dimension)?;
            }
            *self.model.write(py) = Some(made);
            front.made = true;
        } else if !new.is_empty() {
            let mut model = self.model.write(py);
            let model = model.as_mut().ok_or_else(errors::not_learnt)?;
            if let Some(index) = front.work.inputs.iter().position(|value| !value.is_finite()) {
                let error = ExampleError::NonFiniteInput { index, value: front.work.inputs[index] };
                return Err(front.features.refusal(py, error.into()));
            }
            if let Some(Numbers { learner, .. }) = model.numbers() {
                learner.loss().check(&front.y, learner.outputs()).map_err(errors::learner)?;
            }
            if !grows(model, new.len())? {
                new.drain(..).for_each(|name| front.notes.late(&name.to_string()));
            }
        }
        if let Some(dict) = dict
            && !new.is_empty()
        {
            front.features.append(&new)?;
            front.features.read(&dict, &mut front.work.inputs)?;
        }
        Ok(fresh)
    }

    /// Reads an input into `front.work`, to predict. Features that were never learnt are left out.
    pub(crate) fn read_to_predict(&self, front: &mut Front, x: &Bound<'_, PyAny>) -> PyResult<()> {
        match keyed(x)? {
            Some(dict) => front.features.read(&dict, &mut front.work.inputs).map(drop)?,
            None => sequence(x, &mut front.work.inputs)?,
        }
        Ok(())
    }

    /// The places of these columns (None: an unknown one); with `grow` unknown ones become
    /// features.
    pub(crate) fn places(
        &self,
        py: Python<'_>,
        names: &[Bound<'_, PyAny>],
        grow: bool,
    ) -> PyResult<Vec<Option<usize>>> {
        let mut front = self.front(py);
        if grow {
            let new = front.features.unknown(py, names.iter().cloned())?;
            if !new.is_empty()
                && let Some(model) = self.model.write(py).as_mut()
            {
                if grows(model, new.len())? {
                    front.features.append(&new)?;
                } else {
                    new.iter().for_each(|name| front.notes.late(&name.to_string()));
                }
            }
        }
        front.features.places(py, names)
    }

    /// Takes the model of a file, with the names of its features if they are known otherwise.
    pub(crate) fn take(
        &self,
        py: Python<'_>,
        model: Session,
        names: Option<Vec<Bound<'_, PyAny>>>,
        classes: MetClasses,
    ) -> PyResult<()> {
        let mut features = FeatureNames::default();
        let d = model.dimension();
        match (names, &model.description.features) {
            (Some(names), _) if names.len() == d => features.append(&names)?,
            (_, names) if names.len() == d => {
                let names = names.iter().map(|name| name.into_pyobject(py).map(Bound::into_any));
                features.append(&names.collect::<Result<Vec<_>, _>>()?)?;
            }
            _ => features.number(py, d)?,
        }
        *self.front(py) = Front { features, classes, made: true, ..Front::default() };
        *self.model.write(py) = Some(model);
        Ok(())
    }

    /// Other names of the features, as many.
    pub(crate) fn rename(&self, py: Python<'_>, names: &[Bound<'_, PyAny>]) -> PyResult<()> {
        let mut front = self.front(py);
        if names.len() != front.features.len() {
            return Err(errors::file(format!("{} names for {} features", names.len(), front.features.len())));
        }
        front.features.clear();
        front.features.append(names)
    }

    /// The file of the model, which says of names what it has words for, and holds what Python
    /// keeps for itself.
    pub(crate) fn file(&self, py: Python<'_>, own: Own) -> PyResult<Vec<u8>> {
        let front = self.front(py);
        let mut model = self.model.write(py);
        let body = model.as_mut().ok_or_else(errors::not_learnt)?;
        let (words, dimension) = (words(py, &front.targets), body.dimension());
        let description = &mut body.description;
        description.features =
            Some(front.features.words(py)).filter(|names| names.len() == dimension).unwrap_or_default();
        if let Some(first) = words.first() {
            description.target_name = Some(first.clone());
            description.target_names = if words.len() > 1 { words } else { Vec::new() };
        }
        description.own = own;
        body::file(body, || front.classes.to_file(py))
    }

    /// The model for a pickle, which has all else itself.
    pub(crate) fn state(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let front = self.front(py);
        let mut model = self.model.write(py);
        let body = model.as_mut().ok_or_else(errors::not_learnt)?;
        body::file(body, || Ok(front.classes.numbered()))
    }
}

/// What Python keeps for itself in the file of a model, keys with JSON values; and what stays of
/// that which the file `kept`.
pub(crate) fn own(slf: &Bound<'_, PyAny>, kept: &Own) -> PyResult<Own> {
    let mut own: Own = slf.call_method0("_own")?.extract()?;
    own.extend(kept.iter().filter(|(key, _)| key == GAPS).cloned());
    Ok(own)
}

/// The file of an object's model, once it has one; `write` puts what Python keeps for itself into
/// it.
pub(crate) fn file<'py, M: Send + Sync>(
    slf: &Bound<'py, PyAny>,
    shared: &FairLock<Option<M>>,
    write: impl FnOnce(&mut M, Own) -> Result<Vec<u8>, ModelError>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = slf.py();
    shared.read(py).as_ref().ok_or_else(errors::not_learnt)?;
    let own = own(slf, &Own::new())?;
    let mut model = shared.write(py);
    let model = model.as_mut().ok_or_else(errors::not_learnt)?;
    Ok(PyBytes::new(py, &write(model, own).map_err(errors::model)?))
}

/// A dictionary of targets by name: the names in the order of the numbers that are put into
/// `front.y`.
pub(crate) fn read_targets(front: &mut Front, dict: &Bound<'_, PyDict>) -> PyResult<Vec<Py<PyAny>>> {
    let py = dict.py();
    let mut names = FeatureNames::default();
    let known: Vec<_> = front.targets.iter().map(|name| name.bind(py).clone()).collect();
    names.append(&known)?;
    let new = names.unknown(py, dict.keys().iter())?;
    if !known.is_empty() && (!new.is_empty() || dict.len() != known.len()) {
        return Err(errors::data(format!(
            "the targets are {}, and the first had the names {}",
            crate::features::shown(dict.keys().as_any()),
            crate::features::shown(names.names(py)?.as_any())
        )));
    }
    names.append(&new)?;
    names.read(dict, &mut front.y)?;
    if known.is_empty() { Ok(new.into_iter().map(Bound::unbind).collect()) } else { Ok(Vec::new()) }
}
