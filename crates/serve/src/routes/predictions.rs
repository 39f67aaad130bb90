//! The predictions of a request, which are sent in pieces.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use mercer_core::OddCells;

use super::{JSON, forecast};
use crate::Service;
use crate::body::{Answer, PIECE, pieces, whole};
use crate::forecasts;
use crate::learner::check_length;
use crate::model::{Row, odd_fields};
use crate::reading::{TURN, read, turn};
use crate::refusal::Refusal;
use crate::request::{Purpose, RequestRows, parse};

/// Answers a request for predictions, or for the next rows of a series.
pub(super) async fn predict(request: Request<Incoming>, service: &Arc<Service>) -> Result<Answer, Refusal> {
    let (body, held) = read(request, service).await?;
    if let Some(most) = service.schema.series {
        return forecast(service, forecasts::query(&body, &service.schema, most)?).await;
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
