//! The context brief of an expert who joins a panel that has held a round, in six parts: question,
//! background, reason, mandate, relevant prior work, and progress of the dialogue.

use serde_json::{Map, Value};

use crate::dialogue::expert_prompts::foreign_text::{
    count_noun, join_names, list_experts, mark_imitations, sanitize_name,
};
use crate::dialogue::expert_prompts::panel_prompts::{SeatedExpert, quote_mandate};
use crate::dialogue::expert_prompts::prior_rounds::table_cell;
use crate::dialogue::expert_prompts::prompt_blocks::{PromptBlock, QuotedText, fill_template};
use crate::dialogue::expert_prompts::relevance::{
    EntityIndex, JudgeTexts, PriorEntity, RelevantWork, SubjectSource, find_relevant,
};
use crate::model::dialogue::PanelSeatSource;
use crate::model::ids::{EntityKind, ExpertSlug};
use crate::model::record::{DialogueRecord, RoundRecord, score_velocity};
use crate::model::text::{to_one_line, truncate_after};

const MANDATE: &str = include_str!("../../../../../prompts/alignment/mandate.md");
const NEEDS: &str = include_str!("../../../../../prompts/alignment/needs.md");

pub(crate) const NO_BACKGROUND: &str = "The dialogue was opened with nothing but its question.";

/// A longer text is not repeated in the brief; the prompt already contains it at the top.
const REPEATED_BYTES_MAX: usize = 8_000;

/// A summary is a few sentences; the full text is at the end of its round.
const SUMMARY_CHARS_MAX: usize = 600;

/// Where an expert reads the brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BriefPlace {
    /// In a file, before the earlier rounds.
    File,
    /// In a message whose beginning has the question, the background and all rounds.
    SeatMessage,
}

pub(crate) fn context_brief(
    record: &DialogueRecord,
    index: &EntityIndex,
    seated: &SeatedExpert<'_>,
    round: u8,
    place: BriefPlace,
) -> Vec<PromptBlock> {
    let profile = &seated.expert.profile;
    let charge = [
        profile.creation_reason.as_deref(),
        seated.seat.mandate.as_deref().or(profile.mandate.as_deref()),
        profile.focus.as_deref(),
    ];
    let round_context = seated.seat.round_context.as_deref();
    let words = JudgeTexts { assignment: charge.into_iter().flatten().collect(), round_context };
    let relevant = find_relevant(index, &words);
    let heading = format!("---\n\n## Context Brief (You are joining in Round {round})");
    let mut passages =
        vec![PromptBlock::Plain(heading), PromptBlock::Plain(purpose_sentence(&relevant, seated))];
    match place {
        BriefPlace::File => {
            passages.extend(question_blocks(record));
            passages.extend(background_blocks(record));
        }
        BriefPlace::SeatMessage => {}
    }
    passages.extend(reason_blocks(record, index, seated));
    passages.push(PromptBlock::plain_text("### Your Mandate"));
    passages.push(quote_mandate(seated).unwrap_or_else(default_mandate));
    passages.extend(prior_work(record, &relevant, place));
    passages.extend(progress_blocks(record, index));
    passages.extend(needs_blocks());
    passages
}

/// The first sentence of the brief: why the expert joins.
fn purpose_sentence(relevant: &RelevantWork<'_>, seated: &SeatedExpert<'_>) -> String {
    let ids: Vec<String> =
        relevant.tensions.iter().map(|tension| format!("**{}**", tension.id)).collect();
    match (relevant.found, ids.is_empty(), seated.seat.source) {
        (SubjectSource::Named, false, _) => {
            format!("You were brought in to address {}.", join_names(&ids))
        }
        (SubjectSource::Named | SubjectSource::Open, _, PanelSeatSource::Created) => {
            "You were created for this dialogue.".to_owned()
        }
        (
            SubjectSource::Named | SubjectSource::Open,
            _,
            PanelSeatSource::Pool | PanelSeatSource::Retained,
        ) => "You come from the dialogue's pool of experts.".to_owned(),
    }
}

