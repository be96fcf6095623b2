//! The progress of a conclusion, read from the run state.

use crate::domain::conclusion::{Audit, Conclusion, Objection, Trail, miscounts};
use crate::domain::transcript::{Document, Transcript};

/// The rounds of the conclusion, which follow the three of a council.
pub const DRAFT: u8 = 4;
pub const AUDIT: u8 = 5;
pub const REVISION: u8 = 6;
pub const SECOND_AUDIT: u8 = 7;

/// The Synthesizer's conclusion, once it is parsed.
pub fn draft(transcript: &Transcript) -> Option<&Conclusion> {
    let Document::Conclusion(draft) = document(transcript, DRAFT)? else { return None };
    Some(draft)
}

/// The draft with its flagged fields revised.
pub fn revised(transcript: &Transcript) -> Option<&Conclusion> {
    let Document::Revision(revised) = document(transcript, REVISION)? else { return None };
    Some(revised)
}

/// The conclusion that the critic sees in one of the two audits.
pub fn looked_at(transcript: &Transcript, round: u8) -> Option<&Conclusion> {
    if round == SECOND_AUDIT { revised(transcript) } else { draft(transcript) }
}

/// The objections of one audit: those that the program counted, then those of the critic. None
/// before the critic replied; empty if there are no objections.
pub fn objections(transcript: &Transcript, round: u8) -> Option<&[Objection]> {
    let Document::Audit(audit) = document(transcript, round)? else { return None };
    Some(audit.objections())
}

/// The audit so far and its effect; none before the first audit.
pub fn trail(transcript: &Transcript) -> Option<Trail> {
    let objections = objections(transcript, AUDIT)?;
    let mut revised_fields: Vec<_> = objections.iter().map(|objection| objection.field).collect();
    revised_fields.sort_unstable();
    revised_fields.dedup();
    let second_objections = self::objections(transcript, SECOND_AUDIT).unwrap_or_default();
    Some(Trail {
        objections: objections.to_vec(),
        revised_fields,
        second_objections: second_objections.to_vec(),
        original: revised(transcript).and(draft(transcript)).cloned(),
    })
}

/// Adds counted objections to those of the critic. A PASS does not turn three lines into five.
pub fn counted(audit: &Audit, question: &str, looked_at: &Conclusion) -> Audit {
    let mut objections = miscounts(question, &looked_at.recommendation);
    objections.extend_from_slice(audit.objections());
    if objections.is_empty() { Audit::Pass } else { Audit::Flag { objections } }
}

fn document(transcript: &Transcript, round: u8) -> Option<&Document> {
    transcript.asks_of(round).filter(|asked| !asked.retired).last()?.document()
}
