//! Between columns and words: what the tables hold as text, typed.

use std::str::FromStr;

use rusqlite::Row;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::error::StoreError;

/// A text column that is one of our words or ids.
pub(super) fn parsed<T: FromStr>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<T, StoreError> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    text.parse().map_err(|_| malformed(what, text))
}

/// The same, where null is possible.
pub(super) fn parsed_optional<T: FromStr>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<Option<T>, StoreError> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    text.map(|text| text.parse().map_err(|_| malformed(what, text))).transpose()
}

/// A text column that is a word of a closed vocabulary.
pub(super) fn word<W: crate::domain::words::Word>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<W, StoreError> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    W::find(text).ok_or_else(|| malformed(what, text))
}

/// The same, where null is possible.
pub(super) fn word_optional<W: crate::domain::words::Word>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<Option<W>, StoreError> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    text.map(|text| W::find(text).ok_or_else(|| malformed(what, text))).transpose()
}

/// A JSON column.
pub(super) fn json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<T, StoreError> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|_| malformed(what, text))
}

/// The same, where null is possible.
pub(super) fn json_optional<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<Option<T>, StoreError> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    text.map(|text| serde_json::from_str(text).map_err(|_| malformed(what, text))).transpose()
}

pub(super) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::Unwritable)
}

pub(super) fn malformed(what: &'static str, text: &str) -> StoreError {
    StoreError::Malformed { what, text: text.chars().take(80).collect() }
}
