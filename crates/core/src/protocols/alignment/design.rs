//! The design of a dialogue: its rules, and the entry that records pool, seats and first panel.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::dialogue::panel::draw_panel;
use crate::model::dialogue::{ExpertProfile, ExpertSource, ExpertTier, to_panel_seat};
use crate::model::ids::ExpertSlug;
use crate::model::journal::JournalEvent;
use crate::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::plan::{Plan, Seat, SeatRole};
use crate::model::run_state::{ReplyDocument, RunState};
use crate::model::text::{default_expert_name, trim_and_truncate};
use crate::protocols::alignment::answers::judged_run;
use crate::protocols::alignment::protocol::rounds_with;
use crate::protocols::alignment::types::{
    AlignmentPlan, DesignReply, DesignedExpert, PANEL_DEFAULT, PANEL_MAX, PANEL_MIN, PlannedPool,
};
use crate::protocols::protocol::{InputSizes, PlannedCall, UNUSUAL_ROUNDS};

/// Length of a reply of which nothing is on record.
pub const USUAL_REPLY_TOKENS: u32 = 1_500;
const BYTES_PER_TOKEN: usize = 4;

/// Experts of a designed pool.
const POOL_MIN: usize = 8;
const POOL_MAX: usize = 24;

/// Experts of each tier in a designed pool.
const TIER_RANGES: [(ExpertTier, usize, usize); 3] =
    [(ExpertTier::Core, 3, 8), (ExpertTier::Adjacent, 4, 10), (ExpertTier::Wildcard, 3, 6)];

/// A relevance of 0 would never be drawn, and 1 would leave no room for doubt.
const RELEVANCE_MIN: f64 = 0.20;
const RELEVANCE_MAX: f64 = 0.95;

