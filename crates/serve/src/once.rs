//! Requests that are sent again with the `Idempotency-Key` of an earlier one are answered as that
//! was, and nothing is learnt twice.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use super::Limits;
use super::refusal::Refusal;

/// Most bytes of answers that are kept.
const MOST_BYTES: usize = 1 << 25;

/// Answers by the keys of their requests.
#[derive(Default)]
pub(super) struct KeyedAnswers {
    state: Mutex<KeyedState>,
    hasher: RandomState,
}

#[derive(Default)]
struct KeyedState {
    answers: BTreeMap<String, KeyedAnswer>,
    order: VecDeque<(Instant, String)>,
    bytes: usize,
}

struct KeyedAnswer {
    /// Of the body that came with the key first.
    digest: u64,
    /// None while it is being made.
    answer: Option<(StatusCode, Bytes)>,
}

/// What is to be done for a request.
pub(super) enum Once {
    /// It is the first of its key.
    Do,
    /// It was answered so.
    Told(StatusCode, Bytes),
}

/// The header that has the key.
pub(super) const KEY: &str = "idempotency-key";

/// The key of a request, if it has one.
///
/// # Errors
/// If it is none.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut told = headers.get_all(KEY).iter();
    let (Some(key), other) = (told.next(), told.next()) else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| (1..=255).contains(&key.len()) && other.is_none());
    match key {
        Some(key) => Ok(Some(key.to_owned())),
        None => Err(Refusal::bad_request("an Idempotency-Key has 1 to 255 printable characters; send one at most")),
    }
}

impl KeyedAnswers {
    fn state(&self) -> MutexGuard<'_, KeyedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn digest(&self, body: &[u8]) -> u64 {
        self.hasher.hash_one(body)
    }

    /// # Errors
    /// 409 while the first request of the key is answered, 422 if that had another body.
    pub(super) fn begin(&self, key: &str, digest: u64, limits: &Limits) -> Result<Once, Refusal> {
        let mut state = self.state();
        state.forget(limits);
        match state.answers.get(key) {
            Some(known) if known.digest != digest => Err(Refusal::unprocessable(format!(
                "the Idempotency-Key {key:?} came with another body before; give a new one"
            ))),
            Some(KeyedAnswer { answer: Some((status, body)), .. }) => Ok(Once::Told(*status, body.clone())),
            Some(_) => Err(Refusal::new(
                StatusCode::CONFLICT,
                format!("the request of the Idempotency-Key {key:?} is being answered; send it again later"),
            )),
            None => {
                state.answers.insert(key.to_owned(), KeyedAnswer { digest, answer: None });
                state.order.push_back((Instant::now(), key.to_owned()));
                Ok(Once::Do)
            }
        }
    }

    /// Keeps an answer; without one the request may be sent again as a new one.
    pub(super) fn end(&self, key: &str, answer: Option<(StatusCode, Bytes)>) {
        let mut state = self.state();
        match (answer, state.answers.get_mut(key)) {
            (Some(answer), Some(known)) => {
                let bytes = answer.1.len();
                known.answer = Some(answer);
                state.bytes += bytes;
            }
            (None, Some(_)) => {
                state.answers.remove(key);
            }
            (_, None) => {}
        }
    }
}

impl KeyedState {
    /// Forgets the oldest answers until those that are left are few, small and young enough.
    fn forget(&mut self, limits: &Limits) {
        while let Some((since, _)) = self.order.front()
            && (self.order.len() >= limits.kept_rows.max(1)
                || self.bytes > MOST_BYTES
                || since.elapsed() > limits.kept_time)
        {
            let Some((_, key)) = self.order.pop_front() else { return };
            let gone = self.answers.remove(&key).and_then(|known| known.answer);
            self.bytes -= gone.map_or(0, |(_, body)| body.len());
        }
    }
}
