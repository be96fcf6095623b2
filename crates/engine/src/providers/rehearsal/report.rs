//! Second-round reviews of the rehearsal panel, and the chair's report from opinions and reviews.

use plenary_core::model::ask::AskMessages;
use plenary_core::protocols::council::report_types::{
    ChairReport, DisputePosition, NextAction, ReportConclusion, ReportDispute, ReportRationale,
    ReportRisk, ReportUncertainty, SupportingOpinion, SupportingReview,
};
use plenary_core::protocols::council::types::{
    CritiqueType, FindingPosition, FindingStance, OpinionAssessment, OpinionRisk, OpinionStance,
    PeerCritique, PeerDisagreement, PeerReview, QuestionMode, RatingLevel, ReportOutcome,
    RiskConsensus,
};

use crate::providers::rehearsal::opinion::merge_findings;
use crate::providers::rehearsal::prompt::{
    ShownOpinion, is_decision, read_mode, read_opinions, read_reviews,
};
use crate::providers::rehearsal::transport::{ReplyVariation, SeatTemper};

pub(crate) fn write_report(
    subject: &str,
    messages: &AskMessages,
    mut variation: ReplyVariation,
) -> ChairReport {
    let opinions = read_opinions(&messages.user);
    let reviews = read_reviews(&messages.user);
    let mode = read_mode(messages);
    ChairReport {
        conclusion: write_report_conclusion(subject, &opinions, &mut variation),
        rationale: write_rationale(&opinions, &reviews, &mut variation),
        disagreements: list_disagreements(&opinions),
        uncertainties: vec![write_uncertainty(&mut variation)],
        risks: collect_risks(&opinions),
        next_actions: next_actions(&mut variation),
        consensus_points: variation.pick_some(&CONSENSUS, 2),
        alternatives: texts_for_mode(mode, QuestionMode::Architecture, &ALTERNATIVES),
        verification_plan: texts_for_mode(mode, QuestionMode::Architecture, &VERIFICATION),
        findings: if mode == QuestionMode::Review {
            merge_findings(&opinions, &reviews)
        } else {
            Vec::new()
        },
    }
}

const CONSENSUS: [&str; 3] = [
    "The way back has to be tried, not only described.",
    "The measure of success is named before the start.",
    "One person owns it and may stop it.",
];
const ALTERNATIVES: [&str; 2] = [
    "Leave things as they are and review in a quarter: not taken, because nothing would be learned meanwhile.",
    "Change everything at once: not taken, because a return would cost as much again.",
];
const VERIFICATION: [&str; 2] = [
    "Compare the named measure before the start, after two weeks and after two months.",
    "Carry out a full return once, on purpose, and write down what it took.",
];

fn texts_for_mode(mode: QuestionMode, wanted: QuestionMode, texts: &[&str]) -> Vec<String> {
    let texts = texts.iter().filter(|_| mode == wanted);
    texts.map(|text| (*text).to_owned()).collect()
}

/// Whether every opinion is against the proposal.
fn all_against(opinions: &[ShownOpinion]) -> bool {
    !opinions.is_empty() && opinions.iter().all(is_against)
}

fn is_against(shown: &ShownOpinion) -> bool {
    shown.stance == Some(OpinionStance::Reject)
}

/// Returns the opinions that support the conclusion.
fn list_supporters(opinions: &[ShownOpinion]) -> impl Iterator<Item = &ShownOpinion> {
    let refused = all_against(opinions);
    opinions.iter().filter(move |shown| refused || !is_against(shown))
}

fn write_report_conclusion(
    subject: &str,
    opinions: &[ShownOpinion],
    variation: &mut ReplyVariation,
) -> ReportConclusion {
    let (outcome, statement) = if all_against(opinions) {
        (
            ReportOutcome::Reject,
            "not now; the panel saw no evidence that would bear the cost of a return.",
        )
    } else if is_decision(subject) {
        (ReportOutcome::Adopt, variation.pick_one(&ADOPT))
    } else {
        (ReportOutcome::Answer, variation.pick_one(&ANSWER))
    };
    ReportConclusion {
        outcome, statement: format!("On “{subject}”: {statement}"), reason: None
    }
}

