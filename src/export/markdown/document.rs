//! The Markdown export of a dialogue, readable as a file and on GitHub.
//!
//! **Invariant:** headings, tables and lists are ours alone. Foreign text is quoted or escaped,
//! so it cannot add to them.

use super::escape::{self, inline, quote};
use super::table::table;
use super::{council, ending, facts, review, rounds, value, verdicts};
use crate::domain::entity::{Entity, Event};
use crate::domain::record::Record;
use crate::domain::reference::Move;
use crate::export::Ran;
use crate::export::conclusion::{self, Ended};
use crate::export::council::Deliberated;
use crate::export::shape::LAST_LINE;
use crate::export::wording;

/// A record on which nothing was run, or nothing that the record does not say.
pub fn markdown_of_record(record: &Record) -> String {
    markdown(record, None)
}

/// The whole dialogue, from the question to the hash of the chain's head.
pub fn markdown(record: &Record, ran: Option<&Ran>) -> String {
    let mut blocks = facts::blocks(record);
    blocks.extend(question(record));
    blocks.extend(background(record));
    match ran {
        Some(Ran::Council(told)) => {
            blocks.extend(concluded(record, Some(told)));
            blocks.extend(council::blocks(told));
            blocks.extend(ending::interventions(&told.interventions));
        }
        Some(Ran::Review(told)) => blocks.extend(review::blocks(told)),
        Some(Ran::Imported(rows)) => blocks.extend(review::imported(rows)),
        None => {
            blocks.extend(concluded(record, None));
            blocks.extend(verdicts::blocks(record));
            blocks.extend(facts::experts(record));
        }
    }
    blocks.extend(tensions(record));
    blocks.extend(rounds::blocks(record));
    blocks.extend(recommendations(record));
    blocks.extend(moves(record));
    blocks.extend(references(record));
    blocks.push(format!("---\n\n{LAST_LINE}{}`", escape::code(&record.head)));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n") + "\n"
}

/// The recorded conclusion, or the progress of a council without one.
fn concluded(record: &Record, told: Option<&Deliberated>) -> Vec<String> {
    let Some(concluded) = &record.conclusion else {
        return told.map_or_else(Vec::new, |told| ending::blocks(&told.ended, &[]));
    };
    let ended = Ended::by(&concluded.ending);
    let mut blocks = ending::blocks(&ended, &concluded.outcomes);
    // A council lists these with its other warnings.
    if told.is_none() {
        let warnings = conclusion::warnings(&ended, record.dialogue.opening.rehearsal);
        let items: Vec<String> =
            warnings.iter().map(|text| format!("- {}", inline(text))).collect();
        blocks.push(items.join("\n"));
    }
    blocks
}

fn question(record: &Record) -> Vec<String> {
    let Some(question) = &record.dialogue.opening.question else { return Vec::new() };
    vec!["## Question".to_owned(), quote(question)]
}

fn background(record: &Record) -> Vec<String> {
    let Some(background) = &record.dialogue.opening.background else { return Vec::new() };
    vec!["## Background".to_owned(), value::render(background)]
}

fn tensions(record: &Record) -> Vec<String> {
    let row = |tension: &Entity| {
        vec![
            tension.id.to_string(),
            inline(&tension.label),
            inline(&wording::names(&tension.contributors)),
            tension.status.to_string(),
            history(tension),
        ]
    };
    let rows: Vec<_> = record.tensions.iter().map(row).collect();
    section("Tensions", table(&["Id", "Tension", "Raised by", "Status", "History"], &rows))
}

fn history(entity: &Entity) -> String {
    let told = |event: &Event| {
        let step = inline(&wording::happened(entity.id.kind, event));
        let reason = event.reason.as_deref().map(|reason| format!(": {}", inline(reason)));
        step + &reason.unwrap_or_default()
    };
    let steps: Vec<String> = entity.events.iter().map(told).collect();
    steps.join("<br>")
}

fn recommendations(record: &Record) -> Vec<String> {
    let item = |entity: &Entity| {
        let adopted = entity.adopted_in_verdict.as_ref();
        let adopted =
            adopted.map(|id| format!(" in `{}`", escape::code(id.as_str()))).unwrap_or_default();
        let head =
            format!("- **{} {}**: {}{adopted}", entity.id, inline(&entity.label), entity.status);
        match &entity.parameters {
            Some(parameters) => format!("{head}\n{}", value::nested(parameters)),
            None => head,
        }
    };
    let items: Vec<String> = record.recommendations.iter().map(item).collect();
    section("Recommendations", items.join("\n"))
}

fn moves(record: &Record) -> Vec<String> {
    let row = |made: &Move| {
        let targets: Vec<String> = made.targets.iter().map(ToString::to_string).collect();
        vec![
            made.round.to_string(),
            inline(&made.expert.display_name()),
            made.move_type.to_string(),
            targets.join(" "),
            inline(made.context.as_deref().unwrap_or_default()),
        ]
    };
    let rows: Vec<_> = record.moves.iter().map(row).collect();
    section("Moves", table(&["Round", "Expert", "Move", "Targets", "Context"], &rows))
}

fn references(record: &Record) -> Vec<String> {
    let told = |entity: &Entity| -> Vec<String> {
        let id = entity.id;
        let points = entity.references.iter();
        points
            .map(|made| format!("- {id} {} {}", wording::verb(made.ref_type), made.target))
            .collect()
    };
    let items: Vec<String> = record.all_entities().flat_map(told).collect();
    section("References", items.join("\n"))
}

/// A heading with its content; empty if there is no content.
fn section(title: &str, body: String) -> Vec<String> {
    if body.is_empty() { Vec::new() } else { vec![format!("## {title}"), body] }
}
