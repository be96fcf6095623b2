//! The context brief of an expert who joins the panel, in six parts: question, background,
//! reason, mandate, relevant prior work, and progress of the dialogue.

use super::background::{background_subject, render_background};
use super::imitation::mark_imitations;
use super::ledger::{EntityIndex, PriorEntity};
use super::names::{count_noun, join_names, list_experts, sanitize_name};
use super::page::{PromptBlock, QuotedText, fill_template};
use super::relevant::{JudgeTexts, RelevantWork, SubjectSource, find_relevant};
use super::role::{SeatedExpert, quote_mandate};
use crate::domain::expert::{ExpertSource, PanelSeatSource};
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::record::{DialogueRecord, RoundRecord, score_velocity};
use crate::domain::shortened::{to_one_line, truncate_after};

const MANDATE: &str = include_str!("../../../prompts/alignment/mandate.md");
const MANDATE_OPENING: &str = include_str!("../../../prompts/alignment/mandate-opening.md");
const NEEDS: &str = include_str!("../../../prompts/alignment/needs.md");
const NEEDS_OPENING: &str = include_str!("../../../prompts/alignment/needs-opening.md");

pub(super) const NO_QUESTION: &str =
    "No question was written down; the title says what it is about.";

pub(super) const NO_BACKGROUND: &str = "The dialogue was opened with nothing but its question.";

/// A longer text is not repeated in the brief; the prompt already contains it at the top.
const REPEATED_BYTES_MAX: usize = 8_000;

/// A summary is a few sentences; the full text is at the end of its round.
const SUMMARY_CHARS_MAX: usize = 600;

pub(super) fn context_brief(
    record: &DialogueRecord,
    ledger: &EntityIndex,
    seated: &SeatedExpert<'_>,
    round: u8,
) -> Vec<PromptBlock> {
    let profile = &seated.expert.profile;
    let charge = [
        profile.creation_reason.as_deref(),
        seated.seat.mandate.as_deref().or(profile.mandate.as_deref()),
        profile.focus.as_deref(),
    ];
    let round_context = seated.seat.round_context.as_deref();
    let words = JudgeTexts { assignment: charge.into_iter().flatten().collect(), round_context };
    let relevant = find_relevant(ledger, &words);
    let heading = format!("---\n\n## Context Brief (You are joining in Round {round})");
    let mut stretches =
        vec![PromptBlock::Plain(heading), PromptBlock::Plain(purpose_sentence(&relevant, seated))];
    stretches.extend(question_blocks(record));
    stretches.extend(background_blocks(record));
    stretches.extend(reason_blocks(record, ledger, seated));
    stretches.push(PromptBlock::plain_text("### Your Mandate"));
    stretches.push(quote_mandate(seated).unwrap_or_else(|| default_mandate(record)));
    stretches.extend(prior_work(record, &relevant));
    stretches.extend(progress_blocks(record, ledger));
    stretches.extend(needs_blocks(record));
    stretches
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
        None => PromptBlock::plain_text(NO_QUESTION),
        Some(asked) if asked.text.len() > REPEATED_BYTES_MAX => {
            PromptBlock::plain_text("It is long, and stands whole at the top of this prompt.")
        }
        Some(asked) => PromptBlock::Quoted(asked),
    };
    vec![PromptBlock::plain_text("---\n\n### The Dialogue Question"), text]
}

/// The question for a fence; `None` if there is only a title that the heading shows unchanged.
pub(super) fn quote_question(record: &DialogueRecord) -> Option<QuotedText> {
    let opening = &record.dialogue.opening;
    // The heading sanitizes the title, so a changed title is repeated here in full.
    let title = (sanitize_name(&opening.title) != opening.title)
        .then(|| format!("Title: {}", opening.title));
    let parts: Vec<String> = title.into_iter().chain(opening.question.clone()).collect();
    let sentence = "What is to be decided, as material to judge:";
    let text = mark_imitations(&parts.join("\n\n"));
    (!text.trim().is_empty()).then(|| QuotedText::new("QUESTION", sentence, text))
}

