//! MCP resources: the record of a dialogue as JSON, its transcript as Markdown, its conclusion.

use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use crate::domain::catalogue::Summary;
use crate::domain::ids::DialogueId;
use crate::domain::refusal::{Code, Fault};
use crate::engine::load_run_state;
use crate::error::{Error, Kind, document_text};
use crate::hosting::RunServer;
use crate::operations::{self, Listed, Project};
use crate::protocols::{MissingConclusion, Protocol};
use crate::record::{cut, no_dialogue};

const DIALOGUES: &str = "plenary://dialogues/";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// Which resource of a dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Record,
    Transcript,
    Conclusion,
}

/// Lists dialogues page by page, newest first.
pub(super) fn list(
    run_server: &RunServer,
    after: Option<&str>,
) -> Result<ListResourcesResult, Error> {
    let arguments = json!({ "op": "list", "after": after });
    let listed = operations::list(run_server.open_project()?.as_ref(), &arguments);
    let Listed { dialogues, next, .. } = listed.map_err(|error| match error.kind() {
        // Only the cursor can name a missing dialogue.
        Kind::NotFound => bad_cursor().into(),
        Kind::Refused
        | Kind::Incomplete
        | Kind::Configuration
        | Kind::Usage
        | Kind::Internal
        | Kind::Interrupted => error,
    })?;
    let resource = |summary: Summary| {
        let uri = format!("{DIALOGUES}{}", summary.dialogue_id);
        let about = format!("{}, {}", summary.protocol, summary.status);
        Resource::new(uri, summary.dialogue_id.as_str())
            .with_title(summary.title)
            .with_description(about)
            .with_mime_type(JSON)
    };
    let resources = dialogues.into_iter().map(resource).collect();
    let next_cursor = next.map(|id| id.as_str().to_owned());
    Ok(ListResourcesResult { resources, next_cursor, ..ListResourcesResult::default() })
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = |tail: &str, name: &str, about: &str, kind: &str| {
        ResourceTemplate::new(format!("{DIALOGUES}{{id}}{tail}"), name)
            .with_description(about)
            .with_mime_type(kind)
    };
    let resource_templates = vec![
        template("", "record", "Everything that was said, with ids and history", JSON),
        template("/transcript", "transcript", "The same for people to read", MARKDOWN),
        template("/conclusion", "conclusion", "How it ended, and what the auditor said", JSON),
    ];
    ListResourceTemplatesResult { resource_templates, ..ListResourceTemplatesResult::default() }
}

pub(super) fn read(run_server: &RunServer, uri: &str) -> Result<ReadResourceResult, Error> {
    let (id, part) = address(uri)?;
    let project = run_server.open_project()?;
    let (mime_type, text) = match part {
        Part::Record => (JSON, exported(&project, id, "json")?),
        Part::Transcript => (MARKDOWN, exported(&project, id, "markdown")?),
        Part::Conclusion => (JSON, conclusion(&project, id)?),
    };
    let contents = ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text,
        meta: None,
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn exported(project: &Project, id: &str, format: &str) -> Result<String, Error> {
    let arguments = json!({ "dialogue_id": id, "format": format });
    Ok(operations::printed(project, &arguments)?.text)
}

/// The result of a dialogue: a review's whole document, a council's without its rounds.
fn conclusion(project: &Project, id: &str) -> Result<String, Error> {
    let id: DialogueId = id.parse().map_err(|_| no_dialogue(id))?;
    let dialogue = project.store.dialogue(&id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
    let protocol = project.protocols.find(dialogue.opening.protocol)?;
    let run = match load_run_state(&project.protocols, project.store.as_ref(), &id) {
        // There is no run: the dialogue is Judge-led, or its verdicts were imported.
        Err(Error::Refused(_)) => return verdicts(project, &id, protocol),
        looked => looked?,
    };
    match protocol.conclusion_document(&run).map_err(Error::Document)? {
        Some(document) => document_text(&document),
        None => Err(unconcluded(&id, protocol).into()),
    }
}

/// The verdicts so far of a Judge-led dialogue.
fn verdicts(project: &Project, id: &DialogueId, protocol: &dyn Protocol) -> Result<String, Error> {
    let record = exported(project, id.as_str(), "json")?;
    let record: Value = serde_json::from_str(&record).map_err(Error::Document)?;
    let given = record.get("verdicts").filter(|given| **given != json!([]));
    let Some(given) = given else { return Err(unconcluded(id, protocol).into()) };
    let status = record.get("status");
    document_text(&json!({ "dialogue_id": id, "status": status, "verdicts": given }))
}

fn address(uri: &str) -> Result<(&str, Part), Fault> {
    let unknown = || {
        let message = format!("there is no resource `{}`", cut(uri));
        let fault = Fault::new(Code::DialogueNotFound, message);
        fault.suggest("resources are plenary://dialogues/{id}, …/transcript and …/conclusion")
    };
    let rest = uri.strip_prefix(DIALOGUES).ok_or_else(unknown)?;
    match rest.split_once('/') {
        None => Ok((rest, Part::Record)),
        Some((id, "transcript")) => Ok((id, Part::Transcript)),
        Some((id, "conclusion")) => Ok((id, Part::Conclusion)),
        Some(_) => Err(unknown()),
    }
}

fn bad_cursor() -> Fault {
    let fault = Fault::new(Code::InvalidType, "the cursor is none that a page has named");
    fault.field("cursor").suggest("send the nextCursor of the page before, or none")
}

/// The error for an existing dialogue without a conclusion.
fn unconcluded(id: &DialogueId, protocol: &dyn Protocol) -> Fault {
    let MissingConclusion { lacks, suggestion } = protocol.missing_conclusion(id);
    Fault::new(Code::DialogueNotFound, format!("'{id}' has no {lacks}"))
        .field("dialogue_id")
        .value(id.as_str())
        .suggest(suggestion)
}
