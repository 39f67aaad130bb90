//! From a request to its answer.

use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use flate2::bufread::GzDecoder;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    EXPECT, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Method, Request, StatusCode};
use mercer_core::OddCells;
use serde_json::json;
use tokio::sync::{SemaphorePermit, mpsc, oneshot};
use tokio::time::timeout;

use super::body::{Answer, PIECE, pieces, whole};
use super::groups::{GroupModel, Parts};
use super::learner::{LearnerJob, Learnt, Stop, check_length};
use super::metrics::PATHS;
use super::model::{Row, odd_fields};
use super::refusal::Refusal;
use super::request::{self, Purpose, RequestRows};
use super::{Service, page};

const JSON: &str = "application/json";

/// Rows that are predicted before others have their turn on the thread, and the bytes of a body
/// from which on reading its JSON takes a turn.
const TURN: usize = 16;
const LARGE: usize = 1 << 14;

impl Refusal {
    fn answer(self) -> Answer {
        let mut body = json!({ "error": self.message });
        if let Some(learnt) = self.learnt {
            body["learnt"] = learnt.into();
        }
        let mut answer = whole(JSON, body.to_string());
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry {
            // In whole seconds, and never at once.
            headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        }
        if self.unread {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

/// Answers a request, and counts it.
pub(super) async fn answer(request: Request<Incoming>, client: SocketAddr, parts: &Parts) -> Answer {
    let start = Instant::now();
    let (method, asked) = (request.method().clone(), request.uri().path().to_owned());
    let path = PATHS.iter().find(|known| **known == asked).copied();
    let access = &parts.main.service.options.access;
    let open = access.check_host(request.version(), request.headers());
    let found = match open.and_then(|()| access.check_path(request.headers())) {
        Ok(()) => parts.find(&request).await,
        Err(refusal) => Err(refusal),
    };
    let (part, found) = match found {
        Ok(part) => (part, Ok(())),
        Err(refusal) => (parts.main.clone(), Err(refusal)),
    };
    let GroupModel { service, jobs } = part;
    let answered = match (found, path) {
        (Err(refusal), _) => Err(refusal),
        (Ok(()), Some(path)) => route(path, request, &service, &jobs).await,
        (Ok(()), None) => Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "there is nothing at this path; see / and /openapi.json for what there is",
        )),
    };
    let answer = answered.unwrap_or_else(Refusal::answer);
    let (status, took) = (answer.status().as_u16(), start.elapsed());
    service.metrics.request(path.unwrap_or("other"), status, took);
    let bytes = answer.body().size_hint().exact();
    service.log.tell(client, (&method, &asked), status, bytes, took);
    answer
}

async fn route(
    path: &'static str,
    request: Request<Incoming>,
    service: &Arc<Service>,
    jobs: &mpsc::Sender<LearnerJob>,
) -> Result<Answer, Refusal> {
    let posts = matches!(path, "/predict" | "/learn" | "/snapshot" | "/rollback");
    let allowed = if posts { "POST" } else { "GET, HEAD" };
    let fits = match *request.method() {
        Method::POST => posts,
        Method::GET | Method::HEAD => !posts,
        _ => false,
    };
    if !fits {
        let message = format!("{path} takes {allowed}");
        let mut answer = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message).answer();
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
        return Ok(answer);
    }
    match path {
        "/predict" => predict(request, service).await,
        "/learn" => learn(request, service, jobs).await,
        "/snapshot" | "/rollback" => copy(path == "/rollback", request.headers(), service, jobs).await,
        "/metrics" => {
            let text = service.metrics.text(&service.queue, &service.kept, &service.log);
            Ok(whole("text/plain; version=0.0.4; charset=utf-8", text))
        }
        "/health" => Ok(health(service)),
        "/health/live" => Ok(state(if jobs.is_closed() { "failed" } else { "ok" }, json!({}))),
        "/health/ready" => Ok(state(readiness(service, jobs), json!({}))),
        "/curve" => Ok(whole(JSON, json!({ "points": service.curve.json() }).to_string())),
        "/openapi.json" => Ok(whole(JSON, service.openapi.clone())),
        "/model" => {
            service.options.access.check_token(request.headers())?;
            download(service, jobs).await
        }
        _ => {
            let mut answer = whole("text/html; charset=utf-8", service.page.clone());
            answer.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY));
            Ok(answer)
        }
    }
}

