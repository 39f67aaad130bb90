//! Rows of a table that are predicted, one by one and in pieces.

use std::ops::Range;

use mercer::model::Classes;
use mercer::session::RowPrediction;
use pyo3::prelude::*;

use super::TableCore;
use crate::body::{self, scores, told};
use crate::cells::PythonColumns;
use crate::errors;
use crate::rows::at_row;
use crate::steps::Extra;

/// Predictions of rows, `width` numbers each, with what is told beside them and the classes that
/// they choose among those known.
pub(super) struct PredictedRows {
    pub(super) made: Vec<f64>,
    pub(super) others: Vec<f64>,
    pub(super) chosen: Vec<Option<usize>>,
    pub(super) width: usize,
    beside: Extra,
    known: usize,
    work: RowPrediction,
}

impl PredictedRows {
    pub(super) fn new(beside: Extra, rows: usize, known: usize) -> Self {
        let (made, others, chosen) = Default::default();
        Self { made, others, chosen, width: 1, beside, known, work: RowPrediction::for_rows(rows) }
    }
}

impl TableCore {
    /// Predicts the rows of a piece.
    pub(super) fn predict_piece(
        &self,
        range: Range<usize>,
        (names, columns, width): (Option<&[String]>, &PythonColumns, usize),
        predicted: &mut PredictedRows,
    ) -> PyResult<()> {
        let model = self.model.read_detached();
        let model = model.as_ref().ok_or_else(errors::not_learnt)?;
        let encoding = body::encoding(model)?;
        let map = self.matching(encoding, names, width, &mut self.notes())?;
        let PredictedRows { made, others, chosen, width, beside, known, work } = predicted;
        for row in range {
            let view = columns.row(row);
            let record = map.record(&view).map_err(|error| at_row(row, errors::encoding(error)))?;
            self.notes().look(Some(row), encoding, &record);
            model.predict_record(&record, *known, work).map_err(|error| at_row(row, errors::step(error)))?;
            if let Some(Classes { classifier, .. }) = model.classes() {
                chosen.push(classifier.choice(&work.scores));
            }
            let (numbers, aside) = beside.complete(model, work).map_err(|error| at_row(row, error))?;
            if row == 0 {
                *width = numbers.len();
            }
            made.extend(numbers.iter().copied().chain(std::iter::repeat(0.0)).take(*width));
            others.extend_from_slice(aside);
        }
        Ok(())
    }

    /// The prediction for one row or what is told beside it, and what there is to be said.
    pub(super) fn predict_row<'py>(
        &self,
        row: &Bound<'py, PyAny>,
        beside: Extra,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
        let py = row.py();
        let mut single = self.single(py);
        let (cells, work) = &mut *single;
        let classes = self.classes(py);
        let model = self.model.read(py);
        let model = model.as_ref().ok_or_else(errors::not_learnt)?;
        let mut notes = self.notes();
        cells.read(row, &self.gaps.read(py), &mut notes)?;
        notes.look(None, body::encoding(model)?, cells);
        model.predict_record(cells, classes.len(), work).map_err(errors::step)?;
        let made = match beside {
            Extra::Nothing => told(py, model, scores(model, work), &classes)?,
            beside => beside.complete(model, work)?.into_pyobject(py)?.into_any(),
        };
        Ok((made, notes.take()))
    }
}
