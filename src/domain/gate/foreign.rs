//! Parses a verdict log line that another program wrote, in version 2 of the seed's format.
//!
//! The line may lack our additional fields and may have unknown ones, but each known field must
//! have its type; otherwise the line is rejected with a reason. No reason quotes the line, because
//! the line may contain secrets.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::artifact::Tier;
use super::judgement::{Concern, Judgement};
use super::row::{AdjudicatorRow, LogRow, ROW_VERSION, SeatRow};
use crate::domain::ask::ErrorType;
use crate::domain::limits::{ARGUMENTS_DEPTH_MAX, LINE_CHARS_MAX};
use crate::domain::strict_json::Strict;
use crate::domain::time::Moment;
use crate::domain::words::Word;

const STRICT: Strict = Strict {
    depth_max: ARGUMENTS_DEPTH_MAX,
    key_twice: |_| "a key is there twice".to_owned(),
    too_deep: || format!("it is nested over {ARGUMENTS_DEPTH_MAX} levels deep"),
};

/// Fits a dialogue id, a slash and a number, with spare characters.
const VERDICT_ID_CHARS_MAX: usize = 200;

/// A row that another program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignRow {
    pub row: LogRow,
    /// True if the line contains nothing that the row lacks.
    pub is_whole: bool,
}

/// Why a line is not a valid row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotARow(String);

impl fmt::Display for NotARow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ForeignRow {
    pub fn read(line: &str) -> Result<Self, NotARow> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let value = STRICT.read(line).map_err(|error| NotARow(not_json(&error)))?;
        let Value::Object(map) = &value else {
            return Err(NotARow("it is not a JSON object".to_owned()));
        };
        let row = row(&Part { map, path: String::new() })?;
        let said = serde_json::to_value(&row).unwrap_or(Value::Null);
        Ok(Self { is_whole: covers(&said, &value), row })
    }
}

/// Describes the syntax error. A row is one line, so the column is enough.
fn not_json(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let what = said.split(" at line ").next().unwrap_or_default();
    format!("it is not JSON: {what} at column {}", error.column())
}

fn row(part: &Part<'_>) -> Result<LogRow, NotARow> {
    let version = part.number("v")?;
    if version != Some(u64::from(ROW_VERSION)) {
        return Err(part.fault("v", &format!("must be {ROW_VERSION}")));
    }
    let ts = part.required_text("ts")?;
    let ts: Moment = ts
        .parse()
        .map_err(|_| part.fault("ts", "must be a moment such as 2026-05-18T10:00:00Z"))?;
    let adjudicator = part.object("adjudicator")?;
    Ok(LogRow {
        v: ROW_VERSION,
        ts,
        artifact: part.required_text("artifact")?.to_owned(),
        artifact_type: artifact_type(part)?,
        round1: part.objects("round1", seat)?,
        round2: part.objects("round2", seat)?,
        adjudicator: self::adjudicator(&adjudicator)?,
        artifact_sha256: sha256(part)?,
        tier: tier(part)?,
        producer: part.text("producer")?.map(str::to_owned),
        verdict_id: verdict_id(part)?,
        rehearsal: part.flag("rehearsal")?,
        imported: part.flag("imported")?,
        policy: part.read("policy", "the arithmetic of a policy")?,
    })
}

fn artifact_type(part: &Part<'_>) -> Result<String, NotARow> {
    let name = part.required_text("artifact_type")?;
    if name.chars().count() > LINE_CHARS_MAX {
        return Err(part.fault("artifact_type", &format!("is over {LINE_CHARS_MAX} characters")));
    }
    Ok(name.to_owned())
}

fn sha256(part: &Part<'_>) -> Result<Option<String>, NotARow> {
    let Some(text) = part.text("artifact_sha256")? else { return Ok(None) };
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(part.fault("artifact_sha256", "must be 64 hexadecimal digits"));
    }
    Ok(Some(text.to_ascii_lowercase()))
}

fn tier(part: &Part<'_>) -> Result<Option<Tier>, NotARow> {
    let Some(number) = part.number("tier")? else { return Ok(None) };
    let tier = u8::try_from(number).ok().and_then(|number| Tier::try_from(number).ok());
    tier.map(Some).ok_or_else(|| part.fault("tier", "must be 1, 2 or 3"))
}

fn verdict_id(part: &Part<'_>) -> Result<Option<String>, NotARow> {
    let Some(id) = part.text("verdict_id")? else { return Ok(None) };
    let is_plain = id.chars().all(|letter| letter.is_ascii_graphic());
    if id.is_empty() || id.len() > VERDICT_ID_CHARS_MAX || !is_plain {
        let limit = format!("must be 1 to {VERDICT_ID_CHARS_MAX} visible ASCII characters");
        return Err(part.fault("verdict_id", &limit));
    }
    Ok(Some(id.to_owned()))
}

fn seat(part: &Part<'_>) -> Result<SeatRow, NotARow> {
    let deliberator = part.required_text("deliberator")?.to_owned();
    if part.flag("absent")? {
        let error_type = part.word("error_type")?.unwrap_or(ErrorType::Unknown);
        return Ok(SeatRow::Absent { deliberator, absent: true, error_type });
    }
    Ok(SeatRow::Present {
        deliberator,
        judgement: Judgement {
            verdict: part.required_word("verdict")?,
            scores: scores(part)?,
            would_block: part.required_flag("would_block")?,
            irreducible: part.flag("irreducible")?,
            concerns: part.objects("concerns", concern)?,
            revision_brief: part.plain("revision_brief")?,
            concessions: part.texts("concessions")?,
            escalations: part.texts("escalations")?,
            delta_from_r1: part.plain("delta_from_r1")?,
        },
        fallback: part.flag("fallback")?,
        uncited: part.flag("uncited")?,
    })
}

