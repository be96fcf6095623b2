//! The prompt of one expert without what all experts share, for a dialogue that the built-in Judge
//! leads: role, task, brief, state of the tensions, markers and instructions.

use crate::dialogue::expert_prompts::context_brief::BriefPlace;
use crate::dialogue::expert_prompts::panel_prompts::{ExpertBlocks, PromptOptions, SeatedExpert};
use crate::dialogue::expert_prompts::prompt_blocks::{PromptBlock, QuotedText};
use crate::dialogue::expert_prompts::relevance::{EntityIndex, PriorEntity};
use crate::dialogue::round_reminders::{RoundAnswers, build_round_context};
use crate::markers::skills::marker_reference;
use crate::model::dialogue::PanelSeatSource;
use crate::model::ids::ExpertSlug;
use crate::model::record::DialogueRecord;
use crate::prompting::fence::FenceSet;

/// The parts of the prompt that belong to one expert.
#[derive(Debug)]
pub(crate) struct SeatPrompt {
    blocks: Vec<PromptBlock>,
    instructions: String,
}

impl SeatPrompt {
    /// The prompt of a seat of this round's panel; `None` if the expert has none.
    pub(crate) fn for_seat(
        record: &DialogueRecord,
        slug: &ExpertSlug,
        round: u8,
        options: PromptOptions,
    ) -> Option<Self> {
        let seat = record.panel_of(round).into_iter().find(|seat| seat.expert_slug == *slug)?;
        let expert = record.find_expert(slug)?;
        let task = seat.round_context.clone().or_else(|| {
            let place = record.experts.iter().position(|one| one.profile.expert_slug == *slug)?;
            let answers = RoundAnswers::from_record(record);
            build_round_context(record, &answers, place)
                .filter(|_| seat.source == PanelSeatSource::Retained)
        });
        let entity = record.all_entities().map(PriorEntity::from_entity).collect();
        let seated = SeatedExpert { seat, expert, task: task.as_deref() };
        let own = ExpertBlocks::for_expert(
            record,
            &EntityIndex::new(entity),
            &seated,
            round,
            BriefPlace::SeatMessage,
        );
        let instructions = own.instructions.render_reply_text(options);
        Some(Self { blocks: own.before.into_iter().chain(own.after).collect(), instructions })
    }

    /// The texts of others in it.
    pub(crate) fn quoted_texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(PromptBlock::quoted_text)
    }

    pub(crate) fn render_sections(&self, fences: &FenceSet) -> String {
        render_plain_blocks(&self.blocks, fences).trim_end().to_owned()
    }

    pub(crate) fn render_instructions(&self) -> String {
        format!("## Markers\n\n{}\n\n{}", marker_reference(), self.instructions)
    }
}

/// The blocks as text that is the same for every reader, each followed by a blank line.
pub(crate) fn render_plain_blocks(blocks: &[PromptBlock], fences: &FenceSet) -> String {
    let mut rendered = String::new();
    for block in blocks {
        rendered.push_str(&match block {
            PromptBlock::Plain(plain) => plain.clone(),
            PromptBlock::Quoted(QuotedText { kind, label, text }) => {
                fences.fence_text(*kind, label, text)
            }
            PromptBlock::Speaker(expert) => format!("#### {}", expert.display_name()),
        });
        rendered.push_str("\n\n");
    }
    rendered
}
