//! The rows of a table that is in memory.

use mercer_core::Cell;

use crate::columns::ColumnPlan;
use crate::error::DataError;
use crate::head::TargetHead;
use crate::lines::Lines;
use crate::options::ReadOptions;
use crate::record::Record;
use crate::rows::{Next, Rows};

/// Rows of numbers, the last of which may be the place of a class.
pub(crate) struct Table {
    plan: ColumnPlan,
    names: Option<Vec<String>>,
    /// Row by row.
    values: Vec<f64>,
    classes: Option<Vec<String>>,
    given: usize,
}

impl Table {
    pub(crate) fn new(
        file: &str,
        (width, values): (usize, Vec<f64>),
        names: Option<Vec<String>>,
        classes: Option<Vec<String>>,
    ) -> Result<Self, DataError> {
        let plan = ColumnPlan::new(file, width, names.as_deref(), &ReadOptions::default().of_records())?;
        Ok(Self { plan, names, values, classes, given: 0 })
    }

    /// The next row, if there is one.
    fn next(&mut self, lines: &mut Lines) -> Option<&[f64]> {
        let row = self.values.chunks_exact(self.plan.columns()).nth(self.given)?;
        self.given += 1;
        lines.go_to_row(self.given as u64);
        Some(row)
    }
}

impl Rows for Table {
    fn plan(&self) -> &ColumnPlan {
        &self.plan
    }

    fn plan_mut(&mut self) -> &mut ColumnPlan {
        &mut self.plan
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn head(&mut self, _lines: &mut Lines, _target: usize, _options: &ReadOptions) -> Result<TargetHead, DataError> {
        Ok(TargetHead::default())
    }

    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        let last = self.plan.columns() - 1;
        let classes = self.classes.take();
        let row = self.next(lines);
        for (column, value) in row.into_iter().flatten().enumerate() {
            record.push(match &classes {
                Some(classes) if column == last => Cell::Text(&classes[*value as usize]),
                _ => Cell::Number(*value),
            });
        }
        let read = row.is_some();
        self.classes = classes;
        Ok(read)
    }

    fn numbers(&mut self, lines: &mut Lines, row: &mut [f64], _label: &mut String) -> Result<Next, DataError> {
        if self.classes.is_some() {
            return Ok(Next::Record);
        }
        Ok(match self.next(lines) {
            None => Next::End,
            Some(values) => {
                row.copy_from_slice(values);
                Next::Numbers
            }
        })
    }

    fn length(&self) -> Option<usize> {
        Some(self.values.len() / self.plan.columns())
    }
}
