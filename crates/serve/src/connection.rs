//! Connections: taken, bounded in number and in time, and ended in an orderly way.

use std::convert::Infallible;
use std::future::Future as _;
use std::io;
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
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{Sleep, sleep, timeout};

use super::learner::Job;
use super::{Service, routes};

/// How often it is asked whether a signal has come.
const LOOK: Duration = Duration::from_millis(50);

/// Takes connections until a signal comes, then waits until all requests in progress are answered, for as long as a client may take.
pub(super) async fn serve(
    listener: TcpListener,
    service: &Arc<Service>,
    jobs: mpsc::Sender<Job>,
    stop: &dyn Fn() -> bool,
) {
    let most = service.options.limits.connections;
    let places = Arc::new(Semaphore::new(most as usize));
    let (end, ended) = watch::channel(());
    loop {
        let stream = tokio::select! {
            taken = listener.accept() => match taken {
                Ok((stream, _)) => stream,
                // The client is gone already, or the system has no sockets left until others are closed.
                Err(_) => {
                    sleep(LOOK).await;
                    continue;
                }
            },
            () = requested(stop) => break,
            // The learner has failed; what it was about to change is in an unknown state.
            () = jobs.closed() => break,
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => {
                tokio::spawn(converse(stream, Arc::clone(service), jobs.clone(), ended.clone(), place));
            }
            Err(_) => {
                service.metrics.refused_connections.fetch_add(1, Relaxed);
                tokio::spawn(turn_away(stream));
            }
        }
    }
    drop((listener, jobs));
    drop(end);
    // Clients that do not come to an end in time are cut off.
    let _ = timeout(service.options.limits.timeout, places.acquire_many(most)).await;
}

async fn requested(stop: &dyn Fn() -> bool) {
    while !stop() {
        sleep(LOOK).await;
    }
}

/// Answers that there is no room, without reading.
async fn turn_away(mut stream: TcpStream) {
    let body = "{\"error\":\"there are too many connections; try again\"}";
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: 1\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let told = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    let _ = timeout(Duration::from_secs(1), told).await;
}

/// The requests of one connection.
async fn converse(
    stream: TcpStream,
    service: Arc<Service>,
    jobs: mpsc::Sender<Job>,
    mut ended: watch::Receiver<()>,
    _place: OwnedSemaphorePermit,
) {
    let limits = service.options.limits;
    service.metrics.connections.fetch_add(1, Relaxed);
    // Small answers go out at once.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request| {
        let (service, jobs) = (Arc::clone(&service), jobs.clone());
        async move { Ok::<_, Infallible>(routes::answer(request, &service, &jobs).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.timeout)
        .max_buf_size(limits.head)
        // A client may close its side once it has asked.
        .half_close(true)
        .serve_connection(TokioIo::new(Patient::new(stream, limits.timeout)), answer);
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
    service.metrics.connections.fetch_sub(1, Relaxed);
}

/// A stream whose writes fail when the other side accepts nothing for too long. Reads have their own bounds: that of heads, and that of bodies.
struct Patient {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, waiting: None }
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
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
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
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
