//! Converts the rounds of a review into entities, references and a verdict.
//!
//! A reply becomes a perspective of its deliberator, a concern a claim that supports it, a block a
//! tension, the outcome a verdict. When a deliberator lifts its block in the second round, it
//! resolves its own tension.

use super::positions::{FIRST, Part, Position, SECOND, positions};
use crate::domain::gate::{Concern, Decision, Judgement, Ruling};
use crate::domain::ids::{EntityKind, ExpertSlug, LocalId};
use crate::domain::reference::RefType;
use crate::domain::shortened::trimmed_head;
use crate::domain::transcript::Transcript;
use crate::domain::verdict::VerdictType;
use crate::protocols::items::{BatchBuilder, LABEL_CHARS_MAX, TEXT_CHARS_MAX, lines, local_id};
use crate::record::register::{Batch, NewItem, Update};
use crate::record::verdict::VerdictRequest;

/// The batch that registers one of the two rounds.
pub fn round_batch(transcript: &Transcript, round: u8) -> Batch {
    let positions = positions(transcript);
    let mut items = BatchBuilder::new(&transcript.opening.dialogue_id, round);
    for position in &positions {
        if round == FIRST {
            add_judgement(&mut items, position.seat, round, &position.first, None);
        } else {
            let before = position.first.held();
            add_judgement(&mut items, position.seat, round, &position.second, before);
            settled_block(position).into_iter().for_each(|update| items.update(update));
        }
    }
    let heard = transcript.heard_in(round).len();
    let mut summary = format!("{heard} of {} were heard.", positions.len());
    if items.left_out() > 0 {
        summary.push_str(&format!(" {} more points stand in the replies alone.", items.left_out()));
    }
    let title = if round == FIRST { "Independent judgements" } else { "Cross-reading" };
    items.build(title.to_owned(), Some(summary))
}

fn add_judgement(
    items: &mut BatchBuilder,
    seat: &ExpertSlug,
    round: u8,
    part: &Part<'_>,
    before: Option<&Judgement>,
) {
    let Some(judgement) = part.held() else { return };
    let own = local_id(seat, EntityKind::Perspective, round, 1);
    let refines = before.and_then(|_| local_id(seat, EntityKind::Perspective, FIRST, 1));
    let (label, text) = (headline(judgement), content(judgement));
    items.add(seat, EntityKind::Perspective, &label, &text, |item| {
        refer_if_any(item, RefType::Refine, refines)
    });
    if judgement.would_block && !is_same_block(before, judgement) {
        let label = format!("{seat} blocks: {}", gist(judgement));
        let earlier = before.filter(|before| before.would_block);
        let earlier = earlier.and_then(|_| local_id(seat, EntityKind::Tension, FIRST, 1));
        let (ref_type, target) = match earlier {
            Some(earlier) => (RefType::Refine, Some(earlier)),
            None => (RefType::Question, own.clone()),
        };
        items.add(seat, EntityKind::Tension, &label, &block(judgement), |item| {
            refer_if_any(item, ref_type, target)
        });
    }
    for concern in &judgement.concerns {
        items.add(seat, EntityKind::Claim, &concern.issue, &claim(concern), |item| {
            refer_if_any(item, RefType::Support, own.clone())
        });
    }
}

/// A block that the deliberator repeats unchanged is the same tension. If it became reducible, or
/// irreducible, it is another one.
fn is_same_block(before: Option<&Judgement>, after: &Judgement) -> bool {
    before.is_some_and(|before| before.block() == after.block())
}

/// A block of the first round that its deliberator lifted or replaced in the second.
fn settled_block(position: &Position<'_>) -> Option<Update> {
    let (before, after) = (position.first.held()?, position.second.held()?);
    if !before.would_block || is_same_block(Some(before), after) {
        return None;
    }
    let tension = |round| local_id(position.seat, EntityKind::Tension, round, 1);
    let via = if after.would_block { Some(tension(SECOND)?) } else { None };
    let reason = lines(&[after.delta_from_r1.clone(), after.concessions.join("\n")]);
    let reason = (!reason.is_empty()).then(|| trimmed_head(&reason, TEXT_CHARS_MAX));
    Some(Update::resolve(tension(FIRST)?, via, reason))
}

