//! `evolve_panel`: sets the panel of the next round.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::faults::{closed, not_in_dialogue, out_of_order};
use super::notes::Notes;
use super::request::{OperationRequest, ReadFields};
use super::warning::Warning;
use crate::domain::change::Change;
use crate::domain::dialogue::Dialogue;
use crate::domain::expert::{PanelSeat, Profile, SeatSource, Source};
use crate::domain::facts::Facts;
use crate::domain::ids::DialogueId;
use crate::domain::inlined_schema::word_schema;
use crate::domain::limits::{EXPERTS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item, Refusal};

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
    #[schemars(schema_with = "word_schema::<SeatSource>")]
    source: SeatSource,
    /// What this expert should attend to; one is computed.
    #[schemars(length(max = TEXT_CHARS_MAX))]
    round_context: Option<String>,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    mandate: Option<String>,
}

impl OperationRequest for PanelRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Notes) {
        let is_empty =
            fields.get::<Vec<SeatRequest>>("panel").is_some_and(|seats| seats.is_empty());
        if is_empty && notes.faults.is_empty() {
            let fault = fields.given.missing("panel");
            notes.fault(fault.suggest("a panel needs at least one expert"));
        }
    }
}

impl SeatRequest {
    fn item(&self) -> Item {
        Item::Local { item_type: "panel_seat", local_id: Some(self.expert_slug.clone()) }
    }
}

#[derive(Debug)]
pub struct Decision {
    pub round: u8,
    pub seats: Vec<(PanelSeat, Profile)>,
    pub changes: Vec<Change>,
    pub warnings: Vec<Warning>,
}

pub fn decide(
    request: &PanelRequest,
    dialogue: &Dialogue,
    facts: &Facts,
) -> Result<Decision, Refusal> {
    let mut faults = Vec::new();
    let mut warnings = Vec::new();
    if dialogue.status.is_closed() {
        faults.push(closed(dialogue));
    }
    faults.extend(out_of_order(request.round, dialogue));
    let mut seen = BTreeSet::new();
    let mut seats = Vec::new();
    for seat in &request.panel {
        match facts.expert(&seat.expert_slug) {
            None => {
                let fault = not_in_dialogue(&seat.expert_slug, dialogue);
                faults.push(fault.about(&seat.item()).field("expert_slug"));
            }
            Some(_) if !seen.insert(&seat.expert_slug) => faults.push(seated_twice(seat)),
            Some(profile) => {
                warnings.extend(doubtful_source(seat, profile, facts));
                seats.push((placed(seat, profile), profile.clone()));
            }
        }
    }
    if !faults.is_empty() {
        return Err(Refusal::new(faults));
    }
    let round = dialogue.next_round();
    let panel = seats.iter().map(|(seat, _)| seat.clone()).collect();
    Ok(Decision { round, seats, changes: vec![Change::PanelSet { round, seats: panel }], warnings })
}

fn placed(seat: &SeatRequest, profile: &Profile) -> PanelSeat {
    PanelSeat {
        expert_slug: profile.expert_slug.clone(),
        source: seat.source,
        round_context: seat.round_context.clone(),
        mandate: seat.mandate.clone().or_else(|| profile.mandate.clone()),
    }
}

fn seated_twice(seat: &SeatRequest) -> Fault {
    Fault::new(Code::ExpertExists, format!("expert '{}' is on this panel twice", seat.expert_slug))
        .about(&seat.item())
        .field("expert_slug")
        .value(seat.expert_slug.as_str())
}

fn sat_last(profile: &Profile, facts: &Facts) -> bool {
    facts.last_panel.iter().any(|seat| seat.expert_slug == profile.expert_slug)
}

/// Warns about a wrong source, because the source decides which context the expert gets.
fn doubtful_source(seat: &SeatRequest, profile: &Profile, facts: &Facts) -> Option<Warning> {
    let doubt = match seat.source {
        SeatSource::Retained if !sat_last(profile, facts) => {
            "is called retained, but did not sit on the last panel"
        }
        SeatSource::Pool if profile.source != Source::Pool => {
            "is called a pool expert, but was created"
        }
        SeatSource::Created if profile.source != Source::Created => {
            "is called created, but came from the pool"
        }
        SeatSource::Retained | SeatSource::Pool | SeatSource::Created => return None,
    };
    let message = format!("{} {doubt}", seat.expert_slug);
    Some(Warning::new("doubtful_source", message).with("expert", seat.expert_slug.as_str()))
}
