//! Applies journal events to the tables.
//!
//! Only this module writes the tables of the record. It runs for each new event, and again on an
//! empty database when `verify` replays the journal.

use plenary_core::model::dialogue::{
    ConclusionStage, DialogueOpening, DialogueStatus, ExpertProfile, PanelSeat,
};
use plenary_core::model::entity::{EntityReference, EventOrigin, ExpertMove, ReferenceLink};
use plenary_core::model::ids::{EntityId, EntityKind, ExpertSlug};
use plenary_core::model::journal::{JournalEvent, NewEntity, NewEntityEvent};
use plenary_core::model::lifecycle::{EntityEventType, EntityStatus};
use plenary_core::model::queries::SearchField;
use plenary_core::model::time::Moment;
use plenary_core::model::verdict::Verdict;
use plenary_core::protocols::alignment::types::ScoreComponents;
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use serde::Serialize;

use crate::store::error::StoreResult;
use crate::store::sqlite::statements::{column_values, statements_for, to_json};

pub(crate) type ApplyResult = StoreResult<()>;

/// Applies events of one journal entry to one dialogue, or to the library.
#[derive(Debug)]
pub(crate) struct EventApplier<'a> {
    connection: &'a Connection,
    /// The dialogue, or [`LIBRARY_SCOPE`](crate::store::sqlite::journal::LIBRARY_SCOPE).
    pub(crate) id: &'a str,
    /// Global number of the journal entry.
    pub(crate) entry: u64,
    pub(crate) at: String,
}

impl<'a> EventApplier<'a> {
    pub(crate) fn new(connection: &'a Connection, id: &'a str, entry: u64, at: Moment) -> Self {
        Self { connection, id, entry, at: at.to_string() }
    }

    pub(crate) fn apply_event(&self, change: &JournalEvent) -> ApplyResult {
        match change {
            JournalEvent::DialogueOpened(opening) => self.insert_dialogue(opening),
            JournalEvent::PoolGiven { domain, experts, panel_reason } => self.run_sql(
                "INSERT INTO expert_pool (dialogue_id, domain, experts, panel_reason) VALUES (?1, ?2, ?3, ?4)",
                params![self.id, domain, to_json(experts)?, panel_reason],
            ),
            JournalEvent::ExpertAdded(profile) => self.add_expert(profile),
            JournalEvent::ExpertJoined { expert, round } => self.run_sql(
                "UPDATE expert_profiles SET first_round = ?3 WHERE dialogue_id = ?1 AND expert_slug = ?2",
                params![self.id, expert.as_str(), round],
            ),
            JournalEvent::PanelSet { round, seats } => self.set_panel(*round, seats),
            JournalEvent::RoundRecorded { round, title, score, summary } => {
                self.insert_round(*round, title.as_deref(), *score, summary.as_deref())
            }
            JournalEvent::ScoreGiven { round, expert, score, components } => {
                self.insert_score(*round, expert, *score, components.as_ref())
            }
            JournalEvent::BackgroundGiven { background } => self.run_sql(
                "UPDATE dialogues SET background = ?2 WHERE dialogue_id = ?1",
                params![self.id, to_json(background)?],
            ),
            JournalEvent::RawReplyKept { round, expert, content } => self.run_sql(
                "INSERT INTO raw_replies (dialogue_id, round, expert_slug, content, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![self.id, round, expert.as_str(), content, self.at],
            ),
            JournalEvent::EntityAdded(entity) => self.add_entity(entity),
            JournalEvent::ReferenceAdded(link) => self.append_reference(*link),
            JournalEvent::EventAdded(event) => self.add_event(event),
            JournalEvent::MoveMade(made) => self.insert_move(made),
            JournalEvent::BatchAnswered { round, batch_sha256, answer } => self.run_sql(
                "INSERT INTO registrations (dialogue_id, round, batch_sha256, answer) VALUES (?1, ?2, ?3, ?4)",
                params![self.id, round, batch_sha256, to_json(answer)?],
            ),
            JournalEvent::VerdictGiven(verdict) => self.insert_verdict(verdict),
            JournalEvent::StatusSet { status, reason } => self.set_status(*status, reason.as_deref()),
            JournalEvent::ConclusionBegun { .. } => self.reach_stage(ConclusionStage::Concluding),
            JournalEvent::StageReached { stage } => self.reach_stage(*stage),
            JournalEvent::Concluded(ending) => self.insert_conclusion(ending),
            JournalEvent::OutcomeRecorded(outcome) => self.insert_outcome(outcome),
            JournalEvent::VerdictLogged(row) => self.insert_log_row(row),
            JournalEvent::VerdictOverridden(decision) => self.insert_override(decision),
            JournalEvent::LibraryChanged(change) => self.change_library(change),
            JournalEvent::ConstraintAdded(constraint) => self.insert_constraint(constraint),
            JournalEvent::EthosSaved(ethos) => self.save_ethos(ethos),
            JournalEvent::RuleChallenged(challenge) => self.insert_challenge(challenge),
            // These events have no tables: a run is folded from the journal.
            JournalEvent::RunPlanned(_)
            | JournalEvent::RunStarted { .. }
            | JournalEvent::CapsSet { .. }
            | JournalEvent::SeatChanged { .. }
            | JournalEvent::SeatsAdded { .. }
            | JournalEvent::BatchRefused { .. }
            | JournalEvent::SharedBlockPrepared(_)
            | JournalEvent::AskPrepared { .. }
            | JournalEvent::AskNotSent { .. }
            | JournalEvent::CallSent(_)
            | JournalEvent::ReplyKept { .. }
            | JournalEvent::CallFailed { .. }
            | JournalEvent::ReplyParsed { .. }
            | JournalEvent::ShortcutRecorded(_)
            | JournalEvent::ReportGiven(_)
            | JournalEvent::RunStopped(_)
            | JournalEvent::Intervened { .. }
            | JournalEvent::ReviewDecided(_)
            | JournalEvent::ConclusionPlanned { .. } => Ok(()),
        }
    }

