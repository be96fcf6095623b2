//! The note that explains why a run has no conclusion.

use super::words::field_name;
use crate::domain::conclusion::{AuditObjection, AuditTrail};
use crate::export::wording;

/// Enough to recognise an objection; the full text is listed beside the note.
const OBJECTION_CHARS_MAX: usize = 240;

/// The note names at most this many objections.
const NAMED_MAX: usize = 3;

/// Explains a conclusion that was rejected twice.
pub(super) fn explain_rejection(trail: &AuditTrail) -> String {
    format!(
        "No conclusion came out that holds up on its own: what was drafted was rejected twice, \
         and it is mended only once. At first sight {}. After the revision {}. This is not a \
         failure. It says something about the question: what was said about it does not carry one \
         answer yet. Read the debate with the objections in mind; then find out what they say is \
         missing, ask again more narrowly, or decide yourself.",
        objections_sentence(&trail.objections),
        objections_sentence(&trail.second_objections)
    )
}

/// `the objection was to the key condition: “It assumes that …”`
fn objections_sentence(objections: &[AuditObjection]) -> String {
    let named = objections.iter().take(NAMED_MAX);
    let named: Vec<String> = named
        .map(|one| {
            let said = wording::shorten_text(&one.objection, OBJECTION_CHARS_MAX);
            format!("the {}: “{}”", field_name(one.field), said.trim_end_matches('.'))
        })
        .collect();
    let more = match objections.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let what = if objections.len() == 1 { "the objection was" } else { "the objections were" };
    format!("{what} to {}{more}", named.join("; to "))
}
