//! Classes as Python objects: their places, and what model files hold of them.

use mercer::readers::{LabelKind, Labels};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors;
use crate::names::shown;
use crate::rows::at_row;

/// The classes that were met, in the order in which they were: class `k` of the classifier is label
/// `k`.
#[derive(Default)]
pub(crate) struct MetClasses {
    labels: Vec<Py<PyAny>>,
    places: Option<Py<PyDict>>,
}

impl MetClasses {
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// The labels in the order of their classes.
    pub(crate) fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.labels)
    }

    /// The label of a class. Of two classes the second may never have been met; the first then
    /// stands for it.
    pub(crate) fn label<'py>(&self, py: Python<'py>, class: usize) -> Option<Bound<'py, PyAny>> {
        self.labels.get(class).or(self.labels.first()).map(|label| label.bind(py).clone())
    }

    /// The labels of classes, None for none.
    pub(crate) fn labels<'py>(&self, py: Python<'py>, classes: &[Option<usize>]) -> PyResult<Bound<'py, PyList>> {
        let labels = classes.iter().map(|class| class.and_then(|class| self.label(py, class)));
        PyList::new(py, labels.collect::<Vec<_>>())
    }

    fn index<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.places.get_or_insert_with(|| PyDict::new(py).unbind()).bind(py).clone()
    }

    /// The class of a label; none for a new one.
    ///
    /// A new label is refused where it is missing, or where it is the text of a number that is a
    /// class already: files of text do not tell them apart, and who gives one for the other means
    /// the same.
    pub(crate) fn place(&mut self, label: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        if let Some(place) = self.index(label.py()).get_item(label)? {
            return place.extract().map(Some);
        }
        if label.is_none() || !label.eq(label).unwrap_or(false) {
            return Err(errors::data(format!("{} is no class; drop the rows whose class is missing", shown(label))));
        }
        let told = told(label)?;
        let same = |other: &Py<PyAny>| -> PyResult<bool> {
            Ok(match (&told, &self::told(other.bind(label.py()))?) {
                (Some((name, kind)), Some((other, known))) => kind != known && canonical(name) == canonical(other),
                _ => false,
            })
        };
        for other in &self.labels {
            if same(other)? {
                let known = other.bind(label.py());
                return Err(errors::data(format!(
                    "the class {} is not of the type of the class {} that is known; give it as that",
                    shown(label),
                    shown(known)
                )));
            }
        }
        Ok(None)
    }

    /// The class of each row, whose label is `labels[code]`, in the order in which classes are met;
    /// a row of weight 0 makes none known. `most` classes are taken, if there is a limit.
    pub(crate) fn meet(
        &mut self,
        labels: &[Bound<'_, PyAny>],
        codes: &[i64],
        weights: &[f64],
        most: Option<usize>,
    ) -> PyResult<Vec<usize>> {
        let mut places: Vec<Option<usize>> = labels.iter().map(|label| self.place(label)).collect::<PyResult<_>>()?;
        let mut met = Vec::with_capacity(codes.len());
        for (row, code) in codes.iter().enumerate() {
            let code = usize::try_from(*code).unwrap_or(usize::MAX);
            let label = labels.get(code).ok_or_else(|| errors::data("a code without a label"))?;
            let known = self.len();
            met.push(match places[code] {
                Some(place) => place,
                None if most.is_some_and(|most| known >= most) => return Err(at_row(row, third(label, &self.labels))),
                None => {
                    if weights.get(row) != Some(&0.0) {
                        self.append(label)?;
                        places[code] = Some(known);
                    }
                    known
                }
            });
        }
        Ok(met)
    }

    /// The class of a label, the next one for a new label where the model takes that many.
    pub(crate) fn class(&mut self, label: &Bound<'_, PyAny>, most: Option<usize>) -> PyResult<usize> {
        match self.place(label)? {
            Some(class) => Ok(class),
            None if most.is_some_and(|most| self.len() >= most) => Err(third(label, &self.labels)),
            None => Ok(self.len()),
        }
    }

    /// Takes a label that is new.
    pub(crate) fn append(&mut self, label: &Bound<'_, PyAny>) -> PyResult<()> {
        self.index(label.py()).set_item(label, self.labels.len())?;
        self.labels.push(label.clone().unbind());
        Ok(())
    }

    /// Forgets labels whose examples were refused.
    pub(crate) fn truncate(&mut self, py: Python<'_>, count: usize) -> PyResult<()> {
        let places = self.index(py);
        self.labels.drain(count.min(self.labels.len())..).try_for_each(|label| places.del_item(label))
    }

    /// These labels.
    pub(crate) fn of(labels: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        let mut classes = Self::default();
        labels.iter().try_for_each(|label| classes.append(label))?;
        Ok(classes)
    }

    /// Those of a file.
    pub(crate) fn of_file(py: Python<'_>, labels: &Labels) -> PyResult<Self> {
        let labels: Vec<_> = labels
            .names()
            .iter()
            .zip(labels.kinds())
            .map(|(name, kind)| untold(py, name, *kind))
            .collect::<PyResult<_>>()?;
        Self::of(&labels)
    }

    /// As a file holds them. What has no kind there is named by its text; who wrote it must know it
    /// again.
    ///
    /// # Errors
    /// When two have one name.
    pub(crate) fn to_file(&self, py: Python<'_>) -> PyResult<Labels> {
        let mut labels = Labels::new();
        for label in &self.labels {
            let label = label.bind(py);
            let (name, kind) = match told(label)? {
                Some(told) => told,
                None => (label.str()?.to_string(), LabelKind::Text),
            };
            if !labels.insert_as(&name, kind) {
                return Err(errors::file(format!(
                    "the class {} has no name of its own in a file; pickle the model, or give the classes other names",
                    shown(label)
                )));
            }
        }
        Ok(labels)
    }

    /// As many classes with names that mean nothing: those of a pickle, which has the labels
    /// itself.
    pub(crate) fn numbered(&self) -> Labels {
        let mut labels = Labels::new();
        (0..self.labels.len()).for_each(|class| _ = labels.insert(&class.to_string()));
        labels
    }
}

