//! Rebuilds the search index from its texts and compares it with the stored index.
//!
//! `compare` checks the texts. This module checks the index tables of SQLite: a word that is
//! missing there hides a dialogue from `similar` although its text is complete.

use rusqlite::{Connection, Row, params};

use crate::store::error::StoreError;
use crate::store::sqlite::compare::to_owned_value;
use crate::store::sqlite::connect::open_in_memory;
use crate::store::traits::VerifyFinding;

/// Queries to compare on both indexes, with the message for a difference.
const COMPARED_QUERIES: [(&str, &str); 3] = [
    ("SELECT k, v FROM search_text_config ORDER BY k", "its settings were changed"),
    ("SELECT id, sz FROM search_text_docsize ORDER BY id", "the lengths of its texts were changed"),
    (
        "SELECT term, doc, col, \"offset\" FROM temp.search_terms",
        "does not hold the words of its texts",
    ),
];

/// Temporary tables that list every occurrence of every word, and every word with its counts.
const VOCABULARY: &str = "
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_terms
      USING fts5vocab('main', 'search_text', 'instance');
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words
      USING fts5vocab('main', 'search_text', 'row');";

const DROP_VOCABULARY: &str =
    "DROP TABLE IF EXISTS temp.search_terms; DROP TABLE IF EXISTS temp.search_words;";

pub(crate) fn compare_search_index(
    connection: &Connection,
    findings: &mut Vec<VerifyFinding>,
) -> Result<(), StoreError> {
    let rebuilt = open_in_memory()?;
    copy_texts(connection, &rebuilt)?;
    for index in [connection, &rebuilt] {
        index.execute_batch(VOCABULARY)?;
    }
    let parts =
        COMPARED_QUERIES.map(|(sql, message)| (is_same_result(connection, &rebuilt, sql), message));
    let words = (finds_every_word(connection, &rebuilt), "does not find the words it holds");
    let mut compared = Ok(());
    for (is_same, message) in parts.into_iter().chain([words]) {
        match is_same {
            Ok(true) => {}
            Ok(false) => findings.push(VerifyFinding {
                check: "search_index",
                dialogue_id: None,
                place: "search_text".to_owned(),
                message: message.to_owned(),
            }),
            Err(error) => compared = Err(error),
        }
    }
    connection.execute_batch(DROP_VOCABULARY)?;
    compared
}

/// Whether a lookup finds each word. A lookup uses another index table than a scan.
fn finds_every_word(live: &Connection, rebuilt: &Connection) -> Result<bool, StoreError> {
    let mut words = rebuilt.prepare("SELECT doc, cnt, term FROM temp.search_words")?;
    let mut look_up = live.prepare("SELECT doc, cnt FROM temp.search_words WHERE term = ?1")?;
    let mut words = words.query([])?;
    while let Some(word) = words.next()? {
        let mut found = look_up.query([to_owned_value(word.get_ref(2)?)])?;
        let is_found = match found.next()? {
            Some(row) => is_same_row(row, word, 2)?,
            None => false,
        };
        if !is_found {
            return Ok(false);
        }
    }
    Ok(true)
}

fn copy_texts(connection: &Connection, rebuilt: &Connection) -> Result<(), StoreError> {
    let transaction = rebuilt.unchecked_transaction()?;
    let mut select = connection
        .prepare("SELECT rowid, dialogue_id, field, body FROM search_text ORDER BY rowid")?;
    let mut insert = transaction.prepare(
        "INSERT INTO search_text (rowid, dialogue_id, field, body) VALUES (?1, ?2, ?3, ?4)",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        insert.execute(params![
            to_owned_value(row.get_ref(0)?),
            to_owned_value(row.get_ref(1)?),
            to_owned_value(row.get_ref(2)?),
            to_owned_value(row.get_ref(3)?)
        ])?;
    }
    drop(insert);
    transaction.commit()?;
    Ok(())
}

/// Whether both return the same rows in the same order.
fn is_same_result(live: &Connection, rebuilt: &Connection, sql: &str) -> Result<bool, StoreError> {
    let (mut live, mut rebuilt) = (live.prepare(sql)?, rebuilt.prepare(sql)?);
    let columns = live.column_count();
    let (mut live, mut rebuilt) = (live.query([])?, rebuilt.query([])?);
    loop {
        match (live.next()?, rebuilt.next()?) {
            (None, None) => return Ok(true),
            (Some(one), Some(other)) if is_same_row(one, other, columns)? => {}
            _ => return Ok(false),
        }
    }
}

fn is_same_row(one: &Row<'_>, other: &Row<'_>, columns: usize) -> Result<bool, StoreError> {
    for column in 0..columns {
        if one.get_ref(column)? != other.get_ref(column)? {
            return Ok(false);
        }
    }
    Ok(true)
}
