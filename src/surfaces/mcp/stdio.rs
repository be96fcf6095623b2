//! The protocol by standard input and output, a message a line.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::in_flight::{InFlight, asked, cancelled};
use super::message::{MESSAGE_BYTES_MAX, Unread, read};
use super::server::Server;
use crate::hosting::House;

/// How long a client that has closed the input may still wait for something, and take to read it.
const FAREWELL: Duration = Duration::from_secs(2);

/// Answers whoever writes to standard input, until they close it.
pub(crate) async fn serve(house: Arc<House>) {
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout(), Arc::clone(&house));
    let aside = Arc::clone(&lines.aside);
    // A client that goes away before it said hello is no error of ours.
    if let Ok(service) = Server::new(house).serve(lines).await {
        let _ = service.waiting().await;
    }
    let mut written = std::mem::take(&mut *aside.lock().unwrap_or_else(PoisonError::into_inner));
    let _ = timeout(FAREWELL, async { while written.join_next().await.is_some() {} }).await;
}

/// Messages as lines. What cannot be read is answered with an error wherever it has an id, and
/// passed over where it has none.
struct Lines<R, W> {
    input: BufReader<R>,
    /// What of the line has come so far: reading may be broken off and taken up again.
    line: Vec<u8>,
    /// It is over the limit: its rest is thrown away.
    is_too_long: bool,
    /// Before that only requests count: the library takes anything else for the end.
    is_begun: bool,
    waiting: VecDeque<ClientJsonRpcMessage>,
    in_flight: InFlight<RequestId>,
    output: Arc<Mutex<W>>,
    /// Answers that nobody waits for while they are written, until the end.
    aside: Arc<std::sync::Mutex<JoinSet<()>>>,
    /// Its runs end with the input.
    house: Arc<House>,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    fn new(input: R, output: W, house: Arc<House>) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_too_long: false,
            is_begun: false,
            waiting: VecDeque::new(),
            in_flight: InFlight::default(),
            output: Arc::new(Mutex::new(output)),
            aside: Arc::default(),
            house,
        }
    }

    /// The next line, in `self.line`; nothing, when there are no more.
    async fn next_line(&mut self) -> io::Result<Option<()>> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                // The last line may lack its end.
                return Ok((!self.line.is_empty()).then_some(()));
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(read.len());
            let room = MESSAGE_BYTES_MAX.saturating_sub(self.line.len());
            self.is_too_long |= taken > room;
            self.line.extend(read.iter().take(taken.min(room)));
            self.input.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                return Ok(Some(()));
            }
        }
    }

    /// An id that is in use cannot be used again before it is answered.
    fn unless_in_flight(
        &self,
        message: ClientJsonRpcMessage,
    ) -> Result<ClientJsonRpcMessage, Unread> {
        if let Some(id) = cancelled(&message) {
            // What was cancelled is not answered.
            self.in_flight.free(id);
        }
        match asked(&message) {
            Some(id) if !self.in_flight.take(id.clone()) => Err(Unread::in_flight(id)),
            Some(_) | None => Ok(message),
        }
    }

    /// Takes the line apart; what is wrong with it is answered. Without waiting: whoever reads may
    /// be broken off wherever it waits, and the answer would be lost.
    fn take_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let is_too_long = std::mem::take(&mut self.is_too_long);
        let messages = match is_too_long {
            true => vec![Err(Unread::too_long(&line))],
            false => read(&line),
        };
        for message in messages {
            match message.and_then(|message| self.unless_in_flight(message)) {
                Ok(message) if self.is_begun || asked(&message).is_some() => {
                    self.is_begun |= begins(&message);
                    self.waiting.push_back(message);
                }
                Ok(_) => {}
                Err(unread) => self.write_aside(unread),
            }
        }
    }

    /// Who closes the input right after the last request still hears what comes of it, if that is
    /// soon. Then nobody is left to pay for a run, and whoever waits for it is told how it stands.
    fn end_runs_soon(&self) {
        let house = Arc::clone(&self.house);
        tokio::spawn(async move {
            sleep(FAREWELL).await;
            house.interrupt_all();
        });
    }

    fn write_aside(&self, unread: Unread) {
        let Some(answer) = unread.answer() else { return };
        let output = Arc::clone(&self.output);
        let mut aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        while aside.try_join_next().is_some() {}
        aside.spawn(async move {
            // Whoever does not read any more has gone; the end of the input says so too.
            let _ = write(&output, &answer).await;
        });
    }
}

/// Whether a conversation begins with it: a handshake does, or a request by the newest version,
/// which says itself who asks. The library answers other requests and goes on waiting for one.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    let (request, meta) = (&request.request, request.request.get_meta());
    let says_who_asks = meta
        .protocol_version()
        .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    let is_probe =
        matches!(request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_));
    matches!(request, ClientRequest::InitializeRequest(_)) || (says_who_asks && !is_probe)
}

/// The request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

async fn write<W: AsyncWrite + Unpin>(
    output: &Mutex<W>,
    message: &ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let Some(id) = answered(&message) {
            self.in_flight.free(id);
        }
        let output = Arc::clone(&self.output);
        async move { write(&output, &message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(message);
            }
            if !matches!(self.next_line().await, Ok(Some(()))) {
                self.end_runs_soon();
                return None;
            }
            self.take_line();
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}
