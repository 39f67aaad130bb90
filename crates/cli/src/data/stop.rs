//! A signal that asks the command to end: it finishes the row in hand, saves, and ends. A second
//! one ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(not(target_family = "wasm"))]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
#[cfg(not(target_family = "wasm"))]
use signal_hook::flag;

use crate::report::failure::Failure;

/// A flag that a signal sets.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    requested: Arc<AtomicBool>,
    /// Its number.
    signal: Arc<AtomicUsize>,
}

impl Stop {
    /// Listens for SIGINT, SIGTERM and SIGHUP from now on; not for the last where it is ignored, as
    /// under `nohup`.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn listen() -> Result<Self, Failure> {
        let stop = Self::never();
        let signals = [SIGINT, SIGTERM, SIGHUP];
        for signal in signals.into_iter().filter(|signal| *signal != SIGHUP || !is_hangup_ignored()) {
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

    /// For a run that saves when it is asked to end, however often it is asked: no signal ends it
    /// at once.
    #[cfg(all(feature = "serve", not(target_family = "wasm")))]
    pub(crate) fn listen_patiently(signals: &[i32]) -> Result<Self, Failure> {
        let stop = Self::never();
        for signal in signals.iter().copied().filter(|signal| *signal != SIGHUP || !is_hangup_ignored()) {
            flag::register(signal, Arc::clone(&stop.requested)).map_err(|error| {
                Failure::because(format!("signals cannot be listened for ({error}); nothing was begun"))
            })?;
        }
        Ok(stop)
    }

    #[cfg(all(feature = "serve", target_family = "wasm"))]
    pub(crate) fn listen_patiently(_: &[i32]) -> Result<Self, Failure> {
        Ok(Self::never())
    }

    /// True if a signal has come since this was asked last.
    #[cfg(feature = "serve")]
    pub(crate) fn has_come(&self) -> bool {
        self.requested.swap(false, Ordering::Relaxed)
    }

    /// A program in WebAssembly is told nothing of signals: whoever runs it ends it.
    #[cfg(target_family = "wasm")]
    pub(crate) fn listen() -> Result<Self, Failure> {
        Ok(Self::never())
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

/// True if the terminal may go away without ending the process. Linux tells the set of ignored
/// signals; SIGHUP is the first.
#[cfg(not(target_family = "wasm"))]
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).is_some_and(|set| set & 1 == 1)
}
