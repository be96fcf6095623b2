//! `GET /api/dialogues/{id}` and the views of one dialogue.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::record::DialogueRecord;
use plenary_core::report::call_rows::{CallDetail, CallsAnswer};
use plenary_core::report::calls::CallDocument;
use plenary_engine::app::dialogue_ids::resolve_id;
use plenary_engine::app::export_record::{
    call_not_found, read_calls, read_transcript, record_json,
};
use plenary_engine::app::project::Project;
use plenary_engine::error::{Error, to_json_text};

use crate::http::answer::{ApiProblem, EntityTag, json_text};
use crate::http::router::{ApiState, parse_dialogue};

/// Answers with a document of a run's calls. Whether a process works on the run is not in the
/// journal, so the tag says it.
async fn answer_calls(
    state: &Arc<ApiState>,
    headers: &HeaderMap,
    id: DialogueId,
    build: impl FnOnce(&DialogueId, &[CallDocument]) -> Result<String, Error> + Send + 'static,
) -> Result<Response, ApiProblem> {
    let (tag, text) = state
        .read(move |state, project| {
            let record = load_record(project, &id)?;
            let id = record.dialogue.id();
            let run = state.list_facts.find_state(project, id, record.dialogue.status)?;
            let text = build(id, &read_calls(project, id)?)?;
            Ok((EntityTag::new(&record.head, run.name()), text))
        })
        .await?;
    match tag.unchanged(headers) {
        Some(unchanged) => Ok(unchanged),
        None => Ok(tag.mark(json_text(StatusCode::OK, text)?)),
    }
}

/// Answers with a document that follows from the journal alone.
pub(crate) async fn answer_view(
    state: &Arc<ApiState>,
    headers: &HeaderMap,
    id: DialogueId,
    build: impl FnOnce(&Project, &DialogueRecord) -> Result<String, Error> + Send + 'static,
) -> Result<Response, ApiProblem> {
    let known = id.clone();
    let head = state.read(move |_, project| Ok(project.store.load_head(Some(&known))?)).await?;
    let tag = EntityTag::new(&head.hash, "");
    if let Some(unchanged) = tag.unchanged(headers).filter(|_| head.seq > 0) {
        return Ok(unchanged);
    }
    let (head, text) = state
        .read(move |_, project| {
            let record = load_record(project, &id)?;
            Ok((record.head.clone(), build(project, &record)?))
        })
        .await?;
    Ok(EntityTag::new(&head, "").mark(json_text(StatusCode::OK, text)?))
}

fn load_record(project: &Project, id: &DialogueId) -> Result<DialogueRecord, Error> {
    let id = resolve_id(project.store.as_ref(), id.as_str())?;
    project.store.load_record(&id)?.ok_or_else(|| dialogue_not_found(id.as_str()).into())
}

/// The export document, with the state of its run and the head of the journal.
pub(crate) async fn show_dialogue(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    let (tag, text) = state
        .read(move |state, project| {
            let record = load_record(project, &id)?;
            let id = record.dialogue.id();
            let run = state.list_facts.find_state(project, id, record.dialogue.status)?;
            let mut text = record_json(project, &record)?;
            // The document is an object; two members go in front of its end.
            text.truncate(text.trim_end().len().saturating_sub(1));
            text.push_str(&format!(
                ",\"state\":{},\"head\":{}}}",
                to_json_text(&run)?,
                to_json_text(&record.head)?
            ));
            Ok((EntityTag::new(&record.head, run.name()), text))
        })
        .await?;
    match tag.unchanged(request.headers()) {
        Some(unchanged) => Ok(unchanged),
        None => Ok(tag.mark(json_text(StatusCode::OK, text)?)),
    }
}

pub(crate) async fn show_transcript(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    answer_view(&state, request.headers(), id, |project, record| {
        to_json_text(&read_transcript(project, record)?)
    })
    .await
}

pub(crate) async fn show_calls(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    answer_calls(&state, request.headers(), id, |_, calls| {
        to_json_text(&CallsAnswer::from_calls(calls))
    })
    .await
}

pub(crate) async fn show_call(
    State(state): State<Arc<ApiState>>,
    Path((id, number)): Path<(String, String)>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let id = parse_dialogue(&id)?;
    answer_calls(&state, request.headers(), id, move |id, calls| {
        let known = number.parse().ok();
        let call = calls.iter().find(|call| Some(call.call) == known);
        let call = call.ok_or_else(|| call_not_found(id, number, calls.len()))?;
        to_json_text(&CallDetail::from_call(call))
    })
    .await
    .map_err(ApiProblem::for_address)
}
