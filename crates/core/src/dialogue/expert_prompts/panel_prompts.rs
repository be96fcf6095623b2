//! The prompts of a round's panel: shared parts are rendered once, then written for each expert.
//!
//! **Invariant:** the same record gives the same bytes on the same day. The nonce of the fences derives from the
//! hash of the newest journal entry, which the authors of the quoted texts could not know, and
//! occurs in none of the texts.

use std::collections::BTreeMap;

use crate::dialogue::expert_prompts::context_brief::{
    BriefPlace, NO_BACKGROUND, context_brief, quote_background, quote_question, quote_reason,
    render_background,
};
use crate::dialogue::expert_prompts::foreign_text::mark_imitations;
use crate::dialogue::expert_prompts::panel_status::status_blocks;
use crate::dialogue::expert_prompts::prior_rounds::prior_rounds;
use crate::dialogue::expert_prompts::prompt_blocks::{
    PromptBlock, RenderedBlock, fill_template, inline_path, render_blocks, write_blocks,
};
use crate::dialogue::expert_prompts::relevance::{EntityIndex, PriorEntity};
use crate::ethos::calibration_block::{calibration_heading, challenge_text, rules_text};
use crate::markers::skills::marker_reference;
use crate::model::dialogue::{PanelSeat, PanelSeatSource};
use crate::model::ids::ExpertSlug;
use crate::model::record::{DialogueRecord, EntityView, Expert};
use crate::model::text::to_one_line;
use crate::model::time::Day;
use crate::prompting::fence::FenceSet;

/// Collects the entities of earlier rounds while the store streams them.
#[derive(Debug)]
pub struct PromptsBuilder {
    round: u8,
    content: Vec<PriorEntity>,
}

impl PromptsBuilder {
    pub fn new(round: u8) -> Self {
        Self { round, content: Vec::new() }
    }

    pub fn add_entity(&mut self, shown: &EntityView<'_>) -> Result<(), serde_json::Error> {
        self.content.push(PriorEntity::from_view(shown)?);
        Ok(())
    }

    /// Builds the prompts once all entities are added. `tasks` maps experts to their round context.
    pub fn build_prompts(
        mut self,
        record: &DialogueRecord,
        tasks: &BTreeMap<ExpertSlug, String>,
        options: PromptOptions,
    ) -> PanelPrompts {
        self.content.extend(record.tensions.iter().map(PriorEntity::from_entity));
        let (round, index) = (self.round, EntityIndex::new(self.content));
        let panel = record.panel_of(round).into_iter().filter_map(|seat| {
            let expert = record.find_expert(&seat.expert_slug)?;
            let task = tasks.get(&seat.expert_slug).map(String::as_str);
            Some(SeatedExpert { seat, expert, task })
        });
        let own: Vec<ExpertBlocks> = panel
            .map(|seated| {
                ExpertBlocks::for_expert(record, &index, &seated, round, BriefPlace::File)
            })
            .collect();
        let (opening, prior) = (opening_blocks(record, round), prior_rounds(record, &index));
        let foreign = own.iter().flat_map(|own| own.before.iter().chain(&own.after));
        let foreign = foreign.chain(&opening).chain(&prior).filter_map(PromptBlock::quoted_text);
        let secret = format!("{}\n{}", record.dialogue.id(), record.head);
        let fences = FenceSet::new(&secret, round, &foreign.collect::<Vec<_>>());
        PanelPrompts {
            legend: render_legend(fences.nonce()),
            opening: render_blocks(opening, &fences),
            prior: render_blocks(prior, &fences),
            own: own.into_iter().map(|own| own.render_prompt(&fences)).collect(),
            options,
        }
    }
}

/// What a caller may choose about prompts.
#[derive(Debug, Clone, Copy)]
pub struct PromptOptions {
    /// The day that the experts are told.
    pub today: Day,
    /// The experts know the marker language already, so the prompts leave it out.
    pub is_skill_loaded: bool,
}

