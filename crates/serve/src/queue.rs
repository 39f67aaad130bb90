//! Rows that wait to be learnt, and how long that will take.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Rows that are learnt before others have a say, and how long these should take.
const SLICE: u64 = 64;
const SLICE_TIME: u64 = 50_000_000;

/// Number of rows that wait, and the time that one took lately.
#[derive(Default)]
pub(super) struct Queue {
    rows: AtomicU64,
    /// Nanoseconds a row: a mean that forgets, 0 before the first.
    pace: AtomicU64,
}

impl Queue {
    pub(super) fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }

    /// Time that the rows that wait will take.
    pub(super) fn wait(&self) -> Duration {
        Duration::from_nanos(self.rows().saturating_mul(self.pace.load(Relaxed)))
    }

    /// Number of rows to learn in one go: one while their time is not known.
    pub(super) fn slice(&self) -> usize {
        SLICE_TIME.checked_div(self.pace.load(Relaxed)).map_or(1, |rows| rows.clamp(1, SLICE) as usize)
    }

    /// Takes in rows, unless those before them will take longer than they may.
    ///
    /// # Errors
    /// How long those before them will take.
    pub(super) fn admit(&self, rows: usize, most: Duration) -> Result<(), Duration> {
        let wait = self.wait();
        if wait > most {
            return Err(wait);
        }
        self.rows.fetch_add(rows as u64, Relaxed);
        Ok(())
    }

    /// Rows wait no longer.
    pub(super) fn leave(&self, rows: usize) {
        self.rows.fetch_sub(rows as u64, Relaxed);
    }

    /// So many rows took so long.
    pub(super) fn pace(&self, rows: usize, took: Duration) {
        if rows == 0 {
            return;
        }
        let now = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX) / rows as u64;
        let before = self.pace.load(Relaxed);
        let mean = if before == 0 { now } else { before / 8 * 7 + now / 8 };
        self.pace.store(mean.max(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_refused_where_those_before_them_take_too_long() {
        let (queue, most) = (Queue::default(), Duration::from_secs(1));
        assert_eq!(queue.slice(), 1);
        // Nothing is known of the time yet.
        queue.admit(1000, most).unwrap();
        queue.leave(1000);
        queue.pace(1000, Duration::from_secs(8));
        // However many they are, nobody is before them.
        queue.admit(1000, most).unwrap();
        assert_eq!(queue.admit(1, most), Err(Duration::from_secs(8)));
        queue.leave(900);
        queue.admit(1, most).unwrap();
        assert_eq!((queue.rows(), queue.wait()), (101, Duration::from_millis(808)));
        queue.pace(1, Duration::ZERO);
        assert_eq!((queue.wait(), queue.slice()), (Duration::from_millis(707), 7));
    }
}
