//! `context`: what every expert of a round may read before they answer.
//!
//! The whole panel gets the same prior rounds, with full content and global ids
//! only; raw replies never, because they speak in local ids.

use std::collections::HashMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::brief;
use crate::domain::dialogue::DialogueStatus;
use crate::domain::entity::Entity;
use crate::domain::expert::{SeatSource, Tier};
use crate::domain::ids::{DialogueId, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION, Status};
use crate::domain::record::{Record, Round};
use crate::domain::reference::Reference;

/// The answer of `context`.
#[derive(Debug, Serialize)]
pub struct Context<'a> {
    dialogue: Subject<'a>,
    prior_rounds: Vec<PriorRound<'a>>,
    active_tensions: Vec<ActiveTension<'a>>,
    #[serde(serialize_with = "by_slug")]
    experts: Vec<Participant<'a>>,
}

#[derive(Debug, Serialize)]
struct Subject<'a> {
    id: &'a DialogueId,
    title: &'a str,
    question: Option<&'a str>,
    status: DialogueStatus,
    current_round: u8,
    total_alignment: i64,
    background: Option<&'a Value>,
}

#[derive(Debug, Serialize)]
struct PriorRound<'a> {
    round: u8,
    title: Option<&'a str>,
    score: i64,
    expert_contributions: Vec<Contributions<'a>>,
    #[serde(serialize_with = "raised")]
    tensions: &'a [Entity],
    judge_synthesis: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Contributions<'a> {
    expert: &'a ExpertSlug,
    role: &'a str,
    #[serde(serialize_with = "items")]
    perspectives: Vec<&'a Entity>,
    tensions_raised: Vec<EntityId>,
    #[serde(serialize_with = "items")]
    recommendations: Vec<&'a Entity>,
    #[serde(serialize_with = "items")]
    evidence: Vec<&'a Entity>,
    #[serde(serialize_with = "items")]
    claims: Vec<&'a Entity>,
}

/// An entity under its first contributor.
#[derive(Debug, Serialize)]
struct Item<'a> {
    id: EntityId,
    label: &'a str,
    status: Status,
    content: &'a str,
    contributors: &'a [ExpertSlug],
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Value>,
    references: &'a [Reference],
}

#[derive(Debug, Serialize)]
struct Raised<'a> {
    id: EntityId,
    label: &'a str,
    expert: Option<&'a ExpertSlug>,
    contributors: &'a [ExpertSlug],
    status: Status,
    description: &'a str,
    references: &'a [Reference],
}

#[derive(Debug, Serialize)]
struct ActiveTension<'a> {
    id: EntityId,
    label: &'a str,
    status: Status,
}

#[derive(Debug, Serialize)]
struct Participant<'a> {
    slug: &'a ExpertSlug,
    role: &'a str,
    tier: Tier,
    source: SeatSource,
    focus: Option<&'a str>,
    description: Option<&'a str>,
    your_score: i64,
    round_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mandate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_reason: Option<&'a str>,
}

fn by_slug<S: Serializer>(experts: &[Participant<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(experts.iter().map(|expert| (expert.slug, expert)))
}

/// The context for a round, from the record of the rounds before it.
pub fn context(record: &Record, round: u8) -> Context<'_> {
    let opening = &record.dialogue.opening;
    Context {
        dialogue: Subject {
            id: &opening.dialogue_id,
            title: &opening.title,
            question: opening.question.as_deref(),
            status: record.dialogue.status,
            current_round: round,
            total_alignment: record.dialogue.total_alignment,
            background: opening.background.as_ref(),
        },
        prior_rounds: record.rounds.iter().map(|held| prior_round(record, held)).collect(),
        active_tensions: record
            .tensions
            .iter()
            .filter(|tension| ACTIVE_TENSION.contains(&tension.status))
            .map(|tension| ActiveTension {
                id: tension.id,
                label: &tension.label,
                status: tension.status,
            })
            .collect(),
        experts: participants(record, round),
    }
}

