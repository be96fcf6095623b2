//! Builds the final report: the chair's, or one made from the best opinion.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::model::ids::ExpertSlug;
use crate::model::plan::DeliveryMode;
use crate::model::run_state::{ReplyDocument, RunState};
use crate::protocols::council::answers::{
    ROUNDS, SeatAnswer, SeatLetters, list_opinions, list_peer_reviews, rounds_completed,
    tally_stances,
};
use crate::protocols::council::report_types::{
    ChairReport, CouncilFinalReport, DisputePosition, MergedFinding, ReportConclusion,
    ReportDispute, ReportRationale, ReportRisk, ReportUncertainty, SupportingOpinion,
};
use crate::protocols::council::types::{
    FindingStance, OpinionFinding, OpinionReply, OpinionStance, PeerReview, ReportOutcome,
    RiskConsensus,
};

/// The seed's text for a failed chair.
const CHAIR_FAILED: &str = "Chair synthesis failed; showing best individual opinion";

const SELECTED: &str = "This is the opinion with the best peer ratings, not a synthesis";
const SKIPPED: &str = "The chair's round was skipped; showing the opinion its peers rated best";
const CHAIRLESS: &str = "There is no chair; showing best individual opinion";

/// The chair's report with names in place of letters; none if the chair gave none.
pub(crate) fn report_from_chair(
    state: &RunState,
    chair: &ExpertSlug,
) -> Option<CouncilFinalReport> {
    let asked = state.last_ask(3, chair)?;
    let ReplyDocument::Report(report) = asked.parsed_document()? else { return None };
    let letters = SeatLetters::from_plan(&state.plan);
    let spoke = speaking_seats(state);
    let mut report = report.as_ref().clone().with_seat_names(&|text| {
        letters.seat_of(text).filter(|seat| spoke.contains(seat)).cloned()
    });
    credit_findings(state, &mut report.findings);
    // A seat may have given an opinion and no review, or the reverse.
    let [opined, reviewed] = [1, 2].map(|round| state.seats_answered_in(round));
    let is_in =
        |seats: &BTreeSet<&ExpertSlug>, name: &str| seats.iter().any(|seat| seat.as_str() == name);
    let rationale = &mut report.rationale;
    rationale.supporting_opinions.retain(|point| is_in(&opined, &point.provider));
    rationale.supporting_reviews.retain(|point| is_in(&reviewed, &point.reviewer));
    if state.skips_round(2) {
        lower_confidence(&mut report.uncertainties);
    }
    Some(build_final_report(state, report, Some(chair.clone())))
}

/// Who reported, confirmed and disputed each finding, from the replies and not from the chair. A
/// reported finding counts for the merged one that resembles it most.
fn credit_findings(state: &RunState, findings: &mut [MergedFinding]) {
    let letters = SeatLetters::from_plan(&state.plan);
    let (opinions, reviews) = (list_opinions(state), list_peer_reviews(state));
    let best_match = |one: &OpinionFinding| {
        findings.iter().map(|merged| rate_match(&merged.finding, one)).max().unwrap_or(0)
    };
    let reported: Vec<(&ExpertSlug, &OpinionFinding, u8)> = opinions
        .iter()
        .flat_map(|voice| voice.content.findings.iter().map(|one| (voice.seat, one)))
        .map(|(seat, one)| (seat, one, best_match(one)))
        .filter(|(_, _, best)| *best > 0)
        .collect();
    for merged in findings {
        let mut matched = reported.clone();
        matched.retain(|(_, one, best)| rate_match(&merged.finding, one) == *best);
        // Participants number independently: `SEC-001` may be two faults.
        if matched.iter().any(|(_, _, best)| *best > ID_MATCH) {
            matched.retain(|(_, _, best)| *best > ID_MATCH);
        }
        let is_about = |letter: &str, id: &str| {
            let about = letters.seat_of(letter);
            matched.iter().any(|(seat, one, _)| about == Some(seat) && is_same_text(&one.id, id))
        };
        let held = |stance: FindingStance| -> Vec<String> {
            let is_held = |voice: &&SeatAnswer<'_, PeerReview>| {
                voice.content.targets.iter().any(|target| {
                    let mut positions = target.finding_positions.iter();
                    positions.any(|one| one.position == stance && is_about(&target.letter, &one.id))
                })
            };
            reviews.iter().filter(is_held).map(|voice| voice.seat.to_string()).collect()
        };
        (merged.confirmed_by, merged.disputed_by) =
            (held(FindingStance::Confirm), held(FindingStance::Dispute));
        merged.reported_by = matched.iter().map(|(seat, ..)| seat.to_string()).collect();
        merged.reported_by.dedup();
    }
}

