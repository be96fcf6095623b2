//! Counted queue of the lines to write to the client.
//!
//! Adding to an [`OutputQueue`] never waits, so request handlers do not block. The reader
//! ([`super::stdio`]) stops reading requests while the queue is full, so a client that does not
//! read its answers cannot send more.

use rmcp::model::ServerJsonRpcMessage;
use serde_json::Error as JsonError;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::time::{Duration, timeout};

use crate::mcp::request_slots::RequestSlot;

/// Queued bytes at which reading stops. One answer may be larger: it is queued completely, and
/// reading stops until it is written.
const QUEUED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Queued lines at which reading stops, because errors are small but many.
const QUEUED_LINES_MAX: usize = 256;

/// Queued lines at which progress is dropped, because it would arrive outdated.
const QUEUED_LINES_MAX_FOR_NOTICE: usize = 64;

/// Bytes per write: the size of a pipe buffer.
const CHUNK_BYTES: usize = 64 * 1024;

/// A line and the slot of the request that it answers; the slot is freed after the write.
struct QueuedLine {
    bytes: Vec<u8>,
    _slot: Option<RequestSlot>,
}

/// Size of the queue, and bytes written so far.
#[derive(Debug, Clone, Copy, Default)]
struct OutputBacklog {
    lines: usize,
    bytes: usize,
    written_bytes: u64,
    /// The client closed its end, so nothing more is written.
    is_broken: bool,
}

impl OutputBacklog {
    fn is_full(&self) -> bool {
        self.lines >= QUEUED_LINES_MAX || self.bytes >= QUEUED_BYTES_MAX
    }
}

/// Sender to the task that writes.
#[derive(Debug, Clone)]
pub(crate) struct OutputQueue {
    lines: mpsc::UnboundedSender<QueuedLine>,
    backlog: watch::Sender<OutputBacklog>,
}

impl OutputQueue {
    /// Starts the writer task. It ends when the last queue is dropped.
    pub(crate) fn spawn_writer(output: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (lines, waiting) = mpsc::unbounded_channel();
        let backlog = watch::Sender::new(OutputBacklog::default());
        tokio::spawn(write_lines(output, waiting, backlog.clone()));
        Self { lines, backlog }
    }

    /// Adds a message.
    pub(crate) fn add_message(
        &self,
        message: &ServerJsonRpcMessage,
        slot: Option<RequestSlot>,
    ) -> Result<(), JsonError> {
        let mut bytes = serde_json::to_vec(message)?;
        bytes.push(b'\n');
        self.backlog.send_modify(|backlog| {
            backlog.lines += 1;
            backlog.bytes += bytes.len();
        });
        // The writer task outlives all senders, so this cannot fail.
        let _ = self.lines.send(QueuedLine { bytes, _slot: slot });
        Ok(())
    }

    /// Adds a notification, unless the queue is so long that it would arrive outdated.
    pub(crate) fn add_notice(&self, message: &ServerJsonRpcMessage) -> Result<(), JsonError> {
        let OutputBacklog { lines, bytes, .. } = *self.backlog.borrow();
        match lines >= QUEUED_LINES_MAX_FOR_NOTICE || bytes >= QUEUED_BYTES_MAX {
            true => Ok(()),
            false => self.add_message(message, None),
        }
    }

    /// Waits until the queue has space.
    pub(crate) async fn wait_for_space(&self) {
        self.wait_until(|backlog| !backlog.is_full()).await;
    }

    /// Waits until everything is written; gives up when the client reads nothing for `time`.
    pub(crate) async fn wait_until_written(&self, time: Duration) {
        loop {
            let written = self.written_bytes();
            let progress = |backlog: &OutputBacklog| {
                backlog.lines == 0 || backlog.is_broken || backlog.written_bytes != written
            };
            let is_stuck = timeout(time, self.wait_until(progress)).await.is_err();
            let OutputBacklog { lines, is_broken, .. } = *self.backlog.borrow();
            if is_stuck || is_broken || lines == 0 {
                return;
            }
        }
    }

