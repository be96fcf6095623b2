//! What reading a request has found so far, beside the request itself.

use super::warning::Warning;
use crate::domain::refusal::{Fault, Refusal};

#[derive(Debug, Default)]
pub struct Notes {
    pub faults: Vec<Fault>,
    pub warnings: Vec<Warning>,
}

impl Notes {
    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Whether nothing was wrong since there were this many faults.
    pub fn is_sound_since(&self, before: usize) -> bool {
        self.faults.len() == before
    }

    /// What was read, if nothing was wrong with it.
    pub fn settle<T>(self, read: Option<T>) -> Result<(T, Vec<Warning>), Refusal> {
        match read {
            Some(read) if self.faults.is_empty() => Ok((read, self.warnings)),
            Some(_) | None => Err(Refusal::new(self.faults)),
        }
    }
}
