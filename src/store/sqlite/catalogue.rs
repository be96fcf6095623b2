//! Looks across dialogues: lists, searches, counts; and at single entities.

use rusqlite::{Connection, OptionalExtension, params};

use super::columns::{parsed, word, word_optional};
use super::{facts, load, statements};
use crate::domain::catalogue::{Citation, Hit, Link, ListQuery, Stats, Summary, TopExpert};
use crate::domain::facts::RECENT_SCORES_MAX;
use crate::domain::ids::{DialogueId, EntityId, EntityKind};
use crate::domain::reference::RefType;
use crate::domain::words::Word;
use crate::record::convergence::{Pulse, Standing};
use crate::store::error::StoreError;

/// A page of dialogues. The key of the page before is the place to go on from,
/// so a page costs the same wherever it lies.
pub(super) fn list(connection: &Connection, query: &ListQuery) -> Result<Vec<Summary>, StoreError> {
    let filter = match (query.status, query.protocol) {
        (None, None) => "",
        (Some(_), None) => "AND status = ?3",
        (None, Some(_)) => "AND protocol = ?4",
        (Some(_), Some(_)) => "AND status = ?3 AND protocol = ?4",
    };
    let sql = format!(
        "SELECT dialogue_id, title, protocol, status, terminal_state, total_rounds, rehearsal, created_at
         FROM dialogues
         WHERE (created_at, dialogue_id) < (
             coalesce((SELECT created_at FROM dialogues WHERE dialogue_id = ?1), '~'), coalesce(?1, '~')
           ) {filter} AND ?3 IS ?3 AND ?4 IS ?4
         ORDER BY created_at DESC, dialogue_id DESC LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![
        query.after.as_ref().map(DialogueId::as_str),
        query.limit,
        query.status.map(|status| status.name()),
        query.protocol.map(|protocol| protocol.name()),
    ])?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        page.push(Summary {
            dialogue_id: parsed(row, 0, "dialogue id")?,
            title: row.get(1)?,
            protocol: word(row, 2, "protocol")?,
            status: word(row, 3, "status")?,
            terminal_state: word_optional(row, 4, "terminal state")?,
            rounds: row.get(5)?,
            rehearsal: row.get(6)?,
            created_at: parsed(row, 7, "moment")?,
        });
    }
    Ok(page)
}

/// Texts with all of the words first, then texts with some, newest first.
///
/// Ranking every match would cost more with every dialogue; the caller ranks
/// the bounded number of candidates that this returns.
pub(super) fn search(
    connection: &Connection,
    words: &[String],
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // Quoted, a word is a word, whatever it would mean to the engine.
    let words: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', ""))).collect();
    let mut hits = candidates(connection, &words.join(" AND "), limit)?;
    if words.len() > 1 && hits.len() < limit {
        for hit in candidates(connection, &words.join(" OR "), limit)? {
            if hits.len() < limit && !hits.contains(&hit) {
                hits.push(hit);
            }
        }
    }
    Ok(hits)
}

fn candidates(
    connection: &Connection,
    matching: &str,
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT s.dialogue_id, d.title, s.field, s.body
         FROM search_text s JOIN dialogues d ON d.dialogue_id = s.dialogue_id
         WHERE s.search_text MATCH ?1 ORDER BY s.rowid DESC LIMIT ?2",
    )?;
    let mut rows = statement.query(params![matching, limit])?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        hits.push(Hit {
            dialogue_id: parsed(row, 0, "dialogue id")?,
            title: row.get(1)?,
            field: word(row, 2, "field")?,
            body: row.get(3)?,
        });
    }
    Ok(hits)
}

pub(super) fn stats(connection: &Connection, top_experts: usize) -> Result<Stats, StoreError> {
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
                kind.section()
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
    Ok(Stats {
        dialogues,
        rounds,
        experts,
        total_alignment,
        by_status: counted(connection, "status")?,
        by_protocol: counted(connection, "protocol")?,
        entities,
        top_experts: top(connection, top_experts)?,
    })
}

fn counted<W: Word>(connection: &Connection, column: &str) -> Result<Vec<(W, u64)>, StoreError> {
    let sql =
        format!("SELECT {column}, count(*) FROM dialogues WHERE NOT rehearsal GROUP BY {column}");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next()? {
        counts.push((word(row, 0, "word")?, row.get(1)?));
    }
    Ok(counts)
}

