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
use tokio::time::{Instant, Sleep, interval, sleep, timeout};

use super::Order;
use super::groups::{GroupModel, Parts};
use super::idle::{IdleConnection, IdleConnections};
use super::learner::LearnerJob;
use super::routes;

/// Time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(50);

const SECOND: Duration = Duration::from_secs(1);

/// Takes connections until it is to stop, then has the model saved, and waits a while for requests
/// in progress to be answered.
pub(super) async fn serve(listener: TcpListener, parts: Arc<Parts>, orders: &dyn Fn() -> Order) {
    let GroupModel { service, jobs } = parts.main.clone();
    let most = service.options.limits.connections;
    let (end, ended) = watch::channel(());
    let taker = Taker {
        places: Arc::new(Semaphore::new(most as usize)),
        idle: Arc::default(),
        parts: Arc::clone(&parts),
        ended,
    };
    taker.take(&listener, orders, None).await;
    for GroupModel { service, jobs } in parts.all() {
        service.ending.store(true, Relaxed);
        service.save_now.store(true, Relaxed);
        let _ = jobs.try_send(LearnerJob::Save);
    }
    let lame_duck = service.options.lame_duck;
    if !lame_duck.is_zero() {
        taker.take(&listener, orders, Some(lame_duck)).await;
    }
    drop((listener, jobs));
    drop(end);
    // Clients that do not come to an end in time are cut off, and all are by a second signal.
    let drained = timeout(service.options.drain, taker.places.acquire_many(most));
    tokio::select! {
        _ = drained => {}
        () = ordered(orders, &[Order::EndNow]) => {}
    }
    parts.all().iter().for_each(|part| part.service.ended.store(true, Relaxed));
}

async fn ordered(orders: &dyn Fn() -> Order, any: &[Order]) {
    while !any.contains(&orders()) {
        sleep(LOOK).await;
    }
}

/// Takes connections as long as there are places.
struct Taker {
    places: Arc<Semaphore>,
    idle: Arc<IdleConnections>,
    parts: Arc<Parts>,
    ended: watch::Receiver<()>,
}

impl Taker {
    /// Takes connections until it is ordered to end; once that was ordered, for so long.
    async fn take(&self, listener: &TcpListener, orders: &dyn Fn() -> Order, most: Option<Duration>) {
        let GroupModel { service, jobs } = &self.parts.main;
        // The learner is woken to look whether it is time to save.
        let mut ticks = interval(service.options.checkpoint_time.unwrap_or(SECOND).clamp(LOOK, SECOND));
        let mut looks = interval(LOOK);
        let begun = Instant::now();
        loop {
            tokio::select! {
                taken = listener.accept() => match taken {
                    Ok(taken) => self.converse(taken),
                    // The client is gone already, or the system has no sockets left until others
                    // are closed.
                    Err(_) => sleep(LOOK).await,
                },
                _ = ticks.tick() => {
                    // A learner that has no room for jobs is at work, and looks after every row.
                    self.parts.all().iter().for_each(|part| drop(part.jobs.try_send(LearnerJob::Save)));
                }
                _ = looks.tick() => match (orders(), most) {
                    (Order::Reload, _) => drop(jobs.try_send(LearnerJob::Reload { reply: None })),
                    (Order::EndNow, _) | (Order::End, None) => return,
                    (_, Some(most)) if begun.elapsed() >= most => return,
                    _ => {}
                },
                // The learner has failed; what it was about to change is in an unknown state.
                () = jobs.closed() => return,
            }
        }
    }

    /// Begins to answer a connection; where there is no place, the one that has been idle for
    /// longest makes room.
    fn converse(&self, (stream, client): (TcpStream, SocketAddr)) {
        let (parts, idle, ended) = (Arc::clone(&self.parts), Arc::clone(&self.idle), self.ended.clone());
        let places = Arc::clone(&self.places);
        let free = Arc::clone(&places).try_acquire_owned().ok();
        if free.is_none() && !self.idle.close_longest() {
            self.parts.main.service.metrics.refused_connections.fetch_add(1, Relaxed);
            tokio::spawn(turn_away(stream));
            return;
        }
        tokio::spawn(async move {
            let place = match free {
                Some(place) => Some(place),
                None => timeout(SECOND, places.acquire_owned()).await.ok().and_then(Result::ok),
            };
            match place {
                Some(place) => converse((stream, client), parts, (ended, idle), place).await,
                None => turn_away(stream).await,
            }
        });
    }
}

/// Answers probes, a request a connection, as long as the service runs.
pub(super) async fn probes(listener: TcpListener, parts: Arc<Parts>) {
    /// Probes that may be answered at once.
    const MOST: usize = 64;
    let places = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(LOOK).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let parts = Arc::clone(&parts);
        tokio::spawn(async move {
            let _place = place;
            let answer = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
                let answer = routes::probe(request.method(), request.uri(), &parts);
                async move { Ok::<_, Infallible>(answer) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(SECOND)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), answer);
            drop(timeout(Duration::from_secs(5), connection).await);
        });
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
    (mut ended, idle): (watch::Receiver<()>, Arc<IdleConnections>),
    _place: OwnedSemaphorePermit,
) {
    let service = &parts.main.service;
    let limits = service.options.limits;
    service.metrics.connections.fetch_add(1, Relaxed);
    // Small answers go out at once.
    let _ = stream.set_nodelay(true);
    let idle = IdleConnection::new(&idle);
    let (asked, all) = (&idle, &parts);
    let answer = service_fn(move |request| async move {
        if !asked.work() {
            return Err("another connection takes its place");
        }
        let answer = routes::answer(request, client, all).await;
        asked.wait();
        Ok(answer)
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
            () = idle.closed() => {}
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
