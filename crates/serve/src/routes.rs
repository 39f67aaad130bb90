//! From a request to its answer.

mod predictions;

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use serde_json::{Value as Json, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::access::Scope;
use super::body::{Answer, PIECE, pieces, whole};
use super::forecasts;
use super::functions;
use super::groups::{GroupModel, Parts};
use super::head::{self, Head};
use super::learner::LearnerJob;
use super::learning::{begin, learn_once, rows_to_learn};
use super::log::Asked;
use super::metrics::{Metrics, PATHS};
use super::model::ForecastQuery;
use super::reading::{read, turn};
use super::refusal::Refusal;
use super::request::{Purpose, parse};
use super::{Service, page, v2};
use predictions::predict;

const JSON: &str = "application/json";

/// Rows that are explained in a request at most: one of `auto` takes some tenths of a second.
pub(super) const MOST_EXPLAINED: usize = 100;

impl Refusal {
    fn answer(self) -> Answer {
        let mut answer = whole(JSON, self.body());
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
    let main = &parts.main.service;
    let known = PATHS.iter().find(|known| **known == asked && !known.ends_with("MODEL")).copied();
    let path = known.or_else(|| v2::known_path(&asked, &main.options.model_name));
    let id = request_id(request.headers());
    main.metrics.in_flight.fetch_add(1, Relaxed);
    let (part, answered) = match head::check(&request, path, &main.options) {
        Ok(Head { path, group: None, key }) => {
            let GroupModel { service, jobs } = &parts.main;
            (None, route((path, key), request, service, jobs, parts).await)
        }
        Ok(Head { path, group: Some(name), key }) => match parts.find(&name).await {
            Ok(Some(part)) => {
                let answered = route((path, key), request, &part.service, &part.jobs, parts).await;
                (Some(part), answered)
            }
            Ok(None) if path == "/learn" => (None, begin(&name, key, request, parts).await),
            Ok(None) => {
                let why = format!("there is no group {name}; the first row that it learns begins it");
                (None, Err(Refusal::new(StatusCode::NOT_FOUND, why)))
            }
            Err(refusal) => (None, Err(refusal)),
        },
        Err(refusal) => (None, Err(refusal)),
    };
    let mut answer = answered.unwrap_or_else(Refusal::answer);
    if let Ok(id) = HeaderValue::from_str(&id) {
        answer.headers_mut().insert("x-request-id", id);
    }
    main.metrics.in_flight.fetch_sub(1, Relaxed);
    let service = part.as_ref().map_or(main, |part| &part.service);
    let (status, took) = (answer.status().as_u16(), start.elapsed());
    service.metrics.request(path.unwrap_or("other"), status, took);
    let bytes = answer.body().size_hint().exact();
    let asked = Asked { client, method: &method, path: &asked, group: service.group.as_deref(), id: &id };
    service.shared.log.tell(&asked, status, bytes, took);
    answer
}

/// The id of a request: that which it tells, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let told = headers.get("x-request-id").and_then(|id| id.to_str().ok());
    let told = told.filter(|id| (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()));
    told.map_or_else(|| format!("{:016x}", RandomState::new().hash_one(Instant::now())), str::to_owned)
}

async fn route(
    (path, key): (&'static str, Option<String>),
    request: Request<Incoming>,
    service: &Arc<Service>,
    jobs: &mpsc::Sender<LearnerJob>,
    parts: &Parts,
) -> Result<Answer, Refusal> {
    match path {
        "/predict" => predict(request, service).await,
        "/explain" => explain(request, service).await,
        "/learn" => learn_once(key, rows_to_learn(request, service).await?, service, jobs).await,
        "/v2" => Ok(whole(JSON, v2::server().to_string())),
        "/v2/health/live" => Ok(state(liveness(jobs), json!({ "live": !jobs.is_closed() }))),
        "/v2/health/ready" | "/v2/models/MODEL/ready" => {
            let ready = readiness(service, jobs);
            Ok(state(ready, v2::readiness(path, &service.options.model_name, ready == "ok")))
        }
        "/v2/models/MODEL" => Ok(whole(JSON, v2::model(&service.options.model_name, &service.schema).to_string())),
        "/v2/models/MODEL/infer" => Ok(whole(JSON, v2::infer(request, service).await?.to_string())),
        "/compare" => compare(service).await,
        "/groups" => groups(service, parts),
        "/snapshot" | "/rollback" => copy(path == "/rollback", request.headers(), service, jobs).await,
        "/reload" => reload(request.headers(), service, jobs).await,
        "/metrics" => {
            let compared = service.model.read().await.compared();
            let mut text = service.metrics.text(&service.beside(), &parts.of(service));
            text.push_str(&compared.map_or_else(String::new, |compared| compared.metrics()));
            Ok(whole("text/plain; version=0.0.4; charset=utf-8", text))
        }
        "/health" => Ok(health(service, parts)),
        "/health/live" => Ok(state(liveness(jobs), json!({}))),
        "/health/ready" => Ok(state(readiness(service, jobs), json!({}))),
        "/curve" => Ok(whole(JSON, json!({ "points": service.curve.json() }).to_string())),
        "/functions" => functions(request, service).await,
        "/modes" => modes(service).await,
        "/openapi.json" => Ok(whole(JSON, service.openapi())),
        "/model" => {
            service.options.access.check_token(request.headers(), Scope::Read)?;
            download(service, jobs).await
        }
        _ => {
            let mut answer = whole("text/html; charset=utf-8", service.page.clone());
            answer.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY));
            Ok(answer)
        }
    }
}

