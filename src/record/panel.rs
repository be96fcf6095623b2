//! `evolve_panel`: sets the panel of the next round.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::faults::{dialogue_closed, expert_not_in_dialogue, out_of_order};
use super::notes::Diagnostics;
use super::request::{OperationRequest, ReadFields};
use super::warning::RequestWarning;
use crate::domain::change::JournalEvent;
use crate::domain::dialogue::Dialogue;
use crate::domain::expert::{ExpertProfile, ExpertSource, PanelSeat, PanelSeatSource};
use crate::domain::facts::RecordLookup;
use crate::domain::ids::DialogueId;
use crate::domain::inlined_schema::word_schema;
use crate::domain::limits::{EXPERTS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};

/// Arguments of `evolve_panel`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PanelRequest {
    pub dialogue_id: DialogueId,
    round: u16,
    #[schemars(length(max = EXPERTS_MAX))]
    panel: Vec<SeatRequest>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline, extend("x-item" = "panel_seat", "x-named-by" = ["expert_slug"]))]
struct SeatRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    expert_slug: String,
    #[schemars(schema_with = "word_schema::<PanelSeatSource>")]
    source: PanelSeatSource,
    /// What this expert should attend to; one is computed.
    #[schemars(length(max = TEXT_CHARS_MAX))]
    round_context: Option<String>,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    mandate: Option<String>,
}

impl OperationRequest for PanelRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let is_empty =
            fields.get::<Vec<SeatRequest>>("panel").is_some_and(|seats| seats.is_empty());
        if is_empty && notes.errors.is_empty() {
            let fault = fields.given.missing_field("panel");
            notes.add_error(fault.with_suggestion("a panel needs at least one expert"));
        }
    }
}

impl SeatRequest {
    fn error_item(&self) -> ErrorItem {
        ErrorItem::Local { item_type: "panel_seat", local_id: Some(self.expert_slug.clone()) }
    }
}

#[derive(Debug)]
pub struct PanelDecision {
    pub round: u8,
    pub seats: Vec<(PanelSeat, ExpertProfile)>,
    pub changes: Vec<JournalEvent>,
    pub warnings: Vec<RequestWarning>,
}

pub fn decide_panel(
    request: &PanelRequest,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Result<PanelDecision, ValidationErrors> {
    let mut faults = Vec::new();
    let mut warnings = Vec::new();
    if dialogue.status.is_closed() {
        faults.push(dialogue_closed(dialogue));
    }
    faults.extend(out_of_order(request.round, dialogue));
    let mut seen = BTreeSet::new();
    let mut seats = Vec::new();
    for seat in &request.panel {
        match facts.find_expert(&seat.expert_slug) {
            None => {
                let fault = expert_not_in_dialogue(&seat.expert_slug, dialogue);
                faults.push(fault.about_item(&seat.error_item()).with_field("expert_slug"));
            }
            Some(_) if !seen.insert(&seat.expert_slug) => faults.push(duplicate_seat_error(seat)),
            Some(profile) => {
                warnings.extend(warn_doubtful_source(seat, profile, facts));
                seats.push((to_panel_seat(seat, profile), profile.clone()));
            }
        }
    }
    if !faults.is_empty() {
        return Err(ValidationErrors::new(faults));
    }
    let round = dialogue.next_round();
    let panel = seats.iter().map(|(seat, _)| seat.clone()).collect();
    Ok(PanelDecision {
        round,
        seats,
        changes: vec![JournalEvent::PanelSet { round, seats: panel }],
        warnings,
    })
}

fn to_panel_seat(seat: &SeatRequest, profile: &ExpertProfile) -> PanelSeat {
    PanelSeat {
        expert_slug: profile.expert_slug.clone(),
        source: seat.source,
        round_context: seat.round_context.clone(),
        mandate: seat.mandate.clone().or_else(|| profile.mandate.clone()),
    }
}

fn duplicate_seat_error(seat: &SeatRequest) -> ValidationError {
    ValidationError::new(
        ErrorCode::ExpertExists,
        format!("expert '{}' is on this panel twice", seat.expert_slug),
    )
    .about_item(&seat.error_item())
    .with_field("expert_slug")
    .with_value(seat.expert_slug.as_str())
}

fn sat_on_last_panel(profile: &ExpertProfile, facts: &RecordLookup) -> bool {
    facts.last_panel.iter().any(|seat| seat.expert_slug == profile.expert_slug)
}

/// Warns about a wrong source, because the source decides which context the expert gets.
fn warn_doubtful_source(
    seat: &SeatRequest,
    profile: &ExpertProfile,
    facts: &RecordLookup,
) -> Option<RequestWarning> {
    let doubt = match seat.source {
        PanelSeatSource::Retained if !sat_on_last_panel(profile, facts) => {
            "is called retained, but did not sit on the last panel"
        }
        PanelSeatSource::Pool if profile.source != ExpertSource::Pool => {
            "is called a pool expert, but was created"
        }
        PanelSeatSource::Created if profile.source != ExpertSource::Created => {
            "is called created, but came from the pool"
        }
        PanelSeatSource::Retained | PanelSeatSource::Pool | PanelSeatSource::Created => {
            return None;
        }
    };
    let message = format!("{} {doubt}", seat.expert_slug);
    Some(
        RequestWarning::new("doubtful_source", message)
            .with_detail("expert", seat.expert_slug.as_str()),
    )
}
