//! Queries over all dialogues: list, search, statistics; and citations of one entity.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::str::FromStr;

use plenary_core::model::ids::{DialogueAlias, DialogueId, EntityId, EntityKind};
use plenary_core::model::queries::{
    DialogueName, DialogueQuery, DialogueSummary, EntityCitation, IncomingReference,
    OutgoingReference, RunTotals, StoreStatistics, TextHit, TopExpert,
};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use crate::store::error::StoreResult;
use crate::store::sqlite::load::{DialogueReader, read_entity};
use crate::store::sqlite::statements::{
    parse_column, parse_optional_column, query_rows, read_json, read_optional_json, read_struct,
    statements_for, stored_protocol, to_json,
};

/// One page of dialogues. Pagination is by key, so every page costs the same.
pub(crate) fn list_dialogues(
    connection: &Connection,
    asked: &DialogueQuery,
) -> StoreResult<Vec<DialogueSummary>> {
    let after = asked.after.as_ref().map(DialogueId::as_str);
    let mut values: Vec<&dyn ToSql> = vec![&after, &asked.limit];
    let (status, protocol) = (asked.status.map(|s| s.name()), asked.protocol.map(|p| p.name()));
    let mut filters = String::new();
    for (column, wanted) in [("status", &status), ("protocol", &protocol)] {
        if wanted.is_some() {
            values.push(wanted);
            filters.push_str(&format!("AND {column} = ?{} ", values.len()));
        }
    }
    // One value holds all ids: a list of placeholders would be another statement for each length.
    let only = asked.only.as_ref().map(to_json).transpose()?;
    if only.is_some() {
        values.push(&only);
        let place = values.len();
        filters.push_str(&format!("AND d.dialogue_id IN (SELECT value FROM json_each(?{place})) "));
    }
    let since = asked.since.map(|since| since.to_string());
    if since.is_some() {
        values.push(&since);
        filters.push_str(&format!("AND created_at >= ?{} ", values.len()));
    }
    if asked.grep.is_some() {
        values.push(&asked.grep);
        let place = values.len();
        filters.push_str(&format!(
            "AND (instr(lower(title), lower(?{place})) OR instr(lower(question), lower(?{place}))) "
        ));
    }
    // `~` sorts after every time and every id, so the first page starts at the newest dialogue.
    let sql = format!(
        "SELECT d.dialogue_id, title, protocol, status, terminal_state, total_rounds, d.rehearsal,
           created_at, l.verdict, l.line ->> '$.policy', (
             SELECT decision FROM overrides o
             WHERE o.dialogue_id = l.dialogue_id AND o.verdict_id = l.verdict_id
             ORDER BY o.seq DESC LIMIT 1
           ),
           EXISTS (SELECT 1 FROM verdicts f WHERE f.dialogue_id = d.dialogue_id
             AND f.verdict_type = 'final' AND f.forced)
         FROM dialogues d LEFT JOIN verdict_log l ON l.seq = (
           SELECT max(seq) FROM verdict_log v
           WHERE v.dialogue_id = d.dialogue_id AND NOT v.imported
         )
         WHERE (created_at, d.dialogue_id) < (
             coalesce((SELECT created_at FROM dialogues WHERE dialogue_id = ?1), '~'), coalesce(?1, '~')
           ) {filters}
         ORDER BY created_at DESC, d.dialogue_id DESC LIMIT ?2"
    );
    query_rows(connection, &sql, values.as_slice(), |row| {
        Ok(DialogueSummary {
            dialogue_id: parse_column(row, 0, "dialogue id")?,
            title: row.get(1)?,
            protocol: stored_protocol(row, 2)?,
            status: parse_column(row, 3, "status")?,
            terminal_state: parse_optional_column(row, 4, "terminal state")?,
            rounds: row.get(5)?,
            rehearsal: row.get(6)?,
            created_at: parse_column(row, 7, "moment")?,
            verdict: parse_optional_column(row, 8, "verdict")?,
            policy: read_optional_json(row, 9, "policy")?,
            overridden: parse_optional_column(row, 10, "decision")?,
            forced: row.get(11)?,
        })
    })
}