/// The answer to a probe, which asks for three paths alone.
pub(super) fn probe(method: &Method, uri: &Uri, parts: &Parts) -> Answer {
    let GroupModel { service, jobs } = &parts.main;
    let answer = match uri.path() {
        "/health" => health(service, parts),
        "/health/live" => state(liveness(jobs), json!({})),
        "/health/ready" => state(readiness(service, jobs), json!({})),
        _ => {
            let why = "only /health, /health/live and /health/ready are answered here";
            return Refusal::new(StatusCode::NOT_FOUND, why).answer();
        }
    };
    let asked = head::check_method(uri.path(), method).and_then(|()| head::no_parameters(uri.path(), uri.query()));
    asked.map_or_else(Refusal::answer, |()| answer)
}

/// A word for whether the service works.
fn liveness(jobs: &mpsc::Sender<LearnerJob>) -> &'static str {
    if jobs.is_closed() { "failed" } else { "ok" }
}

/// Whether requests are taken, as a word.
fn readiness(service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> &'static str {
    match service.ending.load(Relaxed) || jobs.is_closed() {
        true => "ending",
        false if service.metrics.journal_stuck.load(Relaxed) => "journal",
        false => "ok",
    }
}

/// The counts that are told of a model.
fn facts(metrics: &Metrics) -> Json {
    json!({
        "rows": metrics.met(),
        "learnt": metrics.learnt.load(Relaxed),
        "dictionary_size": metrics.dictionary_size(),
        "mean_loss": metrics.mean_loss(),
    })
}

/// The groups that are open, and how their models are.
fn groups(service: &Service, parts: &Parts) -> Result<Answer, Refusal> {
    if !parts.has_groups() {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "this service has no groups; start it with a folder of groups",
        ));
    }
    let told = |(name, group): (String, Arc<Service>)| {
        let mut facts = facts(&group.metrics);
        facts["group"] = name.into();
        facts["unsaved"] = group.metrics.unsaved.load(Relaxed).into();
        facts
    };
    let groups: Vec<Json> = parts.of(service).into_iter().map(told).collect();
    Ok(whole(JSON, json!({ "groups": groups, "most": service.options.limits.groups }).to_string()))
}

