//! Names of features and their places in an input.
//!
//! A dictionary of ten features costs some 200 ns: the names of the dictionary before are compared
//! by identity first, because streams usually give the same key objects again, and only other keys
//! are looked up.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple};

use mercer::Error;
use mercer::core::ExampleError;

use crate::errors;

/// The features of a model, by name.
#[derive(Default)]
pub(crate) struct FeatureNames {
    /// In the order of their places.
    names: Vec<Py<PyAny>>,
    /// From a name to its place.
    places: Option<Py<PyDict>>,
    /// The keys of the last dictionary in its order, with their places.
    recent: Vec<(Py<PyAny>, usize)>,
}

impl FeatureNames {
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

    /// The names as model files hold them; none unless all are texts.
    pub(crate) fn words(&self, py: Python<'_>) -> Vec<String> {
        words(py, &self.names)
    }

    /// What a learner refuses, with the name of the feature that it is about.
    pub(crate) fn refusal(&self, py: Python<'_>, error: Error) -> PyErr {
        if let Error::Example(ExampleError::NonFiniteInput { index, value }) = error
            && let Some(name) = self.names.get(index)
        {
            return self::refusal(name.bind(py), value);
        }
        errors::learner(error)
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

    /// Those of the names that are unknown, sorted, so that their places do not depend on the order
    /// in which they came.
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

    /// `numbers ← ` the input of a dictionary, 0 where it has no such feature; the answer is
    /// whether it has unknown ones, which are left out.
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
                    let entry = (name.clone().unbind(), place);
                    if position < self.recent.len() {
                        self.recent[position] = entry;
                    } else if position == self.recent.len() {
                        self.recent.push(entry);
                    }
                    place
                }
            };
            numbers[place] = number(&value).map_err(|error| of_feature(&name, error))?;
        }
        Ok(unknown)
    }
}

/// Texts, none unless all are.
pub(crate) fn words(py: Python<'_>, names: &[Py<PyAny>]) -> Vec<String> {
    let texts = names.iter().map(|name| Some(name.bind(py).cast::<PyString>().ok()?.to_string()));
    texts.collect::<Option<_>>().unwrap_or_default()
}

/// The same error, with the feature in front.
fn of_feature(name: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    errors::data(format!("feature {}: {}", shown(name), error.value(name.py())))
}

fn refusal(name: &Bound<'_, PyAny>, value: f64) -> PyErr {
    errors::data(format!("feature {} is {value}; drop the example or replace missing values by numbers", shown(name)))
}

/// Refuses what a new feature cannot be.
pub(crate) fn admit(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let value = number(value).map_err(|error| of_feature(name, error))?;
    if value.is_finite() { Ok(()) } else { Err(refusal(name, value)) }
}

/// The values of an input by the names of its features, if it has names: a dictionary, any other
/// mapping, a row of a frame, a named tuple.
pub(crate) fn keyed<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(dict) = x.cast::<PyDict>() {
        return Ok(Some(dict.clone()));
    }
    if x.cast_exact::<PyList>().is_ok() || x.cast_exact::<PyTuple>().is_ok() || x.is_instance_of::<PyString>() {
        return Ok(None);
    }
    // Rows of frames are no mappings, and know how to become one.
    for method in ["to_dict", "_asdict"] {
        if x.hasattr(method)? {
            return Ok(Some(x.call_method0(method)?.cast_into()?));
        }
    }
    if x.hasattr("keys")? { Ok(Some(x.py().get_type::<PyDict>().call1((x,))?.cast_into()?)) } else { Ok(None) }
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

pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
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
