//! The access log: a line of JSON for each request, written by a thread of its own, so that a log
//! that takes nothing holds up no answer.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};

use hyper::Method;
use serde_json::json;

/// Lines that may wait to be written.
const WAITING: usize = 10_000;

/// Where lines go; nowhere if there is no log.
#[derive(Clone, Default)]
pub(super) struct Log {
    lines: Option<SyncSender<String>>,
    /// Lines that were not written.
    lost: Arc<AtomicU64>,
}

impl Log {
    /// # Errors
    /// If the system gives no thread.
    pub(super) fn new(into: Option<Box<dyn Write + Send>>) -> io::Result<Self> {
        let lost = Arc::<AtomicU64>::default();
        let losses = Arc::clone(&lost);
        let begin = |mut into: Box<dyn Write + Send>| {
            let (lines, waiting) = sync_channel::<String>(WAITING);
            let write = move || {
                // What a full disk has cut off stays a line of its own.
                let mut before = "";
                for line in waiting {
                    let line = format!("{before}{line}\n");
                    let written = into.write_all(line.as_bytes()).and_then(|()| into.flush());
                    before = if written.is_ok() { "" } else { "\n" };
                    losses.fetch_add(written.is_err().into(), Relaxed);
                }
            };
            thread::Builder::new().name("log".to_owned()).spawn(write).map(|_| lines)
        };
        Ok(Self { lines: into.map(begin).transpose()?, lost })
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Takes note of an answered request. A log that cannot be written harms nothing.
    pub(super) fn tell(&self, asked: &Asked<'_>, status: u16, bytes: Option<u64>, took: Duration) {
        let Some(lines) = &self.lines else { return };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut line = json!({
            "time": now.as_millis() as f64 / 1e3,
            "id": asked.id,
            "client": asked.client.to_string(),
            "method": asked.method.as_str(),
            "path": asked.path.chars().take(200).collect::<String>(),
            "status": status,
            "bytes": bytes,
            "seconds": took.as_secs_f64(),
        });
        if let Some(group) = asked.group {
            line["group"] = group.into();
        }
        self.lost.fetch_add(lines.try_send(line.to_string()).is_err().into(), Relaxed);
    }
}

/// What was asked, and by whom.
pub(super) struct Asked<'a> {
    pub(super) client: SocketAddr,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) group: Option<&'a str>,
    pub(super) id: &'a str,
}
