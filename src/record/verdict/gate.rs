//! Convergence check of a final verdict: all tensions settled and enough agreement.

use std::collections::BTreeSet;

use serde_json::json;

use crate::domain::dialogue::Dialogue;
use crate::domain::facts::RecordLookup;
use crate::domain::ids::EntityId;
use crate::domain::refusal::{ErrorCode, ValidationError};
use crate::domain::verdict::{Verdict, VerdictType};
use crate::record::convergence::PanelAgreement;

/// Returns the error that blocks the verdict, if any.
///
/// Applies only to final verdicts of the alignment protocol that are not forced.
pub(super) fn check_convergence(
    verdict: &Verdict,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Option<ValidationError> {
    let waits = verdict.verdict_type == VerdictType::Final
        && dialogue.opening.protocol.is_judged()
        && !verdict.forced;
    if !waits {
        return None;
    }
    let open = unsettled_tensions(verdict, facts);
    let panel = facts.last_panel.iter().map(|seat| &seat.expert_slug);
    let agreement = PanelAgreement::from_signals(panel, &facts.signals);
    let required = dialogue.opening.convergence_percent;
    let agreed = match verdict.vote {
        Some(vote) => vote.reaches_percent(required),
        None => agreement.reaches_percent(required),
    };
    let held = dialogue.total_rounds > 0;
    if held && open.is_empty() && agreed {
        return None;
    }
    let mut reasons = Vec::new();
    if !held {
        reasons.push("no round has been held".to_owned());
    }
    if !open.is_empty() {
        reasons.push(format!("tensions neither resolved nor accepted: {}", open.join(", ")));
    }
    if held && !agreed {
        reasons.push(format!(
            "agreement under {required} %: {}",
            describe_agreement(verdict, &agreement)
        ));
    }
    let missing = if agreed || verdict.vote.is_some() { &[][..] } else { &agreement.silent };
    let message = format!("dialogue '{}' has not converged: {}", dialogue.id(), reasons.join("; "));
    Some(
        ValidationError::new(ErrorCode::NotConverged, message)
            .with_field("verdict_type")
            .with_value("final")
            .with_context(json!({
                "open_tensions": open,
                "missing_experts": missing,
                "required_percent": required,
                "vote": verdict.vote,
            }))
            .with_suggestion("name the tensions in tensions_resolved or tensions_accepted, give the vote, hold another round, or set forced: true with a warning"),
    )
}

/// Active tensions that the verdict does not name.
fn unsettled_tensions(verdict: &Verdict, facts: &RecordLookup) -> Vec<String> {
    let named = [&verdict.tensions_resolved, &verdict.tensions_accepted];
    let settled: BTreeSet<EntityId> = named.into_iter().flatten().flatten().copied().collect();
    let open = facts.active_tensions.iter().filter(|id| !settled.contains(id));
    open.map(ToString::to_string).collect()
}

fn describe_agreement(verdict: &Verdict, agreement: &PanelAgreement) -> String {
    if let Some(vote) = verdict.vote {
        return format!("the vote is {vote}");
    }
    if agreement.panel == 0 {
        return "nobody sat on the last panel, and there is no vote".to_owned();
    }
    let silent: Vec<&str> = agreement.silent.iter().map(|slug| slug.as_str()).collect();
    format!(
        "{} % signalled convergence, missing: {}",
        agreement.percent_agreed(),
        silent.join(", ")
    )
}
