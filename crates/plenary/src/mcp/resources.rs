//! MCP resources: the record of a dialogue as JSON, its transcript as Markdown, its conclusion.

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::dialogue::request_fields::truncate_echo;
use plenary_core::markers::skills::EXPERT_SKILL;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::protocol::{MissingConclusion, Protocol};
use plenary_engine::app::dialogue_ids::resolve_id;
use plenary_engine::app::dialogues::JUDGE_PROTOCOL;
use plenary_engine::app::export_record::print_record;
use plenary_engine::app::list_dialogues::{ListResult, ListedDialogue, list_dialogues};
use plenary_engine::app::project::Project;
use plenary_engine::app::run_server::RunServer;
use plenary_engine::engine::run_start::load_run_state;
use plenary_engine::error::{Error, ErrorKind, to_json_text};
use rmcp::model::{
    ErrorData, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, Prompt, PromptMessage, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, Role,
};
use serde_json::{Value, json};

const DIALOGUES: &str = "plenary://dialogues/";
const JSON_TYPE: &str = "application/json";
const MARKDOWN_TYPE: &str = "text/markdown";

/// Which resource of a dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResourceKind {
    Record,
    Transcript,
    Conclusion,
}

/// Lists dialogues page by page, newest first.
pub(crate) fn list_resources(
    run_server: &RunServer,
    after: Option<&str>,
) -> Result<ListResourcesResult, Error> {
    let arguments = json!({ "op": "list", "after": after });
    let listed = list_dialogues(run_server.open_project()?.as_ref(), &arguments);
    // Only the cursor can name a missing dialogue.
    let ListResult { dialogues, next, .. } = listed.map_err(|error| {
        if error.kind() == ErrorKind::NotFound { cursor_error().into() } else { error }
    })?;
    let resource = |listed: ListedDialogue| {
        let summary = listed.summary;
        let uri = format!("{DIALOGUES}{}", summary.dialogue_id);
        let rehearsal = if summary.rehearsal { "REHEARSAL, " } else { "" };
        let about = format!("{rehearsal}{}, {}", summary.protocol, summary.status);
        Resource::new(uri, summary.dialogue_id.as_str())
            .with_title(summary.title)
            .with_description(about)
            .with_mime_type(JSON_TYPE)
    };
    let resources = dialogues.into_iter().map(resource).collect();
    let next_cursor = next.map(|id| id.as_str().to_owned());
    Ok(ListResourcesResult { resources, next_cursor, ..ListResourcesResult::default() })
}

pub(crate) fn list_templates() -> ListResourceTemplatesResult {
    let template = |tail: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{DIALOGUES}{{id}}{tail}"), name)
            .with_description(about)
            .with_mime_type(kind)
    };
    let resource_templates = vec![
        template("", "record", "The whole record as JSON, with ids and history", JSON_TYPE),
        template("/transcript", "transcript", "The record as Markdown", MARKDOWN_TYPE),
        template(
            "/conclusion",
            "conclusion",
            "The conclusion and its audit, or the verdict",
            JSON_TYPE,
        ),
    ];
    ListResourceTemplatesResult { resource_templates, ..ListResourceTemplatesResult::default() }
}

