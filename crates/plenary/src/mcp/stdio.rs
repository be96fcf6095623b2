//! MCP over stdio, one message per line: [`StdioTransport`].

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use plenary_engine::app::run_server::RunServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::time::{Instant, sleep};

use crate::mcp::message::{MESSAGE_BYTES_MAX, MessageError, read_messages};
use crate::mcp::output_queue::OutputQueue;
use crate::mcp::request_slots::{ActiveIds, RequestSlots, SlotResult, cancelled_id, request_id};
use crate::mcp::server::McpServer;

/// After the client closes stdin: time for pending answers, and for the client to read them.
const STDIO_DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Interval for checking whether a client that does not read has closed stdin.
const HANG_UP_INTERVAL: Duration = Duration::from_millis(200);

/// Serves stdin until the client closes it.
pub(crate) async fn serve_stdio(run_server: Arc<RunServer>) {
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let lines = StdioTransport::new(input, output, Arc::clone(&run_server), is_input_closed);
    let output = lines.output.clone();
    // A client that disconnects before the handshake is not an error.
    if let Ok(service) = McpServer::new(run_server).serve(lines).await {
        let _ = service.waiting().await;
    }
    output.wait_until_written(STDIO_DRAIN_TIMEOUT).await;
}

/// Whether the client has closed stdin, even if unread bytes remain.
fn is_input_closed() -> bool {
    let input = io::stdin();
    let mut watched = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_ready = poll(&mut watched, Some(&now)).is_ok_and(|count| count > 0);
    is_ready && watched.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR))
}

/// Transport of messages as lines. An unreadable message gets an error if it has an id, and is
/// ignored otherwise.
struct StdioTransport<R> {
    input: BufReader<R>,
    /// The incomplete line. It survives cancellation of the read.
    line: Vec<u8>,
    /// The line is over the limit, so its rest is discarded.
    is_too_long: bool,
    /// Whether the conversation has started. Before that only requests are passed on, because the
    /// library treats any other message as the end.
    is_started: bool,
    waiting: VecDeque<ClientJsonRpcMessage>,
    in_flight: ActiveIds<RequestId>,
    slots: RequestSlots,
    output: OutputQueue,
    /// Whether the client has closed stdin.
    is_input_closed: fn() -> bool,
    /// When the client closed stdin, and how many bytes were written then.
    input_closed_since: Option<(Instant, u64)>,
    /// Its runs end when stdin is closed.
    run_server: Arc<RunServer>,
}

