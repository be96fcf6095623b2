//! A model server that takes its time and hardly any of the processor's: a process of
//! its own, so that what it costs is not counted to the program that is measured.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::SERVE;
use crate::bodies::Bodies;
use crate::measure::Outcome;

/// How long a model thinks.
const LATENCY: Duration = Duration::from_millis(200);

/// Fifteen hundred clients may knock at once.
const BACKLOG: u32 = 4_096;

/// The server as seen by whoever measures; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts this program once more, as the server.
    pub(crate) fn start() -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.arg(SERVE).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(told) = process.stdout.take() {
            BufReader::new(told).read_line(&mut line)?;
        }
        match line.trim().parse() {
            Ok(address) => Ok(Self { process, address }),
            Err(_) => Err("the model server did not start".into()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves until it is ended.
pub(crate) fn serve() -> Outcome<()> {
    let bodies = Arc::new(Bodies::prepare()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let listener = socket.listen(BACKLOG)?;
        tell(listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            let bodies = Arc::clone(&bodies);
            // A client that goes away in the middle is no matter.
            tokio::spawn(async move { converse(stream, &bodies).await.ok() });
        }
    })
}

#[expect(clippy::print_stdout, reason = "whoever started it reads where it is")]
fn tell(address: SocketAddr) {
    println!("{address}");
}

/// Answers one request after the other.
async fn converse(mut stream: TcpStream, bodies: &Bodies) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 * 1_024);
    while stream.read_buf(&mut buffer).await? > 0 {
        let request = str::from_utf8(&buffer)?;
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        if body.len() < length(head) {
            continue;
        }
        let path = head.split(' ').nth(1).unwrap_or_default();
        let answer = bodies.answering(path, body).unwrap_or_default();
        tokio::time::sleep(LATENCY).await;
        stream.write_all(answer).await?;
        buffer.clear();
    }
    Ok(())
}

/// What the head says of the body's length.
fn length(head: &str) -> usize {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    line.and_then(|length| length.parse().ok()).unwrap_or_default()
}
