//! What was run on a dialogue, or brought into it, as the record alone does not say it.

use serde::Serialize;

use crate::domain::change::{Change, Entry};
use crate::domain::dialogue::Protocol;
use crate::domain::gate::LogRow;
use crate::domain::transcript::Transcript;
use crate::export::council::{self, Deliberated};
use crate::export::gate::{self, ReviewDocument};

/// A part of the export of its own, under this name.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunDocument {
    Council(Box<Deliberated>),
    Review(Box<ReviewDocument>),
    /// Verdicts of another log: a review that nobody ran here.
    Imported(Vec<LogRow>),
}

impl RunDocument {
    /// From the journal of a dialogue; nothing, of one that somebody leads.
    pub fn of(protocol: Protocol, entries: &[Entry]) -> Option<Self> {
        match protocol {
            Protocol::Alignment => None,
            Protocol::Council => {
                let run = Transcript::of(entries)?;
                Some(Self::Council(Box::new(council::document(&run))))
            }
            Protocol::Review => Some(match Transcript::of(entries) {
                Some(run) => Self::Review(Box::new(gate::document(&run))),
                None => Self::Imported(imported(entries)),
            }),
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
