//! Reads typed values from table columns.

use std::str::FromStr;

use plenary_core::model::dialogue::ProtocolKind;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::error::StoreError;

/// A text column of a possibly manipulated file. A value of another type becomes a text that
/// matches nothing.
pub(crate) fn lossy_text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other @ (ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_)) => {
            format!("{other:?}")
        }
    })
}

/// Same for a number: any other type becomes `u64::MAX`.
pub(crate) fn lossy_number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(integer) => u64::try_from(integer).unwrap_or(u64::MAX),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => u64::MAX,
    })
}

/// Runs a query and maps its rows.
pub(crate) fn query_rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// A text column that contains an enum name or an id.
pub(crate) fn parse_column<T: FromStr>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<T, StoreError> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    text.parse().map_err(|_| malformed_error(what, text))
}

/// The protocol of a dialogue, built in or not.
pub(crate) fn stored_protocol(row: &Row<'_>, column: usize) -> Result<ProtocolKind, StoreError> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    ProtocolKind::stored(text).ok_or_else(|| malformed_error("protocol", text))
}

/// Same as `parse_column`, for a nullable column.
pub(crate) fn parse_optional_column<T: FromStr>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<Option<T>, StoreError> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    text.map(|text| text.parse().map_err(|_| malformed_error(what, text))).transpose()
}

/// A JSON column.
pub(crate) fn read_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<T, StoreError> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|_| malformed_error(what, text))
}

/// Same as `read_json`, for a nullable column.
pub(crate) fn read_optional_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> Result<Option<T>, StoreError> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    text.map(|text| serde_json::from_str(text).map_err(|_| malformed_error(what, text))).transpose()
}

pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::Unwritable)
}

pub(crate) fn malformed_error(what: &'static str, text: &str) -> StoreError {
    StoreError::Malformed { what, text: text.chars().take(80).collect() }
}
