//! A model that many threads predict with while one learns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use pyo3::prelude::*;
use pyo3::sync::RwLockExt;

/// A value behind a lock that neither side starves at.
///
/// The standard lock lets a thread that learns piece after piece take it again and again before
/// those that wait to read wake up. So readers say that they wait, and a writer lets them in
/// between its pieces.
#[derive(Default)]
pub(crate) struct FairLock<T> {
    lock: RwLock<T>,
    waiting: AtomicUsize,
}

impl<T: Send + Sync> FairLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { lock: RwLock::new(value), waiting: AtomicUsize::new(0) }
    }

    /// For reading, by a thread that holds the interpreter.
    pub(crate) fn read(&self, py: Python<'_>) -> RwLockReadGuard<'_, T> {
        match self.lock.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.waiting.fetch_add(1, Ordering::Relaxed);
                let guard = self.lock.read_py_attached(py).unwrap_or_else(PoisonError::into_inner);
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                guard
            }
        }
    }

    /// For learning, by a thread that holds the interpreter.
    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, T> {
        match self.lock.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.lock.write_py_attached(py).unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// For reading, by a thread that has let go of the interpreter.
    pub(crate) fn read_detached(&self) -> RwLockReadGuard<'_, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.lock.read().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// For learning, by a thread that has let go of the interpreter. Those who wait to read come
    /// first.
    pub(crate) fn write_detached(&self) -> RwLockWriteGuard<'_, T> {
        // Bounded, because readers that come again and again must not keep the learner out either.
        for _ in 0..64 {
            if self.waiting.load(Ordering::Relaxed) == 0 {
                break;
            }
            std::thread::yield_now();
        }
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }
}
