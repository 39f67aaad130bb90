//! Names of features and their places in an input.
//!
//! A dictionary of ten features costs some 200 ns: the names of the dictionary before are compared by identity first, because streams
//! usually give the same key objects again, and only other keys are looked up.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple};

use crate::errors;
use crate::notes::Notes;

/// The features of a model, by name.
#[derive(Default)]
pub(crate) struct Features {
    /// In the order of their places.
    names: Vec<Py<PyAny>>,
    /// From a name to its place.
    places: Option<Py<PyDict>>,
    /// The keys of the last dictionary in its order, with their places.
    recent: Vec<(Py<PyAny>, usize)>,
}

impl Features {
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The names in the order of their places.
    pub(crate) fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.names)
    }

    /// The names as model files hold them; none where features are only numbered.
    pub(crate) fn words(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        if self.names.iter().all(|name| !name.bind(py).is_instance_of::<PyString>()) {
            return Ok(Vec::new());
        }
        self.names.iter().map(|name| Ok(name.bind(py).str()?.to_string())).collect()
    }

    fn index<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.places.get_or_insert_with(|| PyDict::new(py).unbind()).bind(py).clone()
    }

    /// Appends these names.
    pub(crate) fn append(&mut self, names: &[Bound<'_, PyAny>]) -> PyResult<()> {
        let Some(first) = names.first() else { return Ok(()) };
        let places = self.index(first.py());
        for name in names {
            places.set_item(name, self.names.len())?;
            self.names.push(name.clone().unbind());
        }
        Ok(())
    }

    /// Numbers as names, for inputs that come without: 0, 1, …
    pub(crate) fn number(&mut self, py: Python<'_>, count: usize) -> PyResult<()> {
        let names: Vec<_> =
            (0..count).map(|place| place.into_pyobject(py).map(Bound::into_any)).collect::<Result<_, _>>()?;
        self.append(&names)
    }

    /// Forgets the names from this place on, when a learner could not take them.
    pub(crate) fn truncate(&mut self, py: Python<'_>, count: usize) -> PyResult<()> {
        let places = self.index(py);
        for name in self.names.drain(count.min(self.names.len())..) {
            places.del_item(name)?;
        }
        self.recent.clear();
        Ok(())
    }

    /// Those of the names that are unknown, sorted, so that their places do not depend on the order in which they came.
    pub(crate) fn unknown<'py>(
        &mut self,
        py: Python<'py>,
        names: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let places = self.index(py);
        let mut new = Vec::new();
        for name in names {
            if !places.contains(&name)? {
                new.push(name);
            }
        }
        let list = PyList::new(py, &new)?;
        if list.sort().is_err() {
            // Names of several types have no order of their own.
            let mut words: Vec<(String, Bound<'py, PyAny>)> =
                new.into_iter().map(|name| Ok((name.repr()?.to_string(), name))).collect::<PyResult<_>>()?;
            words.sort_by(|a, b| a.0.cmp(&b.0));
            return Ok(words.into_iter().map(|(_, name)| name).collect());
        }
        Ok(list.iter().collect())
    }

    /// The place of each name; none for an unknown one.
    pub(crate) fn places<'py>(&mut self, py: Python<'py>, names: &[Bound<'py, PyAny>]) -> PyResult<Vec<Option<usize>>> {
        let places = self.index(py);
        names.iter().map(|name| places.get_item(name)?.map(|place| place.extract()).transpose()).collect()
    }

    /// `numbers ← ` the input of a dictionary, 0 where it has no such feature; the answer is whether it has unknown ones, which are left out.
    pub(crate) fn read(&mut self, dict: &Bound<'_, PyDict>, numbers: &mut Vec<f64>) -> PyResult<bool> {
        let py = dict.py();
        numbers.clear();
        numbers.resize(self.names.len(), 0.0);
        let mut unknown = false;
        for (position, (name, value)) in dict.iter().enumerate() {
            let place = match self.recent.get(position) {
                Some((key, place)) if key.as_ptr() == name.as_ptr() => *place,
                _ => {
                    let Some(place) = self.index(py).get_item(&name)? else {
                        unknown = true;
                        // Positions no longer agree; the next dictionary is looked up anew.
                        self.recent.clear();
                        continue;
                    };
                    let place = place.extract()?;
                    let entry = (name.unbind(), place);
                    if position < self.recent.len() {
                        self.recent[position] = entry;
                    } else if position == self.recent.len() {
                        self.recent.push(entry);
                    }
                    place
                }
            };
            numbers[place] = number(&value)?;
        }
        Ok(unknown)
    }
}

/// A number, as `float` takes it.
pub(crate) fn number(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        return Ok(float.value());
    }
    value
        .extract()
        .map_err(|_| errors::data(format!("{} is no number; encode it first, or use mercer.Pipeline", shown(value))))
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string().chars().take(60).collect())
}

/// `numbers ← ` those of a list, a tuple, or an array of one dimension.
pub(crate) fn sequence(values: &Bound<'_, PyAny>, numbers: &mut Vec<f64>) -> PyResult<()> {
    numbers.clear();
    if let Ok(list) = values.cast::<PyList>() {
        return list.iter().try_for_each(|value| number(&value).map(|value| numbers.push(value)));
    }
    if let Ok(tuple) = values.cast::<PyTuple>() {
        return tuple.iter().try_for_each(|value| number(&value).map(|value| numbers.push(value)));
    }
    if values.is_instance_of::<PyString>() {
        return Err(errors::data(format!(
            "{} is no input; give a dictionary, a list or an array of numbers",
            shown(values)
        )));
    }
    let items = values.try_iter().map_err(|_| {
        errors::data(format!("{} is no input; give a dictionary, a list or an array of numbers", shown(values)))
    })?;
    for value in items {
        numbers.push(number(&value?)?);
    }
    Ok(())
}

/// What one call needs: the features and memory that is used again.
#[derive(Default)]
pub(crate) struct Front {
    pub(crate) features: Features,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) scores: Vec<f64>,
    pub(crate) radii: Vec<f64>,
    pub(crate) scratch: mercer::Scratch,
    pub(crate) notes: Notes,
    /// Whether there is a learner, so that a step need not ask for its lock to know.
    pub(crate) made: bool,
}
