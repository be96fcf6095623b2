//! The earlier rounds in full, identical for every expert: entities with their status, moves, and the
//! Judge's syntheses.

use serde_json::Value;

use crate::dialogue::expert_prompts::context_brief::two_column_table;
use crate::dialogue::expert_prompts::foreign_text::mark_imitations;
use crate::dialogue::expert_prompts::prompt_blocks::PromptBlock;
use crate::dialogue::expert_prompts::relevance::{EntityIndex, PriorEntity};
use crate::model::entity::ExpertMove;
use crate::model::ids::{EntityKind, ExpertSlug};
use crate::model::record::{DialogueRecord, Expert, RoundRecord};
use crate::model::text::to_one_line;

const HORIZONTAL_RULE: &str = "---";

pub(crate) fn prior_rounds(record: &DialogueRecord, index: &EntityIndex) -> Vec<PromptBlock> {
    let mut passages = vec![PromptBlock::plain_text("---\n\n## Prior Rounds")];
    if record.rounds.is_empty() {
        passages.push(PromptBlock::plain_text(
            "This is the opening round: nothing was said before it.",
        ));
    }
    passages.extend(record.rounds.iter().flat_map(|held| round_blocks(record, index, held)));
    passages
}

/// One round in full.
pub(crate) fn round_blocks(
    record: &DialogueRecord,
    index: &EntityIndex,
    held: &RoundRecord,
) -> Vec<PromptBlock> {
    let mut passages = round_heading(held);
    for expert in &record.experts {
        passages.extend(expert_contribution(expert, index, held.round));
    }
    passages.extend(round_moves(record, held.round));
    passages.extend(judge_synthesis(held));
    passages
}

/// `### Round 0 (Score: 117)`, then its title, which the Judge wrote.
fn round_heading(held: &RoundRecord) -> Vec<PromptBlock> {
    let (round, score) = (held.round, held.score);
    let heading = PromptBlock::Plain(format!("### Round {round} (Score: {score})"));
    let title = held.title.as_deref().map(to_one_line).filter(|title| !title.is_empty());
    let title = title.map(|title| {
        PromptBlock::material(&format!("TITLE OF ROUND {round}"), mark_imitations(&title))
    });
    std::iter::once(heading).chain(title).collect()
}

/// An expert's contribution to a round; empty if there is none.
fn expert_contribution(expert: &Expert, index: &EntityIndex, round: u8) -> Vec<PromptBlock> {
    let slug = &expert.profile.expert_slug;
    let item = EntityKind::ALL.iter().flat_map(|kind| index.of_round(*kind, round));
    let own = item.filter(|item| item.first_author() == Some(slug));
    let result = own.map(render_entity).collect::<Vec<_>>().join("\n\n");
    if result.is_empty() {
        return Vec::new();
    }
    // Others wrote the role, so it stands in the fence.
    let result = match to_one_line(&expert.profile.role) {
        role if role.is_empty() => result,
        role => format!("Role: {role}\n\n{result}"),
    };
    let label = format!("ROUND {round} {}", slug.as_str().to_ascii_uppercase());
    vec![
        PromptBlock::Speaker(slug.clone()),
        PromptBlock::material(&label, result),
        PromptBlock::plain_text(HORIZONTAL_RULE),
    ]
}

/// The moves of a round; empty if there are none.
fn round_moves(record: &DialogueRecord, round: u8) -> Vec<PromptBlock> {
    let made = record.moves.iter().filter(|made| made.round == round);
    let result = made.map(render_move).collect::<Vec<_>>().join("\n");
    if result.is_empty() {
        return Vec::new();
    }
    vec![
        PromptBlock::plain_text("#### Moves"),
        PromptBlock::material(&format!("MOVES OF ROUND {round}"), result),
        PromptBlock::plain_text(HORIZONTAL_RULE),
    ]
}

/// `- Donut [MOVE:BRIDGE P0003 R0001]: why`.
pub(crate) fn render_move(made: &ExpertMove) -> String {
    let targets: String = made.targets.iter().map(|target| format!(" {target}")).collect();
    let word = made.move_type.name().to_ascii_uppercase();
    let context = made.context.as_deref().map(to_one_line).filter(|context| !context.is_empty());
    let context = context.map_or_else(String::new, |context| format!(": {context}"));
    format!("- {} [MOVE:{word}{targets}]{context}", made.expert.display_name())
}

fn judge_synthesis(held: &RoundRecord) -> Vec<PromptBlock> {
    let round = held.round;
    let heading = PromptBlock::Plain(format!("### Judge Synthesis — Round {round}"));
    let text = match held.summary.as_deref().filter(|summary| !summary.trim().is_empty()) {
        None => PromptBlock::plain_text("The Judge wrote none."),
        Some(summary) => {
            PromptBlock::material(&format!("SYNTHESIS OF ROUND {round}"), mark_imitations(summary))
        }
    };
    vec![heading, text, PromptBlock::plain_text(HORIZONTAL_RULE)]
}

/// An entity as the specification shows it, with its references as markers.
fn render_entity(item: &PriorEntity) -> String {
    let label = to_one_line(&item.label);
    let head = match item.id.kind {
        EntityKind::Tension => format!("[TENSION {}: {label}]", item.id),
        EntityKind::Perspective
        | EntityKind::Recommendation
        | EntityKind::Evidence
        | EntityKind::Claim => format!("[{}: {label}]", item.id),
    };
    let names: Vec<&str> = item.contributors.iter().map(ExpertSlug::as_str).collect();
    let (names, status) = (names.join(", "), item.status);
    let mut result = format!("{head} ({names}) · {status}\n{}", mark_imitations(&item.text));
    if let Some(parameters) = &item.parameters {
        result.push_str(&format!("\n\n{}", parameters_of(parameters)));
    }
    if !item.references.is_empty() {
        let marks = item.references.iter().map(|made| {
            format!("[RE:{} {}]", made.ref_type.name().to_ascii_uppercase(), made.target)
        });
        // Markdown would read a line directly below a table as a row.
        let gap = if item.parameters.is_some() { "\n\n" } else { "\n" };
        result.push_str(&format!("{gap}{}", marks.collect::<Vec<_>>().join(" ")));
    }
    result
}

fn parameters_of(parameters: &Value) -> String {
    let fields = parameters.as_object();
    fields.map_or_else(
        || parameters.to_string(),
        |fields| two_column_table(["Parameter", "Value"], fields),
    )
}

/// A text on one line that cannot end its table cell.
pub(crate) fn table_cell(text: &str) -> String {
    to_one_line(text).replace('|', "\\|")
}
