//! Any other program: prompt on standard input, reply on standard output.

use super::failure;
use super::program::{ProgramInvocation, join_messages};
use crate::domain::ask::{AskMessages, FinishReason};
use crate::providers::process::ProgramOutput;
use crate::providers::request::{CallError, CallReply};

pub(super) fn build_plain_invocation(messages: &AskMessages) -> ProgramInvocation {
    ProgramInvocation { input: join_messages(messages), ..ProgramInvocation::default() }
}

pub(super) fn parse_plain_output(talk: &ProgramOutput) -> Result<CallReply, CallError> {
    if !talk.succeeded {
        return Err(failure::exit_error(talk));
    }
    plain_reply(decode_utf8(&talk.stdout)?)
}

pub(super) fn decode_utf8(bytes: &[u8]) -> Result<&str, CallError> {
    str::from_utf8(bytes).map_err(|_| failure::unreadable_error("its output is not UTF-8 text"))
}

/// Reply with text only.
pub(super) fn plain_reply(text: &str) -> Result<CallReply, CallError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(failure::unreadable_error("its reply is empty"));
    }
    Ok(CallReply {
        text: text.to_owned(),
        usage: None,
        model: None,
        finish: FinishReason::Stop,
        cost_usd: None,
        structured: false,
    })
}
