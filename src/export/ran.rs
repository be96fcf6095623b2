//! What was run on a dialogue, or brought into it, as the record alone does not say it.

use serde::Serialize;

use crate::domain::change::{Change, Entry};
use crate::domain::dialogue::Protocol;
use crate::domain::gate::LogRow;
use crate::domain::transcript::Transcript;
use crate::export::RunDocument;
use crate::export::council::Deliberated;
use crate::export::gate::ReviewDocument;

/// A part of the export of its own, under this name.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ran {
    Council(Box<Deliberated>),
    Review(Box<ReviewDocument>),
    /// Verdicts of another log: a review that nobody ran here.
    Imported(Vec<LogRow>),
}

impl Ran {
    /// From the journal of a dialogue. Nothing of one that somebody leads: how it ended stands
    /// in its record.
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