const TITLE_MATCH: u8 = 4;
const PLACE_MATCH: u8 = 3;
const ID_MATCH: u8 = 2;

/// How much a merged finding resembles a reported one; 0 if they have nothing in common.
fn rate_match(merged: &OpinionFinding, one: &OpinionFinding) -> u8 {
    let rate = |is_same: bool, weight: u8| if is_same { weight } else { 0 };
    let others = rate(is_same_text(&one.title, &merged.title), TITLE_MATCH)
        + rate(is_same_text(&one.id, &merged.id), ID_MATCH);
    // A file without a line may have many faults.
    let is_place = others > 0 || one.location.trim().ends_with(|last: char| last.is_ascii_digit());
    others + rate(is_place && is_same_text(&one.location, &merged.location), PLACE_MATCH)
}

fn is_same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    !a.is_empty() && a.eq_ignore_ascii_case(b)
}

/// The best opinion as a report, with the reason; none if there is no opinion.
pub(crate) fn report_from_best_opinion(state: &RunState) -> Option<CouncilFinalReport> {
    let selected = state.plan.delivery == DeliveryMode::Selection;
    let by_rule = selected || state.skips_round(3);
    let voice = if by_rule { best_opinion(state) } else { most_complete_opinion(state) }?;
    let mut delivered = build_final_report(state, report_from_opinion(state, &voice), None);
    delivered.fallback = !by_rule;
    let disclaimer = match (selected, by_rule) {
        (true, _) => SELECTED,
        (false, true) => SKIPPED,
        (false, false) if state.plan.chairs.is_empty() => CHAIRLESS,
        (false, false) => CHAIR_FAILED,
    };
    let cut = if voice.asked.is_truncated() { "; it was cut off before its end" } else { "" };
    delivered.disclaimer = Some(format!("{disclaimer}{cut}"));
    Some(delivered)
}

/// Words before or after a letter that stands for a seat. A lone `A` is usually an article.
const SEAT_WORDS: [&str; 5] = ["opinion", "participant", "seat", "reviewer", "letter"];
const SAYING_WORDS: [&str; 22] = [
    "said",
    "says",
    "argued",
    "argues",
    "agreed",
    "agrees",
    "objected",
    "objects",
    "noted",
    "notes",
    "pointed",
    "points",
    "preferred",
    "prefers",
    "recommended",
    "recommends",
    "proposed",
    "proposes",
    "claimed",
    "claims",
    "warned",
    "warns",
];

/// The letters of seats that gave no answer, where the prose of the report says that they spoke.
pub(crate) fn absent_in_prose<'a>(
    state: &'a RunState,
    report: &ChairReport,
) -> Vec<(char, &'a ExpertSlug)> {
    let spoke = speaking_seats(state);
    let mut prose = String::new();
    if let Ok(value) = serde_json::to_value(report) {
        collect_texts(&value, &mut prose);
    }
    let words: Vec<&str> = prose
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let is_named = |letter: char| {
        let letter = letter.to_string();
        words.iter().enumerate().filter(|(_, word)| **word == letter).any(|(at, _)| {
            let is_one_of = |at: Option<usize>, known: &[&str]| {
                let word = at.and_then(|at| words.get(at)).map(|word| word.to_lowercase());
                word.is_some_and(|word| known.contains(&word.as_str()))
            };
            is_one_of(at.checked_sub(1), &SEAT_WORDS) || is_one_of(Some(at + 1), &SAYING_WORDS)
        })
    };
    let letters = SeatLetters::from_plan(&state.plan);
    let seats = state.plan.participant_seats().filter(|seat| !spoke.contains(&seat.name));
    seats
        .filter_map(|seat| Some((letters.letter_of(&seat.name)?, &seat.name)))
        .filter(|(letter, _)| is_named(*letter))
        .collect()
}