/// Kinds of entries that neither start nor stop a run. They are the longest, so they are not read.
const CALL_KINDS: &str = "('asks_prepared', 'call_sent', 'reply_kept', 'call_failed', \
                          'ask_not_sent', 'intervened')";

pub(crate) fn load_run_facts(connection: &Connection, id: &DialogueId) -> StoreResult<RunTotals> {
    let last_event = query_rows(
        connection,
        &format!(
            "SELECT e.value FROM journal j, json_each(j.payload) e
             WHERE j.dialogue_id = ?1 AND j.kind NOT IN {CALL_KINDS}
               AND e.value ->> 'change' IN ('run_started', 'run_stopped')
             ORDER BY j.seq DESC, e.key DESC LIMIT 1"
        ),
        [id.as_str()],
        |row| read_json(row, 0, "journal event"),
    )?;
    let (usd_micros, restatements): (Option<u64>, u64) = connection
        .prepare_cached(
            "SELECT sum(coalesce(e.value ->> '$.reply.cost.usd_micros',
                 e.value ->> '$.failure.estimated.usd_micros')),
               count(e.value ->> '$.intervention.restatement')
             FROM journal j, json_each(j.payload) e
             WHERE j.dialogue_id = ?1 AND j.kind IN ('reply_kept', 'call_failed', 'intervened')",
        )?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let last_event = last_event.into_iter().next();
    Ok(RunTotals { last_event, usd_micros, has_restatements: restatements > 0 })
}

/// A run is planned when its dialogue is opened, or starts later on a dialogue that was led.
pub(crate) fn has_run_or_lines(connection: &Connection, id: &DialogueId) -> StoreResult<bool> {
    let found = connection
        .prepare_cached(
            "SELECT EXISTS (
               SELECT 1 FROM journal WHERE dialogue_id = ?1
                 AND (kind IN ('run_started', 'verdict_logged') OR seq = 1 AND instr(payload, '\"run_planned\"'))
             )",
        )?
        .query_row([id.as_str()], |row| row.get(0))?;
    Ok(found)
}

/// The dialogues whose background names this one as followed, oldest first.
pub(crate) fn list_followers(
    connection: &Connection,
    id: &DialogueId,
    limit: usize,
) -> StoreResult<Vec<DialogueName>> {
    let sql = "SELECT dialogue_id, title FROM dialogues
               WHERE background ->> '$.follows' = ?1 AND background IS NOT NULL
               ORDER BY created_at LIMIT ?2";
    query_rows(connection, sql, params![id.as_str(), limit], read_struct)
}

/// The dialogues that an alias may name, newest first.
pub(crate) fn find_named(
    connection: &Connection,
    alias: &DialogueAlias,
    limit: usize,
) -> StoreResult<Vec<DialogueName>> {
    match alias {
        DialogueAlias::Newest { back } => query_rows(
            connection,
            "SELECT dialogue_id, title FROM dialogues
             ORDER BY created_at DESC, dialogue_id DESC LIMIT 1 OFFSET ?1",
            [back],
            read_struct,
        ),
        // `~` sorts after every character of an id.
        DialogueAlias::Beginning { of_id, of_digits } => query_rows(
            connection,
            "SELECT dialogue_id, title FROM (
               SELECT dialogue_id, title, created_at FROM dialogues
               WHERE dialogue_id >= ?1 AND dialogue_id < ?1 || '~'
               UNION
               SELECT dialogue_id, title, created_at FROM dialogues
               WHERE substr(dialogue_id, -8) >= ?2 AND substr(dialogue_id, -8) < ?2 || '~'
                 AND substr(dialogue_id, -9, 1) = '-'
             ) ORDER BY created_at DESC, dialogue_id DESC LIMIT ?3",
            params![of_id, of_digits, limit],
            read_struct,
        ),
    }
}

