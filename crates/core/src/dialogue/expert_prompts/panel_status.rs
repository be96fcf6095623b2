//! Where the dialogue stands before a round: requests to the panel, verdicts so far, and the
//! tensions, active and resolved.

use std::collections::BTreeMap;

use crate::dialogue::expert_prompts::foreign_text::{list_experts, mark_imitations};
use crate::dialogue::expert_prompts::prior_rounds::{render_move, table_cell};
use crate::dialogue::expert_prompts::prompt_blocks::{PromptBlock, QuotedText};
use crate::dialogue::expert_prompts::relevance::{EntityIndex, PriorEntity};
use crate::model::entity::{ExpertMove, MoveType};
use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::lifecycle::ACTIVE_TENSION_STATUSES;
use crate::model::record::DialogueRecord;
use crate::model::text::to_one_line;
use crate::model::verdict::Verdict;

/// The sections between the earlier rounds and the instructions.
pub(crate) fn status_blocks(
    record: &DialogueRecord,
    index: &EntityIndex,
    reader: &ExpertSlug,
) -> Vec<PromptBlock> {
    // A round already ends with a rule.
    let mut rule = if record.rounds.is_empty() { "---\n\n" } else { "" };
    let mut blocks = Vec::new();
    let mut add_section = |heading: &str, text: PromptBlock| {
        blocks.push(PromptBlock::Plain(format!("{rule}## {heading}")));
        blocks.push(text);
        rule = "---\n\n";
    };
    if let Some(requests) = requests_text(record, reader) {
        let requests = PromptBlock::material("REQUESTS TO THE PANEL", requests);
        add_section("Requests to the Panel", requests);
    }
    if let Some(verdicts) = verdicts_text(record) {
        add_section("Verdicts So Far", PromptBlock::material("VERDICTS", verdicts));
    }
    let none = || PromptBlock::plain_text("None: no tension is active.");
    let active = active_table(index, reader).map_or_else(none, PromptBlock::Quoted);
    add_section("Active Tensions", active);
    if let Some(resolved) = resolved_table(index) {
        add_section("Resolved Tensions", PromptBlock::material("RESOLVED TENSIONS", resolved));
    }
    blocks
}

/// What others asked the panel for in the last round.
pub(crate) fn pending_requests<'a>(
    record: &'a DialogueRecord,
    reader: &'a ExpertSlug,
) -> impl Iterator<Item = &'a ExpertMove> {
    let last = record.rounds.last().map(|held| held.round);
    record.moves.iter().filter(move |made| {
        made.move_type == MoveType::Request && Some(made.round) == last && made.expert != *reader
    })
}

fn requests_text(record: &DialogueRecord, reader: &ExpertSlug) -> Option<String> {
    let lines: Vec<String> = pending_requests(record, reader).map(render_move).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn verdicts_text(record: &DialogueRecord) -> Option<String> {
    let result = record.verdicts.iter().map(|given| describe_verdict(&given.verdict));
    let result: Vec<String> = result.collect();
    (!result.is_empty()).then(|| result.join("\n\n"))
}

fn describe_verdict(verdict: &Verdict) -> String {
    let author = match &verdict.author_expert {
        Some(expert) => expert.display_name(),
        None => "the Judge".to_owned(),
    };
    let (kind, round) = (verdict.verdict_type, verdict.round);
    let mut result = format!("**{}** ({kind}, by {author}, Round {round}", verdict.verdict_id);
    if let Some(vote) = verdict.vote {
        result.push_str(&format!(", vote {vote}"));
    }
    result.push_str(&format!("): {}", to_one_line(&verdict.recommendation)));
    if !verdict.description.trim().is_empty() {
        result.push_str(&format!("\n{}", mark_imitations(&verdict.description)));
    }
    for condition in verdict.conditions.iter().flatten() {
        result.push_str(&format!("\n- Condition: {}", to_one_line(condition)));
    }
    let named = [
        ("Resolves", &verdict.tensions_resolved),
        ("Accepts", &verdict.tensions_accepted),
        ("Adopts", &verdict.recommendations_adopted),
    ];
    for (verb, ids) in named {
        let ids: Vec<String> = ids.iter().flatten().map(EntityId::to_string).collect();
        if !ids.is_empty() {
            result.push_str(&format!("\n- {verb}: {}", ids.join(", ")));
        }
    }
    result
}

const TABLE_HEAD: &str = "| ID | Description | Origin | Status | Your Involvement |\n\
                    |----|-------------|--------|--------|------------------|";

/// The table; `None` if no tension is active.
fn active_table(index: &EntityIndex, reader: &ExpertSlug) -> Option<QuotedText> {
    let acts = acts_of(index, reader);
    let mut table = TABLE_HEAD.to_owned();
    for tension in index.active_tensions() {
        table.push_str(&format!(
            "\n| {} | {} | {} | {} | {} |",
            tension.id,
            table_cell(&tension.label),
            list_experts(&tension.contributors),
            describe_status(tension),
            describe_involvement(tension, reader, &acts),
        ));
    }
    (table.len() > TABLE_HEAD.len()).then(|| QuotedText::material("ACTIVE TENSIONS", table))
}

/// An accepted tension stays active, and needs no further argument.
fn describe_status(tension: &PriorEntity) -> String {
    match &tension.accepted {
        Some(reason) => {
            format!("{}, accepted by the Judge: {}", tension.status, table_cell(reason))
        }
        None => tension.status.to_string(),
    }
}

/// An expert's acts on each entity, without duplicates.
type ActsByEntity = BTreeMap<EntityId, Vec<&'static str>>;

fn acts_of(index: &EntityIndex, expert: &ExpertSlug) -> ActsByEntity {
    let mut acts = ActsByEntity::new();
    let own = index.all_entities().iter().filter(|item| item.is_by(expert));
    for made in own.flat_map(|item| &item.references) {
        let (act, known) = (made.ref_type.past_tense(), acts.entry(made.target).or_default());
        if !known.contains(&act) {
            known.push(act);
        }
    }
    acts
}

fn describe_involvement(tension: &PriorEntity, reader: &ExpertSlug, acts: &ActsByEntity) -> String {
    if tension.is_by(reader) {
        return "originator".to_owned();
    }
    acts.get(&tension.id).map_or_else(|| "—".to_owned(), |acts| acts.join(", "))
}

/// The tensions that are settled; `None` if there are none.
fn resolved_table(index: &EntityIndex) -> Option<String> {
    let resolved =
        index.all_tensions().filter(|one| !ACTIVE_TENSION_STATUSES.contains(&one.status));
    let rows: Vec<String> = resolved
        .map(|tension| {
            let (id, label) = (tension.id, table_cell(&tension.label));
            format!("\n| {id} | {label} | {} |", list_experts(&tension.contributors))
        })
        .collect();
    let head = "| ID | Description | Origin |\n|----|-------------|--------|";
    (!rows.is_empty()).then(|| format!("{head}{}", rows.concat()))
}
