//! The Markdown export of a dialogue, readable as a file and on GitHub.
//!
//! **Invariant:** headings, tables and lists are ours alone. Foreign text is quoted or escaped,
//! so it cannot add to them.

use serde_json::Value;

use crate::model::entity::{Entity, EntityEvent, ExpertMove};
use crate::model::record::{DialogueRecord, Expert, RoundRecord};
use crate::model::verdict::{Verdict, VerdictType};
use crate::protocols::conclusion::document::ConclusionView;
use crate::protocols::conclusion::markdown::{conclusion_blocks, intervention_blocks};
use crate::protocols::conclusion::phrases::conclusion_warnings;
use crate::protocols::council::document::CouncilDocument;
use crate::protocols::council::markdown::council_blocks;
use crate::protocols::review::markdown::{imported_blocks, review_blocks};
use crate::report::dialogue_facts::RoundContributions;
use crate::report::dialogue_json::{LAST_LINE_PREFIX, RunExport};
use crate::report::markdown::escape::{escape_code, escape_inline, quote_text, render_table};
use crate::report::phrases::{
    REHEARSAL_NOTE, conclusion_state, entity_relations, event_phrase, join_experts, reference_verb,
    settled_lists, sorted_verdicts, verdict_caution, verdict_details,
};

/// A record on which nothing was run, or nothing that the record does not say.
pub fn markdown_of_record(record: &DialogueRecord) -> String {
    dialogue_markdown(record, None)
}

/// The whole dialogue, from the question to the hash of the chain's head.
pub fn dialogue_markdown(record: &DialogueRecord, ran: Option<&RunExport>) -> String {
    let mut blocks = facts_blocks(record);
    blocks.extend(question_section(record));
    blocks.extend(background_section(record));
    match ran {
        Some(RunExport::Council(told)) => {
            blocks.extend(conclusion_section(record, Some(told)));
            blocks.extend(council_blocks(told));
            blocks.extend(intervention_blocks(&told.interventions));
        }
        Some(RunExport::Review(told)) => blocks.extend(review_blocks(told)),
        Some(RunExport::Imported(rows)) => blocks.extend(imported_blocks(rows)),
        None => {
            blocks.extend(conclusion_section(record, None));
            blocks.extend(verdicts_blocks(record));
            blocks.extend(experts_table(record));
        }
    }
    blocks.extend(tensions_section(record));
    blocks.extend(rounds_blocks(record));
    blocks.extend(recommendations_section(record));
    blocks.extend(moves_section(record));
    blocks.extend(references_section(record));
    blocks.push(format!("---\n\n{LAST_LINE_PREFIX}{}`", escape_code(&record.head)));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n\n") + "\n"
}

