//! Takes a run up again: the record is loaded, and what was not finished goes on.

use super::connections::Connections;
use super::deliberation::{Deliberation, Surroundings};
use super::journal::Written;
use super::owner::Owner;
use super::reading::due;
use crate::domain::change::{Change, Entry, EntryKind};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::plan::Plan;
use crate::domain::refusal::{Code, Fault};
use crate::domain::time::Moment;
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::record::no_dialogue;
use crate::store::{Store, Unit};

/// A run as it stands in the store.
#[derive(Debug)]
pub struct Loaded {
    pub transcript: Transcript,
    /// How many entries it was read from.
    pub(super) entries: u64,
}

impl Loaded {
    /// From a journal that holds a run.
    pub fn of(entries: &[Entry]) -> Option<Self> {
        Some(Self { transcript: Transcript::of(entries)?, entries: entries.last()?.seq })
    }

    /// From the journal of a dialogue that a run is about to be planned on.
    pub fn planned(entries: &[Entry], plan: Plan) -> Option<Self> {
        let transcript = Transcript::planned(entries, plan)?;
        Some(Self { transcript, entries: entries.last()?.seq })
    }
}

/// Reads a run from its journal.
pub fn load(store: &dyn Store, id: &DialogueId) -> Result<Loaded, Error> {
    let entries = store.entries(id, 0)?;
    if entries.is_empty() {
        return Err(no_dialogue(id.as_str()).into());
    }
    Ok(Loaded::of(&entries).ok_or_else(|| not_a_run(id))?)
}

/// The run as it can be shown: also with what replies say that nobody has read yet.
pub fn look(store: &dyn Store, id: &DialogueId) -> Result<Transcript, Error> {
    let Loaded { mut transcript, .. } = load(store, id)?;
    let due = due(&transcript);
    transcript.add(transcript.last_entry_at, &due);
    Ok(transcript)
}

/// Claims a loaded run for this process, with what is to be different from now on. Somebody
/// who works on it keeps it.
pub async fn take_up(
    loaded: Loaded,
    different: Vec<Change>,
    connections: Connections,
    owner: &Owner,
    surroundings: Surroundings,
) -> Result<Deliberation, Error> {
    let Loaded { mut transcript, mut entries } = loaded;
    let id = transcript.opening.dialogue_id.clone();
    let mut changes = vec![Change::RunStarted { owner: owner.token.clone() }];
    changes.extend(different);
    let run_claim = owner.claim(&id).ok_or_else(|| at_work(&id))?;
    loop {
        if transcript.is_abandoned {
            return Err(abandoned(&id).into());
        }
        if owner.finds_at_work(&transcript) {
            return Err(at_work(&id).into());
        }
        let at = surroundings.ambient.now();
        let mut taken_up = transcript.clone();
        taken_up.add(at, &changes);
        if let Some(seat) = connections.missing(needed(&taken_up)) {
            return Err(unreachable_seat(seat).into());
        }
        let written = surroundings.journal.run(claim(&id, entries, at, &changes)).await?;
        if written.entries > 0 {
            surroundings.observer.saw(&id, at, &changes);
            let last = written.last;
            return Ok(Deliberation::new(taken_up, last, run_claim, connections, surroundings));
        }
        for entry in surroundings.store.entries(&id, entries)? {
            // Two who found it ownerless at once: the first to write has it.
            if entry.kind != EntryKind::Intervened {
                return Err(at_work(&id).into());
            }
            transcript.add(entry.at, &entry.changes);
            surroundings.observer.saw(&id, entry.at, &entry.changes);
            entries = entry.seq;
        }
    }
}

/// Writes the claim down, unless the journal holds more by now.
fn claim(
    id: &DialogueId,
    entries: u64,
    at: Moment,
    changes: &[Change],
) -> impl FnOnce(&mut dyn Unit) -> Result<Written, Error> + Send + 'static {
    let (id, changes) = (id.clone(), changes.to_vec());
    move |unit| {
        if unit.entry_count(&id)? != entries {
            return Ok(Written::default());
        }
        let seq = unit.apply(&id, EntryKind::RunStarted, at, &changes)?;
        Ok(Written::one(seq, changes))
    }
}

/// Whoever may still be asked: once the rounds are over, those of the ending alone.
fn needed(transcript: &Transcript) -> impl Iterator<Item = &ExpertSlug> {
    let plan = &transcript.plan;
    let ending = plan.conclusion.as_ref().filter(|_| transcript.asks_no_more_in_rounds());
    plan.seats.iter().map(|seat| &seat.name).filter(move |name| {
        ending.is_none_or(|ending| {
            [&ending.synthesizer, &ending.critic, &ending.reviser].contains(name)
        })
    })
}

fn not_a_run(id: &DialogueId) -> Fault {
    let message = format!("nothing was run on '{id}': there is nothing to go on with");
    Fault::new(Code::NotSupported, message)
        .suggest("alignment dialogues go on with `plenary dialogue register`")
}

/// What was given up is not gone on with.
pub(super) fn abandoned(id: &DialogueId) -> Fault {
    Fault::new(Code::DialogueClosed, format!("'{id}' was abandoned"))
        .suggest(format!("`plenary show {id}` shows what there is"))
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
