//! Batches: piece by piece, without the interpreter, until all rows are done or the user interrupts.

use std::ops::Range;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long a signal may wait between two pieces.
const PATIENCE: Duration = Duration::from_millis(50);

/// Rows of a piece for a learner of this size: enough to share work between rows, few enough that others wait only some milliseconds. It depends
/// on the state alone, so that the same calls give the same bits.
pub(crate) fn piece(size: usize) -> usize {
    if size < 128 { 256 } else { 64 }
}

/// Has `work` do pieces of at most `size()` of `rows` rows, with the interpreter released, and looks after signals in between.
pub(crate) fn in_pieces(
    py: Python<'_>,
    rows: usize,
    mut work: impl FnMut(Range<usize>) -> PyResult<()> + Send,
    size: impl Fn() -> usize + Send,
) -> PyResult<()> {
    py.detach(move || {
        let (mut first, mut looked) = (0, Instant::now());
        while first < rows {
            let end = (first + size()).min(rows);
            work(first..end)?;
            first = end;
            if looked.elapsed() > PATIENCE {
                Python::attach(|py| py.check_signals())?;
                looked = Instant::now();
            }
        }
        Ok(())
    })
}
