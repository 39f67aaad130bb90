//! A signal that asks the command to end: it finishes the row in hand, saves, and ends. A second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::failure::Failure;

/// Whether a signal has come.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    requested: Arc<AtomicBool>,
    /// Its number.
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Listens for SIGINT and SIGTERM from now on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let stop = Self::never();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the first signal must not find its own flag.
            let second = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop.requested));
            let number = second.and_then(|_| flag::register_usize(signal, Arc::clone(&stop.signal), signal as usize));
            let first = number.and_then(|_| flag::register(signal, Arc::clone(&stop.requested)));
            first.map_err(|error| {
                Failure::because(format!("signals cannot be listened for ({error}); nothing was begun"))
            })?;
        }
        Ok(stop)
    }

    /// For a run with nothing to be saved, which a signal may end at once.
    pub(crate) fn never() -> Self {
        Self { requested: Arc::default(), signal: Arc::default() }
    }

    pub(crate) fn requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// The end of a run that has nothing to keep, if a signal has come.
    pub(crate) fn failure(&self) -> Result<(), Failure> {
        if !self.requested() {
            return Ok(());
        }
        Err(Failure::signal(u8::try_from(self.signal.load(Ordering::Relaxed)).unwrap_or(0)))
    }
}
