//! What learners of numbers and of classes have in common: a model that is made when the first example or batch tells
//! what the inputs are, and the names of its features.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mercer::core::ExampleError;
use mercer::model::{Classification, Description, GAPS, Model, ModelError, ModelKind, Own, Regression};
use mercer::readers::Scaling;
use mercer::{AnyKernel, AnyRegressor, Error, RegressorExt, Scratch};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;

use crate::classes::Classes;
use crate::errors;
use crate::features::{Features, admit, keyed, sequence};
use crate::notes::Notes;
use crate::shared::Shared;

/// A model of rows of numbers.
pub(crate) trait Held: Send + Sync + Sized + 'static {
    /// What its files are.
    const KIND: ModelKind;

    fn of(model: Model) -> Option<Box<Self>>;
    fn learner(&self) -> &AnyRegressor<AnyKernel>;
    fn grow(&mut self, added: usize) -> Result<(), Error>;
    fn description(&self) -> &Description;
    fn description_mut(&mut self) -> &mut Description;
    /// How the command had the columns scaled.
    fn scaling(&self) -> Option<&Scaling>;
}

impl Held for Regression {
    const KIND: ModelKind = ModelKind::Regression;

    fn of(model: Model) -> Option<Box<Self>> {
        if let Model::Regression(model) = model { Some(model) } else { None }
    }
    fn learner(&self) -> &AnyRegressor<AnyKernel> {
        self.learner.learner()
    }
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.learner.grow(added)
    }
    fn description(&self) -> &Description {
        &self.description
    }
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
    fn scaling(&self) -> Option<&Scaling> {
        self.scaling.as_ref()
    }
}

impl Held for Classification {
    const KIND: ModelKind = ModelKind::Classification;

    fn of(model: Model) -> Option<Box<Self>> {
        if let Model::Classification(model) = model { Some(model) } else { None }
    }
    fn learner(&self) -> &AnyRegressor<AnyKernel> {
        self.classifier.learner()
    }
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.classifier.grow(added)
    }
    fn description(&self) -> &Description {
        &self.description
    }
    fn description_mut(&mut self) -> &mut Description {
        &mut self.description
    }
    fn scaling(&self) -> Option<&Scaling> {
        self.scaling.as_ref()
    }
}

/// What is outside of the model: names, and memory that is used again.
#[derive(Default)]
pub(crate) struct Front {
    pub(crate) features: Features,
    /// The names of the targets, if they came by name.
    pub(crate) targets: Vec<Py<PyAny>>,
    pub(crate) classes: Classes,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) scores: Vec<f64>,
    pub(crate) radii: Vec<f64>,
    pub(crate) scratch: Scratch,
    pub(crate) notes: Notes,
    /// Whether there is a model, so that a step need not ask for its lock to know.
    pub(crate) made: bool,
    /// Whether the model scales its columns.
    scaled: bool,
}

/// A model with its names. Who needs both locks takes that of the front first.
pub(crate) struct Core<M> {
    pub(crate) model: Shared<Option<Box<M>>>,
    front: Mutex<Front>,
}

/// A model that was set aside for another, and can be taken back.
#[pyclass(frozen, module = "mercer._mercer")]
pub(crate) struct Aside(Mutex<Option<Box<dyn Any + Send>>>);

/// What a file says of a learner: its name, its kernel, each key with its value, and the seed.
pub(crate) type About = (String, String, Vec<(String, String)>, u64);

/// What `description` says.
pub(crate) fn about(description: &Description) -> About {
    let Description { learner, kernel, parameters, seed, .. } = description.clone();
    (learner, kernel, parameters, seed)
}

impl<M: Held> Core<M> {
    pub(crate) fn new() -> Self {
        Self { model: Shared::new(None), front: Mutex::default() }
    }

    pub(crate) fn front(&self, py: Python<'_>) -> MutexGuard<'_, Front> {
        self.front.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// What `look` finds in the model.
    pub(crate) fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&M) -> T) -> PyResult<T> {
        self.model.read(py).as_deref().map(look).ok_or_else(errors::not_learnt)
    }

