//! Which interventions of the Principal an ask includes.
//!
//! **Invariant:** an ask sees only interventions made before it was prepared. A private whisper is
//! visible to its seat alone, never to the conclusion or the critic.

use crate::domain::ask::Ask;
use crate::domain::intervention::{Intervention, Noted};
use crate::domain::transcript::Transcript;

/// How much of the interventions an ask may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// What the Principal said to all, and to this seat alone.
    OwnAndPublic,
    /// What the Principal said to all. The conclusion is for all readers, so nothing that was said
    /// to one seat belongs in it.
    Public,
}

/// The interventions that an ask includes, oldest first: those that existed when it was prepared,
/// or all so far if it is not prepared yet. An ask that must see none does not call this.
pub fn heard_by<'a>(transcript: &'a Transcript, ask: &Ask, hearing: Hearing) -> Vec<&'a Noted> {
    let all = &transcript.interventions;
    let known = transcript.asked(ask.id).map_or(all.len(), |asked| asked.interventions);
    all.iter().take(known).filter(|noted| is_for(noted, ask, hearing)).collect()
}

fn is_for(noted: &Noted, ask: &Ask, hearing: Hearing) -> bool {
    match &noted.intervention {
        Intervention::Whisper { to: Some(seat), .. } => {
            hearing == Hearing::OwnAndPublic && *seat == ask.seat
        }
        Intervention::Whisper { to: None, .. } => true,
        // All seats receive it at once, so it applies from the next round on.
        Intervention::Directive { confirmed, .. } => *confirmed && noted.round < ask.round,
        Intervention::Stop => false,
    }
}
