//! Rehearsed judgements: the first round turns faults into a judgement, the second reacts to peers,
//! and the adjudicator counts verdicts by the policy.

use std::collections::BTreeMap;

use crate::domain::ask::AskMessages;
use crate::domain::gate::{DeliberatorJudgement, DeliberatorVerdict, ReviewConcern, score_names};
use crate::providers::rehearsal::prompt::find_part;

use super::benches::CheckSet;
use super::fault::{FaultWeight, PageFault};
use super::page::ArtifactPage;

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
pub(in crate::providers::rehearsal) fn judge_artifact(
    seat: &str,
    messages: &AskMessages,
) -> DeliberatorJudgement {
    match find_part(&messages.user, "ARTIFACT").filter(|text| !text.trim().is_empty()) {
        Some(text) => weigh_faults(
            seat,
            &CheckSet::for_seat(seat).find_faults(&ArtifactPage::from_text(text)),
        ),
        None => weigh_faults(seat, &[nothing_to_judge()]),
    }
}

/// An empty artifact must not pass as a clean text.
fn nothing_to_judge() -> PageFault {
    let said = ["", "There is nothing to judge.", "Write it, and come back."].map(str::to_owned);
    PageFault::new(FaultWeight::Grave, 0, said)
}

fn weigh_faults(seat: &str, faults: &[PageFault]) -> DeliberatorJudgement {
    let worst = faults.iter().map(|fault| fault.weight).max();
    let is_blocking = worst >= Some(FaultWeight::Grave) || faults.len() >= REMARKS_TO_BLOCK;
    let is_lasting = worst == Some(FaultWeight::Lasting);
    DeliberatorJudgement {
        verdict: match faults.len() {
            _ if is_lasting => DeliberatorVerdict::Hold,
            _ if is_blocking => DeliberatorVerdict::Revise,
            REMARKS_TO_REVISE.. => DeliberatorVerdict::Revise,
            _ => DeliberatorVerdict::Ship,
        },
        scores: score_faults(seat, faults),
        would_block: is_blocking,
        irreducible: is_lasting,
        concerns: faults.iter().take(CONCERNS_MAX).map(|fault| fault.concern.clone()).collect(),
        revision_brief: list_fixes(faults.iter().map(|fault| &fault.concern)),
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    }
}

/// Lists what to do, without duplicates.
pub(super) fn list_fixes<'a>(concerns: impl Iterator<Item = &'a ReviewConcern>) -> String {
    let mut fixes: Vec<&str> = Vec::new();
    for concern in concerns {
        if !concern.fix.is_empty() && !fixes.contains(&concern.fix.as_str()) {
            fixes.push(&concern.fix);
        }
    }
    fixes.join(" ")
}

fn score_faults(seat: &str, faults: &[PageFault]) -> BTreeMap<String, u8> {
    let names = score_names(seat);
    let names: &[&str] = names.as_ref().map_or(&OTHER_SCORES, |names| names);
    let scored = names.iter().enumerate().map(|(place, name)| {
        let is_here = |fault: &&PageFault| fault.score.min(names.len() - 1) == place;
        let weights: Vec<FaultWeight> =
            faults.iter().filter(is_here).map(|fault| fault.weight).collect();
        ((*name).to_owned(), score_one(&weights))
    });
    scored.collect()
}

fn score_one(weights: &[FaultWeight]) -> u8 {
    let grave = weights.iter().filter(|weight| **weight >= FaultWeight::Grave).count();
    let score = match grave {
        0 => SCORE_MAX.saturating_sub(weights.len()).max(REMARKED_SCORE_MIN),
        1 if !weights.contains(&FaultWeight::Lasting) => 2,
        _ => 1,
    };
    u8::try_from(score).unwrap_or(1)
}

/// Whether a judgement rests on remarks alone.
pub(super) fn is_mild(judgement: &DeliberatorJudgement) -> bool {
    let worst = judgement.scores.values().copied().min();
    worst.is_none_or(|score| usize::from(score) >= REMARKED_SCORE_MIN)
}
