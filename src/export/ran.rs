//! The part of a dialogue's export that comes from its run, or from imported verdicts.

use serde::Serialize;

use crate::domain::change::{Change, Entry};
use crate::domain::dialogue::Protocol;
use crate::domain::gate::LogRow;
use crate::domain::transcript::Transcript;
use crate::export::RunDocument;
use crate::export::council::Deliberated;
use crate::export::gate::ReviewDocument;

/// Serialised under the variant's name.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ran {
    Council(Box<Deliberated>),
    Review(Box<ReviewDocument>),
    /// Verdicts imported from another log, without a run.
    Imported(Vec<LogRow>),
}

impl Ran {
    /// Reads the journal of a dialogue. `None` for an alignment dialogue, whose record already
    /// contains the conclusion.
    pub fn of(protocol: Protocol, entries: &[Entry]) -> Option<Self> {
        match (Transcript::of(entries).as_ref().map(RunDocument::of), protocol) {
            (Some(RunDocument::Council(told)), _) => Some(Self::Council(told)),
            (Some(RunDocument::Review(told)), _) => Some(Self::Review(told)),
            (None, Protocol::Review) => Some(Self::Imported(imported(entries))),
            (Some(RunDocument::Closing(_)), _)
            | (None, Protocol::Council | Protocol::Alignment) => None,
        }
    }
}

fn imported(entries: &[Entry]) -> Vec<LogRow> {
    let rows = entries.iter().flat_map(|entry| &entry.changes).filter_map(|change| {
        let Change::VerdictLogged(row) = change else { return None };
        Some(row.as_ref().clone())
    });
    rows.collect()
}
