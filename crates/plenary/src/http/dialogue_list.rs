//! `GET /api/dialogues`: a page of the list, with filters and full-text search.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::dialogue::similar::search_words;
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::hash::sha256_hex;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::limits::PAGE_ITEMS_MAX;
use plenary_core::model::queries::DialogueQuery;
use plenary_core::model::string_enum::StringEnum;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_engine::app::dialogue_rows::{DialogueRow, DialogueState, RunFactsCache};
use plenary_engine::app::project::Project;
use plenary_engine::error::Error;
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::answer::{ApiProblem, EntityTag, json_answer};
use crate::http::router::{ApiState, query_pairs};

/// Facts of runs that the list needs, kept between requests.
pub(crate) type ListFacts = RunFactsCache;

/// A screenful.
const PAGE_DEFAULT: usize = 50;

/// Rows that one request reads at most to find those of a state.
const SCANNED_ROWS_MAX: usize = 1_000;

/// Texts that a search reads.
const SEARCH_HITS_MAX: usize = 400;

/// Answer of `GET /api/dialogues`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DialogueListAnswer {
    pub dialogues: Vec<DialogueRow>,
    /// Pass this as `after` to get the next page.
    pub next: Option<DialogueId>,
}

/// The filters of a request.
#[derive(Debug, Default)]
struct ListFilters {
    state: Option<DialogueState>,
    protocol: Option<ProtocolKind>,
    words: Vec<String>,
    after: Option<DialogueId>,
    limit: usize,
}

pub(crate) async fn list_dialogues(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let filters = read_filters(query_pairs(&request))?;
    let (head, answer) = state
        .read(move |state, project| {
            let head = project.store.load_head(None)?;
            Ok((head, list_page(&state.list_facts, project, filters)?))
        })
        .await?;
    // A process may have ended since; that is not in the journal.
    let states: Vec<&str> = answer.dialogues.iter().map(|row| row.state.name()).collect();
    let states = sha256_hex([states.join(" ").as_bytes()]);
    let tag = EntityTag::new(&head.hash, states.get(..8).unwrap_or_default());
    match tag.unchanged(request.headers()) {
        Some(unchanged) => Ok(unchanged),
        None => Ok(tag.mark(json_answer(&answer)?)),
    }
}

fn read_filters(pairs: Vec<(String, String)>) -> Result<ListFilters, ValidationError> {
    let mut filters = ListFilters { limit: PAGE_DEFAULT, ..ListFilters::default() };
    for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
        match name.as_str() {
            "state" => filters.state = Some(read_word("state", &value)?),
            "protocol" => filters.protocol = Some(read_word("protocol", &value)?),
            "q" => filters.words = search_words(&value),
            "after" => {
                let id = value.parse().map_err(|_| dialogue_not_found(&value))?;
                filters.after = Some(id);
            }
            "limit" => filters.limit = read_limit(&value)?,
            _ => return Err(unknown_filter(&name)),
        }
    }
    Ok(filters)
}

fn read_word<W: StringEnum>(field: &str, value: &str) -> Result<W, ValidationError> {
    value.parse().map_err(|_| {
        let options = W::options();
        let message = format!("'{field}' must be one of {}", options.join(", "));
        ValidationError::new(ErrorCode::InvalidEnum, message)
            .with_field(field)
            .with_value(value)
            .with_options(options)
    })
}

fn read_limit(value: &str) -> Result<usize, ValidationError> {
    let limit = value.parse().ok().filter(|limit| (1..=PAGE_ITEMS_MAX).contains(limit));
    limit.ok_or_else(|| {
        let message = format!("'limit' must be a number from 1 to {PAGE_ITEMS_MAX}");
        ValidationError::new(ErrorCode::InvalidType, message).with_field("limit").with_value(value)
    })
}

fn unknown_filter(name: &str) -> ValidationError {
    ValidationError::new(ErrorCode::NotSupported, "this list has no such filter")
        .with_field(name)
        .with_options(["state", "protocol", "q", "after", "limit"])
        .with_suggestion("use state, protocol, q, after or limit")
}

/// Reads rows until the page is full.
fn list_page(
    facts: &RunFactsCache,
    project: &Project,
    filters: ListFilters,
) -> Result<DialogueListAnswer, Error> {
    if let Some(id) = &filters.after
        && project.store.load_dialogue(id)?.is_none()
    {
        return Err(dialogue_not_found(id.as_str()).with_field("after").into());
    }
    let only = match filters.words.is_empty() {
        true => None,
        false => {
            let hits = project.store.search_texts(&filters.words, SEARCH_HITS_MAX)?;
            Some(hits.into_iter().map(|hit| hit.dialogue_id).collect())
        }
    };
    let mut query = DialogueQuery {
        status: None,
        protocol: filters.protocol,
        // One more than asked for tells whether there is a next page.
        limit: filters.limit + 1,
        after: filters.after,
        only,
        ..DialogueQuery::default()
    };
    let (mut dialogues, mut scanned): (Vec<DialogueRow>, usize) = (Vec::new(), 0);
    loop {
        let rows = facts.list_rows(project, &query)?;
        let (read, is_last) = (rows.len(), rows.len() < query.limit);
        scanned += read;
        query.after = rows.last().map(|row| row.dialogue_id.clone());
        let is_wanted = |row: &DialogueRow| filters.state.is_none_or(|state| row.state == state);
        dialogues.extend(rows.into_iter().filter(is_wanted));
        if dialogues.len() > filters.limit {
            dialogues.truncate(filters.limit);
            let next = dialogues.last().map(|row| row.dialogue_id.clone());
            return Ok(DialogueListAnswer { dialogues, next });
        }
        if is_last {
            return Ok(DialogueListAnswer { dialogues, next: None });
        }
        if scanned >= SCANNED_ROWS_MAX {
            return Ok(DialogueListAnswer { dialogues, next: query.after });
        }
    }
}
