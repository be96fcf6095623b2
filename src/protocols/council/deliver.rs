//! Builds the final report: the chair's, or one made from the best opinion.

use super::choice::{best, most_complete};
use super::letters::Letters;
use super::voices::{ROUNDS, Voice, opinions, rounds_completed, tally};
use crate::domain::council::opinion::Opinion;
use crate::domain::council::report::{
    Conclusion, CouncilFinalReport, Dispute, Position, Rationale, Report, SupportingOpinion,
    Uncertainty, WeighedRisk,
};
use crate::domain::council::words::{Outcome, RiskConsensus, Stance};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::Delivery;
use crate::domain::transcript::{Document, Transcript};

/// The seed's text for a failed chair.
const CHAIR_FAILED: &str = "Chair synthesis failed; showing best individual opinion";

const SELECTED: &str = "Selected, not synthesised: this is the opinion its peers rated best";
const SKIPPED: &str = "The chair's round was skipped; showing the opinion its peers rated best";
const CHAIRLESS: &str = "There is no chair; showing best individual opinion";

/// The chair's report with names in place of letters; none if the chair gave none.
pub(super) fn from_chair(
    transcript: &Transcript,
    chair: &ExpertSlug,
) -> Option<CouncilFinalReport> {
    let asked = transcript.last_ask(3, chair)?;
    let Document::Report(report) = asked.document()? else { return None };
    let letters = Letters::of(&transcript.plan);
    let mut report = report.as_ref().clone().named(&|text| letters.seat(text).cloned());
    let reviewed = transcript.heard_in(2);
    report
        .rationale
        .supporting_reviews
        .retain(|point| reviewed.iter().any(|seat| seat.as_str() == point.reviewer));
    if transcript.skips(2) {
        lower(&mut report.uncertainties);
    }
    Some(deliver(transcript, report, Some(chair.clone())))
}

/// The best opinion as a report, with the reason; none if there is no opinion.
pub(super) fn from_best_opinion(transcript: &Transcript) -> Option<CouncilFinalReport> {
    let selected = transcript.plan.delivery == Delivery::Selection;
    let by_rule = selected || transcript.skips(3);
    let voice = if by_rule { best(transcript) } else { most_complete(transcript) }?;
    let mut delivered = deliver(transcript, report_of(transcript, &voice), None);
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
pub fn false_consensus(transcript: &Transcript) -> bool {
    let silent = |report: &CouncilFinalReport| report.report.disagreements.is_empty();
    tally(transcript).is_split() && transcript.report.as_ref().is_some_and(silent)
}

fn deliver(
    transcript: &Transcript,
    report: Report,
    chair_provider: Option<ExpertSlug>,
) -> CouncilFinalReport {
    CouncilFinalReport {
        report,
        rounds_completed: rounds_completed(transcript),
        chair_provider,
        run_id: transcript.opening.dialogue_id.clone(),
        providers_participated: participated(transcript),
        fallback: false,
        disclaimer: None,
    }
}

/// The seats with at least one parsed reply, in the order of the panel.
fn participated(transcript: &Transcript) -> Vec<ExpertSlug> {
    let heard = ROUNDS.map(|round| transcript.heard_in(round));
    let seats = transcript.plan.seats.iter().map(|seat| &seat.name);
    seats.filter(|name| heard.iter().any(|round| round.contains(name))).cloned().collect()
}

fn lower(uncertainties: &mut [Uncertainty]) {
    uncertainties.iter_mut().for_each(|known| known.confidence = known.confidence.lowered());
}

/// One participant's opinion in the shape of a report.
fn report_of(transcript: &Transcript, voice: &Voice<'_, Opinion>) -> Report {
    let opinion = voice.said;
    let is_cut_short = transcript.skips(2) || transcript.skips(3);
    let confidence = if is_cut_short { opinion.confidence.lowered() } else { opinion.confidence };
    let name = voice.seat.to_string();
    let risks = opinion.risks.iter().map(|risk| WeighedRisk {
        description: risk.description.clone(),
        severity: risk.severity,
        mentioned_by: vec![name.clone()],
        mitigation: risk.mitigation.clone().unwrap_or_default(),
        consensus: RiskConsensus::Disputed,
    });
    let questions = opinion.questions.iter().map(|question| Uncertainty {
        area: question.clone(),
        confidence,
        reason: "an open question of this opinion".to_owned(),
        suggested_verification: String::new(),
    });
    Report {
        conclusion: Conclusion {
            outcome: outcome(opinion.stance),
            statement: opinion.details.recommendation.clone(),
            reason: None,
        },
        rationale: Rationale {
            summary: joined(&[&opinion.summary, &opinion.details.rationale]),
            supporting_opinions: vec![SupportingOpinion {
                provider: name.clone(),
                key_point: opinion.summary.clone(),
                weight: confidence,
            }],
            supporting_reviews: Vec::new(),
        },
        disagreements: split(transcript).into_iter().collect(),
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
fn split(transcript: &Transcript) -> Option<Dispute> {
    let positions = opinions(transcript).into_iter().map(|voice| Position {
        provider: voice.seat.to_string(),
        position: format!("{}: {}", voice.said.stance, voice.said.details.recommendation),
    });
    tally(transcript).is_split().then(|| Dispute {
        topic: "The opinions differ in their stance".to_owned(),
        positions: positions.collect(),
        resolution: String::new(),
        resolution_rationale: "Nobody has weighed them against each other.".to_owned(),
    })
}

fn outcome(stance: Stance) -> Outcome {
    match stance {
        Stance::Approve => Outcome::Adopt,
        Stance::Reject => Outcome::Reject,
        Stance::Conditional | Stance::Abstain | Stance::None => Outcome::Answer,
    }
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.trim().is_empty()).collect();
    parts.join("\n\n")
}
