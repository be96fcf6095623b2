//! Second-round reviews of the rehearsal panel.

use crate::domain::ask::AskMessages;
use crate::domain::council::review::{
    FindingPosition, OpinionAssessment, PeerCritique, PeerDisagreement, PeerReview,
};
use crate::domain::council::words::{CritiqueType, FindingStance, OpinionStance, RatingLevel};

use super::prompt::{self, ShownOpinion};
use super::temper::SeatTemper;
use super::variation::ReplyVariation;

/// A temper's critiques, concessions and disagreements.
struct ReviewManner {
    rating_from: u8,
    critiques: &'static [(CritiqueType, RatingLevel, &'static str, &'static str)],
    agreements: &'static [&'static str],
    position: &'static str,
    rationale: &'static str,
    would_change: &'static [&'static str],
}

pub(super) fn write_review(
    temper: SeatTemper,
    messages: &AskMessages,
    mut variation: ReplyVariation,
) -> PeerReview {
    let manner = manner_of(temper);
    let opinions = prompt::read_opinions(&messages.user);
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
pub(super) fn describe_position(stance: Option<OpinionStance>) -> &'static str {
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
