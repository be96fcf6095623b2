//! Looks up the facts that a request needs, and the values of `progress`.

use std::collections::BTreeSet;

use plenary_core::dialogue::progress::{LeaderboardEntry, ProgressSnapshot};
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::entity::ReferenceLink;
use plenary_core::model::ids::{
    DialogueId, EntityId, EntityKind, EntityTarget, ExpertSlug, LocalId,
};
use plenary_core::model::record::{EntityState, LookupRequest, RECENT_SCORES_MAX, RecordLookup};
use rusqlite::{Connection, OptionalExtension, params};

use crate::store::error::StoreError;
use crate::store::sqlite::load::{load_dialogue, load_panel, load_profiles, load_references_from};
use crate::store::sqlite::statements::{parse_column, query_rows, read_json, statements_for};

pub(crate) fn look_up_record(
    connection: &Connection,
    dialogue: &Dialogue,
    mentions: &LookupRequest,
) -> Result<RecordLookup, StoreError> {
    let id = dialogue.id();
    let mut facts = RecordLookup {
        experts: load_profiles(connection, id)?.into_iter().map(|(profile, _)| profile).collect(),
        newcomers: load_newcomers(connection, id)?,
        recorded_panel: load_panel(connection, id, dialogue.next_round())?,
        active_tensions: load_active_tensions(connection, id)?,
        recent_scores: load_recent_scores(connection, id)?,
        ..RecordLookup::default()
    };
    if let Some(round) = dialogue.last_round() {
        facts.last_panel = load_panel(connection, id, round)?;
        facts.signals = load_signals(connection, id, round)?;
        facts.new_perspectives = count_perspectives(connection, id, round)?;
    }
    if let Some(verdict) = &mentions.verdict {
        facts.has_verdict = connection
            .prepare_cached("SELECT 1 FROM verdicts WHERE dialogue_id = ?1 AND verdict_id = ?2")?
            .exists(params![id.as_str(), verdict.as_str()])?;
    }
    find_targets(connection, id, mentions, &mut facts)?;
    Ok(facts)
}

/// Resolves the targets and loads their states and references.
fn find_targets(
    connection: &Connection,
    id: &DialogueId,
    mentions: &LookupRequest,
    facts: &mut RecordLookup,
) -> Result<(), StoreError> {
    for target in &mentions.targets {
        let found = match target {
            EntityTarget::Global(entity) => Some(*entity),
            EntityTarget::Local(local) => find_global_id(connection, id, local)?,
            EntityTarget::Position(expert) => find_latest_perspective(connection, id, expert)?,
        };
        let Some(entity) = found else { continue };
        if add_entity_state(connection, id, entity, facts)? {
            facts.found.insert(target.clone(), entity);
        }
    }
    for target in &mentions.conceded {
        let Some(entity) = facts.found.get(target).copied() else { continue };
        let opponents = find_opponents(connection, id, entity)?;
        for opponent in &opponents {
            add_entity_state(connection, id, *opponent, facts)?;
        }
        facts.opponents.insert(entity, opponents);
    }
    Ok(())
}

/// Loads the state of an entity. Returns whether the entity exists.
fn add_entity_state(
    connection: &Connection,
    id: &DialogueId,
    entity: EntityId,
    facts: &mut RecordLookup,
) -> Result<bool, StoreError> {
    if facts.entities.contains_key(&entity) {
        return Ok(true);
    }
    let Some(standing) = load_entity_state(connection, id, entity)? else { return Ok(false) };
    facts.entities.insert(entity, standing);
    for (ref_type, target) in load_references_from(connection, id, entity)? {
        facts.references.insert(ReferenceLink { source: entity, ref_type, target });
    }
    Ok(true)
}

/// Loads the values for `progress`.
pub(crate) fn load_progress(
    connection: &Connection,
    id: &DialogueId,
) -> Result<Option<ProgressSnapshot>, StoreError> {
    let Some(dialogue) = load_dialogue(connection, id)? else { return Ok(None) };
    let resolved_tensions = connection
        .prepare_cached(
            "SELECT count(*) FROM tensions WHERE dialogue_id = ?1 AND status = 'resolved'",
        )?
        .query_row([id.as_str()], |row| row.get(0))?;
    let totals = load_profiles(connection, id)?
        .into_iter()
        .map(|(profile, total)| LeaderboardEntry { expert_slug: profile.expert_slug, total });
    let mut pulse = ProgressSnapshot {
        recent_scores: load_recent_scores(connection, id)?,
        active_tensions: load_active_tensions(connection, id)?.len(),
        resolved_tensions,
        new_perspectives: 0,
        panel: Vec::new(),
        signals: BTreeSet::new(),
        totals: totals.collect(),
        dialogue,
    };
    if let Some(round) = pulse.dialogue.last_round() {
        let seats = load_panel(connection, id, round)?;
        pulse.panel = seats.into_iter().map(|seat| seat.expert_slug).collect();
        pulse.signals = load_signals(connection, id, round)?;
        pulse.new_perspectives = count_perspectives(connection, id, round)?;
    }
    Ok(Some(pulse))
}

