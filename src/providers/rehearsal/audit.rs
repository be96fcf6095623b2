//! Replies of the rehearsal panel's Blind Critic, and the restatement of a directive.
//!
//! The critic passes most conclusions. For about a third of the questions it flags a field once,
//! and passes the revision. It decides from its messages alone.

use crate::domain::ask::Messages;
use crate::domain::conclusion::{Field, wishes};

use super::prompt;
use super::variation::Variation;

/// A sentence the critic misses in a field.
pub(super) struct Want {
    pub(super) field: Field,
    objection: &'static str,
    /// Sentence whose presence shows that the field was revised.
    pub(super) mended_by: &'static str,
}

/// The first concerns a field whose format no question constrains.
pub(super) const WANTS: [Want; 2] = [
    Want {
        field: Field::KeyCondition,
        objection: "it names no sign by which anybody could tell that the condition no longer holds",
        mended_by: "The sign that it no longer holds is a return that was tried and took longer than a week.",
    },
    Want {
        field: Field::Recommendation,
        objection: "it says how to begin, but not who may end it, so nobody can act on it when it goes wrong",
        mended_by: "One person is named who may stop it at any time.",
    },
];

pub(super) fn audit(subject: &str, messages: &Messages) -> String {
    let shown = prompt::part(&messages.user, "CONCLUSION").unwrap_or_default();
    let mut variation = Variation::of(&[subject, "audit"]);
    let is_strict = variation.below(3) == 0;
    // Do not flag a field where another sentence would violate a format constraint.
    let question = prompt::part(&messages.user, "QUESTION").unwrap_or_default();
    let kinds = if wishes(question).is_empty() { WANTS.len() } else { 1 };
    let want = WANTS.get(variation.below(kinds));
    match want.filter(|want| is_strict && !shown.contains(want.mended_by)) {
        Some(want) => format!("FLAG: {} - {}", want.field, want.objection),
        None => "PASS".to_owned(),
    }
}

/// Restates the Principal's directive in one sentence.
pub(super) fn restatement(messages: &Messages) -> String {
    let said = prompt::part(&messages.user, "DIRECTIVE").unwrap_or_default();
    let said = prompt::plain(&said.lines().collect::<Vec<_>>().join(" "));
    format!("From the next round on, the panel is to take this up: “{said}”")
}
