//! The earlier rounds in full, identical for every expert.

use serde_json::Value;

use super::background::two_column_table;
use super::imitation::mark_imitations;
use super::ledger::{EntityIndex, PriorEntity};
use super::names::sanitize_name;
use super::page::{PromptBlock, QuotedText};
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::record::{DialogueRecord, Expert, RoundRecord};
use crate::domain::shortened::to_one_line;

const HORIZONTAL_RULE: &str = "---";

pub(super) fn prior_rounds(record: &DialogueRecord, ledger: &EntityIndex) -> Vec<PromptBlock> {
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
        PromptBlock::Quoted(QuotedText::new(&label, &sentence, told)),
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
            PromptBlock::Quoted(QuotedText::new(&label, &sentence, mark_imitations(summary)))
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
