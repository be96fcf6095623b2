//! What the panel of a round reads: the context as JSON, and a prompt file for each expert.

use std::collections::BTreeMap;

use plenary_core::dialogue::context::{ContextBuilder, ContextDocument, SeatContext};
use plenary_core::dialogue::diagnostics::{RequestWarning, dialogue_closed, dialogue_not_found};
use plenary_core::dialogue::expert_prompts::panel_prompts::{
    PanelPrompts, PromptOptions, PromptsBuilder,
};
use plenary_core::dialogue::request::OperationRequest;
use plenary_core::ethos::compliance::ethos_not_approved;
use plenary_core::model::dialogue::Dialogue;
use plenary_core::model::ids::{DialogueId, ExpertSlug};
use plenary_core::model::limits::ROUND_MAX;
use plenary_core::model::record::{DialogueRecord, EntityView, EntityVisitor, visit_entities};
use plenary_core::model::time::Day;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::dialogue_ids::read_resolved;
use crate::app::export_record::{is_expert_context, is_expert_prompt};
use crate::app::project::Project;
use crate::error::Error;
use crate::files::allowed_file::{AllowedFile, WritePermission};
use crate::store::error::StoreError;

/// Arguments of `context`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextRequest {
    dialogue_id: DialogueId,
    /// [the next one]
    round: Option<u16>,
    /// Also write prompt-{expert}.md for each expert.
    #[serde(default)]
    render: bool,
    /// Prompts without the markers.
    #[serde(default)]
    skill_loaded: bool,
}

impl OperationRequest for ContextRequest {}

/// Returns the document as compact JSON; it can be large, so it is serialised once.
pub fn read_context(
    project: &Project,
    arguments: &Value,
    permission: WritePermission,
) -> Result<String, Error> {
    let (request, warnings) = read_resolved::<ContextRequest>(project, arguments)?;
    if request.render {
        return Ok(write_prompts(project, &request, &warnings, permission)?.answer);
    }
    let before = RoundView::of(project, &request)?;
    let mut context = ContextBuilder::new(before.round);
    let mut add =
        |record: &DialogueRecord, shown: &EntityView<'_>| context.add_entity(record, shown);
    let (record, _) = before.show(project, &mut add)?;
    let document = context.build_document(&record).map_err(StoreError::Unwritable)?;
    add_warnings(document, &warnings)
}

/// Adds warnings about the request to the document.
pub(crate) fn add_warnings(
    document: ContextDocument,
    warnings: &[RequestWarning],
) -> Result<String, Error> {
    if warnings.is_empty() {
        return Ok(document.into_json());
    }
    Ok(document.with_field("warnings", &warnings).map_err(StoreError::Unwritable)?.into_json())
}

/// A dialogue as it was before one of its rounds.
#[derive(Debug)]
pub(crate) struct RoundView {
    pub dialogue: Dialogue,
    pub round: u8,
}

impl RoundView {
    pub(crate) fn of(project: &Project, request: &ContextRequest) -> Result<Self, Error> {
        let missing = || dialogue_not_found(request.dialogue_id.as_str());
        let dialogue = project.store.load_dialogue(&request.dialogue_id)?.ok_or_else(missing)?;
        let round = asked_round(&dialogue, request.round)?;
        if dialogue.opening.calibrated {
            let calibration = project.store.load_calibration(&request.dialogue_id)?;
            if calibration.approved_ethos().is_none() {
                return Err(ethos_not_approved(&dialogue).into());
            }
        }
        Ok(Self { dialogue, round })
    }

    /// Visits all entities before the round, and returns the record as its panel saw it, with the
    /// day: today, or the day on which a past round was registered.
    pub(crate) fn show(
        &self,
        project: &Project,
        viewer: &mut EntityVisitor<'_>,
    ) -> Result<(DialogueRecord, Day), Error> {
        let (id, round) = (self.dialogue.id(), self.round);
        let missing = || dialogue_not_found(id.as_str());
        if self.is_next() {
            let record = project.store.visit_before(id, round, viewer)?;
            return Ok((record.ok_or_else(missing)?, project.ambient.now().utc_day()));
        }
        let record = project.store.load_record(id)?.ok_or_else(missing)?;
        let held = record.rounds.iter().find(|held| held.round == round);
        let day = held.map_or_else(|| project.ambient.now(), |held| held.created_at).utc_day();
        // The panel of that round did not know later rounds.
        let record = record.rewound_to(round);
        visit_entities(&record, viewer).map_err(StoreError::Unwritable)?;
        Ok((record, day))
    }

