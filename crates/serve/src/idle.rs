//! Connections that wait for a request, the longest first: where there is no place for another,
//! the first of them is closed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Connections that have asked for nothing for so long may be closed.
const LONG: Duration = Duration::from_secs(1);

/// All of them, by the order in which they began to wait.
#[derive(Default)]
pub(super) struct IdleConnections {
    waiting: Mutex<Waiting>,
}

/// Those that wait, and the number that the next one gets.
#[derive(Default)]
struct Waiting {
    next: u64,
    by_number: BTreeMap<u64, (Instant, Arc<Notify>)>,
}

/// One connection.
pub(super) struct IdleConnection {
    of: Arc<IdleConnections>,
    close: Arc<Notify>,
    /// Its place among those that wait, if it does.
    place: Mutex<Option<u64>>,
}

impl IdleConnections {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the one that has waited for longest; false if none has waited for long.
    pub(super) fn close_longest(&self) -> bool {
        let waiting = &mut self.waiting().by_number;
        let Some(first) = waiting.first_entry().filter(|first| first.get().0.elapsed() >= LONG) else { return false };
        first.remove().1.notify_one();
        true
    }
}

impl IdleConnection {
    /// A connection that waits.
    pub(super) fn new(of: &Arc<IdleConnections>) -> Self {
        let connection = Self { of: Arc::clone(of), close: Arc::default(), place: Mutex::default() };
        connection.wait();
        connection
    }

    /// It waits for the next request.
    pub(super) fn wait(&self) {
        let mut all = self.of.waiting();
        let place = all.next;
        all.next += 1;
        all.by_number.insert(place, (Instant::now(), Arc::clone(&self.close)));
        *self.place() = Some(place);
    }

    /// A request has come; false if the connection is being closed.
    pub(super) fn work(&self) -> bool {
        let place = self.place().take();
        place.is_some_and(|place| self.of.waiting().by_number.remove(&place).is_some())
    }

    /// Waits until it is to be closed.
    pub(super) async fn closed(&self) {
        self.close.notified().await;
    }

    fn place(&self) -> MutexGuard<'_, Option<u64>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for IdleConnection {
    fn drop(&mut self) {
        self.work();
    }
}
