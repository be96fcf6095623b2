//! Converts the rounds of a council into entities, references and a verdict.
//!
//! An opinion becomes a perspective and a recommendation of its seat; a critique becomes a claim
//! that opposes it, an agreement a claim that supports it; a high risk or a disagreement becomes a
//! tension, one for each topic; a lower risk or an open question becomes a claim; the report becomes
//! a verdict. The engine registers the batches by the rules of every
//! dialogue, so search, citations and `verify` work for councils.

use serde_json::json;

use crate::dialogue::register::batch::{RegisterBatch, RegisterItem};
use crate::dialogue::verdict::parse::VerdictRequest;
use crate::model::entity::ReferenceType;
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, VerdictId};
use crate::model::run_state::RunState;
use crate::model::text::trim_and_truncate;
use crate::model::verdict::VerdictType;
use crate::protocols::batch_builder::{
    BatchBuilder, LABEL_CHARS_MAX, TEXT_CHARS_MAX, join_lines, local_id, short_phrase,
};
use crate::protocols::council::answers::{
    SeatAnswer, SeatLetters, list_opinions, list_peer_reviews,
};
use crate::protocols::council::report_types::CouncilFinalReport;
use crate::protocols::council::topics::{EarlierTopics, TopicList};
use crate::protocols::council::types::{
    OpinionAssessment, OpinionReply, OpinionRisk, PeerCritique, PeerReview, RatingLevel,
};

/// Marks the text of a reply that was cut off.
const CUT: &str = "[This opinion was cut off before its end.]";

/// The batch that registers a round.
pub fn round_batch(state: &RunState, round: u8) -> RegisterBatch {
    let items = collect_items(state, round);
    let summary = round_summary(state, round, items.omitted_count());
    items.build(round_title(state, round), summary)
}

/// The verdict that the rounds end with; none if the report has no valid name for it.
pub fn report_verdict(state: &RunState, report: &CouncilFinalReport) -> Option<VerdictRequest> {
    // Those of the record, which an earlier version may have registered by other rules.
    let tensions = state.entities.keys().filter(|id| id.kind == EntityKind::Tension);
    let tensions = tensions.map(|id| EntityTarget::Global(*id)).collect();
    let conclusion = &report.report.conclusion;
    let description = [report.disclaimer.as_deref(), Some(&report.report.rationale.summary)];
    let description: Vec<&str> = description.into_iter().flatten().collect();
    let description = match description.join("\n\n") {
        text if text.trim().is_empty() => conclusion.statement.clone(),
        text => text,
    };
    // A participant's opinion in place of a failed chair's report settles nothing.
    let (verdict_id, verdict_type) = match report.fallback {
        true => ("fallback", VerdictType::Interim),
        false => ("report", VerdictType::Final),
    };
    let verdict_id: VerdictId = verdict_id.parse().ok()?;
    let description = format!("{}\n\n{description}", conclusion.statement);
    let request = VerdictRequest::new(
        state.opening.dialogue_id.clone(),
        verdict_id,
        verdict_type,
        trim_and_truncate(&conclusion.statement, LABEL_CHARS_MAX),
        trim_and_truncate(&description, TEXT_CHARS_MAX),
    );
    Some(
        request
            .with_round(3)
            .with_author(report.chair_provider.as_ref())
            .accept_tensions(tensions)
            .supported_by(&supporting_seats(state, report)),
    )
}

/// The seats that the report names as its support.
fn supporting_seats(state: &RunState, report: &CouncilFinalReport) -> Vec<ExpertSlug> {
    let named = |name: &str| {
        let name: Option<ExpertSlug> = name.parse().ok();
        name.filter(|name| state.plan.find_seat(name).is_some())
    };
    let mut names: Vec<ExpertSlug> = Vec::new();
    for point in &report.report.rationale.supporting_opinions {
        names.extend(named(&point.provider).filter(|name| !names.contains(name)));
    }
    names
}

fn round_title(state: &RunState, round: u8) -> String {
    let skipped = state.skips_round(round);
    let name = match round {
        1 => "Independent opinions",
        2 => "Cross review",
        _ => "Chair's report",
    };
    if skipped { format!("{name} (skipped)") } else { name.to_owned() }
}

