//! The earlier rounds in full, identical for every expert.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::dialogue::expert_prompts::context_brief::two_column_table;
use crate::dialogue::expert_prompts::foreign_text::{list_experts, mark_imitations, sanitize_name};
use crate::dialogue::expert_prompts::prompt_blocks::{PromptBlock, QuotedText};
use crate::dialogue::expert_prompts::relevance::{EntityIndex, PriorEntity};
use crate::model::ids::{EntityId, EntityKind, ExpertSlug};
use crate::model::record::{DialogueRecord, Expert, RoundRecord};
use crate::model::text::to_one_line;

const HORIZONTAL_RULE: &str = "---";

pub(crate) fn prior_rounds(record: &DialogueRecord, ledger: &EntityIndex) -> Vec<PromptBlock> {
    let mut stretches = vec![PromptBlock::plain_text("---\n\n## Prior Rounds")];
    if record.rounds.is_empty() {
        stretches.push(PromptBlock::plain_text(
            "This is the opening round: nothing was said before it.",
        ));
    }
    for held in &record.rounds {
        stretches.push(PromptBlock::Plain(round_heading(held)));
        for expert in &record.experts {
            stretches.extend(expert_contribution(expert, ledger, held.round));
        }
        stretches.extend(judge_synthesis(held));
    }
    stretches
}

/// `### Round 0 — Opening Arguments (Score: 117)`.
fn round_heading(held: &RoundRecord) -> String {
    let title = held.title.as_deref().map(sanitize_name).filter(|title| !title.is_empty());
    let title = title.map_or_else(String::new, |title| format!(" — {title}"));
    format!("### Round {}{title} (Score: {})", held.round, held.score)
}

/// An expert's contribution to a round; empty if there is none.
fn expert_contribution(expert: &Expert, ledger: &EntityIndex, round: u8) -> Vec<PromptBlock> {
    let slug = &expert.profile.expert_slug;
    let said = EntityKind::ALL.iter().flat_map(|kind| ledger.of_round(*kind, round));
    let own = said.filter(|said| said.first_author() == Some(slug));
    let told = own.map(render_entity).collect::<Vec<_>>().join("\n\n");
    if told.is_empty() {
        return Vec::new();
    }
    let label = format!("ROUND {round} {}", slug.as_str().to_ascii_uppercase());
    let sentence =
        format!("What {} contributed to round {round}, as material to judge:", slug.display_name());
    vec![
        PromptBlock::speaker_heading(expert),
        PromptBlock::quote(&label, &sentence, told),
        PromptBlock::plain_text(HORIZONTAL_RULE),
    ]
}

fn judge_synthesis(held: &RoundRecord) -> Vec<PromptBlock> {
    let round = held.round;
    let heading = PromptBlock::Plain(format!("### Judge Synthesis — Round {round}"));
    let text = match held.summary.as_deref().filter(|summary| !summary.trim().is_empty()) {
        None => PromptBlock::plain_text("The Judge wrote none."),
        Some(summary) => {
            let label = format!("SYNTHESIS OF ROUND {round}");
            let sentence = format!("How the Judge sums up round {round}, as material to judge:");
            PromptBlock::quote(&label, &sentence, mark_imitations(summary))
        }
    };
    vec![heading, text, PromptBlock::plain_text(HORIZONTAL_RULE)]
}

/// An entity as the specification shows it, with its references as markers.
fn render_entity(said: &PriorEntity) -> String {
    let label = to_one_line(&said.label);
    let head = match said.id.kind {
        EntityKind::Tension => format!("[TENSION {}: {label}]", said.id),
        EntityKind::Perspective
        | EntityKind::Recommendation
        | EntityKind::Evidence
        | EntityKind::Claim => format!("[{}: {label}]", said.id),
    };
    let names: Vec<&str> = said.contributors.iter().map(ExpertSlug::as_str).collect();
    let mut told = format!("{head} ({})\n{}", names.join(", "), mark_imitations(&said.text));
    if let Some(parameters) = &said.parameters {
        told.push_str(&format!("\n\n{}", parameters_of(parameters)));
    }
    if !said.references.is_empty() {
        let marks = said.references.iter().map(|made| {
            format!("[RE:{} {}]", made.ref_type.name().to_ascii_uppercase(), made.target)
        });
        // Markdown would read a line directly below a table as a row.
        let gap = if said.parameters.is_some() { "\n\n" } else { "\n" };
        told.push_str(&format!("{gap}{}", marks.collect::<Vec<_>>().join(" ")));
    }
    told
}

fn parameters_of(parameters: &Value) -> String {
    let fields = parameters.as_object();
    fields.map_or_else(
        || parameters.to_string(),
        |fields| two_column_table(["Parameter", "Value"], fields),
    )
}

const TABLE_HEAD: &str = "| ID | Description | Origin | Status | Your Involvement |\n\
                    |----|-------------|--------|--------|------------------|";

/// The table; `None` if no tension is active.
pub(crate) fn tensions_table(ledger: &EntityIndex, reader: &ExpertSlug) -> Option<QuotedText> {
    let acts = acts_of(ledger, reader);
    let mut table = TABLE_HEAD.to_owned();
    for tension in ledger.active_tensions() {
        table.push_str(&format!(
            "\n| {} | {} | {} | {} | {} |",
            tension.id,
            table_cell(&tension.label),
            list_experts(&tension.contributors),
            tension.status,
            describe_involvement(tension, reader, &acts),
        ));
    }
    let sentence = "The tensions in the words of those who raised them, as material to judge:";
    (table.len() > TABLE_HEAD.len()).then(|| QuotedText::new("ACTIVE TENSIONS", sentence, table))
}

/// An expert's acts on each entity, without duplicates.
type ActsByEntity = BTreeMap<EntityId, Vec<&'static str>>;

fn acts_of(ledger: &EntityIndex, expert: &ExpertSlug) -> ActsByEntity {
    let mut acts = ActsByEntity::new();
    let own = ledger.all_entities().iter().filter(|said| said.is_by(expert));
    for made in own.flat_map(|said| &said.references) {
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

/// A text on one line that cannot end its table cell.
pub(crate) fn table_cell(text: &str) -> String {
    to_one_line(text).replace('|', "\\|")
}
