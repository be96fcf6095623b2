//! What a line of the file is to the store.

use std::io::BufRead;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::LogFileError;
use super::line::Lines;
use super::sync::LINE_BYTES_MAX;
use crate::domain::gate::{ForeignRow, Redaction};
use crate::store::{Store, StoreError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOrigin {
    /// The line of a row, word for word.
    Ours {
        seq: u64,
    },
    /// The store has it in other words: its id is known, or all that it says.
    Known {
        seq: u64,
    },
    /// Nothing that the store knows.
    Stranger,
    Blank,
}

/// The one thing by which a row is found.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    verdict_id: Option<String>,
}

/// `redaction` is what was taken out of rows before they were logged.
pub(super) fn origin(
    store: &dyn Store,
    redaction: &Redaction,
    line: &[u8],
) -> Result<LineOrigin, StoreError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(LineOrigin::Blank);
    }
    let named = serde_json::from_slice::<Named>(line).ok();
    if let Some(id) = named.and_then(|named| named.verdict_id)
        && let Some(row) = store.log_line(&id)?
    {
        let is_same = row.line.as_bytes() == line;
        return Ok(if is_same {
            LineOrigin::Ours { seq: row.seq }
        } else {
            LineOrigin::Known { seq: row.seq }
        });
    }
    Ok(said(store, redaction, line)?.map_or(LineOrigin::Stranger, |seq| LineOrigin::Known { seq }))
}

/// Whether every line is one of the store's, word for word.
pub fn is_all_ours(store: &dyn Store, source: impl BufRead) -> Result<bool, LogFileError> {
    for line in Lines::new(source, LINE_BYTES_MAX) {
        let Ok(line) = line else { return Ok(false) };
        let is_ours =
            matches!(origin(store, &Redaction::default(), &line.bytes)?, LineOrigin::Ours { .. });
        if !is_ours {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The row of the store that says all that the line says.
fn said(store: &dyn Store, redaction: &Redaction, line: &[u8]) -> Result<Option<u64>, StoreError> {
    let read = std::str::from_utf8(line).ok().and_then(|line| ForeignRow::read(line).ok());
    let Some(read) = read.filter(|read| read.is_whole) else { return Ok(None) };
    for row in [redaction.apply(&read.row), read.row] {
        let fingerprint = row.fingerprint().map_err(StoreError::Unwritable)?;
        if let Some(seq) = store.logged_alike(&fingerprint)? {
            return Ok(Some(seq));
        }
    }
    Ok(None)
}

/// Whether these bytes are a JSON object from its first to its last.
pub(super) fn is_object(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(bytes).is_ok()
}
