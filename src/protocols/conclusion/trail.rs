//! The progress of a conclusion, read from the run state.

use crate::domain::conclusion::{
    AuditObjection, AuditReply, AuditTrail, Conclusion, find_violations,
};
use crate::domain::transcript::{ReplyDocument, RunState};

/// The rounds of the conclusion, which follow the three of a council.
pub const DRAFT: u8 = 4;
pub const AUDIT: u8 = 5;
pub const REVISION: u8 = 6;
pub const SECOND_AUDIT: u8 = 7;

/// The Synthesizer's conclusion, once it is parsed.
pub fn draft_conclusion(transcript: &RunState) -> Option<&Conclusion> {
    let ReplyDocument::Conclusion(draft) = last_document(transcript, DRAFT)? else { return None };
    Some(draft)
}

/// The draft with its flagged fields revised.
pub fn revised_conclusion(transcript: &RunState) -> Option<&Conclusion> {
    let ReplyDocument::Revision(revised) = last_document(transcript, REVISION)? else {
        return None;
    };
    Some(revised)
}

/// The conclusion that the critic sees in one of the two audits.
pub fn audited_conclusion(transcript: &RunState, round: u8) -> Option<&Conclusion> {
    if round == SECOND_AUDIT {
        revised_conclusion(transcript)
    } else {
        draft_conclusion(transcript)
    }
}

/// The objections of one audit: those that the program counted, then those of the critic. None
/// before the critic replied; empty if there are no objections.
pub fn audit_objections(transcript: &RunState, round: u8) -> Option<&[AuditObjection]> {
    let ReplyDocument::Audit(audit) = last_document(transcript, round)? else { return None };
    Some(audit.objections())
}

/// The audit so far and its effect; none before the first audit.
pub fn audit_trail(transcript: &RunState) -> Option<AuditTrail> {
    let objections = audit_objections(transcript, AUDIT)?;
    let mut revised_fields: Vec<_> = objections.iter().map(|objection| objection.field).collect();
    revised_fields.sort_unstable();
    revised_fields.dedup();
    let second_objections = self::audit_objections(transcript, SECOND_AUDIT).unwrap_or_default();
    Some(AuditTrail {
        objections: objections.to_vec(),
        revised_fields,
        second_objections: second_objections.to_vec(),
        original: revised_conclusion(transcript).and(draft_conclusion(transcript)).cloned(),
    })
}

/// Adds counted objections to those of the critic. A PASS does not turn three lines into five.
pub fn add_counted_objections(
    audit: &AuditReply,
    question: &str,
    looked_at: &Conclusion,
) -> AuditReply {
    let mut objections = find_violations(question, &looked_at.recommendation);
    objections.extend_from_slice(audit.objections());
    if objections.is_empty() { AuditReply::Pass } else { AuditReply::Flag { objections } }
}

fn last_document(transcript: &RunState, round: u8) -> Option<&ReplyDocument> {
    transcript.asks_in_round(round).filter(|asked| !asked.retired).last()?.parsed_document()
}