pub(crate) fn read_resource(
    run_server: &RunServer,
    uri: &str,
) -> Result<ReadResourceResult, Error> {
    let (id, part) = parse_uri(uri)?;
    let project = run_server.open_project()?;
    let (mime_type, text) = match part {
        ResourceKind::Record => (JSON_TYPE, export_record(&project, id, "json")?),
        ResourceKind::Transcript => (MARKDOWN_TYPE, export_record(&project, id, "markdown")?),
        ResourceKind::Conclusion => (JSON_TYPE, conclusion_text(&project, id)?),
    };
    let contents = ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text,
        meta: None,
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn export_record(project: &Project, id: &str, format: &str) -> Result<String, Error> {
    let arguments = json!({ "dialogue_id": id, "format": format });
    Ok(print_record(project, &arguments)?.text)
}

/// The result of a dialogue: a review's whole document, a council's without its rounds.
fn conclusion_text(project: &Project, id: &str) -> Result<String, Error> {
    let id = resolve_id(project.store.as_ref(), id)?;
    let dialogue =
        project.store.load_dialogue(&id)?.ok_or_else(|| dialogue_not_found(id.as_str()))?;
    let protocol = project.protocols.find_protocol(dialogue.opening.protocol)?;
    let run = match load_run_state(&project.protocols, project.store.as_ref(), &id) {
        // There is no run: the dialogue is Judge-led, or its verdicts were imported.
        Err(Error::Refused(_)) => return verdict_document(project, &id, protocol),
        looked => looked?,
    };
    match protocol.conclusion_document(&run).map_err(Error::Document)? {
        Some(document) => to_json_text(&document),
        None => Err(no_conclusion_error(&id, protocol).into()),
    }
}

/// The verdicts so far of a Judge-led dialogue.
fn verdict_document(
    project: &Project,
    id: &DialogueId,
    protocol: &dyn Protocol,
) -> Result<String, Error> {
    let record = export_record(project, id.as_str(), "json")?;
    let record: Value = serde_json::from_str(&record).map_err(Error::Document)?;
    let given = record.get("verdicts").filter(|given| **given != json!([]));
    let Some(given) = given else { return Err(no_conclusion_error(id, protocol).into()) };
    let status = record.get("status");
    to_json_text(&json!({ "dialogue_id": id, "status": status, "verdicts": given }))
}

fn parse_uri(uri: &str) -> Result<(&str, ResourceKind), ValidationError> {
    let unknown = || {
        let message = format!("unknown resource `{}`", truncate_echo(uri));
        let fault = ValidationError::new(ErrorCode::DialogueNotFound, message);
        fault.with_suggestion("use plenary://dialogues/{id}, …/transcript or …/conclusion")
    };
    let rest = uri.strip_prefix(DIALOGUES).ok_or_else(unknown)?;
    match rest.split_once('/') {
        None => Ok((rest, ResourceKind::Record)),
        Some((id, "transcript")) => Ok((id, ResourceKind::Transcript)),
        Some((id, "conclusion")) => Ok((id, ResourceKind::Conclusion)),
        Some(_) => Err(unknown()),
    }
}

fn cursor_error() -> ValidationError {
    let fault = ValidationError::new(ErrorCode::InvalidType, "the cursor is unknown");
    fault
        .with_field("cursor")
        .with_suggestion("send the nextCursor of the previous page, or omit the cursor")
}

/// The error for an existing dialogue without a conclusion.
fn no_conclusion_error(id: &DialogueId, protocol: &dyn Protocol) -> ValidationError {
    let MissingConclusion { lacks, suggestion } = protocol.missing_conclusion(id);
    ValidationError::new(ErrorCode::DialogueNotFound, format!("'{id}' has no {lacks}"))
        .with_field("dialogue_id")
        .with_value(id.as_str())
        .with_suggestion(suggestion)
}

/// Name, description and text.
type PromptPage = (&'static str, &'static str, &'static str);

fn prompt_pages() -> [PromptPage; 2] {
    let expert = EXPERT_SKILL.body_text();
    [
        ("judge_protocol", "How to lead an alignment dialogue as its Judge", JUDGE_PROTOCOL),
        ("alignment_expert", "How an expert writes, with markers, in a dialogue", expert),
    ]
}

pub(crate) fn list_prompts() -> ListPromptsResult {
    let prompts =
        prompt_pages().map(|(name, about, _)| Prompt::new(name, Some(about), None)).to_vec();
    ListPromptsResult { prompts, ..ListPromptsResult::default() }
}

pub(crate) fn get_prompt(name: &str) -> Result<GetPromptResult, ErrorData> {
    let Some((_, about, text)) = prompt_pages().into_iter().find(|(known, ..)| *known == name)
    else {
        let names = prompt_pages().map(|(name, ..)| name).join(", ");
        let message = format!("unknown prompt `{}`; known: {names}", truncate_echo(name));
        return Err(ErrorData::invalid_params(message, None));
    };
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(about.to_owned());
    Ok(result)
}
