//! Records as resources: the whole record, its transcript for people, its conclusion.

use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::domain::catalogue::Summary;
use crate::domain::dialogue::Protocol;
use crate::domain::ids::DialogueId;
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::engine::look;
use crate::error::{Error, document_text};
use crate::export::RunDocument;
use crate::export::conclusion::closed;
use crate::hosting::House;
use crate::operations::{self, Listed};
use crate::record::no_dialogue;

const DIALOGUES: &str = "plenary://dialogues/";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// What of a dialogue is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Record,
    Transcript,
    Conclusion,
}

/// Dialogues, a page at a time, the newest first.
pub(super) fn list(house: &House, after: Option<&str>) -> Result<ListResourcesResult, Error> {
    let arguments = json!({ "op": "list", "after": after });
    let Listed { dialogues, next, .. } =
        operations::list(house.for_existing()?.as_ref(), &arguments)?;
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

pub(super) fn read(house: &House, uri: &str) -> Result<ReadResourceResult, Error> {
    let (id, part) = address(uri)?;
    let workspace = house.for_existing()?;
    let format = match part {
        Part::Record | Part::Conclusion => "json",
        Part::Transcript => "markdown",
    };
    let text = match part {
        Part::Record | Part::Transcript => {
            let arguments = json!({ "dialogue_id": id, "format": format });
            operations::printed(&workspace, &arguments)?.text
        }
        Part::Conclusion => {
            let known: DialogueId = id.parse().map_err(|_| no_dialogue(id))?;
            if workspace.store.entries(&known, 0)?.is_empty() {
                return Err(no_dialogue(id).into());
            }
            // A dialogue that somebody leads and that nothing was run on has none either.
            let run = look(workspace.store.as_ref(), &known).map_err(|_| unconcluded(id))?;
            conclusion(&run)?
        }
    };
    let mime_type = match part {
        Part::Record | Part::Conclusion => JSON,
        Part::Transcript => MARKDOWN,
    };
    let contents = ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text,
        meta: None,
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// How a run ended, whatever came before: of a review all of it leads to its verdict, of a
/// council the rounds are left out.
fn conclusion(transcript: &Transcript) -> Result<String, Error> {
    match transcript.opening.protocol {
        Protocol::Review if transcript.ruling.is_some() => {
            document_text(&RunDocument::of(transcript))
        }
        Protocol::Council | Protocol::Alignment if transcript.ending.is_some() => {
            document_text(&closed(transcript))
        }
        Protocol::Review | Protocol::Council | Protocol::Alignment => {
            Err(unconcluded(transcript.opening.dialogue_id.as_str()).into())
        }
    }
}

fn address(uri: &str) -> Result<(&str, Part), Fault> {
    let unknown = || {
        let fault = Fault::new(Code::DialogueNotFound, format!("there is no resource `{uri}`"));
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

fn unconcluded(id: &str) -> Fault {
    let fault = no_dialogue(id);
    let message = format!("'{id}' has no conclusion");
    Fault { message, ..fault }.suggest(format!("`plenary conclude {id}` writes one"))
}
