//! Conclusions: their stages, results and outcomes.

use plenary_core::model::dialogue::ConclusionStage;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::queries::{
    AuditedConclusion, ConclusionQuery, DueConclusion, SearchField,
};
use plenary_core::model::time::{Day, Moment};
use plenary_core::protocols::conclusion::types::{
    Conclusion, ConclusionOutcome, ConclusionResult, RecordedConclusion,
};
use rusqlite::{Connection, Row, params};

use crate::store::error::StoreResult;
use crate::store::sqlite::apply::{ApplyResult, EventApplier};
use crate::store::sqlite::statements::{
    parse_column, parse_optional_column, query_rows, read_json, read_optional_json, read_struct,
    stored_protocol, to_json,
};

impl EventApplier<'_> {
    /// Sets the stage. A dialogue never returns to an earlier stage: a second audit after a
    /// revision stays `revising`, and `terminal` is final.
    pub(crate) fn reach_stage(&self, stage: ConclusionStage) -> ApplyResult {
        let place = match stage {
            ConclusionStage::Concluding => 1,
            ConclusionStage::Auditing => 2,
            ConclusionStage::Revising => 3,
        };
        self.run_sql(
            "UPDATE dialogues SET lifecycle = ?2
             WHERE dialogue_id = ?1
               AND CASE lifecycle WHEN 'concluding' THEN 1 WHEN 'auditing' THEN 2
                     WHEN 'revising' THEN 3 WHEN 'terminal' THEN 4 ELSE 0 END < ?3",
            params![self.id, stage.name(), place],
        )
    }

    pub(crate) fn insert_conclusion(&self, ending: &ConclusionResult) -> ApplyResult {
        let conclusion = &ending.conclusion;
        let state = ending.terminal_state.map(|state| state.name());
        self.run_sql(
            "INSERT INTO conclusions (dialogue_id, terminal_state, recommendation, key_condition,
               unresolved_points, review_by, participants, audit, synthesizer, critic, reviser,
               rehearsal, awaited, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
               (SELECT rehearsal FROM dialogues WHERE dialogue_id = ?1),
               (SELECT ?12 AND NOT rehearsal FROM dialogues WHERE dialogue_id = ?1), ?13)",
            params![
                self.id,
                state,
                conclusion.recommendation,
                conclusion.key_condition,
                to_json(&conclusion.unresolved_points)?,
                conclusion.review_by.to_string(),
                to_json(&conclusion.participants)?,
                ending.audit.as_ref().map(to_json).transpose()?,
                to_json(&ending.synthesizer)?,
                ending.critic.as_ref().map(to_json).transpose()?,
                ending.reviser.as_ref().map(to_json).transpose()?,
                ending.delivered_conclusion().is_some(),
                self.at,
            ],
        )?;
        self.run_sql(
            "UPDATE dialogues SET terminal_state = ?2, lifecycle = 'terminal' WHERE dialogue_id = ?1",
            params![self.id, state],
        )?;
        // An undelivered conclusion is not indexed for search.
        match ending.delivered_conclusion() {
            Some(conclusion) => {
                self.index_text(SearchField::Conclusion, &conclusion_text(conclusion))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn insert_outcome(&self, outcome: &ConclusionOutcome) -> ApplyResult {
        self.run_sql(
            "INSERT INTO outcomes (dialogue_id, seq, outcome, note, created_at)
             VALUES (?1, (SELECT count(*) + 1 FROM outcomes WHERE dialogue_id = ?1), ?2, ?3, ?4)",
            params![self.id, outcome.outcome.name(), outcome.note, self.at],
        )?;
        self.run_sql("UPDATE conclusions SET awaited = FALSE WHERE dialogue_id = ?1", [self.id])
    }
}

fn conclusion_text(conclusion: &Conclusion) -> String {
    let points = conclusion.unresolved_points.iter().map(|unresolved| unresolved.point.as_str());
    let message = [conclusion.recommendation.as_str(), conclusion.key_condition.as_str()];
    message.into_iter().chain(points).collect::<Vec<_>>().join("\n")
}

pub(crate) fn is_concluded(connection: &Connection, id: &DialogueId) -> StoreResult<bool> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM conclusions WHERE dialogue_id = ?1")?;
    Ok(statement.exists([id.as_str()])?)
}

