//! How far the ending has come, read off the transcript.

use crate::domain::conclusion::{Audit, Conclusion, Objection, Trail, miscounts};
use crate::domain::transcript::{Document, Transcript};

/// The rounds in which the seats of the ending are asked, after the three of a council.
pub const DRAFT: u8 = 4;
pub const AUDIT: u8 = 5;
pub const REVISION: u8 = 6;
pub const SECOND_AUDIT: u8 = 7;

/// What the Synthesizer wrote, once it could be used.
pub fn draft(transcript: &Transcript) -> Option<&Conclusion> {
    let Document::Conclusion(draft) = document(transcript, DRAFT)? else { return None };
    Some(draft)
}

/// The draft with what was objected to mended.
pub fn revised(transcript: &Transcript) -> Option<&Conclusion> {
    let Document::Revision(revised) = document(transcript, REVISION)? else { return None };
    Some(revised)
}

/// What the critic is shown at one of its two looks.
pub fn looked_at(transcript: &Transcript, round: u8) -> Option<&Conclusion> {
    if round == SECOND_AUDIT { revised(transcript) } else { draft(transcript) }
}

/// What is objected to at one of the two looks: what was counted, then what the critic says.
/// Nothing, while the critic has not spoken; an empty list, when all is well.
pub fn objections(transcript: &Transcript, round: u8) -> Option<&[Objection]> {
    let Document::Audit(audit) = document(transcript, round)? else { return None };
    Some(audit.objections())
}

/// What the audit said so far and what was done about it; nothing, before it spoke.
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

/// What the critic said, behind what could be counted: a PASS does not make five lines of three.
pub fn counted(audit: &Audit, question: &str, looked_at: &Conclusion) -> Audit {
    let mut objections = miscounts(question, &looked_at.recommendation);
    objections.extend_from_slice(audit.objections());
    if objections.is_empty() { Audit::Pass } else { Audit::Flag { objections } }
}

fn document(transcript: &Transcript, round: u8) -> Option<&Document> {
    transcript.asks_of(round).filter(|asked| !asked.retired).last()?.document()
}
