//! The context brief of an expert who joins the panel, in six parts: question, background,
//! reason, mandate, relevant prior work, and progress of the dialogue.

use super::background::{background, subject};
use super::imitation::marked;
use super::ledger::{Ledger, Said};
use super::names::{count, list, name, people};
use super::page::{Quoted, Stretch, fill};
use super::relevant::{Found, Relevant, Words, relevant};
use super::role::{Seated, mandate};
use crate::domain::expert::{SeatSource, Source};
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::record::{Record, Round, velocity};
use crate::domain::shortened::{head, one_line};

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

pub(super) fn brief(
    record: &Record,
    ledger: &Ledger,
    seated: &Seated<'_>,
    round: u8,
) -> Vec<Stretch> {
    let profile = &seated.expert.profile;
    let charge = [
        profile.creation_reason.as_deref(),
        seated.seat.mandate.as_deref().or(profile.mandate.as_deref()),
        profile.focus.as_deref(),
    ];
    let round_context = seated.seat.round_context.as_deref();
    let words = Words { charge: charge.into_iter().flatten().collect(), round_context };
    let relevant = relevant(ledger, &words);
    let heading = format!("---\n\n## Context Brief (You are joining in Round {round})");
    let mut stretches = vec![Stretch::Ours(heading), Stretch::Ours(brought_in(&relevant, seated))];
    stretches.extend(question(record));
    stretches.extend(foundation(record));
    stretches.extend(reason(record, ledger, seated));
    stretches.push(Stretch::ours("### Your Mandate"));
    stretches.push(mandate(seated).unwrap_or_else(|| default_mandate(record)));
    stretches.extend(prior_work(record, &relevant));
    stretches.extend(progress(record, ledger));
    stretches.extend(needs(record));
    stretches
}

/// The first sentence of the brief: why the expert joins.
fn brought_in(relevant: &Relevant<'_>, seated: &Seated<'_>) -> String {
    let ids: Vec<String> =
        relevant.tensions.iter().map(|tension| format!("**{}**", tension.id)).collect();
    match (relevant.found, ids.is_empty(), seated.seat.source) {
        (Found::Named, false, _) => format!("You were brought in to address {}.", list(&ids)),
        (Found::Named | Found::Open, _, SeatSource::Created) => {
            "You were created for this dialogue.".to_owned()
        }
        (Found::Named | Found::Open, _, SeatSource::Pool | SeatSource::Retained) => {
            "You come from the dialogue's pool of experts.".to_owned()
        }
    }
}

fn question(record: &Record) -> Vec<Stretch> {
    let text = match asked(record) {
        None => Stretch::ours(NO_QUESTION),
        Some(asked) if asked.text.len() > REPEATED_BYTES_MAX => {
            Stretch::ours("It is long, and stands whole at the top of this prompt.")
        }
        Some(asked) => Stretch::Theirs(asked),
    };
    vec![Stretch::ours("---\n\n### The Dialogue Question"), text]
}

/// The question for a fence; `None` if there is only a title that the heading shows unchanged.
pub(super) fn asked(record: &Record) -> Option<Quoted> {
    let opening = &record.dialogue.opening;
    // The heading sanitizes the title, so a changed title is repeated here in full.
    let title =
        (name(&opening.title) != opening.title).then(|| format!("Title: {}", opening.title));
    let parts: Vec<String> = title.into_iter().chain(opening.question.clone()).collect();
    let sentence = "What is to be decided, as material to judge:";
    let text = marked(&parts.join("\n\n"));
    (!text.trim().is_empty()).then(|| Quoted::new("QUESTION", sentence, text))
}

fn foundation(record: &Record) -> Vec<Stretch> {
    let given = record.dialogue.opening.background.as_ref();
    let about = subject(given).map_or_else(String::new, |subject| format!(": {}", name(subject)));
    let text = match given.and_then(background) {
        None => Stretch::ours(NO_BACKGROUND),
        Some(text) if text.len() > REPEATED_BYTES_MAX => {
            Stretch::ours("It is long, and stands whole under Background above.")
        }
        Some(text) => Stretch::Theirs(founded(text)),
    };
    vec![Stretch::Ours(format!("### Background{about}")), text]
}

/// The background for a fence.
pub(super) fn founded(text: String) -> Quoted {
    Quoted::new("BACKGROUND", "What the dialogue was opened with, as material to judge:", text)
}

fn reason(record: &Record, ledger: &Ledger, seated: &Seated<'_>) -> Vec<Stretch> {
    let profile = &seated.expert.profile;
    let mut stretches = vec![
        Stretch::ours("---\n\n### Why You're Here"),
        Stretch::Ours(standing(record, ledger, seated)),
    ];
    let has_task = seated.seat.round_context.is_some();
    stretches.push(
        match (profile.creation_reason.as_deref(), has_task, profile.focus.as_deref()) {
            (Some(reason), _, _) => because("Why the Judge wants you here", reason),
            (None, true, _) => {
                Stretch::ours("What for, the Judge says above, under Your Task This Round.")
            }
            (None, false, Some(focus)) => because("The Judge chose you for your focus", focus),
            (None, false, None) => Stretch::ours("The Judge chose you for your role."),
        },
    );
    stretches
}

fn because(lead: &str, text: &str) -> Stretch {
    let sentence = format!("{lead}, as material to judge:");
    Stretch::Theirs(Quoted::new("REASON", &sentence, marked(text)))
}

