//! Rows of a table that are learnt in pieces.

use std::ops::Range;

use mercer::Target;
use mercer::session::{Lesson, RowPrediction};
use pyo3::prelude::*;

use super::TableCore;
use crate::body::{self, most, scores, teach};
use crate::cells::PythonColumns;
use crate::errors;
use crate::names::{number, sequence};
use crate::rows::at_row;

/// What rows are to teach: numbers, or classes by their places.
pub(super) struct Lessons<'a> {
    pub(super) ys: Option<&'a [f64]>,
    pub(super) width: usize,
    pub(super) classes: &'a [usize],
    pub(super) weights: &'a [f64],
}

impl Lessons<'_> {
    /// That of a row, where so many classes are known.
    fn lesson(&self, row: usize, known: usize) -> PyResult<Lesson<'_>> {
        let weight = self.weights.get(row).copied().unwrap_or(1.0);
        match self.ys.and_then(|ys| ys.get(row * self.width..(row + 1) * self.width)) {
            Some(y) => Ok(Lesson::Numbers(Target::weighted(y, weight))),
            None => {
                let class = *self.classes.get(row).ok_or_else(errors::wrong_kind)?;
                Ok(Lesson::Class { class, known, weight })
            }
        }
    }
}

/// Rows that were learnt: their predictions, the classes that these chose, and those known by now.
#[derive(Default)]
pub(super) struct LearntRows {
    pub(super) made: Vec<f64>,
    pub(super) chosen: Vec<Option<usize>>,
    pub(super) known: usize,
    pub(super) work: RowPrediction,
}

impl TableCore {
    /// Learns rows one by one, so that the numbers are those of the command to the bit, however
    /// the rows are cut into batches.
    pub(super) fn learn_piece(
        &self,
        range: Range<usize>,
        (names, columns, width): (Option<&[String]>, &PythonColumns, usize),
        lessons: &Lessons<'_>,
        learnt: &mut LearntRows,
    ) -> PyResult<()> {
        let mut model = self.model.write_detached();
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        let mut notes = self.notes();
        let map = self.matching(body::encoding(model)?, names, width, &mut notes)?;
        for row in range {
            let view = columns.row(row);
            let record = map.record(&view).map_err(|error| at_row(row, errors::encoding(error)))?;
            let lesson = lessons.lesson(row, learnt.known)?;
            let taught = teach(model, &mut notes, &record, Some(row), lesson, &mut learnt.work);
            learnt.chosen.push(taught.map_err(|error| at_row(row, error))?);
            if let Lesson::Class { class, known, weight } = lesson {
                learnt.known += usize::from(class == known && weight != 0.0);
            }
            learnt.made.extend_from_slice(scores(model, &learnt.work));
        }
        Ok(())
    }
    /// Learns one row. The answer is what there is to be said; `None` where a key with a value is
    /// no column and the row is not to be learnt `anyway`.
    pub(super) fn learn_row(
        &self,
        row: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        w: f64,
        anyway: bool,
    ) -> PyResult<Option<Vec<String>>> {
        let py = row.py();
        let mut single = self.single(py);
        let (cells, work) = &mut *single;
        let mut classes = self.classes(py);
        let mut model = self.model.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        let mut notes = self.notes();
        if cells.read(row, &self.gaps.read(py), &mut notes)? && !anyway {
            return Ok(None);
        }
        if model.numbers().is_some() {
            let mut target = Vec::with_capacity(1);
            match number(y) {
                Ok(y) => target.push(y),
                Err(error) => sequence(y, &mut target).map_err(|_| error)?,
            }
            teach(model, &mut notes, cells, None, Lesson::Numbers(Target::weighted(&target, w)), work)?;
        } else {
            let class = classes.class(y, most(model))?;
            teach(model, &mut notes, cells, None, Lesson::Class { class, known: classes.len(), weight: w }, work)?;
            if class == classes.len() && w != 0.0 {
                classes.append(y)?;
            }
        }
        Ok(Some(notes.take()))
    }
}
