//! Errors of starting a program and of reading its output.

use std::io;
use std::process::ExitStatus;

use crate::domain::ask::ErrorType;
use crate::providers::request::CallError;
use crate::providers::sentence::saying;

pub(in crate::providers) fn failed_start(program: &str, error: &io::Error) -> CallError {
    let program = saying(program, &[]);
    let message = if error.kind() == io::ErrorKind::NotFound {
        format!("the program `{program}` was not found")
    } else {
        format!("the program `{program}` could not be started: {error}")
    };
    CallError::new(ErrorType::Unknown, message)
}

pub(super) fn broken(error: &io::Error) -> CallError {
    CallError::new(ErrorType::Unknown, format!("cannot read the program's output: {error}"))
}

/// The supervisor is our own process; it ends early only if another process kills it.
pub(super) fn lost_supervisor(program: &str, status: ExitStatus) -> CallError {
    let program = saying(program, &[]);
    let message = format!("the supervisor of `{program}` ended early: {status}");
    CallError::new(ErrorType::Unknown, message)
}