/// All texts of a document, a line each.
fn collect_texts(value: &Value, prose: &mut String) {
    match value {
        Value::String(text) => {
            prose.push_str(text);
            prose.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, prose)),
        Value::Object(fields) => fields.values().for_each(|item| collect_texts(item, prose)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Participants that the chair credits although they gave no answer, by name.
pub(crate) fn wrongly_credited(state: &RunState, report: &ChairReport) -> Vec<ExpertSlug> {
    let (letters, spoke) = (SeatLetters::from_plan(&state.plan), speaking_seats(state));
    let mut report = report.clone();
    let credited = report.participant_names_mut().filter_map(|name| letters.seat_of(name));
    let absent: BTreeSet<&ExpertSlug> = credited.filter(|seat| !spoke.contains(seat)).collect();
    absent.into_iter().cloned().collect()
}

const AN_OPINION: &str = "an opinion";
const A_REVIEW: &str = "a review";

/// Seats that the chair credits with an opinion or a review that they did not give, although they
/// gave the other.
pub(crate) fn credited_without_reply(
    state: &RunState,
    report: &ChairReport,
) -> BTreeSet<(ExpertSlug, &'static str)> {
    let (letters, spoke) = (SeatLetters::from_plan(&state.plan), speaking_seats(state));
    let [opined, reviewed] = [1, 2].map(|round| state.seats_answered_in(round));
    let rationale = &report.rationale;
    let opinions = rationale.supporting_opinions.iter().map(|point| (&point.provider, AN_OPINION));
    let reviews = rationale.supporting_reviews.iter().map(|point| (&point.reviewer, A_REVIEW));
    let named = opinions.chain(reviews).filter_map(|(name, what)| {
        let seat = letters.seat_of(name).filter(|seat| spoke.contains(seat))?;
        let gave = if what == A_REVIEW { &reviewed } else { &opined };
        (!gave.contains(seat)).then(|| (seat.clone(), what))
    });
    named.collect()
}

/// The seats with an opinion or a review.
fn speaking_seats(state: &RunState) -> BTreeSet<&ExpertSlug> {
    [1, 2].into_iter().flat_map(|round| state.seats_answered_in(round)).collect()
}

/// Whether the first round was split and the report lists no disagreement.
pub fn hides_disagreement(state: &RunState) -> bool {
    let silent = |report: &CouncilFinalReport| report.report.disagreements.is_empty();
    tally_stances(state).is_split() && state.report.as_ref().is_some_and(silent)
}

fn build_final_report(
    state: &RunState,
    report: ChairReport,
    chair_provider: Option<ExpertSlug>,
) -> CouncilFinalReport {
    CouncilFinalReport {
        report,
        rounds_completed: rounds_completed(state),
        chair_provider,
        run_id: state.opening.dialogue_id.clone(),
        providers_participated: heard_seats(state),
        fallback: false,
        disclaimer: None,
    }
}

/// The seats with at least one parsed reply, in the order of the panel.
fn heard_seats(state: &RunState) -> Vec<ExpertSlug> {
    let heard = ROUNDS.map(|round| state.seats_answered_in(round));
    let seats = state.plan.seats.iter().map(|seat| &seat.name);
    seats.filter(|name| heard.iter().any(|round| round.contains(name))).cloned().collect()
}

fn lower_confidence(uncertainties: &mut [ReportUncertainty]) {
    uncertainties.iter_mut().for_each(|known| known.confidence = known.confidence.lower_level());
}

/// One participant's opinion in the shape of a report.
fn report_from_opinion(state: &RunState, voice: &SeatAnswer<'_, OpinionReply>) -> ChairReport {
    let opinion = voice.content;
    let is_cut_short = state.skips_round(2) || state.skips_round(3);
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
        disagreements: split_dispute(state).into_iter().collect(),
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
fn split_dispute(state: &RunState) -> Option<ReportDispute> {
    let positions = list_opinions(state).into_iter().map(|voice| DisputePosition {
        provider: voice.seat.to_string(),
        position: format!("{}: {}", voice.content.stance, voice.content.details.recommendation),
    });
    tally_stances(state).is_split().then(|| ReportDispute {
        topic: "The opinions differ in their stance".to_owned(),
        positions: positions.collect(),
        resolution: String::new(),
        resolution_rationale: "No chair compared the opinions.".to_owned(),
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

/// A longer summary does not make an opinion more complete.
const SUMMARY_CHARS_REASONABLE: usize = 2_000;

/// The opinion that its peers rate best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerChoice {
    pub provider: ExpertSlug,
    /// The mean of its peers' ratings; none if no peer rated it.
    pub rating: Option<f64>,
    pub ratings: usize,
    pub summary: String,
    pub recommendation: String,
    /// `peer_ratings`, or `completeness` if there are no ratings.
    pub basis: &'static str,
}

pub fn peer_choice(state: &RunState) -> Option<PeerChoice> {
    let best = best_opinion(state)?;
    let ratings = peer_ratings(state, best.seat);
    Some(PeerChoice {
        provider: best.seat.clone(),
        rating: mean_rating(&ratings),
        ratings: ratings.len(),
        summary: best.content.summary.clone(),
        recommendation: best.content.details.recommendation.clone(),
        basis: if ratings.is_empty() { "completeness" } else { "peer_ratings" },
    })
}

/// Orders by complete replies first, then mean rating, completeness and order of the panel.
pub(crate) fn best_opinion(state: &RunState) -> Option<SeatAnswer<'_, OpinionReply>> {
    let rank = |voice: &SeatAnswer<'_, OpinionReply>| {
        let ratings = peer_ratings(state, voice.seat);
        let sum: u64 = ratings.iter().map(|rating| u64::from(*rating)).sum();
        // Thousandths, so that two means compare without rounding errors.
        let mean = (sum * 1_000).checked_div(ratings.len() as u64).unwrap_or(0);
        (!voice.asked.is_truncated(), mean, count_filled_fields(voice.content))
    };
    first_greatest(list_opinions(state), rank)
}

/// The most complete opinion, ties by order of the panel. It replaces the report of a failed
/// chair. A reply that was cut off is used only if there is no other.
pub(crate) fn most_complete_opinion(state: &RunState) -> Option<SeatAnswer<'_, OpinionReply>> {
    let rank = |voice: &SeatAnswer<'_, OpinionReply>| {
        (!voice.asked.is_truncated(), count_filled_fields(voice.content))
    };
    first_greatest(list_opinions(state), rank)
}

/// `max_by_key` returns the last of equal items; here the first must win.
fn first_greatest<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K) -> Option<T> {
    items.into_iter().rev().max_by_key(key)
}

