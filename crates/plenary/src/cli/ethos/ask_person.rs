//! Open conflicts of an ethos, resolved at the terminal while `align` waits.

use plenary_core::ethos::requests::{EthosOp, GetRequest};
use plenary_core::ethos::rule_set::{
    ConflictResolution, DialogueEthos, EthosId, EthosRule, RuleConflict,
};
use plenary_engine::app::ethos::{load_ethos, run_ethos_op};
use plenary_engine::app::project::Project;
use plenary_engine::error::Error;
use serde_json::json;

use crate::cli::ui::{print_message, prompt_line};

/// Asks for a decision about each open conflict. Returns whether none is open any more.
pub(crate) fn resolve_open_conflicts(project: &Project, ethos: &EthosId) -> Result<bool, Error> {
    let request = GetRequest { ethos_id: Some(ethos.clone()), dialogue_id: None };
    let draft = load_ethos(project, &request)?;
    for conflict in draft.open_conflicts() {
        print_message(&describe_conflict(&draft, conflict));
        let Some(resolution) = ask_resolution() else { return Ok(false) };
        let reason = prompt_line("Why?");
        let arguments = json!({
            "ethos_id": ethos, "conflict": conflict.conflict, "resolution": resolution, "reason": reason,
        });
        run_ethos_op(project, EthosOp::Resolve, &arguments)?;
    }
    Ok(true)
}

/// Asks until the answer is one of the letters, or empty, which leaves the conflict open.
fn ask_resolution() -> Option<ConflictResolution> {
    loop {
        let answer = prompt_line(
            "Keep [a], keep [b], [m]erge or [r]emove both? An empty answer leaves it open.",
        );
        let resolution = read_resolution(&answer);
        if resolution.is_some() || answer.is_empty() {
            return resolution;
        }
        print_message("Answer a, b, m or r.");
    }
}

fn read_resolution(answer: &str) -> Option<ConflictResolution> {
    match answer.to_lowercase().as_str() {
        "a" => Some(ConflictResolution::ASupersedes),
        "b" => Some(ConflictResolution::BSupersedes),
        "m" => Some(ConflictResolution::Merged),
        "r" => Some(ConflictResolution::Removed),
        _ => None,
    }
}

fn describe_conflict(draft: &DialogueEthos, conflict: &RuleConflict) -> String {
    let rule = |id: &str| {
        let mut rules = draft.rules.iter();
        let found = rules.find(|rule| rule.rule_id() == id);
        found.map_or_else(
            || id.to_owned(),
            |rule| {
                let EthosRule { label, description, priority, .. } = rule;
                let text =
                    if description.is_empty() { String::new() } else { format!(": {description}") };
                format!("{id} (priority {priority}) {label}{text}")
            },
        )
    };
    format!(
        "Conflict {}, {}: {}\n  a: {}\n  b: {}",
        conflict.conflict,
        conflict.conflict_type,
        conflict.finding,
        rule(&conflict.a),
        rule(&conflict.b)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_shows_the_texts_of_both_rules() {
        let rule = |seq: u16, text: &str| {
            json!({ "seq": seq, "rule_type": "tenet", "source_id": "FID-TN01", "label": "Income",
                "description": text, "priority": 500, "supersedes": [], "standing": "in_force" })
        };
        let draft: DialogueEthos = serde_json::from_value(json!({
            "ethos_id": "ethos-talk-001", "version": 1, "status": "draft", "domains": [],
            "rules": [rule(1, "Income first."), rule(2, "")],
            "conflicts": [{ "conflict": 1, "a": "RULE01", "b": "RULE02", "type": "ambiguity",
                "finding": "same label" }],
        }))
        .unwrap();
        assert_eq!(
            describe_conflict(&draft, &draft.conflicts[0]),
            "Conflict 1, ambiguity: same label\n  a: RULE01 (priority 500) Income: Income first.\n  \
             b: RULE02 (priority 500) Income"
        );
    }

    #[test]
    fn only_a_named_letter_resolves_a_conflict() {
        let found = ["a", "B", "m", "r"].map(read_resolution);
        let expected = [
            ConflictResolution::ASupersedes,
            ConflictResolution::BSupersedes,
            ConflictResolution::Merged,
            ConflictResolution::Removed,
        ];
        assert_eq!(found, expected.map(Some));
        assert_eq!(["", "y", "ab"].map(read_resolution), [None; 3]);
    }
}
