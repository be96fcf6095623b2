//! Conclusions: their stages, results and outcomes.

use rusqlite::{Connection, Row, params};

use super::apply::{Applier, Done};
use super::columns::{
    json, json_optional, parsed, parsed_optional, query, stored_protocol, to_json,
};
use crate::domain::catalogue::{AuditedEnding, Due, EndingQuery, SearchField};
use crate::domain::conclusion::{Concluded, Conclusion, Ending, Outcome};
use crate::domain::dialogue::Stage;
use crate::domain::ids::DialogueId;
use crate::domain::time::{Day, Moment};
use crate::store::error::StoreError;

impl Applier<'_> {
    /// Sets the stage. A dialogue never returns to an earlier stage: a second audit after a
    /// revision stays `revising`, and `terminal` is final.
    pub(super) fn reach(&self, stage: Stage) -> Done {
        let place = match stage {
            Stage::Concluding => 1,
            Stage::Auditing => 2,
            Stage::Revising => 3,
        };
        self.run(
            "UPDATE dialogues SET lifecycle = ?2
             WHERE dialogue_id = ?1
               AND CASE lifecycle WHEN 'concluding' THEN 1 WHEN 'auditing' THEN 2
                     WHEN 'revising' THEN 3 WHEN 'terminal' THEN 4 ELSE 0 END < ?3",
            params![self.id, stage.name(), place],
        )
    }

    pub(super) fn conclude(&self, ending: &Ending) -> Done {
        let conclusion = &ending.conclusion;
        let state = ending.terminal_state.map(|state| state.name());
        self.run(
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
                ending.delivered().is_some(),
                self.at,
            ],
        )?;
        self.run(
            "UPDATE dialogues SET terminal_state = ?2, lifecycle = 'terminal' WHERE dialogue_id = ?1",
            params![self.id, state],
        )?;
        // An undelivered conclusion is not indexed for search.
        match ending.delivered() {
            Some(conclusion) => self.index_text(SearchField::Conclusion, &searched(conclusion)),
            None => Ok(()),
        }
    }

    pub(super) fn record_outcome(&self, outcome: &Outcome) -> Done {
        self.run(
            "INSERT INTO outcomes (dialogue_id, seq, outcome, note, created_at)
             VALUES (?1, (SELECT count(*) + 1 FROM outcomes WHERE dialogue_id = ?1), ?2, ?3, ?4)",
            params![self.id, outcome.outcome.name(), outcome.note, self.at],
        )?;
        self.run("UPDATE conclusions SET awaited = FALSE WHERE dialogue_id = ?1", [self.id])
    }
}

fn searched(conclusion: &Conclusion) -> String {
    let points = conclusion.unresolved_points.iter().map(|unresolved| unresolved.point.as_str());
    let said = [conclusion.recommendation.as_str(), conclusion.key_condition.as_str()];
    said.into_iter().chain(points).collect::<Vec<_>>().join("\n")
}

pub(super) fn is_concluded(connection: &Connection, id: &DialogueId) -> Result<bool, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM conclusions WHERE dialogue_id = ?1")?;
    Ok(statement.exists([id.as_str()])?)
}

pub(super) fn is_ending(connection: &Connection, id: &DialogueId) -> Result<bool, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT 1 FROM dialogues WHERE dialogue_id = ?1
         AND (lifecycle = 'concluding' OR lifecycle = 'auditing' OR lifecycle = 'revising')",
    )?;
    Ok(statement.exists([id.as_str()])? || is_concluded(connection, id)?)
}

/// The conclusion of a dialogue with its outcomes.
pub(super) fn concluded(
    connection: &Connection,
    id: &DialogueId,
) -> Result<Option<Concluded>, StoreError> {
    let found = query(
        connection,
        "SELECT terminal_state, recommendation, key_condition, unresolved_points, review_by,
           participants, audit, synthesizer, critic, reviser, created_at
         FROM conclusions WHERE dialogue_id = ?1",
        [id.as_str()],
        |row| Ok((read_ending(row)?, parsed(row, 10, "moment")?)),
    )?;
    let Some((ending, at)) = found.into_iter().next() else { return Ok(None) };
    Ok(Some(Concluded { ending, at, outcomes: outcomes(connection, id)? }))
}

fn read_ending(row: &Row<'_>) -> Result<Ending, StoreError> {
    Ok(Ending {
        terminal_state: parsed_optional(row, 0, "terminal state")?,
        conclusion: Conclusion {
            recommendation: row.get(1)?,
            key_condition: row.get(2)?,
            unresolved_points: json(row, 3, "unresolved points")?,
            review_by: parsed(row, 4, "day")?,
            participants: json(row, 5, "participants")?,
        },
        audit: json_optional(row, 6, "audit")?,
        synthesizer: json(row, 7, "synthesizer")?,
        critic: json_optional(row, 8, "critic")?,
        reviser: json_optional(row, 9, "reviser")?,
    })
}

fn outcomes(
    connection: &Connection,
    id: &DialogueId,
) -> Result<Vec<(Moment, Outcome)>, StoreError> {
    let sql = "SELECT created_at, outcome, note FROM outcomes WHERE dialogue_id = ?1 ORDER BY seq";
    query(connection, sql, [id.as_str()], |row| {
        let outcome = Outcome { outcome: parsed(row, 1, "outcome")?, note: row.get(2)? };
        Ok((parsed(row, 0, "moment")?, outcome))
    })
}

/// The newest conclusions with a terminal state, without rehearsals.
pub(super) fn endings(
    connection: &Connection,
    asked: &EndingQuery,
) -> Result<Vec<AuditedEnding>, StoreError> {
    let since = asked.since.map(|since| since.to_string()).unwrap_or_default();
    query(
        connection,
        "SELECT c.dialogue_id, d.protocol, c.terminal_state, c.critic, c.created_at
         FROM conclusions c JOIN dialogues d USING (dialogue_id)
         WHERE c.terminal_state IS NOT NULL AND NOT c.rehearsal AND c.created_at >= ?1
         ORDER BY c.created_at DESC, c.dialogue_id DESC LIMIT ?2",
        params![since, asked.limit],
        |row| {
            Ok(AuditedEnding {
                dialogue_id: parsed(row, 0, "dialogue id")?,
                protocol: stored_protocol(row, 1)?,
                terminal_state: parsed(row, 2, "terminal state")?,
                critic: json(row, 3, "critic")?,
                at: parsed(row, 4, "moment")?,
            })
        },
    )
}

/// Conclusions that are due for review and have no outcome yet.
pub(super) fn due(connection: &Connection, by: Day, limit: usize) -> Result<Vec<Due>, StoreError> {
    query(
        connection,
        "SELECT c.dialogue_id, d.title, c.recommendation, c.review_by, c.terminal_state
         FROM conclusions c JOIN dialogues d USING (dialogue_id)
         WHERE c.awaited AND c.review_by <= ?1
         ORDER BY c.review_by, c.dialogue_id LIMIT ?2",
        params![by.to_string(), limit],
        |row| {
            Ok(Due {
                dialogue_id: parsed(row, 0, "dialogue id")?,
                title: row.get(1)?,
                recommendation: row.get(2)?,
                review_by: parsed(row, 3, "day")?,
                terminal_state: parsed_optional(row, 4, "terminal state")?,
            })
        },
    )
}
