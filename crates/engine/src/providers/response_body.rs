//! Reads the body of a response: a whole one, or a streamed reply until the server says that it
//! ends.
//!
//! Some servers keep the connection open after the end of a reply, others break it. Neither costs a
//! reply whose end has arrived.

use std::time::Duration;

use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use crate::providers::call_progress::{MaskedSink, SilenceTimer};
use crate::providers::dialects::stream::{EventDecoder, StreamedReply};
use crate::providers::http_errors::{broken_connection, broken_stream, invalid_reply};
use crate::providers::transport::{CallError, CallRequest, Dialect, Provider};

/// Largest response body that is read. A reply has a few hundred kilobytes at most; the limit
/// protects memory.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The same for a stream, in which each word has an event around it.
const STREAM_BYTES_MAX: usize = 8 * REPLY_BYTES_MAX;

/// How long to wait, after the reason why a reply ends, for its counts and the last event.
const COUNTS_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long to wait, after the last event, for the end of the body: then the connection can serve
/// the next call.
const CLOSE_WAIT_MAX: Duration = Duration::from_millis(100);

/// The beginnings of an event stream. No JSON begins with one of them.
const STREAM_STARTS: [&str; 4] = ["data:", "event:", "id:", ":"];

#[derive(Debug)]
pub(crate) struct ResponseBody<'a> {
    response: Response,
    provider: &'a Provider,
    /// The first bytes, if they were looked at before they are read.
    first: Option<Vec<u8>>,
    length: usize,
}

impl<'a> ResponseBody<'a> {
    pub(crate) fn new(response: Response, provider: &'a Provider) -> Self {
        Self { response, provider, first: None, length: 0 }
    }

    /// Whether the body begins like an event stream, for servers that do not declare it.
    pub(crate) async fn begins_as_stream(&mut self) -> Result<bool, CallError> {
        let first = self.next_chunk().await?;
        let start = String::from_utf8_lossy(first.as_deref().unwrap_or_default()).into_owned();
        self.length = 0;
        self.first = first;
        let start = start.trim_start_matches('\u{feff}').trim_start();
        Ok(STREAM_STARTS.iter().any(|begin| start.starts_with(begin)))
    }

    /// Reads a stream to its end. A stream that ends early is a failed call: its text is not whole.
    pub(crate) async fn read_stream(
        mut self,
        dialect: Dialect,
        request: &CallRequest,
        secrets: Vec<String>,
    ) -> Result<StreamedReply, CallError> {
        let (mut decoder, mut reply) = (EventDecoder::default(), StreamedReply::new(dialect));
        let mut shown = MaskedSink::new(request.partial_text.as_ref(), secrets);
        let (mut end_by, mut text_length) = (None, 0);
        loop {
            let chunk = match end_by {
                None => self.next_chunk().await?,
                // What arrives after the end is not worth an error.
                Some(end) => match timeout_at(end, self.next_chunk()).await {
                    Ok(Ok(chunk)) => chunk,
                    Ok(Err(_)) | Err(_) => break,
                },
            };
            let Some(chunk) = chunk else { break };
            request.timer.restart();
            let (length_before, had_ended) = (text_length, reply.is_ended());
            for data in decoder.push_bytes(&chunk) {
                let text = match reply.add_event(self.provider, &data) {
                    Err(_) if reply.is_complete() => continue,
                    added => added?,
                };
                request.timer.add_text(text.len());
                text_length += text.len();
                shown.push_text(&text);
            }
            if self.length > STREAM_BYTES_MAX || text_length > REPLY_BYTES_MAX {
                return Err(self.too_long());
            }
            // Comments and repeated counts do not hold up a reply; more text does.
            if reply.is_ended() {
                let close_by = Instant::now() + CLOSE_WAIT_MAX;
                end_by = Some(end_by.filter(|_| had_ended).unwrap_or(close_by));
            } else if reply.is_complete() && (end_by.is_none() || text_length > length_before) {
                let wait = COUNTS_WAIT_MAX.min(request.timer.time_left() / 2);
                end_by = Some(Instant::now() + wait);
            }
        }
        // The last event may lack its end; what cannot be read then broke off.
        let last = decoder.finish().map(|data| reply.add_event(self.provider, &data));
        match last.transpose() {
            Ok(text) => text.iter().for_each(|text| shown.push_text(text)),
            Err(_) if reply.is_complete() => {}
            Err(_) => return Err(broken_stream(self.provider)),
        }
        shown.finish();
        if reply.is_complete() { Ok(reply) } else { Err(broken_stream(self.provider)) }
    }

    /// Reads the body as text and replaces invalid UTF-8. Each chunk restarts the timer.
    pub(crate) async fn read_text(
        mut self,
        timer: Option<&SilenceTimer>,
    ) -> Result<String, CallError> {
        let expected = self.response.content_length().and_then(|size| usize::try_from(size).ok());
        let mut body = Vec::with_capacity(expected.unwrap_or(0).min(REPLY_BYTES_MAX));
        while let Some(chunk) = self.next_chunk().await? {
            timer.inspect(|timer| timer.restart());
            if self.length > REPLY_BYTES_MAX {
                return Err(self.too_long());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, CallError> {
        let chunk = match self.first.take() {
            Some(first) => Some(first),
            None => {
                let chunk = self.response.chunk().await;
                chunk.map_err(|_| broken_connection(self.provider, self.length))?.map(Vec::from)
            }
        };
        self.length += chunk.as_ref().map_or(0, Vec::len);
        Ok(chunk)
    }

    fn too_long(&self) -> CallError {
        invalid_reply(self.provider, &format!("over {REPLY_BYTES_MAX} bytes"))
    }
}
