//! Why a program could not be started.

use std::io;

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
