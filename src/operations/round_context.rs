//! What the panel of a round reads: the context as JSON, and a prompt file for each expert.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::export_record::{is_expert_context, is_expert_prompt};
use super::project::Project;
use crate::domain::dialogue::Dialogue;
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::limits::ROUND_MAX;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::shown::{Shown, Viewer, show};
use crate::error::Error;
use crate::files::{AllowedFile, WritePermission};
use crate::prompting::alignment::{Prompts, Sheets};
use crate::record::{
    OperationRequest, Warning, closed, context as context_rules, no_dialogue, read_request,
};
use crate::store::StoreError;

/// Arguments of `context`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextRequest {
    dialogue_id: DialogueId,
    /// [the next one]
    round: Option<u16>,
    /// Also write prompt-{expert}.md for each expert.
    #[serde(default)]
    render: bool,
}

impl OperationRequest for ContextRequest {}

/// Returns the document as compact JSON; it can be large, so it is serialised once.
pub fn context(
    project: &Project,
    arguments: &Value,
    permission: WritePermission,
) -> Result<String, Error> {
    let (request, warnings) = read_request::<ContextRequest>(arguments)?;
    if request.render {
        return Ok(write_prompts(project, &request, &warnings, permission)?.answer);
    }
    let before = Before::of(project, &request)?;
    let mut context = context_rules::Context::new(before.round);
    let mut add = |record: &Record, shown: &Shown<'_>| context.add(record, shown);
    let record = before.show(project, &mut add)?;
    let document = context.finish(&record).map_err(StoreError::Unwritable)?;
    add_warnings(document, &warnings)
}

/// Adds warnings about the request to the document.
pub(super) fn add_warnings(
    document: context_rules::Document,
    warnings: &[Warning],
) -> Result<String, Error> {
    if warnings.is_empty() {
        return Ok(document.whole());
    }
    Ok(document.with("warnings", &warnings).map_err(StoreError::Unwritable)?.whole())
}

/// A dialogue as it was before one of its rounds.
#[derive(Debug)]
pub(super) struct Before {
    pub dialogue: Dialogue,
    pub round: u8,
}

impl Before {
    pub(super) fn of(project: &Project, request: &ContextRequest) -> Result<Self, Error> {
        let missing = || no_dialogue(request.dialogue_id.as_str());
        let dialogue = project.store.dialogue(&request.dialogue_id)?.ok_or_else(missing)?;
        let round = asked_round(&dialogue, request.round)?;
        Ok(Self { dialogue, round })
    }

    /// Visits all entities before the round, and returns the record as its panel saw it.
    pub(super) fn show(&self, project: &Project, viewer: &mut Viewer<'_>) -> Result<Record, Error> {
        let (id, round) = (self.dialogue.id(), self.round);
        let missing = || no_dialogue(id.as_str());
        if self.is_next() {
            let record = project.store.show_before(id, round, viewer)?;
            return Ok(record.ok_or_else(missing)?);
        }
        // The panel of that round did not know later rounds.
        let record = project.store.record(id)?.ok_or_else(missing)?.rewound(round);
        show(&record, viewer).map_err(StoreError::Unwritable)?;
        Ok(record)
    }

    /// Whether the round is the next one.
    pub(super) fn is_next(&self) -> bool {
        self.round == self.dialogue.next_round()
    }
}

/// The requested round, by default the next one.
fn asked_round(dialogue: &Dialogue, round: Option<u16>) -> Result<u8, Fault> {
    // After the last round the context can be read although no round follows.
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    let Some(round) = round else { return Ok(next) };
    let known = u8::try_from(round).ok().filter(|round| (first..=next).contains(round));
    known.ok_or_else(|| {
        let message = format!("round {round} has no context yet: the next round is {next}");
        Fault::new(Code::InvalidRound, message).field("round").value(round)
    })
}

/// The files that were written, and the tool's answer: the context with the list of files.
#[derive(Debug)]
pub struct PromptsWritten {
    pub dialogue_id: DialogueId,
    pub round: u8,
    pub prompts: Vec<PromptFile>,
    /// As compact JSON.
    pub answer: String,
}

/// The files of one expert, who writes the response.
#[derive(Debug, Serialize)]
pub struct PromptFile {
    pub expert_slug: ExpertSlug,
    pub prompt_path: String,
    pub context_path: String,
    pub response_path: String,
    /// Size of the prompt.
    pub bytes: usize,
}

/// A prompt that was not written to a file.
#[derive(Debug, Serialize)]
pub struct Prompt {
    pub status: &'static str,
    pub expert_slug: ExpertSlug,
    pub response_path: String,
    pub prompt: String,
}

