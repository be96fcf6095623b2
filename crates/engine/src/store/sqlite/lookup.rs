//! Looks up the facts that a request needs, and the values of `progress`.

use std::collections::BTreeSet;

use plenary_core::dialogue::progress::{LeaderboardEntry, ProgressSnapshot};
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::entity::ReferenceLink;
use plenary_core::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, LocalId};
use plenary_core::model::record::{EntityState, LookupRequest, RECENT_SCORES_MAX, RecordLookup};
use plenary_core::protocols::alignment::state::UNCITED_PREFIX;
use rusqlite::{OptionalExtension, params};

use crate::store::error::StoreResult;
use crate::store::sqlite::load::DialogueReader;
use crate::store::sqlite::statements::{parse_column, query_rows, read_json, statements_for};

impl DialogueReader<'_> {
    pub(crate) fn look_up_record(
        &self,
        dialogue: &Dialogue,
        mentions: &LookupRequest,
    ) -> StoreResult<RecordLookup> {
        let mut facts = RecordLookup {
            experts: self.load_profiles()?.into_iter().map(|(profile, _)| profile).collect(),
            newcomers: self.load_newcomers()?,
            recorded_panel: self.load_panel(dialogue.next_round())?,
            active_tensions: self.load_active_tensions()?,
            recent_scores: self.load_recent_scores()?,
            calibration: match dialogue.opening.calibrated {
                true => Some(self.load_calibration()?),
                false => None,
            },
            ..RecordLookup::default()
        };
        if let Some(round) = dialogue.last_round() {
            facts.last_panel = self.load_panel(round)?;
            facts.signals = self.load_signals(round)?;
            facts.new_perspectives = self.count_perspectives(round)?;
        }
        if let Some(verdict) = &mentions.verdict {
            facts.has_verdict = self
                .connection
                .prepare_cached(
                    "SELECT 1 FROM verdicts WHERE dialogue_id = ?1 AND verdict_id = ?2",
                )?
                .exists(params![self.id.as_str(), verdict.as_str()])?;
        }
        self.find_targets(mentions, &mut facts)?;
        Ok(facts)
    }

    /// Resolves the targets and loads their states and references.
    fn find_targets(&self, mentions: &LookupRequest, facts: &mut RecordLookup) -> StoreResult<()> {
        for target in &mentions.targets {
            let found = match target {
                EntityTarget::Global(entity) => Some(*entity),
                EntityTarget::Local(local) => self.find_global_id(local)?,
                EntityTarget::Position(expert) => self.find_latest_perspective(expert)?,
            };
            let Some(entity) = found else { continue };
            if self.add_entity_state(entity, facts)? {
                facts.found.insert(target.clone(), entity);
            }
        }
        for target in &mentions.conceded {
            let Some(entity) = facts.found.get(target).copied() else { continue };
            let opponents = self.find_opponents(entity)?;
            for opponent in &opponents {
                self.add_entity_state(*opponent, facts)?;
            }
            facts.opponents.insert(entity, opponents);
        }
        Ok(())
    }

    /// Loads the state of an entity. Returns whether the entity exists.
    fn add_entity_state(&self, entity: EntityId, facts: &mut RecordLookup) -> StoreResult<bool> {
        if facts.entities.contains_key(&entity) {
            return Ok(true);
        }
        let Some(standing) = self.load_entity_state(entity)? else { return Ok(false) };
        facts.entities.insert(entity, standing);
        for (ref_type, target) in self.load_references_from(entity)? {
            facts.references.insert(ReferenceLink { source: entity, ref_type, target });
        }
        Ok(true)
    }

    /// Loads the values for `progress`.
    pub(crate) fn load_progress(&self) -> StoreResult<Option<ProgressSnapshot>> {
        let Some(dialogue) = self.load_dialogue()? else { return Ok(None) };
        let resolved_tensions = self
            .connection
            .prepare_cached(
                "SELECT count(*) FROM tensions WHERE dialogue_id = ?1 AND status = 'resolved'",
            )?
            .query_row([self.id.as_str()], |row| row.get(0))?;
        let totals = self
            .load_profiles()?
            .into_iter()
            .map(|(profile, total)| LeaderboardEntry { expert_slug: profile.expert_slug, total });
        let mut pulse = ProgressSnapshot {
            recent_scores: self.load_recent_scores()?,
            active_tensions: self.load_active_tensions()?.len(),
            resolved_tensions,
            new_perspectives: 0,
            panel: Vec::new(),
            signals: BTreeSet::new(),
            totals: totals.collect(),
            dialogue,
        };
        if let Some(round) = pulse.dialogue.last_round() {
            let seats = self.load_panel(round)?;
            pulse.panel = seats.into_iter().map(|seat| seat.expert_slug).collect();
            pulse.signals = self.load_signals(round)?;
            pulse.new_perspectives = self.count_perspectives(round)?;
        }
        Ok(Some(pulse))
    }

    /// Experts without a contribution so far.
    fn load_newcomers(&self) -> StoreResult<BTreeSet<ExpertSlug>> {
        let sql = "SELECT expert_slug FROM expert_profiles WHERE dialogue_id = ?1 AND first_round IS NULL";
        let found = self.read_all(sql, |row| parse_column(row, 0, "expert"))?;
        Ok(found.into_iter().collect())
    }

    fn load_active_tensions(&self) -> StoreResult<Vec<EntityId>> {
        let sql = "SELECT round, seq FROM tensions
                   WHERE dialogue_id = ?1 AND status IN ('open', 'addressed', 'reopened')
                   ORDER BY round, seq";
        self.read_all(sql, |row| {
            Ok(EntityId { kind: EntityKind::Tension, round: row.get(0)?, seq: row.get(1)? })
        })
    }

    /// Scores of the newest rounds, oldest first.
    fn load_recent_scores(&self) -> StoreResult<Vec<i64>> {
        let sql = "SELECT score FROM rounds WHERE dialogue_id = ?1 ORDER BY round DESC LIMIT ?2";
        let mut scores = query_rows(
            self.connection,
            sql,
            params![self.id.as_str(), RECENT_SCORES_MAX],
            |row| Ok(row.get(0)?),
        )?;
        scores.reverse();
        Ok(scores)
    }

    /// Experts who signalled convergence in a round. An uncited signal does not count.
    fn load_signals(&self, round: u8) -> StoreResult<BTreeSet<ExpertSlug>> {
        let sql = "SELECT expert_slug FROM moves
                   WHERE dialogue_id = ?1 AND round = ?2 AND move_type = 'converge'
                   GROUP BY expert_slug
                   HAVING max(coalesce(substr(context, 1, length(?3)), '') = ?3) = 0";
        let key = params![self.id.as_str(), round, UNCITED_PREFIX];
        let found = query_rows(self.connection, sql, key, |row| parse_column(row, 0, "expert"))?;
        Ok(found.into_iter().collect())
    }

    fn count_perspectives(&self, round: u8) -> StoreResult<usize> {
        let count = self
            .connection
            .prepare_cached(
                "SELECT count(*) FROM perspectives WHERE dialogue_id = ?1 AND round = ?2",
            )?
            .query_row(params![self.id.as_str(), round], |row| row.get(0))?;
        Ok(count)
    }

    fn find_global_id(&self, local: &LocalId) -> StoreResult<Option<EntityId>> {
        let sql = "SELECT global_id FROM local_ids WHERE dialogue_id = ?1 AND local_id = ?2";
        let key = params![self.id.as_str(), local.to_string()];
        Ok(query_rows(self.connection, sql, key, |row| parse_column(row, 0, "global id"))?
            .into_iter()
            .next())
    }

    /// Searches from the newest perspective backwards, so active experts are found at once.
    fn find_latest_perspective(&self, expert: &ExpertSlug) -> StoreResult<Option<EntityId>> {
        let found = self.connection
            .prepare_cached(
                "SELECT round, seq FROM perspectives
                 WHERE dialogue_id = ?1 AND EXISTS (SELECT 1 FROM json_each(contributors) WHERE value = ?2)
                 ORDER BY round DESC, seq DESC LIMIT 1",
            )?
            .query_row(params![self.id.as_str(), expert.as_str()], |row| {
                Ok(EntityId { kind: EntityKind::Perspective, round: row.get(0)?, seq: row.get(1)? })
            })
            .optional()?;
        Ok(found)
    }

    /// Perspectives that oppose an item.
    fn find_opponents(&self, target: EntityId) -> StoreResult<Vec<EntityId>> {
        let sql = "SELECT source_id FROM refs
                   WHERE dialogue_id = ?1 AND target_id = ?2 AND ref_type = 'oppose' AND source_type = 'P'";
        let key = params![self.id.as_str(), target.to_string()];
        query_rows(self.connection, sql, key, |row| parse_column(row, 0, "source id"))
    }

    fn load_entity_state(&self, entity: EntityId) -> StoreResult<Option<EntityState>> {
        let key = params![self.id.as_str(), entity.round, entity.seq];
        let found =
            query_rows(self.connection, &statements_for(entity.kind).load_state, key, |row| {
                Ok(EntityState {
                    status: parse_column(row, 0, "status")?,
                    contributors: read_json(row, 1, "contributors")?,
                })
            })?;
        Ok(found.into_iter().next())
    }
}
