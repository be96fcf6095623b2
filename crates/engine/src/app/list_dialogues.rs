//! [`list_dialogues`]: one page of dialogues with their state and cost.

use plenary_core::dialogue::diagnostics::{RequestWarning, dialogue_not_found};
use plenary_core::dialogue::request::OperationRequest;
use plenary_core::model::dialogue::{DialogueStatus, ProtocolKind};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::limits::{LINE_CHARS_MAX, PAGE_ITEMS_MAX};
use plenary_core::model::queries::{DialogueQuery, DialogueSummary, RecordState, RunTotals};
use plenary_core::model::run_state::RunStopReason;
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::time::{Moment, SinceTime};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::classification::protocol::CLASSIFICATION;
use plenary_core::report::run_metrics::cost_usd;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::dialogue_ids::{read_resolved, short_id};
use crate::app::project::Project;
use crate::app::run_status::{RunStatus, stopped_status};
use crate::engine::process_lock::is_held;
use crate::engine::run_start::load_run_state;
use crate::error::Error;

/// A screenful.
const PAGE_DEFAULT: usize = 50;

/// Dialogues that are read at once while a filter by state looks for a page.
const SEARCH_PAGE: usize = 200;

/// Protocols that have dialogues of their own.
pub const LISTED_PROTOCOLS: &[ProtocolKind] =
    &[ProtocolKind::Alignment, ProtocolKind::Council, ProtocolKind::Review, CLASSIFICATION];

fn protocol_schema(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = LISTED_PROTOCOLS.iter().map(|protocol| protocol.name()).collect();
    json_schema!({ "type": "string", "enum": names })
}

/// Arguments of `list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-also-known" = ["op"]))]
pub struct ListRequest {
    /// list.
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<DialogueStatus>")]
    status: Option<DialogueStatus>,
    /// list.
    #[serde(default)]
    #[schemars(schema_with = "protocol_schema")]
    protocol: Option<ProtocolKind>,
    /// list.
    #[serde(default)]
    #[schemars(schema_with = "word_schema::<RecordState>")]
    state: Option<RecordState>,
    /// list: a day (2026-01-01) or a time (24h, 30d).
    #[schemars(length(max = LINE_CHARS_MAX))]
    since: Option<String>,
    /// list: a part of the title or question.
    #[schemars(length(max = LINE_CHARS_MAX))]
    grep: Option<String>,
    #[schemars(range(min = 1, max = PAGE_ITEMS_MAX))]
    limit: Option<usize>,
    /// list: `next` of the last page.
    #[schemars(length(max = LINE_CHARS_MAX))]
    after: Option<String>,
}

impl OperationRequest for ListRequest {}

#[derive(Debug, Serialize)]
pub struct ListResult {
    pub status: &'static str,
    pub dialogues: Vec<ListedDialogue>,
    /// Pass this as `after` to get the next page.
    pub next: Option<DialogueId>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RequestWarning>,
}

/// A dialogue with what a list says about its runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedDialogue {
    #[serde(flatten)]
    pub summary: DialogueSummary,
    pub short_id: String,
    pub state: RecordState,
    /// `None` if no call has a known cost.
    pub cost_usd: Option<f64>,
}

pub fn list_dialogues(project: &Project, arguments: &Value) -> Result<ListResult, Error> {
    let (request, warnings) = read_resolved::<ListRequest>(project, arguments)?;
    let (wanted, limit) = (request.state, request.limit.unwrap_or(PAGE_DEFAULT));
    let mut query = to_query(project, request)?;
    // One more than asked for tells whether there is a next page.
    query.limit = if wanted.is_some() { SEARCH_PAGE } else { limit + 1 };
    let mut dialogues = Vec::new();
    loop {
        let page = project.store.list_dialogues(&query)?;
        let is_last = page.len() < query.limit;
        query.after = page.last().map(|last| last.dialogue_id.clone());
        for summary in page {
            let listed = describe_dialogue(project, summary)?;
            if wanted.is_none_or(|state| state == listed.state) && dialogues.len() <= limit {
                dialogues.push(listed);
            }
        }
        if is_last || dialogues.len() > limit {
            break;
        }
    }
    let more = dialogues.len() > limit;
    dialogues.truncate(limit);
    let next = dialogues.last().filter(|_| more).map(|last| last.summary.dialogue_id.clone());
    Ok(ListResult { status: "success", dialogues, next, warnings })
}

fn to_query(project: &Project, request: ListRequest) -> Result<DialogueQuery, Error> {
    let ListRequest { status, protocol, since, grep, after, .. } = request;
    let since = since.map(|text| parse_since(project, &text)).transpose()?;
    let query = DialogueQuery {
        status,
        protocol,
        since,
        grep,
        limit: 0,
        after: after.as_deref().and_then(|id| id.parse().ok()),
        only: None,
    };
    if let Some(after) = after {
        let known = match &query.after {
            Some(id) => project.store.load_dialogue(id)?.is_some(),
            None => false,
        };
        if !known {
            let field = Some("after".to_owned());
            return Err(ValidationError { field, ..dialogue_not_found(&after) }.into());
        }
    }
    Ok(query)
}

fn parse_since(project: &Project, text: &str) -> Result<Moment, ValidationError> {
    let since: SinceTime = text.parse().map_err(|_| {
        ValidationError::new(
            ErrorCode::InvalidType,
            format!("'{text}' is neither a day nor a time"),
        )
        .with_field("since")
        .with_value(text)
        .with_suggestion("write a day such as 2026-01-01, or a time such as 24h or 30d")
    })?;
    Ok(since.start_moment(project.ambient.now()))
}

fn describe_dialogue(project: &Project, summary: DialogueSummary) -> Result<ListedDialogue, Error> {
    let id = &summary.dialogue_id;
    let facts = project.store.load_run_facts(id)?;
    let cost_usd = match facts.has_restatements {
        true => cost_usd(&load_run_state(&project.protocols, project.store.as_ref(), id)?),
        false => facts.usd_micros.map(|micros| micros as f64 / 1e6),
    };
    Ok(ListedDialogue {
        short_id: short_id(project.store.as_ref(), id)?,
        state: dialogue_state(project, &summary, &facts)?,
        cost_usd,
        summary,
    })
}

fn dialogue_state(
    project: &Project,
    summary: &DialogueSummary,
    facts: &RunTotals,
) -> Result<RecordState, Error> {
    if summary.status == DialogueStatus::Abandoned {
        return Ok(RecordState::Abandoned);
    }
    Ok(match &facts.last_event {
        Some(JournalEvent::RunStarted { owner }) => {
            match is_held(project.folders.store_file(), owner) {
                true => RecordState::Running,
                false => RecordState::Interrupted,
            }
        }
        Some(JournalEvent::RunStopped(RunStopReason::Done)) => RecordState::Done,
        // Only the whole run tells whether a seat answered.
        Some(_) => {
            let run =
                load_run_state(&project.protocols, project.store.as_ref(), &summary.dialogue_id)?;
            match stopped_status(&run) {
                RunStatus::Running => RecordState::Running,
                RunStatus::Open => RecordState::Open,
                RunStatus::Done => RecordState::Done,
                RunStatus::Incomplete => RecordState::Incomplete,
                RunStatus::Failed => RecordState::Failed,
                RunStatus::Interrupted => RecordState::Interrupted,
            }
        }
        None => match summary.status {
            DialogueStatus::Converged => RecordState::Done,
            DialogueStatus::Open | DialogueStatus::Converging => RecordState::Open,
            DialogueStatus::Abandoned => RecordState::Abandoned,
        },
    })
}
