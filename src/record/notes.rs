//! Errors and warnings collected while a request is parsed.

use super::warning::RequestWarning;
use crate::domain::refusal::{ValidationError, ValidationErrors};

#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    pub errors: Vec<ValidationError>,
    pub warnings: Vec<RequestWarning>,
}

impl Diagnostics {
    pub fn add_error(&mut self, fault: ValidationError) {
        self.errors.push(fault);
    }

    /// Whether no error was added since there were `before` errors.
    pub fn has_no_errors_since(&self, before: usize) -> bool {
        self.errors.len() == before
    }

    /// The parsed value, unless errors were collected.
    pub fn into_result<T>(
        self,
        read: Option<T>,
    ) -> Result<(T, Vec<RequestWarning>), ValidationErrors> {
        match read {
            Some(read) if self.errors.is_empty() => Ok((read, self.warnings)),
            Some(_) | None => Err(ValidationErrors::new(self.errors)),
        }
    }
}