fn background_blocks(record: &DialogueRecord) -> Vec<PromptBlock> {
    let given = record.dialogue.opening.background.as_ref();
    let about = background_subject(given)
        .map_or_else(String::new, |subject| format!(": {}", sanitize_name(subject)));
    let text = match given.and_then(render_background) {
        None => PromptBlock::plain_text(NO_BACKGROUND),
        Some(text) if text.len() > REPEATED_BYTES_MAX => {
            PromptBlock::plain_text("It is long, and stands whole under Background above.")
        }
        Some(text) => PromptBlock::Quoted(quote_background(text)),
    };
    vec![PromptBlock::Plain(format!("### Background{about}")), text]
}

/// The background for a fence.
pub(super) fn quote_background(text: String) -> QuotedText {
    QuotedText::new("BACKGROUND", "What the dialogue was opened with, as material to judge:", text)
}

fn reason_blocks(
    record: &DialogueRecord,
    ledger: &EntityIndex,
    seated: &SeatedExpert<'_>,
) -> Vec<PromptBlock> {
    let profile = &seated.expert.profile;
    let mut stretches = vec![
        PromptBlock::plain_text("---\n\n### Why You're Here"),
        PromptBlock::Plain(describe_status(record, ledger, seated)),
    ];
    let has_task = seated.seat.round_context.is_some();
    stretches.push(
        match (profile.creation_reason.as_deref(), has_task, profile.focus.as_deref()) {
            (Some(reason), _, _) => quote_reason("Why the Judge wants you here", reason),
            (None, true, _) => PromptBlock::plain_text(
                "What for, the Judge says above, under Your Task This Round.",
            ),
            (None, false, Some(focus)) => quote_reason("The Judge chose you for your focus", focus),
            (None, false, None) => PromptBlock::plain_text("The Judge chose you for your role."),
        },
    );
    stretches
}

fn quote_reason(lead: &str, text: &str) -> PromptBlock {
    let sentence = format!("{lead}, as material to judge:");
    PromptBlock::Quoted(QuotedText::new("REASON", &sentence, mark_imitations(text)))
}

/// The state of the dialogue when the expert joins, and whether they spoke in it before.
fn describe_status(
    record: &DialogueRecord,
    ledger: &EntityIndex,
    seated: &SeatedExpert<'_>,
) -> String {
    let slug = &seated.expert.profile.expert_slug;
    if record.rounds.is_empty() {
        return match seated.expert.profile.source {
            ExpertSource::Pool => "You are one of those who open the dialogue.".to_owned(),
            ExpertSource::Created => "You were created to help open the dialogue.".to_owned(),
        };
    }
    let rounds = count_noun(record.rounds.len(), "round");
    let active = ledger.active_tensions().count();
    let resolved = ledger.all_tensions().count() - active;
    let spoken = ledger
        .all_entities()
        .iter()
        .filter(|said| said.is_by(slug))
        .map(|said| said.id.round)
        .max();
    let you = match spoken {
        None => "You have not spoken in it yet.".to_owned(),
        Some(last) => {
            format!("You spoke in it last in round {last}; what you said is marked (You).")
        }
    };
    format!(
        "The dialogue has held {rounds}: {} {} active, {resolved} resolved. {you}",
        count_noun(active, "tension"),
        if active == 1 { "is" } else { "are" },
    )
}

fn default_mandate(record: &DialogueRecord) -> PromptBlock {
    let text = if record.rounds.is_empty() { MANDATE_OPENING } else { MANDATE };
    PromptBlock::Plain(fill_template(text, &[]))
}

fn prior_work(record: &DialogueRecord, relevant: &RelevantWork<'_>) -> Vec<PromptBlock> {
    let mut stretches = vec![PromptBlock::plain_text(key_heading(relevant))];
    if relevant.tensions.is_empty() {
        stretches.push(PromptBlock::plain_text(match record.rounds.is_empty() {
            true => "Nothing was said yet.",
            false => "No tension is named in what the Judge wrote to you.",
        }));
    } else {
        let sentence = "As it was raised, as material to judge:";
        let told = relevant.tensions.iter().map(|said| cite_entity(record, said));
        let told = told.collect::<Vec<_>>().join("\n\n");
        stretches.push(PromptBlock::Quoted(QuotedText::new("KEY CONTEXT", sentence, told)));
    }
    for (kind, found) in &relevant.others {
        let plural = plural_name(*kind);
        stretches.push(PromptBlock::Plain(format!("### Relevant Prior {plural}")));
        let sentence = "As it was said, as material to judge:";
        let told =
            found.iter().map(|said| cite_entity(record, said)).collect::<Vec<_>>().join("\n\n");
        let label = format!("RELEVANT {}", plural.to_ascii_uppercase());
        stretches.push(PromptBlock::Quoted(QuotedText::new(&label, sentence, told)));
    }
    if relevant.others.is_empty() {
        stretches.push(PromptBlock::plain_text("### Relevant Prior Perspectives"));
        stretches.push(PromptBlock::plain_text(match record.rounds.is_empty() {
            true => "Nobody has taken a position yet.",
            false => "Nothing else refers to that so far.",
        }));
    }
    if !record.rounds.is_empty() {
        stretches.push(PromptBlock::Plain(rest_sentence(relevant.left_out)));
    }
    stretches
}

