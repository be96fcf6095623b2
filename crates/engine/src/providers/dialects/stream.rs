//! Streamed replies: decodes server-sent events and folds them into the dialect's reply.

use crate::providers::dialects::anthropic::AnthropicReply;
use crate::providers::dialects::gemini::GeminiReply;
use crate::providers::dialects::openai::OpenAiReply;
use crate::providers::dialects::wire::parse_body;
use crate::providers::dialects::{anthropic, gemini, openai};
use crate::providers::http_errors::reject_empty_refusal;
use crate::providers::transport::{CallError, CallReply, Dialect, Provider};

/// Splits a byte stream into the data of its events, wherever the network cuts it.
#[derive(Debug, Default)]
pub(crate) struct EventDecoder {
    /// The line that is not whole yet.
    line: Vec<u8>,
    /// The data lines of the event that is not whole yet.
    data: Vec<String>,
    /// A `\r` ended the last line; a `\n` right after it ends no second one.
    after_return: bool,
}

impl EventDecoder {
    /// Returns the data of each event that these bytes complete.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for byte in bytes {
            let follows_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(*byte),
            }
        }
        events
    }

    /// The event at the end of a stream that lacks the last blank line.
    pub(crate) fn finish(mut self) -> Option<String> {
        let ended = self.end_line();
        ended.or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        // Comments and the fields `event`, `id` and `retry` carry nothing of a reply.
        if let Some(data) = line.strip_prefix(b"data:") {
            let data = data.strip_prefix(b" ").unwrap_or(data);
            self.data.push(String::from_utf8_lossy(data).into_owned());
        }
        None
    }

    fn end_event(&mut self) -> Option<String> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then(|| data.join("\n"))
    }
}

/// Ends a stream of OpenAI's dialect.
const DONE: &str = "[DONE]";

/// A reply that arrives in events.
#[derive(Debug)]
pub(crate) struct StreamedReply {
    parts: StreamedParts,
    /// The event that ends the stream has arrived.
    is_ended: bool,
}

#[derive(Debug)]
enum StreamedParts {
    OpenAi(OpenAiReply),
    Anthropic(AnthropicReply),
    Gemini(GeminiReply),
}

impl StreamedReply {
    pub(crate) fn new(dialect: Dialect) -> Self {
        let parts = match dialect {
            Dialect::OpenAi => StreamedParts::OpenAi(OpenAiReply::default()),
            Dialect::Anthropic => StreamedParts::Anthropic(AnthropicReply::default()),
            Dialect::Gemini => StreamedParts::Gemini(GeminiReply::default()),
        };
        Self { parts, is_ended: false }
    }

    /// Adds an event; returns the text that it adds to the reply.
    pub(crate) fn add_event(
        &mut self,
        provider: &Provider,
        data: &str,
    ) -> Result<String, CallError> {
        if data.trim() == DONE {
            self.is_ended = true;
            return Ok(String::new());
        }
        Ok(match &mut self.parts {
            StreamedParts::OpenAi(reply) => reply.add_chunk(parse_body(provider, data)?),
            StreamedParts::Anthropic(reply) => {
                let text = reply.add_event(parse_body(provider, data)?);
                self.is_ended = reply.is_ended();
                text
            }
            StreamedParts::Gemini(reply) => reply.add_chunk(parse_body(provider, data)?),
        })
    }

    /// Whether the server said why the reply ends, or why it failed. Counts may follow.
    pub(crate) fn is_complete(&self) -> bool {
        match &self.parts {
            StreamedParts::OpenAi(reply) => reply.is_complete(),
            StreamedParts::Anthropic(reply) => reply.is_complete(),
            StreamedParts::Gemini(reply) => reply.is_complete(),
        }
    }

    /// Whether the server said that nothing follows. Gemini's dialect has no such event.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended
    }

    pub(crate) fn into_reply(
        self,
        provider: &Provider,
        structured: bool,
    ) -> Result<CallReply, CallError> {
        let reply = match self.parts {
            StreamedParts::OpenAi(reply) => openai::convert_reply(provider, reply),
            StreamedParts::Anthropic(reply) => anthropic::convert_reply(provider, reply),
            StreamedParts::Gemini(reply) => gemini::convert_reply(provider, reply),
        }?;
        reject_empty_refusal(provider, CallReply { structured, ..reply })
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