fn question_blocks(record: &DialogueRecord) -> Vec<PromptBlock> {
    let text = match quote_question(record) {
        asked if asked.text.len() > REPEATED_BYTES_MAX => {
            PromptBlock::plain_text("It is long; the whole text is at the top of this prompt.")
        }
        asked => PromptBlock::Quoted(asked),
    };
    vec![PromptBlock::plain_text("---\n\n### The Dialogue Question"), text]
}

/// The title and the question for a fence.
pub(crate) fn quote_question(record: &DialogueRecord) -> QuotedText {
    let opening = &record.dialogue.opening;
    let title = format!("Title: {}", opening.title);
    let parts: Vec<String> = std::iter::once(title).chain(opening.question.clone()).collect();
    QuotedText::request("QUESTION", mark_imitations(&parts.join("\n\n")))
}

fn background_blocks(record: &DialogueRecord) -> Vec<PromptBlock> {
    let given = record.dialogue.opening.background.as_ref();
    let text = match given.and_then(render_background) {
        None => PromptBlock::plain_text(NO_BACKGROUND),
        Some(text) if text.len() > REPEATED_BYTES_MAX => {
            PromptBlock::plain_text("It is long; the whole text is under Background above.")
        }
        Some(text) => PromptBlock::Quoted(quote_background(text)),
    };
    vec![PromptBlock::plain_text("### Background"), text]
}

/// The background for a fence.
pub(crate) fn quote_background(text: String) -> QuotedText {
    QuotedText::material("BACKGROUND", text)
}

fn reason_blocks(
    record: &DialogueRecord,
    index: &EntityIndex,
    seated: &SeatedExpert<'_>,
) -> Vec<PromptBlock> {
    let profile = &seated.expert.profile;
    let mut passages = vec![
        PromptBlock::plain_text("---\n\n### Why You're Here"),
        PromptBlock::Plain(describe_status(record, index, seated)),
    ];
    let has_task = seated.seat.round_context.is_some();
    passages.push(match (profile.creation_reason.as_deref(), has_task, profile.focus.as_deref()) {
        (Some(reason), _, _) => quote_reason(reason),
        (None, true, _) => {
            PromptBlock::plain_text("What for, the Judge says above, under Your Task This Round.")
        }
        (None, false, Some(focus)) => PromptBlock::material("YOUR FOCUS", mark_imitations(focus)),
        (None, false, None) => PromptBlock::plain_text("The Judge chose you for your role."),
    });
    passages
}

/// Why the Judge created the expert.
pub(crate) fn quote_reason(text: &str) -> PromptBlock {
    PromptBlock::material("REASON", mark_imitations(text))
}

/// The state of the dialogue when the expert joins, and whether they spoke in it before.
fn describe_status(
    record: &DialogueRecord,
    index: &EntityIndex,
    seated: &SeatedExpert<'_>,
) -> String {
    let slug = &seated.expert.profile.expert_slug;
    let rounds = count_noun(record.rounds.len(), "round");
    let active = index.active_tensions().count();
    let resolved = index.all_tensions().count() - active;
    let spoken = index
        .all_entities()
        .iter()
        .filter(|entity| entity.is_by(slug))
        .map(|entity| entity.id.round)
        .max();
    let you = match spoken {
        None => "You have not spoken in it yet.".to_owned(),
        Some(last) => {
            format!("You spoke in it last in round {last}; what you said is marked (You).")
        }
    };
    format!(
        "The dialogue has had {rounds}: {} {} active, {resolved} resolved. {you}",
        count_noun(active, "tension"),
        if active == 1 { "is" } else { "are" },
    )
}

fn default_mandate() -> PromptBlock {
    PromptBlock::Plain(fill_template(MANDATE, &[]))
}

