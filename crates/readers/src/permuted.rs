//! Rows in a random order, which are held in memory.

use crate::columns::{ColumnPlan, Role};
use crate::dialect::Marks;
use crate::error::{ContainerError, DataError, Remark};
use crate::head::TargetHead;
use crate::lines::{HEAD_LINES, Lines};
use crate::number::cell_kind;
use crate::options::ReadOptions;
use crate::permute::permutation;
use crate::record::Record;
use crate::rows::Rows;

/// Bytes of text that rows which come only once may have in all, so that a stream without an end
/// claims no more memory.
pub(crate) const MOST_STREAMED: usize = 1 << 30;

/// All rows of a file in the order of [`permutation`], good or bad, each with its line and its
/// text. It holds about 32 bytes a cell, and the text twice.
pub(crate) struct Permuted {
    inner: Box<dyn Rows>,
    rows: Vec<HeldRow>,
    order: Vec<usize>,
    given: usize,
    /// The texts of the rows, one behind the other.
    text: Vec<u8>,
}

struct HeldRow {
    record: Record,
    /// Why it cannot be read; nothing once that was told.
    error: Option<DataError>,
    line: u64,
    /// Where its text ends.
    end: usize,
}

impl Permuted {
    /// Reads all rows, of which the text may have so many bytes.
    ///
    /// # Errors
    /// Those after which no row can be read; [`ContainerError::TooLongToPermute`].
    pub(crate) fn gather(
        mut inner: Box<dyn Rows>,
        lines: &mut Lines,
        (seed, most): (u64, usize),
    ) -> Result<Self, DataError> {
        let (mut rows, mut text) = (Vec::new(), Vec::new());
        loop {
            let mut record = Record::new();
            let error = match inner.record(lines, &mut record) {
                Ok(false) => break,
                Ok(true) => None,
                Err(error) if error.concerns_one_row() => Some(error),
                Err(error) => return Err(error),
            };
            record.shrink();
            text.extend_from_slice(inner.text(lines));
            if text.len() > most {
                let (file, rows) = (lines.file().to_owned(), rows.len());
                return Err(ContainerError::TooLongToPermute { file, rows, bytes: most }.into());
            }
            rows.push(HeldRow { record, error, line: lines.line_number(), end: text.len() });
        }
        let order = permutation(rows.len(), seed);
        Ok(Self { inner, rows, order, given: 0, text })
    }
}

impl Rows for Permuted {
    fn plan(&self) -> &ColumnPlan {
        self.inner.plan()
    }

    fn plan_mut(&mut self) -> &mut ColumnPlan {
        self.inner.plan_mut()
    }

    fn names(&self) -> Option<&[String]> {
        self.inner.names()
    }

    fn head(&mut self, _lines: &mut Lines, target: usize, _options: &ReadOptions) -> Result<TargetHead, DataError> {
        let mut head = TargetHead::default();
        let (Role::Value(cell) | Role::Label(cell)) = self.plan().role(target) else { return Ok(head) };
        let first = self.order.iter().take(HEAD_LINES).map(|row| &self.rows[*row].record);
        first.filter(|record| record.len() > cell).for_each(|record| head.see(cell_kind(record.cell(cell))));
        Ok(head)
    }

    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        let Some(row) = self.order.get(self.given).and_then(|row| self.rows.get_mut(*row)) else { return Ok(false) };
        self.given += 1;
        lines.go_to_row(row.line);
        std::mem::swap(record, &mut row.record);
        row.error.take().map_or(Ok(true), Err)
    }

    fn text<'a>(&'a self, _lines: &'a Lines) -> &'a [u8] {
        let Some(row) = self.given.checked_sub(1).map(|last| self.order[last]) else { return &[] };
        let begin = row.checked_sub(1).map_or(0, |before| self.rows[before].end);
        &self.text[begin..self.rows[row].end]
    }

    fn length(&self) -> Option<usize> {
        Some(self.rows.len())
    }

    fn doubt(&self) -> Option<&str> {
        self.inner.doubt()
    }

    fn take_remark(&mut self) -> Option<Remark> {
        self.inner.take_remark()
    }

    fn left_out(&self) -> Vec<String> {
        self.inner.left_out()
    }

    fn marks(&self) -> Marks {
        self.inner.marks()
    }

    fn are_objects(&self) -> bool {
        self.inner.are_objects()
    }

    fn has_types(&self) -> bool {
        self.inner.has_types()
    }

    fn has_header(&self) -> bool {
        self.inner.has_header()
    }
}