    /// Another model in place of this one, for a batch of such columns (None: numbered).
    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        made: Box<M>,
        names: Option<Vec<Bound<'_, PyAny>>>,
        classes: Classes,
    ) -> PyResult<Aside> {
        let mut features = Features::default();
        match names {
            Some(names) => features.append(&names)?,
            None => features.number(py, made.learner().dimension())?,
        }
        let notes = Notes::of(made.description());
        let mut front = self.front(py);
        let front = std::mem::replace(&mut *front, Front { features, classes, notes, made: true, ..Front::default() });
        let model = self.model.write(py).replace(made);
        Ok(Aside(Mutex::new(Some(Box::new((front, model))))))
    }

    /// The model that was set aside in place of this one.
    pub(crate) fn take_back(&self, py: Python<'_>, aside: &Aside) {
        let held = aside.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Ok(held)) = held.map(Box::<dyn Any + Send>::downcast::<(Front, Option<Box<M>>)>) {
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

    /// Reads an input into `front.x`, to learn it. A learner that was not there is made by `make`, and one that is grows by the features that
    /// are new, if `admits` has nothing against the rest of the example. The answer is whether it was made.
    pub(crate) fn read_to_learn(
        &self,
        front: &mut Front,
        x: &Bound<'_, PyAny>,
        admits: impl FnOnce(&M, &Front) -> Result<(), Error>,
        make: impl FnOnce(usize) -> PyResult<Box<M>>,
    ) -> PyResult<bool> {
        let py = x.py();
        let fresh = !front.made;
        let mut new = Vec::new();
        let dict = keyed(x)?;
        match &dict {
            None => sequence(x, &mut front.x)?,
            Some(dict) => {
                if front.features.read(dict, &mut front.x)? || fresh {
                    new = front.features.unknown(py, dict.keys().iter())?;
                    new.iter().try_for_each(|name| match dict.get_item(name)? {
                        Some(value) => admit(name, &value),
                        None => Ok(()),
                    })?;
                }
            }
        }
        if fresh {
            let dimension = if dict.is_some() { new.len() } else { front.x.len() };
            let made = make(dimension)?;
            front.notes = Notes::of(made.description());
            if dict.is_none() {
                front.features.number(py, dimension)?;
            }
            *self.model.write(py) = Some(made);
            front.made = true;
        } else if !new.is_empty() {
            let mut model = self.model.write(py);
            let model = model.as_mut().ok_or_else(errors::not_learnt)?;
            if let Some(index) = front.x.iter().position(|value| !value.is_finite()) {
                let error = ExampleError::NonFiniteInput { index, value: front.x[index] };
                return Err(front.features.refusal(py, error.into()));
            }
            admits(model, front).map_err(errors::learner)?;
            if !grow(&mut **model, new.len())? {
                new.drain(..).for_each(|name| front.notes.late(&name.to_string()));
            }
        }
        if let Some(dict) = dict
            && !new.is_empty()
        {
            front.features.append(&new)?;
            front.features.read(&dict, &mut front.x)?;
        }
        self.scale(py, front)?;
        Ok(fresh)
    }

    /// Reads an input into `front.x`, to predict. Features that were never learnt are left out.
    pub(crate) fn read_to_predict(&self, front: &mut Front, x: &Bound<'_, PyAny>) -> PyResult<()> {
        match keyed(x)? {
            Some(dict) => front.features.read(&dict, &mut front.x).map(drop)?,
            None => sequence(x, &mut front.x)?,
        }
        self.scale(x.py(), front)
    }

    fn scale(&self, py: Python<'_>, front: &mut Front) -> PyResult<()> {
        if front.scaled
            && let Some(scaling) = self.model.read(py).as_deref().and_then(M::scaling)
        {
            scaling.row(&mut front.x).map_err(|error| errors::data(error.to_string()))?;
        }
        Ok(())
    }

    /// The places of these columns (None: an unknown one); with `grow` unknown ones become features.
    pub(crate) fn places(
        &self,
        py: Python<'_>,
        names: &[Bound<'_, PyAny>],
        grows: bool,
    ) -> PyResult<Vec<Option<usize>>> {
        let mut front = self.front(py);
        if grows {
            let new = front.features.unknown(py, names.iter().cloned())?;
            if !new.is_empty()
                && let Some(model) = self.model.write(py).as_deref_mut()
            {
                if grow(model, new.len())? {
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
        bytes: &[u8],
        names: Option<Vec<Bound<'_, PyAny>>>,
        classes: impl FnOnce(&M) -> PyResult<Classes>,
    ) -> PyResult<()> {
        let model = Model::from_bytes(bytes).map_err(errors::model)?;
        let got = model.kind();
        let refused = || errors::model(ModelError::OtherKind { expected: M::KIND, got });
        let model = M::of(model).ok_or_else(refused)?;
        let mut features = Features::default();
        let d = model.learner().dimension();
        match (names, &model.description().features) {
            (Some(names), _) if names.len() == d => features.append(&names)?,
            (_, names) if names.len() == d => {
                let names = names.iter().map(|name| name.into_pyobject(py).map(Bound::into_any));
                features.append(&names.collect::<Result<Vec<_>, _>>()?)?;
            }
            _ => features.number(py, d)?,
        }
        let classes = classes(&model)?;
        let scaled = model.scaling().is_some();
        *self.front(py) = Front { features, classes, made: true, scaled, ..Front::default() };
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

    /// Writes into the model what its file is to say of names, and what Python keeps for itself.
    pub(crate) fn describe(py: Python<'_>, model: &mut M, front: &Front, own: Own) {
        let words = crate::features::words(py, &front.targets);
        let dimension = model.learner().dimension();
        let description = model.description_mut();
        description.features =
            Some(front.features.words(py)).filter(|names| names.len() == dimension).unwrap_or_default();
        if let Some(first) = words.first() {
            description.target_name = Some(first.clone());
            description.target_names = if words.len() > 1 { words } else { Vec::new() };
        }
        description.own = own;
    }
}

/// Whether the model takes so many features more: one whose columns are scaled by their ranges knows no range of others.
fn grow<M: Held>(model: &mut M, added: usize) -> PyResult<bool> {
    if model.scaling().is_some() {
        return Ok(false);
    }
    match model.grow(added) {
        Ok(()) => Ok(true),
        Err(Error::FixedInputs) => Ok(false),
        Err(error) => Err(errors::learner(error)),
    }
}

/// What Python keeps for itself in the file of a model, keys with JSON values; and what stays of that which the file
/// `kept`.
pub(crate) fn own(slf: &Bound<'_, PyAny>, kept: &Own) -> PyResult<Own> {
    let mut own: Own = slf.call_method0("_own")?.extract()?;
    own.extend(kept.iter().filter(|(key, _)| key == GAPS).cloned());
    Ok(own)
}

/// A dictionary of targets by name: the names in the order of the numbers that are put into `front.y`.
pub(crate) fn read_targets(front: &mut Front, dict: &Bound<'_, PyDict>) -> PyResult<Vec<Py<PyAny>>> {
    let py = dict.py();
    let mut names = Features::default();
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