/// Looks at two dialogues at most: thousands may have the same first words.
pub(crate) fn is_unique(connection: &Connection, alias: &DialogueAlias) -> StoreResult<bool> {
    let (of_id, of_digits) = match alias {
        DialogueAlias::Newest { .. } => return Ok(true),
        DialogueAlias::Beginning { of_id, of_digits } => (of_id, of_digits),
    };
    let sql = "SELECT count(*) FROM (
                 SELECT * FROM (
                   SELECT dialogue_id FROM dialogues
                   WHERE dialogue_id >= ?1 AND dialogue_id < ?1 || '~' LIMIT 2
                 )
                 UNION SELECT * FROM (
                   SELECT dialogue_id FROM dialogues
                   WHERE substr(dialogue_id, -8) >= ?2 AND substr(dialogue_id, -8) < ?2 || '~'
                     AND substr(dialogue_id, -9, 1) = '-' LIMIT 2
                 )
               )";
    let found: u8 =
        connection.prepare_cached(sql)?.query_row(params![of_id, of_digits], |row| row.get(0))?;
    Ok(found == 1)
}

/// The newest texts with each word: those with most words first, then those with a rare word, then
/// the newest.
///
/// Each word gives a bounded number of texts, so a larger store answers as fast. Asking the search
/// engine for all words at once would not: it compares whole lists if no text has all of them. A word
/// with fewer texts than the limit is rare, and all its texts are found.
pub(crate) fn search_texts(
    connection: &Connection,
    words: &[String],
    limit: usize,
) -> StoreResult<Vec<TextHit>> {
    let mut found: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
    for word in words {
        // Quoting disables the query syntax of the search engine.
        let word = format!("\"{}\"", word.replace('"', ""));
        let texts = newest_texts(connection, &word, limit)?;
        let is_rare = texts.len() < limit;
        for text in texts {
            let (has, rare) = found.entry(text).or_default();
            *has += 1;
            *rare += usize::from(is_rare);
        }
    }
    let mut found: Vec<(i64, (usize, usize))> = found.into_iter().collect();
    found.sort_unstable_by_key(|(text, counts)| Reverse((*counts, *text)));
    let best = found.into_iter().take(limit);
    best.filter_map(|(text, _)| load_text(connection, text).transpose()).collect()
}

/// The newest texts that contain this word.
fn newest_texts(connection: &Connection, word: &str, limit: usize) -> StoreResult<Vec<i64>> {
    let sql = "SELECT rowid FROM search_text WHERE search_text MATCH ?1
               ORDER BY rowid DESC LIMIT ?2";
    query_rows(connection, sql, params![word, limit], |row| Ok(row.get(0)?))
}

fn load_text(connection: &Connection, text: i64) -> StoreResult<Option<TextHit>> {
    let sql = "SELECT s.dialogue_id, d.title, s.field, s.body, d.rehearsal
               FROM search_text s JOIN dialogues d ON d.dialogue_id = s.dialogue_id
               WHERE s.rowid = ?1";
    let hits = query_rows(connection, sql, params![text], |row| {
        Ok(TextHit {
            dialogue_id: parse_column(row, 0, "dialogue id")?,
            title: row.get(1)?,
            field: parse_column(row, 2, "field")?,
            body: row.get(3)?,
            rehearsal: row.get(4)?,
        })
    })?;
    Ok(hits.into_iter().next())
}

