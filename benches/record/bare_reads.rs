//! The limits of `export` and `context`: the table rows, and the `context` document as plain data,
//! both with derived serialisation.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::measure::BenchmarkResult;

/// The rows of a dialogue that an export contains, column by column.
#[derive(Debug, Serialize)]
pub(crate) struct DialogueRows {
    dialogue: Vec<Vec<Option<String>>>,
    experts: Vec<Vec<Option<String>>>,
    scores: Vec<ScoreRow>,
    rounds: Vec<RoundRow>,
    perspectives: Vec<PerspectiveRow>,
    events: Vec<EventRow>,
    local_ids: Vec<LocalIdRow>,
}

#[derive(Debug, Serialize)]
struct ScoreRow {
    expert_slug: String,
    round: i64,
    score: i64,
}

#[derive(Debug, Serialize)]
struct RoundRow {
    round: i64,
    title: Option<String>,
    score: i64,
    summary: Option<String>,
    created_at: String,
}

#[derive(Debug, Serialize)]
struct PerspectiveRow {
    round: i64,
    seq: i64,
    label: String,
    content: String,
    contributors: String,
    status: String,
    references: Option<String>,
    created_at: String,
}

#[derive(Debug, Serialize)]
struct EventRow {
    perspective_round: i64,
    perspective_seq: i64,
    event_type: String,
    event_round: i64,
    actors: String,
    result_id: Option<String>,
    reference: Option<String>,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct LocalIdRow {
    local_id: String,
    round: i64,
    expert_slug: String,
    global_id: String,
}

pub(crate) fn read_rows(connection: &Connection, id: &str) -> BenchmarkResult<DialogueRows> {
    let any = |row: &Row<'_>| {
        let columns = row.as_ref().column_count();
        (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()
    };
    Ok(DialogueRows {
        dialogue: collect_rows(
            connection,
            "SELECT title, question, background, protocol, status, created_at FROM dialogues WHERE dialogue_id = ?1",
            id,
            any,
        )?,
        experts: collect_rows(
            connection,
            "SELECT expert_slug, role, tier, source, focus, description, color FROM expert_profiles WHERE dialogue_id = ?1",
            id,
            any,
        )?,
        scores: collect_rows(
            connection,
            "SELECT expert_slug, round, score FROM expert_scores WHERE dialogue_id = ?1",
            id,
            |row| Ok(ScoreRow { expert_slug: row.get(0)?, round: row.get(1)?, score: row.get(2)? }),
        )?,
        rounds: collect_rows(
            connection,
            "SELECT round, title, score, summary, created_at FROM rounds WHERE dialogue_id = ?1",
            id,
            round_from_row,
        )?,
        perspectives: collect_rows(
            connection,
            r#"SELECT round, seq, label, content, contributors, status, "references", created_at FROM perspectives WHERE dialogue_id = ?1 ORDER BY round, seq"#,
            id,
            perspective_from_row,
        )?,
        events: collect_rows(
            connection,
            "SELECT perspective_round, perspective_seq, event_type, event_round, actors, result_id, reference, reason FROM perspective_events WHERE dialogue_id = ?1",
            id,
            event_from_row,
        )?,
        local_ids: collect_rows(
            connection,
            "SELECT local_id, round, expert_slug, global_id FROM local_ids WHERE dialogue_id = ?1",
            id,
            local_id_from_row,
        )?,
    })
}

fn collect_rows<T>(
    connection: &Connection,
    sql: &str,
    id: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map([id], read)?.collect()
}

fn round_from_row(row: &Row<'_>) -> rusqlite::Result<RoundRow> {
    Ok(RoundRow {
        round: row.get(0)?,
        title: row.get(1)?,
        score: row.get(2)?,
        summary: row.get(3)?,
        created_at: row.get(4)?,
    })
}

fn perspective_from_row(row: &Row<'_>) -> rusqlite::Result<PerspectiveRow> {
    Ok(PerspectiveRow {
        round: row.get(0)?,
        seq: row.get(1)?,
        label: row.get(2)?,
        content: row.get(3)?,
        contributors: row.get(4)?,
        status: row.get(5)?,
        references: row.get(6)?,
        created_at: row.get(7)?,
    })
}

fn event_from_row(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        perspective_round: row.get(0)?,
        perspective_seq: row.get(1)?,
        event_type: row.get(2)?,
        event_round: row.get(3)?,
        actors: row.get(4)?,
        result_id: row.get(5)?,
        reference: row.get(6)?,
        reason: row.get(7)?,
    })
}

fn local_id_from_row(row: &Row<'_>) -> rusqlite::Result<LocalIdRow> {
    Ok(LocalIdRow {
        local_id: row.get(0)?,
        round: row.get(1)?,
        expert_slug: row.get(2)?,
        global_id: row.get(3)?,
    })
}

/// The `context` document with owned fields.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlainContext {
    dialogue: ContextSubject,
    prior_rounds: Vec<ContextRound>,
    active_tensions: Vec<String>,
    resolved_tensions: Vec<Value>,
    requests: Vec<Value>,
    verdicts: Vec<Value>,
    experts: std::collections::BTreeMap<String, ContextParticipant>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ContextSubject {
    id: String,
    title: String,
    question: Option<String>,
    status: String,
    current_round: u8,
    total_alignment: i64,
    background: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ContextRound {
    round: u8,
    title: Option<String>,
    score: i64,
    expert_contributions: Vec<PlainContributions>,
    tensions: Vec<String>,
    moves: Vec<Value>,
    judge_synthesis: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PlainContributions {
    expert: String,
    role: String,
    perspectives: Vec<ContributionItem>,
    tensions_raised: Vec<String>,
    recommendations: Vec<ContributionItem>,
    evidence: Vec<ContributionItem>,
    claims: Vec<ContributionItem>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ContributionItem {
    id: String,
    label: String,
    status: String,
    content: String,
    contributors: Vec<String>,
    references: Vec<ItemReference>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ItemReference {
    #[serde(rename = "type")]
    ref_type: String,
    target: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct ContextParticipant {
    slug: String,
    role: String,
    tier: String,
    source: String,
    focus: Option<String>,
    description: Option<String>,
    your_score: i64,
    round_context: Option<String>,
}
