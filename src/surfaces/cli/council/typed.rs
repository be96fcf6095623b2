//! What was typed: the question, amounts of time and money.

use std::io::Read;
use std::path::Path;

use crate::config::parse_duration;
use crate::domain::limits::TEXT_CHARS_MAX;
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::files::FileError;

/// A question from the command line; `-` means standard input.
pub(super) fn question(typed: &str) -> Result<String, Error> {
    if typed == "-" { check(&standard_input()?) } else { check(typed) }
}

/// A question is not empty, and not a book.
pub(super) fn check(text: &str) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() {
        let fault = Fault::new(Code::MissingField, "the question is empty").field("question");
        return Err(fault.suggest("say in a sentence or two what is to be decided").into());
    }
    if text.contains('\0') {
        let fault = Fault::new(Code::InvalidType, "the question holds a NUL character");
        return Err(fault.field("question").suggest("check where the text comes from").into());
    }
    if text.chars().count() > TEXT_CHARS_MAX {
        let message = format!("the question is over the limit of {TEXT_CHARS_MAX} characters");
        let fault = Fault::new(Code::FieldTooLong, message).field("question");
        return Err(fault
            .suggest("put the material into files and give them with `--context`")
            .into());
    }
    Ok(text.to_owned())
}

fn standard_input() -> Result<String, Error> {
    // Four bytes at most for each character that is allowed, and one to see that there is more.
    let limit = TEXT_CHARS_MAX as u64 * 4 + 1;
    let mut bytes = Vec::new();
    let path = || Path::new("-").to_owned();
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|source| FileError::Unreadable { path: path(), source })?;
    String::from_utf8(bytes).map_err(|_| FileError::NotText { path: path() }.into())
}

/// A length of time as people write it, in milliseconds.
pub(super) fn time(typed: &str) -> Result<u64, &'static str> {
    let millis = typed.parse().ok().or_else(|| parse_duration(typed));
    millis.ok_or("write a time such as `90s` or `10m`; a bare number is milliseconds")
}

/// An amount of dollars.
pub(super) fn dollars(typed: &str) -> Result<f64, &'static str> {
    let amount = typed.trim_start_matches('$').parse().ok();
    amount.filter(|usd: &f64| usd.is_finite() && *usd >= 0.0).ok_or("write dollars such as `2.50`")
}
