//! Names of columns, and rows by them: one intake for all faces.
//!
//! A column has one name, the text of what a library calls it: `"0"` for pandas' column 0. A place
//! of an array or a list is called `x0`, `x1`, … A model of places, or of columns `0`, `1`, …,
//! takes either spelling.
//!
//! A dictionary of ten features costs some 200 ns: the names of the dictionary before are compared
//! by identity first, because streams usually give the same key objects again, and only other keys
//! are looked up.

use std::collections::{HashMap, HashSet};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyList, PyString, PyTuple};

use mercer::Error;
use mercer::core::ExampleError;

use crate::errors;

/// The columns of a model, by name.
#[derive(Default)]
pub(crate) struct Names {
    /// In the order of their places.
    texts: Vec<String>,
    /// From a name to its place.
    places: Option<Py<PyDict>>,
    /// The keys of the last dictionary in its order, with their places.
    recent: Vec<(Py<PyAny>, Option<usize>)>,
    /// So many at the front are called after their places.
    places_alone: usize,
    /// They were the columns of a batch, whose order the user knows.
    pub(crate) in_order: bool,
}

/// What was found of a row.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) known: usize,
    pub(crate) unknown: usize,
}

/// A row: values by name, or one after the other.
pub(crate) enum Row<'py> {
    Keyed(Bound<'py, PyDict>),
    Placed(Bound<'py, PyAny>),
}

impl Names {
    /// The names of so many places.
    pub(crate) fn numbered(py: Python<'_>, count: usize) -> PyResult<Self> {
        Self::new(py, (0..count).map(|place| format!("x{place}")).collect())
    }

    /// These names.
    pub(crate) fn new(py: Python<'_>, texts: Vec<String>) -> PyResult<Self> {
        let mut names = Self::default();
        names.append(py, texts)?;
        Ok(names)
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The names in the order of their places.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// So many at the front are called after their places.
    pub(crate) fn places_alone(&self) -> usize {
        self.places_alone
    }

    /// True if the columns came without names, and none with one joined.
    pub(crate) fn is_nameless(&self) -> bool {
        self.places_alone == self.texts.len() && self.texts.first().is_none_or(|name| name == "x0")
    }

    /// What a learner refuses, with the name of the feature that it is about.
    pub(crate) fn refusal(&self, error: Error) -> PyErr {
        if let Error::Example(ExampleError::NonFiniteInput { index, value }) = error
            && let Some(name) = self.texts.get(index)
        {
            return refusal(name, value);
        }
        errors::learner(error)
    }

    /// Appends these names.
    pub(crate) fn append(&mut self, py: Python<'_>, texts: Vec<String>) -> PyResult<()> {
        let places = self.index(py);
        for name in texts {
            let place = self.texts.len();
            if self.places_alone == place && is_place(&name, place) {
                self.places_alone += 1;
            }
            places.set_item(&name, place)?;
            self.texts.push(name);
        }
        self.recent.clear();
        Ok(())
    }

    fn index<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.places.get_or_insert_with(|| PyDict::new(py).unbind()).bind(py).clone()
    }

    /// The place of a name; none of one that is unknown.
    pub(crate) fn place(&mut self, name: &Bound<'_, PyString>) -> PyResult<Option<usize>> {
        if let Some(place) = self.index(name.py()).get_item(name)? {
            return place.extract().map(Some);
        }
        if self.places_alone == 0 {
            return Ok(None);
        }
        Ok(other_spelling(name.to_str()?, self.places_alone))
    }

    /// Those of the keys of a row that are unknown, in the order of the keys, so that their places
    /// do not depend on the order in which they came.
    pub(crate) fn unknown<'py>(&mut self, row: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = row.py();
        let mut new = Vec::new();
        for name in row.keys() {
            if self.place(&text_of(&name)?)?.is_none() {
                new.push(name);
            }
        }
        if new.len() < 2 {
            return Ok(new);
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

    /// Has `take` told the place of every key of a row that is known, with its value; the others
    /// are counted.
    #[inline]
    pub(crate) fn each<'py>(
        &mut self,
        row: &Bound<'py, PyDict>,
        mut take: impl FnMut(Option<usize>, &Bound<'py, PyAny>, &Bound<'py, PyAny>) -> PyResult<()>,
    ) -> PyResult<Found> {
        let mut found = Found::default();
        for (position, (name, value)) in row.iter().enumerate() {
            let place = match self.recent.get(position) {
                Some((key, place)) if key.as_ptr() == name.as_ptr() => *place,
                _ => self.look_up(position, &name, row)?,
            };
            if place.is_some() {
                found.known += 1;
            } else {
                found.unknown += 1;
            }
            take(place, &name, &value)?;
        }
        Ok(found)
    }

    fn look_up(
        &mut self,
        position: usize,
        name: &Bound<'_, PyAny>,
        row: &Bound<'_, PyDict>,
    ) -> PyResult<Option<usize>> {
        let text = text_of(name)?;
        if !name.is_instance_of::<PyString>() && row.contains(&text)? {
            return Err(errors::data(format!("the row has two columns that are called {text:?}")));
        }
        let place = self.place(&text)?;
        self.recent.truncate(position);
        if position == self.recent.len() {
            self.recent.push((name.clone().unbind(), place));
        }
        Ok(place)
    }

    /// `numbers ← ` the input of a dictionary, 0 where it has no such feature; unknown ones are
    /// left out.
    pub(crate) fn read(&mut self, row: &Bound<'_, PyDict>, numbers: &mut Vec<f64>) -> PyResult<Found> {
        numbers.clear();
        numbers.resize(self.texts.len(), 0.0);
        self.each(row, |place, name, value| {
            if let Some(place) = place {
                numbers[place] = number(value).map_err(|error| of_feature(name, error))?;
            }
            Ok(())
        })
    }

    /// Refuses a row of so many values without names where the places are not known; true where
    /// they are by the order of a batch with names.
    pub(crate) fn take_places(&self, width: usize) -> PyResult<bool> {
        check_places(&self.texts, width, self.places_alone, self.in_order)
    }

    /// Refuses a row of names of which a model of places, or of a batch with names, knows none.
    pub(crate) fn check_known(&self, row: &Bound<'_, PyDict>, found: Found) -> PyResult<()> {
        let foreseen = self.places_alone > 0 || self.in_order;
        if found.known > 0 || found.unknown == 0 || !foreseen {
            return Ok(());
        }
        let given: Vec<String> =
            row.keys().iter().map(|name| text_of(&name).map(|text| text.to_string())).collect::<PyResult<_>>()?;
        Err(self.no_match(&given))
    }

    /// None of the names is known.
    pub(crate) fn no_match(&self, given: &[String]) -> PyErr {
        let given = if given.is_empty() {
            "the row has no column".to_owned()
        } else {
            format!("none of {} is known", listed(given))
        };
        errors::data(format!("{given}; the model knows {}", listed(&self.texts)))
    }
}

/// True if this is how a place is called.
fn is_place(name: &str, place: usize) -> bool {
    let mut digits = [0_u8; 20];
    let (mut at, mut rest) = (digits.len(), place);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    name.strip_prefix('x').unwrap_or(name).as_bytes() == &digits[at..]
}

/// The name of a column: the text of what a library calls it.
pub(crate) fn text_of<'py>(name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    match name.cast::<PyString>() {
        Ok(text) => Ok(text.clone()),
        Err(_) => name.str(),
    }
}