    pub(crate) fn run_sql(&self, sql: &str, values: impl rusqlite::Params) -> ApplyResult {
        self.connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Rows of the dialogue in a table.
    fn count_own_rows(&self, table: &str) -> StoreResult<u64> {
        let sql = format!("SELECT count(*) FROM {table} WHERE dialogue_id = ?1");
        Ok(self.connection.prepare_cached(&sql)?.query_row([self.id], |row| row.get(0))?)
    }

    pub(crate) fn count_rows(&self, table: &str) -> StoreResult<u64> {
        let sql = format!("SELECT count(*) FROM {table}");
        Ok(self.connection.query_row(&sql, [], |row| row.get(0))?)
    }

    /// Inserts a row: these columns, and one for each field of `item`. `renamed` has the fields
    /// whose column has another name.
    pub(crate) fn insert_struct<T: Serialize>(
        &self,
        table: &str,
        columns: &[(&str, &dyn ToSql)],
        renamed: &[(&str, &str)],
        item: &T,
    ) -> ApplyResult {
        let fields = column_values(item)?;
        let mut names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let mut values: Vec<&dyn ToSql> = columns.iter().map(|(_, value)| *value).collect();
        for (field, value) in &fields {
            let other = renamed.iter().find(|(name, _)| name == field).map(|(_, column)| *column);
            names.push(other.unwrap_or(field));
            values.push(value);
        }
        let places = vec!["?"; names.len()].join(", ");
        let names = names.join(", ");
        self.run_sql(&format!("INSERT INTO {table} ({names}) VALUES ({places})"), values.as_slice())
    }

    fn insert_dialogue(&self, opening: &DialogueOpening) -> ApplyResult {
        let background = opening.background.as_ref().map(to_json).transpose()?;
        self.run_sql(
            "INSERT INTO dialogues (dialogue_id, title, question, background, protocol, rehearsal,
               convergence_percent, panel_seed, output_dir, created_at, calibrated, domain_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                self.id,
                opening.title,
                opening.question,
                background,
                opening.protocol.name(),
                opening.rehearsal,
                opening.convergence_percent,
                opening.panel_seed,
                opening.output_dir,
                self.at,
                opening.calibrated,
                opening.domain_id,
            ],
        )?;
        self.index_text(SearchField::Title, &opening.title)?;
        match &opening.question {
            Some(question) => self.index_text(SearchField::Question, question),
            None => Ok(()),
        }
    }

    pub(crate) fn index_text(&self, field: SearchField, body: &str) -> ApplyResult {
        self.run_sql(
            "INSERT INTO search_text (dialogue_id, field, body) VALUES (?1, ?2, ?3)",
            params![self.id, field.name(), body],
        )
    }

