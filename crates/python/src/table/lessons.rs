//! Rows of a table that are learnt in pieces.

use std::ops::Range;

use mercer::Target;
use mercer::session::{Lesson, RowPrediction};
use pyo3::prelude::*;

use super::TableCore;
use crate::body::{self, scores, teach};
use crate::cells::PythonColumns;
use crate::errors;
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
}