/// The first names, in quotes.
fn listed(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{:?}", name.as_ref())).collect();
    shown.join(", ") + if names.len() > SHOWN { ", …" } else { "" }
}

/// The place in `own` of each of the `given` columns, none of an unknown one; without names by
/// their order, and true where that is only the order of a batch that had names.
pub(crate) fn agree(
    own: &[&str],
    given: Option<&[String]>,
    width: usize,
    in_order: bool,
) -> PyResult<(Vec<Option<usize>>, bool)> {
    let alone = own.iter().enumerate().take_while(|(place, name)| is_place(name, *place)).count();
    let Some(given) = given else {
        let by_order = check_places(own, width, alone, in_order)?;
        return Ok(((0..width).map(Some).collect(), by_order));
    };
    let known: HashMap<&str, usize> = own.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    let (mut taken, mut found) = (HashSet::new(), Vec::with_capacity(given.len()));
    for name in given {
        let place = known.get(name.as_str()).copied().or_else(|| other_spelling(name, alone));
        if !taken.insert(place.map_or(name.as_str(), |place| own[place])) {
            return Err(errors::data(format!("the column {name:?} comes twice; give its columns names of their own")));
        }
        found.push(place);
    }
    Ok((found, false))
}

/// [`agree`] for batches of numbers; with the words for the order.
#[pyfunction]
pub(crate) fn places(
    own: Vec<String>,
    given: Option<Vec<String>>,
    width: usize,
    in_order: bool,
) -> PyResult<(Vec<Option<usize>>, Option<String>)> {
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let (found, by_order) = agree(&own, given.as_deref(), width, in_order)?;
    Ok((found, by_order.then(|| by_order_of(&own))))
}