/// The beginning of every prompt, after its title.
fn opening_blocks(record: &DialogueRecord, round: u8) -> Vec<PromptBlock> {
    let (dialogue, opening) = (&record.dialogue, &record.dialogue.opening);
    let standing = format!(
        "**Round:** {round} of ? | **Status:** {} | **Total ALIGNMENT:** {}",
        dialogue.status, dialogue.total_alignment
    );
    let background = opening.background.as_ref().and_then(render_background).map(quote_background);
    let mut blocks = vec![
        PromptBlock::plain_text("**Question:**"),
        PromptBlock::Quoted(quote_question(record)),
        PromptBlock::Plain(standing),
        PromptBlock::plain_text("---\n\n## Background"),
        background.map_or_else(|| PromptBlock::plain_text(NO_BACKGROUND), PromptBlock::Quoted),
    ];
    blocks.extend(calibration_blocks(record));
    blocks
}

/// The rules that bind a calibrated dialogue.
pub(crate) fn calibration_blocks(record: &DialogueRecord) -> Vec<PromptBlock> {
    let Some(ethos) = record.approved_ethos() else { return Vec::new() };
    vec![
        // The operator named the domain; models see its name as the specification shows it.
        PromptBlock::Plain(format!("---\n\n{}", calibration_heading(ethos))),
        PromptBlock::request("RULES", rules_text(ethos)),
        PromptBlock::plain_text(challenge_text()),
    ]
}

/// The blocks that only one expert reads, before and after the prior rounds.
#[derive(Debug)]
pub(crate) struct ExpertBlocks {
    expert: ExpertSlug,
    pub before: Vec<PromptBlock>,
    pub after: Vec<PromptBlock>,
    pub instructions: ExpertInstructions,
}

impl ExpertBlocks {
    pub(crate) fn for_expert(
        record: &DialogueRecord,
        index: &EntityIndex,
        seated: &SeatedExpert<'_>,
        round: u8,
        place: BriefPlace,
    ) -> Self {
        let expert = seated.expert.profile.expert_slug.clone();
        let mut before = role_blocks(seated, record.rounds.is_empty());
        // In the opening round the brief would have nothing to tell.
        if seated.is_fresh() && !record.rounds.is_empty() {
            before.extend(context_brief(record, index, seated, round, place));
        }
        let after = status_blocks(record, index, &expert);
        let last = record.rounds.last().map(|held| held.round);
        Self {
            expert,
            before,
            after,
            instructions: ExpertInstructions::for_expert(seated, round, last),
        }
    }

    fn render_prompt(self, fences: &FenceSet) -> PanelPrompt {
        PanelPrompt {
            expert: self.expert,
            before: render_blocks(self.before, fences),
            after: render_blocks(self.after, fences),
            instructions: self.instructions,
        }
    }
}

/// The rendered prompts of a panel.
#[derive(Debug)]
pub struct PanelPrompts {
    legend: String,
    opening: Vec<RenderedBlock>,
    prior: Vec<RenderedBlock>,
    own: Vec<PanelPrompt>,
    options: PromptOptions,
}

#[derive(Debug)]
struct PanelPrompt {
    expert: ExpertSlug,
    before: Vec<RenderedBlock>,
    after: Vec<RenderedBlock>,
    instructions: ExpertInstructions,
}

impl PanelPrompts {
    /// The experts who have a prompt, in panel order.
    pub fn experts(&self) -> impl Iterator<Item = &ExpertSlug> {
        self.own.iter().map(|sheet| &sheet.expert)
    }

    /// Writes an expert's prompt with the path for the response; nothing if they are not on the
    /// panel.
    pub fn write_prompt(&self, expert: &ExpertSlug, response_path: &str, page: &mut String) {
        let Some(sheet) = self.own.iter().find(|sheet| sheet.expert == *expert) else { return };
        page.push_str(&format!("{HEADING}\n\n{}", self.legend));
        for passages in [&self.opening, &sheet.before, &self.prior, &sheet.after] {
            write_blocks(page, passages, expert);
        }
        if !self.options.is_skill_loaded {
            page.push_str(&format!("\n\n---\n\n## Markers\n\n{}", marker_reference()));
        }
        let instructions = sheet.instructions.render_text(response_path, self.options);
        page.push_str(&format!("\n\n{instructions}\n"));
    }
}

