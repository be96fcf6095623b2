//! The JSON document of a council (`ask --json`).

use serde::Serialize;

use super::health::{Flags, Health, Panel, warnings};
use super::metrics::{Metrics, metrics};
use super::rounds::{Rounds, rounds};
use super::stop::{Status, Stopped, status, stopped};
use super::transparency::{Transparency, transparency};
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::tally::Tally;
use crate::domain::council::words::Mode;
use crate::domain::dialogue::Protocol;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Transcript;
use crate::export::conclusion::Ended;
use crate::export::interventions::{Intervened, interventions};
use crate::protocols::council::{PeerChoice, peer_choice, tally};

/// The result of `ask`.
#[derive(Debug, Serialize)]
pub struct Deliberated {
    pub dialogue_id: DialogueId,
    pub protocol: Protocol,
    pub mode: Mode,
    pub rehearsal: bool,
    pub status: Status,
    #[serde(flatten)]
    pub ended: Ended,
    pub report: Option<CouncilFinalReport>,
    pub rounds: Rounds,
    pub tally: Tally,
    pub peer_choice: Option<PeerChoice>,
    pub interventions: Vec<Intervened>,
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
        ended: Ended::of(transcript),
        report: transcript.report.clone(),
        rounds: rounds(transcript),
        tally: tally(transcript),
        peer_choice: peer_choice(transcript),
        interventions: interventions(transcript),
        panel: health.panel,
        flags: health.flags,
        metrics: metrics(transcript),
        transparency: transparency(transcript),
        warnings: warnings(transcript),
        error: stopped(transcript),
    }
}
