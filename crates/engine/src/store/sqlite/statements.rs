//! SQL statements for the five entity kinds, whose tables differ only in names, and readers of typed
//! values from their columns.

use std::any::type_name;
use std::str::FromStr;
use std::sync::LazyLock;

use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::ids::EntityKind;
use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::store::error::{StoreError, StoreResult};

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
    macro_rules! built_once {
        ($kind:ident) => {{
            static BUILT: LazyLock<EntityStatements> =
                LazyLock::new(|| build_statements(EntityKind::$kind));
            &BUILT
        }};
    }
    match kind {
        EntityKind::Perspective => built_once!(Perspective),
        EntityKind::Recommendation => built_once!(Recommendation),
        EntityKind::Tension => built_once!(Tension),
        EntityKind::Evidence => built_once!(Evidence),
        EntityKind::Claim => built_once!(Claim),
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
    let whole = format!(
        r#"SELECT round, seq, label, {text}, contributors, status, "references", created_at, {extras}
           FROM {table} WHERE dialogue_id = ?1"#
    );
    let history = format!(
        "SELECT {round}, {seq}, event_type, event_round, actors, result_id, reference, reason
         FROM {events} WHERE dialogue_id = ?1"
    );
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
        load: format!("{whole} AND round < ?2 ORDER BY round, seq"),
        events_of: format!("{history} AND {round} = ?2 AND {seq} = ?3 ORDER BY seq"),
        load_events: format!("{history} ORDER BY {round}, {seq}, seq"),
        visit: format!(
            r#"SELECT seq, label, {text}, status, contributors, "references", {extras}
               FROM {table} WHERE dialogue_id = ?1 AND round = ?2 ORDER BY seq"#
        ),
        cite: format!("{whole} AND round = ?2 AND seq = ?3"),
        label: format!("SELECT label FROM {table} WHERE {key}"),
    }
}

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
    read: impl Fn(&Row<'_>) -> StoreResult<T>,
) -> StoreResult<Vec<T>> {
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
) -> StoreResult<T> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    text.parse().map_err(|_| malformed_error(what, text))
}

/// The protocol of a dialogue, built in or not.
pub(crate) fn stored_protocol(row: &Row<'_>, column: usize) -> StoreResult<ProtocolKind> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    ProtocolKind::stored(text).ok_or_else(|| malformed_error("protocol", text))
}

/// Same as `parse_column`, for a nullable column.
pub(crate) fn parse_optional_column<T: FromStr>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> StoreResult<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    text.map(|text| text.parse().map_err(|_| malformed_error(what, text))).transpose()
}

/// A JSON column.
pub(crate) fn read_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> StoreResult<T> {
    let text = row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?;
    serde_json::from_str(text).map_err(|_| malformed_error(what, text))
}

/// Same as `read_json`, for a nullable column.
pub(crate) fn read_optional_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
    what: &'static str,
) -> StoreResult<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    text.map(|text| serde_json::from_str(text).map_err(|_| malformed_error(what, text))).transpose()
}

/// A row as a struct with a field for each column that it needs, by name. The declared type says
/// which columns have JSON and booleans. Only for rows of which a record has few: the readers by
/// position are faster.
pub(crate) fn read_struct<T: DeserializeOwned>(row: &Row<'_>) -> StoreResult<T> {
    let mut fields = Map::new();
    for (place, column) in row.as_ref().columns().enumerate() {
        let value = match (row.get_ref(place)?, column.decl_type()) {
            (ValueRef::Null, _) => continue,
            (ValueRef::Integer(number), Some("BOOLEAN")) => (number != 0).into(),
            (ValueRef::Integer(number), _) => number.into(),
            (ValueRef::Real(number), _) => number.into(),
            (ValueRef::Text(_), Some("JSON")) => read_json(row, place, "JSON")?,
            (text, _) => text.as_str().map_err(rusqlite::Error::from)?.into(),
        };
        fields.insert(column.name().to_owned(), value);
    }
    T::deserialize(Value::Object(fields))
        .map_err(|error| malformed_error("row", &error.to_string()))
}

/// The fields of a struct as values of columns: lists and objects as JSON.
pub(crate) fn column_values<T: Serialize>(item: &T) -> StoreResult<Vec<(String, SqlValue)>> {
    let Value::Object(fields) = serde_json::to_value(item).map_err(StoreError::Unwritable)? else {
        return Err(malformed_error("row", type_name::<T>()));
    };
    let values = fields.into_iter().map(|(name, value)| {
        let value = match value {
            Value::Null => SqlValue::Null,
            Value::Bool(is_so) => is_so.into(),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => integer.into(),
                None => number.as_f64().into(),
            },
            Value::String(text) => text.into(),
            Value::Array(_) | Value::Object(_) => value.to_string().into(),
        };
        (name, value)
    });
    Ok(values.collect())
}

pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> StoreResult<String> {
    serde_json::to_string(value).map_err(StoreError::Unwritable)
}

pub(crate) fn malformed_error(what: &'static str, text: &str) -> StoreError {
    StoreError::Malformed { what, text: text.chars().take(80).collect() }
}
