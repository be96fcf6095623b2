//! Matches lines of the log file with rows of the store.

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
    /// Equal to the line of a stored row, byte for byte.
    Ours {
        seq: u64,
    },
    /// A stored row with another text: the id or the content is known.
    Known {
        seq: u64,
    },
    /// Not in the store.
    Stranger,
    Blank,
}

/// The field that identifies a row.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    verdict_id: Option<String>,
}

/// Matches a line. `redaction` removes the values that were also removed before rows were logged.
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

/// Whether every line equals a stored line, byte for byte.
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

/// Finds the stored row with the same content.
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

/// Whether the bytes are exactly one JSON object.
pub(super) fn is_object(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Map<String, Value>>(bytes).is_ok()
}