fn round_summary(state: &RunState, round: u8, left_out: usize) -> Option<String> {
    let heard = state.seats_answered_in(round).len();
    let mut text = match round {
        1 => format!("{heard} of {} seats answered.", state.plan.participant_seats().count()),
        2 => format!("{heard} reviews."),
        _ => return None,
    };
    let cut = state.asks_in_round(round).filter(|asked| !asked.retired && asked.is_truncated());
    for asked in cut {
        text.push_str(&format!(" The {} of {} was cut off.", asked.ask.purpose, asked.ask.seat));
    }
    if left_out > 0 {
        text.push_str(&format!(" {left_out} more points are in the replies only."));
    }
    Some(text)
}

fn collect_items(state: &RunState, round: u8) -> BatchBuilder {
    let mut items = BatchBuilder::new(&state.opening.dialogue_id, round);
    match round {
        1 => add_opinions(&mut items, state),
        2 => add_reviews(&mut items, state),
        _ => {}
    }
    items
}

fn add_opinions(items: &mut BatchBuilder, state: &RunState) {
    let heard = list_opinions(state);
    heard.iter().for_each(|voice| add_opinion(items, voice));
    let tensions = risk_topics(&heard);
    tensions.add_to(items, ReferenceType::Depend, &EarlierTopics::default());
    for severity in [RatingLevel::Medium, RatingLevel::Low] {
        for voice in &heard {
            let risks = voice.content.risks.iter().filter(|risk| risk.severity == severity);
            for risk in risks {
                let label = format!("{severity} risk: {}", short_phrase(&risk.description));
                let text = risk_text(risk);
                add_claim(items, voice.seat, &label, &text, ReferenceType::Depend, voice.seat);
            }
        }
    }
    for voice in &heard {
        for question in &voice.content.questions {
            let label = format!("open question: {}", short_phrase(question));
            add_claim(items, voice.seat, &label, question, ReferenceType::Question, voice.seat);
        }
    }
}

