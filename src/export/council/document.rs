//! The whole document.

use serde::Serialize;
use serde_json::Value;

use super::health::{Flags, Health, Panel, warnings};
use super::metrics::{Metrics, metrics};
use super::rounds::{Rounds, rounds};
use super::stop::{Status, Stopped, status, stopped};
use super::transparency::{Transparency, transparency};
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::tally::Tally;
use crate::domain::council::words::Mode;
use crate::domain::dialogue::{Protocol, TerminalState};
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Transcript;
use crate::protocols::council::{PeerChoice, peer_choice, tally};

/// What `ask` answers. The conclusion's fields are there from the beginning; what fills
/// them comes with the conclusion protocol.
#[derive(Debug, Serialize)]
pub struct Deliberated {
    pub dialogue_id: DialogueId,
    pub protocol: Protocol,
    pub mode: Mode,
    pub rehearsal: bool,
    pub status: Status,
    pub terminal_state: Option<TerminalState>,
    pub conclusion: Option<Value>,
    pub draft: Option<Value>,
    pub explanation: Option<String>,
    pub report: Option<CouncilFinalReport>,
    pub rounds: Rounds,
    pub tally: Tally,
    pub peer_choice: Option<PeerChoice>,
    pub audit: Option<Value>,
    pub panel: Panel,
    pub flags: Flags,
    pub metrics: Metrics,
    pub transparency: Transparency,
    pub warnings: Vec<String>,
    pub error: Option<Stopped>,
}

pub fn document(transcript: &Transcript) -> Deliberated {
    let health = Health::of(transcript);
    Deliberated {
        dialogue_id: transcript.opening.dialogue_id.clone(),
        protocol: transcript.opening.protocol,
        mode: transcript.plan.mode,
        rehearsal: transcript.opening.rehearsal,
        status: status(transcript),
        terminal_state: None,
        conclusion: None,
        draft: None,
        explanation: None,
        report: transcript.report.clone(),
        rounds: rounds(transcript),
        tally: tally(transcript),
        peer_choice: peer_choice(transcript),
        audit: None,
        panel: health.panel,
        flags: health.flags,
        metrics: metrics(transcript),
        transparency: transparency(transcript),
        warnings: warnings(transcript),
        error: stopped(transcript),
    }
}
