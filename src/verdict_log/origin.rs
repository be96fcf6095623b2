//! Matches lines of the log file with rows of the store.

use std::io::BufRead;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::LogFileError;
use super::line::RawLines;
use super::sync::LINE_BYTES_MAX;
use crate::domain::gate::{ImportedRow, LogRedaction};
use crate::store::{Store, StoreError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineMatch {
    /// Equal to the line of a stored row, byte for byte.
    Stored {
        seq: u64,
    },
    /// A stored row with another text: the id or the content is known.
    Altered {
        seq: u64,
    },
    /// Not in the store.
    Unknown,
    Blank,
}

/// The field that identifies a row.
#[derive(Deserialize)]
struct VerdictIdField {
    #[serde(default)]
    verdict_id: Option<String>,
}

/// Matches a line. `redaction` removes the values that were also removed before rows were logged.
pub(super) fn match_line(
    store: &dyn Store,
    redaction: &LogRedaction,
    line: &[u8],
) -> Result<LineMatch, StoreError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(LineMatch::Blank);
    }
    let named = serde_json::from_slice::<VerdictIdField>(line).ok();
    if let Some(id) = named.and_then(|named| named.verdict_id)
        && let Some(row) = store.find_log_line(&id)?
    {
        let is_same = row.line.as_bytes() == line;
        return Ok(if is_same {
            LineMatch::Stored { seq: row.seq }
        } else {
            LineMatch::Altered { seq: row.seq }
        });
    }
    Ok(find_equal_row(store, redaction, line)?
        .map_or(LineMatch::Unknown, |seq| LineMatch::Altered { seq }))
}

/// Whether every line equals a stored line, byte for byte.
pub fn is_all_stored(store: &dyn Store, source: impl BufRead) -> Result<bool, LogFileError> {
    for line in RawLines::new(source, LINE_BYTES_MAX) {
        let Ok(line) = line else { return Ok(false) };
        let is_ours = matches!(
            match_line(store, &LogRedaction::default(), &line.bytes)?,
            LineMatch::Stored { .. }
        );
        if !is_ours {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds the stored row with the same content.
fn find_equal_row(
    store: &dyn Store,
    redaction: &LogRedaction,
    line: &[u8],
) -> Result<Option<u64>, StoreError> {
    let read = std::str::from_utf8(line).ok().and_then(|line| ImportedRow::parse_line(line).ok());
    let Some(read) = read.filter(|read| read.is_complete) else { return Ok(None) };
    for row in [redaction.redact_row(&read.row), read.row] {
        let fingerprint = row.content_hash().map_err(StoreError::Unwritable)?;
        if let Some(seq) = store.find_same_row(&fingerprint)? {
            return Ok(Some(seq));
        }
    }
    Ok(None)
}

/// Whether the bytes are exactly one JSON object.
pub(super) fn is_json_object(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(bytes).is_ok()
}
