//! Text that is piped into `ask`: it goes with the question like a file.

use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

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

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A caller that sends nothing for so long has left its pipe open by mistake.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Whether the caller asked for standard input with `--context -`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputWish {
    Named,
    IfPiped,
}

/// How long the command waits for the end of standard input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputWait {
    pub wish: InputWish,
    /// The time limit of the run, which includes the wait.
    pub limit: Duration,
}

impl InputWait {
    fn time_left(self, start: Instant, last_read: Instant) -> Duration {
        let left = self.limit.saturating_sub(start.elapsed());
        match self.wish {
            InputWish::Named => left,
            InputWish::IfPiped => left.min(SILENCE_MAX.saturating_sub(last_read.elapsed())),
        }
    }
}

/// Reads the piped text; `None` if there is none. A terminal is read only if it is named.
pub(crate) fn read_piped_input(
    ui: &TerminalUi,
    waiting: InputWait,
    guard: &SecretGuard,
) -> Result<Option<ContextFile>, Error> {
    let wish = waiting.wish;
    if wish == InputWish::IfPiped && ui.is_input_terminal() {
        return Ok(None);
    }
    let bytes = read_bytes(waiting)?;
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
        return Err(ValidationError::new(ErrorCode::ContainsSecret, message).into());
    }
    ui.print_note(&format!("standard input ({size}) is sent with the question"));
    let sha256 = sha256_hex([text.as_bytes()]);
    Ok(Some(ContextFile { path: NAME.to_owned(), sha256, text }))
}

/// Reads to the end: a text that comes late or in parts is the question's as well. Ctrl-C ends it.
fn read_bytes(waiting: InputWait) -> Result<Vec<u8>, Error> {
    let (sender, receiver) = sync_channel(1);
    // A thread, because a read of standard input has no time limit.
    std::thread::spawn(move || {
        while let Some(read) = read_chunk() {
            if sender.send(read).is_err() {
                return;
            }
        }
    });
    let start = Instant::now();
    let (mut bytes, mut last_read, mut is_told) = (Vec::new(), start, false);
    loop {
        let left = waiting.time_left(start, last_read);
        let quiet = if is_told { left } else { left.min(QUIET_WAIT) };
        match receiver.recv_timeout(quiet) {
            Ok(read) => {
                let unreadable = |source| FileError::Unreadable { path: NAME.into(), source };
                bytes.extend(read.map_err(unreadable)?);
                last_read = Instant::now();
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(bytes),
            Err(RecvTimeoutError::Timeout) if left <= quiet => {
                return Err(endless_input(start.elapsed()));
            }
            Err(RecvTimeoutError::Timeout) => {
                print_warning_text(WAITING);
                is_told = true;
            }
        }
        if bytes.len() > BYTES_MAX {
            return Err(FileError::TooLarge { path: NAME.into(), bytes_max: BYTES_MAX }.into());
        }
    }
}

/// The next bytes of standard input; `None` at its end.
fn read_chunk() -> Option<io::Result<Vec<u8>>> {
    let mut chunk = vec![0; CHUNK_BYTES];
    match io::stdin().read(&mut chunk) {
        Ok(0) => None,
        Ok(count) => {
            chunk.truncate(count);
            Some(Ok(chunk))
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Some(Ok(Vec::new())),
        Err(error) => Some(Err(error)),
    }
}

fn endless_input(waited: Duration) -> Error {
    let message = format!("standard input did not end within {} s", waited.as_secs());
    let fault = ValidationError::new(ErrorCode::NotSupported, message);
    let hint = "close standard input (`plenary ask … </dev/null`), or name it with `--context -` and give a longer `--deadline`";
    Error::Argument(fault.with_suggestion(hint).into())
}

/// Whether standard input is a pipe: `</dev/null` is empty on purpose.
fn is_pipe() -> bool {
    let kind = rustix::fs::fstat(std::io::stdin())
        .map(|found| rustix::fs::FileType::from_raw_mode(found.st_mode));
    kind == Ok(rustix::fs::FileType::Fifo)
}
