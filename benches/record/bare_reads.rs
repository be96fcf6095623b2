//! The limits of `export` and `context`: the table rows, and the `context` document as plain data,
//! both with derived serialisation.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use crate::measure::Outcome;

/// The rows of a dialogue that an export contains, column by column.
#[derive(Debug, Serialize)]
pub(crate) struct Rows {
    dialogue: Vec<Vec<Option<String>>>,
    experts: Vec<Vec<Option<String>>>,
    scores: Vec<Score>,
    rounds: Vec<Round>,
    perspectives: Vec<Perspective>,
    events: Vec<Event>,
    local_ids: Vec<LocalId>,
}

#[derive(Debug, Serialize)]
struct Score {
    expert_slug: String,
    round: i64,
    score: i64,
}

#[derive(Debug, Serialize)]
struct Round {
    round: i64,
    title: Option<String>,
    score: i64,
    summary: Option<String>,
    created_at: String,
}

#[derive(Debug, Serialize)]
struct Perspective {
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
struct Event {
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
struct LocalId {
    local_id: String,
    round: i64,
    expert_slug: String,
    global_id: String,
}

pub(crate) fn read(connection: &Connection, id: &str) -> Outcome<Rows> {
    let any = |row: &Row<'_>| {
        let columns = row.as_ref().column_count();
        (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>()
    };
    Ok(Rows {
        dialogue: collect(
            connection,
            "SELECT title, question, background, protocol, status, created_at FROM dialogues WHERE dialogue_id = ?1",
            id,
            any,
        )?,
        experts: collect(
            connection,
            "SELECT expert_slug, role, tier, source, focus, description, color FROM expert_profiles WHERE dialogue_id = ?1",
            id,
            any,
        )?,
        scores: collect(
            connection,
            "SELECT expert_slug, round, score FROM expert_scores WHERE dialogue_id = ?1",
            id,
            |row| Ok(Score { expert_slug: row.get(0)?, round: row.get(1)?, score: row.get(2)? }),
        )?,
        rounds: collect(
            connection,
            "SELECT round, title, score, summary, created_at FROM rounds WHERE dialogue_id = ?1",
            id,
            round,
        )?,
        perspectives: collect(
            connection,
            r#"SELECT round, seq, label, content, contributors, status, "references", created_at FROM perspectives WHERE dialogue_id = ?1 ORDER BY round, seq"#,
            id,
            perspective,
        )?,
        events: collect(
            connection,
            "SELECT perspective_round, perspective_seq, event_type, event_round, actors, result_id, reference, reason FROM perspective_events WHERE dialogue_id = ?1",
            id,
            event,
        )?,
        local_ids: collect(
            connection,
            "SELECT local_id, round, expert_slug, global_id FROM local_ids WHERE dialogue_id = ?1",
            id,
            local_id,
        )?,
    })
}

fn collect<T>(
    connection: &Connection,
    sql: &str,
    id: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map([id], read)?.collect()
}

fn round(row: &Row<'_>) -> rusqlite::Result<Round> {
    Ok(Round {
        round: row.get(0)?,
        title: row.get(1)?,
        score: row.get(2)?,
        summary: row.get(3)?,
        created_at: row.get(4)?,
    })
}

fn perspective(row: &Row<'_>) -> rusqlite::Result<Perspective> {
    Ok(Perspective {
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

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
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

fn local_id(row: &Row<'_>) -> rusqlite::Result<LocalId> {
    Ok(LocalId {
        local_id: row.get(0)?,
        round: row.get(1)?,
        expert_slug: row.get(2)?,
        global_id: row.get(3)?,
    })
}

/// The `context` document with owned fields.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Context {
    dialogue: Subject,
    prior_rounds: Vec<PriorRound>,
    active_tensions: Vec<String>,
    experts: std::collections::BTreeMap<String, Participant>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Subject {
    id: String,
    title: String,
    question: Option<String>,
    status: String,
    current_round: u8,
    total_alignment: i64,
    background: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PriorRound {
    round: u8,
    title: Option<String>,
    score: i64,
    expert_contributions: Vec<Contributions>,
    tensions: Vec<String>,
    judge_synthesis: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contributions {
    expert: String,
    role: String,
    perspectives: Vec<Item>,
    tensions_raised: Vec<String>,
    recommendations: Vec<Item>,
    evidence: Vec<Item>,
    claims: Vec<Item>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Item {
    id: String,
    label: String,
    status: String,
    content: String,
    contributors: Vec<String>,
    references: Vec<Reference>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Reference {
    #[serde(rename = "type")]
    ref_type: String,
    target: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Participant {
    slug: String,
    role: String,
    tier: String,
    source: String,
    focus: Option<String>,
    description: Option<String>,
    your_score: i64,
    round_context: Option<String>,
}
