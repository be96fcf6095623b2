//! The rounds in the Markdown export, with each expert's contributions.

use super::escape::{escape_inline, quote_text};
use crate::domain::entity::Entity;
use crate::domain::record::{DialogueRecord, Expert, RoundRecord};
use crate::export::contributions::RoundContributions;
use crate::export::wording;

pub(super) fn rounds_blocks(record: &DialogueRecord) -> Vec<String> {
    let brought = RoundContributions::from_record(record);
    record.rounds.iter().flat_map(|round| round_blocks(record, round, &brought)).collect()
}

fn round_blocks(
    record: &DialogueRecord,
    round: &RoundRecord,
    brought: &RoundContributions<'_>,
) -> Vec<String> {
    let title = round.title.as_deref().map(|title| format!(": {}", escape_inline(title)));
    let heading = format!("## Round {}{}", round.round, title.unwrap_or_default());
    let mut blocks = vec![heading];
    let is_judged = record.dialogue.opening.protocol.is_judged();
    blocks.extend(is_judged.then(|| format!("ALIGNMENT {}", round.score)));
    if let Some(summary) = &round.summary {
        blocks.extend(is_judged.then(|| "The Judge's summary:".to_owned()));
        blocks.push(quote_text(summary));
    }
    for expert in &record.experts {
        blocks.extend(expert_blocks(round.round, expert, brought));
    }
    let scored = brought.only_scored(record, round.round);
    if !scored.is_empty() {
        blocks.push(format!("Also scored: {}", escape_inline(&scored.join(" · "))));
    }
    let unseated = brought.without_expert(round.round);
    if !unseated.is_empty() {
        blocks.push("### From no seat".to_owned());
        blocks.extend(unseated.iter().flat_map(|entity| entity_blocks(entity)));
    }
    blocks
}

fn expert_blocks(round: u8, expert: &Expert, brought: &RoundContributions<'_>) -> Vec<String> {
    let slug = &expert.profile.expert_slug;
    let entities = brought.by_expert(round, slug);
    let reply = expert.replies.get(&round);
    let words: Vec<String> = match (entities, reply) {
        ([], None) => return Vec::new(),
        ([], Some(reply)) => vec![quote_text(reply)],
        (entities, _) => entities.iter().flat_map(|entity| entity_blocks(entity)).collect(),
    };
    let score = expert.scores.get(&round).map(|score| format!(" ({score:+})"));
    let mut blocks =
        vec![format!("### {}{}", escape_inline(&slug.display_name()), score.unwrap_or_default())];
    blocks.extend(words);
    blocks
}

fn entity_blocks(entity: &Entity) -> Vec<String> {
    let mut told = vec![format!("**{} {}**", entity.id, escape_inline(&entity.label))];
    told.push(entity.status.to_string());
    told.extend(wording::entity_relations(entity).iter().map(|relation| escape_inline(relation)));
    vec![told.join(" · "), quote_text(&entity.text)]
}
