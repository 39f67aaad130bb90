//! What learners of numbers and of classes have in common: a model that is made when the first
//! example or batch tells what the inputs are, and the names of its features.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mercer::core::ExampleError;
use mercer::model::{Description, GAPS, ModelError, Numbers, Own};
use mercer::session::{RowPrediction, Session};
use mercer::{Error, RegressorExt};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::body;
use crate::classes::MetClasses;
use crate::errors;
use crate::names::{Names, Row, admit, by_order_of, number, sequence, shown, text_of};
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
    pub(crate) names: Names,
    /// The names of the targets, if they came by name.
    pub(crate) targets: Vec<Py<PyAny>>,
    pub(crate) classes: MetClasses,
    pub(crate) y: Vec<f64>,
    /// The features of the row that was read.
    pub(crate) inputs: Vec<f64>,
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

    /// Another model in place of this one, for a batch of such columns (None: without names).
    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        made: Session,
        names: Option<Vec<String>>,
        (classes, in_order): (MetClasses, bool),
    ) -> PyResult<()> {
        let mut names = names.map_or_else(|| Names::numbered(py, made.dimension()), |names| Names::new(py, names))?;
        names.in_order = in_order;
        let notes = Notes::of(&made.description);
        *self.front(py) = Front { names, classes, notes, made: true, ..Front::default() };
        *self.model.write(py) = Some(made);
        Ok(())
    }

    /// Takes over what another has learnt, which then has nothing.
    pub(crate) fn take_over(&self, py: Python<'_>, other: &Self) {
        let (theirs, model) = (std::mem::take(&mut *other.front(py)), other.model.write(py).take());
        let mut front = self.front(py);
        *front = theirs;
        *self.model.write(py) = model;
    }

    pub(crate) fn forget(&self, py: Python<'_>, front: &mut Front) {
        *front = Front::default();
        *self.model.write(py) = None;
    }

    /// Reads an input into `front.inputs`, to learn it. A learner that was not there is made by
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
        let row = Row::new(x)?;
        match &row {
            Row::Placed(values) => {
                sequence(values, &mut front.inputs)?;
                self.take_places(py, front)?;
            }
            Row::Keyed(dict) => {
                let found = front.names.read(dict, &mut front.inputs)?;
                if found.unknown > 0 || fresh {
                    front.names.check_known(dict, found)?;
                    new = front.names.unknown(dict)?;
                    new.iter().try_for_each(|name| match dict.get_item(name)? {
                        Some(value) => admit(name, &value),
                        None => Ok(()),
                    })?;
                }
            }
        }
        if fresh {
            let placed = matches!(row, Row::Placed(_));
            let dimension = if placed { front.inputs.len() } else { new.len() };
            let made = make(dimension)?;
            front.notes = Notes::of(&made.description);
            if placed {
                front.names = Names::numbered(py, dimension)?;
            }
            *self.model.write(py) = Some(made);
            front.made = true;
        } else if !new.is_empty() {
            let mut model = self.model.write(py);
            let model = model.as_mut().ok_or_else(errors::not_learnt)?;
            if let Some(index) = front.inputs.iter().position(|value| !value.is_finite()) {
                let error = ExampleError::NonFiniteInput { index, value: front.inputs[index] };
                return Err(front.names.refusal(error.into()));
            }
            if let Some(Numbers { learner, .. }) = model.numbers() {
                learner.loss().check(&front.y, learner.outputs()).map_err(errors::learner)?;
            }
            if !grows(model, new.len())? {
                new.drain(..).for_each(|name| front.notes.late(&name.to_string()));
            }
        }
        if let Row::Keyed(dict) = row
            && !new.is_empty()
        {
            let new = new.iter().map(|name| text_of(name).map(|text| text.to_string()));
            front.names.append(py, new.collect::<PyResult<_>>()?)?;
            front.names.read(&dict, &mut front.inputs)?;
        }
        Ok(fresh)
    }

    /// Reads an input into `front.inputs`, to predict. Features that were never learnt are left out.
    pub(crate) fn read_to_predict(&self, front: &mut Front, x: &Bound<'_, PyAny>) -> PyResult<()> {
        match Row::new(x)? {
            Row::Keyed(dict) => {
                let found = front.names.read(&dict, &mut front.inputs)?;
                if found.known == 0 && found.unknown > 0 && front.made {
                    front.names.check_known(&dict, found)?;
                    front.notes.strange(&front.names.no_match(&[dict.keys().get_item(0)?.to_string()]).to_string());
                }
            }
            Row::Placed(values) => {
                sequence(&values, &mut front.inputs)?;
                self.take_places(x.py(), front)?;
            }
        }
        Ok(())
    }

    /// Values without names have the places of the model, and 0 for features that came with a name
    /// later.
    fn take_places(&self, py: Python<'_>, front: &mut Front) -> PyResult<()> {
        let width = front.inputs.len();
        if width <= front.names.len() && front.names.take_places(width)? {
            front.notes.by_order(by_order_of(front.names.texts()));
        }
        if front.made && width == front.names.places_alone() {
            front.inputs.resize(self.look(py, Session::dimension)?.max(width), 0.0);
        }
        Ok(())
    }

    /// Makes features of these columns, which are unknown, where the learner takes them; the answer
    /// is whether it does.
    pub(crate) fn grow(&self, py: Python<'_>, new: Vec<String>) -> PyResult<bool> {
        let mut front = self.front(py);
        let mut model = self.model.write(py);
        let takes = grows(model.as_mut().ok_or_else(errors::not_learnt)?, new.len())?;
        if takes {
            front.names.append(py, new)?;
        } else {
            new.iter().for_each(|name| front.notes.late(name));
        }
        Ok(takes)
    }

    /// Takes the model of a file, with the names of its features if they are known otherwise.
    pub(crate) fn take(
        &self,
        py: Python<'_>,
        model: Session,
        names: Option<Vec<String>>,
        classes: MetClasses,
    ) -> PyResult<()> {
        let (d, told) = (model.dimension(), names.unwrap_or_else(|| model.description.features.clone()));
        let names = if told.len() == d { Names::new(py, told)? } else { Names::numbered(py, d)? };
        *self.front(py) = Front { names, classes, made: true, ..Front::default() };
        *self.model.write(py) = Some(model);
        Ok(())
    }

    /// The file of the model, which says of names what it has words for, and holds what Python
    /// keeps for itself.
    pub(crate) fn file(&self, py: Python<'_>, own: Own) -> PyResult<Vec<u8>> {
        let front = self.front(py);
        let mut model = self.model.write(py);
        let body = model.as_mut().ok_or_else(errors::not_learnt)?;
        let dimension = body.dimension();
        let targets: Vec<String> = if front.targets.iter().all(|name| name.bind(py).is_instance_of::<PyString>()) {
            front.targets.iter().map(ToString::to_string).collect()
        } else {
            Vec::new()
        };
        let description = &mut body.description;
        description.features = if front.names.is_nameless() || front.names.len() != dimension {
            Vec::new()
        } else {
            front.names.texts().to_vec()
        };
        if let Some(first) = targets.first() {
            description.target_name = Some(first.clone());
            description.target_names = if targets.len() > 1 { targets } else { Vec::new() };
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
    let known = PyList::new(py, &front.targets)?;
    let names = if known.is_empty() { Names::default().unknown(dict)? } else { known.iter().collect() };
    front.y.clear();
    for name in &names {
        let Some(value) = dict.get_item(name)?.filter(|_| dict.len() == names.len()) else {
            return Err(errors::data(format!(
                "the targets are {}, and the first had the names {}",
                shown(dict.keys().as_any()),
                shown(known.as_any())
            )));
        };
        front.y.push(number(&value)?);
    }
    if known.is_empty() { Ok(names.into_iter().map(Bound::unbind).collect()) } else { Ok(Vec::new()) }
}
