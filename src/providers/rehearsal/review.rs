//! Second-round reviews of the rehearsal panel.

use crate::domain::ask::Messages;
use crate::domain::council::review::{Critique, Disagreement, FindingPosition, Review, Target};
use crate::domain::council::words::{CritiqueType, FindingStand, Level, Stance};

use super::prompt::{self, Shown};
use super::temper::Temper;
use super::variation::Variation;

/// A temper's critiques, concessions and disagreements.
struct Manner {
    rating_from: u8,
    critiques: &'static [(CritiqueType, Level, &'static str, &'static str)],
    agreements: &'static [&'static str],
    position: &'static str,
    rationale: &'static str,
    would_change: &'static [&'static str],
}

pub(super) fn review(temper: Temper, messages: &Messages, mut variation: Variation) -> Review {
    let manner = manner(temper);
    let opinions = prompt::opinions(&messages.user);
    let targets = opinions.iter().map(|shown| target(temper, manner, shown, &mut variation));
    Review {
        targets: targets.collect(),
        would_change_my_opinion: variation.some(manner.would_change, 1),
    }
}

fn target(temper: Temper, manner: &Manner, shown: &Shown, variation: &mut Variation) -> Target {
    let agrees = shown.stance == Some(usual_stance(temper));
    let spread = u8::from(variation.below(2) == 1);
    Target {
        letter: shown.letter.to_string(),
        rating: manner.rating_from + spread + u8::from(agrees),
        critiques: critique(manner, variation).into_iter().collect(),
        agreement_points: variation.some(manner.agreements, 1),
        disagreement_points: if agrees { Vec::new() } else { vec![disagreement(manner, shown)] },
        finding_positions: finding_positions(temper, shown),
    }
}

fn usual_stance(temper: Temper) -> Stance {
    match temper {
        Temper::Optimist => Stance::Approve,
        Temper::Skeptic => Stance::Reject,
        Temper::Pragmatist => Stance::Conditional,
    }
}

fn critique(manner: &Manner, variation: &mut Variation) -> Option<Critique> {
    let drawn = manner.critiques.get(variation.below(manner.critiques.len()))?;
    let (critique_type, severity, message, correction) = *drawn;
    Some(Critique {
        critique_type,
        message: message.to_owned(),
        severity,
        location: None,
        suggested_correction: Some(correction.to_owned()),
    })
}

fn disagreement(manner: &Manner, shown: &Shown) -> Disagreement {
    Disagreement {
        topic: "When to begin".to_owned(),
        reviewer_position: manner.position.to_owned(),
        target_position: position(shown.stance).to_owned(),
        rationale: manner.rationale.to_owned(),
    }
}

/// Summarizes an opinion by its stance.
pub(super) fn position(stance: Option<Stance>) -> &'static str {
    match stance {
        Some(Stance::Approve) => "begin now, in a small and reversible form",
        Some(Stance::Reject) => "do not begin before there is evidence and an agreed way back",
        Some(Stance::Conditional) => "begin once the stated conditions are met",
        Some(Stance::Abstain | Stance::None) | None => "leaves open when to begin",
    }
}

fn finding_positions(temper: Temper, shown: &Shown) -> Vec<FindingPosition> {
    let findings = shown.opinion.iter().flat_map(|opinion| &opinion.findings);
    let positions = findings.map(|finding| {
        let disputed = temper != Temper::Optimist && finding.severity == Level::Low;
        let (position, reason) = if disputed {
            (FindingStand::Dispute, "A matter of taste; it would not change what anybody does.")
        } else {
            (FindingStand::Confirm, "I would have raised the same, at the same place.")
        };
        FindingPosition { id: finding.id.clone(), position, reason: reason.to_owned() }
    });
    positions.collect()
}

fn manner(temper: Temper) -> &'static Manner {
    match temper {
        Temper::Optimist => &OPTIMIST,
        Temper::Skeptic => &SKEPTIC,
        Temper::Pragmatist => &PRAGMATIST,
    }
}

const OPTIMIST: Manner = Manner {
    rating_from: 7,
    critiques: &[
        (
            CritiqueType::Omission,
            Level::Low,
            "It weighs the cost of acting, but not the cost of waiting.",
            "Put a figure on another quarter of the present state.",
        ),
        (
            CritiqueType::Alternative,
            Level::Medium,
            "A pilot would answer most of what it asks, at less cost than asking.",
            "Compare with a trial of two weeks.",
        ),
        (
            CritiqueType::Assumption,
            Level::Low,
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

const SKEPTIC: Manner = Manner {
    rating_from: 4,
    critiques: &[
        (
            CritiqueType::Risk,
            Level::High,
            "It names a way back and does not price it.",
            "State what a full return would cost after six months.",
        ),
        (
            CritiqueType::Assumption,
            Level::Medium,
            "Its central assumption is stated as a fact and nothing is offered for it.",
            "Mark it as an assumption and say how it could be refuted.",
        ),
        (
            CritiqueType::Inconsistency,
            Level::Medium,
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

const PRAGMATIST: Manner = Manner {
    rating_from: 6,
    critiques: &[
        (
            CritiqueType::Omission,
            Level::Medium,
            "It does not say who does the work, nor what is left undone meanwhile.",
            "Name the owner and the displaced work.",
        ),
        (
            CritiqueType::Alternative,
            Level::Low,
            "The same could be had in two steps, of which only the second is hard.",
            "Decide on the first step alone.",
        ),
        (
            CritiqueType::Error,
            Level::Low,
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
