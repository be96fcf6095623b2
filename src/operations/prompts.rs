//! `prompts`: what each expert of a round is given to read, as files for people and agents.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::context::{Before, Request, read_request, told};
use super::recognise::{is_expert_context, is_expert_prompt};
use super::workspace::Workspace;
use crate::domain::dialogue::Protocol;
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::limits::ROUND_MAX;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::shown::Shown;
use crate::error::Error;
use crate::files::{AllowedFile, WritePermission};
use crate::prompting::alignment::{Prompts, Sheets};
use crate::record::{closed, context as rules};
use crate::store::StoreError;

/// What was written, and the tool's answer: the context with the list of the files.
#[derive(Debug)]
pub struct PromptsWritten {
    pub dialogue_id: DialogueId,
    pub round: u8,
    pub prompts: Vec<PromptFile>,
    /// As compact JSON.
    pub answer: String,
}

/// The files of one expert. The response is theirs to write.
#[derive(Debug, Serialize)]
pub struct PromptFile {
    pub expert_slug: ExpertSlug,
    pub prompt_path: String,
    pub context_path: String,
    pub response_path: String,
    /// Of the prompt.
    pub bytes: usize,
}

/// A prompt that was not written anywhere.
#[derive(Debug, Serialize)]
pub struct Prompt {
    pub status: &'static str,
    pub expert_slug: ExpertSlug,
    pub response_path: String,
    pub prompt: String,
}

/// Writes the prompts of a round's panel: `context` with `render`.
pub fn prompts(
    workspace: &Workspace,
    arguments: &Value,
    permission: WritePermission,
) -> Result<PromptsWritten, Error> {
    write(workspace, &read_request(arguments)?, permission)
}

pub(super) fn write(
    workspace: &Workspace,
    request: &Request,
    permission: WritePermission,
) -> Result<PromptsWritten, Error> {
    let table = PanelPapers::of(workspace, request)?;
    // Where one may not be written, none is.
    let seats = table.context.seats.iter();
    let places =
        seats.map(|seat| Ok((seat, table.files_of(workspace, &seat.expert_slug, permission)?)));
    let places: Vec<(&rules::Seat, Files)> = places.collect::<Result<_, Fault>>()?;
    for (_, files) in &places {
        files.prompt.check(&is_expert_prompt)?;
        files.context.check(&is_expert_context)?;
    }
    let mut written = Vec::new();
    // One after the other in the same place: of a long dialogue each is megabytes.
    let mut text = String::new();
    for (seat, files) in places {
        let response_path = files.response.path().display().to_string();
        text.clear();
        table.sheets.write(&seat.expert_slug, &response_path, &mut text);
        files.prompt.write(text.as_bytes(), &is_expert_prompt)?;
        let bytes = text.len();
        text.clear();
        table.context.write_of(seat, &mut text);
        text.push('\n');
        files.context.write(text.as_bytes(), &is_expert_context)?;
        written.push(PromptFile {
            expert_slug: seat.expert_slug.clone(),
            prompt_path: files.prompt.path().display().to_string(),
            context_path: files.context.path().display().to_string(),
            response_path,
            bytes,
        });
    }
    let Before { dialogue, round } = table.before;
    let document = table.context.with("prompts", &written).map_err(StoreError::Unwritable)?;
    let answer = told(document, &request.warnings)?;
    let dialogue_id = dialogue.id().clone();
    Ok(PromptsWritten { dialogue_id, round, prompts: written, answer })
}

/// The prompt of one expert, and nothing written.
pub fn prompt(workspace: &Workspace, arguments: &Value, expert: &str) -> Result<Prompt, Error> {
    let table = PanelPapers::of(workspace, &read_request(arguments)?)?;
    let slug = table.sheets.experts().find(|slug| slug.as_str() == expert).cloned();
    let slug = slug.ok_or_else(|| not_on_panel(expert, &table))?;
    // Only its name is told.
    let files = table.files_of(workspace, &slug, WritePermission::Local)?;
    let response_path = files.response.path().display().to_string();
    let mut prompt = String::new();
    table.sheets.write(&slug, &response_path, &mut prompt);
    Ok(Prompt { status: "success", expert_slug: slug, response_path, prompt })
}

