//! Rows of a file of each format.

use mercer_core::TokenRow;

use crate::columns::ColumnPlan;
use crate::dialect::Marks;
use crate::error::{DataError, Remark};
use crate::head::TargetHead;
use crate::lines::Lines;
use crate::options::ReadOptions;
use crate::record::Record;

/// The next thing in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    End,
    /// A row of plain numbers, which has been taken.
    Numbers,
    /// Another row, which is still to be taken as a record.
    Record,
}

/// The rows of a file of one format, in their order.
pub(crate) trait Rows: Send {
    fn plan(&self) -> &ColumnPlan;

    fn plan_mut(&mut self) -> &mut ColumnPlan;

    /// The names of the columns, if the file has names.
    fn names(&self) -> Option<&[String]>;

    /// Name of a column.
    fn name(&self, column: usize) -> Option<&str> {
        self.names().map(|names| names[column].as_str())
    }

    /// Targets of the first rows, in the column of the target.
    fn head(&mut self, lines: &mut Lines, target: usize, options: &ReadOptions) -> Result<TargetHead, DataError>;

    /// Makes a record of the next row; false at the end.
    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError>;

    /// Takes the next row if it is of plain finite numbers, and a label if the plan has one: its
    /// numbers into `row`, which has a place for each cell, and its canonical label into `label`.
    fn numbers(&mut self, _lines: &mut Lines, _row: &mut [f64], _label: &mut String) -> Result<Next, DataError> {
        Ok(Next::Record)
    }

    /// The row last taken, as it stands in the file or as JSON.
    fn text<'a>(&'a self, lines: &'a Lines) -> &'a [u8] {
        lines.whole_text()
    }

    /// Passes over rows, at most so many, that need not be read one by one.
    fn skip(&mut self, _lines: &Lines, _most: u64) -> Result<u64, DataError> {
        Ok(0)
    }

    /// The rows of each group that [`skip`](Self::skip) can pass over without reading it, of
    /// formats that have groups.
    fn groups(&self) -> &[u64] {
        &[]
    }

    /// Puts the tokens of the row last taken into `tokens`, of formats that have some.
    fn swap_tokens(&mut self, tokens: &mut Option<TokenRow>) {
        *tokens = None;
    }

    /// Number of rows, where that is known beforehand.
    fn length(&self) -> Option<usize> {
        None
    }

    /// Row taken for the header where the file leaves that in doubt, as one line for people.
    fn doubt(&self) -> Option<&str> {
        None
    }

    /// Lines on values of the rows so far that were left out.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// Remark that a person should know about the marks in numbers, once.
    fn take_remark(&mut self) -> Option<Remark> {
        None
    }

    /// The marks in the numbers so far.
    fn marks(&self) -> Marks {
        Marks::default()
    }

    /// True if rows are JSON objects, which name their values.
    fn are_objects(&self) -> bool {
        false
    }

    /// True if cells have types of their own, so that a text may yet be a number. Elsewhere the
    /// marks say what a number is.
    fn has_types(&self) -> bool {
        false
    }

    /// True if there is a line of names above the rows.
    fn has_header(&self) -> bool {
        false
    }
}