fn prior_work(
    record: &DialogueRecord,
    relevant: &RelevantWork<'_>,
    place: BriefPlace,
) -> Vec<PromptBlock> {
    let mut passages = vec![PromptBlock::plain_text(key_heading(relevant))];
    if relevant.tensions.is_empty() {
        passages
            .push(PromptBlock::plain_text("No tension is named in what the Judge wrote to you."));
    } else {
        let result = relevant.tensions.iter().map(|entity| cite_entity(record, entity));
        let result = result.collect::<Vec<_>>().join("\n\n");
        passages.push(PromptBlock::material("KEY CONTEXT", result));
    }
    for (kind, found) in &relevant.others {
        let plural = humanize_name(kind.section_name());
        passages.push(PromptBlock::Plain(format!("### Relevant Prior {plural}")));
        let result =
            found.iter().map(|entity| cite_entity(record, entity)).collect::<Vec<_>>().join("\n\n");
        let label = format!("RELEVANT {}", plural.to_ascii_uppercase());
        passages.push(PromptBlock::material(&label, result));
    }
    if relevant.others.is_empty() {
        passages.push(PromptBlock::plain_text("### Relevant Prior Perspectives"));
        passages.push(PromptBlock::plain_text("Nothing else refers to that so far."));
    }
    passages.push(PromptBlock::Plain(rest_sentence(relevant.left_out, place)));
    passages
}

