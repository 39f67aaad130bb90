//! The access log: a line of JSON for each request, written by a thread of its own, so that a log
//! that takes nothing holds up no answer.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};

use hyper::Method;
use serde_json::json;

/// Lines that may wait to be written.
const WAITING: usize = 10_000;

/// Where lines go; nowhere if there is no log.
#[derive(Clone)]
pub(super) struct Log(Option<SyncSender<String>>);

impl Log {
    /// # Errors
    /// If the system gives no thread.
    pub(super) fn new(into: Option<Box<dyn Write + Send>>) -> io::Result<Self> {
        let begin = |mut into: Box<dyn Write + Send>| {
            let (lines, waiting) = sync_channel::<String>(WAITING);
            let write = move || {
                for line in waiting {
                    // A log that cannot be written harms nothing.
                    let _ = into.write_all(line.as_bytes()).and_then(|()| into.flush());
                }
            };
            thread::Builder::new().name("log".to_owned()).spawn(write).map(|_| lines)
        };
        Ok(Self(into.map(begin).transpose()?))
    }

    /// Takes note of an answered request; whether there was room for it.
    pub(super) fn tell(
        &self,
        client: SocketAddr,
        (method, path): (&Method, &str),
        status: u16,
        bytes: usize,
        took: Duration,
    ) -> bool {
        let Some(lines) = &self.0 else { return true };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let line = json!({
            "time": now.as_millis() as f64 / 1e3,
            "client": client.to_string(),
            "method": method.as_str(),
            "path": path.chars().take(200).collect::<String>(),
            "status": status,
            "bytes": bytes,
            "seconds": took.as_secs_f64(),
        });
        lines.try_send(format!("{line}\n")).is_ok()
    }
}
