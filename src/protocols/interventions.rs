//! Which interventions of the Principal an ask includes.
//!
//! **Invariant:** an ask sees only interventions made before it was prepared. A private whisper is
//! visible to its seat alone, never to the conclusion or the critic.

use crate::domain::ask::Ask;
use crate::domain::intervention::{Intervention, InterventionEntry};
use crate::domain::transcript::RunState;

/// How much of the interventions an ask may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterventionScope {
    /// What the Principal said to all, and to this seat alone.
    OwnAndPublic,
    /// What the Principal said to all. The conclusion is for all readers, so nothing that was said
    /// to one seat belongs in it.
    Public,
}

/// The interventions that an ask includes, oldest first: those that existed when it was prepared,
/// or all so far if it is not prepared yet. An ask that must see none does not call this.
pub fn visible_interventions<'a>(
    transcript: &'a RunState,
    ask: &Ask,
    hearing: InterventionScope,
) -> Vec<&'a InterventionEntry> {
    let all = &transcript.interventions;
    let known = transcript.find_ask(ask.id).map_or(all.len(), |asked| asked.interventions);
    all.iter().take(known).filter(|noted| is_visible_to(noted, ask, hearing)).collect()
}

fn is_visible_to(noted: &InterventionEntry, ask: &Ask, hearing: InterventionScope) -> bool {
    match &noted.intervention {
        Intervention::Whisper { to: Some(seat), .. } => {
            hearing == InterventionScope::OwnAndPublic && *seat == ask.seat
        }
        Intervention::Whisper { to: None, .. } => true,
        // All seats receive it at once, so it applies from the next round on.
        Intervention::Directive { confirmed, .. } => *confirmed && noted.round < ask.round,
        Intervention::Stop => false,
    }
}
