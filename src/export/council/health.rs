//! How whole the panel was: what every headline must say.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::ids::ExpertSlug;
use crate::domain::plan::SINGLE_FAMILY;
use crate::domain::transcript::{Asked, Document, Reading, Shortcut, Transcript};
use crate::export::conclusion::{self, Ended};
use crate::export::wording;
use crate::protocols::council::{
    Letters, ProviderFailure, ROUNDS, failures, false_consensus, opinions,
};

#[derive(Debug)]
pub struct Health {
    pub panel: Panel,
    pub flags: Flags,
}

#[derive(Debug, Default, Serialize)]
pub struct Panel {
    /// Seats that were asked anything in the rounds; those of the ending are no panel.
    pub attempted: usize,
    /// Those of them that were heard whenever they were asked.
    pub succeeded: usize,
    pub failed: Vec<ProviderFailure>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Flags {
    /// A seat was not heard or was cut off, or no chair was heard, or the Principal had enough
    /// before that.
    pub degraded: bool,
    /// The opinions were split, and the report names no disagreement.
    pub false_consensus: bool,
    pub single_family: bool,
    pub short_circuit: bool,
    /// An opinion or a review was cut off before its end, and is used all the same.
    pub truncated: bool,
}

impl Health {
    pub fn of(transcript: &Transcript) -> Self {
        let panel = Panel::of(transcript);
        let fell_back = transcript.report.as_ref().is_some_and(|report| report.fallback);
        let truncated = truncated_replies(transcript).next().is_some();
        let is_whole = panel.failed.is_empty() && !truncated;
        Self {
            flags: Flags {
                degraded: !is_whole || fell_back || is_cut_short(transcript),
                false_consensus: false_consensus(transcript),
                single_family: families(transcript).len() == 1,
                short_circuit: transcript.shortcuts.iter().any(Shortcut::is_taken),
                truncated,
            },
            panel,
        }
    }
}

impl Panel {
    /// Who was asked in the three rounds of a council or of a review.
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let asked: BTreeSet<&ExpertSlug> = ROUNDS
            .into_iter()
            .flat_map(|round| transcript.asks_of(round))
            .map(|asked| &asked.ask.seat)
            .collect();
        let is_whole = |seat: &&ExpertSlug| {
            ROUNDS.iter().all(|round| {
                transcript.last_ask(*round, seat).is_none_or(|asked| asked.document().is_some())
            })
        };
        Self {
            attempted: asked.len(),
            succeeded: asked.iter().copied().filter(is_whole).count(),
            failed: ROUNDS.into_iter().flat_map(|round| failures(transcript, round)).collect(),
        }
    }
}

/// The replies that are used although they were cut off before their end.
pub(crate) fn truncated_replies(transcript: &Transcript) -> impl Iterator<Item = &Asked> {
    transcript.asks.iter().filter(|asked| !asked.retired && asked.is_truncated())
}

/// What a headline says of replies that were cut off: whose it was, or how many there were.
pub fn truncation_words(transcript: &Transcript) -> Option<String> {
    let replies: Vec<&Asked> = truncated_replies(transcript).collect();
    match replies.as_slice() {
        [] => None,
        [one] => Some(format!("{}'s {} was cut off", one.ask.seat, one.ask.purpose)),
        more => Some(format!("{} replies were cut off", more.len())),
    }
}

/// Whether the panel was stopped before it had reported.
pub fn is_cut_short(transcript: &Transcript) -> bool {
    transcript.is_cut_short && transcript.report.is_none()
}

/// The families that were heard; of those that sit there, while nobody was.
fn families(transcript: &Transcript) -> BTreeSet<&str> {
    let heard = opinions(transcript);
    let plan = &transcript.plan;
    let seats = plan
        .participants()
        .filter(|seat| heard.is_empty() || heard.iter().any(|voice| *voice.seat == seat.name));
    seats.map(|seat| seat.family.as_str()).collect()
}

/// What a reader of the result should know besides.
pub fn warnings(transcript: &Transcript) -> Vec<String> {
    let Health { flags, .. } = Health::of(transcript);
    let mut warnings = transcript.plan.notes.clone();
    if flags.false_consensus {
        let message = "the opinions were split, but the report names no disagreement";
        warnings.push(message.to_owned());
    }
    warnings.extend(of_family(transcript, &families(transcript)));
    if is_cut_short(transcript) {
        let concluded = match transcript.ending {
            Some(_) => ", and concluded on what there was",
            None => "",
        };
        warnings.push(format!("it was stopped before the panel had reported{concluded}"));
    }
    warnings.extend(conclusion::warnings(&Ended::of(transcript), transcript.opening.rehearsal));
    warnings.extend(unpriced(transcript));
    warnings.extend(left_out(transcript));
    let skipped = transcript.shortcuts.iter().filter(|shortcut| shortcut.is_taken());
    warnings.extend(skipped.map(|shortcut| {
        format!(
            "R{} was skipped: {}; confidence is one step lower",
            shortcut.round, shortcut.reason
        )
    }));
    warnings.extend(invented(transcript));
    warnings.extend(of_replies(transcript));
    warnings
}

/// That all who were heard are of one family. The notes of the plan may say it already, and a
/// rehearsal says worse.
pub(crate) fn of_family(transcript: &Transcript, heard: &BTreeSet<&str>) -> Option<String> {
    let is_said = transcript.plan.notes.iter().any(|note| note.starts_with(SINGLE_FAMILY));
    let is_told = heard.len() == 1 && !transcript.opening.rehearsal && !is_said;
    is_told.then(|| format!("{SINGLE_FAMILY}: its agreement says little"))
}

/// What had to be done to replies, and to what seats were sent.
pub(crate) fn of_replies(transcript: &Transcript) -> Vec<String> {
    let mut warnings = Vec::new();
    for asked in &transcript.asks {
        let (seat, round) = (&asked.ask.seat, wording::in_round(asked.ask.round));
        if matches!(asked.reading, Some(Reading::Read { repaired: true, .. })) {
            warnings.push(format!("the JSON of {seat} {round} had to be mended"));
        }
        if asked.is_truncated() && !asked.retired {
            let purpose = asked.ask.purpose;
            warnings.push(format!(
                "the {purpose} of {seat} {round} was cut off, also when it was asked for again: \
                 its end is missing"
            ));
        }
        // That names were masked is as it should be, and stands in the transparency record.
        let cuts = asked.condensed.iter().filter(|note| !note.contains("masked"));
        warnings.extend(cuts.map(|cut| format!("for {seat} {round}, {cut}")));
    }
    warnings
}

pub(crate) fn unpriced(transcript: &Transcript) -> Option<String> {
    let seats = transcript.plan.seats.iter().filter(|seat| seat.price.is_none());
    let names: Vec<&str> = seats.map(|seat| seat.name.as_str()).collect();
    let names = names.join(", ");
    (!names.is_empty())
        .then(|| format!("no price is known for {names}: the money cap cannot hold for them"))
}

/// What was given along and did not go whole; a few are named, many are counted.
fn left_out(transcript: &Transcript) -> Vec<String> {
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

/// Participants that only the chair knows of.
fn invented(transcript: &Transcript) -> Option<String> {
    let chair = transcript.report.as_ref()?.chair_provider.as_ref()?;
    let Document::Report(given) = transcript.last_ask(3, chair)?.document()? else { return None };
    let letters = Letters::of(&transcript.plan);
    let mut given = given.as_ref().clone();
    let strangers = given.names_mut().filter(|name| letters.seat(name).is_none()).count();
    (strangers > 0).then(|| {
        format!("the report named {strangers} participants that there are not; they were taken out")
    })
}
