//! Decides whether a round may be skipped, and checks in shadow mode whether that was right.
//!
//! Off by default. SPEC 3 defines the criteria: the program computes agreement; the caller states
//! low stakes, and the program never guesses them.

use std::collections::BTreeSet;

use crate::model::plan::{SkipReviewRule, SkipSynthesisRule, StakesLevel};
use crate::model::run_state::{BudgetShortage, RoundShortcut, RunState};
use crate::protocols::council::answers::{list_opinions, list_peer_reviews, tally_stances};
use crate::protocols::council::report_types::CouncilFinalReport;
use crate::protocols::council::types::{CritiqueType, OpinionStance, RatingLevel, ReportOutcome};

/// A skipped round lowers confidence by one step.
const CONFIDENCE_STEP: i8 = -1;

/// How many families of models gave an opinion in the first round.
pub(crate) fn count_families(state: &RunState) -> usize {
    let heard = list_opinions(state);
    let families: BTreeSet<&str> = heard
        .iter()
        .filter_map(|voice| state.plan.find_seat(voice.seat))
        .map(|seat| seat.family.as_str())
        .collect();
    families.len()
}

/// Whether the second round can be skipped; none if the settings do not allow it.
pub(crate) fn skip_review(state: &RunState) -> Option<RoundShortcut> {
    let rules = &state.plan.short_circuit;
    if !rules.enabled && !rules.shadow {
        return None;
    }
    let mut reasons = Vec::new();
    let mut triggered = !rules.skip_r2_if.is_empty();
    for rule in &rules.skip_r2_if {
        let (holds, reason) = match rule {
            SkipReviewRule::HighAgreement => high_agreement(state),
            SkipReviewRule::LowRisk if state.plan.stakes == StakesLevel::Low => {
                (true, "`--stakes low` was given".to_owned())
            }
            SkipReviewRule::LowRisk => (false, "`--stakes low` was not given".to_owned()),
        };
        triggered &= holds;
        reasons.push(reason);
    }
    Some(make_shortcut(2, triggered, reasons.join("; "), !rules.enabled || rules.shadow))
}

/// Whether the third round can be skipped.
pub(crate) fn skip_synthesis(state: &RunState) -> Option<RoundShortcut> {
    let noted = state.shortcuts.iter().find(|known| known.round == 3);
    if let Some(noted) = noted {
        return Some(noted.clone());
    }
    let rules = &state.plan.short_circuit;
    if !rules.enabled && !rules.shadow {
        return None;
    }
    let (confirmed, reason) = is_confirmed(state);
    let triggered = rules.skip_r3_if.contains(&SkipSynthesisRule::Confirmed) && confirmed;
    Some(make_shortcut(3, triggered, reason, !rules.enabled || rules.shadow))
}

/// The budget does not cover the chair, so the third round is skipped.
pub(crate) fn out_of_budget(shortage: BudgetShortage) -> RoundShortcut {
    make_shortcut(
        3,
        true,
        format!("the remainder of {} does not cover the chair", shortage.describe_budget()),
        false,
    )
}

/// In shadow mode: whether the second round, which was held anyway, was needed.
pub(crate) fn shadow_of_review(state: &RunState) -> Option<RoundShortcut> {
    let noted = mark_shadow(state, 2)?;
    let would_have_been_right = Some(!has_serious_critique(state));
    Some(RoundShortcut { would_have_been_right, ..noted.clone() })
}

/// In shadow mode: whether the report, which was written anyway, was needed.
pub(crate) fn shadow_of_synthesis(
    state: &RunState,
    report: &CouncilFinalReport,
) -> Option<RoundShortcut> {
    let noted = mark_shadow(state, 3)?;
    let outcome = report.report.conclusion.outcome;
    let consensus =
        list_opinions(state).first().map_or(OpinionStance::None, |voice| voice.content.stance);
    let agrees = match consensus {
        OpinionStance::Approve => matches!(outcome, ReportOutcome::Adopt | ReportOutcome::Answer),
        OpinionStance::Reject => outcome == ReportOutcome::Reject,
        OpinionStance::Conditional => outcome != ReportOutcome::Reject,
        OpinionStance::Abstain | OpinionStance::None => outcome == ReportOutcome::Answer,
    };
    let would_have_been_right = Some(agrees && report.report.disagreements.is_empty());
    Some(RoundShortcut { would_have_been_right, ..noted.clone() })
}

fn mark_shadow(state: &RunState, round: u8) -> Option<&RoundShortcut> {
    let noted = state.shortcuts.iter().find(|known| known.round == round)?;
    let undecided = noted.shadow && noted.triggered && noted.would_have_been_right.is_none();
    undecided.then_some(noted)
}

fn make_shortcut(round: u8, triggered: bool, reason: String, shadow: bool) -> RoundShortcut {
    let acted = triggered && !shadow;
    RoundShortcut {
        round,
        triggered,
        reason,
        rounds_skipped: if acted { vec![format!("R{round}")] } else { Vec::new() },
        confidence_adjustment: if acted { CONFIDENCE_STEP } else { 0 },
        shadow,
        would_have_been_right: None,
    }
}

/// All opinions have the same stance other than `none`, none has low confidence, and none reports
/// a high risk.
fn high_agreement(state: &RunState) -> (bool, String) {
    let heard = list_opinions(state);
    let tally = tally_stances(state);
    let first = heard.first().map_or(OpinionStance::None, |voice| voice.content.stance);
    if first == OpinionStance::None || tally.count_of(first) != heard.len() {
        return (false, "the opinions do not share a stance".to_owned());
    }
    if heard.iter().any(|voice| voice.asked.is_truncated()) {
        return (false, "an opinion was cut off before its end".to_owned());
    }
    if heard.iter().any(|voice| voice.content.confidence == RatingLevel::Low) {
        return (false, "an opinion has low confidence".to_owned());
    }
    let risks = heard.iter().flat_map(|voice| &voice.content.risks);
    if risks.into_iter().any(|risk| risk.severity == RatingLevel::High) {
        return (false, "an opinion reports a high risk".to_owned());
    }
    (true, format!("all {} opinions {first}", heard.len()))
}

/// The first round agrees, and the peer reviews found no error in it.
fn is_confirmed(state: &RunState) -> (bool, String) {
    let (agrees, reason) = high_agreement(state);
    if !agrees {
        return (false, reason);
    }
    let heard = list_peer_reviews(state);
    if heard.is_empty() {
        return (false, "there are no reviews".to_owned());
    }
    if heard.iter().any(|voice| voice.asked.is_truncated()) {
        return (false, "a review was cut off before its end".to_owned());
    }
    match has_serious_critique(state) {
        true => (false, "a review found an error or an inconsistency".to_owned()),
        false => (true, format!("{reason}, and the reviews found no error in them")),
    }
}

fn has_serious_critique(state: &RunState) -> bool {
    let heard = list_peer_reviews(state);
    let critiques =
        heard.iter().flat_map(|voice| &voice.content.targets).flat_map(|target| &target.critiques);
    critiques.into_iter().any(|critique| {
        let is_fault = match critique.critique_type {
            CritiqueType::Error | CritiqueType::Inconsistency => true,
            CritiqueType::Omission
            | CritiqueType::Risk
            | CritiqueType::Assumption
            | CritiqueType::Alternative => false,
        };
        is_fault && critique.severity >= RatingLevel::Medium
    })
}