/// What is wrong with a design; all of it, so that the Judge fixes it at once.
pub fn check_design(design: &DesignReply) -> Result<(), String> {
    let mut faults = Vec::new();
    let experts = design.experts.len();
    if !(POOL_MIN..=POOL_MAX).contains(&experts) {
        faults.push(format!(
            "experts: the pool has {experts}, and {POOL_MIN} to {POOL_MAX} are needed"
        ));
    }
    for (tier, least, most) in TIER_RANGES {
        let count = design.experts.iter().filter(|expert| expert.tier == tier).count();
        if !(least..=most).contains(&count) {
            faults.push(format!("experts: {count} are {tier}, and {least} to {most} are needed"));
        }
    }
    let mut roles = BTreeSet::new();
    for (place, expert) in design.experts.iter().enumerate() {
        faults.extend(check_expert(place, expert, &mut roles));
    }
    if design.domain.trim().is_empty() {
        faults.push("domain: empty".to_owned());
    }
    if !(PANEL_MIN..=PANEL_MAX.min(experts.max(PANEL_MIN))).contains(&design.panel_size) {
        faults.push(format!(
            "panel_size: {} is not within {PANEL_MIN} to {}",
            design.panel_size,
            PANEL_MAX.min(experts.max(PANEL_MIN))
        ));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}

fn check_expert(
    place: usize,
    expert: &DesignedExpert,
    roles: &mut BTreeSet<String>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let role = expert.role.trim().to_lowercase();
    if role.is_empty() {
        faults.push(format!("experts[{place}].role: empty"));
    } else if !roles.insert(role) {
        faults.push(format!("experts[{place}].role: another expert has it already"));
    }
    if !(RELEVANCE_MIN..=RELEVANCE_MAX).contains(&expert.relevance) {
        faults.push(format!(
            "experts[{place}].relevance: not within {RELEVANCE_MIN:.2} to {RELEVANCE_MAX:.2}"
        ));
    }
    faults
}

/// The largest panel with which the budget of calls, tokens and money is expected to cover
/// [`ROUNDS_ESTIMATED`](crate::protocols::alignment::types::ROUNDS_ESTIMATED) rounds.
pub fn affordable_panel(plan: &Plan, asked_bytes: usize) -> usize {
    let reply = USUAL_REPLY_TOKENS as usize * BYTES_PER_TOKEN;
    let replies = reply * plan.participant_seats().count();
    let sizes = InputSizes { question: asked_bytes, asked: asked_bytes, replies };
    let is_covered = |seats: &usize| {
        let rounds = rounds_with(plan, &sizes, *seats);
        let calls: Vec<&PlannedCall<'_>> = rounds
            .iter()
            .filter(|round| !UNUSUAL_ROUNDS.contains(&round.name))
            .flat_map(|round| &round.calls)
            .collect();
        let tokens =
            calls.iter().map(|call| usual_call_tokens(call)).map(|(i, o)| i + o).sum::<u64>();
        let usd: f64 = calls.iter().map(|call| usual_usd_micros(call)).sum();
        let caps = &plan.caps;
        calls.len() <= caps.calls as usize && tokens <= caps.tokens && usd <= caps.usd_micros as f64
    };
    (PANEL_MIN..=PANEL_MAX).rev().find(is_covered).unwrap_or(PANEL_MIN)
}

/// Tokens that a call usually reads and writes.
fn usual_call_tokens(call: &PlannedCall<'_>) -> (u64, u64) {
    let output = call.seat.output_tokens_max.min(USUAL_REPLY_TOKENS);
    ((call.bytes / BYTES_PER_TOKEN) as u64, output.into())
}

/// What a call usually costs; a seat without a known price counts as free.
fn usual_usd_micros(call: &PlannedCall<'_>) -> f64 {
    let Some(price) = &call.seat.price else { return 0.0 };
    let (input, output) = usual_call_tokens(call);
    input as f64 * price.input_per_mtok + output as f64 * price.output_per_mtok
}

/// The size of the question with its files.
pub(crate) fn asked_bytes(state: &RunState) -> usize {
    let files = state.plan.context.files.iter().map(|file| file.text.len());
    state.question().len() + files.sum::<usize>()
}

/// Why the first panel is smaller than asked; `None` if it is not.
pub fn reduced_panel(state: &RunState) -> Option<String> {
    let (plan, judged) = judged_run(state)?;
    let seats = judged.panel_of(0).len();
    let designed = state.asks.iter().rev().find_map(|asked| {
        let ReplyDocument::Design(design) = asked.parsed_document()? else { return None };
        Some(design.panel_size)
    });
    let pool = judged.pool_size();
    let asked = plan.panel_size.or(designed).unwrap_or(PANEL_DEFAULT.min(pool));
    (0 < seats && seats < asked).then(|| reduction_note(seats, asked, pool))
}

fn reduction_note(seats: usize, asked: usize, pool: usize) -> String {
    let limit = match seats < pool {
        true => "the budget covers no more",
        false => "the pool has no more experts",
    };
    format!("the panel has {seats} seats instead of {asked}: {limit}")
}

/// The events that record the Judge's design.
pub(crate) fn designed_dialogue(
    state: &RunState,
    plan: &AlignmentPlan,
    design: &DesignReply,
) -> Vec<JournalEvent> {
    let slugs = (0..).filter_map(|nth| default_expert_name(nth).parse().ok());
    let experts: Vec<ExpertProfile> = slugs
        .zip(&design.experts)
        .map(|(slug, expert): (ExpertSlug, _)| ExpertProfile {
            description: text_of(&expert.description, TEXT_CHARS_MAX),
            focus: text_of(&expert.focus, LINE_CHARS_MAX),
            relevance: Some(expert.relevance),
            ..ExpertProfile::new(
                slug,
                trim_and_truncate(&expert.role, LINE_CHARS_MAX),
                expert.tier,
                ExpertSource::Pool,
            )
        })
        .collect();
    let domain = plan.domain.clone().or_else(|| text_of(&design.domain, LINE_CHARS_MAX));
    let background = background_of(plan, design.background.as_deref(), &design.constraints);
    let size = plan.panel_size.unwrap_or(design.panel_size);
    let given = GivenPool { domain, as_given: json!(design.experts), experts: &experts };
    let reason = plan.panel_size.is_none().then_some(design.panel_size_reason.as_str());
    opening_events(state, plan, given, background, (size, reason))
}

/// The events that record the pool of the caller.
pub(crate) fn planned_dialogue(
    state: &RunState,
    plan: &AlignmentPlan,
    pool: &PlannedPool,
) -> Vec<JournalEvent> {
    let domain = plan.domain.clone().or_else(|| pool.domain.clone());
    let size = plan.panel_size.unwrap_or_else(|| PANEL_DEFAULT.min(pool.experts.len()));
    let background = background_of(plan, None, &[]);
    let given = GivenPool { domain, as_given: pool.as_given.clone(), experts: &pool.experts };
    opening_events(state, plan, given, background, (size, None))
}

fn text_of(text: &str, chars_max: usize) -> Option<String> {
    Some(trim_and_truncate(text, chars_max)).filter(|text| !text.is_empty())
}

/// The background that every expert reads: the Judge's facts and the requirements.
fn background_of(plan: &AlignmentPlan, facts: Option<&str>, found: &[String]) -> Option<Value> {
    let mut background = serde_json::Map::new();
    if let Some(facts) = facts.and_then(|facts| text_of(facts, TEXT_CHARS_MAX)) {
        background.insert("description".to_owned(), json!(facts));
    }
    // The rules of a calibrated dialogue contain them.
    let found = found.iter().filter(|_| plan.calibration.is_none());
    let requirements: Vec<&String> = found.collect();
    if !requirements.is_empty() {
        background.insert("requirements".to_owned(), json!(requirements));
    }
    (!background.is_empty()).then(|| Value::Object(background))
}

/// The pool, and how it was given.
struct GivenPool<'p> {
    domain: Option<String>,
    as_given: Value,
    experts: &'p [ExpertProfile],
}

