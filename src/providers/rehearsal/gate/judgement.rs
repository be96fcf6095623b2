//! Rehearsed judgements: the first round turns faults into a judgement, the second reacts to peers,
//! and the adjudicator counts verdicts by the policy.

use std::collections::BTreeMap;

use crate::domain::ask::Messages;
use crate::domain::gate::{Concern, Judgement, Leaning, score_names};
use crate::providers::rehearsal::prompt::part;

use super::benches::Bench;
use super::fault::{Fault, Weight};
use super::page::Page;

/// This many remarks together block.
const REMARKS_TO_BLOCK: usize = 3;

/// This many remarks ask for a revision that does not block.
const REMARKS_TO_REVISE: usize = 2;

/// Maximum concerns of a judgement.
const CONCERNS_MAX: usize = 6;

/// Score without faults.
const SCORE_MAX: usize = 5;
/// Remarks alone lower a score no further.
const REMARKED_SCORE_MIN: usize = 3;

/// Scores of a custom deliberator.
const OTHER_SCORES: [&str; 1] = ["readiness"];

/// Builds the judgement of the first round.
pub(in crate::providers::rehearsal) fn judgement(seat: &str, messages: &Messages) -> Judgement {
    match part(&messages.user, "ARTIFACT").filter(|text| !text.trim().is_empty()) {
        Some(text) => weighed(seat, &Bench::of(seat).faults(&Page::read(text))),
        None => weighed(seat, &[nothing_to_judge()]),
    }
}

/// An empty artifact must not pass as a clean text.
fn nothing_to_judge() -> Fault {
    let said = ["", "There is nothing to judge.", "Write it, and come back."].map(str::to_owned);
    Fault::new(Weight::Grave, 0, said)
}

fn weighed(seat: &str, faults: &[Fault]) -> Judgement {
    let worst = faults.iter().map(|fault| fault.weight).max();
    let is_blocking = worst >= Some(Weight::Grave) || faults.len() >= REMARKS_TO_BLOCK;
    let is_lasting = worst == Some(Weight::Lasting);
    Judgement {
        verdict: match faults.len() {
            _ if is_lasting => Leaning::Hold,
            _ if is_blocking => Leaning::Revise,
            REMARKS_TO_REVISE.. => Leaning::Revise,
            _ => Leaning::Ship,
        },
        scores: scores(seat, faults),
        would_block: is_blocking,
        irreducible: is_lasting,
        concerns: faults.iter().take(CONCERNS_MAX).map(|fault| fault.concern.clone()).collect(),
        revision_brief: brief(faults.iter().map(|fault| &fault.concern)),
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    }
}

/// Lists what to do, without duplicates.
pub(super) fn brief<'a>(concerns: impl Iterator<Item = &'a Concern>) -> String {
    let mut fixes: Vec<&str> = Vec::new();
    for concern in concerns {
        if !concern.fix.is_empty() && !fixes.contains(&concern.fix.as_str()) {
            fixes.push(&concern.fix);
        }
    }
    fixes.join(" ")
}

fn scores(seat: &str, faults: &[Fault]) -> BTreeMap<String, u8> {
    let names = score_names(seat);
    let names: &[&str] = names.as_ref().map_or(&OTHER_SCORES, |names| names);
    let scored = names.iter().enumerate().map(|(place, name)| {
        let is_here = |fault: &&Fault| fault.score.min(names.len() - 1) == place;
        let weights: Vec<Weight> =
            faults.iter().filter(is_here).map(|fault| fault.weight).collect();
        ((*name).to_owned(), score(&weights))
    });
    scored.collect()
}

fn score(weights: &[Weight]) -> u8 {
    let grave = weights.iter().filter(|weight| **weight >= Weight::Grave).count();
    let score = match grave {
        0 => SCORE_MAX.saturating_sub(weights.len()).max(REMARKED_SCORE_MIN),
        1 if !weights.contains(&Weight::Lasting) => 2,
        _ => 1,
    };
    u8::try_from(score).unwrap_or(1)
}

/// Whether a judgement rests on remarks alone.
pub(super) fn is_mild(judgement: &Judgement) -> bool {
    let worst = judgement.scores.values().copied().min();
    worst.is_none_or(|score| usize::from(score) >= REMARKED_SCORE_MIN)
}
