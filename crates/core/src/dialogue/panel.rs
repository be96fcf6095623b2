//! `evolve_panel`: sets the panel of the next round.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::dialogue::diagnostics::{
    Diagnostics, RequestWarning, dialogue_closed, expert_not_in_dialogue, out_of_order,
};
use crate::dialogue::request::{OperationRequest, ReadFields};
use crate::model::dialogue::{
    Dialogue, ExpertProfile, ExpertSource, ExpertTier, PanelSeat, PanelSeatSource,
};
use crate::model::hash::SeededRandom;
use crate::model::ids::DialogueId;
use crate::model::journal::JournalEvent;
use crate::model::limits::{EXPERTS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::model::record::RecordLookup;
use crate::model::string_enum::word_schema;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};

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
    /// The expert's focus [computed].
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
        reason: None,
        tensions: Vec::new(),
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
            "has the source `retained`, but was not on the last panel"
        }
        PanelSeatSource::Pool if profile.source != ExpertSource::Pool => {
            "has the source `pool`, but was created in the dialogue"
        }
        PanelSeatSource::Created if profile.source != ExpertSource::Created => {
            "has the source `created`, but is an expert of the pool"
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

/// Weight of an expert without a stated relevance.
const RELEVANCE_DEFAULT: f64 = 0.5;

/// Shares of the panel in three-hundredths: a third Core, 42 % Adjacent, the rest Wildcard. Whole
/// numbers give the same panel on every machine.
const TIER_SHARES: [(ExpertTier, u64); 3] = [
    (ExpertTier::Core, 100),
    (ExpertTier::Adjacent, 126),
    (ExpertTier::Wildcard, TIER_SHARES_TOTAL - 226),
];
const TIER_SHARES_TOTAL: u64 = 300;

/// Returns the indexes of the drawn experts, in pool order.
pub(crate) fn draw_panel(pool: &[ExpertProfile], size: usize, seed: u64) -> Vec<usize> {
    let mut chance = SeededRandom::new(seed);
    let mut drawn: Vec<usize> = Vec::new();
    for (tier, places) in tier_quotas(size) {
        let of_tier = |place: &usize| pool.get(*place).is_some_and(|expert| expert.tier == tier);
        let candidates = (0..pool.len()).filter(of_tier).collect();
        drawn.extend(draw_weighted(pool, candidates, places, &mut chance));
    }
    // If a tier has too few experts, other tiers fill its seats.
    let rest = (0..pool.len()).filter(|place| !drawn.contains(place)).collect();
    let vacant = size.saturating_sub(drawn.len());
    drawn.extend(draw_weighted(pool, rest, vacant, &mut chance));
    drawn.sort_unstable();
    drawn
}

/// Number of seats per tier, by largest remainder.
fn tier_quotas(size: usize) -> [(ExpertTier, usize); 3] {
    let exact = TIER_SHARES.map(|(tier, share)| (tier, share * size as u64));
    let mut quotas = exact.map(|(tier, exact)| (tier, (exact / TIER_SHARES_TOTAL) as usize));
    let mut by_remainder: Vec<usize> = (0..quotas.len()).collect();
    by_remainder.sort_by_key(|place| {
        std::cmp::Reverse(exact.get(*place).map_or(0, |(_, exact)| exact % TIER_SHARES_TOTAL))
    });
    let given: usize = quotas.iter().map(|(_, places)| places).sum();
    for place in by_remainder.into_iter().take(size.saturating_sub(given)) {
        if let Some((_, places)) = quotas.get_mut(place) {
            *places += 1;
        }
    }
    quotas
}

/// Weighted draw without replacement. Weights are whole millionths of relevance.
fn draw_weighted(
    pool: &[ExpertProfile],
    mut from: Vec<usize>,
    places: usize,
    chance: &mut SeededRandom,
) -> Vec<usize> {
    let weight = |place: &usize| {
        let relevance = pool.get(*place).and_then(|expert| expert.relevance);
        (relevance.unwrap_or(RELEVANCE_DEFAULT) * 1e6) as u64 + 1
    };
    let mut picked = Vec::new();
    while picked.len() < places && !from.is_empty() {
        let total: u64 = from.iter().map(weight).sum();
        let mut ticket = chance.next_u64() % total;
        let winner = from.iter().position(|place| {
            let weight = weight(place);
            let wins = ticket < weight;
            ticket = ticket.saturating_sub(weight);
            wins
        });
        picked.push(from.remove(winner.unwrap_or(0)));
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dialogue::ExpertSource;

    fn pool(tiers: &[(ExpertTier, usize)]) -> Vec<ExpertProfile> {
        let tiers = tiers.iter().flat_map(|(tier, count)| std::iter::repeat_n(*tier, *count));
        tiers
            .enumerate()
            .map(|(place, tier)| {
                ExpertProfile::new(
                    format!("e{place}").parse().unwrap(),
                    "Expert",
                    tier,
                    ExpertSource::Pool,
                )
            })
            .collect()
    }

    #[track_caller]
    fn check(size: usize, expected: [usize; 3]) {
        assert_eq!(tier_quotas(size).map(|(_, places)| places), expected, "size {size}");
        assert_eq!(expected.iter().sum::<usize>(), size);
    }

    #[test]
    fn places_go_by_largest_remainder() {
        check(0, [0, 0, 0]);
        check(1, [0, 1, 0]);
        check(3, [1, 1, 1]);
        check(7, [2, 3, 2]);
        check(12, [4, 5, 3]);
    }

    #[test]
    fn the_same_seed_draws_the_same_panel() {
        let pool =
            pool(&[(ExpertTier::Core, 8), (ExpertTier::Adjacent, 8), (ExpertTier::Wildcard, 8)]);
        assert_eq!(draw_panel(&pool, 12, 7), draw_panel(&pool, 12, 7));
        assert_ne!(draw_panel(&pool, 12, 7), draw_panel(&pool, 12, 8));
        let tiers = draw_panel(&pool, 12, 7).into_iter().map(|place| pool[place].tier);
        assert_eq!(tiers.filter(|tier| *tier == ExpertTier::Adjacent).count(), 5);
    }

    #[test]
    fn a_tier_that_is_short_is_filled_from_the_others() {
        let pool = pool(&[(ExpertTier::Core, 1), (ExpertTier::Adjacent, 9)]);
        assert_eq!(draw_panel(&pool, 6, 1).len(), 6);
        assert_eq!(draw_panel(&pool, 10, 1).len(), 10);
    }

    #[test]
    fn relevance_weighs() {
        let mut pool = pool(&[(ExpertTier::Core, 2)]);
        pool[0].relevance = Some(0.9);
        pool[1].relevance = Some(0.1);
        let first = (0..1_000).filter(|seed| draw_panel(&pool, 1, *seed) == [0]).count();
        assert!((850..950).contains(&first), "drawn {first} times of 1000");
    }
}
