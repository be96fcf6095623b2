//! The facts at the top of the Markdown export, and the table of experts.

use super::escape::{escape_code, escape_inline};
use super::table::render_table;
use crate::domain::record::{DialogueRecord, Expert};
use crate::export::wording;

pub(super) fn facts_blocks(record: &DialogueRecord) -> Vec<String> {
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
    facts.extend(wording::conclusion_state(record).map(|state| ("Conclusion", state.to_owned())));
    let rows: Vec<_> = facts.into_iter().map(|(name, fact)| vec![name.to_owned(), fact]).collect();
    let rehearsal =
        opening.rehearsal.then(|| format!("**Rehearsal**: {}.", wording::REHEARSAL_NOTE));
    let title = format!("# {}", escape_inline(&opening.title));
    [Some(title), rehearsal, Some(render_table(&["", ""], &rows))].into_iter().flatten().collect()
}

pub(super) fn experts_table(record: &DialogueRecord) -> Vec<String> {
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
