//! How whole the panel was: what every headline must say.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{Reading, Shortcut, Transcript};
use crate::protocols::council::{ProviderFailure, failures, false_consensus, opinions};

#[derive(Debug)]
pub struct Health {
    pub panel: Panel,
    pub flags: Flags,
}

#[derive(Debug, Serialize)]
pub struct Panel {
    /// Seats that were asked anything.
    pub attempted: usize,
    /// Those of them that were heard whenever they were asked.
    pub succeeded: usize,
    pub failed: Vec<ProviderFailure>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Flags {
    /// Somebody was not heard, or no chair was.
    pub degraded: bool,
    /// The opinions were split, and the report names no disagreement.
    pub false_consensus: bool,
    pub single_family: bool,
    pub short_circuit: bool,
}

impl Health {
    pub fn of(transcript: &Transcript) -> Self {
        let failed: Vec<ProviderFailure> =
            [1, 2, 3].into_iter().flat_map(|round| failures(transcript, round)).collect();
        let asked: BTreeSet<&ExpertSlug> =
            transcript.asks.iter().map(|asked| &asked.ask.seat).collect();
        let lost: BTreeSet<&ExpertSlug> = failed.iter().map(|failure| &failure.provider).collect();
        let fell_back = transcript.report.as_ref().is_some_and(|report| report.fallback);
        Self {
            flags: Flags {
                degraded: !failed.is_empty() || fell_back,
                false_consensus: false_consensus(transcript),
                single_family: families(transcript).len() == 1,
                short_circuit: transcript.shortcuts.iter().any(Shortcut::is_taken),
            },
            panel: Panel {
                attempted: asked.len(),
                succeeded: asked.difference(&lost).count(),
                failed,
            },
        }
    }
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
    if flags.single_family && !transcript.opening.rehearsal {
        let message = "the panel is of a single family: its agreement says little";
        warnings.push(message.to_owned());
    }
    let unpriced: Vec<&str> = transcript
        .plan
        .seats
        .iter()
        .filter(|seat| seat.price.is_none())
        .map(|seat| seat.name.as_str())
        .collect();
    if !unpriced.is_empty() {
        let names = unpriced.join(", ");
        warnings.push(format!("no price is known for {names}: the money cap cannot hold for them"));
    }
    for asked in &transcript.asks {
        let (seat, round) = (&asked.ask.seat, asked.ask.round);
        if matches!(asked.reading, Some(Reading::Read { repaired: true, .. })) {
            warnings.push(format!("the JSON of {seat} in R{round} had to be mended"));
        }
        for cut in &asked.condensed {
            warnings.push(format!("for {seat} in R{round}, {cut}"));
        }
    }
    warnings
}