/// Refuses rows of so many values without names where the places are not known; true where they are
/// by the order of a batch with names.
fn check_places(own: &[impl AsRef<str>], width: usize, alone: usize, in_order: bool) -> PyResult<bool> {
    if (1..=alone).contains(&width) || own.is_empty() || in_order && width == own.len() {
        return Ok(width > alone && !own.is_empty());
    }
    Err(errors::data(format!(
        "rows of {width} values without names, and the model knows {}: give dictionaries or a frame with these names",
        listed(own)
    )))
}

/// The place that this is another spelling of.
fn other_spelling(name: &str, alone: usize) -> Option<usize> {
    let place = name.strip_prefix('x').unwrap_or(name).parse().ok()?;
    (place < alone && is_place(name, place)).then_some(place)
}

/// Rows without names are taken in the order of a batch that had some.
pub(crate) fn by_order_of(names: &[impl AsRef<str>]) -> String {
    format!("the rows have no names; their values are taken in the order {}", listed(names))
}

/// The same error, with the feature in front.
fn of_feature(name: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    errors::data(format!("feature {}: {}", shown(name), error.value(name.py())))
}

fn refusal(name: &str, value: f64) -> PyErr {
    errors::data(format!("feature '{name}' is {value}; drop the example or replace missing values by numbers"))
}

/// Refuses what a new feature cannot be.
pub(crate) fn admit(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let value = number(value).map_err(|error| of_feature(name, error))?;
    if value.is_finite() { Ok(()) } else { Err(refusal(text_of(name)?.to_str()?, value)) }
}

impl<'py> Row<'py> {
    /// A row by the names of its columns: a dictionary, any other mapping, a row of a frame, a
    /// named tuple; or a list or an array of values.
    pub(crate) fn new(x: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(dict) = x.cast::<PyDict>() {
            return Ok(Self::Keyed(dict.clone()));
        }
        if x.cast_exact::<PyList>().is_ok() || x.cast_exact::<PyTuple>().is_ok() {
            return Ok(Self::Placed(x.clone()));
        }
        let framed = x.hasattr("columns")?;
        let text = x.is_instance_of::<PyString>() || x.is_instance_of::<PyBytes>();
        if text
            || framed
            || x.hasattr("column_names")?
            || !(x.hasattr("__iter__")? && x.hasattr("__getitem__")? || x.hasattr("keys")?)
        {
            let remedy = if framed {
                "give one of its rows, or the frame to predict, fit or learn_many"
            } else {
                "give a dictionary, a list or an array"
            };
            return Err(errors::data(format!("{} is no row; {remedy}", shown(x).replace('\n', " "))));
        }
        // Rows of frames are no mappings, and know how to become one.
        for method in ["to_dict", "_asdict"] {
            if x.hasattr(method)? {
                return Ok(Self::Keyed(x.call_method0(method)?.cast_into()?));
            }
        }
        if x.hasattr("keys")? {
            Ok(Self::Keyed(x.py().get_type::<PyDict>().call1((x,))?.cast_into()?))
        } else {
            Ok(Self::Placed(x.clone()))
        }
    }
}

/// A row as a dictionary: values without names by the names of their places.
#[pyfunction]
pub(crate) fn row<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    match Row::new(x)? {
        Row::Keyed(dict) => Ok(dict),
        Row::Placed(values) => {
            let dict = PyDict::new(x.py());
            let values = values.try_iter().map_err(|_| no_row(x))?;
            for (place, value) in values.enumerate() {
                dict.set_item(format!("x{place}"), value?)?;
            }
            Ok(dict)
        }
    }
}

/// A number, as `float` takes it.
pub(crate) fn number(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(float) = value.cast_exact::<PyFloat>() {
        return Ok(float.value());
    }
    let made = value.extract().ok().filter(|_| !is_time(value));
    made.ok_or_else(|| errors::data(format!("{} is no number; encode it first, or use mercer.Pipeline", shown(value))))
}

/// True of numpy's instants and durations, which count units that nobody told.
fn is_time(value: &Bound<'_, PyAny>) -> bool {
    let kind = || value.getattr("dtype")?.getattr("kind")?.extract::<String>();
    !value.is_instance_of::<pyo3::types::PyInt>() && kind().is_ok_and(|kind| kind == "M" || kind == "m")
}

pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string().chars().take(60).collect())
}

pub(crate) fn no_row(values: &Bound<'_, PyAny>) -> PyErr {
    errors::data(format!("{} is no input; give a dictionary, a list or an array of numbers", shown(values)))
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
        return Err(no_row(values));
    }
    for value in values.try_iter().map_err(|_| no_row(values))? {
        numbers.push(number(&value?)?);
    }
    Ok(())
}