impl<R: AsyncRead + Unpin + Send> StdioTransport<R> {
    fn new(
        input: R,
        output: impl AsyncWrite + Unpin + Send + 'static,
        run_server: Arc<RunServer>,
        is_input_closed: fn() -> bool,
    ) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_too_long: false,
            is_started: false,
            waiting: VecDeque::new(),
            in_flight: ActiveIds::default(),
            slots: RequestSlots::default(),
            output: OutputQueue::spawn_writer(output),
            is_input_closed,
            input_closed_since: None,
            run_server,
        }
    }

    /// Reads the next line into `self.line`; `None` at the end of input.
    async fn next_line(&mut self) -> io::Result<Option<()>> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() {
                // The last line may have no newline.
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

    /// Rejects a request whose id is still active.
    fn reject_duplicate_id(
        &self,
        message: ClientJsonRpcMessage,
    ) -> Result<ClientJsonRpcMessage, MessageError> {
        if let Some(id) = cancelled_id(&message) {
            // A cancelled request gets no answer.
            self.in_flight.release_id(id);
        }
        match request_id(&message) {
            Some(id) if !self.in_flight.try_insert(id.clone()) => {
                Err(MessageError::duplicate_id(id))
            }
            Some(_) | None => Ok(message),
        }
    }

    /// Parses the line and answers its errors. Not async: the caller may be cancelled at any await,
    /// and the answer would be lost.
    fn parse_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let is_too_long = std::mem::take(&mut self.is_too_long);
        let messages = match is_too_long {
            true => vec![Err(MessageError::too_long(&line))],
            false => read_messages(&line),
        };
        for message in messages {
            match message.and_then(|message| self.reject_duplicate_id(message)) {
                Ok(message) if self.is_started || request_id(&message).is_some() => {
                    self.is_started |= starts_conversation(&message);
                    self.waiting.push_back(message);
                }
                Ok(_) => {}
                Err(unread) => self.answer_unread(unread),
            }
        }
    }

    /// Interrupts all runs after a short delay. A client that closes stdin right after its last
    /// request still gets quick answers; after that no client is left to pay for a run.
    fn end_runs_soon(&self) {
        let run_server = Arc::clone(&self.run_server);
        tokio::spawn(async move {
            sleep(STDIO_DRAIN_TIMEOUT).await;
            run_server.interrupt_all();
        });
    }

    fn answer_unread(&self, unread: MessageError) {
        let Some(answer) = unread.reply_if_addressed() else { return };
        // An error document can always be serialised.
        let _ = self.output.add_message(&answer, None);
    }

    /// Takes the next message to process. It stays in the queue until it has a slot, because the
    /// wait may be cancelled.
    async fn next_waiting(&mut self) -> Option<ClientJsonRpcMessage> {
        while let Some(message) = self.waiting.front() {
            let slot = self.slots.take_slot(message).await;
            let mut message = self.waiting.pop_front()?;
            if let Some(id) = cancelled_id(&message) {
                // No answer will come. The handler keeps its slot until it ends.
                self.slots.detach_slot(id);
            }
            match slot {
                SlotResult::Taken(slot) => self.slots.attach_slot(&mut message, slot),
                SlotResult::NotNeeded => {}
                SlotResult::NoneLeft => {
                    if let Some(id) = request_id(&message) {
                        self.in_flight.release_id(id);
                        self.answer_unread(MessageError::too_many_waiting(id));
                    }
                    continue;
                }
            }
            return Some(message);
        }
        None
    }

    /// The next message, once the queue has space; `None` at the end of input.
    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.output.wait_for_space().await;
            if let Some(message) = self.next_waiting().await {
                return Some(message);
            }
            if !matches!(self.next_line().await, Ok(Some(()))) {
                return None;
            }
            self.parse_line();
        }
    }

    /// Whether the client is gone while answers are unwritten: it closed stdout, or it closed stdin
    /// and reads nothing for some time. End of input cannot be detected by reading while requests
    /// before it are unread.
    fn is_client_gone(&mut self) -> bool {
        if self.output.is_broken() {
            return true;
        }
        if !(self.is_input_closed)() {
            self.input_closed_since = None;
            return false;
        }
        let written = self.output.written_bytes();
        match self.input_closed_since {
            Some((since, seen)) if seen == written => since.elapsed() >= STDIO_DRAIN_TIMEOUT,
            Some(_) | None => {
                self.input_closed_since = Some((Instant::now(), written));
                false
            }
        }
    }
}

/// Whether the message starts a conversation: a handshake, or a request of the newest version,
/// which carries its client's identity. The library answers other requests and waits for one of
/// these.
fn starts_conversation(message: &ClientJsonRpcMessage) -> bool {
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

/// The id of the request that a message answers.
fn answered_id(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for StdioTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let slot = answered_id(&message).and_then(|id| {
            self.in_flight.release_id(id);
            self.slots.detach_slot(id)
        });
        let added = match message {
            JsonRpcMessage::Notification(_) => self.output.add_notice(&message),
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) | JsonRpcMessage::Request(_) => {
                self.output.add_message(&message, slot)
            }
        };
        std::future::ready(added.map_err(io::Error::from))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let is_answer_waiting = self.output.is_waiting();
            if is_answer_waiting && self.is_client_gone() {
                self.end_runs_soon();
                return None;
            }
            tokio::select! {
                message = self.next_message() => {
                    if message.is_none() {
                        self.end_runs_soon();
                    }
                    return message;
                }
                () = sleep(HANG_UP_INTERVAL), if is_answer_waiting => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.wait_until_written(STDIO_DRAIN_TIMEOUT).await;
        Ok(())
    }
}
