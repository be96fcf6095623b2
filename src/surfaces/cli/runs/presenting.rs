//! What came of a run: what is printed of it, and what that means for how the program ends.

use super::super::session::{Done, Session};
use super::super::show::council::draw;
use super::super::show::draw_closing;
use super::super::show::gate::draw as draw_review;
use crate::domain::gate::Decision;
use crate::domain::transcript::{Stop, Transcript};
use crate::error::Error;
use crate::export::RunDocument;
use crate::record::no_dialogue;
use crate::store::Store;

/// Prints the result: the document, or the page.
pub(in crate::surfaces::cli) fn present(
    session: &Session<'_>,
    store: &dyn Store,
    transcript: &Transcript,
) -> Result<(), Error> {
    let (ui, id) = (session.ui, &transcript.opening.dialogue_id);
    match RunDocument::of(transcript) {
        RunDocument::Council(told) => {
            // Only what has ended can have become of anything.
            let record = transcript.ending.as_ref().map(|_| store.record(id)).transpose()?;
            let concluded = record.flatten().and_then(|record| record.conclusion);
            let outcomes = concluded.map(|concluded| concluded.outcomes).unwrap_or_default();
            ui.answer(&told, |_| draw(transcript, &outcomes, ui.canvas()))
        }
        RunDocument::Review(told) => ui.answer(&told, |_| draw_review(transcript, ui.canvas())),
        RunDocument::Closing(told) => {
            let record = store.record(id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
            ui.answer(&told, |_| draw_closing(&record, transcript, ui.canvas()))
        }
    }
}

/// How the way a run ended becomes the way the program ends. What a gate lets through is well.
pub(in crate::surfaces::cli) fn done(stop: &Stop, transcript: &Transcript) -> Done {
    match stop {
        Stop::Done => match transcript.ruling.as_ref().map(|ruling| ruling.verdict) {
            None if transcript.gate().is_some() => Done::Incomplete,
            Some(Decision::Ship) | None => Done::Well,
            Some(Decision::Revise) => Done::WithFindings,
            Some(Decision::Hold) => Done::Held,
        },
        Stop::Interrupted => Done::Interrupted,
        Stop::Quorum { .. }
        | Stop::Families { .. }
        | Stop::Partial { .. }
        | Stop::Budget { .. }
        | Stop::Unconcluded { .. }
        | Stop::Unadjudicated { .. }
        | Stop::Deadline => Done::Incomplete,
    }
}
