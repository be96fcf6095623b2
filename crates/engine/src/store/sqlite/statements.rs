//! SQL statements for the five entity kinds, whose tables differ only in names.

use std::sync::LazyLock;

use plenary_core::model::ids::EntityKind;

#[derive(Debug)]
pub(crate) struct EntityStatements {
    pub insert: String,
    pub set_status: String,
    pub append_reference: String,
    pub insert_event: String,
    pub insert_first_event: String,
    pub load_state: String,
    pub load: String,
    pub load_events: String,
    pub events_of: String,
    pub visit: String,
    pub cite: String,
    pub label: String,
}

/// Table, event table, and the columns for round and number in the event table.
pub(crate) fn table_names(
    kind: EntityKind,
) -> (&'static str, &'static str, &'static str, &'static str) {
    match kind {
        EntityKind::Perspective => {
            ("perspectives", "perspective_events", "perspective_round", "perspective_seq")
        }
        EntityKind::Recommendation => {
            ("recommendations", "recommendation_events", "rec_round", "rec_seq")
        }
        EntityKind::Tension => ("tensions", "tension_events", "tension_round", "tension_seq"),
        EntityKind::Evidence => ("evidence", "evidence_events", "evidence_round", "evidence_seq"),
        EntityKind::Claim => ("claims", "claim_events", "claim_round", "claim_seq"),
    }
}

pub(crate) fn statements_for(kind: EntityKind) -> &'static EntityStatements {
    static PERSPECTIVE: LazyLock<EntityStatements> =
        LazyLock::new(|| build_statements(EntityKind::Perspective));
    static RECOMMENDATION: LazyLock<EntityStatements> =
        LazyLock::new(|| build_statements(EntityKind::Recommendation));
    static TENSION: LazyLock<EntityStatements> =
        LazyLock::new(|| build_statements(EntityKind::Tension));
    static EVIDENCE: LazyLock<EntityStatements> =
        LazyLock::new(|| build_statements(EntityKind::Evidence));
    static CLAIM: LazyLock<EntityStatements> =
        LazyLock::new(|| build_statements(EntityKind::Claim));
    match kind {
        EntityKind::Perspective => &PERSPECTIVE,
        EntityKind::Recommendation => &RECOMMENDATION,
        EntityKind::Tension => &TENSION,
        EntityKind::Evidence => &EVIDENCE,
        EntityKind::Claim => &CLAIM,
    }
}

fn build_statements(kind: EntityKind) -> EntityStatements {
    let (table, events, round, seq) = table_names(kind);
    let text = kind.text_field();
    // Only recommendations have these columns; other kinds return null.
    let is_recommendation = kind == EntityKind::Recommendation;
    let extras = if is_recommendation { "parameters, adopted_in_verdict" } else { "NULL, NULL" };
    let (parameters, ninth) = if is_recommendation { (", parameters", ", ?9") } else { ("", "") };
    let key = "dialogue_id = ?1 AND round = ?2 AND seq = ?3";
    EntityStatements {
        insert: format!(
            r#"INSERT INTO {table} (dialogue_id, round, seq, label, {text}, contributors, "references", created_at{parameters})
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8{ninth})"#
        ),
        set_status: if is_recommendation {
            format!(
                "UPDATE {table} SET status = ?4, adopted_in_verdict = coalesce(?5, adopted_in_verdict) WHERE {key}"
            )
        } else {
            format!("UPDATE {table} SET status = ?4 WHERE {key}")
        },
        append_reference: format!(
            r#"UPDATE {table} SET "references" = json_insert(coalesce("references", '[]'), '$[#]', json(?4)) WHERE {key}"#
        ),
        insert_event: format!(
            "INSERT INTO {events} (dialogue_id, {round}, {seq}, seq, event_type, event_round, actors, result_id, reference, reason, created_at)
             VALUES (?1, ?2, ?3,
               (SELECT max(seq) + 1 FROM {events} WHERE dialogue_id = ?1 AND {round} = ?2 AND {seq} = ?3),
               ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        ),
        insert_first_event: format!(
            "INSERT INTO {events} (dialogue_id, {round}, {seq}, seq, event_type, event_round, actors, created_at)
             VALUES (?1, ?2, ?3, 1, ?4, ?2, ?5, ?6)"
        ),
        load_state: format!("SELECT status, contributors FROM {table} WHERE {key}"),
        load: format!(
            r#"SELECT round, seq, label, {text}, contributors, status, "references", created_at, {extras}
               FROM {table} WHERE dialogue_id = ?1 AND round < ?2 ORDER BY round, seq"#
        ),
        events_of: format!(
            "SELECT {round}, {seq}, event_type, event_round, actors, result_id, reference, reason
             FROM {events} WHERE dialogue_id = ?1 AND {round} = ?2 AND {seq} = ?3 ORDER BY seq"
        ),
        load_events: format!(
            "SELECT {round}, {seq}, event_type, event_round, actors, result_id, reference, reason
             FROM {events} WHERE dialogue_id = ?1 ORDER BY {round}, {seq}, seq"
        ),
        visit: format!(
            r#"SELECT seq, label, {text}, status, contributors, "references", {extras}
               FROM {table} WHERE dialogue_id = ?1 AND round = ?2 ORDER BY seq"#
        ),
        cite: format!(
            r#"SELECT round, seq, label, {text}, contributors, status, "references", created_at, {extras}
               FROM {table} WHERE {key}"#
        ),
        label: format!("SELECT label FROM {table} WHERE {key}"),
    }
}
