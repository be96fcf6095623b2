//! Applies journal events to the tables.
//!
//! Only this module writes the tables of the record. It runs for each new event, and again on an
//! empty database when `verify` replays the journal.

use rusqlite::{Connection, OptionalExtension, ToSql, params};

use super::columns::to_json;
use super::statements;
use crate::domain::catalogue::SearchField;
use crate::domain::change::{Change, NewEntity, NewEvent};
use crate::domain::dialogue::{DialogueStatus, Opening, Stage};
use crate::domain::entity::Origin;
use crate::domain::expert::{PanelSeat, Profile};
use crate::domain::ids::{DialogueId, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{EventType, Status};
use crate::domain::reference::{Link, Move, Reference};
use crate::domain::time::Moment;
use crate::domain::verdict::Verdict;
use crate::store::error::StoreError;

pub(super) type Done = Result<(), StoreError>;

/// Applies events of one journal entry to one dialogue.
#[derive(Debug)]
pub(super) struct Applier<'a> {
    connection: &'a Connection,
    pub(super) id: &'a str,
    /// Global number of the journal entry.
    pub(super) entry: u64,
    pub(super) at: String,
}

impl<'a> Applier<'a> {
    pub(super) fn new(
        connection: &'a Connection,
        id: &'a DialogueId,
        entry: u64,
        at: Moment,
    ) -> Self {
        Self { connection, id: id.as_str(), entry, at: at.to_string() }
    }

    pub(super) fn apply(&self, change: &Change) -> Done {
        match change {
            Change::DialogueOpened(opening) => self.open(opening),
            Change::PoolGiven { domain, experts } => self.run(
                "INSERT INTO expert_pool (dialogue_id, domain, experts) VALUES (?1, ?2, ?3)",
                params![self.id, domain, to_json(experts)?],
            ),
            Change::ExpertAdded(profile) => self.add_expert(profile),
            Change::ExpertJoined { expert, round } => self.run(
                "UPDATE expert_profiles SET first_round = ?3 WHERE dialogue_id = ?1 AND expert_slug = ?2",
                params![self.id, expert.as_str(), round],
            ),
            Change::PanelSet { round, seats } => self.set_panel(*round, seats),
            Change::RoundHeld { round, title, score, summary } => {
                self.hold_round(*round, title.as_deref(), *score, summary.as_deref())
            }
            Change::ScoreGiven { round, expert, score } => self.score(*round, expert, *score),
            Change::RawReplyKept { round, expert, content } => self.run(
                "INSERT INTO raw_replies (dialogue_id, round, expert_slug, content, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![self.id, round, expert.as_str(), content, self.at],
            ),
            Change::EntityAdded(entity) => self.add_entity(entity),
            Change::ReferenceAdded(link) => self.append_reference(*link),
            Change::EventAdded(event) => self.add_event(event),
            Change::MoveMade(made) => self.make_move(made),
            Change::BatchAnswered { round, batch_sha256, answer } => self.run(
                "INSERT INTO registrations (dialogue_id, round, batch_sha256, answer) VALUES (?1, ?2, ?3, ?4)",
                params![self.id, round, batch_sha256, to_json(answer)?],
            ),
            Change::VerdictGiven(verdict) => self.give_verdict(verdict),
            Change::StatusSet { status, reason } => self.set_status(*status, reason.as_deref()),
            Change::ConclusionBegun { .. } => self.reach(Stage::Concluding),
            Change::StageReached { stage } => self.reach(*stage),
            Change::Concluded(ending) => self.conclude(ending),
            Change::OutcomeRecorded(outcome) => self.record_outcome(outcome),
            Change::VerdictLogged(row) => self.log_verdict(row),
            Change::Overridden(decision) => self.override_verdict(decision),
            // These events have no tables: a run is folded from the journal.
            Change::RunPlanned(_)
            | Change::RunStarted { .. }
            | Change::CapsSet { .. }
            | Change::AskPrepared { .. }
            | Change::AskNotSent { .. }
            | Change::CallSent(_)
            | Change::ReplyKept { .. }
            | Change::CallFailed { .. }
            | Change::ReplyRead { .. }
            | Change::ShortcutWeighed(_)
            | Change::ReportGiven(_)
            | Change::RunStopped(_)
            | Change::Intervened { .. }
            | Change::Ruled(_)
            | Change::ConclusionPlanned { .. } => Ok(()),
        }
    }

