//! A service that is started for a while, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A running `mercer serve`; it is killed when this is dropped.
pub(crate) struct Service {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl Service {
    pub(crate) fn start(program: &Path, folder: &Path, arguments: &str) -> Result<Self> {
        Self::start_with(program, folder, arguments, None)
    }

    pub(crate) fn start_with(program: &Path, folder: &Path, arguments: &str, token: Option<&str>) -> Result<Self> {
        let mut command = Command::new(program);
        command.env_remove("MERCER_TOKEN").envs(token.map(|token| ("MERCER_TOKEN", token)));
        command.args(["serve", "--addr", "127.0.0.1:0", "--quiet"]).args(arguments.split_whitespace());
        let mut child = command.current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().context("stdout is a pipe")?).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').parse();
        Ok(Self { child, address: address.with_context(|| format!("serve {arguments} did not begin: {line:?}"))? })
    }

    /// Rows that the model has met.
    pub(crate) fn rows(&self) -> Result<u64> {
        let (status, told) = get(self.address, "/health")?;
        ensure!(status == 200, "/health is {status}: {told}");
        told["rows"].as_u64().context("/health tells the rows")
    }

    /// Asks it to end.
    pub(crate) fn signal(&self) -> Result<()> {
        ensure!(Command::new("kill").arg(self.child.id().to_string()).status()?.success(), "no signal could be sent");
        Ok(())
    }

    /// Asks it to end, and waits.
    pub(crate) fn end(self) -> Result<()> {
        self.signal()?;
        self.ended()
    }

    /// Waits until it has ended.
    pub(crate) fn ended(mut self) -> Result<()> {
        let status = self.child.wait()?;
        ensure!(status.success(), "the service ended with {status}");
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Already ended, if all went well.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Result<(u16, Value)> {
    send(address, &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
}

pub(crate) fn post(address: SocketAddr, path: &str, body: &str) -> Result<(u16, Value)> {
    send(address, &(head(path, body.len()) + body))
}

/// The head of a request with so many bytes of JSON.
pub(crate) fn head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n"
    )
}

fn send(address: SocketAddr, request: &str) -> Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream.write_all(request.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").context("an answer has a head")?;
    let status = head.split(' ').nth(1).context("an answer has a status")?.parse()?;
    Ok((status, serde_json::from_str(body)?))
}