/// Experts without a contribution so far.
fn load_newcomers(
    connection: &Connection,
    id: &DialogueId,
) -> Result<BTreeSet<ExpertSlug>, StoreError> {
    let sql =
        "SELECT expert_slug FROM expert_profiles WHERE dialogue_id = ?1 AND first_round IS NULL";
    let found = query_rows(connection, sql, [id.as_str()], |row| parse_column(row, 0, "expert"))?;
    Ok(found.into_iter().collect())
}

fn load_active_tensions(
    connection: &Connection,
    id: &DialogueId,
) -> Result<Vec<EntityId>, StoreError> {
    let sql = "SELECT round, seq FROM tensions
               WHERE dialogue_id = ?1 AND status IN ('open', 'addressed', 'reopened')
               ORDER BY round, seq";
    query_rows(connection, sql, [id.as_str()], |row| {
        Ok(EntityId { kind: EntityKind::Tension, round: row.get(0)?, seq: row.get(1)? })
    })
}

/// Scores of the newest rounds, oldest first.
fn load_recent_scores(connection: &Connection, id: &DialogueId) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT score FROM rounds WHERE dialogue_id = ?1 ORDER BY round DESC LIMIT ?2";
    let mut scores =
        query_rows(
            connection,
            sql,
            params![id.as_str(), RECENT_SCORES_MAX],
            |row| Ok(row.get(0)?),
        )?;
    scores.reverse();
    Ok(scores)
}

/// Experts who signalled convergence in a round.
fn load_signals(
    connection: &Connection,
    id: &DialogueId,
    round: u8,
) -> Result<BTreeSet<ExpertSlug>, StoreError> {
    let sql = "SELECT expert_slug FROM moves
               WHERE dialogue_id = ?1 AND round = ?2 AND move_type = 'converge'";
    let found = query_rows(connection, sql, params![id.as_str(), round], |row| {
        parse_column(row, 0, "expert")
    })?;
    Ok(found.into_iter().collect())
}

fn count_perspectives(
    connection: &Connection,
    id: &DialogueId,
    round: u8,
) -> Result<usize, StoreError> {
    let count = connection
        .prepare_cached("SELECT count(*) FROM perspectives WHERE dialogue_id = ?1 AND round = ?2")?
        .query_row(params![id.as_str(), round], |row| row.get(0))?;
    Ok(count)
}

fn find_global_id(
    connection: &Connection,
    id: &DialogueId,
    local: &LocalId,
) -> Result<Option<EntityId>, StoreError> {
    let sql = "SELECT global_id FROM local_ids WHERE dialogue_id = ?1 AND local_id = ?2";
    let key = params![id.as_str(), local.to_string()];
    Ok(query_rows(connection, sql, key, |row| parse_column(row, 0, "global id"))?
        .into_iter()
        .next())
}

/// Searches from the newest perspective backwards, so active experts are found at once.
fn find_latest_perspective(
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

/// Perspectives that oppose an item.
fn find_opponents(
    connection: &Connection,
    id: &DialogueId,
    target: EntityId,
) -> Result<Vec<EntityId>, StoreError> {
    let sql = "SELECT source_id FROM refs
               WHERE dialogue_id = ?1 AND target_id = ?2 AND ref_type = 'oppose' AND source_type = 'P'";
    let key = params![id.as_str(), target.to_string()];
    query_rows(connection, sql, key, |row| parse_column(row, 0, "source id"))
}

fn load_entity_state(
    connection: &Connection,
    id: &DialogueId,
    entity: EntityId,
) -> Result<Option<EntityState>, StoreError> {
    let key = params![id.as_str(), entity.round, entity.seq];
    let found = query_rows(connection, &statements_for(entity.kind).load_state, key, |row| {
        Ok(EntityState {
            status: parse_column(row, 0, "status")?,
            contributors: read_json(row, 1, "contributors")?,
        })
    })?;
    Ok(found.into_iter().next())
}