/// Whether requests are taken, as a word.
fn readiness(service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> &'static str {
    match service.ending.load(Relaxed) || jobs.is_closed() {
        true => "ending",
        false if service.metrics.journal_stuck.load(Relaxed) => "journal",
        false => "ok",
    }
}

fn health(service: &Service) -> Answer {
    let metrics = &service.metrics;
    let facts = json!({
        "rows": metrics.met(),
        "learnt": metrics.learnt.load(Relaxed),
        "dictionary_size": metrics.dictionary_size(),
        "mean_loss": metrics.mean_loss(),
    });
    let status = match metrics.unsaved.load(Relaxed) {
        true => "unsaved",
        false if metrics.journal_stuck.load(Relaxed) => "journal",
        false => "ok",
    };
    state(status, facts)
}

/// State of the service; 503 unless that is ok.
fn state(status: &str, mut facts: serde_json::Value) -> Answer {
    facts["status"] = status.into();
    let mut answer = whole(JSON, facts.to_string());
    if status != "ok" {
        *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    answer
}

/// The body of an answer to what is no request.
pub(super) fn malformed(status: u16) -> String {
    let why = match status {
        431 => "the head of the request is too large; send fewer or shorter headers",
        414 => "the path of the request is too long; see / for what there is",
        _ => "this is no request of HTTP/1.1; correct its first line and its headers",
    };
    json!({ "error": why }).to_string()
}

async fn predict(request: Request<Incoming>, service: &Arc<Service>) -> Result<Answer, Refusal> {
    let body = read(request, service).await?;
    if let Some(most) = service.schema.series {
        return forecast(service, request::ahead(&body, &service.schema.known, most)?).await;
    }
    let mut asked = parse(body, Purpose::Predict, service).await?;
    let mut made = Predictions {
        rows: std::mem::take(&mut asked.rows).into_iter(),
        text: String::from(if asked.single { "" } else { "{\"predictions\":[" }),
        asked,
        odd: OddCells::default(),
        sent: 0,
        at: 0,
        wait: service.options.limits.wait,
    };
    if made.more(service).await? {
        return Ok(whole(JSON, made.end(service)));
    }
    // What is begun is brought to its end, however long that takes.
    made.wait = Duration::MAX;
    let (sender, answer) = pieces(JSON);
    let service = Arc::clone(service);
    tokio::spawn(async move {
        // Until the client is gone.
        while sender.send(Ok(made.piece().into())).await.is_ok() {
            let last = match made.more(&service).await {
                Ok(false) => continue,
                Ok(true) => Ok(made.end(&service).into()),
                Err(refusal) => Err(io::Error::other(refusal.message)),
            };
            return drop(sender.send(last).await);
        }
    });
    Ok(answer)
}

/// The predictions of a request, as they are made.
struct Predictions {
    asked: RequestRows,
    rows: std::vec::IntoIter<Row>,
    /// The text to be sent next.
    text: String,
    odd: OddCells,
    /// Numbers of bytes and rows made before that.
    sent: usize,
    at: usize,
    /// Longest time they may wait for others.
    wait: Duration,
}

impl Predictions {
    /// Goes on until a piece of the answer is full; whether no row is left.
    async fn more(&mut self, service: &Service) -> Result<bool, Refusal> {
        let variance = self.asked.variance;
        let mut _turn = None;
        while let Some(row) = self.rows.next() {
            let at = self.at;
            if at > 0 {
                self.text.push(',');
                if at.is_multiple_of(TURN) {
                    _turn = None;
                    tokio::task::yield_now().await;
                    _turn = Some(turn(service, self.wait, "send fewer rows").await?);
                }
            }
            let fits = check_length(self.sent + self.text.len(), at, at + 1 + self.rows.len());
            let model = service.model.read().await;
            let predicted = fits.and_then(|()| model.predict(&row, variance));
            let refused = |why| Refusal::unprocessable(format!("{}: {why}", self.asked.place(at)));
            let predicted = predicted.map_err(refused)?;
            model.odd(&row).into_iter().for_each(|(column, oddity)| _ = self.odd.take(column, oddity));
            drop(model);
            let mut told = predicted.json(&service.schema, variance);
            if self.asked.keep {
                told["id"] = service.kept.keep(row, &service.options.limits).into();
            }
            self.text.push_str(&told.to_string());
            self.at += 1;
            if self.text.len() >= PIECE && self.rows.len() > 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn piece(&mut self) -> String {
        self.sent += self.text.len();
        std::mem::take(&mut self.text)
    }

    /// The last piece.
    fn end(&mut self, service: &Service) -> String {
        service.metrics.predictions.fetch_add(self.at as u64, Relaxed);
        let (text, odd) = (self.piece(), odd_fields(&self.odd, &service.schema));
        match text.strip_suffix('}') {
            Some(fields) if self.asked.single => format!("{fields}{odd}}}"),
            _ => format!("{text}]{odd}}}"),
        }
    }
}

/// The rows of a body. Those of many take their turn.
async fn parse(body: Bytes, purpose: Purpose, service: &Service) -> Result<RequestRows, Refusal> {
    let _turn = match body.len() {
        0..LARGE => None,
        _ => Some(turn(service, service.options.limits.wait, "send fewer rows").await?),
    };
    RequestRows::parse(&body, purpose, service)
}

/// Waits for its turn to work on something heavy.
async fn turn<'a>(service: &'a Service, wait: Duration, or: &str) -> Result<SemaphorePermit<'a>, Refusal> {
    let turn = timeout(wait, service.turns.acquire()).await.ok().and_then(Result::ok);
    turn.ok_or_else(|| Refusal::busy(format!("others are served before; ask again later, or {or}"), wait))
}

/// The next rows of a series.
async fn forecast(service: &Service, (steps, inputs): (usize, Vec<f64>)) -> Result<Answer, Refusal> {
    let _turn = turn(service, service.options.limits.wait, "for fewer steps").await?;
    let forecast = service.model.read().await.forecast();
    let made = tokio::task::spawn_blocking(move || forecast(steps, inputs)).await.map_err(|_| gone())?;
    let made = made.map_err(|why| Refusal::unprocessable(why.to_string()))?;
    service.metrics.predictions.fetch_add(steps as u64, Relaxed);
    let rows: Vec<_> = made.rows.iter().map(|row| row.json(&service.schema, false)).collect();
    let mut told = json!({ "predictions": rows });
    if let Some(times) = made.times {
        told["times"] = times.into();
    }
    Ok(whole(JSON, told.to_string()))
}

async fn learn(
    request: Request<Incoming>,
    service: &Service,
    jobs: &mpsc::Sender<LearnerJob>,
) -> Result<Answer, Refusal> {
    service.options.access.check_learning(request.headers())?;
    let body = read(request, service).await?;
    let limits = &service.options.limits;
    let busy =
        |wait| Refusal::busy("too many rows wait to be learnt, and nothing of these was; send them again later", wait);
    // What will be refused need not be parsed.
    service.queue.admit(0, limits.wait).map_err(busy)?;
    let mut asked = parse(body, Purpose::Learn, service).await?;
    // What is taken from here on is not given up if the client goes away: nothing is waited for
    // until the job is sent.
    let place = jobs.reserve().await.map_err(|_| gone())?;
    let mut kept = service.kept.take(&asked.ids, limits).map_err(|(at, refusal)| {
        let message = format!("{}: {}", asked.place(at), refusal.message);
        Refusal { message, ..refusal }
    })?;
    if let Err(wait) = service.queue.admit(asked.rows.len(), limits.wait) {
        service.kept.put_back(kept);
        return Err(busy(wait));
    }
    let mut rows = std::mem::take(&mut asked.rows);
    for (row, (_, waiting)) in rows.iter_mut().zip(&kept) {
        row.values.clone_from(&waiting.values);
    }
    let (reply, learnt) = oneshot::channel();
    place.send(LearnerJob::Learn { rows, reply });
    let Learnt { answers, rows, met, odd, stop } = learnt.await.map_err(|_| gone())?;
    service.kept.put_back(kept.split_off(rows.min(kept.len())));
    let refusal = match stop {
        None => None,
        Some(Stop::Refused(why)) => Some(Refusal::unprocessable(format!("{}: {why}", asked.place(rows)))),
        Some(Stop::Later(why, retry)) if rows == 0 => {
            Some(Refusal::busy(format!("{why}; nothing of this request was learnt, so send it again"), retry))
        }
        Some(Stop::Later(why, retry)) => {
            Some(Refusal::busy(format!("{why}; the first {rows} were learnt, so send the others again"), retry))
        }
    };
    if let Some(refusal) = refusal {
        return Err(Refusal { learnt: Some(rows), ..refusal });
    }
    let odd = odd_fields(&odd, &service.schema);
    let text = match (asked.single, answers.strip_suffix('}')) {
        (true, Some(fields)) => format!("{fields},\"rows\":{met}{odd}}}"),
        _ => format!("{{\"predictions\":[{answers}],\"rows\":{met}{odd}}}"),
    };
    Ok(whole(JSON, text))
}

async fn download(service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> Result<Answer, Refusal> {
    let wait = service.options.limits.wait;
    let turn = timeout(wait, Arc::clone(&service.downloads).acquire_owned()).await;
    let turn = turn.map_err(|_| Refusal::busy("others are downloading the model; ask again later", wait))?;
    let (reply, bytes) = oneshot::channel();
    jobs.send(LearnerJob::Download { reply }).await.map_err(|_| gone())?;
    let bytes = bytes.await.map_err(|_| gone())?;
    let bytes = bytes.map_err(|why| Refusal::new(StatusCode::CONFLICT, format!("the model cannot be saved: {why}")))?;
    let (kind, length) = ("application/octet-stream", bytes.len());
    let mut answer = if length <= PIECE {
        whole(kind, bytes)
    } else {
        let (sender, answer) = pieces(kind);
        tokio::spawn(async move {
            let _turn = turn;
            for piece in bytes.chunks(PIECE) {
                if sender.send(Ok(Bytes::copy_from_slice(piece))).await.is_err() {
                    break;
                }
            }
        });
        answer
    };
    answer.headers_mut().insert(CONTENT_LENGTH, length.into());
    let name = format!("attachment; filename=\"{}\"", service.options.file_name);
    if let Ok(name) = HeaderValue::try_from(name) {
        answer.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    Ok(answer)
}

/// Keeps a copy of the model, or goes back to it.
async fn copy(
    back: bool,
    headers: &HeaderMap,
    service: &Service,
    jobs: &mpsc::Sender<LearnerJob>,
) -> Result<Answer, Refusal> {
    service.options.access.check_operator(headers)?;
    let (reply, done) = oneshot::channel();
    jobs.send(LearnerJob::Copy { back, reply }).await.map_err(|_| gone())?;
    let done = done.await.map_err(|_| gone())?;
    let rows = done.map_err(|why| Refusal::new(StatusCode::CONFLICT, why.to_string()))?;
    Ok(whole(JSON, json!({ "rows": rows }).to_string()))
}

fn gone() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the service is ending, or its learner has failed; see its messages")
}

/// The body of a request, within the bounds of size and time.
async fn read(request: Request<Incoming>, service: &Service) -> Result<Bytes, Refusal> {
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
        let mut whole = Vec::with_capacity(body.size_hint().exact().map_or(0, |size| (size as usize).min(most)));
        // What is too long is read on for a while, so that the client comes to see the answer.
        let (mut length, mut oversized) = (0_usize, declared);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Refusal {
                unread: true,
                ..Refusal::bad_request(&format!("the body cannot be read ({error}); send it whole"))
            })?;
            let Ok(data) = frame.into_data() else { continue };
            length = length.saturating_add(data.remaining());
            oversized |= length > most;
            if !oversized {
                whole.extend_from_slice(&data);
            } else if length / 4 > most {
                return Err(Refusal { unread: true, ..too_large() });
            }
        }
        match (oversized, packed) {
            (true, _) => Err(too_large()),
            (false, false) => Ok(whole.into()),
            (false, true) => unpack(&whole, most)?.ok_or_else(too_large),
        }
    };
    let late = || Refusal {
        unread: true,
        ..Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time; send it at once")
    };
    timeout(service.options.limits.timeout, reading).await.unwrap_or_else(|_| Err(late()))
}

/// The bytes of a body in gzip; none if they are more than may be.
fn unpack(packed: &[u8], most: usize) -> Result<Option<Bytes>, Refusal> {
    let mut whole = Vec::new();
    GzDecoder::new(packed)
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
