//! Panel health of a review, and its warnings.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::gate::ReviewPlan;
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::RunState;
use crate::export::council::{PanelAttendance, family_warning, price_warning, reply_warnings};
use crate::protocols::gate::list_seat_results;

#[derive(Debug, Default, Serialize)]
pub struct ReviewPanel {
    #[serde(flatten)]
    pub panel: PanelAttendance,
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

impl ReviewPanel {
    pub(super) fn from_state(transcript: &RunState, gate: &ReviewPlan) -> Self {
        let panel = PanelAttendance::from_state(transcript);
        let is_short =
            list_seat_results(transcript).iter().any(|one| one.final_judgement().is_none());
        Self {
            degraded: !panel.failed.is_empty() || (is_short && transcript.stopped.is_some()),
            single_family: deliberator_families(transcript, gate).len() == 1,
            panel,
        }
    }
}

/// Model families of the deliberators who answered, or of all deliberators if none did.
fn deliberator_families<'a>(transcript: &'a RunState, gate: &'a ReviewPlan) -> BTreeSet<&'a str> {
    let positions = list_seat_results(transcript);
    let heard: Vec<&ExpertSlug> = positions
        .iter()
        .filter(|one| one.final_judgement().is_some())
        .map(|one| one.seat)
        .collect();
    let seats = gate.deliberators.iter().map(|deliberator| &deliberator.seat);
    let counted = seats.filter(|seat| heard.is_empty() || heard.contains(seat));
    let seats = counted.filter_map(|seat| transcript.plan.find_seat(seat));
    seats.map(|seat| seat.family.as_str()).collect()
}

pub(super) fn missing_context(gate: &ReviewPlan) -> Vec<MissingContext> {
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
pub(super) fn review_warnings(transcript: &RunState, gate: &ReviewPlan) -> Vec<String> {
    let mut warnings = transcript.plan.notes.clone();
    warnings.extend(family_warning(transcript, &deliberator_families(transcript, gate)));
    warnings.extend(price_warning(transcript));
    warnings.extend(reply_warnings(transcript));
    warnings
}
