//! Panel health of a review, and its warnings.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::gate::GatePlan;
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::Transcript;
use crate::export::council::{Panel, of_family, of_replies, unpriced};
use crate::protocols::gate::positions;

#[derive(Debug, Default, Serialize)]
pub struct GatePanel {
    #[serde(flatten)]
    pub panel: Panel,
    /// A seat failed in one of the rounds or at the adjudication.
    pub degraded: bool,
    /// All deliberators who answered are of one model family.
    pub single_family: bool,
}

/// A context file that a deliberator did not get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingContext {
    pub deliberator: ExpertSlug,
    pub path: String,
    pub reason: String,
}

impl GatePanel {
    pub(super) fn of(transcript: &Transcript, gate: &GatePlan) -> Self {
        let panel = Panel::of(transcript);
        let is_short = positions(transcript).iter().any(|one| one.held().is_none());
        Self {
            degraded: !panel.failed.is_empty() || (is_short && transcript.stopped.is_some()),
            single_family: families(transcript, gate).len() == 1,
            panel,
        }
    }
}

/// Model families of the deliberators who answered, or of all deliberators if none did.
fn families<'a>(transcript: &'a Transcript, gate: &'a GatePlan) -> BTreeSet<&'a str> {
    let positions = positions(transcript);
    let heard: Vec<&ExpertSlug> =
        positions.iter().filter(|one| one.held().is_some()).map(|one| one.seat).collect();
    let seats = gate.deliberators.iter().map(|deliberator| &deliberator.seat);
    let counted = seats.filter(|seat| heard.is_empty() || heard.contains(seat));
    let seats = counted.filter_map(|seat| transcript.plan.seat(seat));
    seats.map(|seat| seat.family.as_str()).collect()
}

pub(super) fn missing_context(gate: &GatePlan) -> Vec<MissingContext> {
    let files = gate
        .deliberators
        .iter()
        .flat_map(|deliberator| deliberator.context.iter().map(|file| (&deliberator.seat, file)));
    let missing = files.filter(|(_, file)| file.text.is_none());
    missing
        .map(|(seat, file)| MissingContext {
            deliberator: seat.clone(),
            path: file.path.clone(),
            reason: file.missing.clone().unwrap_or_default(),
        })
        .collect()
}

/// Warnings that no other part of the document contains.
pub(super) fn warnings(transcript: &Transcript, gate: &GatePlan) -> Vec<String> {
    let mut warnings = transcript.plan.notes.clone();
    warnings.extend(of_family(transcript, &families(transcript, gate)));
    warnings.extend(unpriced(transcript));
    warnings.extend(of_replies(transcript));
    warnings
}