/// The recorded conclusion, or the progress of a council without one.
fn conclusion_section(record: &DialogueRecord, told: Option<&CouncilDocument>) -> Vec<String> {
    let Some(concluded) = &record.conclusion else {
        return told.map_or_else(Vec::new, |told| conclusion_blocks(&told.ended, &[]));
    };
    let ended = ConclusionView::from_result(&concluded.ending);
    let mut blocks = conclusion_blocks(&ended, &concluded.outcomes);
    // A council lists these with its other warnings.
    if told.is_none() {
        let warnings = conclusion_warnings(&ended, record.dialogue.opening.rehearsal);
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
    vec!["## Background".to_owned(), render_value(background)]
}

fn tensions_section(record: &DialogueRecord) -> Vec<String> {
    let row = |tension: &Entity| {
        vec![
            tension.id.to_string(),
            escape_inline(&tension.label),
            escape_inline(&join_experts(&tension.contributors)),
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
        let step = escape_inline(&event_phrase(entity.id.kind, event));
        let reason = event.reason.as_deref().map(|reason| format!(": {}", escape_inline(reason)));
        step + &reason.unwrap_or_default()
    };
    let steps: Vec<String> = entity.events.iter().map(told).collect();
    steps.join("<br>")
}

fn recommendations_section(record: &DialogueRecord) -> Vec<String> {
    let item = |entity: &Entity| {
        let adopted = entity.adopted_in_verdict.as_ref();
        let adopted =
            adopted.map(|id| format!(" in `{}`", escape_code(id.as_str()))).unwrap_or_default();
        let head = format!(
            "- **{} {}**: {}{adopted}",
            entity.id,
            escape_inline(&entity.label),
            entity.status
        );
        match &entity.parameters {
            Some(parameters) => format!("{head}\n{}", nested_value(parameters)),
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
            .map(|made| format!("- {id} {} {}", reference_verb(made.ref_type), made.target))
            .collect()
    };
    let items: Vec<String> = record.all_entities().flat_map(told).collect();
    titled_section("References", items.join("\n"))
}

/// A heading with its content; empty if there is no content.
fn titled_section(title: &str, body: String) -> Vec<String> {
    if body.is_empty() { Vec::new() } else { vec![format!("## {title}"), body] }
}

pub(crate) fn facts_blocks(record: &DialogueRecord) -> Vec<String> {
    let dialogue = &record.dialogue;
    let opening = &dialogue.opening;
    let mut facts = vec![
        ("Dialogue", format!("`{}`", escape_code(opening.dialogue_id.as_str()))),
        ("Status", dialogue.status.to_string()),
        ("Protocol", opening.protocol.to_string()),
        ("Rounds", dialogue.total_rounds.to_string()),
    ];
    // Only a Judge gives scores.
    if opening.protocol.is_judged() {
        facts.push(("ALIGNMENT", dialogue.total_alignment.to_string()));
        facts.push(("Convergence asked", format!("{}%", opening.convergence_percent)));
    }
    facts.push(("Opened", dialogue.created_at.to_string()));
    facts.extend(dialogue.converged_at.map(|moment| ("Converged", moment.to_string())));
    facts.extend(conclusion_state(record).map(|state| ("Conclusion", state.to_owned())));
    let rows: Vec<_> = facts.into_iter().map(|(name, fact)| vec![name.to_owned(), fact]).collect();
    let rehearsal = opening.rehearsal.then(|| format!("**Rehearsal**: {REHEARSAL_NOTE}."));
    let title = format!("# {}", escape_inline(&opening.title));
    [Some(title), rehearsal, Some(render_table(&["", ""], &rows))].into_iter().flatten().collect()
}

pub(crate) fn experts_table(record: &DialogueRecord) -> Vec<String> {
    if record.experts.is_empty() {
        return Vec::new();
    }
    let rounds = record.rounds.iter().map(|round| format!("r{}", round.round));
    let head: Vec<String> = ["Expert", "Role", "Tier", "Source"]
        .map(str::to_owned)
        .into_iter()
        .chain(rounds)
        .chain(["Total".to_owned()])
        .collect();
    let rows: Vec<_> = record.experts.iter().map(|expert| expert_row(record, expert)).collect();
    vec!["## Experts".to_owned(), render_table(&head, &rows)]
}

fn expert_row(record: &DialogueRecord, expert: &Expert) -> Vec<String> {
    let profile = &expert.profile;
    let score = |round: u8| expert.scores.get(&round).map(ToString::to_string).unwrap_or_default();
    let mut cells = vec![
        escape_inline(&profile.expert_slug.display_name()),
        escape_inline(&profile.role),
        profile.tier.to_string(),
        profile.source.to_string(),
    ];
    cells.extend(record.rounds.iter().map(|round| score(round.round)));
    cells.push(expert.total.to_string());
    cells
}

pub(crate) fn rounds_blocks(record: &DialogueRecord) -> Vec<String> {
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
    told.extend(entity_relations(entity).iter().map(|relation| escape_inline(relation)));
    vec![told.join(" · "), quote_text(&entity.text)]
}

/// A value as a separate block.
pub(crate) fn render_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote_text(text),
        Value::Object(_) | Value::Array(_) => value_items(value, 0).join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A value as a list under a list item.
pub(crate) fn nested_value(value: &Value) -> String {
    if is_nested(value) {
        value_items(value, 1).join("\n")
    } else {
        format!("  - `{}`", escape_code(&value.to_string()))
    }
}

fn value_items(value: &Value, depth: usize) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| {
                value_item(&format!("**{}**", escape_inline(name)), value, depth)
            })
            .collect(),
        Value::Array(values) => {
            values.iter().flat_map(|value| value_item("", value, depth)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// One bullet with its nested items.
fn value_item(name: &str, value: &Value, depth: usize) -> Vec<String> {
    let bullet = "  ".repeat(depth) + "-";
    if is_nested(value) {
        let head =
            if name.is_empty() { format!("{bullet} ·") } else { format!("{bullet} {name}") };
        return std::iter::once(head).chain(value_items(value, depth + 1)).collect();
    }
    let told = value.as_str().map_or_else(|| escape_inline(&value.to_string()), escape_inline);
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    vec![format!("{bullet} {name}{told}").trim_end().to_owned()]
}

/// Whether the value has nested items.
fn is_nested(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

pub(crate) fn verdicts_blocks(record: &DialogueRecord) -> Vec<String> {
    let verdicts = sorted_verdicts(record);
    if verdicts.is_empty() {
        return Vec::new();
    }
    let heading = std::iter::once("## Verdicts".to_owned());
    heading.chain(verdicts.into_iter().flat_map(verdict_blocks)).collect()
}

fn verdict_blocks(verdict: &Verdict) -> Vec<String> {
    let mut blocks = vec![
        format!("### {} `{}`", verdict_title(verdict.verdict_type), verdict.verdict_id),
        format!("**{}**", escape_inline(&verdict.recommendation)),
        escape_inline(&verdict_details(verdict).join(" · ")),
    ];
    if let Some((word, reason)) = verdict_caution(verdict) {
        blocks.push(format!("**{word}**: {}", escape_inline(reason)));
    }
    blocks.push(quote_text(&verdict.description));
    blocks.extend(condition_blocks(verdict));
    let settled = settled_lists(verdict);
    let settled: Vec<String> =
        settled.iter().map(|(name, ids)| format!("- {name} {ids}")).collect();
    blocks.push(settled.join("\n"));
    blocks
}

fn verdict_title(verdict_type: VerdictType) -> &'static str {
    match verdict_type {
        VerdictType::Final => "Final verdict",
        VerdictType::Interim => "Interim verdict",
        VerdictType::Minority => "Minority verdict",
        VerdictType::Dissent => "Dissent",
    }
}

fn condition_blocks(verdict: &Verdict) -> Vec<String> {
    let conditions = verdict.conditions.as_deref().unwrap_or_default();
    if conditions.is_empty() {
        return Vec::new();
    }
    let numbered = |(place, condition): (usize, &String)| {
        format!("{}. {}", place + 1, escape_inline(condition))
    };
    let items: Vec<String> = conditions.iter().enumerate().map(numbered).collect();
    vec!["Conditions:".to_owned(), items.join("\n")]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_nest_as_lists() {
        let value = json!({
            "a|b": "x\n# y", "n": 1, "none": [], "list": ["one", {"deep": null}, [2]],
        });
        insta::assert_snapshot!(render_value(&value), @r#"
        - **a\|b**: x \# y
        - **n**: 1
        - **none**: \[\]
        - **list**
          - one
          - ·
            - **deep**: null
          - ·
            - 2
        "#);
        assert_eq!(render_value(&json!("two\nlines")), "> two\n> lines");
    }
}
