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

use super::resume::{Loaded, abandoned, load};

/// A run that needs more hints than this should be another one.
const INTERVENTIONS_MAX: usize = 100;

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
        let (at, round) = (ambient.now(), transcript.round_under_way());
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
    if transcript.gate().is_some() {
        let message = format!(
            "'{id}' is a review: a gate hears the document, and nobody who wants it through"
        );
        let fault = Fault::new(Code::NotSupported, message);
        let way = format!("Ctrl-C where it runs interrupts it, and `plenary resume {id}` goes on");
        return Err(fault.suggest(way));
    }
    if transcript.is_finished() {
        let fault = Fault::new(Code::DialogueClosed, format!("'{id}' is finished"));
        return Err(fault.suggest(format!("`plenary show {id}` shows how it ended")));
    }
    if transcript.is_abandoned {
        return Err(abandoned(id));
    }
    // Whatever was said, it can be stopped.
    let is_word = *intervention != Intervention::Stop;
    if is_word && transcript.interventions.len() >= INTERVENTIONS_MAX {
        let message = format!("there were {INTERVENTIONS_MAX} interventions already");
        let fault = Fault::new(Code::NotSupported, message);
        return Err(fault.suggest("each of them goes into every later ask: ask a new question"));
    }
    let is_ending = transcript.participants.is_some();
    match intervention {
        Intervention::Whisper { text, to } => {
            check_text(text)?;
            match to {
                Some(seat) if is_ending => Err(too_late(id, &format!("{seat} is not asked"))),
                Some(seat) => check_seat(transcript, seat),
                None => Ok(()),
            }
        }
        Intervention::Directive { text, .. } => {
            check_text(text)?;
            if is_ending { Err(too_late(id, "nobody argues")) } else { Ok(()) }
        }
        Intervention::Stop if is_ending => Err(too_late(id, "nothing is left to stop")),
        Intervention::Stop if transcript.is_cut_short => {
            Err(Fault::new(Code::DialogueClosed, format!("'{id}' was stopped already")))
        }
        Intervention::Stop => Ok(()),
    }
}

fn check_text(text: &str) -> Result<(), Fault> {
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
fn check_seat(transcript: &Transcript, seat: &ExpertSlug) -> Result<(), Fault> {
    let is_seated = speakers(transcript).any(|known| known == seat);
    if is_seated { Ok(()) } else { Err(unknown_seat(transcript, seat.as_str())) }
}

fn speakers(transcript: &Transcript) -> impl Iterator<Item = &ExpertSlug> {
    let seats = transcript.plan.seats.iter().filter(|seat| !seat.roles.is_empty());
    seats.map(|seat| &seat.name)
}

/// Nobody has this name; these can be spoken to.
pub fn unknown_seat(transcript: &Transcript, name: &str) -> Fault {
    let message = format!("nobody called '{name}' speaks in this council");
    let names: Vec<&str> = speakers(transcript).map(ExpertSlug::as_str).collect();
    let fault = Fault::new(Code::ExpertNotInDialogue, message).field("to").value(name);
    fault.suggest(format!("these do: {}", names.join(", "))).options(names)
}

fn too_late(id: &DialogueId, why: &str) -> Fault {
    let message = format!("the rounds of '{id}' are over: {why} any more");
    Fault::new(Code::DialogueClosed, message)
        .suggest(format!("`plenary watch {id}` follows its conclusion, if it runs"))
}