const LEGEND: &str = include_str!("../../../../../prompts/alignment/legend.md");
const INSTRUCTIONS: &str = include_str!("../../../../../prompts/alignment/instructions.md");
const REPLY: &str = include_str!("../../../../../prompts/alignment/expert-reply.md");
const SIGNALS: &str = include_str!("../../../../../prompts/alignment/expert-signals.md");
const TASK_OPENING: &str = include_str!("../../../../../prompts/alignment/task-opening.md");
const TASK: &str = include_str!("../../../../../prompts/alignment/task.md");
const TASK_BESIDE: &str = include_str!("../../../../../prompts/alignment/task-beside.md");

/// The beginning of every prompt. Earlier versions wrote the title after it.
const HEADING: &str = "# Dialogue";

/// Whether a text starts like our prompts: the heading, then the legend up to its first placeholder.
pub fn is_prompt(text: &str) -> bool {
    let legend = LEGEND.split('{').next().unwrap_or(LEGEND);
    let heading = text.strip_prefix(HEADING).and_then(|rest| rest.split_once("\n\n"));
    let is_ours = |title: &str| title.is_empty() || title.starts_with(": ");
    heading.is_some_and(|(title, rest)| is_ours(title) && rest.starts_with(legend))
}

/// How an expert names what stands on record.
const NAMING: &str = " Name what others said by its global ID, as it stands above.";

/// Explains which lines enclose foreign text.
pub(crate) fn render_legend(mark: &str) -> String {
    fill_template(LEGEND, &[("mark", mark)])
}

/// Instructions of one expert; the path of the response is filled in when they are rendered.
#[derive(Debug)]
pub(crate) struct ExpertInstructions {
    expert: ExpertSlug,
    round: u8,
    is_opening: bool,
    focus: String,
}

impl ExpertInstructions {
    pub(crate) fn for_expert(seated: &SeatedExpert<'_>, round: u8, last_round: Option<u8>) -> Self {
        let focus = match (last_round, seated.is_fresh()) {
            (None, _) => {
                "What does an answer depend on? Which tensions must it resolve?".to_owned()
            }
            (Some(_), true) => "What does your mandate ask for that no expert has said yet? \
                                Which tensions can you help resolve?"
                .to_owned(),
            (Some(last), false) => {
                format!("What has changed since round {last}? Which tensions can you help resolve?")
            }
        };
        let expert = seated.expert.profile.expert_slug.clone();
        Self { expert, round, is_opening: last_round.is_none(), focus }
    }

    pub(crate) fn render_text(&self, response_path: &str, options: PromptOptions) -> String {
        self.fill_instructions(INSTRUCTIONS, response_path, options)
    }

    /// The instructions of an expert whose reply goes to the built-in Judge. In the opening round
    /// there is nothing yet to agree with or to object to.
    pub(crate) fn render_reply_text(&self, options: PromptOptions) -> String {
        let (text, _) = INSTRUCTIONS.trim_end().rsplit_once("\n\n").unwrap_or((INSTRUCTIONS, ""));
        let signals = if self.is_opening { "" } else { SIGNALS };
        let text = [text, REPLY.trim_end(), signals].join("\n\n");
        self.fill_instructions(&text, "", options)
    }

    fn fill_instructions(
        &self,
        template: &str,
        response_path: &str,
        options: PromptOptions,
    ) -> String {
        let (round, digits) = (self.round.to_string(), format!("{:02}01", self.round));
        let naming = if self.is_opening { "" } else { NAMING };
        let markers = match options.is_skill_loaded {
            true => "from your skill",
            false => "explained above",
        };
        let filled = fill_template(
            template,
            &[
                ("name", &self.expert.display_name()),
                ("round", &round),
                ("today", &options.today.with_weekday()),
                ("markers", markers),
                ("naming", naming),
                ("expert", &self.expert.as_str().to_ascii_uppercase()),
                ("digits", &digits),
                ("focus", &self.focus),
                ("path", &inline_path(response_path)),
            ],
        );
        format!("---\n\n## Instructions\n\n{filled}")
    }
}

