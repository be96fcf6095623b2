//! The minimum of HTTP/1.1: requests and responses with a content length, persistent connections.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::scripted_reply::ServerAction;
use super::streamed_reply::StreamFault;

pub struct HttpRequest {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

pub struct HttpConnection {
    stream: TcpStream,
    /// Bytes read but not yet used.
    buffer: Vec<u8>,
}

impl HttpConnection {
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(8 * 1024) })
    }

    /// The next request; `None` when the client has disconnected.
    pub async fn next_request(&mut self) -> io::Result<Option<HttpRequest>> {
        let head_end = loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            if self.read_more().await? == 0 {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..head_end]).into_owned();
        let mut lines = head.lines();
        let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
        while self.buffer.len() < head_end + length {
            if self.read_more().await? == 0 {
                return Ok(None);
            }
        }
        let rest = self.buffer.split_off(head_end + length);
        let body = self.buffer.split_off(head_end);
        self.buffer = rest;
        Ok(Some(HttpRequest { method, path, headers, body }))
    }

    async fn read_more(&mut self) -> io::Result<usize> {
        self.stream.read_buf(&mut self.buffer).await
    }

    /// Sends the answer; returns whether the connection is reusable.
    pub async fn send_action(&mut self, wait: Duration, answer: ServerAction) -> io::Result<bool> {
        if wait > Duration::ZERO {
            tokio::time::sleep(wait).await;
        }
        match answer {
            ServerAction::Gated(gate, then) => {
                gate.wait_open().await;
                Box::pin(self.send_action(Duration::ZERO, *then)).await
            }
            ServerAction::Respond { status, headers, body } => {
                self.write_response(status, &headers, &body, body.len()).await?;
                Ok(true)
            }
            ServerAction::Disconnect { body } => {
                self.write_response(200, &[], &body[..body.len() / 2], body.len()).await?;
                Ok(false)
            }
            ServerAction::Stream { events, fault } => self.write_stream(&events, fault).await,
            ServerAction::Hang => self.wait_for_disconnect().await,
        }
    }

    async fn wait_for_disconnect(&mut self) -> io::Result<bool> {
        while self.read_more().await? > 0 {}
        Ok(false)
    }

    /// Writes one HTTP chunk per event, up to the fault.
    async fn write_stream(
        &mut self,
        events: &[String],
        fault: Option<StreamFault>,
    ) -> io::Result<bool> {
        let kind = match fault {
            Some(StreamFault::Undeclared) => "",
            _ => "content-type: text/event-stream\r\n",
        };
        let head = format!("HTTP/1.1 200 Scripted\r\n{kind}transfer-encoding: chunked\r\n\r\n");
        self.stream.write_all(head.as_bytes()).await?;
        let mut left = match fault {
            Some(
                StreamFault::Cut(bytes) | StreamFault::Ended(bytes) | StreamFault::Silent(bytes),
            ) => bytes,
            Some(
                StreamFault::OpenAfterEnd
                | StreamFault::CutAfterEnd
                | StreamFault::Undeclared
                | StreamFault::Slow(_),
            )
            | None => usize::MAX,
        };
        for event in events {
            if let Some(StreamFault::Slow(pause)) = fault {
                tokio::time::sleep(pause).await;
            }
            let part = &event.as_bytes()[..left.min(event.len())];
            if part.is_empty() {
                break;
            }
            left -= part.len();
            let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
            chunk.extend_from_slice(part);
            chunk.extend_from_slice(b"\r\n");
            self.stream.write_all(&chunk).await?;
        }
        match fault {
            Some(StreamFault::Cut(_) | StreamFault::CutAfterEnd) => return Ok(false),
            Some(StreamFault::OpenAfterEnd) => loop {
                tokio::time::sleep(Duration::from_millis(40)).await;
                self.stream.write_all(b"8\r\n: ping\n\n\r\n").await?;
            },
            Some(StreamFault::Silent(_)) => return self.wait_for_disconnect().await,
            Some(StreamFault::Ended(_) | StreamFault::Undeclared | StreamFault::Slow(_)) | None => {
            }
        }
        self.stream.write_all(b"0\r\n\r\n").await?;
        Ok(true)
    }

    async fn write_response(
        &mut self,
        status: u16,
        headers: &[(&'static str, String)],
        body: &[u8],
        length: usize,
    ) -> io::Result<()> {
        let mut answer = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
        );
        for (name, value) in headers {
            answer.push_str(&format!("{name}: {value}\r\n"));
        }
        answer.push_str("\r\n");
        let mut answer = answer.into_bytes();
        answer.extend_from_slice(body);
        self.stream.write_all(&answer).await
    }
}