    /// Whether the round is the next one.
    pub(crate) fn is_next(&self) -> bool {
        self.round == self.dialogue.next_round()
    }
}

/// The requested round, by default the next one.
fn asked_round(dialogue: &Dialogue, round: Option<u16>) -> Result<u8, ValidationError> {
    // After the last round the context can be read although no round follows.
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    let Some(round) = round else { return Ok(next) };
    let known = u8::try_from(round).ok().filter(|round| (first..=next).contains(round));
    known.ok_or_else(|| {
        let message = format!("round {round} has no context yet: the next round is {next}");
        ValidationError::new(ErrorCode::InvalidRound, message).with_field("round").with_value(round)
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
pub struct ExpertPrompt {
    pub status: &'static str,
    pub expert_slug: ExpertSlug,
    pub response_path: String,
    pub prompt: String,
}

/// Writes the prompts of a round's panel: `context` with `render`.
pub fn render_prompts(
    project: &Project,
    arguments: &Value,
    permission: WritePermission,
) -> Result<PromptsWritten, Error> {
    let (request, warnings) = read_resolved::<ContextRequest>(project, arguments)?;
    write_prompts(project, &request, &warnings, permission)
}

pub(crate) fn write_prompts(
    project: &Project,
    request: &ContextRequest,
    warnings: &[RequestWarning],
    permission: WritePermission,
) -> Result<PromptsWritten, Error> {
    let papers = WrittenPrompts::of(project, request)?;
    // Check all files first: if one may not be written, none is.
    let seats = papers.context.seats.iter();
    let places =
        seats.map(|seat| Ok((seat, papers.files_of(project, &seat.expert_slug, permission)?)));
    let places: Vec<(&SeatContext, PromptFiles)> =
        places.collect::<Result<_, ValidationError>>()?;
    for (_, files) in &places {
        files.prompt.check_writable(&is_expert_prompt)?;
        files.context.check_writable(&is_expert_context)?;
    }
    let mut written = Vec::new();
    // One buffer for all: a prompt of a long dialogue has megabytes.
    let mut text = String::new();
    for (seat, files) in places {
        let response_path = files.response.path().display().to_string();
        text.clear();
        papers.sheets.write_prompt(&seat.expert_slug, &response_path, &mut text);
        files.prompt.write_file(text.as_bytes(), &is_expert_prompt)?;
        let bytes = text.len();
        text.clear();
        papers.context.write_for_seat(seat, &mut text);
        text.push('\n');
        files.context.write_file(text.as_bytes(), &is_expert_context)?;
        written.push(PromptFile {
            expert_slug: seat.expert_slug.clone(),
            prompt_path: files.prompt.path().display().to_string(),
            context_path: files.context.path().display().to_string(),
            response_path,
            bytes,
        });
    }
    let RoundView { dialogue, round } = papers.before;
    let document =
        papers.context.with_field("prompts", &written).map_err(StoreError::Unwritable)?;
    let answer = add_warnings(document, warnings)?;
    let dialogue_id = dialogue.id().clone();
    Ok(PromptsWritten { dialogue_id, round, prompts: written, answer })
}

/// Renders the prompt of one expert without writing a file.
pub fn render_prompt(
    project: &Project,
    arguments: &Value,
    expert: &str,
) -> Result<ExpertPrompt, Error> {
    let (request, _) = read_resolved::<ContextRequest>(project, arguments)?;
    let papers = WrittenPrompts::of(project, &request)?;
    let slug = papers.sheets.experts().find(|slug| slug.as_str() == expert).cloned();
    let slug = slug.ok_or_else(|| not_on_panel(expert, &papers))?;
    // Only its name is add_warnings.
    let files = papers.files_of(project, &slug, WritePermission::Local)?;
    let response_path = files.response.path().display().to_string();
    let mut prompt = String::new();
    papers.sheets.write_prompt(&slug, &response_path, &mut prompt);
    Ok(ExpertPrompt { status: "success", expert_slug: slug, response_path, prompt })
}

/// Context and prompts of a round's panel, loaded once.
#[derive(Debug)]
struct WrittenPrompts {
    before: RoundView,
    context: ContextDocument,
    sheets: PanelPrompts,
}

#[derive(Debug)]
struct PromptFiles {
    prompt: AllowedFile,
    context: AllowedFile,
    response: AllowedFile,
}

impl WrittenPrompts {
    fn of(project: &Project, request: &ContextRequest) -> Result<Self, Error> {
        let before = RoundView::of(project, request)?;
        refuse_pointless(&before)?;
        let mut context = ContextBuilder::new(before.round);
        let mut prompts = PromptsBuilder::new(before.round);
        let (record, today) =
            before.show(project, &mut |record: &DialogueRecord, shown: &EntityView<'_>| {
                prompts.add_entity(shown)?;
                context.add_entity(record, shown)
            })?;
        let context = context.build_document(&record).map_err(StoreError::Unwritable)?;
        let tasks = context
            .seats
            .iter()
            .filter_map(|seat| Some((seat.expert_slug.clone(), seat.round_context.clone()?)));
        let options = PromptOptions { today, is_skill_loaded: request.skill_loaded };
        let sheets = prompts.build_prompts(&record, &tasks.collect::<BTreeMap<_, _>>(), options);
        Ok(Self { before, context, sheets })
    }

    fn files_of(
        &self,
        project: &Project,
        expert: &ExpertSlug,
        permission: WritePermission,
    ) -> Result<PromptFiles, ValidationError> {
        let output_dir = &self.before.dialogue.opening.output_dir;
        let own_file = |name: String| {
            let name = format!("round-{}/{name}", self.before.round);
            project.folders.check_own_file(output_dir, &name, permission)
        };
        Ok(PromptFiles {
            prompt: own_file(format!("prompt-{expert}.md"))?,
            context: own_file(format!("context-{expert}.json"))?,
            response: own_file(format!("response-{expert}.md"))?,
        })
    }
}

/// Refuses to render prompts for a round that cannot take replies.
fn refuse_pointless(before: &RoundView) -> Result<(), ValidationError> {
    let RoundView { dialogue, round } = before;
    let was_asked_by_us = match dialogue.opening.protocol {
        protocol if protocol.is_judged() => false,
        // A Judge may continue a council from here; its earlier rounds are in the journal.
        protocol if protocol.takes_contributions() => !before.is_next(),
        _ => true,
    };
    if was_asked_by_us {
        let (id, protocol) = (dialogue.id(), dialogue.opening.protocol);
        let message = format!("'{id}' is a {protocol}; Plenary itself prompts its seats");
        let hint = format!("`plenary show {id} --full` shows their replies");
        return Err(ValidationError::new(ErrorCode::NotSupported, message)
            .with_field("render")
            .with_suggestion(hint));
    }
    if !before.is_next() {
        return Ok(());
    }
    let hint = "to write the prompts of an earlier round again, set `round`";
    if dialogue.status.is_closed() {
        return Err(dialogue_closed(dialogue).with_suggestion(hint));
    }
    if dialogue.terminal_state.is_some() {
        let message = format!("'{}' is concluded and has no next round", dialogue.id());
        return Err(ValidationError::new(ErrorCode::DialogueClosed, message).with_suggestion(hint));
    }
    if *round > ROUND_MAX {
        let message = format!("a dialogue has at most {} rounds", u16::from(ROUND_MAX) + 1);
        let fault = ValidationError::new(ErrorCode::RoundCapacityExceeded, message)
            .with_field("round")
            .with_value(*round);
        return Err(fault.with_suggestion("give a verdict, or open a new dialogue"));
    }
    Ok(())
}

fn not_on_panel(expert: &str, papers: &WrittenPrompts) -> ValidationError {
    let RoundView { dialogue, round } = &papers.before;
    let message = format!("'{expert}' is not on the panel of round {round} of '{}'", dialogue.id());
    let options = papers.sheets.experts().map(ExpertSlug::as_str);
    ValidationError::new(ErrorCode::ExpertNotInDialogue, message)
        .with_field("expert")
        .with_value(expert)
        .with_options(options)
        .with_suggestion(
            "choose an expert of the panel, or change it with `plenary dialogue panel`",
        )
}