const ADOPT: [&str; 3] = [
    "begin with a pilot of limited scope, under a named owner, once the way back has been tried. Review after a month, and stop if the agreed measure is missed.",
    "go ahead in steps. The first must be reversible within a day; the second follows only on evidence from the first.",
    "yes, on conditions: an owner, a stop rule and a tested return, in writing and before the start.",
];
const ANSWER: [&str; 3] = [
    "take the simplest answer that the people at hand can maintain, try it on one real case, and revisit it on a fixed date.",
    "there is a workable answer for now and an open one for later. Use the first within limits; collect what is missing for the second.",
    "the answer depends on one assumption that can be tested in a week. Test it, then take the more direct of the two routes.",
];

fn write_rationale(
    opinions: &[ShownOpinion],
    reviews: &[(char, PeerReview)],
    variation: &mut ReplyVariation,
) -> ReportRationale {
    let summary = variation.pick_one(&[
        "The opinions differ on when to begin, less on what a good beginning looks like. The conditions that the doubters ask for are ones that the others can accept.",
        "Nobody argued for an unlimited start, and nobody for leaving things as they are for good. What remains is the order of steps and the price of going back.",
    ]);
    ReportRationale {
        summary: summary.to_owned(),
        supporting_opinions: list_supporters(opinions).map(supporting_opinion).collect(),
        supporting_reviews: reviews.iter().filter_map(supporting_review).collect(),
    }
}

fn supporting_opinion(shown: &ShownOpinion) -> SupportingOpinion {
    let weight = if shown.stance == Some(OpinionStance::Conditional) {
        RatingLevel::High
    } else {
        RatingLevel::Medium
    };
    let recommended = shown.opinion.as_ref().map(|opinion| &opinion.details.recommendation);
    let key_point =
        recommended.cloned().unwrap_or_else(|| describe_position(shown.stance).to_owned());
    SupportingOpinion { provider: shown.letter.to_string(), key_point, weight }
}

/// Returns the most severe critique of a review.
fn supporting_review((letter, review): &(char, PeerReview)) -> Option<SupportingReview> {
    let critiques = review.targets.iter().flat_map(|target| &target.critiques);
    let gravest = critiques.max_by_key(|critique| critique.severity)?;
    Some(SupportingReview {
        reviewer: letter.to_string(),
        critique_type: gravest.critique_type,
        key_point: gravest.message.clone(),
    })
}

/// Returns one dispute with all positions, if there is more than one position.
fn list_disagreements(opinions: &[ShownOpinion]) -> Vec<ReportDispute> {
    let positions: Vec<DisputePosition> = opinions.iter().map(position_of).collect();
    let differ = positions.windows(2).any(|pair| match pair {
        [one, other] => one.position != other.position,
        _ => false,
    });
    let dispute = ReportDispute {
        topic: "When to begin, and on what evidence".to_owned(),
        positions,
        resolution: "A limited start after the way back was tried.".to_owned(),
        resolution_rationale: "It gives one side its trial and the other its safeguard; the question of evidence stays open until the review.".to_owned(),
    };
    differ.then_some(dispute).into_iter().collect()
}

fn position_of(shown: &ShownOpinion) -> DisputePosition {
    DisputePosition {
        provider: shown.letter.to_string(),
        position: describe_position(shown.stance).to_owned(),
    }
}

fn write_uncertainty(variation: &mut ReplyVariation) -> ReportUncertainty {
    let (area, reason, check) = match variation.number_below(2) {
        0 => (
            "What a full return would cost",
            "All spoke of it, nobody had a figure.",
            "Carry out the return once on a small scale and measure it.",
        ),
        _ => (
            "Whether a small trial says anything about the whole",
            "It was assumed by some and doubted by others.",
            "Name beforehand which result of the trial would change the decision.",
        ),
    };
    ReportUncertainty {
        area: area.to_owned(),
        confidence: RatingLevel::Low,
        reason: reason.to_owned(),
        suggested_verification: check.to_owned(),
    }
}

/// Returns the risks without duplicates, except small ones.
fn collect_risks(opinions: &[ShownOpinion]) -> Vec<ReportRisk> {
    let mut risks: Vec<ReportRisk> = Vec::new();
    let hopeful = opinions.iter().any(|shown| shown.stance == Some(OpinionStance::Approve));
    for shown in opinions {
        let named = shown.opinion.iter().flat_map(|opinion| &opinion.risks);
        for risk in named.filter(|risk| risk.severity > RatingLevel::Low) {
            let letter = shown.letter.to_string();
            match risks.iter_mut().find(|known| known.description == risk.description) {
                Some(known) => known.mentioned_by.push(letter),
                None => risks.push(weigh_risk(risk, letter, hopeful)),
            }
        }
    }
    risks.sort_by_key(|risk| std::cmp::Reverse(risk.severity));
    risks
}

