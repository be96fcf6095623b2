//! The protocol by standard input and output, a message a line.

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
use crate::hosting::House;

/// How long a client that has closed the input may still wait for something, and take to read it.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often to look whether a client that reads nothing has closed the input.
const HANG_UP_PAUSE: Duration = Duration::from_millis(200);

/// Answers whoever writes to standard input, until they close it.
pub(crate) async fn serve(house: Arc<House>) {
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let lines = Lines::new(input, output, Arc::clone(&house), is_input_closed);
    let output = lines.output.clone();
    // A client that goes away before it said hello is no error of ours.
    if let Ok(service) = Server::new(house).serve(lines).await {
        let _ = service.waiting().await;
    }
    output.wait_until_written(FAREWELL).await;
}

/// Whether the client has closed standard input, also while bytes wait in it.
fn is_input_closed() -> bool {
    let input = io::stdin();
    let mut watched = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let is_ready = poll(&mut watched, Some(&now)).is_ok_and(|count| count > 0);
    is_ready && watched.iter().any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR))
}

/// Messages as lines. What cannot be read is answered with an error wherever it has an id, and
/// passed over where it has none.
struct Lines<R> {
    input: BufReader<R>,
    /// What of the line has come so far: reading may be broken off and taken up again.
    line: Vec<u8>,
    /// It is over the limit: its rest is thrown away.
    is_too_long: bool,
    /// Before that only requests count: the library takes anything else for the end.
    is_begun: bool,
    waiting: VecDeque<ClientJsonRpcMessage>,
    in_flight: InFlight<RequestId>,
    slots: RequestSlots,
    output: OutputQueue,
    /// Whether the client has closed the input.
    is_input_closed: fn() -> bool,
    /// Since when the client has closed the input, and how much it had read then.
    deserted: Option<(Instant, u64)>,
    /// Its runs end with the input.
    house: Arc<House>,
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    fn new(
        input: R,
        output: impl AsyncWrite + Unpin + Send + 'static,
        house: Arc<House>,
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
                Err(unread) => self.answer_unread(unread),
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

    fn answer_unread(&self, unread: Unread) {
        let Some(answer) = unread.answer() else { return };
        // An error document can always be written.
        let _ = self.output.add(&answer, None);
    }

    /// Takes the next message that is to be worked on. It stays in the queue while its slot is
    /// waited for: reading may be broken off there.
    async fn next_waiting(&mut self) -> Option<ClientJsonRpcMessage> {
        while let Some(message) = self.waiting.front() {
            let slot = self.slots.take(message).await;
            let mut message = self.waiting.pop_front()?;
            if let Some(id) = cancelled(&message) {
                // Nothing will answer it. Its handler keeps the slot until it has ended.
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

    /// The next message, as soon as the client has read enough of what was answered; nothing,
    /// when there are no more.
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

    /// Whether the client has gone while answers wait: it has closed its output, or it has closed
    /// its input and read nothing for some time. The end of the input cannot be read while
    /// requests before it are not.
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
