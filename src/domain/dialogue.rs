//! The root of everything: one deliberation, whichever protocol ran it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::DialogueId;
use super::time::Moment;
use super::words::words;

words! {
    /// The rules of who is asked what, and when it stops.
    pub enum Protocol {
        Alignment = "alignment",
        Council = "council",
        Review = "review",
    }
}

impl Protocol {
    /// Dialogues count their rounds from 0, councils and reviews from 1, as their seeds do.
    pub fn first_round(self) -> u8 {
        match self {
            Self::Alignment => 0,
            Self::Council | Self::Review => 1,
        }
    }
}

words! {
    /// Where a dialogue stands.
    pub enum DialogueStatus {
        Open = "open",
        Converging = "converging",
        Converged = "converged",
        Abandoned = "abandoned",
    }
}

impl DialogueStatus {
    pub fn is_closed(self) -> bool {
        match self {
            Self::Open | Self::Converging => false,
            Self::Converged | Self::Abandoned => true,
        }
    }
}

words! {
    /// How an audited conclusion ended.
    pub enum TerminalState {
        Clean = "clean",
        Revised = "revised",
        Unconverged = "unconverged",
    }
}

words! {
    /// Where a dialogue stands on the way to its end; it never goes back. Before these come
    /// `pending` and its rounds, after them `terminal`.
    pub enum Stage {
        Concluding = "concluding",
        Auditing = "auditing",
        Revising = "revising",
    }
}

/// A dialogue as it is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub question: Option<String>,
    pub background: Option<Value>,
    pub protocol: Protocol,
    pub rehearsal: bool,
    pub convergence_percent: u8,
    /// The seed the panel was drawn with, as hex; absent when nothing was drawn.
    pub panel_seed: Option<String>,
    pub output_dir: String,
}

/// A dialogue as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    pub opening: Opening,
    pub status: DialogueStatus,
    pub terminal_state: Option<TerminalState>,
    pub total_rounds: u8,
    pub total_alignment: i64,
    pub created_at: Moment,
    pub converged_at: Option<Moment>,
    /// Why it was abandoned, where somebody said.
    pub closed_because: Option<String>,
}

impl Dialogue {
    pub fn id(&self) -> &DialogueId {
        &self.opening.dialogue_id
    }

    /// The round that would be registered next.
    pub fn next_round(&self) -> u8 {
        self.opening.protocol.first_round() + self.total_rounds
    }

    /// The newest registered round.
    pub fn last_round(&self) -> Option<u8> {
        (self.total_rounds > 0).then(|| self.next_round() - 1)
    }
}
