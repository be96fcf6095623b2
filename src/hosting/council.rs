//! A council: the settings it is asked by, and the run that a question becomes.

use std::sync::Arc;

use super::premises::Premises;
use super::prepared::Prepared;
use crate::config::{Overrides, Settings};
use crate::convening::{Rehearsal, Table};
use crate::domain::plan::Plan;
use crate::engine::Question;
use crate::error::Error;

/// Without anybody to ask a council rehearses. But a project that has a council.yaml means its
/// answers: it never rehearses by itself.
pub fn council_settings(
    premises: &Premises,
    rehearsal: &Rehearsal,
    overrides: &Overrides,
) -> Result<Settings, Error> {
    premises.settings_to_begin(rehearsal, overrides, |settings| settings.located.file.is_some())
}

/// A question before a council.
pub fn council(table: &Table, text: String, plan: Plan) -> Prepared {
    Prepared {
        question: Question { text, rehearsal: table.is_rehearsal, plan },
        connections: table.connections.clone(),
        redaction: Arc::default(),
    }
}