fn prior_round<'a>(record: &'a Record, held: &'a Round) -> PriorRound<'a> {
    PriorRound {
        round: held.round,
        title: held.title.as_deref(),
        score: held.score,
        expert_contributions: contributions(record, held.round),
        tensions: of_round(&record.tensions, held.round),
        judge_synthesis: held.summary.as_deref(),
    }
}

/// Entities are in the order of their ids, so a round's are neighbours.
fn of_round(entities: &[Entity], round: u8) -> &[Entity] {
    let start = entities.partition_point(|entity| entity.id.round < round);
    let end = entities.partition_point(|entity| entity.id.round <= round);
    entities.get(start..end).unwrap_or_default()
}

/// Who said what in a round, in the order of the table. Those who said nothing are not listed.
fn contributions(record: &Record, round: u8) -> Vec<Contributions<'_>> {
    let mut places: HashMap<&ExpertSlug, usize> = HashMap::new();
    let mut all: Vec<Contributions<'_>> = Vec::new();
    for (place, expert) in record.experts.iter().enumerate() {
        places.insert(&expert.profile.expert_slug, place);
        all.push(Contributions {
            expert: &expert.profile.expert_slug,
            role: &expert.profile.role,
            perspectives: Vec::new(),
            tensions_raised: Vec::new(),
            recommendations: Vec::new(),
            evidence: Vec::new(),
            claims: Vec::new(),
        });
    }
    for kind in EntityKind::ALL {
        for entity in of_round(record.entities(*kind), round) {
            let first = entity.contributors.first().and_then(|expert| places.get(expert));
            let Some(own) = first.and_then(|place| all.get_mut(*place)) else { continue };
            match kind {
                EntityKind::Perspective => own.perspectives.push(entity),
                EntityKind::Recommendation => own.recommendations.push(entity),
                EntityKind::Tension => own.tensions_raised.push(entity.id),
                EntityKind::Evidence => own.evidence.push(entity),
                EntityKind::Claim => own.claims.push(entity),
            }
        }
    }
    all.retain(|own| {
        !(own.perspectives.is_empty()
            && own.recommendations.is_empty()
            && own.tensions_raised.is_empty()
            && own.evidence.is_empty()
            && own.claims.is_empty())
    });
    all
}

/// Items are made one at a time, while they are written: a long dialogue has thousands.
fn items<S: Serializer>(entities: &[&Entity], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entities.iter().map(|entity| Item {
        id: entity.id,
        label: &entity.label,
        status: entity.status,
        content: &entity.text,
        contributors: &entity.contributors,
        parameters: entity.parameters.as_ref(),
        references: &entity.references,
    }))
}

fn raised<S: Serializer>(tensions: &[Entity], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tensions.iter().map(|tension| Raised {
        id: tension.id,
        label: &tension.label,
        expert: tension.contributors.first(),
        contributors: &tension.contributors,
        status: tension.status,
        description: &tension.text,
        references: &tension.references,
    }))
}

fn participants(record: &Record, round: u8) -> Vec<Participant<'_>> {
    let seats = record.panel(round).into_iter().filter_map(|seat| {
        let expert = record.expert(&seat.expert_slug)?;
        let computed = match seat.source {
            SeatSource::Retained => brief::round_context(record, &expert.profile.expert_slug),
            // Whoever is new to the table has no history to be reminded of.
            SeatSource::Pool | SeatSource::Created => None,
        };
        Some(Participant {
            slug: &expert.profile.expert_slug,
            role: &expert.profile.role,
            tier: expert.profile.tier,
            source: seat.source,
            focus: expert.profile.focus.as_deref(),
            description: expert.profile.description.as_deref(),
            your_score: expert.total,
            round_context: seat.round_context.or(computed),
            mandate: seat.mandate,
            creation_reason: expert.profile.creation_reason.as_deref(),
        })
    });
    seats.collect()
}
