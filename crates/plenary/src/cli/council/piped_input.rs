//! Text that is piped into `ask`: it goes with the question like a file.

use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use plenary_core::model::hash::sha256_hex;
use plenary_core::model::plan::ContextFile;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::phrases::format_bytes;
use plenary_engine::context_files::document::SourceDocument;
use plenary_engine::context_files::gather::{ContextFileError, too_large_reason};
use plenary_engine::context_files::read::SecretGuard;
use plenary_engine::context_files::selection::WHOLE_BYTES_MAX;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::FileError;

use crate::cli::ui::{TerminalUi, print_warning_text};

/// Name of the text in prompts and in the record.
const NAME: &str = "standard input";

/// Far more than is ever sent; the error names the size of a text up to here.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// After this time a person is told what the command waits for.
const QUIET_WAIT: Duration = Duration::from_secs(1);

/// Printed also with `--quiet`: otherwise a caller that never closes its pipe sees nothing.
const WAITING: &str = "waiting for the end of standard input, which goes with the question; `plenary ask … </dev/null` sends nothing";

/// Whether the caller asked for standard input with `--context -`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputWish {
    Named,
    IfPiped,
}

/// Reads the piped text; `None` if there is none. A terminal is read only if it is named.
pub(crate) fn read_piped_input(
    ui: &TerminalUi,
    wish: InputWish,
    guard: &SecretGuard,
) -> Result<Option<ContextFile>, Error> {
    if wish == InputWish::IfPiped && ui.is_input_terminal() {
        return Ok(None);
    }
    let bytes = read_bytes()?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        if wish == InputWish::Named || is_pipe() {
            print_warning_text("standard input is empty, so the question goes without it");
        }
        return Ok(None);
    }
    let unsent = |reason| ContextFileError::Unsent { path: NAME.to_owned(), reason };
    let length = bytes.len() as u64;
    if length > WHOLE_BYTES_MAX {
        return Err(unsent(too_large_reason(length)).into());
    }
    let size = format_bytes(bytes.len());
    let text = String::from_utf8(bytes).map_err(|_| FileError::NotText { path: NAME.into() })?;
    let document = SourceDocument::from_text(Path::new(NAME), text, guard);
    let SourceDocument { text, key } = document.map_err(|error| {
        let ContextFileError::Unfit { reason, .. } = error else { return error };
        unsent(reason)
    })?;
    if let Some(key) = key {
        let message = format!("standard input is not sent to any provider: {key}");
        let fault = ValidationError::new(ErrorCode::NotSupported, message);
        return Err(fault.with_suggestion("remove the key from the text").into());
    }
    ui.print_note(&format!("standard input ({size}) is sent with the question"));
    let sha256 = sha256_hex([text.as_bytes()]);
    Ok(Some(ContextFile { path: NAME.to_owned(), sha256, text }))
}

/// Reads to the end: a text that comes late or in parts is the question's as well. Ctrl-C ends it.
fn read_bytes() -> Result<Vec<u8>, Error> {
    let (sender, receiver) = channel();
    // A thread, because a read of standard input has no time limit.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let read = match receiver.recv_timeout(QUIET_WAIT) {
        Err(RecvTimeoutError::Timeout) => {
            print_warning_text(WAITING);
            receiver.recv().ok()
        }
        read => read.ok(),
    };
    let unreadable = |source| FileError::Unreadable { path: NAME.into(), source };
    let bytes = read.unwrap_or_else(|| Ok(Vec::new())).map_err(unreadable)?;
    if bytes.len() > BYTES_MAX {
        return Err(FileError::TooLarge { path: NAME.into(), bytes_max: BYTES_MAX }.into());
    }
    Ok(bytes)
}

/// Whether standard input is a pipe: `</dev/null` is empty on purpose.
#[cfg(unix)]
fn is_pipe() -> bool {
    let kind = rustix::fs::fstat(std::io::stdin())
        .map(|found| rustix::fs::FileType::from_raw_mode(found.st_mode));
    kind == Ok(rustix::fs::FileType::Fifo)
}

#[cfg(not(unix))]
fn is_pipe() -> bool {
    false
}