/// The verdict that a review ends with; none if its name is not valid.
pub fn ruling_verdict(transcript: &Transcript, ruling: &Ruling) -> Option<VerdictRequest> {
    let positions = positions(transcript);
    let word = &ruling.adjudication;
    let counted = &ruling.arithmetic;
    let computed = counted.computed.map_or("nothing", Decision::name);
    let arithmetic = format!(
        "Policy {}: {} present, {} blocks, {} irreducible: {computed}. The adjudicator says {}.",
        counted.name,
        counted.present,
        counted.blocks,
        counted.irreducible_blocks,
        word.final_verdict,
    );
    let downgrade = word.downgrade_reason.as_ref().map(|why| format!("Downgrade: {why}"));
    let description = lines(&[
        word.reasoning.clone(),
        arithmetic,
        downgrade.unwrap_or_default(),
        word.revision_brief.clone(),
    ]);
    let agreeing = positions.iter().filter(|one| agrees(one, ruling.verdict));
    // A document that ships is published with the blocks that were raised against it.
    let accepted = if ruling.verdict == Decision::Ship { standing(&positions) } else { Vec::new() };
    let request = VerdictRequest::new(
        transcript.opening.dialogue_id.clone(),
        "gate".parse().ok()?,
        VerdictType::Final,
        trimmed_head(&recommendation(ruling), LABEL_CHARS_MAX),
        trimmed_head(&description, TEXT_CHARS_MAX),
    );
    Some(
        request
            .with_round(2)
            .with_author(transcript.gate().map(|gate| &gate.adjudicator))
            .accept_tensions(accepted)
            .supported_by(agreeing.map(|one| one.seat)),
    )
}

fn recommendation(ruling: &Ruling) -> String {
    let brief = ruling.adjudication.revision_brief.trim();
    match brief.lines().next() {
        Some(line) if !line.is_empty() => format!("{}: {line}", ruling.verdict),
        Some(_) | None => ruling.verdict.to_string(),
    }
}

/// The tensions of blocks that were not lifted.
fn standing(positions: &[Position<'_>]) -> Vec<LocalId> {
    let mut tensions = Vec::new();
    for one in positions.iter().filter(|one| one.held().is_some_and(|held| held.would_block)) {
        let (first, second) = (one.first.held(), one.second.held());
        let is_new = second.is_some_and(|second| !is_same_block(first, second));
        let round = if is_new { SECOND } else { FIRST };
        tensions.extend(local_id(one.seat, EntityKind::Tension, round, 1));
    }
    tensions
}

fn agrees(position: &Position<'_>, verdict: Decision) -> bool {
    position.held().is_some_and(|held| Decision::from(held.verdict) == verdict)
}

fn headline(judgement: &Judgement) -> String {
    format!("{}: {}", judgement.verdict, gist(judgement))
}

/// What it is about, in a line: the brief, else the first concern.
fn gist(judgement: &Judgement) -> String {
    let brief = judgement.revision_brief.lines().map(str::trim).find(|line| !line.is_empty());
    let concern = || judgement.concerns.first().map(|concern| concern.issue.as_str());
    brief.or_else(concern).unwrap_or("nothing to add").to_owned()
}

fn content(judgement: &Judgement) -> String {
    let scores: Vec<String> =
        judgement.scores.iter().map(|(name, score)| format!("{name} {score}/5")).collect();
    lines(&[
        format!("Verdict: {}", judgement.verdict),
        scores.join(", "),
        judgement.revision_brief.clone(),
        judgement.delta_from_r1.clone(),
        marked("Concedes: ", &judgement.concessions),
        marked("Presses: ", &judgement.escalations),
    ])
}

fn block(judgement: &Judgement) -> String {
    let lasting = match judgement.irreducible {
        true => "Irreducible: no revision can lift it.",
        false => "Reducible: a revision can lift it.",
    };
    let concerns =
        judgement.concerns.iter().map(|concern| concern.issue.clone()).collect::<Vec<_>>();
    lines(&[lasting.to_owned(), judgement.revision_brief.clone(), marked("- ", &concerns)])
}

fn claim(concern: &Concern) -> String {
    let mark = |word: &str, text: &str| match text.trim() {
        "" => String::new(),
        text => format!("{word}: {text}"),
    };
    lines(&[concern.issue.clone(), mark("At", &concern.locus), mark("Fix", &concern.fix)])
}

fn marked(mark: &str, points: &[String]) -> String {
    points.iter().map(|point| format!("{mark}{point}")).collect::<Vec<_>>().join("\n")
}

fn refer_if_any(item: NewItem, ref_type: RefType, target: Option<LocalId>) -> NewItem {
    match target {
        Some(target) => item.refer(ref_type, target),
        None => item,
    }
}
