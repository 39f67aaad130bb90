//! From a request to its answer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Request, StatusCode};
use mercer_core::OddCells;
use serde_json::json;
use tokio::sync::{SemaphorePermit, mpsc, oneshot};
use tokio::time::timeout;

use super::body::{Answer, PIECE, pieces, whole};
use super::groups::{Begun, GroupModel, Parts};
use super::head::{self, Head};
use super::learner::{LearnerJob, Learnt, Stop, check_length};
use super::metrics::{Metrics, PATHS};
use super::model::{Row, odd_fields};
use super::reading::{Held, SMALL as LARGE, read};
use super::refusal::Refusal;
use super::request::{self, Purpose, RequestRows};
use super::{Service, page};

const JSON: &str = "application/json";

/// Rows that are predicted before others have their turn on the thread.
const TURN: usize = 16;

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
        if let Some(allowed) = self.allowed {
            headers.insert(ALLOW, HeaderValue::from_static(allowed));
        }
        answer
    }
}

/// Answers a request, and counts it.
pub(super) async fn answer(request: Request<Incoming>, client: SocketAddr, parts: &Parts) -> Answer {
    let start = Instant::now();
    let (method, asked) = (request.method().clone(), request.uri().path().to_owned());
    let path = PATHS.iter().find(|known| **known == asked).copied();
    let main = &parts.main.service;
    let (part, answered) = match head::check(&request, path, &main.options.access) {
        Ok(Head { path, group: None }) => {
            let GroupModel { service, jobs } = &parts.main;
            (None, route(path, request, service, jobs, parts).await)
        }
        Ok(Head { path, group: Some(name) }) => match parts.find(&name).await {
            Ok(Some(part)) => {
                let answered = route(path, request, &part.service, &part.jobs, parts).await;
                (Some(part), answered)
            }
            Ok(None) if path == "/learn" => (None, begin(&name, request, parts).await),
            Ok(None) => {
                let why = format!("there is no group {name}; the first row that it learns begins it");
                (None, Err(Refusal::new(StatusCode::NOT_FOUND, why)))
            }
            Err(refusal) => (None, Err(refusal)),
        },
        Err(refusal) => (None, Err(refusal)),
    };
    let answer = answered.unwrap_or_else(Refusal::answer);
    let service = part.as_ref().map_or(main, |part| &part.service);
    let (status, took) = (answer.status().as_u16(), start.elapsed());
    service.metrics.request(path.unwrap_or("other"), status, took);
    let bytes = answer.body().size_hint().exact();
    service.shared.log.tell(client, (&method, &asked, service.group.as_deref()), status, bytes, took);
    answer
}

/// Learns the first rows of a group, which begins if the model as it is takes the first of them.
async fn begin(name: &str, request: Request<Incoming>, parts: &Parts) -> Result<Answer, Refusal> {
    let main = &parts.main.service;
    let asked = rows_to_learn(request, main).await?;
    if let Some(id) = asked.ids.first() {
        let why = format!("{}: there is no group {name} that has given the id {id:?}", asked.place(0));
        return Err(Refusal::new(StatusCode::NOT_FOUND, why));
    }
    let part = parts.begin(name, asked.rows.first()).await.map_err(|why| match why {
        Begun::Refused(why) => {
            let refusal = Refusal::unprocessable(format!("{}: {why}", asked.place(0)));
            Refusal { learnt: Some(0), ..refusal }
        }
        Begun::Cannot(refusal) => refusal,
    })?;
    learn(asked, &part.service, &part.jobs).await
}

