//! Loads the record of a dialogue, table by table, sorted by id.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::FromSql;
use rusqlite::{Connection, Row, params};

use super::columns::{json, json_optional, parsed, parsed_optional, query, stored_protocol};
use super::{endings, journal, statements};
use crate::domain::dialogue::{Dialogue, Opening};
use crate::domain::entity::{Entity, Event};
use crate::domain::expert::{PanelSeat, Profile};
use crate::domain::ids::{DialogueId, EntityId, EntityKind, ExpertSlug, LocalId};
use crate::domain::record::{Expert, GivenVerdict, Pool, Record, Round};
use crate::domain::reference::{Move, RefType};
use crate::domain::verdict::Verdict;
use crate::store::error::StoreError;

/// How much of a record to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The whole record.
    Whole,
    /// Only earlier rounds, without histories and raw replies. Of the entities only tensions;
    /// `visit_entities` streams the others.
    Before(u8),
}

/// The last round is 99, so this means no limit.
const NO_ROUND_LIMIT: u8 = 100;

pub(super) fn record(
    connection: &Connection,
    id: &DialogueId,
    depth: Depth,
) -> Result<Option<Record>, StoreError> {
    let Some(dialogue) = dialogue(connection, id)? else { return Ok(None) };
    let entities = |kind| entities(connection, id, kind, depth);
    Ok(Some(Record {
        dialogue,
        pool: pool(connection, id)?,
        experts: experts(connection, id, depth)?,
        panels: panels(connection, id)?,
        rounds: rounds(connection, id, depth)?,
        perspectives: entities(EntityKind::Perspective)?,
        recommendations: entities(EntityKind::Recommendation)?,
        tensions: entities(EntityKind::Tension)?,
        evidence: entities(EntityKind::Evidence)?,
        claims: entities(EntityKind::Claim)?,
        moves: moves(connection, id)?,
        verdicts: verdicts(connection, id)?,
        conclusion: match depth {
            Depth::Whole => endings::concluded(connection, id)?,
            Depth::Before(_) => None,
        },
        local_ids: match depth {
            Depth::Whole => local_ids(connection, id)?,
            Depth::Before(_) => Vec::new(),
        },
        head: journal::head(connection, id.as_str())?.hash,
    }))
}

pub(super) fn dialogue(
    connection: &Connection,
    id: &DialogueId,
) -> Result<Option<Dialogue>, StoreError> {
    let found = query(
        connection,
        "SELECT dialogue_id, title, question, background, protocol, rehearsal, convergence_percent,
           panel_seed, output_dir, status, terminal_state, total_rounds, total_alignment, created_at,
           converged_at, closed_because
         FROM dialogues WHERE dialogue_id = ?1",
        [id.as_str()],
        |row| {
            Ok(Dialogue {
                opening: Opening {
                    dialogue_id: parsed(row, 0, "dialogue id")?,
                    title: row.get(1)?,
                    question: row.get(2)?,
                    background: json_optional(row, 3, "background")?,
                    protocol: stored_protocol(row, 4)?,
                    rehearsal: row.get(5)?,
                    convergence_percent: row.get(6)?,
                    panel_seed: row.get(7)?,
                    output_dir: row.get::<_, Option<String>>(8)?.unwrap_or_default(),
                },
                status: parsed(row, 9, "status")?,
                terminal_state: parsed_optional(row, 10, "terminal state")?,
                total_rounds: row.get(11)?,
                total_alignment: row.get(12)?,
                created_at: parsed(row, 13, "moment")?,
                converged_at: parsed_optional(row, 14, "moment")?,
                closed_because: row.get(15)?,
            })
        },
    )?;
    Ok(found.into_iter().next())
}

fn pool(connection: &Connection, id: &DialogueId) -> Result<Option<Pool>, StoreError> {
    let sql = "SELECT domain, experts FROM expert_pool WHERE dialogue_id = ?1";
    let found = query(connection, sql, [id.as_str()], |row| {
        Ok(Pool { domain: row.get(0)?, experts: json(row, 1, "expert pool")? })
    })?;
    Ok(found.into_iter().next())
}

pub(super) fn profiles(
    connection: &Connection,
    id: &DialogueId,
) -> Result<Vec<(Profile, i64)>, StoreError> {
    query(
        connection,
        "SELECT expert_slug, role, tier, source, description, focus, relevance, creation_reason,
           mandate, color, coalesce(first_round, planned_round), total_score
         FROM expert_profiles WHERE dialogue_id = ?1 ORDER BY place",
        [id.as_str()],
        |row| {
            let profile = Profile {
                expert_slug: parsed(row, 0, "expert")?,
                role: row.get(1)?,
                tier: parsed(row, 2, "tier")?,
                source: parsed(row, 3, "source")?,
                description: row.get(4)?,
                focus: row.get(5)?,
                relevance: row.get(6)?,
                creation_reason: row.get(7)?,
                mandate: row.get(8)?,
                color: row.get(9)?,
                first_round: row.get(10)?,
            };
            Ok((profile, row.get(11)?))
        },
    )
}

