//! The bodies of requests, within bounds of size, time, and of the memory of all together.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use flate2::bufread::MultiGzDecoder;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::Service;
use super::refusal::Refusal;

const JSON: &str = "application/json";

/// Bytes of a place in the budget.
const PLACE: usize = 1024;

/// Bodies and rows of so many bytes need no place: connections bound them.
pub(super) const SMALL: usize = 1 << 14;

/// Rows that are predicted before others have their turn on the thread.
pub(super) const TURN: usize = 16;

/// The bytes that bodies and rows of all requests may have together.
#[derive(Clone)]
pub(super) struct Budget {
    places: Arc<Semaphore>,
    wait: Duration,
}

/// A part of the budget, until this is dropped.
#[derive(Default)]
pub(super) struct Held {
    places: Option<OwnedSemaphorePermit>,
}

impl Budget {
    pub(super) fn new(bytes: usize, wait: Duration) -> Self {
        let places = (bytes / PLACE).clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self { places: Arc::new(Semaphore::new(places)), wait }
    }

    /// Bytes that are free.
    pub(super) fn free(&self) -> usize {
        self.places.available_permits() * PLACE
    }

    /// Has so many bytes held in all.
    ///
    /// # Errors
    /// 503, if others hold them for too long.
    pub(super) async fn hold(&self, held: &mut Held, bytes: usize) -> Result<(), Refusal> {
        let before = held.places.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let wanted = if bytes <= SMALL { 0 } else { bytes.div_ceil(PLACE) };
        if wanted <= before {
            // What is held beyond that goes back.
            drop(held.places.as_mut().and_then(|places| places.split(before - wanted)));
            return Ok(());
        }
        let more = u32::try_from(wanted - before).unwrap_or(u32::MAX);
        let places = timeout(self.wait, Arc::clone(&self.places).acquire_many_owned(more)).await.ok();
        let Some(more) = places.and_then(Result::ok) else {
            return Err(Refusal::busy("large requests of others are served before; ask again later", self.wait));
        };
        match &mut held.places {
            Some(places) => places.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// Waits for its turn to work on something heavy.
pub(super) async fn turn<'a>(service: &'a Service, wait: Duration, or: &str) -> Result<SemaphorePermit<'a>, Refusal> {
    let turn = timeout(wait, service.turns.acquire()).await.ok().and_then(Result::ok);
    turn.ok_or_else(|| Refusal::busy(format!("others are served before; ask again later, or {or}"), wait))
}

/// The body of a request, within the bounds of size and time.
pub(super) async fn read(request: Request<Incoming>, service: &Service) -> Result<(Bytes, Held), Refusal> {
    let packed = is_packed(request.headers())?;
    let most = service.options.limits.body;
    let waits = request.headers().contains_key(EXPECT);
    let mut body = request.into_body();
    let too_large =
        || Refusal::too_large(&format!("the body is larger than {most} bytes; send fewer rows in a request"));
    // A client that waits to be told to go on is not told so.
    if waits && body.size_hint().lower() > most as u64 {
        return Err(Refusal { unread: true, ..too_large() });
    }
    let reading = async {
        let declared = body.size_hint().lower() > most as u64;
        let mut whole = Vec::with_capacity(body.size_hint().exact().map_or(0, |size| (size as usize).min(SMALL)));
        // What is too long is read on for a while, so that the client comes to see the answer.
        let (mut length, mut oversized, mut held) = (0_usize, declared, Held::default());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Refusal {
                unread: true,
                ..Refusal::bad_request(&format!("the body cannot be read ({error}); send it whole"))
            })?;
            let Ok(data) = frame.into_data() else { continue };
            length = length.saturating_add(data.remaining());
            oversized |= length > most;
            if !oversized {
                let late = |refusal| Refusal { unread: true, ..refusal };
                service.shared.budget.hold(&mut held, length).await.map_err(late)?;
                whole.extend_from_slice(&data);
            } else if length / 4 > most {
                return Err(Refusal { unread: true, ..too_large() });
            }
        }
        match (oversized, packed) {
            (true, _) => Err(too_large()),
            (false, false) => Ok((whole.into(), held)),
            (false, true) => {
                // Its end tells how long it becomes; who lies is told so when it is unpacked.
                let told = whole.last_chunk().map_or(0, |end| u32::from_le_bytes(*end) as usize);
                service.shared.budget.hold(&mut held, whole.len() + told.min(most)).await?;
                let unpacked = unpack(&whole, most)?.ok_or_else(too_large)?;
                service.shared.budget.hold(&mut held, unpacked.len()).await?;
                Ok((unpacked, held))
            }
        }
    };
    let late = || Refusal {
        unread: true,
        ..Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time; send it at once")
    };
    timeout(service.options.limits.timeout, reading).await.unwrap_or_else(|_| Err(late()))
}

/// The bytes of a body in gzip, of one member or several; none if they are more than may be.
fn unpack(packed: &[u8], most: usize) -> Result<Option<Bytes>, Refusal> {
    let mut whole = Vec::new();
    MultiGzDecoder::new(packed)
        .take(most as u64 + 1)
        .read_to_end(&mut whole)
        .map_err(|error| Refusal::bad_request(&format!("the body is not in gzip ({error}); send it whole")))?;
    Ok((whole.len() <= most).then(|| whole.into()))
}

/// True if the body is in gzip. A page from elsewhere can make a browser send other types than JSON
/// without asking this service first.
fn is_packed(headers: &HeaderMap) -> Result<bool, Refusal> {
    let told = headers.get(CONTENT_TYPE).and_then(|told| told.to_str().ok()).unwrap_or_default();
    let kind = told.split(';').next().unwrap_or_default().trim();
    let told: Vec<&[u8]> = headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes).collect();
    let is = |names: &[&str]| names.iter().any(|name| told[0].eq_ignore_ascii_case(name.as_bytes()));
    let why = match kind.eq_ignore_ascii_case(JSON) {
        false => "the body must be JSON; send the header Content-Type: application/json",
        true if told.is_empty() || told.len() == 1 && is(&["identity"]) => return Ok(false),
        true if told.len() == 1 && is(&["gzip", "x-gzip"]) => return Ok(true),
        true => "the body may be in gzip and in nothing else; send it as it is, or with Content-Encoding: gzip",
    };
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why))
}
