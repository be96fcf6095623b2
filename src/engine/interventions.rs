//! Interventions of the Principal: written into the journal of a run, found by its process.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::run_start::{LoadedRun, abandoned, load_run};
use crate::ambient::Ambient;
use crate::domain::change::{Change, EntryKind};
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::intervention::{Intervention, Noted, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::store::{Store, transact};

/// Each intervention is part of every later ask, so their number is limited.
const INTERVENTIONS_MAX: usize = 100;

/// Journals an intervention in a run that is not finished.
pub fn intervene(
    store: &dyn Store,
    ambient: &dyn Ambient,
    id: &DialogueId,
    intervention: &Intervention,
) -> Result<Noted, Error> {
    loop {
        let LoadedRun { transcript, entries } = load_run(store, id)?;
        check_intervention(&transcript, intervention)?;
        let (at, round) = (ambient.now(), transcript.round_under_way());
        let change = Change::Intervened { round, intervention: intervention.clone() };
        let is_noted = transact(store, |unit| -> Result<bool, Error> {
            // The journal grew since the check: load and check again.
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

/// Checks that the run can still accept the intervention.
pub fn check_intervention(
    transcript: &Transcript,
    intervention: &Intervention,
) -> Result<(), Fault> {
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
    // The limit never applies to a stop.
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

/// Only seats that take part in the rounds can receive a whisper.
fn check_seat(transcript: &Transcript, seat: &ExpertSlug) -> Result<(), Fault> {
    let is_seated = round_seats(transcript).any(|known| known == seat);
    if is_seated { Ok(()) } else { Err(unknown_seat(transcript, seat.as_str())) }
}

fn round_seats(transcript: &Transcript) -> impl Iterator<Item = &ExpertSlug> {
    let seats = transcript.plan.seats.iter().filter(|seat| !seat.roles.is_empty());
    seats.map(|seat| &seat.name)
}

/// Error for an unknown seat name; lists the known ones.
pub fn unknown_seat(transcript: &Transcript, name: &str) -> Fault {
    let message = format!("nobody called '{name}' speaks in this council");
    let names: Vec<&str> = round_seats(transcript).map(ExpertSlug::as_str).collect();
    let fault = Fault::new(Code::ExpertNotInDialogue, message).field("to").value(name);
    fault.suggest(format!("these do: {}", names.join(", "))).options(names)
}

fn too_late(id: &DialogueId, why: &str) -> Fault {
    let message = format!("the rounds of '{id}' are over: {why} any more");
    Fault::new(Code::DialogueClosed, message)
        .suggest(format!("`plenary watch {id}` follows its conclusion, if it runs"))
}

/// Short enough that a stop takes effect visibly; a query takes some microseconds.
const PAUSE: Duration = Duration::from_millis(200);

/// Signals new interventions in any run of the store. One poll serves all runs of a process. Only a
/// stop needs the signal: whispers and directives are found when the next ask is journalled.
#[derive(Debug, Clone)]
pub struct InterventionWatcher(watch::Receiver<u64>);

impl InterventionWatcher {
    /// A watcher that never signals.
    pub fn disabled() -> Self {
        Self(watch::channel(0).1)
    }

    /// Returns a watcher and the polling task that must run for it. The initial value is not
    /// queried, to avoid a connection at start-up. The first poll may therefore signal once without
    /// a new intervention; runs ignore it.
    pub fn start(store: Arc<dyn Store>) -> (Self, impl Future<Output = ()> + Send) {
        let (heard, watcher) = watch::channel(0);
        let listening = async move {
            while !heard.is_closed() {
                tokio::time::sleep(PAUSE).await;
                // A failed query is retried at the next poll.
                let Ok(now) = store.last_intervention() else { continue };
                heard.send_if_modified(|known| std::mem::replace(known, now) != now);
            }
        };
        (Self(watcher), listening)
    }

    /// Waits for an intervention since the last call.
    pub(super) async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
