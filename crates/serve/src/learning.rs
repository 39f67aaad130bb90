//! From a request to learn to its answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Request, StatusCode};
use tokio::sync::{mpsc, oneshot};

use super::Service;
use super::body::{Answer, whole};
use super::groups::{Begun, Parts};
use super::learner::{LearnerJob, Learnt, Stop};
use super::model::odd_fields;
use super::once::Once;
use super::reading::read;
use super::refusal::Refusal;
use super::request::{Purpose, RequestRows, parse};

const JSON: &str = "application/json";

/// Learns the first rows of a group, which begins if the model as it is takes the first of them.
pub(super) async fn begin(
    name: &str,
    key: Option<String>,
    request: Request<Incoming>,
    parts: &Parts,
) -> Result<Answer, Refusal> {
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
    learn_once(key, asked, &part.service, &part.jobs).await
}

fn too_many(wait: Duration) -> Refusal {
    Refusal::busy("too many rows wait to be learnt, and nothing of these was; send them again later", wait)
}

/// The rows of a request to learn, of whoever may ask for that.
pub(super) async fn rows_to_learn(request: Request<Incoming>, service: &Service) -> Result<RequestRows, Refusal> {
    service.options.access.check_learning(request.headers())?;
    let (body, held) = read(request, service).await?;
    // What will be refused need not be parsed.
    service.queue.admit(0, service.options.limits.wait).map_err(too_many)?;
    parse(body, held, Purpose::Learn, service).await
}

/// Learns rows once, however often they are sent with the same key.
pub(super) async fn learn_once(
    key: Option<String>,
    asked: RequestRows,
    service: &Arc<Service>,
    jobs: &mpsc::Sender<LearnerJob>,
) -> Result<Answer, Refusal> {
    let Some(key) = key else { return Ok(whole(JSON, learn(asked, service, jobs).await?)) };
    if let Once::Told(status, body) = service.once.begin(&key, asked.digest, &service.options.limits)? {
        let mut answer = whole(JSON, body);
        *answer.status_mut() = status;
        answer.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
        return Ok(answer);
    }
    // It is brought to its end even if the client goes away, so that the answer is there when it
    // comes back.
    let (service, jobs) = (Arc::clone(service), jobs.clone());
    let learning = tokio::spawn(async move {
        let learnt = learn(asked, &service, &jobs).await;
        let kept = match &learnt {
            Ok(body) => Some((StatusCode::OK, body.clone())),
            // What was refused without learning anything may be sent again.
            Err(refusal) if refusal.learnt.is_none_or(|rows| rows == 0) => None,
            Err(refusal) => Some((refusal.status, refusal.body())),
        };
        service.once.end(&key, kept);
        learnt
    });
    Ok(whole(JSON, learning.await.map_err(|_| Refusal::gone())??))
}

async fn learn(mut asked: RequestRows, service: &Service, jobs: &mpsc::Sender<LearnerJob>) -> Result<Bytes, Refusal> {
    let limits = &service.options.limits;
    // What is taken from here on is not given up if the client goes away: nothing is waited for
    // until the job is sent.
    let place = jobs.reserve().await.map_err(|_| Refusal::gone())?;
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
    let Learnt { answers, rows, met, odd, stop } = learnt.await.map_err(|_| Refusal::gone())?;
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
    Ok(text.into())
}
