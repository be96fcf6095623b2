//! `evolve_panel`: sets the panel of the next round.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::faults::{closed, not_in_dialogue, out_of_order, read_dialogue_id};
use super::fields::{Fields, cut};
use super::notes::Notes;
use super::warning::Warning;
use crate::domain::change::Change;
use crate::domain::dialogue::Dialogue;
use crate::domain::expert::{PanelSeat, Profile, SeatSource, Source};
use crate::domain::facts::Facts;
use crate::domain::ids::DialogueId;
use crate::domain::limits::{EXPERTS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item, Refusal};

/// Parsed arguments of `evolve_panel`.
#[derive(Debug)]
pub struct Request {
    pub dialogue_id: DialogueId,
    round: u16,
    seats: Vec<Seat>,
}

#[derive(Debug)]
struct Seat {
    expert: String,
    source: SeatSource,
    round_context: Option<String>,
    mandate: Option<String>,
}

impl Seat {
    fn item(&self) -> Item {
        Item::Local { item_type: "panel_seat", local_id: Some(self.expert.clone()) }
    }
}

#[derive(Debug)]
pub struct Decision {
    pub round: u8,
    pub seats: Vec<(PanelSeat, Profile)>,
    pub changes: Vec<Change>,
    pub warnings: Vec<Warning>,
}

pub fn read(arguments: &Value) -> Result<(Request, Vec<Warning>), Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    fields.expect_only(&["dialogue_id", "round", "panel"], &mut notes);
    let dialogue_id = read_dialogue_id(&fields, &mut notes);
    let round = fields.required_integer("round", 0..=i64::from(u16::MAX), &mut notes);
    let round = round.and_then(|round| u16::try_from(round).ok());
    if !fields.has("panel") {
        notes.fault(fields.missing("panel"));
    }
    let maps = fields.objects("panel", EXPERTS_MAX, &mut notes);
    let seats: Vec<Seat> = maps.into_iter().filter_map(|map| read_seat(map, &mut notes)).collect();
    if seats.is_empty() && notes.faults.is_empty() {
        notes.fault(fields.missing("panel").suggest("a panel needs at least one expert"));
    }
    let request = || Some(Request { dialogue_id: dialogue_id?, round: round?, seats });
    let request = request();
    notes.settle(request)
}

fn read_seat(map: &Map<String, Value>, notes: &mut Notes) -> Option<Seat> {
    let named = map.get("expert_slug").and_then(Value::as_str).map(cut);
    let fields = Fields::new(map, Item::Local { item_type: "panel_seat", local_id: named });
    fields.expect_only(&["expert_slug", "source", "round_context", "mandate"], notes);
    let expert = fields.required_text("expert_slug", LINE_CHARS_MAX, notes);
    let source = fields.required_word("source", notes);
    let round_context = fields.text("round_context", TEXT_CHARS_MAX, notes);
    let mandate = fields.text("mandate", TEXT_CHARS_MAX, notes);
    Some(Seat { expert: expert?, source: source?, round_context, mandate })
}

pub fn decide(request: &Request, dialogue: &Dialogue, facts: &Facts) -> Result<Decision, Refusal> {
    let mut faults = Vec::new();
    let mut warnings = Vec::new();
    if dialogue.status.is_closed() {
        faults.push(closed(dialogue));
    }
    faults.extend(out_of_order(request.round, dialogue));
    let mut seen = BTreeSet::new();
    let mut seats = Vec::new();
    for seat in &request.seats {
        match facts.expert(&seat.expert) {
            None => {
                let fault = not_in_dialogue(&seat.expert, dialogue);
                faults.push(fault.about(&seat.item()).field("expert_slug"));
            }
            Some(_) if !seen.insert(&seat.expert) => faults.push(seated_twice(seat)),
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

fn placed(seat: &Seat, profile: &Profile) -> PanelSeat {
    PanelSeat {
        expert_slug: profile.expert_slug.clone(),
        source: seat.source,
        round_context: seat.round_context.clone(),
        mandate: seat.mandate.clone().or_else(|| profile.mandate.clone()),
    }
}

fn seated_twice(seat: &Seat) -> Fault {
    Fault::new(Code::ExpertExists, format!("expert '{}' is on this panel twice", seat.expert))
        .about(&seat.item())
        .field("expert_slug")
        .value(seat.expert.as_str())
}

fn sat_last(profile: &Profile, facts: &Facts) -> bool {
    facts.last_panel.iter().any(|seat| seat.expert_slug == profile.expert_slug)
}

/// Warns about a wrong source, because the source decides which context the expert gets.
fn doubtful_source(seat: &Seat, profile: &Profile, facts: &Facts) -> Option<Warning> {
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
    let message = format!("{} {doubt}", seat.expert);
    Some(Warning::new("doubtful_source", message).with("expert", seat.expert.as_str()))
}