pub(crate) fn load_stats(
    connection: &Connection,
    top_experts: usize,
) -> StoreResult<StoreStatistics> {
    let (dialogues, rounds, total_alignment) = connection.query_row(
        "SELECT count(*), coalesce(sum(total_rounds), 0), coalesce(sum(total_alignment), 0)
         FROM dialogues WHERE NOT rehearsal",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let mut entities = Vec::new();
    for kind in EntityKind::ALL {
        let count = connection.query_row(
            &format!(
                "SELECT count(*) FROM {} e JOIN dialogues d USING (dialogue_id) WHERE NOT d.rehearsal",
                kind.section_name()
            ),
            [],
            |row| row.get(0),
        )?;
        entities.push((*kind, count));
    }
    let experts = connection.query_row(
        "SELECT count(*) FROM expert_profiles e JOIN dialogues d USING (dialogue_id) WHERE NOT d.rehearsal",
        [],
        |row| row.get(0),
    )?;
    Ok(StoreStatistics {
        dialogues,
        rounds,
        experts,
        total_alignment,
        by_status: count_by_column(connection, "status")?,
        by_protocol: count_by_column(connection, "protocol")?,
        by_terminal_state: count_by_column(connection, "terminal_state")?,
        entities,
        top_experts: list_top_experts(connection, top_experts)?,
    })
}

fn count_by_column<W: FromStr>(
    connection: &Connection,
    column: &str,
) -> StoreResult<Vec<(W, usize)>> {
    let sql = format!(
        "SELECT {column}, count(*) FROM dialogues
         WHERE NOT rehearsal AND {column} IS NOT NULL GROUP BY {column}"
    );
    query_rows(connection, &sql, [], |row| Ok((parse_column(row, 0, "word")?, row.get(1)?)))
}

fn list_top_experts(connection: &Connection, limit: usize) -> StoreResult<Vec<TopExpert>> {
    let sql = "SELECT expert_slug, sum(total_score) AS total, count(*) AS dialogues
               FROM expert_profiles e JOIN dialogues d USING (dialogue_id) WHERE NOT d.rehearsal
               GROUP BY expert_slug ORDER BY sum(total_score) DESC, expert_slug LIMIT ?1";
    query_rows(connection, sql, [limit], read_struct)
}

pub(crate) fn load_citation(
    connection: &Connection,
    dialogue: &DialogueId,
    id: EntityId,
) -> StoreResult<Option<EntityCitation>> {
    let mut statement = connection.prepare_cached(&statements_for(id.kind).cite)?;
    let mut rows = statement.query(params![dialogue.as_str(), id.round, id.seq])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let entity = read_entity(row, id.kind)?;
    let reader = DialogueReader::new(connection, dialogue);
    let mut references = Vec::new();
    for made in &entity.references {
        let label = load_label(connection, dialogue, made.target)?;
        references.push(OutgoingReference { ref_type: made.ref_type, target: made.target, label });
    }
    let mut referenced_by = Vec::new();
    for (ref_type, source) in reader.load_references_to(id)? {
        let label = load_label(connection, dialogue, source)?;
        referenced_by.push(IncomingReference { ref_type, source, label });
    }
    let opened = reader.load_dialogue()?;
    Ok(Some(EntityCitation {
        rehearsal: opened.is_some_and(|dialogue| dialogue.opening.rehearsal),
        references,
        referenced_by,
        id,
        dialogue_id: dialogue.clone(),
        kind: id.kind.type_name(),
        label: entity.label,
        content: entity.text,
        contributors: entity.contributors,
        round: id.round,
        status: entity.status,
        parameters: entity.parameters,
        adopted_in_verdict: entity.adopted_in_verdict,
        events: reader.load_events(id)?,
        created_at: entity.created_at,
    }))
}

/// The label of an entity; empty if the entity does not exist.
fn load_label(connection: &Connection, dialogue: &DialogueId, id: EntityId) -> StoreResult<String> {
    let label: Option<String> = connection
        .prepare_cached(&statements_for(id.kind).label)?
        .query_row(params![dialogue.as_str(), id.round, id.seq], |row| row.get(0))
        .optional()?;
    Ok(label.unwrap_or_default())
}
