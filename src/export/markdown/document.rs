//! The Markdown export of a dialogue, readable as a file and on GitHub.
//!
//! **Invariant:** headings, tables and lists are ours alone. Foreign text is quoted or escaped,
//! so it cannot add to them.

use super::escape::{self, escape_inline, quote_text};
use super::table::render_table;
use super::{council, ending, facts, review, rounds, value, verdicts};
use crate::domain::entity::{Entity, EntityEvent};
use crate::domain::record::DialogueRecord;
use crate::domain::reference::ExpertMove;
use crate::export::RunExport;
use crate::export::conclusion::{self, ConclusionView};
use crate::export::council::CouncilDocument;
use crate::export::shape::LAST_LINE_PREFIX;
use crate::export::wording;

/// A record on which nothing was run, or nothing that the record does not say.
pub fn markdown_of_record(record: &DialogueRecord) -> String {
    dialogue_markdown(record, None)
}

/// The whole dialogue, from the question to the hash of the chain's head.
pub fn dialogue_markdown(record: &DialogueRecord, ran: Option<&RunExport>) -> String {
    let mut blocks = facts::facts_blocks(record);
    blocks.extend(question_section(record));
    blocks.extend(background_section(record));
    match ran {
        Some(RunExport::Council(told)) => {
            blocks.extend(conclusion_section(record, Some(told)));
            blocks.extend(council::council_blocks(told));
            blocks.extend(ending::intervention_blocks(&told.interventions));
        }
        Some(RunExport::Review(told)) => blocks.extend(review::review_blocks(told)),
        Some(RunExport::Imported(rows)) => blocks.extend(review::imported_blocks(rows)),
        None => {
            blocks.extend(conclusion_section(record, None));
            blocks.extend(verdicts::verdicts_blocks(record));
            blocks.extend(facts::experts_table(record));
        }
    }
    blocks.extend(tensions_section(record));
    blocks.extend(rounds::rounds_blocks(record));
    blocks.extend(recommendations_section(record));
    blocks.extend(moves_section(record));
    blocks.extend(references_section(record));
    blocks.push(format!("---\n\n{LAST_LINE_PREFIX}{}`", escape::escape_code(&record.head)));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n") + "\n"
}

/// The recorded conclusion, or the progress of a council without one.
fn conclusion_section(record: &DialogueRecord, told: Option<&CouncilDocument>) -> Vec<String> {
    let Some(concluded) = &record.conclusion else {
        return told.map_or_else(Vec::new, |told| ending::conclusion_blocks(&told.ended, &[]));
    };
    let ended = ConclusionView::from_result(&concluded.ending);
    let mut blocks = ending::conclusion_blocks(&ended, &concluded.outcomes);
    // A council lists these with its other warnings.
    if told.is_none() {
        let warnings = conclusion::conclusion_warnings(&ended, record.dialogue.opening.rehearsal);
        let items: Vec<String> =
            warnings.iter().map(|text| format!("- {}", escape_inline(text))).collect();
        blocks.push(items.join("\n"));
    }
    blocks
}

fn question_section(record: &DialogueRecord) -> Vec<String> {
    let Some(question) = &record.dialogue.opening.question else { return Vec::new() };
    vec!["## Question".to_owned(), quote_text(question)]
}

fn background_section(record: &DialogueRecord) -> Vec<String> {
    let Some(background) = &record.dialogue.opening.background else { return Vec::new() };
    vec!["## Background".to_owned(), value::render_value(background)]
}

fn tensions_section(record: &DialogueRecord) -> Vec<String> {
    let row = |tension: &Entity| {
        vec![
            tension.id.to_string(),
            escape_inline(&tension.label),
            escape_inline(&wording::join_experts(&tension.contributors)),
            tension.status.to_string(),
            event_history(tension),
        ]
    };
    let rows: Vec<_> = record.tensions.iter().map(row).collect();
    titled_section(
        "Tensions",
        render_table(&["Id", "Tension", "Raised by", "Status", "History"], &rows),
    )
}

fn event_history(entity: &Entity) -> String {
    let told = |event: &EntityEvent| {
        let step = escape_inline(&wording::event_phrase(entity.id.kind, event));
        let reason = event.reason.as_deref().map(|reason| format!(": {}", escape_inline(reason)));
        step + &reason.unwrap_or_default()
    };
    let steps: Vec<String> = entity.events.iter().map(told).collect();
    steps.join("<br>")
}

fn recommendations_section(record: &DialogueRecord) -> Vec<String> {
    let item = |entity: &Entity| {
        let adopted = entity.adopted_in_verdict.as_ref();
        let adopted = adopted
            .map(|id| format!(" in `{}`", escape::escape_code(id.as_str())))
            .unwrap_or_default();
        let head = format!(
            "- **{} {}**: {}{adopted}",
            entity.id,
            escape_inline(&entity.label),
            entity.status
        );
        match &entity.parameters {
            Some(parameters) => format!("{head}\n{}", value::nested_value(parameters)),
            None => head,
        }
    };
    let items: Vec<String> = record.recommendations.iter().map(item).collect();
    titled_section("Recommendations", items.join("\n"))
}

fn moves_section(record: &DialogueRecord) -> Vec<String> {
    let row = |made: &ExpertMove| {
        let targets: Vec<String> = made.targets.iter().map(ToString::to_string).collect();
        vec![
            made.round.to_string(),
            escape_inline(&made.expert.display_name()),
            made.move_type.to_string(),
            targets.join(" "),
            escape_inline(made.context.as_deref().unwrap_or_default()),
        ]
    };
    let rows: Vec<_> = record.moves.iter().map(row).collect();
    titled_section("Moves", render_table(&["Round", "Expert", "Move", "Targets", "Context"], &rows))
}

fn references_section(record: &DialogueRecord) -> Vec<String> {
    let told = |entity: &Entity| -> Vec<String> {
        let id = entity.id;
        let points = entity.references.iter();
        points
            .map(|made| {
                format!("- {id} {} {}", wording::reference_verb(made.ref_type), made.target)
            })
            .collect()
    };
    let items: Vec<String> = record.all_entities().flat_map(told).collect();
    titled_section("References", items.join("\n"))
}

/// A heading with its content; empty if there is no content.
fn titled_section(title: &str, body: String) -> Vec<String> {
    if body.is_empty() { Vec::new() } else { vec![format!("## {title}"), body] }
}