    pub(super) fn run(&self, sql: &str, values: impl rusqlite::Params) -> Done {
        self.connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn open(&self, opening: &Opening) -> Done {
        let background = opening.background.as_ref().map(to_json).transpose()?;
        self.run(
            "INSERT INTO dialogues (dialogue_id, title, question, background, protocol, rehearsal,
               convergence_percent, panel_seed, output_dir, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
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
            ],
        )?;
        self.index_text(SearchField::Title, &opening.title)?;
        match &opening.question {
            Some(question) => self.index_text(SearchField::Question, question),
            None => Ok(()),
        }
    }

    pub(super) fn index_text(&self, field: SearchField, body: &str) -> Done {
        self.run(
            "INSERT INTO search_text (dialogue_id, field, body) VALUES (?1, ?2, ?3)",
            params![self.id, field.name(), body],
        )
    }

    fn add_expert(&self, profile: &Profile) -> Done {
        self.run(
            "INSERT INTO expert_profiles (dialogue_id, expert_slug, place, role, description, focus, tier,
               source, relevance, creation_reason, mandate, color, planned_round, created_at)
             VALUES (?1, ?2, (SELECT count(*) FROM expert_profiles WHERE dialogue_id = ?1),
               ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                self.id,
                profile.expert_slug.as_str(),
                profile.role,
                profile.description,
                profile.focus,
                profile.tier.name(),
                profile.source.name(),
                profile.relevance,
                profile.creation_reason,
                profile.mandate,
                profile.color,
                profile.first_round,
                self.at,
            ],
        )
    }

    /// A panel can be replaced until its round is registered. The journal keeps both.
    fn set_panel(&self, round: u8, seats: &[PanelSeat]) -> Done {
        self.run(
            "DELETE FROM panels WHERE dialogue_id = ?1 AND round = ?2",
            params![self.id, round],
        )?;
        for (place, seat) in seats.iter().enumerate() {
            self.run(
                "INSERT INTO panels (dialogue_id, round, expert_slug, seat, source, round_context, mandate, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    self.id,
                    round,
                    seat.expert_slug.as_str(),
                    place,
                    seat.source.name(),
                    seat.round_context,
                    seat.mandate,
                    self.at,
                ],
            )?;
        }
        Ok(())
    }

    fn hold_round(
        &self,
        round: u8,
        title: Option<&str>,
        score: i64,
        summary: Option<&str>,
    ) -> Done {
        self.run(
            "INSERT INTO rounds (dialogue_id, round, title, score, summary, status, created_at, completed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 'completed', ?6, ?6)",
            params![self.id, round, title, score, summary, self.at],
        )?;
        self.run(
            "UPDATE dialogues SET total_rounds = total_rounds + 1, total_alignment = total_alignment + ?2,
               lifecycle = CASE WHEN lifecycle IN ('concluding', 'auditing', 'revising', 'terminal')
                 THEN lifecycle ELSE ?3 END
             WHERE dialogue_id = ?1",
            params![self.id, score, format!("round_{round}")],
        )
    }

    fn score(&self, round: u8, expert: &ExpertSlug, score: i64) -> Done {
        self.run(
            "INSERT INTO expert_scores (dialogue_id, round, expert_slug, score) VALUES (?1, ?2, ?3, ?4)",
            params![self.id, round, expert.as_str(), score],
        )?;
        self.run(
            "UPDATE expert_profiles SET total_score = total_score + ?3
             WHERE dialogue_id = ?1 AND expert_slug = ?2",
            params![self.id, expert.as_str(), score],
        )
    }

    fn add_entity(&self, entity: &NewEntity) -> Done {
        let EntityId { kind, round, seq } = entity.id;
        let contributors = to_json(&entity.contributors)?;
        let references = to_json(&entity.references)?;
        let statements = statements::of(kind);
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
        self.run(&statements.insert, values.as_slice())?;
        self.run(
            &statements.insert_first_event,
            params![
                self.id,
                round,
                seq,
                EventType::of_creation(kind).name(),
                contributors,
                self.at
            ],
        )?;
        self.run(
            "INSERT INTO local_ids (dialogue_id, local_id, round, expert_slug, global_id) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![self.id, entity.local_id.to_string(), round, entity.local_id.expert.as_str(), entity.id.to_string()],
        )?;
        for Reference { ref_type, target } in &entity.references {
            self.add_reference(Link { source: entity.id, ref_type: *ref_type, target: *target })?;
        }
        match kind {
            EntityKind::Tension => self.index_text(SearchField::Tension, &entity.label),
            EntityKind::Claim => {
                self.index_text(SearchField::Claim, &format!("{}\n{}", entity.label, entity.text))
            }
            EntityKind::Perspective | EntityKind::Recommendation | EntityKind::Evidence => Ok(()),
        }
    }

    fn add_reference(&self, link: Link) -> Done {
        let Link { source, ref_type, target } = link;
        self.run(
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
    fn append_reference(&self, link: Link) -> Done {
        self.add_reference(link)?;
        let Link { source, ref_type, target } = link;
        self.run(
            &statements::of(source.kind).append_reference,
            params![self.id, source.round, source.seq, to_json(&Reference { ref_type, target })?],
        )
    }

    fn add_event(&self, event: &NewEvent) -> Done {
        let EntityId { kind, round, seq } = event.entity;
        let statements = statements::of(kind);
        self.run(
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
        let Some(status) = event.event_type.status(kind) else { return Ok(()) };
        let name = status.name();
        let mut values: Vec<&dyn ToSql> = vec![&self.id, &round, &seq, &name];
        let verdict = match &event.reference {
            Some(Origin::Verdict(verdict)) if status == Status::Adopted => Some(verdict.as_str()),
            Some(Origin::Verdict(_) | Origin::Entity(_)) | None => None,
        };
        if kind == EntityKind::Recommendation {
            values.push(&verdict);
        }
        self.run(&statements.set_status, values.as_slice())
    }

    fn make_move(&self, made: &Move) -> Done {
        self.run(
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

    fn give_verdict(&self, verdict: &Verdict) -> Done {
        self.run(
            "INSERT INTO verdicts (dialogue_id, verdict_id, seq, verdict_type, round, author_expert,
               recommendation, description, conditions, vote, confidence, tensions_resolved,
               tensions_accepted, recommendations_adopted, key_evidence, key_claims,
               supporting_experts, forced, warning, created_at)
             VALUES (?1, ?2, (SELECT count(*) + 1 FROM verdicts WHERE dialogue_id = ?1),
               ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
            params![
                self.id,
                verdict.verdict_id.as_str(),
                verdict.verdict_type.name(),
                verdict.round,
                verdict.author_expert.as_ref().map(ExpertSlug::as_str),
                verdict.recommendation,
                verdict.description,
                verdict.conditions.as_ref().map(to_json).transpose()?,
                verdict.vote.map(|vote| vote.to_string()),
                verdict.confidence.map(|confidence| confidence.name()),
                verdict.tensions_resolved.as_ref().map(to_json).transpose()?,
                verdict.tensions_accepted.as_ref().map(to_json).transpose()?,
                verdict.recommendations_adopted.as_ref().map(to_json).transpose()?,
                verdict.key_evidence.as_ref().map(to_json).transpose()?,
                verdict.key_claims.as_ref().map(to_json).transpose()?,
                verdict.supporting_experts.as_ref().map(to_json).transpose()?,
                verdict.forced,
                verdict.warning,
                self.at,
            ],
        )?;
        let body = format!("{}\n{}", verdict.recommendation, verdict.description);
        self.index_text(SearchField::Conclusion, &body)
    }

    fn set_status(&self, status: DialogueStatus, reason: Option<&str>) -> Done {
        let converged = (status == DialogueStatus::Converged).then_some(self.at.as_str());
        let lifecycle = status.is_closed().then_some("terminal");
        self.run(
            "UPDATE dialogues SET status = ?2, converged_at = coalesce(?3, converged_at),
               lifecycle = coalesce(?4, lifecycle), closed_because = coalesce(?5, closed_because)
             WHERE dialogue_id = ?1",
            params![self.id, status.name(), converged, lifecycle, reason],
        )
    }
}

/// The first free creation time for a dialogue of this title.
pub(super) fn free_moment(
    connection: &Connection,
    title: &str,
    at: Moment,
) -> Result<Moment, StoreError> {
    let mut free = at;
    let mut find = connection
        .prepare_cached("SELECT 1 FROM dialogues WHERE title = ?1 AND created_at = ?2")?;
    while find.query_row(params![title, free.to_string()], |_| Ok(())).optional()?.is_some() {
        // At the end of the time range, use an earlier time.
        free = free.bumped().unwrap_or_else(|| at.hours_earlier(1));
    }
    Ok(free)
}
