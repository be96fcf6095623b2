//! What a review found, as entities, references and a verdict.
//!
//! A reply is a perspective of its deliberator, a concern a claim with its locus that
//! supports it, a block a tension, the outcome a verdict. A block that is lifted in the
//! second round is a tension that its own author resolves.

use serde_json::{Map, Value, json};

use super::positions::{FIRST, Part, Position, SECOND, positions};
use crate::domain::gate::{Concern, Decision, Judgement, Ruling};
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::shortened::trimmed_head;
use crate::domain::transcript::Transcript;
use crate::protocols::items::{Items, LABEL_CHARS_MAX, TEXT_CHARS_MAX, lines, local_id, object};

/// The batch that registers one of the two rounds.
pub fn round_batch(transcript: &Transcript, round: u8) -> Value {
    let positions = positions(transcript);
    let mut items = Items::of(round);
    let mut settled = Vec::new();
    for position in &positions {
        if round == FIRST {
            enter(&mut items, position.seat, round, &position.first, None);
        } else {
            let before = position.first.held();
            enter(&mut items, position.seat, round, &position.second, before);
            settled.extend(settled_block(position));
        }
    }
    let heard = transcript.heard_in(round).len();
    let mut summary = format!("{heard} of {} were heard.", positions.len());
    if items.left_out > 0 {
        summary.push_str(&format!(" {} more points stand in the replies alone.", items.left_out));
    }
    let mut batch = object(json!({
        "dialogue_id": transcript.opening.dialogue_id,
        "round": round,
        "score": 0,
        "title": if round == FIRST { "Independent judgements" } else { "Cross-reading" },
        "summary": summary,
    }));
    batch.extend(items.sections());
    if !settled.is_empty() {
        batch.insert("tension_updates".to_owned(), settled.into());
    }
    batch.into()
}

fn enter(
    items: &mut Items,
    seat: &ExpertSlug,
    round: u8,
    part: &Part<'_>,
    before: Option<&Judgement>,
) {
    let Some(judgement) = part.held() else { return };
    let own = local_id(seat, EntityKind::Perspective, round, 1);
    let refines = before.and_then(|_| local_id(seat, EntityKind::Perspective, FIRST, 1));
    let more = refines.map_or_else(Map::new, |target| refers("refine", Some(&target)));
    let (label, text) = (headline(judgement), content(judgement));
    items.add(seat, EntityKind::Perspective, &label, &text, more);
    if judgement.would_block && !is_same_block(before, judgement) {
        let label = format!("{seat} blocks: {}", gist(judgement));
        let earlier = before.filter(|before| before.would_block);
        let earlier = earlier.and_then(|_| local_id(seat, EntityKind::Tension, FIRST, 1));
        let more = match &earlier {
            Some(earlier) => refers("refine", Some(earlier)),
            None => refers("question", own.as_ref()),
        };
        items.add(seat, EntityKind::Tension, &label, &block(judgement), more);
    }
    for concern in &judgement.concerns {
        let more = refers("support", own.as_ref());
        items.add(seat, EntityKind::Claim, &concern.issue, &claim(concern), more);
    }
}

/// What stood in the way before and still does is the same tension, unless it can be lifted now,
/// or no longer.
fn is_same_block(before: Option<&Judgement>, after: &Judgement) -> bool {
    before.is_some_and(|before| before.block() == after.block())
}

/// A block of the first round that its deliberator gave up in the second, or put another in the
/// place of.
fn settled_block(position: &Position<'_>) -> Option<Value> {
    let (before, after) = (position.first.held()?, position.second.held()?);
    if !before.would_block || is_same_block(Some(before), after) {
        return None;
    }
    let tension = |round| local_id(position.seat, EntityKind::Tension, round, 1);
    let mut update =
        object(json!({ "id": tension(FIRST)?, "status": "resolved", "by": [position.seat] }));
    if after.would_block {
        update.insert("via".to_owned(), tension(SECOND)?.into());
    }
    let reason = lines(&[after.delta_from_r1.clone(), after.concessions.join("\n")]);
    if !reason.is_empty() {
        update.insert("reason".to_owned(), trimmed_head(&reason, TEXT_CHARS_MAX).into());
    }
    Some(update.into())
}

/// The arguments of the verdict that ends a review.
pub fn verdict_arguments(transcript: &Transcript, ruling: &Ruling) -> Value {
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
    let supporting: Vec<&ExpertSlug> = agreeing.map(|one| one.seat).collect();
    json!({
        "dialogue_id": transcript.opening.dialogue_id,
        "verdict_id": "gate",
        "verdict_type": "final",
        "round": 2,
        "recommendation": trimmed_head(&recommendation(ruling), LABEL_CHARS_MAX),
        "description": trimmed_head(&description, TEXT_CHARS_MAX),
        "author_expert": transcript.gate().map(|gate| &gate.adjudicator),
        // What goes out goes out with the blocks that were raised against it.
        "tensions_accepted": if ruling.verdict == Decision::Ship { standing(&positions) } else { Vec::new() },
        "supporting_experts": supporting,
    })
}

fn recommendation(ruling: &Ruling) -> String {
    let brief = ruling.adjudication.revision_brief.trim();
    match brief.lines().next() {
        Some(line) if !line.is_empty() => format!("{}: {line}", ruling.verdict),
        Some(_) | None => ruling.verdict.to_string(),
    }
}

/// The tensions of blocks that nobody lifted.
fn standing(positions: &[Position<'_>]) -> Vec<String> {
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

fn refers(how: &str, target: Option<&String>) -> Map<String, Value> {
    object(json!({ "references": [{ "type": how, "target": target }] }))
}
