//! The question, from wherever it was typed.

use std::io::Read;
use std::path::Path;

use crate::config::parse_duration;
use crate::domain::limits::TEXT_CHARS_MAX;
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::files::{self, FileError};

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

/// A file of questions or a script.
pub(super) fn file(path: &Path) -> Result<String, Error> {
    Ok(files::read_text(path)?)
}

/// A length of time as people write it, in milliseconds.
pub(super) fn time(typed: &str) -> Result<u64, &'static str> {
    parse_duration(typed).ok_or("write a time such as `90s`, `10m` or `1500ms`")
}
