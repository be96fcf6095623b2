//! Builds the messages of the synthesizer and the reviser, who write the conclusion.
//!
//! Unlike the chair they see the agents' names, because the conclusion names them; so nothing is
//! masked.

use super::brief::Brief;
use super::condense::condense;
use crate::domain::ask::{Ask, Messages};
use crate::domain::council::words::Stance;
use crate::domain::record::Record;
use crate::domain::time::Day;
use crate::domain::transcript::Transcript;
use crate::prompting::council::added;
use crate::prompting::instructions::{DRAFT, REVISION, RoleText};
use crate::prompting::message::{Parts, Prepared};
use crate::protocols::conclusion::{draft, trail};
use crate::protocols::council::{opinions, tally};

/// The synthesizer's messages: the whole record, without private whispers.
pub fn synthesizer(transcript: &Transcript, record: &Record, ask: &Ask) -> Prepared {
    prepared(transcript, DRAFT, Brief::of(transcript, record, ask), ask, Vec::new())
}

/// The reviser's messages: the same, with the conclusion and the objections to it.
pub fn reviser(transcript: &Transcript, record: &Record, ask: &Ask) -> Prepared {
    let mut brief = Brief::of(transcript, record, ask);
    let mut remarks = Vec::new();
    if let (Some(draft), Some(trail)) = (draft(transcript), trail(transcript)) {
        brief = brief.with_objections(draft, &trail.objections);
        let fields = trail.revised_fields.iter().map(|field| format!("`{field}`"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        remarks.push(format!("Flagged, and to be mended: {fields}. Everything else stays."));
    }
    prepared(transcript, REVISION, brief, ask, remarks)
}

fn prepared(
    transcript: &Transcript,
    role: RoleText,
    mut brief: Brief<'_>,
    ask: &Ask,
    more: Vec<String>,
) -> Prepared {
    let condensed = condense(&mut brief);
    let mut remarks: Vec<String> = added(&brief.view).into_iter().collect();
    remarks.extend(stances(transcript));
    remarks.push(format!("Today is {}.", today(transcript, ask)));
    remarks.extend(more);
    let parts = Parts {
        secret: &transcript.plan.secret,
        sections: &brief.sections(),
        remarks: &remarks,
        task: role.task,
        faults: ask.stricter.as_deref(),
    };
    let system = role.system(transcript.plan.mode);
    Prepared { messages: Messages { system, user: parts.message(ask) }, condensed }
}

/// The stances of a council's first round, counted by the program.
fn stances(transcript: &Transcript) -> Option<String> {
    let tally = tally(transcript);
    let counts = Stance::ALL.iter().map(|stance| format!("{} {stance}", tally.count(*stance)));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let is_council = !opinions(transcript).is_empty();
    is_council.then(|| format!("The stances of the first round, counted: {counts}."))
}

/// The day the ask was made, also when it is sent again after a crash.
fn today(transcript: &Transcript, ask: &Ask) -> Day {
    let made = transcript.asked(ask.id).map_or(transcript.last_entry_at, |asked| asked.prepared_at);
    made.day()
}
