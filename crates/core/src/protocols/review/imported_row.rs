//! Parses a verdict log line that another program wrote, in version 2 of the seed's format.
//!
//! The line may lack our additional fields and may have unknown ones, but each known field must
//! have its type; otherwise the line is rejected with a reason. No reason quotes the line, because
//! the line may contain secrets.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::model::ask::CallErrorType;
use crate::model::limits::{ARGUMENTS_DEPTH_MAX, LINE_CHARS_MAX};
use crate::model::strict_json::StrictJson;
use crate::model::string_enum::StringEnum;
use crate::model::time::Moment;
use crate::protocols::review::log_row::{AdjudicatorRow, LogRow, ROW_VERSION, SeatRow};
use crate::protocols::review::types::{DeliberatorJudgement, ReviewConcern, ReviewTier};

const STRICT_JSON: StrictJson = StrictJson {
    depth_max: ARGUMENTS_DEPTH_MAX,
    duplicate_key: |_| "a key is there twice".to_owned(),
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
        let value = STRICT_JSON
            .parse_json(line)
            .map_err(|error| RowParseError(describe_json_error(&error)))?;
        let Value::Object(map) = &value else {
            return Err(RowParseError("it is not a JSON object".to_owned()));
        };
        let row = parse_row(&RowObject { map, path: String::new() })?;
        let said = serde_json::to_value(&row).unwrap_or(Value::Null);
        Ok(Self { is_complete: covers_value(&said, &value), row })
    }
}

/// Describes the syntax error. A row is one line, so the column is enough.
fn describe_json_error(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let what = said.split(" at line ").next().unwrap_or_default();
    format!("it is not JSON: {what} at column {}", error.column())
}

fn parse_row(part: &RowObject<'_>) -> Result<LogRow, RowParseError> {
    let version = part.read_number("v")?;
    if version != Some(u64::from(ROW_VERSION)) {
        return Err(part.field_error("v", &format!("must be {ROW_VERSION}")));
    }
    let ts = part.require_text("ts")?;
    let ts: Moment = ts
        .parse()
        .map_err(|_| part.field_error("ts", "must be a moment such as 2026-05-18T10:00:00Z"))?;
    let adjudicator = part.require_object("adjudicator")?;
    Ok(LogRow {
        v: ROW_VERSION,
        ts,
        artifact: part.require_text("artifact")?.to_owned(),
        artifact_type: parse_artifact_type(part)?,
        round1: part.read_objects("round1", parse_seat)?,
        round2: part.read_objects("round2", parse_seat)?,
        adjudicator: parse_adjudicator(&adjudicator)?,
        artifact_sha256: parse_sha256(part)?,
        tier: parse_tier(part)?,
        producer: part.read_text("producer")?.map(str::to_owned),
        verdict_id: parse_verdict_id(part)?,
        rehearsal: part.read_flag("rehearsal")?,
        imported: part.read_flag("imported")?,
        policy: part.read_json("policy", "the arithmetic of a policy")?,
    })
}

fn parse_artifact_type(part: &RowObject<'_>) -> Result<String, RowParseError> {
    let name = part.require_text("artifact_type")?;
    if name.chars().count() > LINE_CHARS_MAX {
        return Err(
            part.field_error("artifact_type", &format!("is over {LINE_CHARS_MAX} characters"))
        );
    }
    Ok(name.to_owned())
}

fn parse_sha256(part: &RowObject<'_>) -> Result<Option<String>, RowParseError> {
    let Some(text) = part.read_text("artifact_sha256")? else { return Ok(None) };
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(part.field_error("artifact_sha256", "must be 64 hexadecimal digits"));
    }
    Ok(Some(text.to_ascii_lowercase()))
}

fn parse_tier(part: &RowObject<'_>) -> Result<Option<ReviewTier>, RowParseError> {
    let Some(number) = part.read_number("tier")? else { return Ok(None) };
    let tier = u8::try_from(number).ok().and_then(|number| ReviewTier::try_from(number).ok());
    tier.map(Some).ok_or_else(|| part.field_error("tier", "must be 1, 2 or 3"))
}

