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
    document(transcript, DRAFT).and_then(|document| match document {
        Document::Conclusion(conclusion) => Some(conclusion.as_ref()),
        Document::Opinion(_)
        | Document::Review(_)
        | Document::Report(_)
        | Document::Audit(_)
        | Document::Revision(_) => None,
    })
}

/// The draft with what was objected to mended.
pub fn revised(transcript: &Transcript) -> Option<&Conclusion> {
    document(transcript, REVISION).and_then(|document| match document {
        Document::Revision(conclusion) => Some(conclusion.as_ref()),
        Document::Opinion(_)
        | Document::Review(_)
        | Document::Report(_)
        | Document::Audit(_)
        | Document::Conclusion(_) => None,
    })
}

/// What is objected to at one of the two looks: what was counted, then what the critic says.
/// Nothing, while the critic has not spoken; an empty list, when all is well.
pub fn objections(transcript: &Transcript, round: u8) -> Option<Vec<Objection>> {
    let looked_at = if round == AUDIT { draft(transcript) } else { revised(transcript) }?;
    let audit: &Audit = match document(transcript, round)? {
        Document::Audit(audit) => audit,
        Document::Opinion(_)
        | Document::Review(_)
        | Document::Report(_)
        | Document::Conclusion(_)
        | Document::Revision(_) => return None,
    };
    let mut objections = miscounts(transcript.question(), &looked_at.recommendation);
    objections.extend_from_slice(audit.objections());
    Some(objections)
}

/// What the audit said so far and what was done about it; nothing, before it spoke.
pub fn trail(transcript: &Transcript) -> Option<Trail> {
    let objections = objections(transcript, AUDIT)?;
    let mut revised_fields: Vec<_> = objections.iter().map(|objection| objection.field).collect();
    revised_fields.sort_unstable();
    revised_fields.dedup();
    Some(Trail {
        objections,
        revised_fields,
        second_objections: self::objections(transcript, SECOND_AUDIT).unwrap_or_default(),
        original: revised(transcript).and(draft(transcript)).cloned(),
    })
}

fn document(transcript: &Transcript, round: u8) -> Option<&Document> {
    transcript.asks_of(round).filter(|asked| !asked.retired).last()?.document()
}
