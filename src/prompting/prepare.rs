//! Renders the prompt of an ask by its purpose; called by the engine.

use super::conclusion::{Case, reviser, synthesizer};
use super::council;
use super::gate;
use super::message::Prepared;
use crate::domain::ask::{Ask, Purpose};
use crate::domain::record::Record;
use crate::domain::transcript::Transcript;
use crate::protocols::conclusion::{SECOND_AUDIT, draft, revised};

/// Renders the messages of an ask. Only synthesizer and reviser need the record. `None` if the
/// text to audit or revise does not exist; a restatement is not an ask of a run.
pub fn prepare(transcript: &Transcript, record: Option<&Record>, ask: &Ask) -> Option<Prepared> {
    match ask.purpose {
        Purpose::Opinion => Some(council::participant(transcript, ask)),
        Purpose::Review => Some(council::reviewer(transcript, ask)),
        Purpose::Synthesis => Some(council::chair(transcript, ask)),
        Purpose::Conclusion => Some(synthesizer(transcript, record?, ask)),
        Purpose::Audit => critic(transcript, ask),
        Purpose::Revision => {
            draft(transcript)?;
            Some(reviser(transcript, record?, ask))
        }
        Purpose::Restatement => None,
        Purpose::Judgement | Purpose::CrossReading => gate::deliberator(transcript, ask),
        Purpose::Adjudication => gate::adjudicator(transcript, ask),
    }
}

/// Passes only question and conclusion on, never the run state: see `CriticInput`.
fn critic(transcript: &Transcript, ask: &Ask) -> Option<Prepared> {
    let is_second = ask.round == SECOND_AUDIT;
    let looked_at = if is_second { revised(transcript) } else { draft(transcript) }?;
    let case = Case::new(transcript.question(), looked_at);
    let secret = &transcript.plan.secret;
    Some(match ask.stricter {
        None => case.asked(secret, ask.round),
        Some(_) if ask.wants_shorter() => case.asked_for_less(secret, ask.round),
        Some(_) => case.asked_again(secret, ask.round),
    })
}
