//! How an ending reads, the same on every page.
//!
//! **Invariant:** agreement is never worded as proof, and that nobody objected never as
//! "verified".

use super::ended::Ended;
use crate::domain::conclusion::Field;
use crate::domain::dialogue::TerminalState;

/// The state in a word. Nothing stands for a conclusion that nobody audited.
pub(crate) fn state_word(state: Option<TerminalState>) -> &'static str {
    match state {
        Some(TerminalState::Clean) => "CLEAN",
        Some(TerminalState::Revised) => "REVISED",
        Some(TerminalState::Unconverged) => "UNCONVERGED",
        None => "UNAUDITED",
    }
}

/// A field as people call it.
pub(crate) fn field_name(field: Field) -> &'static str {
    match field {
        Field::Recommendation => "recommendation",
        Field::KeyCondition => "key condition",
        Field::UnresolvedPoints => "unresolved points",
        Field::ReviewBy => "review by",
        Field::Participants => "participants",
    }
}

/// What a reader of the ending should know besides.
pub(crate) fn warnings(ended: &Ended, is_rehearsal: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if ended.is_unaudited() {
        warnings.push("unaudited: nobody tried to break this conclusion".to_owned());
    }
    let critic = ended.audit.as_ref().filter(|audit| audit.same_family);
    // The players of a rehearsal are all of one family, and say so already.
    if let Some(critic) = critic.and_then(|audit| audit.critic.as_ref()).filter(|_| !is_rehearsal) {
        warnings.push(format!(
            "the Blind Critic is of the synthesizer's own family ({}): it may share its blind spots",
            critic.family
        ));
    }
    warnings
}