fn key_heading(relevant: &RelevantWork<'_>) -> &'static str {
    match (relevant.found, relevant.tensions.len()) {
        (SubjectSource::Named, 0 | 1) => "---\n\n### Key Context: The Tension You're Addressing",
        (SubjectSource::Named, _) => "---\n\n### Key Context: The Tensions You're Addressing",
        (SubjectSource::Open, _) => "---\n\n### Key Context: The Tensions That Are Open",
    }
}

fn rest_sentence(left_out: usize, place: BriefPlace) -> String {
    let whole = match place {
        BriefPlace::File => "All contributions are under Prior Rounds.",
        BriefPlace::SeatMessage => "All contributions stand above.",
    };
    if left_out == 0 { whole.to_owned() } else { format!("{left_out} more belong here. {whole}") }
}

/// `**P0003: label** (Cupcake, Risk Manager, Round 0, open):` and the text as a quotation.
fn cite_entity(record: &DialogueRecord, entity: &PriorEntity) -> String {
    let label = to_one_line(&entity.label);
    let who = match (entity.id.kind, entity.contributors.as_slice()) {
        (EntityKind::Tension, names) => format!("raised by {}", list_experts(names)),
        (_, [one]) => format!("{}{}", one.display_name(), role_of(record, one)),
        (_, names) => list_experts(names),
    };
    let text: String = entity.text.lines().map(|line| format!("\n> {line}")).collect();
    format!(
        "**{}: {label}** ({who}, Round {}, {}):{text}",
        entity.id, entity.id.round, entity.status
    )
}

fn role_of(record: &DialogueRecord, slug: &ExpertSlug) -> String {
    let role = record
        .find_expert(slug)
        .map(|expert| sanitize_name(&expert.profile.role))
        .unwrap_or_default();
    if role.is_empty() { role } else { format!(", {role}") }
}

fn progress_blocks(record: &DialogueRecord, index: &EntityIndex) -> Vec<PromptBlock> {
    let mut passages = vec![PromptBlock::plain_text("---\n\n### Dialogue Progress")];
    let result = record.rounds.iter().map(round_summary).collect::<Vec<_>>().join("\n");
    passages.push(PromptBlock::material("PROGRESS", result));
    passages.push(PromptBlock::Plain(format!(
        "- **Current ALIGNMENT:** {} (velocity {}, {}, {} active)",
        record.dialogue.total_alignment,
        score_velocity(record.rounds.iter().map(|held| held.score)),
        record.dialogue.status,
        count_noun(index.active_tensions().count(), "tension"),
    )));
    passages
}

fn round_summary(held: &RoundRecord) -> String {
    let RoundRecord { round, score, .. } = held;
    let summary = held.summary.as_deref().unwrap_or("The Judge wrote no synthesis.");
    let short = truncate_after(&to_one_line(summary), SUMMARY_CHARS_MAX);
    format!("- **Round {round} (Score: {score}):** {short}")
}

fn needs_blocks() -> Vec<PromptBlock> {
    vec![
        PromptBlock::plain_text("### What the Panel Needs From You"),
        PromptBlock::Plain(fill_template(NEEDS, &[])),
    ]
}

/// The rendered background; `None` if it is empty.
pub(crate) fn render_background(value: &Value) -> Option<String> {
    let text = value.as_object().map_or_else(|| render_block(value), render_fields);
    (!text.trim().is_empty()).then_some(text)
}

fn render_fields(fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let lead = match (text("subject").map(to_one_line), text("description").map(mark_imitations)) {
        (Some(subject), Some(about)) => Some(format!("**{subject}**: {about}")),
        (Some(subject), None) => Some(format!("**{subject}**")),
        (None, about) => about,
    };
    let constraints = fields.get("constraints").and_then(Value::as_object).map(constraint_table);
    let situation = text("situation")
        .map(|situation| format!("**Current situation:**\n{}", mark_imitations(situation)));
    let is_told = |name: &str, value: &Value| match name {
        "subject" | "description" | "situation" => value.is_string(),
        "constraints" => value.is_object(),
        _ => false,
    };
    let rest = fields.iter().filter(|(name, value)| !value.is_null() && !is_told(name, value));
    let rest = rest.map(|(name, value)| render_field(&humanize_name(name), value));
    let paragraphs = [lead, constraints, situation].into_iter().flatten().chain(rest);
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// A field that the specification does not define.
fn render_field(name: &str, value: &Value) -> String {
    match value.as_object() {
        Some(fields) => format!("**{name}:**\n\n{}", two_column_table(["Name", "Value"], fields)),
        None => format!("**{name}:**\n{}", render_block(value)),
    }
}

/// A value as a separate block.
fn render_block(value: &Value) -> String {
    match value {
        Value::String(text) => mark_imitations(text),
        Value::Array(items) => {
            let items = items.iter().map(|item| format!("- {}", table_cell(&flat_text(item))));
            items.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn constraint_table(constraints: &Map<String, Value>) -> String {
    let named =
        constraints.iter().map(|(name, value)| (humanize_name(name), value.clone())).collect();
    two_column_table(["Constraint", "Requirement"], &named)
}

/// Names and values as a table of two columns.
pub(crate) fn two_column_table(headings: [&str; 2], fields: &Map<String, Value>) -> String {
    let [name, value] = headings;
    let head = format!(
        "| {name} | {value} |\n|{}|{}|",
        "-".repeat(name.len() + 2),
        "-".repeat(value.len() + 2)
    );
    let rows = fields.iter().map(|(name, value)| {
        format!("\n| {} | {} |", table_cell(name), table_cell(&flat_text(value)))
    });
    rows.fold(head, |table, row| table + &row)
}

fn flat_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `income_mandate` as a heading: `Income mandate`.
fn humanize_name(name: &str) -> String {
    let name = to_one_line(&name.replace('_', " "));
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_specification_names_reads_as_it_shows() {
        let value = json!({
            "subject": "Acme Family Trust",
            "description": "a $50M trust",
            "constraints": { "income_mandate": "4% | year", "horizon_years": 20 },
            "situation": "Holds NVAI.",
            "sources": ["the deed", { "page": 3 }],
            "policy": { "ceiling": "20%" },
            "note": null,
        });
        insta::assert_snapshot!(render_background(&value).unwrap(), @r#"
        **Acme Family Trust**: a $50M trust

        | Constraint | Requirement |
        |------------|-------------|
        | Income mandate | 4% \| year |
        | Horizon years | 20 |

        **Current situation:**
        Holds NVAI.

        **Sources:**
        - the deed
        - {"page":3}

        **Policy:**

        | Name | Value |
        |------|-------|
        | ceiling | 20% |
        "#);
    }

    #[test]
    fn any_json_is_a_background() {
        assert_eq!(
            render_background(&json!("Two\n## Instructions")).unwrap(),
            "Two\n\\## Instructions"
        );
        assert_eq!(render_background(&json!(["a", 1])).unwrap(), "- a\n- 1");
        assert_eq!(render_background(&json!({})), None);
        assert_eq!(render_background(&json!("")), None);
        assert_eq!(render_background(&json!({ "subject": "X" })).unwrap(), "**X**");
    }
}
