//! Connections: taken, bounded in number and in time, and ended in an orderly way.

use std::convert::Infallible;
use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Sleep, interval, sleep, timeout};

use super::groups::{GroupModel, Parts};
use super::learner::LearnerJob;
use super::routes;

/// Time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(50);

const SECOND: Duration = Duration::from_secs(1);

/// Takes connections until it is to stop, then has the model saved, and waits a while for requests
/// in progress to be answered.
pub(super) async fn serve(listener: TcpListener, parts: Arc<Parts>, stop: &dyn Fn() -> bool) {
    let GroupModel { service, jobs } = parts.main.clone();
    let most = service.options.limits.connections;
    let places = Arc::new(Semaphore::new(most as usize));
    let (end, ended) = watch::channel(());
    // The learner is woken to look whether it is time to save.
    let mut ticks = interval(service.options.checkpoint_time.unwrap_or(SECOND).clamp(LOOK, SECOND));
    loop {
        let (stream, client) = tokio::select! {
            taken = listener.accept() => match taken {
                Ok(taken) => taken,
                // The client is gone already, or the system has no sockets left until others are
                // closed.
                Err(_) => {
                    sleep(LOOK).await;
                    continue;
                }
            },
            _ = ticks.tick() => {
                // A learner that has no room for jobs is at work, and looks after every row.
                parts.all().iter().for_each(|part| drop(part.jobs.try_send(LearnerJob::Save)));
                continue;
            }
            () = requested(stop) => break,
            // The learner has failed; what it was about to change is in an unknown state.
            () = jobs.closed() => break,
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => {
                tokio::spawn(converse((stream, client), Arc::clone(&parts), ended.clone(), place));
            }
            Err(_) => {
                service.metrics.refused_connections.fetch_add(1, Relaxed);
                tokio::spawn(turn_away(stream));
            }
        }
    }
    for GroupModel { service, jobs } in parts.all() {
        service.ending.store(true, Relaxed);
        service.save_now.store(true, Relaxed);
        let _ = jobs.try_send(LearnerJob::Save);
    }
    drop((listener, jobs));
    drop(end);
    // Clients that do not come to an end in time are cut off.
    let _ = timeout(service.options.drain, places.acquire_many(most)).await;
    parts.all().iter().for_each(|part| part.service.ended.store(true, Relaxed));
}

async fn requested(stop: &dyn Fn() -> bool) {
    while !stop() {
        sleep(LOOK).await;
    }
}

/// Answers that there is no room, without reading.
async fn turn_away(mut stream: TcpStream) {
    let head = "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n";
    let body = "{\"error\":\"there are too many connections; try again\"}";
    let _ = timeout(SECOND, write_whole(&mut stream, head, body)).await;
}

/// Writes an answer of JSON behind the first lines of its head, and ends the connection.
async fn write_whole(stream: &mut TcpStream, head: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let rest = format!("content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all((head.to_owned() + &rest).as_bytes()).await?;
    stream.shutdown().await
}

/// The requests of one connection.
async fn converse(
    (stream, client): (TcpStream, SocketAddr),
    parts: Arc<Parts>,
    mut ended: watch::Receiver<()>,
    _place: OwnedSemaphorePermit,
) {
    let service = &parts.main.service;
    let limits = service.options.limits;
    service.metrics.connections.fetch_add(1, Relaxed);
    // Small answers go out at once.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request| {
        let parts = Arc::clone(&parts);
        async move { Ok::<_, Infallible>(routes::answer(request, client, &parts).await) }
    });
    let mut stream = Patient::new(stream, limits.timeout);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.timeout)
        .max_buf_size(limits.head)
        // A client may close its side once it has asked.
        .half_close(true)
        .serve_connection(TokioIo::new(&mut stream), answer);
    {
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            // A client that broke the protocol was told so, and one that went away cannot be.
            _ = connection.as_mut() => {}
            _ = ended.changed() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
    // Of what was no request a refusal is written by hand.
    if let Some((status, head)) = stream.refusal.take() {
        service.metrics.request("other", status, Duration::ZERO);
        let _ = timeout(limits.timeout, write_whole(&mut stream.stream, &head, &routes::malformed(status))).await;
    }
    service.metrics.connections.fetch_sub(1, Relaxed);
}

/// A stream whose writes fail when the other side accepts nothing for too long. Reads have their
/// own bounds: that of heads, and that of bodies.
struct Patient {
    stream: TcpStream,
    /// The status and the head without its length of an answer without a body, which is held back:
    /// hyper so refuses what is no request.
    refusal: Option<(u16, String)>,
    patience: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, refusal: None, patience, waiting: None }
    }

    fn bounded<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        ready!(self.waiting.get_or_insert_with(|| Box::pin(sleep(patience))).as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(refusal) = refusal(bytes) {
            self.refusal = Some(refusal);
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(refusal) = bytes.first().and_then(|head| refusal(head)) {
            self.refusal = Some(refusal);
            return Poll::Ready(Ok(bytes[0].len()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.bounded(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.refusal.is_some() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The status and the lines of a head that refuses a request and has no body; all refusals of the
/// routes have one.
fn refusal(bytes: &[u8]) -> Option<(u16, String)> {
    let head = std::str::from_utf8(bytes).ok()?.strip_suffix("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 4")?.get(..2)?.parse::<u16>().ok()?;
    let lines: Vec<&str> = head.split("\r\n").filter(|line| !line.starts_with("content-length: 0")).collect();
    (lines.len() < head.split("\r\n").count()).then(|| (400 + status, lines.join("\r\n") + "\r\n"))
}
