//! Panel health: which seats answered, and the flags and warnings that every headline shows.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::ids::ExpertSlug;
use crate::domain::plan::SINGLE_FAMILY_NOTE;
use crate::domain::transcript::{AskState, ParseOutcome, ReplyDocument, RoundShortcut, RunState};
use crate::export::conclusion::{self, ConclusionView};
use crate::export::wording;
use crate::protocols::council::{
    ProviderFailure, ROUNDS, SeatLetters, hides_disagreement, list_failures, list_opinions,
};

#[derive(Debug)]
pub struct PanelHealth {
    pub panel: PanelAttendance,
    pub flags: CouncilFlags,
}

#[derive(Debug, Default, Serialize)]
pub struct PanelAttendance {
    /// Seats that were asked in the rounds; conclusion seats do not count.
    pub attempted: usize,
    /// Seats that answered every time they were asked.
    pub succeeded: usize,
    pub failed: Vec<ProviderFailure>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct CouncilFlags {
    /// A seat failed or was truncated, no chair answered, or the Principal stopped the run before
    /// the report.
    pub degraded: bool,
    /// The opinions were split, and the report names no disagreement.
    pub false_consensus: bool,
    pub single_family: bool,
    pub short_circuit: bool,
    /// An opinion or a review was truncated and is used as it is.
    pub truncated: bool,
}

impl PanelHealth {
    pub fn from_state(transcript: &RunState) -> Self {
        let panel = PanelAttendance::from_state(transcript);
        let fell_back = transcript.report.as_ref().is_some_and(|report| report.fallback);
        let truncated = truncated_replies(transcript).next().is_some();
        let is_whole = panel.failed.is_empty() && !truncated;
        Self {
            flags: CouncilFlags {
                degraded: !is_whole || fell_back || is_cut_short(transcript),
                false_consensus: hides_disagreement(transcript),
                single_family: answering_families(transcript).len() == 1,
                short_circuit: transcript.shortcuts.iter().any(RoundShortcut::is_taken),
                truncated,
            },
            panel,
        }
    }
}

impl PanelAttendance {
    /// The seats asked in the three rounds of a council or a review.
    pub(crate) fn from_state(transcript: &RunState) -> Self {
        let asked: BTreeSet<&ExpertSlug> = ROUNDS
            .into_iter()
            .flat_map(|round| transcript.asks_in_round(round))
            .map(|asked| &asked.ask.seat)
            .collect();
        let is_whole = |seat: &&ExpertSlug| {
            ROUNDS.iter().all(|round| {
                transcript
                    .last_ask(*round, seat)
                    .is_none_or(|asked| asked.parsed_document().is_some())
            })
        };
        Self {
            attempted: asked.len(),
            succeeded: asked.iter().copied().filter(is_whole).count(),
            failed: ROUNDS.into_iter().flat_map(|round| list_failures(transcript, round)).collect(),
        }
    }
}

/// Truncated replies that are used as they are.
pub(crate) fn truncated_replies(transcript: &RunState) -> impl Iterator<Item = &AskState> {
    transcript.asks.iter().filter(|asked| !asked.retired && asked.is_truncated())
}

/// A note for the headline: which reply was truncated, or how many.
pub fn truncation_note(transcript: &RunState) -> Option<String> {
    let replies: Vec<&AskState> = truncated_replies(transcript).collect();
    match replies.as_slice() {
        [] => None,
        [one] => Some(format!("{}'s {} was cut off", one.ask.seat, one.ask.purpose)),
        more => Some(format!("{} replies were cut off", more.len())),
    }
}

/// Whether the run was stopped before the report.
pub fn is_cut_short(transcript: &RunState) -> bool {
    transcript.is_cut_short && transcript.report.is_none()
}

/// Model families of the seats that answered, or of all participants if none answered.
fn answering_families(transcript: &RunState) -> BTreeSet<&str> {
    let heard = list_opinions(transcript);
    let plan = &transcript.plan;
    let seats = plan
        .participant_seats()
        .filter(|seat| heard.is_empty() || heard.iter().any(|voice| *voice.seat == seat.name));
    seats.map(|seat| seat.family.as_str()).collect()
}

/// Warnings for readers of the result.
pub fn council_warnings(transcript: &RunState) -> Vec<String> {
    let PanelHealth { flags, .. } = PanelHealth::from_state(transcript);
    let mut warnings = transcript.plan.notes.clone();
    if flags.false_consensus {
        let message = "the opinions were split, but the report names no disagreement";
        warnings.push(message.to_owned());
    }
    warnings.extend(family_warning(transcript, &answering_families(transcript)));
    if is_cut_short(transcript) {
        let concluded = match transcript.conclusion_result {
            Some(_) => ", and concluded on what there was",
            None => "",
        };
        warnings.push(format!("it was stopped before the panel had reported{concluded}"));
    }
    warnings.extend(conclusion::conclusion_warnings(
        &ConclusionView::from_state(transcript),
        transcript.opening.rehearsal,
    ));
    warnings.extend(price_warning(transcript));
    warnings.extend(file_warnings(transcript));
    let skipped = transcript.shortcuts.iter().filter(|shortcut| shortcut.is_taken());
    warnings.extend(skipped.map(|shortcut| {
        format!(
            "R{} was skipped: {}; confidence is one step lower",
            shortcut.round, shortcut.reason
        )
    }));
    warnings.extend(invented_names_warning(transcript));
    warnings.extend(reply_warnings(transcript));
    warnings
}

/// Warns that all answers come from one model family. Skipped for a rehearsal, and if a note of
/// the plan already says so.
pub(crate) fn family_warning(transcript: &RunState, heard: &BTreeSet<&str>) -> Option<String> {
    let is_said = transcript.plan.notes.iter().any(|note| note.starts_with(SINGLE_FAMILY_NOTE));
    let is_told = heard.len() == 1 && !transcript.opening.rehearsal && !is_said;
    is_told.then(|| format!("{SINGLE_FAMILY_NOTE}: its agreement says little"))
}

/// Warnings about repaired and truncated replies and about cuts in prompts.
pub(crate) fn reply_warnings(transcript: &RunState) -> Vec<String> {
    let mut warnings = Vec::new();
    for asked in &transcript.asks {
        let (seat, round) = (&asked.ask.seat, wording::in_round(asked.ask.round));
        if matches!(asked.parse_outcome, Some(ParseOutcome::Parsed { repaired: true, .. })) {
            warnings.push(format!("the JSON of {seat} {round} had to be mended"));
        }
        if asked.is_truncated() && !asked.retired {
            let purpose = asked.ask.purpose;
            warnings.push(format!(
                "the {purpose} of {seat} {round} was cut off, also when it was asked for again: \
                 its end is missing"
            ));
        }
        // Masking is expected; the transparency record lists it.
        let cuts = asked.condensed.iter().filter(|note| !note.contains("masked"));
        warnings.extend(cuts.map(|cut| format!("for {seat} {round}, {cut}")));
    }
    warnings
}

pub(crate) fn price_warning(transcript: &RunState) -> Option<String> {
    let seats = transcript.plan.seats.iter().filter(|seat| seat.price.is_none());
    let names: Vec<&str> = seats.map(|seat| seat.name.as_str()).collect();
    let names = names.join(", ");
    (!names.is_empty())
        .then(|| format!("no price is known for {names}: the money cap cannot hold for them"))
}

/// Files that were excluded or listed only by name; only the first few are named.
fn file_warnings(transcript: &RunState) -> Vec<String> {
    const NAMED_MAX: usize = 5;
    let context = &transcript.plan.context;
    let mut said: Vec<String> = context
        .excluded
        .iter()
        .take(NAMED_MAX)
        .map(|file| format!("{} was left out: {}", file.path, file.reason))
        .collect();
    if let Some(more) = context.excluded.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        said.push(format!("{more} more files were left out; `--json` names them"));
    }
    if !context.indexed.is_empty() {
        let (sent, named) = (context.files.len(), context.indexed.len());
        said.push(format!("{sent} files went along whole, {named} only by name"));
    }
    said
}

/// Warns if the chair named participants that do not exist.
fn invented_names_warning(transcript: &RunState) -> Option<String> {
    let chair = transcript.report.as_ref()?.chair_provider.as_ref()?;
    let ReplyDocument::Report(given) = transcript.last_ask(3, chair)?.parsed_document()? else {
        return None;
    };
    let letters = SeatLetters::from_plan(&transcript.plan);
    let mut given = given.as_ref().clone();
    let strangers =
        given.participant_names_mut().filter(|name| letters.seat_of(name).is_none()).count();
    (strangers > 0).then(|| {
        format!("the report named {strangers} participants that there are not; they were taken out")
    })
}