    fn add_expert(&self, profile: &ExpertProfile) -> ApplyResult {
        let place = self.count_own_rows("expert_profiles")?;
        let columns: [(&str, &dyn ToSql); 3] =
            [("dialogue_id", &self.id), ("place", &place), ("created_at", &self.at)];
        let renamed = [("first_round", "planned_round")];
        self.insert_struct("expert_profiles", &columns, &renamed, profile)
    }

    /// A panel can be replaced until its round is registered. The journal keeps both.
    fn set_panel(&self, round: u8, seats: &[PanelSeat]) -> ApplyResult {
        self.run_sql(
            "DELETE FROM panels WHERE dialogue_id = ?1 AND round = ?2",
            params![self.id, round],
        )?;
        for (place, seat) in seats.iter().enumerate() {
            let tensions = (!seat.tensions.is_empty()).then(|| to_json(&seat.tensions));
            self.run_sql(
                "INSERT INTO panels (dialogue_id, round, expert_slug, seat, source, round_context, mandate,
                   created_at, reason, tensions)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    self.id,
                    round,
                    seat.expert_slug.as_str(),
                    place,
                    seat.source.name(),
                    seat.round_context,
                    seat.mandate,
                    self.at,
                    seat.reason,
                    tensions.transpose()?,
                ],
            )?;
        }
        Ok(())
    }

    fn insert_round(
        &self,
        round: u8,
        title: Option<&str>,
        score: i64,
        summary: Option<&str>,
    ) -> ApplyResult {
        self.run_sql(
            "INSERT INTO rounds (dialogue_id, round, title, score, summary, status, created_at, completed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 'completed', ?6, ?6)",
            params![self.id, round, title, score, summary, self.at],
        )?;
        self.run_sql(
            "UPDATE dialogues SET total_rounds = total_rounds + 1, total_alignment = total_alignment + ?2,
               lifecycle = CASE WHEN lifecycle IN ('concluding', 'auditing', 'revising', 'terminal')
                 THEN lifecycle ELSE ?3 END
             WHERE dialogue_id = ?1",
            params![self.id, score, format!("round_{round}")],
        )
    }

    fn insert_score(
        &self,
        round: u8,
        expert: &ExpertSlug,
        score: i64,
        parts: Option<&ScoreComponents>,
    ) -> ApplyResult {
        let quotes = parts.map(|parts| to_json(&parts.quotes)).transpose()?;
        self.run_sql(
            "INSERT INTO expert_scores (dialogue_id, round, expert_slug, score, wisdom, consistency,
               truth, relationships, quotes, calibration)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                self.id,
                round,
                expert.as_str(),
                score,
                parts.map(|parts| parts.wisdom),
                parts.map(|parts| parts.consistency),
                parts.map(|parts| parts.truth),
                parts.map(|parts| parts.relationships),
                quotes,
                parts.and_then(|parts| parts.calibration),
            ],
        )?;
        self.run_sql(
            "UPDATE expert_profiles SET total_score = total_score + ?3
             WHERE dialogue_id = ?1 AND expert_slug = ?2",
            params![self.id, expert.as_str(), score],
        )
    }

    fn add_entity(&self, entity: &NewEntity) -> ApplyResult {
        let EntityId { kind, round, seq } = entity.id;
        let contributors = to_json(&entity.contributors)?;
        let references = to_json(&entity.references)?;
        let statements = statements_for(kind);
        let parameters = entity.parameters.as_ref().map(to_json).transpose()?;
        let mut values: Vec<&dyn ToSql> = vec![
            &self.id,
            &round,
            &seq,
            &entity.label,
            &entity.text,
            &contributors,
            &references,
            &self.at,
        ];
        if kind == EntityKind::Recommendation {
            values.push(&parameters);
        }
        self.run_sql(&statements.insert, values.as_slice())?;
        self.run_sql(
            &statements.insert_first_event,
            params![
                self.id,
                round,
                seq,
                EntityEventType::for_creation(kind).name(),
                contributors,
                self.at
            ],
        )?;
        self.run_sql(
            "INSERT INTO local_ids (dialogue_id, local_id, round, expert_slug, global_id) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.id, entity.local_id.to_string(), round, entity.local_id.expert.as_str(), entity.id.to_string()],
        )?;
        for EntityReference { ref_type, target } in &entity.references {
            self.add_reference(ReferenceLink {
                source: entity.id,
                ref_type: *ref_type,
                target: *target,
            })?;
        }
        match kind {
            EntityKind::Tension => self.index_text(SearchField::Tension, &entity.label),
            EntityKind::Claim => {
                self.index_text(SearchField::Claim, &format!("{}\n{}", entity.label, entity.text))
            }
            EntityKind::Perspective | EntityKind::Recommendation | EntityKind::Evidence => Ok(()),
        }
    }

    fn add_reference(&self, link: ReferenceLink) -> ApplyResult {
        let ReferenceLink { source, ref_type, target } = link;
        self.run_sql(
            "INSERT INTO refs (dialogue_id, source_type, source_id, ref_type, target_type, target_id, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.id,
                source.kind.name(),
                source.to_string(),
                ref_type.name(),
                target.kind.name(),
                target.to_string(),
                self.at,
            ],
        )
    }

    /// Adds a reference to an existing entity.
    fn append_reference(&self, link: ReferenceLink) -> ApplyResult {
        self.add_reference(link)?;
        let ReferenceLink { source, ref_type, target } = link;
        self.run_sql(
            &statements_for(source.kind).append_reference,
            params![
                self.id,
                source.round,
                source.seq,
                to_json(&EntityReference { ref_type, target })?
            ],
        )
    }

    fn add_event(&self, event: &NewEntityEvent) -> ApplyResult {
        let EntityId { kind, round, seq } = event.entity;
        let statements = statements_for(kind);
        self.run_sql(
            &statements.insert_event,
            params![
                self.id,
                round,
                seq,
                event.event_type.name(),
                event.round,
                to_json(&event.actors)?,
                event.result.map(|id| id.to_string()),
                event.reference.as_ref().map(ToString::to_string),
                event.reason,
                self.at,
            ],
        )?;
        let Some(status) = event.event_type.resulting_status(kind) else { return Ok(()) };
        let name = status.name();
        let mut values: Vec<&dyn ToSql> = vec![&self.id, &round, &seq, &name];
        let verdict = match &event.reference {
            Some(EventOrigin::Verdict(verdict)) if status == EntityStatus::Adopted => {
                Some(verdict.as_str())
            }
            Some(EventOrigin::Verdict(_) | EventOrigin::Entity(_)) | None => None,
        };
        if kind == EntityKind::Recommendation {
            values.push(&verdict);
        }
        self.run_sql(&statements.set_status, values.as_slice())
    }

    fn insert_move(&self, made: &ExpertMove) -> ApplyResult {
        self.run_sql(
            "INSERT INTO moves (dialogue_id, round, seq, expert_slug, move_type, targets, context, created_at)
             VALUES (?1, ?2, (SELECT count(*) + 1 FROM moves WHERE dialogue_id = ?1 AND round = ?2),
               ?3, ?4, ?5, ?6, ?7)",
            params![
                self.id,
                made.round,
                made.expert.as_str(),
                made.move_type.name(),
                to_json(&made.targets)?,
                made.context,
                self.at,
            ],
        )
    }

    fn insert_verdict(&self, verdict: &Verdict) -> ApplyResult {
        let seq = self.count_own_rows("verdicts")? + 1;
        let columns: [(&str, &dyn ToSql); 3] =
            [("dialogue_id", &self.id), ("seq", &seq), ("created_at", &self.at)];
        self.insert_struct("verdicts", &columns, &[], verdict)?;
        let body = format!("{}\n{}", verdict.recommendation, verdict.description);
        self.index_text(SearchField::Conclusion, &body)
    }

    fn set_status(&self, status: DialogueStatus, reason: Option<&str>) -> ApplyResult {
        let converged = (status == DialogueStatus::Converged).then_some(self.at.as_str());
        let lifecycle = status.is_closed().then_some("terminal");
        self.run_sql(
            "UPDATE dialogues SET status = ?2, converged_at = coalesce(?3, converged_at),
               lifecycle = coalesce(?4, lifecycle), closed_because = coalesce(?5, closed_because)
             WHERE dialogue_id = ?1",
            params![self.id, status.name(), converged, lifecycle, reason],
        )
    }
}

/// The first free creation time for a dialogue of this title.
pub(crate) fn find_free_moment(
    connection: &Connection,
    title: &str,
    at: Moment,
) -> StoreResult<Moment> {
    let mut free = at;
    let mut find = connection
        .prepare_cached("SELECT 1 FROM dialogues WHERE title = ?1 AND created_at = ?2")?;
    while find.query_row(params![title, free.to_string()], |_| Ok(())).optional()?.is_some() {
        // At the end of the time range, use an earlier time.
        free = free.next_moment().unwrap_or_else(|| at.minus_hours(1));
    }
    Ok(free)
}