fn scores(part: &Part<'_>) -> Result<BTreeMap<String, u8>, NotARow> {
    if part.get("scores").is_none() {
        return Ok(BTreeMap::new());
    }
    let scores = part.object("scores")?;
    let read = |name: &String| {
        let score = scores.number(name)?.and_then(|number| u8::try_from(number).ok());
        let score = score.ok_or_else(|| scores.fault(name, "must be a small whole number"))?;
        Ok((name.clone(), score))
    };
    scores.map.keys().map(read).collect()
}

fn concern(part: &Part<'_>) -> Result<Concern, NotARow> {
    Ok(Concern {
        locus: part.plain("locus")?,
        issue: part.required_text("issue")?.to_owned(),
        fix: part.plain("fix")?,
    })
}

fn adjudicator(part: &Part<'_>) -> Result<AdjudicatorRow, NotARow> {
    let consulted = part.number("prior_verdicts_consulted")?.unwrap_or(0);
    Ok(AdjudicatorRow {
        final_verdict: part.required_word("final_verdict")?,
        reasoning: part.plain("reasoning")?,
        revision_brief: part.plain("revision_brief")?,
        applied_compounding: part.flag("applied_compounding")?,
        prior_verdicts_consulted: usize::try_from(consulted).unwrap_or(usize::MAX),
    })
}

/// An object within the line, with its path.
struct Part<'a> {
    map: &'a Map<String, Value>,
    path: String,
}

impl<'a> Part<'a> {
    fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn fault(&self, key: &str, what: &str) -> NotARow {
        NotARow(format!("`{}` {what}", self.at(key)))
    }

    /// Returns the value; null counts as missing.
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, NotARow> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let fault = || self.fault(key, &format!("must be {expected}"));
        read(value).map(Some).ok_or_else(fault)
    }

    fn required<T>(&self, key: &str, read: Option<T>) -> Result<T, NotARow> {
        read.ok_or_else(|| self.fault(key, "is missing"))
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, NotARow> {
        self.typed(key, "text", Value::as_str)
    }

    fn required_text(&self, key: &str) -> Result<&'a str, NotARow> {
        let said = self.text(key)?.filter(|text| !text.trim().is_empty());
        self.required(key, said)
    }

    /// An optional text; empty if missing.
    fn plain(&self, key: &str) -> Result<String, NotARow> {
        Ok(self.text(key)?.unwrap_or_default().to_owned())
    }

    fn flag(&self, key: &str) -> Result<bool, NotARow> {
        Ok(self.typed(key, "true or false", Value::as_bool)?.unwrap_or(false))
    }

    fn required_flag(&self, key: &str) -> Result<bool, NotARow> {
        let flag = self.typed(key, "true or false", Value::as_bool)?;
        self.required(key, flag)
    }

    fn number(&self, key: &str) -> Result<Option<u64>, NotARow> {
        self.typed(key, "a whole number", Value::as_u64)
    }

    /// Parses a string enum, ignoring case.
    fn word<W: Word>(&self, key: &str) -> Result<Option<W>, NotARow> {
        let read = |value: &Value| {
            let text = value.as_str()?;
            let spellings = [text.to_owned(), text.to_lowercase(), text.to_uppercase()];
            spellings.iter().find_map(|spelling| spelling.parse().ok())
        };
        self.typed(key, &format!("one of {}", W::options().join(", ")), read)
    }

    fn required_word<W: Word>(&self, key: &str) -> Result<W, NotARow> {
        let word = self.word(key)?;
        self.required(key, word)
    }

    fn object(&self, key: &str) -> Result<Part<'a>, NotARow> {
        let map = self.typed(key, "an object", Value::as_object)?;
        Ok(Part { map: self.required(key, map)?, path: self.at(key) })
    }

    fn list(&self, key: &str) -> Result<&'a [Value], NotARow> {
        let list = self.typed(key, "a list", Value::as_array)?;
        Ok(list.map_or(&[], Vec::as_slice))
    }

    fn objects<T>(
        &self,
        key: &str,
        read: impl Fn(&Part<'a>) -> Result<T, NotARow>,
    ) -> Result<Vec<T>, NotARow> {
        let item = |(place, value): (usize, &'a Value)| {
            let key = format!("{key}[{place}]");
            let map = value.as_object().ok_or_else(|| self.fault(&key, "must be an object"))?;
            read(&Part { map, path: self.at(&key) })
        };
        self.list(key)?.iter().enumerate().map(item).collect()
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, NotARow> {
        let item = |(place, value): (usize, &Value)| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| self.fault(&format!("{key}[{place}]"), "must be text"))
        };
        self.list(key)?.iter().enumerate().map(item).collect()
    }

    /// Deserialises a value that only this program writes.
    fn read<T: serde::de::DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<Option<T>, NotARow> {
        self.typed(key, expected, |value| serde_json::from_value(value.clone()).ok())
    }
}

/// Returns true if `said` contains everything in `line`, in any spelling.
fn covers(said: &Value, line: &Value) -> bool {
    match (said, line) {
        (Value::Object(said), Value::Object(line)) => line.iter().all(|(key, value)| {
            let is_default = value.is_null() || value == &Value::Bool(false);
            said.get(key).map_or(is_default || is_empty(value), |said| covers(said, value))
        }),
        (Value::Array(said), Value::Array(line)) => {
            said.len() == line.len() && said.iter().zip(line).all(|(said, line)| covers(said, line))
        }
        (said, line) => {
            !said.is_object() && !said.is_array() && !line.is_object() && !line.is_array()
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