fn parse_verdict_id(part: &RowObject<'_>) -> Result<Option<String>, RowParseError> {
    let Some(id) = part.read_text("verdict_id")? else { return Ok(None) };
    let is_plain = id.chars().all(|letter| letter.is_ascii_graphic());
    if id.is_empty() || id.len() > VERDICT_ID_CHARS_MAX || !is_plain {
        let limit = format!("must be 1 to {VERDICT_ID_CHARS_MAX} visible ASCII characters");
        return Err(part.field_error("verdict_id", &limit));
    }
    Ok(Some(id.to_owned()))
}

fn parse_seat(part: &RowObject<'_>) -> Result<SeatRow, RowParseError> {
    let deliberator = part.require_text("deliberator")?.to_owned();
    if part.read_flag("absent")? {
        let error_type = part.read_enum("error_type")?.unwrap_or(CallErrorType::Unknown);
        return Ok(SeatRow::Absent { deliberator, absent: true, error_type });
    }
    Ok(SeatRow::Present {
        deliberator,
        judgement: DeliberatorJudgement {
            verdict: part.require_enum("verdict")?,
            scores: parse_scores(part)?,
            would_block: part.require_flag("would_block")?,
            irreducible: part.read_flag("irreducible")?,
            concerns: part.read_objects("concerns", parse_concern)?,
            revision_brief: part.text_or_empty("revision_brief")?,
            concessions: part.read_texts("concessions")?,
            escalations: part.read_texts("escalations")?,
            delta_from_r1: part.text_or_empty("delta_from_r1")?,
        },
        fallback: part.read_flag("fallback")?,
        uncited: part.read_flag("uncited")?,
    })
}

fn parse_scores(part: &RowObject<'_>) -> Result<BTreeMap<String, u8>, RowParseError> {
    if part.get("scores").is_none() {
        return Ok(BTreeMap::new());
    }
    let scores = part.require_object("scores")?;
    let read = |name: &String| {
        let score = scores.read_number(name)?.and_then(|number| u8::try_from(number).ok());
        let score =
            score.ok_or_else(|| scores.field_error(name, "must be a small whole number"))?;
        Ok((name.clone(), score))
    };
    scores.map.keys().map(read).collect()
}

fn parse_concern(part: &RowObject<'_>) -> Result<ReviewConcern, RowParseError> {
    Ok(ReviewConcern {
        locus: part.text_or_empty("locus")?,
        issue: part.require_text("issue")?.to_owned(),
        fix: part.text_or_empty("fix")?,
    })
}

fn parse_adjudicator(part: &RowObject<'_>) -> Result<AdjudicatorRow, RowParseError> {
    let consulted = part.read_number("prior_verdicts_consulted")?.unwrap_or(0);
    Ok(AdjudicatorRow {
        final_verdict: part.require_enum("final_verdict")?,
        reasoning: part.text_or_empty("reasoning")?,
        revision_brief: part.text_or_empty("revision_brief")?,
        applied_compounding: part.read_flag("applied_compounding")?,
        prior_verdicts_consulted: usize::try_from(consulted).unwrap_or(usize::MAX),
    })
}

