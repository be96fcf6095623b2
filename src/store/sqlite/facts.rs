//! Looks up what a request mentions, and nothing else.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::columns::{self, json, parsed};
use super::{load, statements};
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::{Facts, Mentions, RECENT_SCORES_MAX, Standing};
use crate::domain::ids::{DialogueId, EntityId, EntityKind, ExpertSlug, LocalId};
use crate::store::error::StoreError;

pub(super) fn facts(
    connection: &Connection,
    dialogue: &Dialogue,
    mentions: &Mentions,
) -> Result<Facts, StoreError> {
    let id = dialogue.id();
    let mut facts = Facts {
        experts: experts(connection, id)?,
        active_tensions: active_tensions(connection, id)?,
        recent_scores: recent_scores(connection, id, RECENT_SCORES_MAX)?,
        ..Facts::default()
    };
    if let Some(round) = dialogue.last_round() {
        facts.last_panel = load::panel_at(connection, id, round)?;
        facts.converged = converged(connection, id, round)?;
    }
    for local in mentions.locals.iter().chain(&mentions.conceded_locals) {
        if let Some(global) = global_id(connection, id, local)? {
            facts.locals.insert(local.clone(), global);
        }
    }
    for expert in &mentions.positions {
        if let Some(latest) = latest_perspective(connection, id, expert)? {
            facts.positions.insert(expert.clone(), latest);
        }
    }
    let conceded_locals =
        mentions.conceded_locals.iter().filter_map(|local| facts.locals.get(local));
    let conceded: BTreeSet<EntityId> =
        mentions.conceded.iter().chain(conceded_locals).copied().collect();
    for target in conceded {
        facts.opponents.insert(target, opponents(connection, id, target)?);
    }
    let mentioned: BTreeSet<EntityId> = mentions
        .entities
        .iter()
        .chain(facts.locals.values())
        .chain(facts.positions.values())
        .chain(facts.opponents.values().flatten())
        .copied()
        .collect();
    for entity in mentioned {
        let Some(standing) = standing(connection, id, entity)? else { continue };
        facts.entities.insert(entity, standing);
        for (ref_type, target) in load::references_from(connection, id, entity)? {
            facts.references.insert((entity, ref_type, target));
        }
    }
    Ok(facts)
}

fn experts(
    connection: &Connection,
    id: &DialogueId,
) -> Result<std::collections::BTreeMap<ExpertSlug, Option<u8>>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT expert_slug, first_round FROM expert_profiles WHERE dialogue_id = ?1",
    )?;
    let mut rows = statement.query([id.as_str()])?;
    let mut experts = std::collections::BTreeMap::new();
    while let Some(row) = rows.next()? {
        experts.insert(parsed(row, 0, "expert")?, row.get(1)?);
    }
    Ok(experts)
}

fn active_tensions(connection: &Connection, id: &DialogueId) -> Result<Vec<EntityId>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT round, seq FROM tensions
         WHERE dialogue_id = ?1 AND status IN ('open', 'addressed', 'reopened') ORDER BY round, seq",
    )?;
    let rows = statement.query_map([id.as_str()], |row| {
        Ok(EntityId { kind: EntityKind::Tension, round: row.get(0)?, seq: row.get(1)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Scores of the newest rounds, oldest first.
pub(super) fn recent_scores(
    connection: &Connection,
    id: &DialogueId,
    count: usize,
) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT score FROM rounds WHERE dialogue_id = ?1 ORDER BY round DESC LIMIT ?2",
    )?;
    let rows = statement.query_map(params![id.as_str(), count], |row| row.get(0))?;
    let mut scores: Vec<i64> = rows.collect::<Result<_, _>>()?;
    scores.reverse();
    Ok(scores)
}

/// Experts that signalled convergence in a round.
pub(super) fn converged(
    connection: &Connection,
    id: &DialogueId,
    round: u8,
) -> Result<BTreeSet<ExpertSlug>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT expert_slug FROM moves WHERE dialogue_id = ?1 AND round = ?2 AND move_type = 'converge'",
    )?;
    let mut rows = statement.query(params![id.as_str(), round])?;
    let mut experts = BTreeSet::new();
    while let Some(row) = rows.next()? {
        experts.insert(parsed(row, 0, "expert")?);
    }
    Ok(experts)
}

fn global_id(
    connection: &Connection,
    id: &DialogueId,
    local: &LocalId,
) -> Result<Option<EntityId>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT global_id FROM local_ids WHERE dialogue_id = ?1 AND local_id = ?2",
    )?;
    let mut rows = statement.query(params![id.as_str(), local.to_string()])?;
    rows.next()?.map(|row| parsed(row, 0, "global id")).transpose()
}

/// Walks back from the newest perspective, so an active expert is found at once.
fn latest_perspective(
    connection: &Connection,
    id: &DialogueId,
    expert: &ExpertSlug,
) -> Result<Option<EntityId>, StoreError> {
    let found = connection
        .prepare_cached(
            "SELECT round, seq FROM perspectives
             WHERE dialogue_id = ?1 AND EXISTS (SELECT 1 FROM json_each(contributors) WHERE value = ?2)
             ORDER BY round DESC, seq DESC LIMIT 1",
        )?
        .query_row(params![id.as_str(), expert.as_str()], |row| {
            Ok(EntityId { kind: EntityKind::Perspective, round: row.get(0)?, seq: row.get(1)? })
        })
        .optional()?;
    Ok(found)
}

/// The perspectives that oppose an item.
fn opponents(
    connection: &Connection,
    id: &DialogueId,
    target: EntityId,
) -> Result<Vec<EntityId>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT source_id FROM refs
         WHERE dialogue_id = ?1 AND target_id = ?2 AND ref_type = 'oppose' AND source_type = 'P'",
    )?;
    let mut rows = statement.query(params![id.as_str(), target.to_string()])?;
    let mut sources = Vec::new();
    while let Some(row) = rows.next()? {
        sources.push(parsed(row, 0, "source id")?);
    }
    Ok(sources)
}

fn standing(
    connection: &Connection,
    id: &DialogueId,
    entity: EntityId,
) -> Result<Option<Standing>, StoreError> {
    let mut statement = connection.prepare_cached(&statements::of(entity.kind).standing)?;
    let mut rows = statement.query(params![id.as_str(), entity.round, entity.seq])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(Standing {
        status: columns::word(row, 0, "status")?,
        contributors: json(row, 1, "contributors")?,
    }))
}
