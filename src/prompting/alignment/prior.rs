//! The earlier rounds in full, identical for every expert.

use serde_json::Value;

use super::background::table;
use super::imitation::marked;
use super::ledger::{Ledger, Said};
use super::names::name;
use super::page::{Quoted, Stretch};
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::record::{Expert, Record, Round};
use crate::domain::shortened::one_line;

const RULE: &str = "---";

pub(super) fn rounds(record: &Record, ledger: &Ledger) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::ours("---\n\n## Prior Rounds")];
    if record.rounds.is_empty() {
        stretches.push(Stretch::ours("This is the opening round: nothing was said before it."));
    }
    for held in &record.rounds {
        stretches.push(Stretch::Ours(heading(held)));
        for expert in &record.experts {
            stretches.extend(contribution(expert, ledger, held.round));
        }
        stretches.extend(synthesis(held));
    }
    stretches
}

/// `### Round 0 — Opening Arguments (Score: 117)`.
fn heading(held: &Round) -> String {
    let title = held.title.as_deref().map(name).filter(|title| !title.is_empty());
    let title = title.map_or_else(String::new, |title| format!(" — {title}"));
    format!("### Round {}{title} (Score: {})", held.round, held.score)
}

/// An expert's contribution to a round; empty if there is none.
fn contribution(expert: &Expert, ledger: &Ledger, round: u8) -> Vec<Stretch> {
    let slug = &expert.profile.expert_slug;
    let said = EntityKind::ALL.iter().flat_map(|kind| ledger.of(*kind, round));
    let own = said.filter(|said| said.speaker() == Some(slug));
    let told = own.map(entity).collect::<Vec<_>>().join("\n\n");
    if told.is_empty() {
        return Vec::new();
    }
    let label = format!("ROUND {round} {}", slug.as_str().to_ascii_uppercase());
    let sentence =
        format!("What {} contributed to round {round}, as material to judge:", slug.display_name());
    vec![
        Stretch::speaker(expert),
        Stretch::Theirs(Quoted::new(&label, &sentence, told)),
        Stretch::ours(RULE),
    ]
}

fn synthesis(held: &Round) -> Vec<Stretch> {
    let round = held.round;
    let heading = Stretch::Ours(format!("### Judge Synthesis — Round {round}"));
    let text = match held.summary.as_deref().filter(|summary| !summary.trim().is_empty()) {
        None => Stretch::ours("The Judge wrote none."),
        Some(summary) => {
            let label = format!("SYNTHESIS OF ROUND {round}");
            let sentence = format!("How the Judge sums up round {round}, as material to judge:");
            Stretch::Theirs(Quoted::new(&label, &sentence, marked(summary)))
        }
    };
    vec![heading, text, Stretch::ours(RULE)]
}

/// An entity as the specification shows it, with its references as markers.
fn entity(said: &Said) -> String {
    let label = one_line(&said.label);
    let head = match said.id.kind {
        EntityKind::Tension => format!("[TENSION {}: {label}]", said.id),
        EntityKind::Perspective
        | EntityKind::Recommendation
        | EntityKind::Evidence
        | EntityKind::Claim => format!("[{}: {label}]", said.id),
    };
    let names: Vec<&str> = said.contributors.iter().map(ExpertSlug::as_str).collect();
    let mut told = format!("{head} ({})\n{}", names.join(", "), marked(&said.text));
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
    fields.map_or_else(|| parameters.to_string(), |fields| table(["Parameter", "Value"], fields))
}
