//! Loads the record of a dialogue, table by table, sorted by id.

use std::collections::{BTreeMap, HashMap};

use plenary_core::model::dialogue::{Dialogue, DialogueOpening, ExpertProfile, PanelSeat};
use plenary_core::model::entity::{Entity, EntityEvent, ExpertMove, ReferenceType};
use plenary_core::model::ids::{DialogueId, EntityId, EntityKind, ExpertSlug, LocalId};
use plenary_core::model::record::{
    DialogueRecord, EntityView, EntityVisitor, Expert, ExpertPool, RecordedVerdict, RoundRecord,
    VISITED_KINDS,
};
use plenary_core::protocols::alignment::types::ScoreComponents;
use rusqlite::types::FromSql;
use rusqlite::{Connection, Row, params};
use serde::de::IgnoredAny;

use crate::store::error::{StoreError, StoreResult};
use crate::store::sqlite::conclusions::load_conclusion;
use crate::store::sqlite::journal::load_head;
use crate::store::sqlite::statements::{
    malformed_error, parse_column, parse_optional_column, query_rows, read_json,
    read_optional_json, read_struct, statements_for, stored_protocol,
};

/// Reads the record of one dialogue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DialogueReader<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) id: &'a DialogueId,
}

/// How much of a record to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordDepth {
    /// The whole record.
    Whole,
    /// Only earlier rounds, without histories and raw replies. Of the entities only tensions;
    /// `visit_entities` streams the others.
    Before(u8),
}

/// The last round is 99, so this means no limit.
const NO_ROUND_LIMIT: u8 = 100;

impl<'a> DialogueReader<'a> {
    pub(crate) fn new(connection: &'a Connection, id: &'a DialogueId) -> Self {
        Self { connection, id }
    }

