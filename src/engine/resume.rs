//! Takes a run up again: the record is loaded, and what was not finished goes on.

use super::connections::Connections;
use super::deliberation::{Deliberation, Surroundings};
use super::owner::Owner;
use super::reading::due;
use crate::domain::change::{Change, EntryKind};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::plan::Caps;
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::record::no_dialogue;
use crate::store::Store;

/// A run as it stands in the store.
#[derive(Debug)]
pub struct Loaded {
    pub transcript: Transcript,
    /// How many entries it was read from.
    entries: u64,
}

/// Reads a run from its journal.
pub fn load(store: &dyn Store, id: &DialogueId) -> Result<Loaded, Error> {
    let entries = store.entries(id, 0)?;
    let Some((first, rest)) = entries.split_first() else {
        return Err(no_dialogue(id.as_str()).into());
    };
    let Some(mut transcript) = Transcript::begin(first.at, &first.changes) else {
        return Err(not_a_run(id).into());
    };
    for entry in rest {
        transcript.add(entry.at, &entry.changes);
    }
    let entries = entries.last().map_or(0, |entry| entry.seq);
    Ok(Loaded { transcript, entries })
}

/// The run as it can be shown: also with what replies say that nobody has read yet.
pub fn look(store: &dyn Store, id: &DialogueId) -> Result<Transcript, Error> {
    let Loaded { mut transcript, .. } = load(store, id)?;
    let due = due(&transcript);
    transcript.add(transcript.last_entry_at, &due);
    Ok(transcript)
}

/// Claims a loaded run for this process. Somebody who works on it keeps it.
pub async fn take_up(
    loaded: Loaded,
    caps: Option<Caps>,
    connections: Connections,
    owner: &Owner,
    surroundings: Surroundings,
) -> Result<Deliberation, Error> {
    let Loaded { mut transcript, entries } = loaded;
    let id = transcript.opening.dialogue_id.clone();
    if owner.finds_at_work(&transcript) {
        return Err(at_work(&id).into());
    }
    let seats = transcript.plan.seats.iter().map(|seat| &seat.name);
    if let Some(seat) = connections.missing(seats) {
        return Err(unreachable_seat(seat).into());
    }
    let (at, claimed) = (surroundings.ambient.now(), id.clone());
    let mut changes = vec![Change::RunStarted { owner: owner.token.clone() }];
    changes.extend(caps.map(|caps| Change::CapsSet { caps }));
    let claim = surroundings.journal.run(move |unit| {
        // Two who found it ownerless at once: the first to write has it.
        if unit.entry_count(&claimed)? != entries {
            return Err(at_work(&claimed).into());
        }
        unit.apply(&claimed, EntryKind::RunStarted, at, &changes)?;
        Ok(changes)
    });
    let changes = claim.await?;
    transcript.add(at, &changes);
    surroundings.observer.saw(&id, at, &changes);
    Ok(Deliberation::new(transcript, connections, surroundings))
}

fn not_a_run(id: &DialogueId) -> Fault {
    let message = format!("dialogue '{id}' is not a council: there is no run to go on with");
    Fault::new(Code::NotSupported, message)
        .suggest("alignment dialogues go on with `plenary dialogue register`")
}

fn at_work(id: &DialogueId) -> Fault {
    let message = format!("another process is working on '{id}'");
    Fault::new(Code::NotSupported, message)
        .suggest(format!("`plenary watch {id}` follows it; end that process first to take it over"))
}

/// Nothing leads to the seat any more.
pub(super) fn unreachable_seat(seat: &ExpertSlug) -> Fault {
    let message = format!("nothing leads to seat '{seat}': its provider is not configured here");
    Fault::new(Code::NotSupported, message)
        .suggest("run it from the folder and with the keys it was started with")
}
