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
use plenary_engine::context_files::read::SecretGuard;
use plenary_engine::error::Error;
use plenary_engine::files::read_write::FileError;

use crate::cli::ui::TerminalUi;

/// Name of the text in prompts and in the record.
const NAME: &str = "standard input";

/// Far more than a panel can read; a larger text is a mistake.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// A caller may leave standard input open and never write to it.
const FIRST_BYTE_WAIT: Duration = Duration::from_secs(1);

/// Whether the caller asked for standard input with `--context -`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputWish {
    Named,
    IfPiped,
}

/// Reads the piped text; `None` if there is none.
pub(crate) fn read_piped_input(
    ui: &TerminalUi,
    wish: InputWish,
    guard: &SecretGuard,
) -> Result<Option<ContextFile>, Error> {
    if wish == InputWish::IfPiped && ui.is_input_terminal() {
        return Ok(None);
    }
    let (bytes, is_late) = read_bytes(wish)?;
    if is_late {
        ui.print_note(
            "standard input is open but empty, so it is not sent; `--context -` waits for it",
        );
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let size = format_bytes(bytes.len());
    let text = String::from_utf8(bytes).map_err(|_| FileError::NotText { path: NAME.into() })?;
    let SourceDocument { text, key } = SourceDocument::from_text(Path::new(NAME), text, guard)?;
    if let Some(key) = key {
        let message = format!("standard input is not sent to any provider: {key}");
        let fault = ValidationError::new(ErrorCode::NotSupported, message);
        return Err(fault.with_suggestion("remove the key from the text").into());
    }
    ui.print_note(&format!("standard input ({size}) is sent with the question"));
    let sha256 = sha256_hex([text.as_bytes()]);
    Ok(Some(ContextFile { path: NAME.to_owned(), sha256, text }))
}

/// The bytes, and whether none came in time.
fn read_bytes(wish: InputWish) -> Result<(Vec<u8>, bool), Error> {
    let unreadable = |source| FileError::Unreadable { path: NAME.into(), source };
    let (sender, receiver) = channel();
    // A thread, because a read of standard input cannot be interrupted.
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut first = [0; 1];
        let started = input.read(&mut first);
        let is_started = matches!(started, Ok(1));
        let _ = sender.send(started.map(|read| first.get(..read).unwrap_or_default().to_vec()));
        if is_started {
            let mut rest = Vec::new();
            let limit = BYTES_MAX as u64 + 1;
            let _ = sender.send(input.take(limit).read_to_end(&mut rest).map(|_| rest));
        }
    });
    let first = match wish {
        InputWish::Named => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        InputWish::IfPiped => receiver.recv_timeout(FIRST_BYTE_WAIT),
    };
    let mut bytes = match first {
        Ok(first) => first.map_err(unreadable)?,
        Err(RecvTimeoutError::Timeout) => return Ok((Vec::new(), true)),
        Err(RecvTimeoutError::Disconnected) => Vec::new(),
    };
    if !bytes.is_empty() {
        bytes.extend(receiver.recv().unwrap_or_else(|_| Ok(Vec::new())).map_err(unreadable)?);
    }
    if bytes.len() > BYTES_MAX {
        return Err(FileError::TooLarge { path: NAME.into(), bytes_max: BYTES_MAX }.into());
    }
    Ok((bytes, false))
}