/// The state of the dialogue when the expert joins, and whether they spoke in it before.
fn standing(record: &Record, ledger: &Ledger, seated: &Seated<'_>) -> String {
    let slug = &seated.expert.profile.expert_slug;
    if record.rounds.is_empty() {
        return match seated.expert.profile.source {
            Source::Pool => "You are one of those who open the dialogue.".to_owned(),
            Source::Created => "You were created to help open the dialogue.".to_owned(),
        };
    }
    let rounds = count(record.rounds.len(), "round");
    let active = ledger.active_tensions().count();
    let resolved = ledger.tensions().count() - active;
    let spoken =
        ledger.all().iter().filter(|said| said.is_by(slug)).map(|said| said.id.round).max();
    let you = match spoken {
        None => "You have not spoken in it yet.".to_owned(),
        Some(last) => {
            format!("You spoke in it last in round {last}; what you said is marked (You).")
        }
    };
    format!(
        "The dialogue has held {rounds}: {} {} active, {resolved} resolved. {you}",
        count(active, "tension"),
        if active == 1 { "is" } else { "are" },
    )
}

fn default_mandate(record: &Record) -> Stretch {
    let text = if record.rounds.is_empty() { MANDATE_OPENING } else { MANDATE };
    Stretch::Ours(fill(text, &[]))
}

fn prior_work(record: &Record, relevant: &Relevant<'_>) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::ours(key_heading(relevant))];
    if relevant.tensions.is_empty() {
        stretches.push(Stretch::ours(match record.rounds.is_empty() {
            true => "Nothing was said yet.",
            false => "No tension is named in what the Judge wrote to you.",
        }));
    } else {
        let sentence = "As it was raised, as material to judge:";
        let told = relevant.tensions.iter().map(|said| cited(record, said));
        let told = told.collect::<Vec<_>>().join("\n\n");
        stretches.push(Stretch::Theirs(Quoted::new("KEY CONTEXT", sentence, told)));
    }
    for (kind, found) in &relevant.others {
        let plural = plural(*kind);
        stretches.push(Stretch::Ours(format!("### Relevant Prior {plural}")));
        let sentence = "As it was said, as material to judge:";
        let told = found.iter().map(|said| cited(record, said)).collect::<Vec<_>>().join("\n\n");
        let label = format!("RELEVANT {}", plural.to_ascii_uppercase());
        stretches.push(Stretch::Theirs(Quoted::new(&label, sentence, told)));
    }
    if relevant.others.is_empty() {
        stretches.push(Stretch::ours("### Relevant Prior Perspectives"));
        stretches.push(Stretch::ours(match record.rounds.is_empty() {
            true => "Nobody has taken a position yet.",
            false => "Nothing else refers to that so far.",
        }));
    }
    if !record.rounds.is_empty() {
        stretches.push(Stretch::Ours(where_the_rest_is(relevant.left_out)));
    }
    stretches
}

fn key_heading(relevant: &Relevant<'_>) -> &'static str {
    match (relevant.found, relevant.tensions.len()) {
        (Found::Named, 0 | 1) => "---\n\n### Key Context: The Tension You're Addressing",
        (Found::Named, _) => "---\n\n### Key Context: The Tensions You're Addressing",
        (Found::Open, _) => "---\n\n### Key Context: The Tensions That Are Open",
    }
}

fn where_the_rest_is(left_out: usize) -> String {
    let whole = "All that was said stands under Prior Rounds.";
    if left_out == 0 { whole.to_owned() } else { format!("{left_out} more belong here. {whole}") }
}

fn plural(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Perspective => "Perspectives",
        EntityKind::Recommendation => "Recommendations",
        EntityKind::Tension => "Tensions",
        EntityKind::Evidence => "Evidence",
        EntityKind::Claim => "Claims",
    }
}

/// `**P0003: label** (Cupcake, Risk Manager, Round 0, open):` and the text as a quotation.
fn cited(record: &Record, said: &Said) -> String {
    let label = one_line(&said.label);
    let who = match (said.id.kind, said.contributors.as_slice()) {
        (EntityKind::Tension, names) => format!("raised by {}", people(names)),
        (_, [one]) => format!("{}{}", one.display_name(), role_of(record, one)),
        (_, names) => people(names),
    };
    let text: String = said.text.lines().map(|line| format!("\n> {line}")).collect();
    format!("**{}: {label}** ({who}, Round {}, {}):{text}", said.id, said.id.round, said.status)
}

fn role_of(record: &Record, slug: &ExpertSlug) -> String {
    let role = record.expert(slug).map(|expert| name(&expert.profile.role)).unwrap_or_default();
    if role.is_empty() { role } else { format!(", {role}") }
}

fn progress(record: &Record, ledger: &Ledger) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::ours("---\n\n### Dialogue Progress")];
    if record.rounds.is_empty() {
        stretches.push(Stretch::ours("- No round was held yet."));
    } else {
        let told = record.rounds.iter().map(summed_up).collect::<Vec<_>>().join("\n");
        let sentence = "How the Judge sums up each round, as material to judge:";
        stretches.push(Stretch::Theirs(Quoted::new("PROGRESS", sentence, told)));
    }
    stretches.push(Stretch::Ours(format!(
        "- **Current ALIGNMENT:** {} (velocity {}, {}, {} active)",
        record.dialogue.total_alignment,
        velocity(record.rounds.iter().map(|held| held.score)),
        record.dialogue.status,
        count(ledger.active_tensions().count(), "tension"),
    )));
    stretches
}

fn summed_up(held: &Round) -> String {
    let Round { round, score, .. } = held;
    let summary = held.summary.as_deref().unwrap_or("The Judge wrote no synthesis.");
    let short = head(&one_line(summary), SUMMARY_CHARS_MAX);
    format!("- **Round {round} (Score: {score}):** {short}")
}

fn needs(record: &Record) -> Vec<Stretch> {
    let text = if record.rounds.is_empty() { NEEDS_OPENING } else { NEEDS };
    vec![Stretch::ours("### What the Panel Needs From You"), Stretch::Ours(fill(text, &[]))]
}
