//! MCP over stdio, one message per line: [`StdioTransport`].

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::time::{Instant, sleep};

use super::in_flight::{InFlight, asked, cancelled};
use super::message::{MESSAGE_BYTES_MAX, Unread, read};
use super::output_queue::OutputQueue;
use super::request_slots::{RequestSlots, TakenSlot};
use super::server::Server;
use crate::hosting::RunServer;

/// After the client closes stdin: time for pending answers, and for the client to read them.
const FAREWELL: Duration = Duration::from_secs(2);

/// Interval for checking whether a client that does not read has closed stdin.
const HANG_UP_PAUSE: Duration = Duration::from_millis(200);

/// Serves stdin until the client closes it.
pub(crate) async fn serve(run_server: Arc<RunServer>) {
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let lines = Lines::new(input, output, Arc::clone(&run_server), is_input_closed);
    let output = lines.output.clone();
    // A client that disconnects before the handshake is not an error.
    if let Ok(service) = Server::new(run_server).serve(lines).await {
        let _ = service.waiting().await;
    }
    output.wait_until_written(FAREWELL).await;
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
struct Lines<R> {
    input: BufReader<R>,
    /// The incomplete line. It survives cancellation of the read.
    line: Vec<u8>,
    /// The line is over the limit, so its rest is discarded.
    is_too_long: bool,
    /// Whether the conversation has started. Before that only requests are passed on, because the
    /// library treats any other message as the end.
    is_begun: bool,
    waiting: VecDeque<ClientJsonRpcMessage>,
    in_flight: InFlight<RequestId>,
    slots: RequestSlots,
    output: OutputQueue,
    /// Whether the client has closed stdin.
    is_input_closed: fn() -> bool,
    /// When the client closed stdin, and how many bytes were written then.
    deserted: Option<(Instant, u64)>,
    /// Its runs end when stdin is closed.
    run_server: Arc<RunServer>,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
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
            is_begun: false,
            waiting: VecDeque::new(),
            in_flight: InFlight::default(),
            slots: RequestSlots::default(),
            output: OutputQueue::start(output),
            is_input_closed,
            deserted: None,
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
    fn unless_in_flight(
        &self,
        message: ClientJsonRpcMessage,
    ) -> Result<ClientJsonRpcMessage, Unread> {
        if let Some(id) = cancelled(&message) {
            // A cancelled request gets no answer.
            self.in_flight.free(id);
        }
        match asked(&message) {
            Some(id) if !self.in_flight.take(id.clone()) => Err(Unread::in_flight(id)),
            Some(_) | None => Ok(message),
        }
    }

    /// Parses the line and answers its errors. Not async: the caller may be cancelled at any await,
    /// and the answer would be lost.
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
                Err(unread) => self.answer_unread(unread),
            }
        }
    }

    /// Interrupts all runs after a short delay. A client that closes stdin right after its last
    /// request still gets quick answers; after that no client is left to pay for a run.
    fn end_runs_soon(&self) {
        let run_server = Arc::clone(&self.run_server);
        tokio::spawn(async move {
            sleep(FAREWELL).await;
            run_server.interrupt_all();
        });
    }

    fn answer_unread(&self, unread: Unread) {
        let Some(answer) = unread.answer() else { return };
        // An error document can always be serialised.
        let _ = self.output.add(&answer, None);
    }

    /// Takes the next message to process. It stays in the queue until it has a slot, because the
    /// wait may be cancelled.
    async fn next_waiting(&mut self) -> Option<ClientJsonRpcMessage> {
        while let Some(message) = self.waiting.front() {
            let slot = self.slots.take(message).await;
            let mut message = self.waiting.pop_front()?;
            if let Some(id) = cancelled(&message) {
                // No answer will come. The handler keeps its slot until it ends.
                self.slots.detach(id);
            }
            match slot {
                TakenSlot::Taken(slot) => self.slots.attach(&mut message, slot),
                TakenSlot::NotNeeded => {}
                TakenSlot::NoneLeft => {
                    if let Some(id) = asked(&message) {
                        self.in_flight.free(id);
                        self.answer_unread(Unread::too_many_waiting(id));
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
            self.output.wait_for_room().await;
            if let Some(message) = self.next_waiting().await {
                return Some(message);
            }
            if !matches!(self.next_line().await, Ok(Some(()))) {
                return None;
            }
            self.take_line();
        }
    }

    /// Whether the client is gone while answers are unwritten: it closed stdout, or it closed stdin
    /// and reads nothing for some time. End of input cannot be detected by reading while requests
    /// before it are unread.
    fn is_deserted(&mut self) -> bool {
        if self.output.is_broken() {
            return true;
        }
        if !(self.is_input_closed)() {
            self.deserted = None;
            return false;
        }
        let written = self.output.written_bytes();
        match self.deserted {
            Some((since, seen)) if seen == written => since.elapsed() >= FAREWELL,
            Some(_) | None => {
                self.deserted = Some((Instant::now(), written));
                false
            }
        }
    }
}

/// Whether the message starts a conversation: a handshake, or a request of the newest version,
/// which carries its client's identity. The library answers other requests and waits for one of
/// these.
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

/// The id of the request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let slot = answered(&message).and_then(|id| {
            self.in_flight.free(id);
            self.slots.detach(id)
        });
        let added = match message {
            JsonRpcMessage::Notification(_) => self.output.add_notice(&message),
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) | JsonRpcMessage::Request(_) => {
                self.output.add(&message, slot)
            }
        };
        std::future::ready(added.map_err(io::Error::from))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let is_answer_waiting = self.output.is_waiting();
            if is_answer_waiting && self.is_deserted() {
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
                () = sleep(HANG_UP_PAUSE), if is_answer_waiting => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.wait_until_written(FAREWELL).await;
        Ok(())
    }
}