pub(crate) fn is_ending(connection: &Connection, id: &DialogueId) -> StoreResult<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT 1 FROM dialogues WHERE dialogue_id = ?1
         AND (lifecycle = 'concluding' OR lifecycle = 'auditing' OR lifecycle = 'revising')",
    )?;
    Ok(statement.exists([id.as_str()])? || is_concluded(connection, id)?)
}

/// The conclusion of a dialogue with its outcomes.
pub(crate) fn load_conclusion(
    connection: &Connection,
    id: &DialogueId,
) -> StoreResult<Option<RecordedConclusion>> {
    let found = query_rows(
        connection,
        "SELECT terminal_state, recommendation, key_condition, unresolved_points, review_by,
           participants, audit, synthesizer, critic, reviser, created_at
         FROM conclusions WHERE dialogue_id = ?1",
        [id.as_str()],
        |row| Ok((read_conclusion(row)?, parse_column(row, 10, "moment")?)),
    )?;
    let Some((ending, at)) = found.into_iter().next() else { return Ok(None) };
    Ok(Some(RecordedConclusion { ending, at, outcomes: load_outcomes(connection, id)? }))
}

fn read_conclusion(row: &Row<'_>) -> StoreResult<ConclusionResult> {
    Ok(ConclusionResult {
        terminal_state: parse_optional_column(row, 0, "terminal state")?,
        conclusion: Conclusion {
            recommendation: row.get(1)?,
            key_condition: row.get(2)?,
            unresolved_points: read_json(row, 3, "unresolved points")?,
            review_by: parse_column(row, 4, "day")?,
            participants: read_json(row, 5, "participants")?,
        },
        audit: read_optional_json(row, 6, "audit")?,
        synthesizer: read_json(row, 7, "synthesizer")?,
        critic: read_optional_json(row, 8, "critic")?,
        reviser: read_optional_json(row, 9, "reviser")?,
    })
}

fn load_outcomes(
    connection: &Connection,
    id: &DialogueId,
) -> StoreResult<Vec<(Moment, ConclusionOutcome)>> {
    let sql = "SELECT created_at, outcome, note FROM outcomes WHERE dialogue_id = ?1 ORDER BY seq";
    query_rows(connection, sql, [id.as_str()], |row| {
        let outcome =
            ConclusionOutcome { outcome: parse_column(row, 1, "outcome")?, note: row.get(2)? };
        Ok((parse_column(row, 0, "moment")?, outcome))
    })
}

/// The newest conclusions with a terminal state, without rehearsals.
pub(crate) fn list_endings(
    connection: &Connection,
    asked: &ConclusionQuery,
) -> StoreResult<Vec<AuditedConclusion>> {
    let since = asked.since.map(|since| since.to_string()).unwrap_or_default();
    query_rows(
        connection,
        "SELECT c.dialogue_id, d.protocol, c.terminal_state, c.critic, c.created_at
         FROM conclusions c JOIN dialogues d USING (dialogue_id)
         WHERE c.terminal_state IS NOT NULL AND NOT c.rehearsal AND c.created_at >= ?1
         ORDER BY c.created_at DESC, c.dialogue_id DESC LIMIT ?2",
        params![since, asked.limit],
        |row| {
            Ok(AuditedConclusion {
                dialogue_id: parse_column(row, 0, "dialogue id")?,
                protocol: stored_protocol(row, 1)?,
                terminal_state: parse_column(row, 2, "terminal state")?,
                critic: read_json(row, 3, "critic")?,
                at: parse_column(row, 4, "moment")?,
            })
        },
    )
}

/// Conclusions that are due for review and have no outcome yet.
pub(crate) fn list_due(
    connection: &Connection,
    by: Day,
    limit: usize,
) -> StoreResult<Vec<DueConclusion>> {
    query_rows(
        connection,
        "SELECT c.dialogue_id, d.title, c.recommendation, c.review_by, c.terminal_state
         FROM conclusions c JOIN dialogues d USING (dialogue_id)
         WHERE c.awaited AND c.review_by <= ?1
         ORDER BY c.review_by, c.dialogue_id LIMIT ?2",
        params![by.to_string(), limit],
        read_struct,
    )
}