async fn route(
    path: &'static str,
    request: Request<Incoming>,
    service: &Arc<Service>,
    jobs: &mpsc::Sender<LearnerJob>,
    parts: &Parts,
) -> Result<Answer, Refusal> {
    match path {
        "/predict" => predict(request, service).await,
        "/learn" => learn(rows_to_learn(request, service).await?, service, jobs).await,
        "/snapshot" | "/rollback" => copy(path == "/rollback", request.headers(), service, jobs).await,
        "/reload" => reload(request.headers(), service, jobs).await,
        "/metrics" => {
            let text = service.metrics.text(&service.beside(), &parts.of(service));
            Ok(whole("text/plain; version=0.0.4; charset=utf-8", text))
        }
        "/health" => Ok(health(service, parts)),
        "/health/live" => Ok(state(if jobs.is_closed() { "failed" } else { "ok" }, json!({}))),
        "/health/ready" => Ok(state(readiness(service, jobs), json!({}))),
        "/curve" => Ok(whole(JSON, json!({ "points": service.curve.json() }).to_string())),
        "/openapi.json" => Ok(whole(JSON, service.openapi())),
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

/// The answer to a probe, which asks for these paths alone; none for others.
pub(super) fn probe(path: &str, parts: &Parts) -> Option<Answer> {
    let GroupModel { service, jobs } = &parts.main;
    match path {
        "/health" => Some(health(service, parts)),
        "/health/live" => Some(state(if jobs.is_closed() { "failed" } else { "ok" }, json!({}))),
        "/health/ready" => Some(state(readiness(service, jobs), json!({}))),
        _ => None,
    }
}

/// The answer to a probe that asks for something else.
pub(super) fn no_probe() -> Answer {
    Refusal::new(StatusCode::NOT_FOUND, "only /health, /health/live and /health/ready are answered here").answer()
}

/// Whether requests are taken, as a word.
fn readiness(service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> &'static str {
    match service.ending.load(Relaxed) || jobs.is_closed() {
        true => "ending",
        false if service.metrics.journal_stuck.load(Relaxed) => "journal",
        false => "ok",
    }
}

/// How a model is; of the main one also how those of all groups are.
fn health(service: &Service, parts: &Parts) -> Answer {
    let metrics = &service.metrics;
    let groups = parts.of(service);
    let mut facts = json!({
        "rows": metrics.met(),
        "learnt": metrics.learnt.load(Relaxed),
        "dictionary_size": metrics.dictionary_size(),
        "mean_loss": metrics.mean_loss(),
    });
    let all = || std::iter::once(service).chain(groups.iter().map(|(_, group)| &**group));
    let any = |is: fn(&Metrics) -> &AtomicBool| all().any(|one| is(&one.metrics).load(Relaxed));
    let status = match any(|metrics| &metrics.unsaved) {
        true => "unsaved",
        false if any(|metrics| &metrics.journal_stuck) => "journal",
        false => "ok",
    };
    if service.group.is_none() && parts.has_groups() {
        facts["groups"] = json!({ "open": groups.len(), "most": service.options.limits.groups });
    }
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
    let (body, held) = read(request, service).await?;
    if let Some(most) = service.schema.series {
        return forecast(service, request::ahead(&body, &service.schema.known, most)?).await;
    }
    let mut asked = parse(body, held, Purpose::Predict, service).await?;
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

/// The rows of a body. Those of many take their turn, and their bytes are held.
async fn parse(body: Bytes, mut held: Held, purpose: Purpose, service: &Service) -> Result<RequestRows, Refusal> {
    let turn = match body.len() {
        0..LARGE => None,
        _ => Some(turn(service, service.options.limits.wait, "send fewer rows").await?),
    };
    let mut asked = RequestRows::parse(&body, purpose, service)?;
    drop(turn);
    let bytes = if body.len() < LARGE { 0 } else { asked.rows.iter().map(Row::bytes).sum() };
    drop(body);
    service.shared.budget.hold(&mut held, bytes).await?;
    asked.held = held;
    Ok(asked)
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

fn too_many(wait: Duration) -> Refusal {
    Refusal::busy("too many rows wait to be learnt, and nothing of these was; send them again later", wait)
}

/// The rows of a request to learn, of whoever may ask for that.
async fn rows_to_learn(request: Request<Incoming>, service: &Service) -> Result<RequestRows, Refusal> {
    service.options.access.check_learning(request.headers())?;
    let (body, held) = read(request, service).await?;
    // What will be refused need not be parsed.
    service.queue.admit(0, service.options.limits.wait).map_err(too_many)?;
    parse(body, held, Purpose::Learn, service).await
}

async fn learn(mut asked: RequestRows, service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> Result<Answer, Refusal> {
    let limits = &service.options.limits;
    // What is taken from here on is not given up if the client goes away: nothing is waited for
    // until the job is sent.
    let place = jobs.reserve().await.map_err(|_| gone())?;
    let mut kept = service.kept.take(&asked.ids, limits).map_err(|(at, refusal)| {
        let message = format!("{}: {}", asked.place(at), refusal.message);
        Refusal { message, ..refusal }
    })?;
    if let Err(wait) = service.queue.admit(asked.rows.len(), limits.wait) {
        service.kept.put_back(kept);
        return Err(too_many(wait));
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

/// Serves the model file as it is now.
async fn reload(headers: &HeaderMap, service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> Result<Answer, Refusal> {
    service.options.access.check_reload(headers)?;
    let (reply, done) = oneshot::channel();
    jobs.send(LearnerJob::Reload { reply: Some(reply) }).await.map_err(|_| gone())?;
    let done = done.await.map_err(|_| gone())?;
    let rows = done.map_err(|why| Refusal::new(StatusCode::CONFLICT, why.to_string()))?;
    Ok(whole(JSON, json!({ "rows": rows }).to_string()))
}

fn gone() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the service is ending, or its learner has failed; see its messages")
}
