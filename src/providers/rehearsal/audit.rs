//! Replies of the rehearsal panel's Blind Critic, and the restatement of a directive.
//!
//! The critic passes most conclusions. For about a third of the questions it flags a field once,
//! and passes the revision. It decides from its messages alone.

use crate::domain::ask::AskMessages;
use crate::domain::conclusion::{ConclusionField, find_constraints};

use super::prompt;
use super::variation::ReplyVariation;

/// A sentence the critic misses in a field.
pub(super) struct CriticDemand {
    pub(super) field: ConclusionField,
    objection: &'static str,
    /// Sentence whose presence shows that the field was revised.
    pub(super) revised_by: &'static str,
}

/// The first concerns a field whose format no question constrains.
pub(super) const CRITIC_DEMANDS: [CriticDemand; 2] = [
    CriticDemand {
        field: ConclusionField::KeyCondition,
        objection: "it names no sign by which anybody could tell that the condition no longer holds",
        revised_by: "The sign that it no longer holds is a return that was tried and took longer than a week.",
    },
    CriticDemand {
        field: ConclusionField::Recommendation,
        objection: "it says how to begin, but not who may end it, so nobody can act on it when it goes wrong",
        revised_by: "One person is named who may stop it at any time.",
    },
];

pub(super) fn audit_conclusion(subject: &str, messages: &AskMessages) -> String {
    let shown = prompt::find_part(&messages.user, "CONCLUSION").unwrap_or_default();
    let mut variation = ReplyVariation::from_texts(&[subject, "audit"]);
    let is_strict = variation.number_below(3) == 0;
    // Do not flag a field where another sentence would violate a format constraint.
    let question = prompt::find_part(&messages.user, "QUESTION").unwrap_or_default();
    let kinds = if find_constraints(question).is_empty() { CRITIC_DEMANDS.len() } else { 1 };
    let want = CRITIC_DEMANDS.get(variation.number_below(kinds));
    match want.filter(|want| is_strict && !shown.contains(want.revised_by)) {
        Some(want) => format!("FLAG: {} - {}", want.field, want.objection),
        None => "PASS".to_owned(),
    }
}

/// Restates the Principal's directive in one sentence.
pub(super) fn restate_directive(messages: &AskMessages) -> String {
    let said = prompt::find_part(&messages.user, "DIRECTIVE").unwrap_or_default();
    let said = prompt::to_plain_line(&said.lines().collect::<Vec<_>>().join(" "));
    format!("From the next round on, the panel is to take this up: “{said}”")
}
