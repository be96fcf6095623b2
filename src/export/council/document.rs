//! The JSON document of a council (`ask --json`).

use serde::Serialize;

use super::health::{CouncilFlags, PanelAttendance, PanelHealth, council_warnings};
use super::metrics::{RunMetrics, run_metrics};
use super::rounds::{CouncilRounds, council_rounds};
use super::stop::{CompletionStatus, StopNotice, completion_status, stop_notice};
use super::transparency::{TransparencyRecord, transparency_record};
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::tally::StanceTally;
use crate::domain::council::words::QuestionMode;
use crate::domain::dialogue::ProtocolKind;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::RunState;
use crate::export::conclusion::ConclusionView;
use crate::export::interventions::{TimedIntervention, list_interventions};
use crate::protocols::council::{PeerChoice, peer_choice, tally_stances};

/// The result of `ask`.
#[derive(Debug, Serialize)]
pub struct CouncilDocument {
    pub dialogue_id: DialogueId,
    pub protocol: ProtocolKind,
    pub mode: QuestionMode,
    pub rehearsal: bool,
    pub status: CompletionStatus,
    #[serde(flatten)]
    pub ended: ConclusionView,
    pub report: Option<CouncilFinalReport>,
    pub rounds: CouncilRounds,
    pub tally: StanceTally,
    pub peer_choice: Option<PeerChoice>,
    pub interventions: Vec<TimedIntervention>,
    pub panel: PanelAttendance,
    pub flags: CouncilFlags,
    pub metrics: RunMetrics,
    pub transparency: TransparencyRecord,
    pub warnings: Vec<String>,
    pub error: Option<StopNotice>,
}

pub fn council_document(transcript: &RunState) -> CouncilDocument {
    let health = PanelHealth::from_state(transcript);
    CouncilDocument {
        dialogue_id: transcript.opening.dialogue_id.clone(),
        protocol: transcript.opening.protocol,
        mode: transcript.plan.mode,
        rehearsal: transcript.opening.rehearsal,
        status: completion_status(transcript),
        ended: ConclusionView::from_state(transcript),
        report: transcript.report.clone(),
        rounds: council_rounds(transcript),
        tally: tally_stances(transcript),
        peer_choice: peer_choice(transcript),
        interventions: list_interventions(transcript),
        panel: health.panel,
        flags: health.flags,
        metrics: run_metrics(transcript),
        transparency: transparency_record(transcript),
        warnings: council_warnings(transcript),
        error: stop_notice(transcript),
    }
}
