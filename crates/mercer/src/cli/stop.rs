//! A signal that asks the command to end: it finishes the row in hand, saves, and ends. A second one ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::failure::Failure;

/// Whether a signal has come.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens for SIGINT and SIGTERM from now on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the first signal must not find its own flag.
            let second = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop));
            let first = second.and_then(|_| flag::register(signal, Arc::clone(&stop)));
            first.map_err(|error| {
                Failure::because(format!("signals cannot be listened for ({error}); nothing was begun"))
            })?;
        }
        Ok(Self(stop))
    }

    /// For a run with nothing to be saved, which a signal may end at once.
    pub(crate) fn never() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
