//! Rows that were predicted and wait for their labels.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::StatusCode;

use super::Limits;
use super::model::{Row, Value};
use super::refusal::Refusal;

/// Most bytes of rows that wait.
const MOST_BYTES: usize = 1 << 26;

/// The rows, by the order in which they came.
#[derive(Default)]
pub(super) struct PendingRows {
    state: Mutex<PendingState>,
    /// Others cannot guess the ids that it gives.
    key: RandomState,
}

#[derive(Default)]
struct PendingState {
    rows: BTreeMap<u64, PendingRow>,
    bytes: usize,
    next: u64,
    expired: u64,
}

/// A row that waits.
pub(super) struct PendingRow {
    since: Instant,
    pub(super) values: Vec<Value>,
    bytes: usize,
}

impl PendingState {
    fn remove(&mut self, number: u64) -> Option<PendingRow> {
        let waiting = self.rows.remove(&number)?;
        self.bytes -= waiting.bytes;
        Some(waiting)
    }

    /// Forgets the oldest rows until those that are left are few and young enough.
    fn expire(&mut self, limits: &Limits) {
        while let Some((&number, oldest)) = self.rows.first_key_value()
            && (self.rows.len() > limits.kept_rows
                || self.bytes > MOST_BYTES
                || oldest.since.elapsed() > limits.kept_time)
        {
            self.remove(number);
            self.expired += 1;
        }
    }
}

impl PendingRows {
    fn state(&self) -> MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self, number: u64) -> String {
        format!("{number:x}-{:016x}", self.key.hash_one(number))
    }

    /// Numbers of rows that wait, and of rows that did not get their label in time.
    pub(super) fn count(&self) -> (usize, u64) {
        let state = self.state();
        (state.rows.len(), state.expired)
    }

    /// Keeps a row; the id by which its label is told.
    pub(super) fn keep(&self, row: Row, limits: &Limits) -> String {
        let bytes = row.bytes();
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.bytes += bytes;
        state.rows.insert(number, PendingRow { since: Instant::now(), values: row.values, bytes });
        state.expire(limits);
        self.id(number)
    }

    /// Takes out all of these rows, or none.
    ///
    /// # Errors
    /// If one of them does not wait, with its place.
    pub(super) fn take(&self, ids: &[String], limits: &Limits) -> Result<Vec<(u64, PendingRow)>, (usize, Refusal)> {
        let mut state = self.state();
        state.expire(limits);
        let mut taken = Vec::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            let number = id.split_once('-').and_then(|(number, _)| u64::from_str_radix(number, 16).ok());
            let issued = number.filter(|number| *number < state.next && self.id(*number) == *id);
            if let Some(waiting) = issued.and_then(|number| Some((number, state.remove(number)?))) {
                taken.push(waiting);
                continue;
            }
            drop(state);
            self.put_back(taken);
            return Err((at, if issued.is_some() { gone(id, limits) } else { unknown(id) }));
        }
        Ok(taken)
    }

    /// Rows that were taken out and not learnt wait on.
    pub(super) fn put_back(&self, rows: Vec<(u64, PendingRow)>) {
        let mut state = self.state();
        state.bytes += rows.iter().map(|(_, waiting)| waiting.bytes).sum::<usize>();
        state.rows.extend(rows);
    }
}

fn gone(id: &str, Limits { kept_rows, kept_time, .. }: &Limits) -> Refusal {
    let why = format!(
        "the row {id:?} waits no longer: its label was told already, or it was one of more than {kept_rows} rows, or it came \
         more than {} s ago; send the whole row with its target",
        Duration::as_secs(kept_time)
    );
    Refusal::new(StatusCode::GONE, why)
}

fn unknown(id: &str) -> Refusal {
    let why = format!("this service has given no id {id:?}; send the whole row with its target");
    Refusal::new(StatusCode::NOT_FOUND, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64) -> Row {
        Row { values: vec![Value::Number(value)], targets: vec![], weight: 1.0 }
    }

    #[test]
    fn rows_wait_for_their_labels_in_bounded_number_and_time() {
        let limits = Limits { kept_rows: 3, ..Limits::default() };
        let kept = PendingRows::default();
        let ids: Vec<String> = (0..5).map(|at| kept.keep(row(f64::from(at)), &limits)).collect();
        assert_eq!(kept.count(), (3, 2));
        let status = |id: &str| kept.take(&[id.to_owned()], &limits).map_err(|(_, refusal)| refusal.status).err();
        assert_eq!(status(&ids[1]), Some(StatusCode::GONE));
        for other in ["", "2", "2-0000000000000000", "9-0000000000000000", "x"] {
            assert_eq!(status(other), Some(StatusCode::NOT_FOUND), "{other}");
        }
        // All or none.
        let mixed = [ids[2].clone(), ids[3].clone(), ids[2].clone()];
        assert!(matches!(kept.take(&mixed, &limits), Err((2, Refusal { status: StatusCode::GONE, .. }))));
        assert_eq!(kept.count().0, 3);
        let taken = kept.take(&mixed[..2], &limits).unwrap_or_else(|(_, refusal)| panic!("{refusal:?}"));
        assert_eq!(taken[1].1.values, row(3.0).values);
        kept.put_back(taken);
        assert_eq!(status(&ids[3]), None);
        assert_eq!(status(&ids[3]), Some(StatusCode::GONE));
        let late = Limits { kept_time: Duration::ZERO, ..limits };
        assert!(kept.take(&ids[4..], &late).is_err());
        assert_eq!((kept.count(), kept.state().bytes), ((0, 4), 0));
    }
}
