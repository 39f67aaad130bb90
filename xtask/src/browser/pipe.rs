//! A headless Chromium, spoken to in its own protocol over a pair of pipes.
//!
//! `--remote-debugging-pipe` makes the browser read commands from its file descriptor 3 and write
//! answers and events to 4, each a JSON text that ends with a zero byte. A shell moves the child's
//! standard input and output there, so that neither a port nor a socket is needed.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// Longest wait for an answer or an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// As the browser is started for pages on this disk: without its sandbox (a container has none to
/// give), without a network.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// A browser with one page, closed when dropped.
pub(super) struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    events: VecDeque<Value>,
    session: Option<String>,
    last: u64,
}

impl Browser {
    /// Starts `program` with an empty profile in `folder`, where its log goes too.
    pub(super) fn start(program: &Path, folder: &Path) -> Result<Self> {
        let log = File::create(folder.join("browser.log"))?;
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null"#])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        let (Some(commands), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the browser has no pipes");
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Some(value) = message.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) else { break };
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self { child, commands, answers, events: VecDeque::new(), session: None, last: 0 };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }))?["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }))?;
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(browser)
    }

    /// Sends a command and gives its result; events that come before it are kept.
    pub(super) fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.commands.write_all(&bytes).and_then(|()| self.commands.flush()).context("the browser reads no more")?;
        loop {
            let mut answer = self.receive().with_context(|| format!("waiting for {method}"))?;
            if answer["id"] == self.last {
                if let Some(error) = answer.get("error") {
                    bail!("{method}: {error}");
                }
                return Ok(answer["result"].take());
            }
            self.events.push_back(answer);
        }
    }

    /// Waits for an event of this name; it and those before it are taken from the kept ones.
    pub(super) fn wait_for(&mut self, event: &str) -> Result<Vec<Value>> {
        let mut before = Vec::new();
        loop {
            let next = match self.events.pop_front() {
                Some(next) => next,
                None => self.receive().with_context(|| format!("waiting for {event}"))?,
            };
            let found = next["method"] == event;
            before.push(next);
            if found {
                return Ok(before);
            }
        }
    }

    /// The events kept so far.
    pub(super) fn events(&mut self) -> Vec<Value> {
        self.events.drain(..).collect()
    }

    /// The value of a script's last expression, promises awaited.
    pub(super) fn evaluate(&mut self, script: &str) -> Result<Value> {
        let parameters = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", &parameters)?;
        if let Some(details) = answer.get("exceptionDetails") {
            bail!("the page's check failed: {details}");
        }
        Ok(answer["result"]["value"].take())
    }

    /// Presses and releases a key.
    pub(super) fn press(&mut self, key: &str, code: u32) -> Result<()> {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", &event)?;
        }
        Ok(())
    }

    fn receive(&self) -> Result<Value> {
        self.answers.recv_timeout(PATIENCE).context("the browser does not answer; see browser.log")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session = None;
        // It may be gone already; then there is nothing to close.
        let _ = self.call("Browser.close", &json!({}));
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
