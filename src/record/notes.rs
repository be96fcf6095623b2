//! Errors and warnings collected while a request is parsed.

use super::warning::Warning;
use crate::domain::refusal::{Fault, Refusal};

#[derive(Debug, Clone, Default)]
pub struct Notes {
    pub faults: Vec<Fault>,
    pub warnings: Vec<Warning>,
}

impl Notes {
    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Whether no error was added since there were `before` errors.
    pub fn is_sound_since(&self, before: usize) -> bool {
        self.faults.len() == before
    }

    /// The parsed value, unless errors were collected.
    pub fn settle<T>(self, read: Option<T>) -> Result<(T, Vec<Warning>), Refusal> {
        match read {
            Some(read) if self.faults.is_empty() => Ok((read, self.warnings)),
            Some(_) | None => Err(Refusal::new(self.faults)),
        }
    }
}
