//! Open conflicts of an ethos, resolved at the terminal while `align` waits.

use plenary_core::ethos::requests::{EthosOp, GetRequest};
use plenary_core::ethos::rule_set::{ConflictResolution, DialogueEthos, EthosId, RuleConflict};
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
        let answer = prompt_line("Keep [a], keep [b], [m]erge, [r]emove both, or leave it open?");
        let Some(resolution) = read_resolution(&answer) else { return Ok(false) };
        let reason = prompt_line("Why?");
        let arguments = json!({
            "ethos_id": ethos, "conflict": conflict.conflict, "resolution": resolution, "reason": reason,
        });
        run_ethos_op(project, EthosOp::Resolve, &arguments)?;
    }
    Ok(true)
}

/// Anything else leaves the conflict open.
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
        found.map_or_else(|| id.to_owned(), |rule| format!("{id} {}", rule.label))
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