fn top(connection: &Connection, limit: usize) -> Result<Vec<TopExpert>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT expert_slug, sum(total_score), count(*)
         FROM expert_profiles e JOIN dialogues d USING (dialogue_id) WHERE NOT d.rehearsal
         GROUP BY expert_slug ORDER BY sum(total_score) DESC, expert_slug LIMIT ?1",
    )?;
    let mut rows = statement.query([limit])?;
    let mut experts = Vec::new();
    while let Some(row) = rows.next()? {
        experts.push(TopExpert {
            expert_slug: parsed(row, 0, "expert")?,
            total: row.get(1)?,
            dialogues: row.get(2)?,
        });
    }
    Ok(experts)
}

pub(super) fn pulse(connection: &Connection, id: &DialogueId) -> Result<Option<Pulse>, StoreError> {
    let Some(dialogue) = load::dialogue(connection, id)? else { return Ok(None) };
    let count = |sql: &str, round: Option<u8>| -> Result<u32, StoreError> {
        let mut statement = connection.prepare_cached(sql)?;
        Ok(match round {
            Some(round) => statement.query_row(params![id.as_str(), round], |row| row.get(0))?,
            None => statement.query_row([id.as_str()], |row| row.get(0))?,
        })
    };
    let last = dialogue.last_round();
    let (panel, signals) = match last {
        Some(round) => {
            (load::panel_at(connection, id, round)?, facts::converged(connection, id, round)?)
        }
        None => Default::default(),
    };
    let converged = panel.iter().filter(|expert| signals.contains(*expert)).count();
    let size = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Some(Pulse {
        recent_scores: facts::recent_scores(connection, id, RECENT_SCORES_MAX)?,
        active_tensions: count(
            "SELECT count(*) FROM tensions WHERE dialogue_id = ?1 AND status IN ('open', 'addressed', 'reopened')",
            None,
        )?,
        resolved_tensions: count(
            "SELECT count(*) FROM tensions WHERE dialogue_id = ?1 AND status = 'resolved'",
            None,
        )?,
        new_perspectives: match last {
            Some(_) => count(
                "SELECT count(*) FROM perspectives WHERE dialogue_id = ?1 AND round = ?2",
                last,
            )?,
            None => 0,
        },
        panel_size: size(panel.len()),
        converged: size(converged),
        leaderboard: leaderboard(connection, id)?,
        dialogue,
    }))
}

fn leaderboard(connection: &Connection, id: &DialogueId) -> Result<Vec<Standing>, StoreError> {
    let mut board: Vec<Standing> = load::profiles(connection, id)?
        .into_iter()
        .map(|(profile, total)| Standing { expert_slug: profile.expert_slug, total })
        .collect();
    board.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.expert_slug.cmp(&b.expert_slug)));
    Ok(board)
}

pub(super) fn cite(
    connection: &Connection,
    dialogue: &DialogueId,
    id: EntityId,
) -> Result<Option<Citation>, StoreError> {
    let mut statement = connection.prepare_cached(&statements::of(id.kind).cite)?;
    let mut rows = statement.query(params![dialogue.as_str(), id.round, id.seq])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let entity = load::entity(row, id.kind)?;
    let references = entity.references.iter().map(|made| (made.ref_type, made.target));
    Ok(Some(Citation {
        references: links(connection, dialogue, references)?,
        referenced_by: links(connection, dialogue, load::references_to(connection, dialogue, id)?)?,
        id,
        dialogue_id: dialogue.clone(),
        kind: id.kind.noun(),
        label: entity.label,
        content: entity.text,
        contributors: entity.contributors,
        round: id.round,
        status: entity.status,
        parameters: entity.parameters,
        created_at: entity.created_at,
    }))
}

fn links(
    connection: &Connection,
    dialogue: &DialogueId,
    ends: impl IntoIterator<Item = (RefType, EntityId)>,
) -> Result<Vec<Link>, StoreError> {
    let labelled = ends.into_iter().map(|(ref_type, id)| {
        let label: Option<String> = connection
            .prepare_cached(&statements::of(id.kind).label)?
            .query_row(params![dialogue.as_str(), id.round, id.seq], |row| row.get(0))
            .optional()?;
        Ok(Link { ref_type, id, label: label.unwrap_or_default() })
    });
    labelled.collect()
}