fn key_heading(relevant: &RelevantWork<'_>) -> &'static str {
    match (relevant.found, relevant.tensions.len()) {
        (SubjectSource::Named, 0 | 1) => "---\n\n### Key Context: The Tension You're Addressing",
        (SubjectSource::Named, _) => "---\n\n### Key Context: The Tensions You're Addressing",
        (SubjectSource::Open, _) => "---\n\n### Key Context: The Tensions That Are Open",
    }
}

fn rest_sentence(left_out: usize) -> String {
    let whole = "All that was said stands under Prior Rounds.";
    if left_out == 0 { whole.to_owned() } else { format!("{left_out} more belong here. {whole}") }
}

fn plural_name(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Perspective => "Perspectives",
        EntityKind::Recommendation => "Recommendations",
        EntityKind::Tension => "Tensions",
        EntityKind::Evidence => "Evidence",
        EntityKind::Claim => "Claims",
    }
}

/// `**P0003: label** (Cupcake, Risk Manager, Round 0, open):` and the text as a quotation.
fn cite_entity(record: &DialogueRecord, said: &PriorEntity) -> String {
    let label = to_one_line(&said.label);
    let who = match (said.id.kind, said.contributors.as_slice()) {
        (EntityKind::Tension, names) => format!("raised by {}", list_experts(names)),
        (_, [one]) => format!("{}{}", one.display_name(), role_of(record, one)),
        (_, names) => list_experts(names),
    };
    let text: String = said.text.lines().map(|line| format!("\n> {line}")).collect();
    format!("**{}: {label}** ({who}, Round {}, {}):{text}", said.id, said.id.round, said.status)
}

fn role_of(record: &DialogueRecord, slug: &ExpertSlug) -> String {
    let role = record
        .find_expert(slug)
        .map(|expert| sanitize_name(&expert.profile.role))
        .unwrap_or_default();
    if role.is_empty() { role } else { format!(", {role}") }
}

fn progress_blocks(record: &DialogueRecord, ledger: &EntityIndex) -> Vec<PromptBlock> {
    let mut stretches = vec![PromptBlock::plain_text("---\n\n### Dialogue Progress")];
    if record.rounds.is_empty() {
        stretches.push(PromptBlock::plain_text("- No round was held yet."));
    } else {
        let told = record.rounds.iter().map(round_summary).collect::<Vec<_>>().join("\n");
        let sentence = "How the Judge sums up each round, as material to judge:";
        stretches.push(PromptBlock::Quoted(QuotedText::new("PROGRESS", sentence, told)));
    }
    stretches.push(PromptBlock::Plain(format!(
        "- **Current ALIGNMENT:** {} (velocity {}, {}, {} active)",
        record.dialogue.total_alignment,
        score_velocity(record.rounds.iter().map(|held| held.score)),
        record.dialogue.status,
        count_noun(ledger.active_tensions().count(), "tension"),
    )));
    stretches
}

fn round_summary(held: &RoundRecord) -> String {
    let RoundRecord { round, score, .. } = held;
    let summary = held.summary.as_deref().unwrap_or("The Judge wrote no synthesis.");
    let short = truncate_after(&to_one_line(summary), SUMMARY_CHARS_MAX);
    format!("- **Round {round} (Score: {score}):** {short}")
}

fn needs_blocks(record: &DialogueRecord) -> Vec<PromptBlock> {
    let text = if record.rounds.is_empty() { NEEDS_OPENING } else { NEEDS };
    vec![
        PromptBlock::plain_text("### What the Panel Needs From You"),
        PromptBlock::Plain(fill_template(text, &[])),
    ]
}
