//! The rounds in the Markdown export, with each expert's contributions.

use super::escape::{inline, quote};
use crate::domain::entity::Entity;
use crate::domain::record::{Expert, Record, Round};
use crate::export::contributions::Contributions;
use crate::export::wording;

pub(super) fn blocks(record: &Record) -> Vec<String> {
    let brought = Contributions::of(record);
    record.rounds.iter().flat_map(|round| round_blocks(record, round, &brought)).collect()
}

fn round_blocks(record: &Record, round: &Round, brought: &Contributions<'_>) -> Vec<String> {
    let title = round.title.as_deref().map(|title| format!(": {}", inline(title)));
    let heading = format!("## Round {}{}", round.round, title.unwrap_or_default());
    let mut blocks = vec![heading];
    let is_judged = record.dialogue.opening.protocol.is_judged();
    blocks.extend(is_judged.then(|| format!("ALIGNMENT {}", round.score)));
    if let Some(summary) = &round.summary {
        blocks.extend(is_judged.then(|| "The Judge's summary:".to_owned()));
        blocks.push(quote(summary));
    }
    for expert in &record.experts {
        blocks.extend(expert_blocks(round.round, expert, brought));
    }
    let scored = brought.only_scored(record, round.round);
    if !scored.is_empty() {
        blocks.push(format!("Also scored: {}", inline(&scored.join(" · "))));
    }
    let unseated = brought.unseated(round.round);
    if !unseated.is_empty() {
        blocks.push("### From no seat".to_owned());
        blocks.extend(unseated.iter().flat_map(|entity| entity_blocks(entity)));
    }
    blocks
}

fn expert_blocks(round: u8, expert: &Expert, brought: &Contributions<'_>) -> Vec<String> {
    let slug = &expert.profile.expert_slug;
    let entities = brought.by(round, slug);
    let reply = expert.replies.get(&round);
    let words: Vec<String> = match (entities, reply) {
        ([], None) => return Vec::new(),
        ([], Some(reply)) => vec![quote(reply)],
        (entities, _) => entities.iter().flat_map(|entity| entity_blocks(entity)).collect(),
    };
    let score = expert.scores.get(&round).map(|score| format!(" ({score:+})"));
    let mut blocks =
        vec![format!("### {}{}", inline(&slug.display_name()), score.unwrap_or_default())];
    blocks.extend(words);
    blocks
}

fn entity_blocks(entity: &Entity) -> Vec<String> {
    let mut told = vec![format!("**{} {}**", entity.id, inline(&entity.label))];
    told.push(entity.status.to_string());
    told.extend(wording::relations(entity).iter().map(|relation| inline(relation)));
    vec![told.join(" · "), quote(&entity.text)]
}
