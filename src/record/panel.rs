//! `panel`: who sits at the table in the next round.

use std::collections::BTreeSet;

use serde_json::Value;

use super::faults::{closed, not_in_dialogue, read_dialogue_id};
use super::fields::Fields;
use super::warning::Warning;
use crate::domain::change::Change;
use crate::domain::dialogue::Dialogue;
use crate::domain::expert::{PanelSeat, Profile, SeatSource};
use crate::domain::ids::DialogueId;
use crate::domain::limits::{EXPERTS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item, Refusal};

/// The arguments of `evolve_panel`, read.
#[derive(Debug)]
pub struct Request {
    pub dialogue_id: DialogueId,
    round: u16,
    seats: Vec<Seat>,
    pub warnings: Vec<Warning>,
}

#[derive(Debug)]
struct Seat {
    expert: String,
    source: SeatSource,
    round_context: Option<String>,
    mandate: Option<String>,
}

/// What the rules need to know: everyone in the dialogue, and who sat last.
#[derive(Debug)]
pub struct Table {
    pub experts: Vec<Profile>,
    pub last_panel: Vec<PanelSeat>,
}

#[derive(Debug)]
pub struct Decision {
    pub round: u8,
    pub seats: Vec<(PanelSeat, Profile)>,
    pub changes: Vec<Change>,
    pub warnings: Vec<Warning>,
}

pub fn read(arguments: &Value) -> Result<Request, Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let (mut faults, mut warnings) = (Vec::new(), Vec::new());
    fields.expect_only(&["dialogue_id", "round", "panel"], &mut faults, &mut warnings);
    let dialogue_id = read_dialogue_id(&fields, &mut faults);
    let round = fields.required_integer("round", 0..=i64::from(u16::MAX), &mut faults);
    if !fields.has("panel") {
        faults.push(fields.missing("panel"));
    }
    let seats: Vec<Seat> = fields
        .objects("panel", EXPERTS_MAX, &mut faults)
        .into_iter()
        .filter_map(|map| read_seat(map, &mut faults, &mut warnings))
        .collect();
    if seats.is_empty() && faults.is_empty() {
        faults.push(fields.missing("panel").suggest("a panel needs at least one expert"));
    }
    match (dialogue_id, round.and_then(|round| u16::try_from(round).ok())) {
        (Some(dialogue_id), Some(round)) if faults.is_empty() => {
            Ok(Request { dialogue_id, round, seats, warnings })
        }
        _ => Err(Refusal::new(faults)),
    }
}

fn read_seat(
    map: &serde_json::Map<String, Value>,
    faults: &mut Vec<Fault>,
    warnings: &mut Vec<Warning>,
) -> Option<Seat> {
    let named = map.get("expert_slug").and_then(Value::as_str).map(str::to_owned);
    let fields = Fields::new(map, Item::Local { item_type: "panel_seat", local_id: named });
    fields.expect_only(&["expert_slug", "source", "round_context", "mandate"], faults, warnings);
    let expert = fields.required_text("expert_slug", LINE_CHARS_MAX, faults);
    let source = fields.required_word("source", faults);
    let round_context = fields.text("round_context", TEXT_CHARS_MAX, faults);
    let mandate = fields.text("mandate", TEXT_CHARS_MAX, faults);
    Some(Seat { expert: expert?, source: source?, round_context, mandate })
}

pub fn decide(request: &Request, dialogue: &Dialogue, table: &Table) -> Result<Decision, Refusal> {
    let mut faults = Vec::new();
    let mut warnings = request.warnings.clone();
    if dialogue.status.is_closed() {
        faults.push(closed(dialogue));
    }
    faults.extend(round_fault(request.round, dialogue));
    let mut seen = BTreeSet::new();
    let mut seats = Vec::new();
    for seat in &request.seats {
        match place(seat, table, dialogue, &mut warnings) {
            Ok((seat, profile)) if seen.insert(seat.expert_slug.clone()) => {
                seats.push((seat, profile));
            }
            Ok((seat, _)) => faults.push(seated_twice(&seat)),
            Err(fault) => faults.push(fault),
        }
    }
    let round = dialogue.next_round();
    if !faults.is_empty() {
        return Err(Refusal::new(faults));
    }
    let changes = vec![Change::PanelSet {
        round,
        seats: seats.iter().map(|(seat, _)| seat.clone()).collect(),
    }];
    Ok(Decision { round, seats, changes, warnings })
}

/// A panel is for the round that comes next.
fn round_fault(round: u16, dialogue: &Dialogue) -> Option<Fault> {
    let next = dialogue.next_round();
    if round == u16::from(next) {
        return None;
    }
    let fault =
        if round < u16::from(next) && round >= u16::from(dialogue.opening.protocol.first_round()) {
            Fault::new(Code::RoundAlreadyRegistered, format!("round {round} is already registered"))
        } else {
            Fault::new(Code::InvalidRound, format!("round {round} is not the next round"))
        };
    Some(
        fault
            .field("round")
            .value(round)
            .options([next])
            .suggest(format!("the next round is {next}")),
    )
}

fn place(
    seat: &Seat,
    table: &Table,
    dialogue: &Dialogue,
    warnings: &mut Vec<Warning>,
) -> Result<(PanelSeat, Profile), Fault> {
    let found = table.experts.iter().find(|expert| expert.expert_slug.as_str() == seat.expert);
    let Some(profile) = found else {
        return Err(not_in_dialogue(&seat.expert, dialogue)
            .about(&Item::Local { item_type: "panel_seat", local_id: Some(seat.expert.clone()) })
            .field("expert_slug"));
    };
    warnings.extend(doubtful_source(seat, profile, table));
    let seat = PanelSeat {
        expert_slug: profile.expert_slug.clone(),
        source: seat.source,
        round_context: seat.round_context.clone(),
        mandate: seat.mandate.clone().or_else(|| profile.mandate.clone()),
    };
    Ok((seat, profile.clone()))
}

/// The source decides which brief an expert gets, so a doubtful one is worth a word.
fn doubtful_source(seat: &Seat, profile: &Profile, table: &Table) -> Option<Warning> {
    let sat = table.last_panel.iter().any(|last| last.expert_slug == profile.expert_slug);
    let doubt = match seat.source {
        SeatSource::Retained if !sat => "is called retained, but did not sit on the last panel",
        SeatSource::Pool if profile.source != crate::domain::expert::Source::Pool => {
            "is called a pool expert, but was created"
        }
        SeatSource::Created if profile.source != crate::domain::expert::Source::Created => {
            "is called created, but came from the pool"
        }
        SeatSource::Retained | SeatSource::Pool | SeatSource::Created => return None,
    };
    let message = format!("{} {doubt}", seat.expert);
    Some(Warning::new("doubtful_source", message).with("expert", seat.expert.as_str()))
}

fn seated_twice(seat: &PanelSeat) -> Fault {
    let slug = &seat.expert_slug;
    Fault::new(Code::ExpertExists, format!("expert '{slug}' is on this panel twice"))
        .about(&Item::Local { item_type: "panel_seat", local_id: Some(slug.to_string()) })
        .field("expert_slug")
        .value(slug.as_str())
}
