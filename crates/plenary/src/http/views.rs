//! Views of a record that follow from its journal: entities, graph, tensions, provenance, exports;
//! and what the whole store has: statistics, and conclusions that are due.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use plenary_core::dialogue::diagnostics::target_not_found;
use plenary_core::model::time::DayCount;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::graph::{EntitiesAnswer, graph_document, tension_board};
use plenary_core::report::provenance::ProvenanceTarget;
use plenary_core::report::scoreboard::record_scoreboard;
use plenary_engine::app::checks::{AuditFilter, audit_verdicts, list_due};
use plenary_engine::app::export_record::{Format, RecordSources, print_record, round_not_found};
use plenary_engine::app::queries::count_records;
use plenary_engine::error::to_json_text;
use serde_json::{Map, Value, json};

use crate::http::answer::{ApiProblem, EntityTag, json_answer};
use crate::http::dialogues::answer_view;
use crate::http::router::{ApiState, parse_dialogue, query_pairs};

pub(crate) async fn show_entities(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    answer_view(&state, request.headers(), id, |_, record| {
        to_json_text(&EntitiesAnswer::from_record(record))
    })
    .await
}

pub(crate) async fn show_graph(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    answer_view(&state, request.headers(), id, |_, record| to_json_text(&graph_document(record)))
        .await
}

/// Null for a dialogue that no Judge leads.
pub(crate) async fn show_scoreboard(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    answer_view(&state, request.headers(), id, |_, record| to_json_text(&record_scoreboard(record)))
        .await
}

/// The board as it is, or as it was after `round`.
pub(crate) async fn show_tensions(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    let wanted = query_pairs(&request).into_iter().find(|(name, _)| name == "round");
    let round = wanted.map(|(_, value)| read_round(&value)).transpose()?;
    answer_view(&state, request.headers(), id, move |_, record| {
        if let Some(round) = round
            && record.rounds.iter().all(|held| held.round != round)
        {
            return Err(round_not_found(record, round).into());
        }
        to_json_text(&tension_board(record.clone(), round))
    })
    .await
}

fn read_round(value: &str) -> Result<u8, ValidationError> {
    value.parse().map_err(|_| {
        ValidationError::new(ErrorCode::InvalidRound, "'round' must be a number from 0 to 99")
            .with_field("round")
            .with_value(value)
    })
}

pub(crate) async fn show_provenance(
    State(state): State<Arc<ApiState>>,
    Path((id, target)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    answer_view(&state, request.headers(), id, move |project, record| {
        let id = record.dialogue.id();
        let sources = RecordSources::load(project, id)?;
        let found = ProvenanceTarget::parse(&target).zip(sources);
        let found = found.and_then(|(target, sources)| sources.find(&target));
        let found = found.ok_or_else(|| target_not_found(&target, id))?;
        to_json_text(&found)
    })
    .await
    .map_err(ApiProblem::for_address)
}

/// The export as JSON, Markdown or HTML: `?format=html&full=true`.
pub(crate) async fn show_export(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    let mut arguments = Map::from_iter([("dialogue_id".to_owned(), json!(id))]);
    for (name, value) in query_pairs(&request) {
        let _ = match name.as_str() {
            "format" => arguments.insert(name, value.into()),
            "full" => arguments.insert(name, (value == "true").into()),
            _ => None,
        };
    }
    let arguments = Value::Object(arguments);
    let (head, printed) = state
        .read(move |_, project| {
            let printed = print_record(project, &arguments)?;
            Ok((project.store.load_head(Some(&id))?, printed))
        })
        .await?;
    let (kind, name) = match printed.format {
        Format::Json => ("application/json", "dialogue.json"),
        Format::Markdown => ("text/markdown; charset=utf-8", "dialogue.md"),
        Format::Html => ("text/html; charset=utf-8", "dialogue.html"),
    };
    // The file is for keeping: the browser must not show another page under our address.
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok(EntityTag::new(&head.hash, name).mark((headers, printed.text).into_response()))
}

pub(crate) async fn show_stats(State(state): State<Arc<ApiState>>) -> Result<Response, ApiProblem> {
    json_answer(&state.read(|_, project| count_records(project, &json!({}))).await?)
}

/// Statistics of the verdict log, as `plenary audit` prints them.
pub(crate) async fn show_audit(State(state): State<Arc<ApiState>>) -> Result<Response, ApiProblem> {
    let wish = AuditFilter::default();
    json_answer(&state.read(move |_, project| audit_verdicts(project, wish)).await?)
}

/// Conclusions to revisit: `?within=30d` lists those that are due soon, too.
pub(crate) async fn show_due(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let wanted = query_pairs(&request).into_iter().find(|(name, _)| name == "within");
    let within: DayCount = match wanted {
        None => DayCount::default(),
        Some((_, value)) => value.parse().map_err(|_| {
            ValidationError::new(ErrorCode::InvalidType, "'within' must be a time such as 30d")
                .with_field("within")
                .with_value(value)
        })?,
    };
    json_answer(&state.read(move |_, project| list_due(project, within)).await?)
}