fn opening_events(
    state: &RunState,
    plan: &AlignmentPlan,
    given: GivenPool<'_>,
    background: Option<Value>,
    (asked, reason): (usize, Option<&str>),
) -> Vec<JournalEvent> {
    let GivenPool { domain, as_given, experts } = given;
    let affordable = affordable_panel(&state.plan, asked_bytes(state));
    let size = asked.min(experts.len()).min(affordable);
    let note = (size < asked).then(|| reduction_note(size, asked, experts.len()));
    let reasons: Vec<&str> = reason.into_iter().chain(note.as_deref()).collect();
    let panel_reason = text_of(&reasons.join(" "), TEXT_CHARS_MAX);
    let drawn: Vec<&ExpertProfile> = match size < experts.len() {
        true => {
            let places = draw_panel(experts, size, plan.panel_seed);
            places.into_iter().filter_map(|place| experts.get(place)).collect()
        }
        false => experts.iter().collect(),
    };
    let seats = drawn.iter().map(|profile| to_panel_seat(profile)).collect();
    let new_seats = seats_for(state, plan, drawn.iter().map(|profile| &profile.expert_slug));
    let pool = JournalEvent::PoolGiven { domain, experts: as_given, panel_reason };
    std::iter::once(pool)
        .chain(background.map(|background| JournalEvent::BackgroundGiven { background }))
        .chain(experts.iter().cloned().map(JournalEvent::ExpertAdded))
        .chain([JournalEvent::SeatsAdded { seats: new_seats }])
        .chain([JournalEvent::PanelSet { round: 0, seats }])
        .collect()
}

/// Seats for experts who have none yet: the models of the plan in order, in the order of the panel.
pub(crate) fn seats_for<'a>(
    state: &RunState,
    plan: &AlignmentPlan,
    slugs: impl Iterator<Item = &'a ExpertSlug>,
) -> Vec<Seat> {
    let models: Vec<&Seat> =
        plan.experts.iter().filter_map(|name| state.plan.find_seat(name)).collect();
    let is_expert = |seat: &&Seat| {
        let judged = state.alignment.as_deref();
        judged.is_some_and(|judged| judged.find_expert(&seat.name).is_some())
    };
    let seated = state.plan.seats.iter().filter(is_expert).count();
    let fresh = slugs.filter(|slug| state.plan.find_seat(slug).is_none());
    let models = models.iter().cycle().skip(seated);
    let seats = fresh.zip(models).map(|(slug, model)| Seat {
        name: slug.clone(),
        roles: vec![SeatRole::Participant],
        ..(*model).clone()
    });
    seats.collect()
}