/// How a model is; of the main one also how those of all groups are.
fn health(service: &Service, parts: &Parts) -> Answer {
    let metrics = &service.metrics;
    let groups = parts.of(service);
    let mut facts = facts(metrics);
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
fn state(status: &str, mut facts: Json) -> Answer {
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

/// The functions of an operator at states.
async fn functions(request: Request<Incoming>, service: &Arc<Service>) -> Result<Answer, Refusal> {
    let (body, _held) = read(request, service).await?;
    if service.schema.states.is_empty() {
        return Err(Refusal::unprocessable("functions are told of operators, and this model is none".to_owned()));
    }
    let asked = functions::query(&body, &service.schema, service.options.limits.rows)?;
    let _turn = turn(service, service.options.limits.wait, "send fewer rows").await?;
    let told = service.model.read().await.functions(&asked);
    Ok(whole(JSON, told.map_err(|why| Refusal::unprocessable(why.to_string()))?.to_string()))
}

/// The modes of an operator.
async fn modes(service: &Service) -> Result<Answer, Refusal> {
    let model = service.model.read().await;
    let none = || Refusal::new(StatusCode::NOT_FOUND, "modes are told of operators, and this model is none");
    model.modes().map(|modes| whole(JSON, modes.to_string())).ok_or_else(none)
}

/// Why the predictions for rows.
async fn explain(request: Request<Incoming>, service: &Arc<Service>) -> Result<Answer, Refusal> {
    let (body, held) = read(request, service).await?;
    if !service.schema.explains {
        let why = "effects are told for models that predict numbers or classes, and keep rows to compare with or are \
                   linear in sparse ones";
        return Err(Refusal::unprocessable(why.to_owned()));
    }
    let asked = parse(body, held, Purpose::Explain, service).await?;
    if asked.rows.len() > MOST_EXPLAINED {
        let rows = asked.rows.len();
        return Err(Refusal::unprocessable(format!("there are {rows} rows; send {MOST_EXPLAINED} at most to explain")));
    }
    let _turn = turn(service, service.options.limits.wait, "send fewer rows").await?;
    let explain = service.model.read().await.explain(&asked.rows, asked.output);
    let made = tokio::task::spawn_blocking(explain).await.map_err(|_| Refusal::gone())?;
    let made = made.map_err(|(at, why)| Refusal::unprocessable(format!("{}: {why}", asked.place(at))))?;
    let outputs = &service.schema.outputs;
    let output = outputs.get(asked.output).filter(|_| outputs.len() > 1);
    let mut told = made.iter().map(|made| made.json(output.map(String::as_str)));
    let told = if asked.single {
        told.next().unwrap_or_default()
    } else {
        json!({ "explanations": told.collect::<Vec<_>>() })
    };
    Ok(whole(JSON, told.to_string()))
}

/// The next rows of a series.
async fn forecast(service: &Service, asked: ForecastQuery) -> Result<Answer, Refusal> {
    let _turn = turn(service, service.options.limits.wait, "for fewer steps").await?;
    let rows = asked.steps * asked.scenarios.len().max(1);
    let forecast = service.model.read().await.forecast();
    let made = tokio::task::spawn_blocking(move || forecast(asked)).await.map_err(|_| Refusal::gone())?;
    let made = made.map_err(|why| Refusal::unprocessable(why.to_string()))?;
    service.metrics.predictions.fetch_add(rows as u64, Relaxed);
    Ok(whole(JSON, forecasts::answer(made, &service.schema).to_string()))
}

/// The losses of the model and of its challenger.
async fn compare(service: &Service) -> Result<Answer, Refusal> {
    match service.model.read().await.compared() {
        Some(compared) => Ok(whole(JSON, compared.json().to_string())),
        None => Err(Refusal::new(StatusCode::NOT_FOUND, "this service has no challenger; start it with one")),
    }
}

async fn download(service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> Result<Answer, Refusal> {
    let wait = service.options.limits.wait;
    let turn = timeout(wait, Arc::clone(&service.downloads).acquire_owned()).await;
    let turn = turn.map_err(|_| Refusal::busy("others are downloading the model; ask again later", wait))?;
    let (reply, bytes) = oneshot::channel();
    jobs.send(LearnerJob::Download { reply }).await.map_err(|_| Refusal::gone())?;
    let bytes = bytes.await.map_err(|_| Refusal::gone())?;
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
    jobs.send(LearnerJob::Copy { back, reply }).await.map_err(|_| Refusal::gone())?;
    let done = done.await.map_err(|_| Refusal::gone())?;
    let rows = done.map_err(|why| Refusal::new(StatusCode::CONFLICT, why.to_string()))?;
    Ok(whole(JSON, json!({ "rows": rows }).to_string()))
}

/// Serves the model file as it is now.
async fn reload(headers: &HeaderMap, service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> Result<Answer, Refusal> {
    service.options.access.check_reload(headers)?;
    let (reply, done) = oneshot::channel();
    jobs.send(LearnerJob::Reload { reply: Some(reply) }).await.map_err(|_| Refusal::gone())?;
    let done = done.await.map_err(|_| Refusal::gone())?;
    let rows = done.map_err(|why| Refusal::new(StatusCode::CONFLICT, why.to_string()))?;
    Ok(whole(JSON, json!({ "rows": rows }).to_string()))
}
