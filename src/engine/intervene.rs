//! What the Principal does from elsewhere: it is written into the journal of the run, and
//! whoever works on that run finds it there.

use crate::ambient::Ambient;
use crate::domain::change::{Change, EntryKind};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::intervention::{Intervention, Noted, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::store::{Store, transact};

use super::resume::{Loaded, load};

/// Notes an intervention in a run that has not come to its end.
pub fn intervene(
    store: &dyn Store,
    ambient: &dyn Ambient,
    id: &DialogueId,
    intervention: &Intervention,
) -> Result<Noted, Error> {
    loop {
        let Loaded { transcript, entries } = load(store, id)?;
        check(&transcript, intervention)?;
        let (at, round) = (ambient.now(), round(&transcript));
        let change = Change::Intervened { round, intervention: intervention.clone() };
        let is_noted = transact(store, |unit| -> Result<bool, Error> {
            // What it was held against may have ended by now.
            if unit.entry_count(id)? != entries {
                return Ok(false);
            }
            unit.apply(id, EntryKind::Intervened, at, std::slice::from_ref(&change))?;
            Ok(true)
        })?;
        if is_noted {
            return Ok(Noted { at, round, intervention: intervention.clone() });
        }
    }
}

/// Whether the run can still take it up.
pub fn check(transcript: &Transcript, intervention: &Intervention) -> Result<(), Fault> {
    let id = &transcript.opening.dialogue_id;
    if transcript.is_finished() {
        let fault = Fault::new(Code::DialogueClosed, format!("'{id}' is finished"));
        return Err(fault.suggest(format!("`plenary show {id}` shows how it ended")));
    }
    let is_ending = transcript.participants.is_some();
    match intervention {
        Intervention::Whisper { text, to } => {
            is_sayable(text)?;
            match to {
                Some(seat) if is_ending => Err(too_late(id, &format!("{seat} is not asked"))),
                Some(seat) => is_seated(transcript, seat),
                None => Ok(()),
            }
        }
        Intervention::Directive { text, .. } => {
            is_sayable(text)?;
            if is_ending { Err(too_late(id, "nobody argues")) } else { Ok(()) }
        }
        Intervention::Stop if is_ending => Err(too_late(id, "there is nothing left to stop")),
        Intervention::Stop => Ok(()),
    }
}

/// The round that is under way; before the first, none.
fn round(transcript: &Transcript) -> u8 {
    transcript.asks.iter().map(|asked| asked.ask.round).max().unwrap_or(0)
}

fn is_sayable(text: &str) -> Result<(), Fault> {
    let fault = if text.trim().is_empty() {
        Fault::new(Code::MissingField, "there is nothing in it").suggest("say it in a sentence")
    } else if text.contains('\0') {
        Fault::new(Code::InvalidType, "it holds a NUL character")
            .suggest("check where the text comes from")
    } else if text.chars().count() > TEXT_CHARS_MAX {
        Fault::new(Code::FieldTooLong, format!("it is over {TEXT_CHARS_MAX} characters"))
            .suggest("it goes into every later ask: say it shorter")
    } else {
        return Ok(());
    };
    Err(fault.field("text"))
}

/// Only those who speak in the rounds can be spoken to.
fn is_seated(transcript: &Transcript, seat: &ExpertSlug) -> Result<(), Fault> {
    let seats = transcript.plan.seats.iter().filter(|seat| !seat.roles.is_empty());
    let names: Vec<String> = seats.map(|seat| seat.name.to_string()).collect();
    if names.iter().any(|name| name == seat.as_str()) {
        return Ok(());
    }
    let message = format!("nobody called '{seat}' speaks in this council");
    let fault = Fault::new(Code::ExpertNotInDialogue, message).field("to").value(seat.as_str());
    Err(fault.options(names))
}

fn too_late(id: &DialogueId, why: &str) -> Fault {
    let message = format!("the rounds of '{id}' are over: {why} any more");
    Fault::new(Code::DialogueClosed, message)
        .suggest(format!("`plenary watch {id}` follows its conclusion"))
}
