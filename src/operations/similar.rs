//! `similar`: dialogues about something like this.

use serde::Serialize;
use serde_json::Value;

use super::arguments::read;
use super::list::read_limit;
use super::workspace::Workspace;
use crate::domain::limits::TEXT_CHARS_MAX;
use crate::error::Error;
use crate::record::Warning;
use crate::record::similar::{self as rules, CANDIDATES, Similar};

const RESULTS_DEFAULT: usize = 10;

#[derive(Debug, Serialize)]
pub struct Matched {
    pub status: &'static str,
    pub results: Vec<Similar>,
    /// Fields that nobody knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

pub fn similar(workspace: &Workspace, arguments: &Value) -> Result<Matched, Error> {
    let known = ["op", "query", "limit"];
    let ((query, limit), warnings) = read(arguments, &known, |fields, notes| {
        let limit = read_limit(fields, RESULTS_DEFAULT, notes);
        Some((fields.required_text("query", TEXT_CHARS_MAX, notes)?, limit))
    })?;
    let words = rules::words(&query);
    let hits = workspace.store.search(&words, CANDIDATES.max(limit))?;
    Ok(Matched { status: "success", results: rules::rank(&words, hits, limit), warnings })
}