/// Counts the filled fields of an opinion; a summary of reasonable length is one more. Confidence
/// is not counted, because an opinion without it is not parsed.
fn count_filled_fields(opinion: &OpinionReply) -> usize {
    let details = &opinion.details;
    let filled = [
        !opinion.summary.trim().is_empty(),
        opinion.summary.chars().count() <= SUMMARY_CHARS_REASONABLE,
        !details.understanding.trim().is_empty(),
        !details.key_considerations.is_empty(),
        !details.recommendation.trim().is_empty(),
        !details.rationale.trim().is_empty(),
        !opinion.risks.is_empty(),
        !opinion.assumptions.is_empty(),
        !opinion.questions.is_empty(),
    ];
    filled.into_iter().filter(|is_filled| *is_filled).count()
}

fn peer_ratings(state: &RunState, of: &ExpertSlug) -> Vec<u8> {
    let letters = SeatLetters::from_plan(&state.plan);
    let heard = list_peer_reviews(state);
    let targets = heard.iter().flat_map(|voice| &voice.content.targets);
    targets
        .filter(|target| letters.seat_of(&target.letter) == Some(of))
        .map(|target| target.rating)
        .collect()
}

fn mean_rating(ratings: &[u8]) -> Option<f64> {
    let sum: u32 = ratings.iter().map(|rating| u32::from(*rating)).sum();
    let count = u32::try_from(ratings.len()).ok().filter(|count| *count > 0)?;
    Some((f64::from(sum) / f64::from(count) * 100.0).round() / 100.0)
}