fn weigh_risk(risk: &OpinionRisk, letter: String, hopeful: bool) -> ReportRisk {
    let disputed = hopeful && risk.severity == RatingLevel::High;
    ReportRisk {
        description: risk.description.clone(),
        severity: risk.severity,
        mentioned_by: vec![letter],
        mitigation: risk.mitigation.clone().unwrap_or_default(),
        consensus: if disputed { RiskConsensus::Disputed } else { RiskConsensus::Agreed },
    }
}

fn next_actions(variation: &mut ReplyVariation) -> Vec<NextAction> {
    let action = |action: &str, priority, rationale: &str, success: &str| NextAction {
        action: action.to_owned(),
        priority,
        rationale: rationale.to_owned(),
        success_criteria: Some(success.to_owned()),
    };
    let second = match variation.number_below(2) {
        0 => action(
            "Ask two of those who would bear the risk what they need to agree",
            RatingLevel::Medium,
            "They have not been heard yet.",
            "Both answers are written down before the start",
        ),
        _ => action(
            "Agree on the measure, its threshold and the date of the review",
            RatingLevel::Medium,
            "Chosen afterwards, it would fit whatever happened.",
            "One page that everybody concerned has read",
        ),
    };
    vec![
        action(
            "Name an owner and try the way back once",
            RatingLevel::High,
            "Every opinion depends on it.",
            "The return was carried out and its cost is known",
        ),
        second,
    ]
}

/// A temper's critiques, concessions and disagreements.
struct ReviewManner {
    rating_from: u8,
    critiques: &'static [(CritiqueType, RatingLevel, &'static str, &'static str)],
    agreements: &'static [&'static str],
    position: &'static str,
    rationale: &'static str,
    would_change: &'static [&'static str],
}

pub(crate) fn write_review(
    temper: SeatTemper,
    messages: &AskMessages,
    mut variation: ReplyVariation,
) -> PeerReview {
    let manner = manner_of(temper);
    let opinions = read_opinions(&messages.user);
    let targets = opinions.iter().map(|shown| pick_target(temper, manner, shown, &mut variation));
    PeerReview {
        targets: targets.collect(),
        would_change_my_opinion: variation.pick_some(manner.would_change, 1),
    }
}

fn pick_target(
    temper: SeatTemper,
    manner: &ReviewManner,
    shown: &ShownOpinion,
    variation: &mut ReplyVariation,
) -> OpinionAssessment {
    let agrees = shown.stance == Some(usual_stance(temper));
    let spread = u8::from(variation.number_below(2) == 1);
    OpinionAssessment {
        letter: shown.letter.to_string(),
        rating: manner.rating_from + spread + u8::from(agrees),
        critiques: write_critique(manner, variation).into_iter().collect(),
        agreement_points: variation.pick_some(manner.agreements, 1),
        disagreement_points: if agrees {
            Vec::new()
        } else {
            vec![write_disagreement(manner, shown)]
        },
        finding_positions: finding_positions(temper, shown),
    }
}

fn usual_stance(temper: SeatTemper) -> OpinionStance {
    match temper {
        SeatTemper::Optimist => OpinionStance::Approve,
        SeatTemper::Skeptic => OpinionStance::Reject,
        SeatTemper::Pragmatist => OpinionStance::Conditional,
    }
}

fn write_critique(manner: &ReviewManner, variation: &mut ReplyVariation) -> Option<PeerCritique> {
    let drawn = manner.critiques.get(variation.number_below(manner.critiques.len()))?;
    let (critique_type, severity, message, correction) = *drawn;
    Some(PeerCritique {
        critique_type,
        message: message.to_owned(),
        severity,
        location: None,
        suggested_correction: Some(correction.to_owned()),
    })
}

fn write_disagreement(manner: &ReviewManner, shown: &ShownOpinion) -> PeerDisagreement {
    PeerDisagreement {
        topic: "When to begin".to_owned(),
        reviewer_position: manner.position.to_owned(),
        target_position: describe_position(shown.stance).to_owned(),
        rationale: manner.rationale.to_owned(),
    }
}

