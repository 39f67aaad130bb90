//! Batches: piece by piece, without the interpreter, until all rows are done or the user
//! interrupts.

use std::ops::Range;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mercer::Error;
use mercer::core::ExampleError;
use pyo3::prelude::*;

use crate::errors;
use crate::names::Names;

/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// Rows of a piece for a learner with so many points: enough to share work between rows, few
/// enough that others wait only some milliseconds. It depends on the model alone, so that the same
/// calls give the same bits.
pub(crate) fn piece(points: usize) -> usize {
    if points < 128 { 256 } else { 64 }
}

/// The most rows of a piece where each takes up to `budget` multiply-adds: a signal does not wait
/// for more of them.
pub(crate) fn prompt(budget: usize) -> usize {
    (8 * SHORT / budget.max(1)).max(1)
}

/// Why a batch ended early.
pub(crate) enum EarlyEnd {
    /// A learner took no more than the rows before this one.
    Row(usize, Error),
    Other(PyErr),
}

impl From<PyErr> for EarlyEnd {
    fn from(error: PyErr) -> Self {
        Self::Other(error)
    }
}

impl EarlyEnd {
    /// The exception, with the row and the feature that it is about.
    pub(crate) fn named(self, names: &Names) -> PyErr {
        match self {
            Self::Row(row, error) => at_row(row, names.refusal(error)),
            Self::Other(error) => error,
        }
    }
}

/// The same error, with the row of the batch in front.
pub(crate) fn at_row(row: usize, error: PyErr) -> PyErr {
    Python::attach(|py| {
        let message = format!("row {row}: {}", error.value(py));
        error.get_type(py).call1((message,)).map_or_else(|other| other, PyErr::from_value)
    })
}

/// The input is not as wide as the learner's.
pub(crate) fn check_width(expected: usize, got: usize) -> PyResult<()> {
    if expected == got { Ok(()) } else { Err(errors::learner(ExampleError::Dimension { expected, got }.into())) }
}

/// [`in_pieces_of`] for work that raises exceptions itself.
pub(crate) fn in_pieces(
    py: Python<'_>,
    rows: usize,
    work: impl FnMut(Range<usize>) -> PyResult<()> + Send,
    size: impl Fn() -> usize + Send,
) -> PyResult<()> {
    in_pieces_of(py, rows, work, size)
}

/// Has `work` do pieces of at most `size()` of `rows` rows, with the interpreter released, and
/// looks after signals in between.
pub(crate) fn in_pieces_of<E: From<PyErr> + Send>(
    py: Python<'_>,
    rows: usize,
    mut work: impl FnMut(Range<usize>) -> Result<(), E> + Send,
    size: impl Fn() -> usize + Send,
) -> Result<(), E> {
    py.detach(move || {
        let (mut first, mut looked) = (0, Instant::now());
        while first < rows {
            let end = (first + size()).min(rows);
            work(first..end)?;
            first = end;
            if looked.elapsed() > PATIENCE {
                #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime")]
                Python::attach(|py| py.check_signals())?;
                looked = Instant::now();
            }
        }
        Ok(())
    })
}

/// Multiply-adds that take no longer than a signal may wait.
const SHORT: usize = 1 << 24;

/// Has `work`, of about so many multiply-adds and without pieces, done with the interpreter
/// released; long work by a thread, while this one looks after signals. After one the thread ends
/// its work unheard.
pub(crate) fn patiently<T: Send + 'static>(
    py: Python<'_>,
    cost: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if cost < SHORT {
        return Ok(py.detach(work));
    }
    let (tell, mut hear) = channel();
    thread::spawn(move || tell.send(work()));
    loop {
        let heard;
        (hear, heard) = py.detach(move || {
            let heard = hear.recv_timeout(PATIENCE);
            (hear, heard)
        });
        match heard {
            Ok(made) => return Ok(made),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(errors::settings("a thread of the library failed")),
        }
    }
}
