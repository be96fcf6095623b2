//! What the Principal has added while a run goes on, and who may know of it.
//!
//! **Invariant:** an ask that was prepared knows of no later word, and a word to one seat
//! is known to no other, nor to the ending, nor to anybody who must not know of the run.

use crate::domain::ask::{Ask, Purpose};
use crate::domain::intervention::{Intervention, Noted};
use crate::domain::transcript::Transcript;

/// The interventions that an ask takes up, oldest first: of those that were there when it was
/// prepared, or of all so far where it is yet to be.
pub fn heard_by<'a>(transcript: &'a Transcript, ask: &Ask) -> Vec<&'a Noted> {
    let all = &transcript.interventions;
    let known = transcript.asked(ask.id).map_or(all.len(), |asked| asked.interventions);
    all.iter().take(known).filter(|noted| is_for(noted, ask)).collect()
}

fn is_for(noted: &Noted, ask: &Ask) -> bool {
    let hearing = Hearing::of(ask.purpose);
    match &noted.intervention {
        Intervention::Whisper { to: Some(seat), .. } => {
            hearing == Hearing::OwnAndPublic && *seat == ask.seat
        }
        Intervention::Whisper { to: None, .. } => hearing != Hearing::Nothing,
        // Everybody takes it up at once, so it waits for a round to begin.
        Intervention::Directive { confirmed, .. } => {
            hearing != Hearing::Nothing && *confirmed && noted.round < ask.round
        }
        Intervention::Stop => false,
    }
}

/// How much of it a purpose is open to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hearing {
    /// What was said to all, and to this seat alone.
    OwnAndPublic,
    /// The conclusion is everybody's: nothing that was said to one seat belongs in it.
    Public,
    Nothing,
}

impl Hearing {
    fn of(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Opinion | Purpose::Review | Purpose::Synthesis => Self::OwnAndPublic,
            Purpose::Conclusion | Purpose::Revision => Self::Public,
            Purpose::Audit | Purpose::Restatement => Self::Nothing,
            // A gate hears the artifact, and nobody who wants it through.
            Purpose::Judgement | Purpose::CrossReading | Purpose::Adjudication => Self::Nothing,
        }
    }
}
