//! The prompts of a round's panel: shared parts are rendered once, then written for each expert.
//!
//! **Invariant:** the same record gives the same bytes. The nonce of the fences derives from the
//! hash of the newest journal entry, which the authors of the quoted texts could not know, and
//! occurs in none of the texts.

use std::collections::BTreeMap;

use super::background::render_background;
use super::brief::{NO_BACKGROUND, NO_QUESTION, context_brief, quote_background, quote_question};
use super::instructions::{ExpertInstructions, TITLE_PREFIX, render_legend};
use super::ledger::{EntityIndex, PriorEntity};
use super::names::sanitize_name;
use super::page::{PromptBlock, RenderedBlock, render_blocks, write_blocks};
use super::prior;
use super::role::{SeatedExpert, role_blocks};
use super::tensions;
use crate::domain::ids::ExpertSlug;
use crate::domain::record::DialogueRecord;
use crate::domain::shown::EntityView;
use crate::prompting::fence::FenceSet;

/// Collects the entities of earlier rounds while the store streams them.
#[derive(Debug)]
pub struct PromptsBuilder {
    round: u8,
    said: Vec<PriorEntity>,
}

impl PromptsBuilder {
    pub fn new(round: u8) -> Self {
        Self { round, said: Vec::new() }
    }

    pub fn add_entity(&mut self, shown: &EntityView<'_>) -> Result<(), serde_json::Error> {
        self.said.push(PriorEntity::from_view(shown)?);
        Ok(())
    }

    /// Builds the prompts once all entities are added. `tasks` maps experts to their round context.
    pub fn build_prompts(
        mut self,
        record: &DialogueRecord,
        tasks: &BTreeMap<ExpertSlug, String>,
    ) -> PanelPrompts {
        self.said.extend(record.tensions.iter().map(PriorEntity::from_entity));
        let (round, ledger) = (self.round, EntityIndex::new(self.said));
        let panel = record.panel_of(round).into_iter().filter_map(|seat| {
            let expert = record.find_expert(&seat.expert_slug)?;
            let task = tasks.get(&seat.expert_slug).map(String::as_str);
            Some(SeatedExpert { seat, expert, task })
        });
        let own: Vec<ExpertBlocks> =
            panel.map(|seated| ExpertBlocks::for_expert(record, &ledger, &seated, round)).collect();
        let (opening, prior) =
            (opening_blocks(record, round), prior::prior_rounds(record, &ledger));
        let foreign = own.iter().flat_map(|own| own.before.iter().chain(&own.after));
        let foreign = foreign.chain(&opening).chain(&prior).filter_map(PromptBlock::quoted_text);
        let secret = format!("{}\n{}", record.dialogue.id(), record.head);
        let fences = FenceSet::new(&secret, round, &foreign.collect::<Vec<_>>());
        PanelPrompts {
            title: format!("{TITLE_PREFIX}{}", sanitize_name(&record.dialogue.opening.title)),
            legend: render_legend(fences.nonce()),
            opening: render_blocks(opening, &fences),
            prior: render_blocks(prior, &fences),
            own: own.into_iter().map(|own| own.render_prompt(&fences)).collect(),
        }
    }
}

/// The beginning of every prompt, after its title.
fn opening_blocks(record: &DialogueRecord, round: u8) -> Vec<PromptBlock> {
    let (dialogue, opening) = (&record.dialogue, &record.dialogue.opening);
    let standing = format!(
        "**Round:** {round} of ? | **Status:** {} | **Total ALIGNMENT:** {}",
        dialogue.status, dialogue.total_alignment
    );
    let background = opening.background.as_ref().and_then(render_background).map(quote_background);
    vec![
        PromptBlock::plain_text("**Question:**"),
        quote_question(record)
            .map_or_else(|| PromptBlock::plain_text(NO_QUESTION), PromptBlock::Quoted),
        PromptBlock::Plain(standing),
        PromptBlock::plain_text("---\n\n## Background"),
        background.map_or_else(|| PromptBlock::plain_text(NO_BACKGROUND), PromptBlock::Quoted),
    ]
}

/// The blocks that only one expert reads, before and after the prior rounds.
#[derive(Debug)]
struct ExpertBlocks {
    expert: ExpertSlug,
    before: Vec<PromptBlock>,
    after: Vec<PromptBlock>,
    instructions: ExpertInstructions,
}

impl ExpertBlocks {
    fn for_expert(
        record: &DialogueRecord,
        ledger: &EntityIndex,
        seated: &SeatedExpert<'_>,
        round: u8,
    ) -> Self {
        let expert = seated.expert.profile.expert_slug.clone();
        let mut before = role_blocks(seated);
        if seated.is_fresh() {
            before.extend(context_brief(record, ledger, seated, round));
        }
        let none = || PromptBlock::plain_text("None: no tension is active.");
        let table =
            tensions::tensions_table(ledger, &expert).map_or_else(none, PromptBlock::Quoted);
        // The last round already ends with a rule.
        let rule = if record.rounds.is_empty() { "---\n\n" } else { "" };
        let after = vec![PromptBlock::Plain(format!("{rule}## Active Tensions")), table];
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
    title: String,
    legend: String,
    opening: Vec<RenderedBlock>,
    prior: Vec<RenderedBlock>,
    own: Vec<PanelPrompt>,
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
        page.push_str(&format!("{}\n\n{}", self.title, self.legend));
        for stretches in [&self.opening, &sheet.before, &self.prior, &sheet.after] {
            write_blocks(page, stretches, expert);
        }
        page.push_str(&format!("\n\n{}\n", sheet.instructions.render_text(response_path)));
    }
}