/// Everything that a round's panel reads, loaded once.
#[derive(Debug)]
struct PanelPapers {
    before: Before,
    context: rules::Document,
    sheets: Sheets,
}

#[derive(Debug)]
struct Files {
    prompt: AllowedFile,
    context: AllowedFile,
    response: AllowedFile,
}

impl PanelPapers {
    fn of(workspace: &Workspace, request: &Request) -> Result<Self, Error> {
        let before = Before::of(workspace, request)?;
        refuse_pointless(&before)?;
        let mut context = rules::Context::new(before.round);
        let mut prompts = Prompts::new(before.round);
        let record = before.show(workspace, &mut |record: &Record, shown: &Shown<'_>| {
            prompts.add(shown)?;
            context.add(record, shown)
        })?;
        let context = context.finish(&record).map_err(StoreError::Unwritable)?;
        let tasks = context
            .seats
            .iter()
            .filter_map(|seat| Some((seat.expert_slug.clone(), seat.round_context.clone()?)));
        let sheets = prompts.finish(&record, &tasks.collect::<BTreeMap<_, _>>());
        Ok(Self { before, context, sheets })
    }

    fn files_of(
        &self,
        workspace: &Workspace,
        expert: &ExpertSlug,
        permission: WritePermission,
    ) -> Result<Files, Fault> {
        let output_dir = &self.before.dialogue.opening.output_dir;
        let own_file = |name: String| {
            let name = format!("round-{}/{name}", self.before.round);
            workspace.folders.own_file(output_dir, &name, permission)
        };
        Ok(Files {
            prompt: own_file(format!("prompt-{expert}.md"))?,
            context: own_file(format!("context-{expert}.json"))?,
            response: own_file(format!("response-{expert}.md"))?,
        })
    }
}

/// A prompt asks somebody to speak; where nobody can any more, there is nothing to ask.
fn refuse_pointless(before: &Before) -> Result<(), Fault> {
    let Before { dialogue, round } = before;
    let was_asked_by_us = match dialogue.opening.protocol {
        Protocol::Alignment => false,
        // Somebody may lead it on from here; what was before is in its journal.
        Protocol::Council => !before.is_next(),
        Protocol::Review => true,
    };
    if was_asked_by_us {
        let (id, protocol) = (dialogue.id(), dialogue.opening.protocol);
        let message = format!("'{id}' is a {protocol}: its seats were asked by Plenary");
        let hint = format!("`plenary show {id} --full` tells what they said");
        return Err(Fault::new(Code::NotSupported, message).field("render").suggest(hint));
    }
    if !before.is_next() {
        return Ok(());
    }
    let hint = "prompts of a round that was held can be written again: name it as `round`";
    if dialogue.status.is_closed() {
        return Err(closed(dialogue).suggest(hint));
    }
    if dialogue.terminal_state.is_some() {
        let message = format!("'{}' was concluded: no round follows", dialogue.id());
        return Err(Fault::new(Code::DialogueClosed, message).suggest(hint));
    }
    if *round > ROUND_MAX {
        let message = format!("a dialogue has at most {} rounds", u16::from(ROUND_MAX) + 1);
        let fault = Fault::new(Code::RoundCapacityExceeded, message).field("round").value(*round);
        return Err(fault.suggest("give a verdict, or go on in a new dialogue"));
    }
    Ok(())
}

fn not_on_panel(expert: &str, table: &PanelPapers) -> Fault {
    let Before { dialogue, round } = &table.before;
    let message = format!("'{expert}' is not on the panel of round {round} of '{}'", dialogue.id());
    let options = table.sheets.experts().map(ExpertSlug::as_str);
    Fault::new(Code::ExpertNotInDialogue, message)
        .field("expert")
        .value(expert)
        .options(options)
        .suggest("choose one of the panel, or set the panel with `plenary dialogue panel`")
}
