//! The JSON document of `conclude` for an alignment dialogue.

use serde::Serialize;

use super::ended::Ended;
use super::words::warnings;
use crate::domain::dialogue::Protocol;
use crate::domain::ids::DialogueId;
use crate::domain::transcript::Transcript;
use crate::export::council::{
    Metrics, Status, Stopped, Transparency, metrics, status, stopped, transparency,
};
use crate::export::interventions::{Intervened, interventions};

#[derive(Debug, Serialize)]
pub struct Closed {
    pub dialogue_id: DialogueId,
    pub protocol: Protocol,
    pub rehearsal: bool,
    pub status: Status,
    #[serde(flatten)]
    pub ended: Ended,
    pub interventions: Vec<Intervened>,
    pub metrics: Metrics,
    pub transparency: Transparency,
    pub warnings: Vec<String>,
    pub error: Option<Stopped>,
}

pub fn closed(transcript: &Transcript) -> Closed {
    let (opening, ended) = (&transcript.opening, Ended::of(transcript));
    Closed {
        dialogue_id: opening.dialogue_id.clone(),
        protocol: opening.protocol,
        rehearsal: opening.rehearsal,
        status: status(transcript),
        interventions: interventions(transcript),
        metrics: metrics(transcript),
        transparency: transparency(transcript),
        warnings: warnings(&ended, opening.rehearsal),
        error: stopped(transcript),
        ended,
    }
}
