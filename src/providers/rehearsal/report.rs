//! Second-round reviews of the rehearsal panel, and the chair's report from opinions and reviews.

use crate::domain::ask::Messages;
use crate::domain::council::opinion::Risk;
use crate::domain::council::report::{
    Conclusion, Dispute, NextAction, Position, Rationale, Report, SupportingOpinion,
    SupportingReview, Uncertainty, WeighedRisk,
};
use crate::domain::council::review::Review;
use crate::domain::council::words::{Level, Mode, Outcome, RiskConsensus, Stance};

use super::findings;
use super::prompt::{self, Shown};
use super::review::position;
use super::variation::Variation;

pub(super) fn report(subject: &str, messages: &Messages, mut variation: Variation) -> Report {
    let opinions = prompt::opinions(&messages.user);
    let reviews = prompt::reviews(&messages.user);
    let mode = prompt::mode(messages);
    Report {
        conclusion: conclusion(subject, &opinions, &mut variation),
        rationale: rationale(&opinions, &reviews, &mut variation),
        disagreements: disagreements(&opinions),
        uncertainties: vec![uncertainty(&mut variation)],
        risks: risks(&opinions),
        next_actions: next_actions(&mut variation),
        consensus_points: variation.some(&CONSENSUS, 2),
        alternatives: only_in(mode, Mode::Architecture, &ALTERNATIVES),
        verification_plan: only_in(mode, Mode::Architecture, &VERIFICATION),
        findings: if mode == Mode::Review {
            findings::merged(&opinions, &reviews)
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

fn only_in(mode: Mode, wanted: Mode, texts: &[&str]) -> Vec<String> {
    let texts = texts.iter().filter(|_| mode == wanted);
    texts.map(|text| (*text).to_owned()).collect()
}

/// Whether every opinion is against the proposal.
fn all_against(opinions: &[Shown]) -> bool {
    !opinions.is_empty() && opinions.iter().all(is_against)
}

fn is_against(shown: &Shown) -> bool {
    shown.stance == Some(Stance::Reject)
}

/// Returns the opinions that support the conclusion.
fn supporters(opinions: &[Shown]) -> impl Iterator<Item = &Shown> {
    let refused = all_against(opinions);
    opinions.iter().filter(move |shown| refused || !is_against(shown))
}

fn conclusion(subject: &str, opinions: &[Shown], variation: &mut Variation) -> Conclusion {
    let (outcome, statement) = if all_against(opinions) {
        (
            Outcome::Reject,
            "not now; the panel saw no evidence that would bear the cost of a return.",
        )
    } else if prompt::is_decision(subject) {
        (Outcome::Adopt, variation.pick(&ADOPT))
    } else {
        (Outcome::Answer, variation.pick(&ANSWER))
    };
    Conclusion { outcome, statement: format!("On “{subject}”: {statement}"), reason: None }
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

fn rationale(
    opinions: &[Shown],
    reviews: &[(char, Review)],
    variation: &mut Variation,
) -> Rationale {
    let summary = variation.pick(&[
        "The opinions differ on when to begin, less on what a good beginning looks like. The conditions that the doubters ask for are ones that the others can accept.",
        "Nobody argued for an unlimited start, and nobody for leaving things as they are for good. What remains is the order of steps and the price of going back.",
    ]);
    Rationale {
        summary: summary.to_owned(),
        supporting_opinions: supporters(opinions).map(supporting_opinion).collect(),
        supporting_reviews: reviews.iter().filter_map(supporting_review).collect(),
    }
}

fn supporting_opinion(shown: &Shown) -> SupportingOpinion {
    let weight =
        if shown.stance == Some(Stance::Conditional) { Level::High } else { Level::Medium };
    let recommended = shown.opinion.as_ref().map(|opinion| &opinion.details.recommendation);
    let key_point = recommended.cloned().unwrap_or_else(|| position(shown.stance).to_owned());
    SupportingOpinion { provider: shown.letter.to_string(), key_point, weight }
}

/// Returns the most severe critique of a review.
fn supporting_review((letter, review): &(char, Review)) -> Option<SupportingReview> {
    let critiques = review.targets.iter().flat_map(|target| &target.critiques);
    let gravest = critiques.max_by_key(|critique| critique.severity)?;
    Some(SupportingReview {
        reviewer: letter.to_string(),
        critique_type: gravest.critique_type,
        key_point: gravest.message.clone(),
    })
}

/// Returns one dispute with all positions, if there is more than one position.
fn disagreements(opinions: &[Shown]) -> Vec<Dispute> {
    let positions: Vec<Position> = opinions.iter().map(position_of).collect();
    let differ = positions.windows(2).any(|pair| match pair {
        [one, other] => one.position != other.position,
        _ => false,
    });
    let dispute = Dispute {
        topic: "When to begin, and on what evidence".to_owned(),
        positions,
        resolution: "A limited start after the way back was tried.".to_owned(),
        resolution_rationale: "It gives one side its trial and the other its safeguard; the question of evidence stays open until the review.".to_owned(),
    };
    differ.then_some(dispute).into_iter().collect()
}

fn position_of(shown: &Shown) -> Position {
    Position { provider: shown.letter.to_string(), position: position(shown.stance).to_owned() }
}

fn uncertainty(variation: &mut Variation) -> Uncertainty {
    let (area, reason, check) = match variation.below(2) {
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
    Uncertainty {
        area: area.to_owned(),
        confidence: Level::Low,
        reason: reason.to_owned(),
        suggested_verification: check.to_owned(),
    }
}

/// Returns the risks without duplicates, except small ones.
fn risks(opinions: &[Shown]) -> Vec<WeighedRisk> {
    let mut risks: Vec<WeighedRisk> = Vec::new();
    let hopeful = opinions.iter().any(|shown| shown.stance == Some(Stance::Approve));
    for shown in opinions {
        let named = shown.opinion.iter().flat_map(|opinion| &opinion.risks);
        for risk in named.filter(|risk| risk.severity > Level::Low) {
            let letter = shown.letter.to_string();
            match risks.iter_mut().find(|known| known.description == risk.description) {
                Some(known) => known.mentioned_by.push(letter),
                None => risks.push(weighed(risk, letter, hopeful)),
            }
        }
    }
    risks.sort_by_key(|risk| std::cmp::Reverse(risk.severity));
    risks
}

fn weighed(risk: &Risk, letter: String, hopeful: bool) -> WeighedRisk {
    let disputed = hopeful && risk.severity == Level::High;
    WeighedRisk {
        description: risk.description.clone(),
        severity: risk.severity,
        mentioned_by: vec![letter],
        mitigation: risk.mitigation.clone().unwrap_or_default(),
        consensus: if disputed { RiskConsensus::Disputed } else { RiskConsensus::Agreed },
    }
}

fn next_actions(variation: &mut Variation) -> Vec<NextAction> {
    let action = |action: &str, priority, rationale: &str, success: &str| NextAction {
        action: action.to_owned(),
        priority,
        rationale: rationale.to_owned(),
        success_criteria: Some(success.to_owned()),
    };
    let second = match variation.below(2) {
        0 => action(
            "Ask two of those who would bear the risk what they need to agree",
            Level::Medium,
            "They have not been heard yet.",
            "Both answers are written down before the start",
        ),
        _ => action(
            "Agree on the measure, its threshold and the date of the review",
            Level::Medium,
            "Chosen afterwards, it would fit whatever happened.",
            "One page that everybody concerned has read",
        ),
    };
    vec![
        action(
            "Name an owner and try the way back once",
            Level::High,
            "Every opinion depends on it.",
            "The return was carried out and its cost is known",
        ),
        second,
    ]
}
