//! Memory for the time of a call, so that a kernel row allocates nothing once it has been computed
//! before.

use std::cell::RefCell;

use mercer_simd::AlignedVec;

thread_local! {
    /// Vectors of this thread that no call uses; a kernel inside a kernel takes one more.
    static FREE: RefCell<Vec<AlignedVec>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with a vector of unknown contents that is kept for the next call.
///
/// The vectors are a stack: an inner call gives its vector back before the outer one does. When the
/// same calls come again, each therefore finds the vector that it had, large enough already.
pub(crate) fn scratch<R>(f: impl FnOnce(&mut AlignedVec) -> R) -> R {
    let mut vector = FREE.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = f(&mut vector);
    FREE.with_borrow_mut(|free| free.push(vector));
    result
}
