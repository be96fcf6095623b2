//! Builds the final report: the chair's, or one made from the best opinion.

use super::choice::{best_opinion, most_complete_opinion};
use super::letters::SeatLetters;
use super::voices::{ROUNDS, SeatAnswer, list_opinions, rounds_completed, tally_stances};
use crate::domain::council::opinion::OpinionReply;
use crate::domain::council::report::{
    ChairReport, CouncilFinalReport, DisputePosition, ReportConclusion, ReportDispute,
    ReportRationale, ReportRisk, ReportUncertainty, SupportingOpinion,
};
use crate::domain::council::words::{OpinionStance, ReportOutcome, RiskConsensus};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::DeliveryMode;
use crate::domain::transcript::{ReplyDocument, RunState};

/// The seed's text for a failed chair.
const CHAIR_FAILED: &str = "Chair synthesis failed; showing best individual opinion";

const SELECTED: &str = "Selected, not synthesised: this is the opinion its peers rated best";
const SKIPPED: &str = "The chair's round was skipped; showing the opinion its peers rated best";
const CHAIRLESS: &str = "There is no chair; showing best individual opinion";

/// The chair's report with names in place of letters; none if the chair gave none.
pub(super) fn report_from_chair(
    transcript: &RunState,
    chair: &ExpertSlug,
) -> Option<CouncilFinalReport> {
    let asked = transcript.last_ask(3, chair)?;
    let ReplyDocument::Report(report) = asked.parsed_document()? else { return None };
    let letters = SeatLetters::from_plan(&transcript.plan);
    let mut report =
        report.as_ref().clone().with_seat_names(&|text| letters.seat_of(text).cloned());
    let reviewed = transcript.seats_answered_in(2);
    report
        .rationale
        .supporting_reviews
        .retain(|point| reviewed.iter().any(|seat| seat.as_str() == point.reviewer));
    if transcript.skips_round(2) {
        lower_confidence(&mut report.uncertainties);
    }
    Some(build_final_report(transcript, report, Some(chair.clone())))
}

/// The best opinion as a report, with the reason; none if there is no opinion.
pub(super) fn report_from_best_opinion(transcript: &RunState) -> Option<CouncilFinalReport> {
    let selected = transcript.plan.delivery == DeliveryMode::Selection;
    let by_rule = selected || transcript.skips_round(3);
    let voice = if by_rule { best_opinion(transcript) } else { most_complete_opinion(transcript) }?;
    let mut delivered =
        build_final_report(transcript, report_from_opinion(transcript, &voice), None);
    delivered.fallback = !by_rule;
    let disclaimer = match (selected, by_rule) {
        (true, _) => SELECTED,
        (false, true) => SKIPPED,
        (false, false) if transcript.plan.chairs.is_empty() => CHAIRLESS,
        (false, false) => CHAIR_FAILED,
    };
    let cut = if voice.asked.is_truncated() { "; it was cut off before its end" } else { "" };
    delivered.disclaimer = Some(format!("{disclaimer}{cut}"));
    Some(delivered)
}

/// Whether the first round was split and the report lists no disagreement.
pub fn hides_disagreement(transcript: &RunState) -> bool {
    let silent = |report: &CouncilFinalReport| report.report.disagreements.is_empty();
    tally_stances(transcript).is_split() && transcript.report.as_ref().is_some_and(silent)
}

fn build_final_report(
    transcript: &RunState,
    report: ChairReport,
    chair_provider: Option<ExpertSlug>,
) -> CouncilFinalReport {
    CouncilFinalReport {
        report,
        rounds_completed: rounds_completed(transcript),
        chair_provider,
        run_id: transcript.opening.dialogue_id.clone(),
        providers_participated: heard_seats(transcript),
        fallback: false,
        disclaimer: None,
    }
}

/// The seats with at least one parsed reply, in the order of the panel.
fn heard_seats(transcript: &RunState) -> Vec<ExpertSlug> {
    let heard = ROUNDS.map(|round| transcript.seats_answered_in(round));
    let seats = transcript.plan.seats.iter().map(|seat| &seat.name);
    seats.filter(|name| heard.iter().any(|round| round.contains(name))).cloned().collect()
}

fn lower_confidence(uncertainties: &mut [ReportUncertainty]) {
    uncertainties.iter_mut().for_each(|known| known.confidence = known.confidence.lower_level());
}

/// One participant's opinion in the shape of a report.
fn report_from_opinion(transcript: &RunState, voice: &SeatAnswer<'_, OpinionReply>) -> ChairReport {
    let opinion = voice.said;
    let is_cut_short = transcript.skips_round(2) || transcript.skips_round(3);
    let confidence =
        if is_cut_short { opinion.confidence.lower_level() } else { opinion.confidence };
    let name = voice.seat.to_string();
    let risks = opinion.risks.iter().map(|risk| ReportRisk {
        description: risk.description.clone(),
        severity: risk.severity,
        mentioned_by: vec![name.clone()],
        mitigation: risk.mitigation.clone().unwrap_or_default(),
        consensus: RiskConsensus::Disputed,
    });
    let questions = opinion.questions.iter().map(|question| ReportUncertainty {
        area: question.clone(),
        confidence,
        reason: "an open question of this opinion".to_owned(),
        suggested_verification: String::new(),
    });
    ChairReport {
        conclusion: ReportConclusion {
            outcome: outcome_of_stance(opinion.stance),
            statement: opinion.details.recommendation.clone(),
            reason: None,
        },
        rationale: ReportRationale {
            summary: join_paragraphs(&[&opinion.summary, &opinion.details.rationale]),
            supporting_opinions: vec![SupportingOpinion {
                provider: name.clone(),
                key_point: opinion.summary.clone(),
                weight: confidence,
            }],
            supporting_reviews: Vec::new(),
        },
        disagreements: split_dispute(transcript).into_iter().collect(),
        uncertainties: questions.collect(),
        risks: risks.collect(),
        next_actions: Vec::new(),
        consensus_points: Vec::new(),
        alternatives: Vec::new(),
        verification_plan: Vec::new(),
        findings: Vec::new(),
    }
}

/// The dispute between stances, which a report without a chair must state.
fn split_dispute(transcript: &RunState) -> Option<ReportDispute> {
    let positions = list_opinions(transcript).into_iter().map(|voice| DisputePosition {
        provider: voice.seat.to_string(),
        position: format!("{}: {}", voice.said.stance, voice.said.details.recommendation),
    });
    tally_stances(transcript).is_split().then(|| ReportDispute {
        topic: "The opinions differ in their stance".to_owned(),
        positions: positions.collect(),
        resolution: String::new(),
        resolution_rationale: "Nobody has weighed them against each other.".to_owned(),
    })
}

fn outcome_of_stance(stance: OpinionStance) -> ReportOutcome {
    match stance {
        OpinionStance::Approve => ReportOutcome::Adopt,
        OpinionStance::Reject => ReportOutcome::Reject,
        OpinionStance::Conditional | OpinionStance::Abstain | OpinionStance::None => {
            ReportOutcome::Answer
        }
    }
}

fn join_paragraphs(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.trim().is_empty()).collect();
    parts.join("\n\n")
}
