//! Events that agent programs print while they work, one JSON object per line: the text that each
//! adds to the reply, and the reply at the end.

use serde_json::Value;

use crate::providers::cli::outputs::{decode_utf8, parse_claude_text, string_at};
use crate::providers::cli::transport::exit_error;
use crate::providers::process::process_group::ProgramOutput;
use crate::providers::transport::{CallError, CallReply};

/// Longest line that is read as an event; a longer one is read at the end, with the whole output.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Splits output into lines, wherever it is cut.
#[derive(Debug, Default)]
pub(crate) struct LineDecoder {
    line: Vec<u8>,
}

impl LineDecoder {
    /// Returns the lines that these bytes complete.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    lines.push(String::from_utf8_lossy(&line).into_owned());
                }
                byte if self.line.len() < LINE_BYTES_MAX => self.line.push(*byte),
                _ => {}
            }
        }
        lines
    }
}

/// `claude --output-format stream-json`: the events of Anthropic's stream in an envelope.
pub(crate) fn claude_text(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line).ok()?;
    let delta =
        event.pointer("/event/delta").filter(|_| string_at(&event, "/type") == "stream_event");
    delta?.get("text")?.as_str().map(str::to_owned)
}

/// `codex exec --json`: a message arrives whole.
pub(crate) fn codex_text(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line).ok()?;
    let is_message = string_at(&event, "/type") == "item.completed"
        && string_at(&event, "/item/type") == "agent_message";
    is_message.then(|| string_at(&event, "/item/text").to_owned())
}

/// The last event of `claude` is what it prints without a stream.
pub(crate) fn parse_claude_events(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    let text = decode_utf8(&talk.stdout)?;
    let is_result = |line: &&str| {
        serde_json::from_str::<Value>(line)
            .is_ok_and(|event| string_at(&event, "/type") == "result")
    };
    match text.lines().rev().find(is_result) {
        Some(result) => parse_claude_text(result, talk),
        None => Err(exit_error(talk)),
    }
}

#[cfg(test)]
#[path = "output_events_tests.rs"]
mod tests;
