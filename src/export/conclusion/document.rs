//! The JSON document of `conclude` for an alignment dialogue.

use serde::Serialize;

use super::ended::ConclusionView;
use super::words::conclusion_warnings;
use crate::domain::dialogue::ProtocolKind;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::RunState;
use crate::export::council::{
    CompletionStatus, RunMetrics, StopNotice, TransparencyRecord, completion_status, run_metrics,
    stop_notice, transparency_record,
};
use crate::export::interventions::{TimedIntervention, list_interventions};

#[derive(Debug, Serialize)]
pub struct ConclusionDocument {
    pub dialogue_id: DialogueId,
    pub protocol: ProtocolKind,
    pub rehearsal: bool,
    pub status: CompletionStatus,
    #[serde(flatten)]
    pub ended: ConclusionView,
    pub interventions: Vec<TimedIntervention>,
    pub metrics: RunMetrics,
    pub transparency: TransparencyRecord,
    pub warnings: Vec<String>,
    pub error: Option<StopNotice>,
}

pub fn conclusion_document(transcript: &RunState) -> ConclusionDocument {
    let (opening, ended) = (&transcript.opening, ConclusionView::from_state(transcript));
    ConclusionDocument {
        dialogue_id: opening.dialogue_id.clone(),
        protocol: opening.protocol,
        rehearsal: opening.rehearsal,
        status: completion_status(transcript),
        interventions: list_interventions(transcript),
        metrics: run_metrics(transcript),
        transparency: transparency_record(transcript),
        warnings: conclusion_warnings(&ended, opening.rehearsal),
        error: stop_notice(transcript),
        ended,
    }
}
