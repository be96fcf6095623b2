//! Converts the rounds of a review into entities, references and a verdict.
//!
//! A reply becomes a perspective of its deliberator, a concern a claim that supports it, a block a
//! tension, the outcome a verdict. When a deliberator lifts its block in the second round, it
//! resolves its own tension.

use crate::dialogue::register::batch::{RegisterBatch, RegisterItem, RegisterUpdate};
use crate::dialogue::verdict::parse::VerdictRequest;
use crate::model::entity::ReferenceType;
use crate::model::ids::{EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::run_state::RunState;
use crate::model::text::trim_and_truncate;
use crate::model::verdict::VerdictType;
use crate::protocols::batch_builder::{
    BatchBuilder, LABEL_CHARS_MAX, TEXT_CHARS_MAX, join_lines, local_id, short_phrase,
};
use crate::protocols::review::policy::{ReviewDecision, ReviewOutcome};
use crate::protocols::review::seat_results::{
    FIRST, RoundResult, SECOND, SeatResult, list_seat_results,
};
use crate::protocols::review::types::{DeliberatorJudgement, ReviewConcern};

/// The batch that registers one of the two rounds.
pub fn round_batch(state: &RunState, round: u8) -> RegisterBatch {
    let positions = list_seat_results(state);
    let mut items = BatchBuilder::new(&state.opening.dialogue_id, round);
    for position in &positions {
        if round == FIRST {
            add_judgement(&mut items, position.seat, round, &position.first, None);
        } else {
            let before = position.first.judgement();
            add_judgement(&mut items, position.seat, round, &position.second, before);
            settled_block(position).into_iter().for_each(|update| items.add_update(update));
        }
    }
    let heard = state.seats_answered_in(round).len();
    let mut summary = format!("{heard} of {} seats answered.", positions.len());
    if items.omitted_count() > 0 {
        summary
            .push_str(&format!(" {} more points are in the replies only.", items.omitted_count()));
    }
    let title = if round == FIRST { "Independent judgements" } else { "Cross-reading" };
    items.build(title.to_owned(), Some(summary))
}

fn add_judgement(
    items: &mut BatchBuilder,
    seat: &ExpertSlug,
    round: u8,
    part: &RoundResult<'_>,
    before: Option<&DeliberatorJudgement>,
) {
    let Some(judgement) = part.judgement() else { return };
    let own = local_id(seat, EntityKind::Perspective, round, 1);
    let refines = before.and_then(|_| local_id(seat, EntityKind::Perspective, FIRST, 1));
    let (label, text) = (judgement_headline(judgement), judgement_text(judgement));
    items.add_item(seat, EntityKind::Perspective, &label, &text, |item| {
        refer_if_any(item, ReferenceType::Refine, refines)
    });
    if judgement.would_block && !is_same_block(before, judgement) {
        let label = format!("{seat} blocks: {}", judgement_gist(judgement));
        let earlier = before.filter(|before| before.would_block);
        let earlier = earlier.and_then(|_| local_id(seat, EntityKind::Tension, FIRST, 1));
        let (ref_type, target) = match earlier {
            Some(earlier) => (ReferenceType::Refine, Some(earlier)),
            None => (ReferenceType::Question, own.clone()),
        };
        items.add_item(seat, EntityKind::Tension, &label, &block_text(judgement), |item| {
            refer_if_any(item, ref_type, target)
        });
    }
    for concern in &judgement.concerns {
        let label = short_phrase(&concern.issue);
        items.add_item(seat, EntityKind::Claim, &label, &claim_text(concern), |item| {
            refer_if_any(item, ReferenceType::Support, own.clone())
        });
    }
}

/// A block that the deliberator repeats unchanged is the same tension. If it became reducible, or
/// irreducible, it is another one.
fn is_same_block(before: Option<&DeliberatorJudgement>, after: &DeliberatorJudgement) -> bool {
    before.is_some_and(|before| before.block_level() == after.block_level())
}

/// A block of the first round that its deliberator lifted or replaced in the second.
fn settled_block(position: &SeatResult<'_>) -> Option<RegisterUpdate> {
    let (before, after) = (position.first.judgement()?, position.second.judgement()?);
    if !before.would_block || is_same_block(Some(before), after) {
        return None;
    }
    let tension = |round| local_id(position.seat, EntityKind::Tension, round, 1);
    let via = if after.would_block { Some(tension(SECOND)?) } else { None };
    let reason = join_lines(&[after.delta_from_r1.clone(), after.concessions.join("\n")]);
    let reason = (!reason.is_empty()).then(|| trim_and_truncate(&reason, TEXT_CHARS_MAX));
    Some(RegisterUpdate::resolve(tension(FIRST)?, via, reason))
}

/// The verdict that a review ends with; none if its name is not valid.
pub fn ruling_verdict(state: &RunState, ruling: &ReviewOutcome) -> Option<VerdictRequest> {
    let positions = list_seat_results(state);
    let word = &ruling.adjudication;
    let counted = &ruling.tally;
    let computed = counted.computed.map_or("nothing", ReviewDecision::name);
    let arithmetic = format!(
        "Policy {}: {} present, {} blocks, {} irreducible: {computed}. The adjudicator says {}.",
        counted.name,
        counted.present,
        counted.blocks,
        counted.irreducible_blocks,
        word.final_verdict,
    );
    let downgrade = word.downgrade_reason.as_ref().map(|why| format!("Downgrade: {why}"));
    let description = join_lines(&[
        word.reasoning.clone(),
        arithmetic,
        downgrade.unwrap_or_default(),
        word.revision_brief.clone(),
    ]);
    let agreeing = positions.iter().filter(|one| agrees_with(one, ruling.verdict));
    // A document that ships is published with the blocks that were raised against it.
    let accepted = if ruling.verdict == ReviewDecision::Ship {
        open_block_tensions(&positions)
    } else {
        Vec::new()
    };
    let request = VerdictRequest::new(
        state.opening.dialogue_id.clone(),
        "gate".parse().ok()?,
        VerdictType::Final,
        trim_and_truncate(&verdict_recommendation(ruling), LABEL_CHARS_MAX),
        trim_and_truncate(&description, TEXT_CHARS_MAX),
    );
    Some(
        request
            .with_round(2)
            .with_author(state.review_plan().map(|gate| &gate.adjudicator))
            .accept_tensions(accepted)
            .supported_by(agreeing.map(|one| one.seat)),
    )
}

fn verdict_recommendation(ruling: &ReviewOutcome) -> String {
    let brief = ruling.adjudication.revision_brief.trim();
    match brief.lines().next() {
        Some(line) if !line.is_empty() => format!("{}: {line}", ruling.verdict),
        Some(_) | None => ruling.verdict.to_string(),
    }
}

/// The tensions of blocks that were not lifted.
fn open_block_tensions(positions: &[SeatResult<'_>]) -> Vec<EntityTarget> {
    let mut tensions = Vec::new();
    for one in
        positions.iter().filter(|one| one.final_judgement().is_some_and(|held| held.would_block))
    {
        let (first, second) = (one.first.judgement(), one.second.judgement());
        let is_new = second.is_some_and(|second| !is_same_block(first, second));
        let round = if is_new { SECOND } else { FIRST };
        let id = local_id(one.seat, EntityKind::Tension, round, 1);
        tensions.extend(id.map(EntityTarget::Local));
    }
    tensions
}

fn agrees_with(position: &SeatResult<'_>, verdict: ReviewDecision) -> bool {
    position.final_judgement().is_some_and(|held| ReviewDecision::from(held.verdict) == verdict)
}

fn judgement_headline(judgement: &DeliberatorJudgement) -> String {
    format!("{}: {}", judgement.verdict, judgement_gist(judgement))
}

/// What it is about, in a line: the brief, else the first concern.
fn judgement_gist(judgement: &DeliberatorJudgement) -> String {
    let brief = judgement.revision_brief.lines().map(str::trim).find(|line| !line.is_empty());
    let concern = || judgement.concerns.first().map(|concern| concern.issue.as_str());
    short_phrase(brief.or_else(concern).unwrap_or("nothing to add"))
}

fn judgement_text(judgement: &DeliberatorJudgement) -> String {
    let scores: Vec<String> =
        judgement.scores.iter().map(|(name, score)| format!("{name} {score}/5")).collect();
    join_lines(&[
        format!("Verdict: {}", judgement.verdict),
        scores.join(", "),
        judgement.revision_brief.clone(),
        judgement.delta_from_r1.clone(),
        prefix_points("Concedes: ", &judgement.concessions),
        prefix_points("Presses: ", &judgement.escalations),
    ])
}

fn block_text(judgement: &DeliberatorJudgement) -> String {
    let lasting = match judgement.irreducible {
        true => "Irreducible: no revision can lift it.",
        false => "Reducible: a revision can lift it.",
    };
    let concerns =
        judgement.concerns.iter().map(|concern| concern.issue.clone()).collect::<Vec<_>>();
    join_lines(&[
        lasting.to_owned(),
        judgement.revision_brief.clone(),
        prefix_points("- ", &concerns),
    ])
}

fn claim_text(concern: &ReviewConcern) -> String {
    let mark = |word: &str, text: &str| match text.trim() {
        "" => String::new(),
        text => format!("{word}: {text}"),
    };
    join_lines(&[concern.issue.clone(), mark("At", &concern.locus), mark("Fix", &concern.fix)])
}

fn prefix_points(mark: &str, points: &[String]) -> String {
    points.iter().map(|point| format!("{mark}{point}")).collect::<Vec<_>>().join("\n")
}

fn refer_if_any(
    item: RegisterItem,
    ref_type: ReferenceType,
    target: Option<LocalId>,
) -> RegisterItem {
    match target {
        Some(target) => item.refer(ref_type, target),
        None => item,
    }
}