fn experts(
    connection: &Connection,
    id: &DialogueId,
    depth: Depth,
) -> Result<Vec<Expert>, StoreError> {
    let mut scores = per_expert(
        connection,
        "SELECT expert_slug, round, score FROM expert_scores WHERE dialogue_id = ?1",
        id,
    )?;
    let mut replies = match depth {
        Depth::Whole => per_expert(
            connection,
            "SELECT expert_slug, round, content FROM raw_replies WHERE dialogue_id = ?1",
            id,
        )?,
        Depth::Before(_) => HashMap::new(),
    };
    let experts = profiles(connection, id)?.into_iter().map(|(profile, total)| Expert {
        scores: scores.remove(&profile.expert_slug).unwrap_or_default(),
        replies: replies.remove(&profile.expert_slug).unwrap_or_default(),
        profile,
        total,
    });
    Ok(experts.collect())
}

/// Values per expert and round.
fn per_expert<T: FromSql>(
    connection: &Connection,
    sql: &str,
    id: &DialogueId,
) -> Result<HashMap<ExpertSlug, BTreeMap<u8, T>>, StoreError> {
    let mut found: HashMap<ExpertSlug, BTreeMap<u8, T>> = HashMap::new();
    let rows = query(connection, sql, [id.as_str()], |row| {
        Ok((parsed(row, 0, "expert")?, row.get(1)?, row.get(2)?))
    })?;
    for (expert, round, value) in rows {
        found.entry(expert).or_default().insert(round, value);
    }
    Ok(found)
}

fn read_seat(row: &Row<'_>) -> Result<(u8, PanelSeat), StoreError> {
    let seat = PanelSeat {
        expert_slug: parsed(row, 1, "expert")?,
        source: parsed(row, 2, "source")?,
        round_context: row.get(3)?,
        mandate: row.get(4)?,
    };
    Ok((row.get(0)?, seat))
}

fn panels(
    connection: &Connection,
    id: &DialogueId,
) -> Result<BTreeMap<u8, Vec<PanelSeat>>, StoreError> {
    let sql = "SELECT round, expert_slug, source, round_context, mandate
               FROM panels WHERE dialogue_id = ?1 ORDER BY round, seat";
    let mut panels: BTreeMap<u8, Vec<PanelSeat>> = BTreeMap::new();
    for (round, seat) in query(connection, sql, [id.as_str()], read_seat)? {
        panels.entry(round).or_default().push(seat);
    }
    Ok(panels)
}

/// The recorded panel of a round; empty if none is recorded.
pub(super) fn panel(
    connection: &Connection,
    id: &DialogueId,
    round: u8,
) -> Result<Vec<PanelSeat>, StoreError> {
    let sql = "SELECT round, expert_slug, source, round_context, mandate FROM panels
               WHERE dialogue_id = ?1 AND round = ?2 ORDER BY seat";
    let seats = query(connection, sql, params![id.as_str(), round], read_seat)?;
    Ok(seats.into_iter().map(|(_, seat)| seat).collect())
}

fn rounds(
    connection: &Connection,
    id: &DialogueId,
    depth: Depth,
) -> Result<Vec<Round>, StoreError> {
    let sql = "SELECT round, title, score, summary, created_at FROM rounds
               WHERE dialogue_id = ?1 AND round < ?2 ORDER BY round";
    query(connection, sql, params![id.as_str(), round_limit(depth)], |row| {
        Ok(Round {
            round: row.get(0)?,
            title: row.get(1)?,
            score: row.get(2)?,
            summary: row.get(3)?,
            created_at: parsed(row, 4, "moment")?,
        })
    })
}

fn round_limit(depth: Depth) -> u8 {
    match depth {
        Depth::Whole => NO_ROUND_LIMIT,
        Depth::Before(round) => round,
    }
}

fn entities(
    connection: &Connection,
    id: &DialogueId,
    kind: EntityKind,
    depth: Depth,
) -> Result<Vec<Entity>, StoreError> {
    if matches!(depth, Depth::Before(_)) && kind != EntityKind::Tension {
        return Ok(Vec::new());
    }
    let statements = statements::of(kind);
    let mut entities =
        query(connection, &statements.load, params![id.as_str(), round_limit(depth)], |row| {
            entity(row, kind)
        })?;
    if depth == Depth::Whole {
        let events = query(connection, &statements.load_events, [id.as_str()], |row| {
            Ok(((row.get::<_, u8>(0)?, row.get::<_, u8>(1)?), event(row)?))
        })?;
        // Both lists are sorted by id, so one pass joins them.
        let mut events = events.into_iter().peekable();
        for entity in &mut entities {
            let key = (entity.id.round, entity.id.seq);
            while let Some((_, event)) = events.next_if(|(of, _)| *of == key) {
                entity.events.push(event);
            }
        }
    }
    Ok(entities)
}