    /// Runs a query whose only value is the id of the dialogue.
    pub(crate) fn read_all<T>(
        &self,
        sql: &str,
        read: impl Fn(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        query_rows(self.connection, sql, [self.id.as_str()], read)
    }

    pub(crate) fn load_record(&self, depth: RecordDepth) -> StoreResult<Option<DialogueRecord>> {
        let Some(dialogue) = self.load_dialogue()? else { return Ok(None) };
        let entities = |kind| self.load_entities(kind, depth);
        let is_calibrated = dialogue.opening.calibrated;
        Ok(Some(DialogueRecord {
            dialogue,
            calibration: is_calibrated.then(|| self.load_calibration()).transpose()?,
            pool: self.load_pool()?,
            experts: self.load_experts(depth)?,
            panels: self.load_panels()?,
            rounds: self.load_rounds(depth)?,
            perspectives: entities(EntityKind::Perspective)?,
            recommendations: entities(EntityKind::Recommendation)?,
            tensions: entities(EntityKind::Tension)?,
            evidence: entities(EntityKind::Evidence)?,
            claims: entities(EntityKind::Claim)?,
            moves: self.load_moves()?,
            verdicts: self.load_verdicts()?,
            conclusion: match depth {
                RecordDepth::Whole => load_conclusion(self.connection, self.id)?,
                RecordDepth::Before(_) => None,
            },
            local_ids: match depth {
                RecordDepth::Whole => self.load_local_ids()?,
                RecordDepth::Before(_) => Vec::new(),
            },
            head: load_head(self.connection, self.id.as_str())?.hash,
        }))
    }

    pub(crate) fn load_dialogue(&self) -> StoreResult<Option<Dialogue>> {
        let sql = "SELECT dialogue_id, title, question, background, protocol, rehearsal, convergence_percent,
               panel_seed, output_dir, status, terminal_state, total_rounds, total_alignment, created_at,
               converged_at, closed_because, calibrated, domain_id
             FROM dialogues WHERE dialogue_id = ?1";
        let found = self.read_all(sql, |row| {
            Ok(Dialogue {
                opening: DialogueOpening {
                    dialogue_id: parse_column(row, 0, "dialogue id")?,
                    title: row.get(1)?,
                    question: row.get(2)?,
                    background: read_optional_json(row, 3, "background")?,
                    protocol: stored_protocol(row, 4)?,
                    rehearsal: row.get(5)?,
                    convergence_percent: row.get(6)?,
                    panel_seed: row.get(7)?,
                    output_dir: row.get::<_, Option<String>>(8)?.unwrap_or_default(),
                    calibrated: row.get(16)?,
                    domain_id: row.get(17)?,
                },
                status: parse_column(row, 9, "status")?,
                terminal_state: parse_optional_column(row, 10, "terminal state")?,
                total_rounds: row.get(11)?,
                total_alignment: row.get(12)?,
                created_at: parse_column(row, 13, "moment")?,
                converged_at: parse_optional_column(row, 14, "moment")?,
                closed_because: row.get(15)?,
            })
        })?;
        Ok(found.into_iter().next())
    }

    fn load_pool(&self) -> StoreResult<Option<ExpertPool>> {
        let sql = "SELECT domain, experts, panel_reason FROM expert_pool WHERE dialogue_id = ?1";
        let found = self.read_all(sql, |row| {
            Ok(ExpertPool {
                domain: row.get(0)?,
                experts: read_json(row, 1, "expert pool")?,
                panel_reason: row.get(2)?,
            })
        })?;
        Ok(found.into_iter().next())
    }

    pub(crate) fn load_profiles(&self) -> StoreResult<Vec<(ExpertProfile, i64)>> {
        let sql = "SELECT expert_slug, role, tier, source, description, focus, relevance, creation_reason,
               mandate, color, coalesce(first_round, planned_round), total_score
             FROM expert_profiles WHERE dialogue_id = ?1 ORDER BY place";
        self.read_all(sql, |row| {
            let profile = ExpertProfile {
                expert_slug: parse_column(row, 0, "expert")?,
                role: row.get(1)?,
                tier: parse_column(row, 2, "tier")?,
                source: parse_column(row, 3, "source")?,
                description: row.get(4)?,
                focus: row.get(5)?,
                relevance: row.get(6)?,
                creation_reason: row.get(7)?,
                mandate: row.get(8)?,
                color: row.get(9)?,
                first_round: row.get(10)?,
            };
            Ok((profile, row.get(11)?))
        })
    }

    fn load_experts(&self, depth: RecordDepth) -> StoreResult<Vec<Expert>> {
        let mut scores = self.load_per_expert(
            "SELECT expert_slug, round, score FROM expert_scores WHERE dialogue_id = ?1",
        )?;
        let mut replies = match depth {
            RecordDepth::Whole => self.load_per_expert(
                "SELECT expert_slug, round, content FROM raw_replies WHERE dialogue_id = ?1",
            )?,
            RecordDepth::Before(_) => HashMap::new(),
        };
        let mut components = self.load_components()?;
        let experts = self.load_profiles()?.into_iter().map(|(profile, total)| Expert {
            components: components.remove(&profile.expert_slug).unwrap_or_default(),
            scores: scores.remove(&profile.expert_slug).unwrap_or_default(),
            replies: replies.remove(&profile.expert_slug).unwrap_or_default(),
            profile,
            total,
        });
        Ok(experts.collect())
    }

    /// What scores are made of, where the Judge said so.
    fn load_components(&self) -> StoreResult<HashMap<ExpertSlug, BTreeMap<u8, ScoreComponents>>> {
        let sql = "SELECT expert_slug, round, wisdom, consistency, truth, relationships, quotes,
                     calibration FROM expert_scores WHERE dialogue_id = ?1 AND wisdom IS NOT NULL";
        let rows = self.read_all(sql, |row| {
            let components = ScoreComponents {
                wisdom: row.get(2)?,
                consistency: row.get(3)?,
                truth: row.get(4)?,
                relationships: row.get(5)?,
                quotes: read_json(row, 6, "quotes")?,
                calibration: row.get(7)?,
            };
            Ok((parse_column(row, 0, "expert")?, row.get(1)?, components))
        })?;
        let mut found: HashMap<ExpertSlug, BTreeMap<u8, ScoreComponents>> = HashMap::new();
        for (expert, round, components) in rows {
            found.entry(expert).or_default().insert(round, components);
        }
        Ok(found)
    }

    fn load_panels(&self) -> StoreResult<BTreeMap<u8, Vec<PanelSeat>>> {
        let sql = "SELECT round, expert_slug, source, round_context, mandate, reason, tensions
                   FROM panels WHERE dialogue_id = ?1 ORDER BY round, seat";
        let mut panels: BTreeMap<u8, Vec<PanelSeat>> = BTreeMap::new();
        for (round, seat) in self.read_all(sql, read_seat)? {
            panels.entry(round).or_default().push(seat);
        }
        Ok(panels)
    }

    /// The recorded panel of a round; empty if none is recorded.
    pub(crate) fn load_panel(&self, round: u8) -> StoreResult<Vec<PanelSeat>> {
        let sql = "SELECT round, expert_slug, source, round_context, mandate, reason, tensions FROM panels
                   WHERE dialogue_id = ?1 AND round = ?2 ORDER BY seat";
        let seats = query_rows(self.connection, sql, params![self.id.as_str(), round], read_seat)?;
        Ok(seats.into_iter().map(|(_, seat)| seat).collect())
    }

    fn load_rounds(&self, depth: RecordDepth) -> StoreResult<Vec<RoundRecord>> {
        let sql = "SELECT round, title, score, summary, created_at FROM rounds
                   WHERE dialogue_id = ?1 AND round < ?2 ORDER BY round";
        query_rows(self.connection, sql, params![self.id.as_str(), round_limit(depth)], |row| {
            Ok(RoundRecord {
                round: row.get(0)?,
                title: row.get(1)?,
                score: row.get(2)?,
                summary: row.get(3)?,
                created_at: parse_column(row, 4, "moment")?,
            })
        })
    }

    fn load_entities(&self, kind: EntityKind, depth: RecordDepth) -> StoreResult<Vec<Entity>> {
        if matches!(depth, RecordDepth::Before(_)) && kind != EntityKind::Tension {
            return Ok(Vec::new());
        }
        let statements = statements_for(kind);
        let mut entities = query_rows(
            self.connection,
            &statements.load,
            params![self.id.as_str(), round_limit(depth)],
            |row| read_entity(row, kind),
        )?;
        if depth == RecordDepth::Whole {
            let events = self.read_all(&statements.load_events, |row| {
                Ok(((row.get::<_, u8>(0)?, row.get::<_, u8>(1)?), read_event(row)?))
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

    /// The history of one entity.
    pub(crate) fn load_events(&self, entity: EntityId) -> StoreResult<Vec<EntityEvent>> {
        let key = params![self.id.as_str(), entity.round, entity.seq];
        query_rows(self.connection, &statements_for(entity.kind).events_of, key, read_event)
    }

    pub(crate) fn load_references_from(
        &self,
        source: EntityId,
    ) -> StoreResult<Vec<(ReferenceType, EntityId)>> {
        let sql = "SELECT ref_type, target_id FROM refs WHERE dialogue_id = ?1 AND source_id = ?2";
        query_rows(self.connection, sql, params![self.id.as_str(), source.to_string()], read_link)
    }

    pub(crate) fn load_references_to(
        &self,
        target: EntityId,
    ) -> StoreResult<Vec<(ReferenceType, EntityId)>> {
        let sql = "SELECT ref_type, source_id FROM refs WHERE dialogue_id = ?1 AND target_id = ?2";
        query_rows(self.connection, sql, params![self.id.as_str(), target.to_string()], read_link)
    }

    fn load_moves(&self) -> StoreResult<Vec<ExpertMove>> {
        let sql = "SELECT expert_slug, round, move_type, targets, context FROM moves
                   WHERE dialogue_id = ?1 ORDER BY round, seq";
        self.read_all(sql, |row| {
            Ok(ExpertMove {
                expert: parse_column(row, 0, "expert")?,
                round: row.get(1)?,
                move_type: parse_column(row, 2, "move")?,
                targets: read_json(row, 3, "targets")?,
                context: row.get(4)?,
            })
        })
    }

    fn load_verdicts(&self) -> StoreResult<Vec<RecordedVerdict>> {
        let sql = "SELECT * FROM verdicts WHERE dialogue_id = ?1 ORDER BY seq";
        self.read_all(sql, |row| {
            let created_at = parse_column(row, row.as_ref().column_index("created_at")?, "moment")?;
            Ok(RecordedVerdict { verdict: read_struct(row)?, created_at })
        })
    }

    fn load_local_ids(&self) -> StoreResult<Vec<(LocalId, EntityId)>> {
        let sql =
            "SELECT local_id, global_id FROM local_ids WHERE dialogue_id = ?1 ORDER BY local_id";
        self.read_all(sql, |row| {
            Ok((parse_column(row, 0, "local id")?, parse_column(row, 1, "global id")?))
        })
    }

    /// Values per expert and round.
    fn load_per_expert<T: FromSql>(
        &self,
        sql: &str,
    ) -> StoreResult<HashMap<ExpertSlug, BTreeMap<u8, T>>> {
        let mut found: HashMap<ExpertSlug, BTreeMap<u8, T>> = HashMap::new();
        let rows = self
            .read_all(sql, |row| Ok((parse_column(row, 0, "expert")?, row.get(1)?, row.get(2)?)))?;
        for (expert, round, value) in rows {
            found.entry(expert).or_default().insert(round, value);
        }
        Ok(found)
    }
}

fn read_seat(row: &Row<'_>) -> StoreResult<(u8, PanelSeat)> {
    let seat = PanelSeat {
        expert_slug: parse_column(row, 1, "expert")?,
        source: parse_column(row, 2, "source")?,
        round_context: row.get(3)?,
        mandate: row.get(4)?,
        reason: row.get(5)?,
        tensions: read_optional_json(row, 6, "tensions")?.unwrap_or_default(),
    };
    Ok((row.get(0)?, seat))
}

fn round_limit(depth: RecordDepth) -> u8 {
    match depth {
        RecordDepth::Whole => NO_ROUND_LIMIT,
        RecordDepth::Before(round) => round,
    }
}

pub(crate) fn read_entity(row: &Row<'_>, kind: EntityKind) -> StoreResult<Entity> {
    Ok(Entity {
        id: EntityId { kind, round: row.get(0)?, seq: row.get(1)? },
        label: row.get(2)?,
        text: row.get(3)?,
        contributors: read_json(row, 4, "contributors")?,
        status: parse_column(row, 5, "status")?,
        references: read_optional_json(row, 6, "references")?.unwrap_or_default(),
        created_at: parse_column(row, 7, "moment")?,
        parameters: read_optional_json(row, 8, "parameters")?,
        adopted_in_verdict: parse_optional_column(row, 9, "verdict id")?,
        events: Vec::new(),
    })
}

fn read_event(row: &Row<'_>) -> StoreResult<EntityEvent> {
    Ok(EntityEvent {
        event_type: parse_column(row, 2, "event")?,
        round: row.get(3)?,
        actors: read_json(row, 4, "actors")?,
        result: parse_optional_column(row, 5, "result id")?,
        reference: parse_optional_column(row, 6, "reference")?,
        reason: row.get(7)?,
    })
}

fn read_link(row: &Row<'_>) -> StoreResult<(ReferenceType, EntityId)> {
    Ok((parse_column(row, 0, "reference")?, parse_column(row, 1, "id")?))
}

pub(crate) fn visit_entities(
    connection: &Connection,
    record: &DialogueRecord,
    viewer: &mut EntityVisitor<'_>,
) -> StoreResult<()> {
    let dialogue = record.dialogue.id().as_str();
    for held in &record.rounds {
        for kind in VISITED_KINDS {
            let mut statement = connection.prepare_cached(&statements_for(kind).visit)?;
            let mut rows = statement.query(params![dialogue, held.round])?;
            while let Some(row) = rows.next()? {
                let shown = read_visited_entity(row, kind, held.round)?;
                viewer(record, &shown).map_err(StoreError::Unwritable)?;
            }
        }
    }
    Ok(())
}

fn read_visited_entity<'a>(
    row: &'a Row<'_>,
    kind: EntityKind,
    round: u8,
) -> StoreResult<EntityView<'a>> {
    let contributors = read_str(row, 4)?;
    Ok(EntityView {
        id: EntityId { kind, round, seq: row.get(0)? },
        label: read_str(row, 1)?,
        text: read_str(row, 2)?,
        status: parse_column(row, 3, "status")?,
        contributors: serde_json::from_str(contributors)
            .map_err(|_| malformed_error("contributors", contributors))?,
        references: read_json_text(row, 5, "references")?,
        parameters: match kind {
            EntityKind::Recommendation => read_json_text(row, 6, "parameters")?,
            EntityKind::Perspective
            | EntityKind::Tension
            | EntityKind::Evidence
            | EntityKind::Claim => None,
        },
    })
}

fn read_str<'a>(row: &'a Row<'_>, column: usize) -> StoreResult<&'a str> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

/// A JSON column that is validated but not deserialised.
fn read_json_text<'a>(
    row: &'a Row<'_>,
    column: usize,
    what: &'static str,
) -> StoreResult<Option<&'a str>> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    if let Some(text) = text {
        serde_json::from_str::<IgnoredAny>(text).map_err(|_| malformed_error(what, text))?;
    }
    Ok(text)
}