    /// Whether lines are unwritten, or cannot be written any more.
    pub(crate) fn is_waiting(&self) -> bool {
        let backlog = self.backlog.borrow();
        backlog.lines > 0 || backlog.is_broken
    }

    pub(crate) fn written_bytes(&self) -> u64 {
        self.backlog.borrow().written_bytes
    }

    /// Whether the client closed its end.
    pub(crate) fn is_broken(&self) -> bool {
        self.backlog.borrow().is_broken
    }

    async fn wait_until(&self, is_reached: impl Fn(&OutputBacklog) -> bool) {
        // `self` is a sender, so the channel stays open while this waits.
        let _ = self.backlog.subscribe().wait_for(|backlog| is_reached(backlog)).await;
    }
}

async fn write_lines(
    mut output: impl AsyncWrite + Unpin,
    mut waiting: mpsc::UnboundedReceiver<QueuedLine>,
    backlog: watch::Sender<OutputBacklog>,
) {
    let mut is_broken = false;
    while let Some(line) = waiting.recv().await {
        if !is_broken {
            is_broken = write_line(&mut output, &line.bytes, &backlog).await.is_err();
        }
        let length = line.bytes.len();
        drop(line);
        backlog.send_modify(|backlog| {
            backlog.lines -= 1;
            backlog.bytes -= length;
            backlog.is_broken = is_broken;
        });
    }
}

/// Writes a line in chunks and counts each, so that progress with a slow reader is visible.
async fn write_line(
    output: &mut (impl AsyncWrite + Unpin),
    line: &[u8],
    backlog: &watch::Sender<OutputBacklog>,
) -> std::io::Result<()> {
    for chunk in line.chunks(CHUNK_BYTES) {
        output.write_all(chunk).await?;
        output.flush().await?;
        backlog.send_modify(|backlog| backlog.written_bytes += chunk.len() as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ErrorCode, ErrorData};
    use tokio::io::AsyncReadExt;

    use super::*;

    fn message(bytes: usize) -> ServerJsonRpcMessage {
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, "x".repeat(bytes), None);
        ServerJsonRpcMessage::error(error, None)
    }

    /// Whether the queue has space now.
    async fn has_room(queue: &OutputQueue) -> bool {
        tokio::select! {
            biased;
            () = queue.wait_for_space() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn there_is_room_until_too_many_lines_or_bytes_wait_and_again_when_they_are_read() {
        for (count, bytes) in [(QUEUED_LINES_MAX, 1), (4, QUEUED_BYTES_MAX / 4)] {
            let (mut reader, writer) = tokio::io::duplex(64);
            let queue = OutputQueue::spawn_writer(writer);
            for _ in 1..count {
                queue.add_message(&message(bytes), None).unwrap();
            }
            assert!(has_room(&queue).await, "{count} lines of {bytes}");
            queue.add_message(&message(bytes), None).unwrap();
            assert!(!has_room(&queue).await, "{count} lines of {bytes}");
            let waiting = *queue.backlog.borrow();
            queue.add_notice(&message(1)).unwrap();
            assert_eq!(queue.backlog.borrow().lines, waiting.lines, "no notice is added");
            let mut read = vec![0; waiting.bytes];
            reader.read_exact(&mut read).await.unwrap();
            assert_eq!(read.iter().filter(|byte| **byte == b'\n').count(), count);
            queue.wait_for_space().await;
        }
    }

    #[tokio::test]
    async fn a_client_that_closed_its_end_leaves_nothing_waiting() {
        let (reader, writer) = tokio::io::duplex(64);
        let queue = OutputQueue::spawn_writer(writer);
        for _ in 0..QUEUED_LINES_MAX {
            queue.add_message(&message(100), None).unwrap();
        }
        drop(reader);
        queue.wait_until(|backlog| backlog.lines == 0).await;
        assert!(queue.is_broken());
        queue.wait_until_written(Duration::from_secs(60)).await;
    }
}
