//! Phrases about a conclusion, shared by all pages.
//!
//! **Invariant:** no phrase presents agreement as proof, or the absence of objections as
//! "verified".

use super::ended::{AuditVerdict, ConclusionView};
use crate::domain::conclusion::{
    AuditObjection, Conclusion, ConclusionField, ConclusionOutcome, ConclusionParticipant,
    ObjectionSource, UnresolvedPoint,
};
use crate::domain::dialogue::TerminalState;
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;

/// The terminal state as a label. `None` is a conclusion without an audit.
pub(crate) fn state_label(state: Option<TerminalState>) -> &'static str {
    match state {
        Some(TerminalState::Clean) => "CLEAN",
        Some(TerminalState::Revised) => "REVISED",
        Some(TerminalState::Unconverged) => "UNCONVERGED",
        None => "UNAUDITED",
    }
}

/// The same for use in a sentence.
pub(crate) fn state_name(state: Option<TerminalState>) -> &'static str {
    state.map_or("unaudited", |state| state.name())
}

/// A field's name for people.
pub(crate) fn field_name(field: ConclusionField) -> &'static str {
    match field {
        ConclusionField::Recommendation => "recommendation",
        ConclusionField::KeyCondition => "key condition",
        ConclusionField::UnresolvedPoints => "unresolved points",
        ConclusionField::ReviewBy => "review by",
        ConclusionField::Participants => "participants",
    }
}

/// A field's content as text, line by line.
pub(crate) fn field_text(conclusion: &Conclusion, field: ConclusionField) -> String {
    match field {
        ConclusionField::Recommendation => conclusion.recommendation.clone(),
        ConclusionField::KeyCondition => conclusion.key_condition.clone(),
        ConclusionField::UnresolvedPoints => {
            let points = conclusion.unresolved_points.iter().map(point_text);
            points.collect::<Vec<_>>().join("\n")
        }
        ConclusionField::ReviewBy => conclusion.review_by.to_string(),
        ConclusionField::Participants => {
            let names = conclusion.participants.iter().map(versioned_name);
            names.collect::<Vec<_>>().join("\n")
        }
    }
}

fn point_text(point: &UnresolvedPoint) -> String {
    let claims = point.claims.iter();
    let claims = claims.map(|cited| format!("\n- {} {}: {}", cited.id, cited.agent, cited.claim));
    format!("{} ({}){}", point.point, involved_agents(point), claims.collect::<String>())
}

/// `ann, bob`
pub(crate) fn involved_agents(point: &UnresolvedPoint) -> String {
    let names: Vec<&str> = point.agents_involved.iter().map(ExpertSlug::as_str).collect();
    names.join(", ")
}

/// `ann (3f9c12ab)`
pub(crate) fn versioned_name(participant: &ConclusionParticipant) -> String {
    format!("{} ({})", participant.agent, participant.version)
}

/// An objection and its source. Results of the format check are marked as counted.
pub(crate) fn objection_text(objection: &AuditObjection) -> String {
    match objection.by {
        ObjectionSource::Critic => objection.objection.clone(),
        ObjectionSource::Count => format!("counted: {}", objection.objection),
    }
}

/// `held, 2027-02-17: prices stayed within the limit`
pub(crate) fn outcome_line((at, outcome): &(Moment, ConclusionOutcome)) -> String {
    let note = outcome.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
    format!("{}, {}{note}", outcome.outcome, at.utc_day())
}

/// The step that a draft still needs.
pub(crate) fn draft_status(ended: &ConclusionView) -> &'static str {
    let Some(audit) = &ended.audit else { return "not audited" };
    match (audit.critic_verdict, &audit.original) {
        (None, _) => "not audited",
        (Some(AuditVerdict::Flag), None) => "objected to, not mended",
        (Some(AuditVerdict::Flag), Some(_)) => "mended, not audited again",
        (Some(AuditVerdict::Pass), _) => "not concluded yet",
    }
}

/// Warnings for readers of the conclusion.
pub(crate) fn conclusion_warnings(ended: &ConclusionView, is_rehearsal: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if ended.is_unaudited() {
        warnings.push("unaudited: nobody tried to break this conclusion".to_owned());
    }
    // All seats of a rehearsal are of one family, which is reported elsewhere.
    if let Some(critic) = ended.critic_of_same_family().filter(|_| !is_rehearsal) {
        warnings.push(format!(
            "the Blind Critic is of the synthesizer's own family ({}): it may share its blind spots",
            critic.family
        ));
    }
    warnings
}
