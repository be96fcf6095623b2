//! Any other program: prompt on standard input, reply on standard output.

use super::failure;
use super::program::{Invocation, joined};
use crate::domain::ask::{Finish, Messages};
use crate::providers::process::Talk;
use crate::providers::request::{CallError, Received};

pub(super) fn invocation(messages: &Messages) -> Invocation {
    Invocation { input: joined(messages), ..Invocation::default() }
}

pub(super) fn read(talk: &Talk) -> Result<Received, CallError> {
    if !talk.succeeded {
        return Err(failure::ended(talk));
    }
    reply(text(&talk.stdout)?)
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, CallError> {
    str::from_utf8(bytes).map_err(|_| failure::unreadable("its output is not UTF-8 text"))
}

/// Reply with text only.
pub(super) fn reply(text: &str) -> Result<Received, CallError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(failure::unreadable("its reply is empty"));
    }
    Ok(Received {
        text: text.to_owned(),
        usage: None,
        model: None,
        finish: Finish::Stop,
        cost_usd: None,
        structured: false,
    })
}
