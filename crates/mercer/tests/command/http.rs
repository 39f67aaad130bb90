//! A client of `mercer serve`: bytes on a socket.

#![cfg(all(unix, feature = "serve"))]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::Folder;

/// A service that runs until it is dropped.
pub(crate) struct Service {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

/// A status, the head, and the body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.head, self.body))
    }

    /// The one message of a refusal.
    pub(crate) fn error(&self) -> String {
        assert!(self.head.to_ascii_lowercase().contains("content-type: application/json"), "{}", self.head);
        self.json()["error"].as_str().unwrap().to_owned()
    }
}

impl Service {
    pub(crate) fn start(folder: &Folder, arguments: &str) -> Self {
        Self::start_with(folder, arguments, None)
    }

    pub(crate) fn start_with(folder: &Folder, arguments: &str, token: Option<&str>) -> Self {
        let all = format!("serve --addr 127.0.0.1:0 {arguments}");
        let mut command = folder.command(&all.split_whitespace().collect::<Vec<_>>());
        command.env_remove("MERCER_TOKEN");
        if let Some(token) = token {
            command.env("MERCER_TOKEN", token);
        }
        Self::spawn(command.stderr(Stdio::piped()))
    }

    /// The service that a command starts.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.unwrap_or_else(|| {
            let mut said = String::new();
            drop(child.stderr.as_mut().map(|stderr| stderr.read_to_string(&mut said)));
            panic!("{line:?} {said}")
        });
        Self { address: address.parse().unwrap(), child }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends bytes on a connection of their own and reads until it is closed.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        read_to_end(&mut stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &body.to_string(), "")
    }

    pub(crate) fn post_text(&self, path: &str, body: &str, headers: &str) -> Answer {
        self.raw(&request(path, body, headers))
    }

    pub(crate) fn predict(&self, body: &Value) -> Value {
        let answer = self.post("/predict", body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    pub(crate) fn learn(&self, body: &Value) -> Value {
        let answer = self.post("/learn", body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    /// Ends it by a signal; its exit code and what it said on stderr.
    pub(crate) fn end(mut self, signal: &str) -> (Option<i32>, String) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }

    pub(crate) fn ends_well(self) {
        assert_eq!(self.end("-TERM"), (Some(0), String::new()));
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn request(path: &str, body: &str, headers: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: \
         close\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) fn read_to_end(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    parse(&bytes)
}

pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}