/// Writes the prompts of a round's panel: `context` with `render`.
pub fn prompts(
    project: &Project,
    arguments: &Value,
    permission: WritePermission,
) -> Result<PromptsWritten, Error> {
    let (request, warnings) = read_request::<ContextRequest>(arguments)?;
    write_prompts(project, &request, &warnings, permission)
}

pub(super) fn write_prompts(
    project: &Project,
    request: &ContextRequest,
    warnings: &[Warning],
    permission: WritePermission,
) -> Result<PromptsWritten, Error> {
    let papers = PanelPapers::of(project, request)?;
    // Check all files first: if one may not be written, none is.
    let seats = papers.context.seats.iter();
    let places =
        seats.map(|seat| Ok((seat, papers.files_of(project, &seat.expert_slug, permission)?)));
    let places: Vec<(&context_rules::Seat, Files)> = places.collect::<Result<_, Fault>>()?;
    for (_, files) in &places {
        files.prompt.check(&is_expert_prompt)?;
        files.context.check(&is_expert_context)?;
    }
    let mut written = Vec::new();
    // One buffer for all: a prompt of a long dialogue has megabytes.
    let mut text = String::new();
    for (seat, files) in places {
        let response_path = files.response.path().display().to_string();
        text.clear();
        papers.sheets.write(&seat.expert_slug, &response_path, &mut text);
        files.prompt.write(text.as_bytes(), &is_expert_prompt)?;
        let bytes = text.len();
        text.clear();
        papers.context.write_of(seat, &mut text);
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
    let Before { dialogue, round } = papers.before;
    let document = papers.context.with("prompts", &written).map_err(StoreError::Unwritable)?;
    let answer = add_warnings(document, warnings)?;
    let dialogue_id = dialogue.id().clone();
    Ok(PromptsWritten { dialogue_id, round, prompts: written, answer })
}

/// Renders the prompt of one expert without writing a file.
pub fn prompt(project: &Project, arguments: &Value, expert: &str) -> Result<Prompt, Error> {
    let (request, _) = read_request::<ContextRequest>(arguments)?;
    let papers = PanelPapers::of(project, &request)?;
    let slug = papers.sheets.experts().find(|slug| slug.as_str() == expert).cloned();
    let slug = slug.ok_or_else(|| not_on_panel(expert, &papers))?;
    // Only its name is add_warnings.
    let files = papers.files_of(project, &slug, WritePermission::Local)?;
    let response_path = files.response.path().display().to_string();
    let mut prompt = String::new();
    papers.sheets.write(&slug, &response_path, &mut prompt);
    Ok(Prompt { status: "success", expert_slug: slug, response_path, prompt })
}

/// Context and prompts of a round's panel, loaded once.
#[derive(Debug)]
struct PanelPapers {
    before: Before,
    context: context_rules::Document,
    sheets: Sheets,
}

#[derive(Debug)]
struct Files {
    prompt: AllowedFile,
    context: AllowedFile,
    response: AllowedFile,
}

impl PanelPapers {
    fn of(project: &Project, request: &ContextRequest) -> Result<Self, Error> {
        let before = Before::of(project, request)?;
        refuse_pointless(&before)?;
        let mut context = context_rules::Context::new(before.round);
        let mut prompts = Prompts::new(before.round);
        let record = before.show(project, &mut |record: &Record, shown: &Shown<'_>| {
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
        project: &Project,
        expert: &ExpertSlug,
        permission: WritePermission,
    ) -> Result<Files, Fault> {
        let output_dir = &self.before.dialogue.opening.output_dir;
        let own_file = |name: String| {
            let name = format!("round-{}/{name}", self.before.round);
            project.folders.own_file(output_dir, &name, permission)
        };
        Ok(Files {
            prompt: own_file(format!("prompt-{expert}.md"))?,
            context: own_file(format!("context-{expert}.json"))?,
            response: own_file(format!("response-{expert}.md"))?,
        })
    }
}

/// Refuses to render prompts for a round that cannot take replies.
fn refuse_pointless(before: &Before) -> Result<(), Fault> {
    let Before { dialogue, round } = before;
    let was_asked_by_us = match dialogue.opening.protocol {
        protocol if protocol.is_judged() => false,
        // A Judge may continue a council from here; its earlier rounds are in the journal.
        protocol if protocol.takes_contributions() => !before.is_next(),
        _ => true,
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

fn not_on_panel(expert: &str, papers: &PanelPapers) -> Fault {
    let Before { dialogue, round } = &papers.before;
    let message = format!("'{expert}' is not on the panel of round {round} of '{}'", dialogue.id());
    let options = papers.sheets.experts().map(ExpertSlug::as_str);
    Fault::new(Code::ExpertNotInDialogue, message)
        .field("expert")
        .value(expert)
        .options(options)
        .suggest("choose one of the panel, or set the panel with `plenary dialogue panel`")
}