/// The high risks of the opinions, by topic.
fn risk_topics(heard: &[SeatAnswer<'_, OpinionReply>]) -> TopicList {
    let mut topics = TopicList::default();
    for voice in heard {
        for risk in voice.content.risks.iter().filter(|risk| risk.severity == RatingLevel::High) {
            topics.add_point(voice.seat, voice.seat, &risk.description, vec![risk_text(risk)]);
        }
    }
    topics
}

/// The topics of the first round, which a review may take up.
fn first_topics(state: &RunState) -> EarlierTopics {
    let is_first = |id: &&EntityId| id.kind == EntityKind::Tension && id.round == 1;
    let tensions: Vec<EntityId> = state.entities.keys().filter(is_first).copied().collect();
    EarlierTopics::new(risk_topics(&list_opinions(state)), &tensions)
}

fn risk_text(risk: &OpinionRisk) -> String {
    let mitigation = risk.mitigation.as_deref().map(|text| format!("Mitigation: {text}"));
    join_lines(&[risk.description.clone(), mitigation.unwrap_or_default()])
}

fn add_opinion(items: &mut BatchBuilder, voice: &SeatAnswer<'_, OpinionReply>) {
    let (seat, content) = (voice.seat, voice.content);
    let details = &content.details;
    let is_cut = voice.asked.is_truncated();
    let mut text = vec![content.summary.clone(), details.understanding.clone()];
    text.extend(is_cut.then(|| CUT.to_owned()));
    text.extend(details.key_considerations.iter().map(|point| format!("- {point}")));
    text.extend(details.alternatives_considered.iter().map(|point| format!("Considered: {point}")));
    text.extend(details.evidence.iter().map(|point| format!("Evidence: {point}")));
    text.extend(content.assumptions.iter().map(|point| format!("Assumes: {point}")));
    let label = short_phrase(&content.summary);
    items.add_item(seat, EntityKind::Perspective, &label, &join_lines(&text), |item| item);
    let parameters = match is_cut {
        true => {
            json!({ "stance": content.stance, "confidence": content.confidence, "truncated": true })
        }
        false => json!({ "stance": content.stance, "confidence": content.confidence }),
    };
    let cut = if is_cut { CUT } else { "" };
    let text =
        join_lines(&[details.recommendation.clone(), details.rationale.clone(), cut.to_owned()]);
    let label = short_phrase(&details.recommendation);
    items.add_item(seat, EntityKind::Recommendation, &label, &text, |item| {
        refer_to_perspective(item, ReferenceType::Depend, seat).parameters(parameters)
    });
    for finding in &content.findings {
        let label = format!("{}: {}", finding.id, short_phrase(&finding.title));
        let category = match finding.category.trim() {
            "" => String::new(),
            category => format!(" ({category})"),
        };
        let severity = format!("Severity: {}{category}", finding.severity);
        let fix = format!("Fix: {}", finding.fix_approach);
        let parts = [finding.location.clone(), finding.description.clone(), severity, fix];
        let text = join_lines(&parts);
        add_claim(items, seat, &label, &text, ReferenceType::Support, seat);
    }
}

/// The gravest critiques come first, because a round accepts at most ninety-nine claims.
fn add_reviews(items: &mut BatchBuilder, state: &RunState) {
    let letters = SeatLetters::from_plan(&state.plan);
    let heard = list_peer_reviews(state);
    let spoke: Vec<&ExpertSlug> = list_opinions(state).iter().map(|voice| voice.seat).collect();
    let targets: Vec<(&SeatAnswer<'_, PeerReview>, &OpinionAssessment, &ExpertSlug)> = heard
        .iter()
        .flat_map(|voice| voice.content.targets.iter().map(move |target| (voice, target)))
        .filter_map(|(voice, target)| Some((voice, target, letters.seat_of(&target.letter)?)))
        .filter(|(_, _, about)| spoke.contains(about))
        .collect();
    for severity in [RatingLevel::High, RatingLevel::Medium, RatingLevel::Low] {
        for (voice, target, about) in &targets {
            let critiques = target.critiques.iter();
            for critique in critiques.filter(|critique| critique.severity == severity) {
                add_critique(items, voice.seat, critique, about);
            }
        }
    }
    let mut tensions = TopicList::default();
    for (voice, target, about) in &targets {
        for point in &target.agreement_points {
            let label = short_phrase(point);
            add_claim(items, voice.seat, &label, point, ReferenceType::Support, about);
        }
        for point in &target.disagreement_points {
            let by = voice.seat;
            // The position of the other agent is in the words of the reviewer.
            let sides = join_lines(&[
                format!("{by}: {}", point.reviewer_position),
                format!("{about}, as {by} reads it: {}", point.target_position),
                format!("reason of {by}: {}", point.rationale),
            ]);
            tensions.add_point(by, about, &point.topic, vec![sides]);
        }
    }
    tensions.add_to(items, ReferenceType::Question, &first_topics(state));
}

fn add_critique(
    items: &mut BatchBuilder,
    by: &ExpertSlug,
    critique: &PeerCritique,
    about: &ExpertSlug,
) {
    let label = format!("{}: {}", critique.critique_type, short_phrase(&critique.message));
    let correction =
        critique.suggested_correction.as_deref().map(|text| format!("Correction: {text}"));
    let severity = format!("Severity: {}", critique.severity);
    let place = critique.location.as_deref().map(str::trim).filter(|place| !place.is_empty());
    let place = place.map(|place| format!("At: {place}")).unwrap_or_default();
    let parts = [critique.message.clone(), place, severity, correction.unwrap_or_default()];
    let text = join_lines(&parts);
    add_claim(items, by, &label, &text, ReferenceType::Oppose, about);
}

fn add_claim(
    items: &mut BatchBuilder,
    by: &ExpertSlug,
    label: &str,
    text: &str,
    ref_type: ReferenceType,
    about: &ExpertSlug,
) {
    items.add_item(by, EntityKind::Claim, label, text, |item| {
        refer_to_perspective(item, ref_type, about)
    });
}

/// Every seat has exactly one perspective in the first round.
pub(crate) fn refer_to_perspective(
    item: RegisterItem,
    ref_type: ReferenceType,
    seat: &ExpertSlug,
) -> RegisterItem {
    match local_id(seat, EntityKind::Perspective, 1, 1) {
        Some(target) => item.refer(ref_type, target),
        None => item,
    }
}
