//! Rows of numbers: those that are read at once, and those that come as records.

use mercer_core::Cell;

use super::{RowReader, TargetPlaces};
use crate::columns::{Role, Shape};
use crate::error::DataError;
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::number::{self, ParsedCell};
use crate::options::Missing;
use crate::rows::Next;

impl RowReader {
    /// The next row behind what `features` and the targets of `beside` hold already; false at the
    /// end, and nothing added. An error adds nothing, either.
    pub(super) fn append_row(&mut self, features: &mut Vec<f64>, beside: &mut TargetPlaces) -> Result<bool, DataError> {
        let Shape { dimension: d, width, numbers, weighted, .. } = self.shape;
        let before = features.len();
        features.resize(before + width, 0.0);
        let row = &mut features[before..];
        let read = self.fill_row(row, &mut beside.label);
        if matches!(read, Ok(true)) {
            beside.targets.extend_from_slice(&row[d..d + numbers]);
            beside.weight = if weighted { row[width - 1] } else { 1.0 };
            features.truncate(before + d);
        } else {
            features.truncate(before);
        }
        read
    }

    /// The numbers of the next row, one for each of its cells, and its label; false at the end.
    fn fill_row(&mut self, row: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        let next = if self.over { Ok(Next::End) } else { self.rows.numbers(&mut self.lines, row, label) };
        if !matches!(next, Ok(Next::Record)) {
            return self.count(next.map(|next| next == Next::Numbers));
        }
        let mut record = std::mem::take(&mut self.record);
        let read = self.next_record(&mut record);
        let filled = record.cells().enumerate().try_for_each(|(place, cell)| {
            row[place] = self.number(cell, place, label)?;
            Ok(())
        });
        self.record = record;
        read.and_then(|read| filled.map(|()| read))
    }

    /// The number of a cell; 0 for a label, which it puts into `label`.
    fn number(&self, cell: Cell<'_>, place: usize, label: &mut String) -> Result<f64, DataError> {
        let (plan, at) = (self.rows.plan(), || self.place(place));
        if let Cell::List(_) = cell {
            return Err(DataError::NestedValue { cell: at() });
        }
        if matches!(plan.role(plan.column(place)), Role::Label(_)) {
            Labels::canonical_cell(cell, label);
            let lacks = label.is_empty() && !self.unlabelled;
            return if lacks { Err(DataError::MissingTarget { cell: at() }) } else { Ok(0.0) };
        }
        let (is_target, value) = (place >= plan.dimension(), || cell.to_string());
        let is_weight = place >= plan.dimension() + plan.targets().len();
        let number = match number::cell_kind(cell) {
            ParsedCell::Number(value) if self.rows.has_types() => Some(value),
            _ => cell.number(),
        };
        match number {
            Some(value) if !is_weight || value >= 0.0 => return Ok(value),
            _ if is_weight => return Err(DataError::BadWeight { cell: at(), value: value() }),
            _ => {}
        }
        let is_gap = matches!(number::cell_kind(cell), ParsedCell::Empty | ParsedCell::Nan);
        match (is_gap, self.head) {
            (true, _) if self.missing == Missing::Nan || is_target && self.unlabelled => Ok(f64::NAN),
            (true, _) if is_target => Err(DataError::MissingTarget { cell: at() }),
            (true, _) => Err(DataError::EmptyCell { cell: at() }),
            (false, Some(TargetHead { rows, .. })) if is_target => {
                Err(DataError::LateLabel { cell: at(), value: value(), rows })
            }
            (false, _) => Err(DataError::NotANumber { cell: at(), value: value() }),
        }
    }
}