fn canonical(name: &str) -> String {
    let mut made = String::new();
    Labels::canonical(name, &mut made);
    made
}

/// The name and the kind of a label, also of one of numpy; none for other objects.
fn told(label: &Bound<'_, PyAny>) -> PyResult<Option<(String, LabelKind)>> {
    let item;
    let plain =
        label.is_instance_of::<PyString>() || label.is_instance_of::<PyInt>() || label.is_instance_of::<PyFloat>();
    let label = if !plain && label.hasattr("dtype")? && label.hasattr("item")? {
        item = label.call_method0("item")?;
        &item
    } else {
        label
    };
    Ok(if let Ok(truth) = label.cast::<PyBool>() {
        Some((truth.is_true().to_string(), LabelKind::Truth))
    } else if let Ok(text) = label.cast::<PyString>() {
        Some((text.to_str()?.to_owned(), LabelKind::Text))
    } else if label.is_instance_of::<PyInt>() {
        Some((label.str()?.to_string(), LabelKind::Integer))
    } else if let Ok(float) = label.cast::<PyFloat>() {
        Some((float.value().to_string(), LabelKind::Number))
    } else {
        None
    })
}

/// The label of this name and kind.
fn untold<'py>(py: Python<'py>, name: &str, kind: LabelKind) -> PyResult<Bound<'py, PyAny>> {
    let number = || name.parse::<f64>().map_err(|error| errors::file(error.to_string()));
    Ok(match kind {
        LabelKind::Truth => PyBool::new(py, name == "true").to_owned().into_any(),
        // By way of a float, because names of large integers are written as powers of ten.
        LabelKind::Integer => PyFloat::new(py, number()?).call_method0("__int__")?,
        LabelKind::Number => PyFloat::new(py, number()?).into_any(),
        _ => PyString::new(py, name).into_any(),
    })
}

/// The refusal of a class beside two that were settled.
fn third(label: &Bound<'_, PyAny>, known: &[Py<PyAny>]) -> PyErr {
    let known: Vec<String> = known.iter().map(|known| shown(known.bind(label.py()))).collect();
    errors::data(format!(
        "{} is a third class, and the model was begun for two, {}: fit it with rows of all classes, or begin it with partial_fit or learn_one, \
         where classes join as they come; a learner that knows two only needs another, such as KrlsClassifier",
        shown(label),
        known.join(" and ")
    ))
}
