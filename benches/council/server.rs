//! A slow model server that uses almost no CPU. It is a separate process, so its cost is not
//! counted as the program's.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::SERVE_ARGUMENT;
use crate::measure::BenchmarkResult;
use crate::prepared_replies::PreparedReplies;

/// Latency of every model reply.
const LATENCY: Duration = Duration::from_millis(200);

/// Up to 1,500 clients connect at once.
const BACKLOG: u32 = 4_096;

/// Handle of the server process; dropping it stops the server.
#[derive(Debug)]
pub(crate) struct SlowServer {
    process: Child,
    pub address: SocketAddr,
}

impl SlowServer {
    /// The value for a provider's `base_url`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Starts this binary again as the server.
    pub(crate) fn start_server() -> BenchmarkResult<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process =
            command.arg(SERVE_ARGUMENT).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(result) = process.stdout.take() {
            BufReader::new(result).read_line(&mut line)?;
        }
        match line.trim().parse() {
            Ok(address) => Ok(Self { process, address }),
            Err(_) => Err("the model server did not start".into()),
        }
    }
}

impl Drop for SlowServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves until the process is killed.
pub(crate) fn serve_forever() -> BenchmarkResult<()> {
    let bodies = Arc::new(PreparedReplies::prepare_all()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let listener = socket.listen(BACKLOG)?;
        print_address(listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            let bodies = Arc::clone(&bodies);
            // Ignore clients that disconnect early.
            tokio::spawn(async move { handle_connection(stream, &bodies).await.ok() });
        }
    })
}

#[expect(clippy::print_stdout, reason = "whoever started it reads where it is")]
fn print_address(address: SocketAddr) {
    println!("{address}");
}

/// Answers one request after another.
async fn handle_connection(mut stream: TcpStream, bodies: &PreparedReplies) -> BenchmarkResult<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(16 * 1_024);
    while stream.read_buf(&mut buffer).await? > 0 {
        let request = str::from_utf8(&buffer)?;
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        if body.len() < content_length(head) {
            continue;
        }
        let path = head.split(' ').nth(1).unwrap_or_default();
        let answer = bodies.find_reply(path, body).unwrap_or_default();
        tokio::time::sleep(LATENCY).await;
        stream.write_all(answer).await?;
        buffer.clear();
    }
    Ok(())
}

/// Content length from the request head.
fn content_length(head: &str) -> usize {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    line.and_then(|length| length.parse().ok()).unwrap_or_default()
}