pub(super) fn entity(row: &Row<'_>, kind: EntityKind) -> Result<Entity, StoreError> {
    Ok(Entity {
        id: EntityId { kind, round: row.get(0)?, seq: row.get(1)? },
        label: row.get(2)?,
        text: row.get(3)?,
        contributors: json(row, 4, "contributors")?,
        status: parsed(row, 5, "status")?,
        references: json_optional(row, 6, "references")?.unwrap_or_default(),
        created_at: parsed(row, 7, "moment")?,
        parameters: json_optional(row, 8, "parameters")?,
        adopted_in_verdict: parsed_optional(row, 9, "verdict id")?,
        events: Vec::new(),
    })
}

/// The history of one entity.
pub(super) fn events_of(
    connection: &Connection,
    id: &DialogueId,
    entity: EntityId,
) -> Result<Vec<Event>, StoreError> {
    let key = params![id.as_str(), entity.round, entity.seq];
    query(connection, &statements::of(entity.kind).events_of, key, event)
}

fn event(row: &Row<'_>) -> Result<Event, StoreError> {
    Ok(Event {
        event_type: parsed(row, 2, "event")?,
        round: row.get(3)?,
        actors: json(row, 4, "actors")?,
        result: parsed_optional(row, 5, "result id")?,
        reference: parsed_optional(row, 6, "reference")?,
        reason: row.get(7)?,
    })
}

pub(super) fn references_from(
    connection: &Connection,
    id: &DialogueId,
    source: EntityId,
) -> Result<Vec<(RefType, EntityId)>, StoreError> {
    let sql = "SELECT ref_type, target_id FROM refs WHERE dialogue_id = ?1 AND source_id = ?2";
    query(connection, sql, params![id.as_str(), source.to_string()], read_link)
}

pub(super) fn references_to(
    connection: &Connection,
    id: &DialogueId,
    target: EntityId,
) -> Result<Vec<(RefType, EntityId)>, StoreError> {
    let sql = "SELECT ref_type, source_id FROM refs WHERE dialogue_id = ?1 AND target_id = ?2";
    query(connection, sql, params![id.as_str(), target.to_string()], read_link)
}

fn read_link(row: &Row<'_>) -> Result<(RefType, EntityId), StoreError> {
    Ok((parsed(row, 0, "reference")?, parsed(row, 1, "id")?))
}

fn moves(connection: &Connection, id: &DialogueId) -> Result<Vec<Move>, StoreError> {
    let sql = "SELECT expert_slug, round, move_type, targets, context FROM moves
               WHERE dialogue_id = ?1 ORDER BY round, seq";
    query(connection, sql, [id.as_str()], |row| {
        Ok(Move {
            expert: parsed(row, 0, "expert")?,
            round: row.get(1)?,
            move_type: parsed(row, 2, "move")?,
            targets: json(row, 3, "targets")?,
            context: row.get(4)?,
        })
    })
}

fn verdicts(connection: &Connection, id: &DialogueId) -> Result<Vec<GivenVerdict>, StoreError> {
    let sql = "SELECT verdict_id, verdict_type, round, author_expert, recommendation, description,
                 conditions, vote, confidence, tensions_resolved, tensions_accepted,
                 recommendations_adopted, key_evidence, key_claims, supporting_experts, forced,
                 warning, created_at
               FROM verdicts WHERE dialogue_id = ?1 ORDER BY seq";
    query(connection, sql, [id.as_str()], |row| {
        let verdict = Verdict {
            verdict_id: parsed(row, 0, "verdict id")?,
            verdict_type: parsed(row, 1, "verdict type")?,
            round: row.get(2)?,
            author_expert: parsed_optional(row, 3, "expert")?,
            recommendation: row.get(4)?,
            description: row.get(5)?,
            conditions: json_optional(row, 6, "conditions")?,
            vote: parsed_optional(row, 7, "vote")?,
            confidence: parsed_optional(row, 8, "confidence")?,
            tensions_resolved: json_optional(row, 9, "ids")?,
            tensions_accepted: json_optional(row, 10, "ids")?,
            recommendations_adopted: json_optional(row, 11, "ids")?,
            key_evidence: json_optional(row, 12, "ids")?,
            key_claims: json_optional(row, 13, "ids")?,
            supporting_experts: json_optional(row, 14, "experts")?,
            forced: row.get(15)?,
            warning: row.get(16)?,
        };
        Ok(GivenVerdict { verdict, created_at: parsed(row, 17, "moment")? })
    })
}

fn local_ids(
    connection: &Connection,
    id: &DialogueId,
) -> Result<Vec<(LocalId, EntityId)>, StoreError> {
    let sql = "SELECT local_id, global_id FROM local_ids WHERE dialogue_id = ?1 ORDER BY local_id";
    query(connection, sql, [id.as_str()], |row| {
        Ok((parsed(row, 0, "local id")?, parsed(row, 1, "global id")?))
    })
}