/// Summarizes an opinion by its stance.
pub(crate) fn describe_position(stance: Option<OpinionStance>) -> &'static str {
    match stance {
        Some(OpinionStance::Approve) => "begin now, in a small and reversible form",
        Some(OpinionStance::Reject) => {
            "do not begin before there is evidence and an agreed way back"
        }
        Some(OpinionStance::Conditional) => "begin once the stated conditions are met",
        Some(OpinionStance::Abstain | OpinionStance::None) | None => "leaves open when to begin",
    }
}

fn finding_positions(temper: SeatTemper, shown: &ShownOpinion) -> Vec<FindingPosition> {
    let findings = shown.opinion.iter().flat_map(|opinion| &opinion.findings);
    let positions = findings.map(|finding| {
        let disputed = temper != SeatTemper::Optimist && finding.severity == RatingLevel::Low;
        let (position, reason) = if disputed {
            (FindingStance::Dispute, "A matter of taste; it would not change what anybody does.")
        } else {
            (FindingStance::Confirm, "I would have raised the same, at the same place.")
        };
        FindingPosition { id: finding.id.clone(), position, reason: reason.to_owned() }
    });
    positions.collect()
}

fn manner_of(temper: SeatTemper) -> &'static ReviewManner {
    match temper {
        SeatTemper::Optimist => &OPTIMIST_MANNER,
        SeatTemper::Skeptic => &SKEPTIC_MANNER,
        SeatTemper::Pragmatist => &PRAGMATIST_MANNER,
    }
}

const OPTIMIST_MANNER: ReviewManner = ReviewManner {
    rating_from: 7,
    critiques: &[
        (
            CritiqueType::Omission,
            RatingLevel::Low,
            "It weighs the cost of acting, but not the cost of waiting.",
            "Put a figure on another quarter of the present state.",
        ),
        (
            CritiqueType::Alternative,
            RatingLevel::Medium,
            "A pilot would answer most of what it asks, at less cost than asking.",
            "Compare with a trial of two weeks.",
        ),
        (
            CritiqueType::Assumption,
            RatingLevel::Low,
            "It takes for granted that the present state is safe.",
            "Say what fails today, and how often.",
        ),
    ],
    agreements: &[
        "The measure of success belongs at the beginning.",
        "One person should be able to stop it.",
        "The way back has to be real.",
    ],
    position: "begin now with what can be undone",
    rationale: "A bounded trial settles more than further argument would.",
    would_change: &[
        "A case in which a comparable pilot could not be undone.",
        "A first step that turns out to need the whole.",
    ],
};

const SKEPTIC_MANNER: ReviewManner = ReviewManner {
    rating_from: 4,
    critiques: &[
        (
            CritiqueType::Risk,
            RatingLevel::High,
            "It names a way back and does not price it.",
            "State what a full return would cost after six months.",
        ),
        (
            CritiqueType::Assumption,
            RatingLevel::Medium,
            "Its central assumption is stated as a fact and nothing is offered for it.",
            "Mark it as an assumption and say how it could be refuted.",
        ),
        (
            CritiqueType::Inconsistency,
            RatingLevel::Medium,
            "It asks for little evidence and claims much confidence.",
            "Lower the confidence, or raise the evidence.",
        ),
    ],
    agreements: &[
        "It says who would have to own the result.",
        "It is right that waiting is a decision too.",
        "Its conditions could be checked by an outsider.",
    ],
    position: "wait for evidence and an agreed way back",
    rationale: "Those who bear the risk have not been asked.",
    would_change: &[
        "Evidence from somebody who had nothing to gain.",
        "A return that was tried, with its cost written down.",
    ],
};

const PRAGMATIST_MANNER: ReviewManner = ReviewManner {
    rating_from: 6,
    critiques: &[
        (
            CritiqueType::Omission,
            RatingLevel::Medium,
            "It does not say who does the work, nor what is left undone meanwhile.",
            "Name the owner and the displaced work.",
        ),
        (
            CritiqueType::Alternative,
            RatingLevel::Low,
            "The same could be had in two steps, of which only the second is hard.",
            "Decide on the first step alone.",
        ),
        (
            CritiqueType::Error,
            RatingLevel::Low,
            "It treats a question of order as a question of principle.",
            "Say what has to come first.",
        ),
    ],
    agreements: &[
        "It names what would have to be true.",
        "The risk that it puts first is the right one.",
        "It can be acted on tomorrow.",
    ],
    position: "begin on written conditions",
    rationale: "The conditions carry the risk; with them the rest is a matter of order.",
    would_change: &[
        "Nobody being willing to own it.",
        "A condition that turns out not to be checkable.",
    ],
};
