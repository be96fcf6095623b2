//! Parses a verdict log line that another program wrote, in version 2 of the seed's format.
//!
//! The line may lack our additional fields and may have unknown ones, but each known field must
//! have its type; otherwise the line is rejected with a reason. No reason quotes the line, because
//! the line may contain secrets.

use std::fmt;

use serde_json::{Map, Value};

use crate::model::ask::CallErrorType;
use crate::model::limits::{ARGUMENTS_DEPTH_MAX, LINE_CHARS_MAX};
use crate::model::strict_json::StrictJson;
use crate::protocols::review::log_row::{LogRow, ROW_VERSION};
use crate::protocols::review::policy::ReviewVerdict;

const STRICT_JSON: StrictJson = StrictJson {
    depth_max: ARGUMENTS_DEPTH_MAX,
    duplicate_key: |_| "a key occurs twice".to_owned(),
    too_deep: || format!("it is nested over {ARGUMENTS_DEPTH_MAX} levels deep"),
};

/// Fits a dialogue id, a slash and a number, with spare characters.
const VERDICT_ID_CHARS_MAX: usize = 200;

/// A row that another program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRow {
    pub row: LogRow,
    /// True if the line contains nothing that the row lacks.
    pub is_complete: bool,
}

/// Why a line is not a valid row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowParseError(String);

impl fmt::Display for RowParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ImportedRow {
    pub fn parse_line(line: &str) -> Result<Self, RowParseError> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let written = STRICT_JSON.parse_json(line).map_err(|error| describe_json_error(&error))?;
        if !written.is_object() {
            return Err(RowParseError("it is not a JSON object".to_owned()));
        }
        if written.get("v").and_then(Value::as_u64) != Some(u64::from(ROW_VERSION)) {
            return Err(field_error("v", &format!("must be {ROW_VERSION}")));
        }
        let row: LogRow = serde_path_to_error::deserialize(normalize_row(written.clone()))
            .map_err(|error| describe_field_error(&error))?;
        check_row(&row)?;
        let artifact_sha256 = row.artifact_sha256.as_ref().map(|hash| hash.to_ascii_lowercase());
        let row = LogRow { artifact_sha256, ..row };
        let kept = serde_json::to_value(&row).unwrap_or(Value::Null);
        Ok(Self { is_complete: covers_value(&kept, &written), row })
    }
}

fn field_error(path: &str, problem: &str) -> RowParseError {
    RowParseError(format!("`{path}` {problem}"))
}

/// Describes the syntax error. A row is one line, so the column is enough.
fn describe_json_error(error: &serde_json::Error) -> RowParseError {
    let message = error.to_string();
    let problem = message.split(" at line ").next().unwrap_or_default();
    RowParseError(format!("it is not JSON: {problem} at column {}", error.column()))
}

/// Names the field. Of the message it repeats only the name of a missing field, which is ours.
pub(crate) fn describe_field_error(
    error: &serde_path_to_error::Error<serde_json::Error>,
) -> RowParseError {
    let (path, message) = (error.path().to_string(), error.inner().to_string());
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split_once('`'));
    match (path.as_str(), missing) {
        (".", Some((name, _))) => field_error(name, "is missing"),
        (path, Some((name, _))) => field_error(&format!("{path}.{name}"), "is missing"),
        (path, None) => field_error(path, "has a missing field, a wrong type or an unknown value"),
    }
}

/// Removes nulls and converts the spellings of other programs to ours.
fn normalize_row(mut row: Value) -> Value {
    remove_nulls(&mut row);
    if let Some(adjudicator) = row.get_mut("adjudicator").and_then(Value::as_object_mut) {
        change_case(adjudicator, "final_verdict", str::to_uppercase);
    }
    for round in ["round1", "round2"] {
        let seats = row.get_mut(round).and_then(Value::as_array_mut).into_iter().flatten();
        for seat in seats.filter_map(Value::as_object_mut) {
            change_case(seat, "verdict", str::to_lowercase);
            match seat.get("absent").and_then(Value::as_bool) {
                Some(true) => {
                    seat.entry("error_type").or_insert(CallErrorType::Unknown.name().into());
                }
                Some(false) => {
                    seat.shift_remove("absent");
                }
                None => {}
            }
        }
    }
    row
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn change_case(fields: &mut Map<String, Value>, key: &str, change: fn(&str) -> String) {
    if let Some(Value::String(text)) = fields.get_mut(key) {
        *text = change(text);
    }
}

/// Checks what the types do not express.
fn check_row(row: &LogRow) -> Result<(), RowParseError> {
    let seats = row.round1.iter().chain(&row.round2);
    let names = seats.clone().map(|seat| ("deliberator", seat.deliberator()));
    let concerns = seats.filter_map(|seat| seat.judgement()).flat_map(|one| &one.concerns);
    let issues = concerns.map(|concern| ("issue", concern.issue.as_str()));
    let texts = [("artifact", row.artifact.as_str()), ("artifact_type", &row.artifact_type)];
    for (name, text) in texts.into_iter().chain(names).chain(issues) {
        if text.trim().is_empty() {
            return Err(field_error(name, "is empty"));
        }
    }
    if row.adjudicator.final_verdict == ReviewVerdict::Skipped {
        return Err(field_error("adjudicator.final_verdict", "is SKIPPED, which is not logged"));
    }
    if row.artifact_type.chars().count() > LINE_CHARS_MAX {
        return Err(field_error("artifact_type", &format!("is over {LINE_CHARS_MAX} characters")));
    }
    let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    if !row.artifact_sha256.as_ref().is_none_or(is_hash) {
        return Err(field_error("artifact_sha256", "must be 64 hexadecimal digits"));
    }
    let is_plain = |id: &String| {
        (1..=VERDICT_ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic())
    };
    if !row.verdict_id.as_ref().is_none_or(is_plain) {
        let limit = format!("must be 1 to {VERDICT_ID_CHARS_MAX} visible ASCII characters");
        return Err(field_error("verdict_id", &limit));
    }
    Ok(())
}

/// Returns true if `kept` contains everything in `written`, in any spelling.
fn covers_value(kept: &Value, written: &Value) -> bool {
    match (kept, written) {
        (Value::Object(kept), Value::Object(written)) => written.iter().all(|(key, value)| {
            kept.get(key).map_or_else(|| is_default(value), |kept| covers_value(kept, value))
        }),
        (Value::Array(kept), Value::Array(written)) => {
            kept.len() == written.len()
                && kept.iter().zip(written).all(|(kept, written)| covers_value(kept, written))
        }
        (kept, written) => {
            ![kept, written].iter().any(|value| value.is_object() || value.is_array())
        }
    }
}

/// Returns true for a value that means the same as a missing field.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

#[cfg(test)]
#[path = "imported_row_tests.rs"]
mod tests;