/// An object within the line, with its path.
struct RowObject<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> RowObject<'a> {
    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn field_error(&self, key: &str, what: &str) -> RowParseError {
        RowParseError(format!("`{}` {what}", self.path_of(key)))
    }

    /// Returns the value; null counts as missing.
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn read_typed<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, RowParseError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let fault = || self.field_error(key, &format!("must be {expected}"));
        read(value).map(Some).ok_or_else(fault)
    }

    fn require_value<T>(&self, key: &str, read: Option<T>) -> Result<T, RowParseError> {
        read.ok_or_else(|| self.field_error(key, "is missing"))
    }

    fn read_text(&self, key: &str) -> Result<Option<&'a str>, RowParseError> {
        self.read_typed(key, "text", Value::as_str)
    }

    fn require_text(&self, key: &str) -> Result<&'a str, RowParseError> {
        let said = self.read_text(key)?.filter(|text| !text.trim().is_empty());
        self.require_value(key, said)
    }

    /// An optional text; empty if missing.
    fn text_or_empty(&self, key: &str) -> Result<String, RowParseError> {
        Ok(self.read_text(key)?.unwrap_or_default().to_owned())
    }

    fn read_flag(&self, key: &str) -> Result<bool, RowParseError> {
        Ok(self.read_typed(key, "true or false", Value::as_bool)?.unwrap_or(false))
    }

    fn require_flag(&self, key: &str) -> Result<bool, RowParseError> {
        let flag = self.read_typed(key, "true or false", Value::as_bool)?;
        self.require_value(key, flag)
    }

    fn read_number(&self, key: &str) -> Result<Option<u64>, RowParseError> {
        self.read_typed(key, "a whole number", Value::as_u64)
    }

    /// Parses a string enum, ignoring case.
    fn read_enum<W: StringEnum>(&self, key: &str) -> Result<Option<W>, RowParseError> {
        let read = |value: &Value| {
            let text = value.as_str()?;
            let spellings = [text.to_owned(), text.to_lowercase(), text.to_uppercase()];
            spellings.iter().find_map(|spelling| spelling.parse().ok())
        };
        self.read_typed(key, &format!("one of {}", W::options().join(", ")), read)
    }

    fn require_enum<W: StringEnum>(&self, key: &str) -> Result<W, RowParseError> {
        let word = self.read_enum(key)?;
        self.require_value(key, word)
    }

    fn require_object(&self, key: &str) -> Result<RowObject<'a>, RowParseError> {
        let map = self.read_typed(key, "an object", Value::as_object)?;
        Ok(RowObject { map: self.require_value(key, map)?, path: self.path_of(key) })
    }

    fn read_list(&self, key: &str) -> Result<&'a [Value], RowParseError> {
        let list = self.read_typed(key, "a list", Value::as_array)?;
        Ok(list.map_or(&[], Vec::as_slice))
    }

    fn read_objects<T>(
        &self,
        key: &str,
        read: impl Fn(&RowObject<'a>) -> Result<T, RowParseError>,
    ) -> Result<Vec<T>, RowParseError> {
        let item = |(place, value): (usize, &'a Value)| {
            let key = format!("{key}[{place}]");
            let map =
                value.as_object().ok_or_else(|| self.field_error(&key, "must be an object"))?;
            read(&RowObject { map, path: self.path_of(&key) })
        };
        self.read_list(key)?.iter().enumerate().map(item).collect()
    }

    fn read_texts(&self, key: &str) -> Result<Vec<String>, RowParseError> {
        let item = |(place, value): (usize, &Value)| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| self.field_error(&format!("{key}[{place}]"), "must be text"))
        };
        self.read_list(key)?.iter().enumerate().map(item).collect()
    }

    /// Deserialises a value that only this program writes.
    fn read_json<T: serde::de::DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<T>, RowParseError> {
        self.read_typed(key, expected, |value| serde_json::from_value(value.clone()).ok())
    }
}

/// Returns true if `said` contains everything in `line`, in any spelling.
fn covers_value(said: &Value, line: &Value) -> bool {
    match (said, line) {
        (Value::Object(said), Value::Object(line)) => line.iter().all(|(key, value)| {
            let is_default = value.is_null() || value == &Value::Bool(false);
            said.get(key)
                .map_or(is_default || is_empty_value(value), |said| covers_value(said, value))
        }),
        (Value::Array(said), Value::Array(line)) => {
            said.len() == line.len()
                && said.iter().zip(line).all(|(said, line)| covers_value(said, line))
        }
        (said, line) => {
            !said.is_object() && !said.is_array() && !line.is_object() && !line.is_array()
        }
    }
}

fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
#[path = "imported_row_tests.rs"]
mod tests;
