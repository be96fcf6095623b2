//! Errors of starting a program and of reading its output.

use std::io;
use std::process::ExitStatus;

use crate::domain::ask::CallErrorType;
use crate::providers::request::CallError;
use crate::providers::sentence::clean_output;

pub(in crate::providers) fn start_error(program: &str, error: &io::Error) -> CallError {
    let program = clean_output(program, &[]);
    let message = if error.kind() == io::ErrorKind::NotFound {
        format!("the program `{program}` was not found")
    } else {
        format!("the program `{program}` could not be started: {error}")
    };
    CallError::new(CallErrorType::Unknown, message)
}

pub(super) fn output_error(error: &io::Error) -> CallError {
    CallError::new(CallErrorType::Unknown, format!("cannot read the program's output: {error}"))
}

/// The supervisor is our own process; it ends early only if another process kills it.
pub(super) fn lost_supervisor_error(program: &str, status: ExitStatus) -> CallError {
    let program = clean_output(program, &[]);
    let message = format!("the supervisor of `{program}` ended early: {status}");
    CallError::new(CallErrorType::Unknown, message)
}