/// A seat of the round's panel with its expert.
#[derive(Debug)]
pub(crate) struct SeatedExpert<'a> {
    pub seat: PanelSeat,
    pub expert: &'a Expert,
    /// The Judge's round context, or a reminder derived from the record.
    pub task: Option<&'a str>,
}

impl SeatedExpert<'_> {
    pub(crate) fn is_fresh(&self) -> bool {
        match self.seat.source {
            PanelSeatSource::Retained => false,
            PanelSeatSource::Pool | PanelSeatSource::Created => true,
        }
    }
}

/// The expert's role and task.
fn role_blocks(seated: &SeatedExpert<'_>, is_opening: bool) -> Vec<PromptBlock> {
    let profile = &seated.expert.profile;
    let mut result = format!(
        "**{}** 🧁 | {} | {}\n",
        profile.expert_slug.display_name(),
        to_one_line(&profile.role),
        profile.tier
    );
    if let Some(focus) = &profile.focus {
        result.push_str(&format!("Focus: {}\n", to_one_line(focus)));
    }
    result
        .push_str(&format!("Your score: {} | Source: {}", seated.expert.total, seated.seat.source));
    if let Some(description) = &profile.description {
        result.push_str(&format!("\n\n{}", mark_imitations(description)));
    }
    vec![
        PromptBlock::plain_text("---\n\n## Your Role"),
        PromptBlock::request("YOUR ROLE", result),
        PromptBlock::plain_text("### Your Task This Round"),
    ]
    .into_iter()
    .chain(if is_opening { opening_task(seated) } else { later_task(seated) })
    .collect()
}

/// The task of the opening round, which has no brief.
fn opening_task(seated: &SeatedExpert<'_>) -> Vec<PromptBlock> {
    let reason = seated.expert.profile.creation_reason.as_deref().map(quote_reason);
    let asked = [quote_task(seated), reason, quote_mandate(seated)].into_iter().flatten();
    asked.chain([PromptBlock::Plain(fill_template(TASK_OPENING, &[]))]).collect()
}

/// The task of a later round: what the Judge asks, else what an expert owes the panel.
fn later_task(seated: &SeatedExpert<'_>) -> Vec<PromptBlock> {
    let mut blocks: Vec<PromptBlock> = quote_task(seated).into_iter().collect();
    let is_asked = seated.seat.round_context.is_some();
    if seated.is_fresh() {
        let text = match is_asked {
            true => "Your mandate is in the brief that follows.",
            false => "Your task is your mandate, in the brief that follows.",
        };
        blocks.push(PromptBlock::plain_text(text));
        return blocks;
    }
    let mandate = quote_mandate(seated);
    let text = if is_asked || mandate.is_some() { TASK_BESIDE } else { TASK };
    blocks.extend(mandate);
    blocks.push(PromptBlock::Plain(fill_template(text, &[])));
    blocks
}

/// What the Judge asks this round, or how what the expert raised stands.
fn quote_task(seated: &SeatedExpert<'_>) -> Option<PromptBlock> {
    let task = mark_imitations(seated.task?);
    Some(match &seated.seat.round_context {
        Some(_) => PromptBlock::request("YOUR TASK", task),
        None => PromptBlock::material("SINCE YOU SPOKE", task),
    })
}

/// The mandate from the Judge, if there is one.
pub(crate) fn quote_mandate(seated: &SeatedExpert<'_>) -> Option<PromptBlock> {
    let mandate = seated.seat.mandate.as_deref().or(seated.expert.profile.mandate.as_deref())?;
    Some(PromptBlock::request("YOUR MANDATE", mark_imitations(mandate)))
}
