//! Rehearsed judgements: the first round turns faults into a judgement, the second reacts to peers,
//! and the adjudicator counts verdicts by the policy.

use std::collections::BTreeMap;

use plenary_core::model::ask::AskMessages;
use plenary_core::protocols::review::policy::{
    AdjudicatorReply, BlockTally, ReviewDecision, ReviewPolicy, ReviewVerdict,
};
use plenary_core::protocols::review::types::{
    BlockLevel, BuiltInDeliberator, DeliberatorJudgement, DeliberatorVerdict, ReviewConcern,
    score_names,
};

use crate::providers::rehearsal::prompt::find_part;
use crate::providers::rehearsal::review::artifact_page::{
    ArtifactPage, CitedConcern, FaultWeight, PageFault, PeerJudgement, PriorReviewLine,
    read_own_judgement, read_peer_judgements, read_policy, read_prior_verdicts,
};
use crate::providers::rehearsal::review::checks::CheckSet;

/// This many remarks together block.
const REMARKS_TO_BLOCK: usize = 3;

/// This many remarks ask for a revision that does not block.
const REMARKS_TO_REVISE: usize = 2;

/// Maximum concerns of a judgement.
const CONCERNS_MAX: usize = 6;

/// Score without faults.
const SCORE_MAX: usize = 5;
/// Remarks alone lower a score no further.
const REMARKED_SCORE_MIN: usize = 3;

/// Scores of a custom deliberator.
const OTHER_SCORES: [&str; 1] = ["readiness"];

/// Builds the judgement of the first round.
pub(crate) fn judge_artifact(seat: &str, messages: &AskMessages) -> DeliberatorJudgement {
    match find_part(&messages.user, "ARTIFACT").filter(|text| !text.trim().is_empty()) {
        Some(text) => weigh_faults(
            seat,
            &CheckSet::for_seat(seat).find_faults(&ArtifactPage::from_text(text)),
        ),
        None => weigh_faults(seat, &[nothing_to_judge()]),
    }
}

/// An empty artifact must not pass as a clean text.
fn nothing_to_judge() -> PageFault {
    let said = ["", "There is nothing to judge.", "Write it, and come back."].map(str::to_owned);
    PageFault::new(FaultWeight::Grave, 0, said)
}

fn weigh_faults(seat: &str, faults: &[PageFault]) -> DeliberatorJudgement {
    let worst = faults.iter().map(|fault| fault.weight).max();
    let is_blocking = worst >= Some(FaultWeight::Grave) || faults.len() >= REMARKS_TO_BLOCK;
    let is_lasting = worst == Some(FaultWeight::Lasting);
    DeliberatorJudgement {
        verdict: match faults.len() {
            _ if is_lasting => DeliberatorVerdict::Hold,
            _ if is_blocking => DeliberatorVerdict::Revise,
            REMARKS_TO_REVISE.. => DeliberatorVerdict::Revise,
            _ => DeliberatorVerdict::Ship,
        },
        scores: score_faults(seat, faults),
        would_block: is_blocking,
        irreducible: is_lasting,
        concerns: faults.iter().take(CONCERNS_MAX).map(|fault| fault.concern.clone()).collect(),
        revision_brief: list_fixes(faults.iter().map(|fault| &fault.concern)),
        concessions: Vec::new(),
        escalations: Vec::new(),
        delta_from_r1: String::new(),
    }
}

/// Lists what to do, without duplicates.
pub(crate) fn list_fixes<'a>(concerns: impl Iterator<Item = &'a ReviewConcern>) -> String {
    let mut fixes: Vec<&str> = Vec::new();
    for concern in concerns {
        if !concern.fix.is_empty() && !fixes.contains(&concern.fix.as_str()) {
            fixes.push(&concern.fix);
        }
    }
    fixes.join(" ")
}

fn score_faults(seat: &str, faults: &[PageFault]) -> BTreeMap<String, u8> {
    let names = score_names(seat);
    let names: &[&str] = names.as_ref().map_or(&OTHER_SCORES, |names| names);
    let scored = names.iter().enumerate().map(|(place, name)| {
        let is_here = |fault: &&PageFault| fault.score.min(names.len() - 1) == place;
        let weights: Vec<FaultWeight> =
            faults.iter().filter(is_here).map(|fault| fault.weight).collect();
        ((*name).to_owned(), score_one(&weights))
    });
    scored.collect()
}

fn score_one(weights: &[FaultWeight]) -> u8 {
    let grave = weights.iter().filter(|weight| **weight >= FaultWeight::Grave).count();
    let score = match grave {
        0 => SCORE_MAX.saturating_sub(weights.len()).max(REMARKED_SCORE_MIN),
        1 if !weights.contains(&FaultWeight::Lasting) => 2,
        _ => 1,
    };
    u8::try_from(score).unwrap_or(1)
}

/// Whether a judgement rests on remarks alone.
pub(crate) fn is_mild(judgement: &DeliberatorJudgement) -> bool {
    let worst = judgement.scores.values().copied().min();
    worst.is_none_or(|score| usize::from(score) >= REMARKED_SCORE_MIN)
}

/// Maximum items of a brief.
const BRIEF_ITEMS_MAX: usize = 8;

/// Consecutive verdicts other than SHIP that count as a pattern.
const PATTERN_MIN: usize = 2;

pub(crate) fn adjudicate_review(messages: &AskMessages) -> AdjudicatorReply {
    let peers = read_peer_judgements(&messages.user);
    // The adjudicator does not check the minimum of deliberators.
    let policy = ReviewPolicy { name: read_policy(messages), min_deliberators: 1 };
    let counted = policy.count_blocks(peers.iter().map(|peer| &peer.judgement));
    let downgrade = counted.may_be_downgraded();
    // Without any judgement the result is HOLD.
    let computed = counted.computed.unwrap_or(ReviewDecision::Hold);
    let final_verdict = if downgrade { ReviewDecision::Revise } else { computed };
    let said = [
        Some(list_verdicts(&peers)),
        list_changes(&peers),
        Some(describe_count(&counted, computed)),
        describe_pattern(&read_prior_verdicts(&messages.user)),
    ];
    AdjudicatorReply {
        final_verdict,
        reasoning: said.into_iter().flatten().collect::<Vec<_>>().join(" "),
        revision_brief: write_brief(&peers),
        downgrade,
        downgrade_reason: downgrade.then(|| explain_downgrade(&peers)),
    }
}

/// Lists each deliberator's verdict.
fn list_verdicts(peers: &[PeerJudgement]) -> String {
    let blocking = join_names(peers, |peer| peer.judgement.would_block);
    let content = join_names(peers, |peer| !peer.judgement.would_block);
    match (blocking, content) {
        (None, None) => "Nobody was heard.".to_owned(),
        (None, Some(content)) => format!("Nobody would block it: {content} let it pass."),
        (Some(blocking), None) => format!("Everybody would block it: {blocking}."),
        (Some(blocking), Some(content)) => {
            format!("It would be blocked by {blocking}, not by {content}.")
        }
    }
}

/// Lists the deliberators that changed their verdict, with their reasons.
fn list_changes(peers: &[PeerJudgement]) -> Option<String> {
    let is_moved = |peer: &&PeerJudgement| {
        let judgement = &peer.judgement;
        !(judgement.concessions.is_empty() && judgement.escalations.is_empty())
    };
    let moved = peers.iter().filter(is_moved);
    let told = moved.map(|peer| format!("{} said: “{}”", peer.name, peer.judgement.delta_from_r1));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("At the cross-reading {}", told.join(" ")))
}

fn describe_count(counted: &BlockTally, computed: ReviewDecision) -> String {
    let BlockTally { name, present, blocks, irreducible_blocks, .. } = counted;
    let lasting = match irreducible_blocks {
        0 => String::new(),
        count => format!(", {count} of them for what no revision can lift"),
    };
    let softer = if counted.may_be_downgraded() { ", which I lower to REVISE" } else { "" };
    format!(
        "That is {blocks} of {present}{lasting}; by the policy `{name}` it is {computed}{softer}."
    )
}

/// Describes what the last verdicts on this type have in common.
fn describe_pattern(priors: &[PriorReviewLine]) -> Option<String> {
    let newest = priors.first()?;
    let verdicts: Vec<&str> = priors.iter().map(|prior| prior.verdict.name()).collect();
    let in_a_row = priors.iter().take_while(|prior| prior.verdict != ReviewVerdict::Ship).count();
    let told = format!(
        "Prior verdicts on this type, newest first: {} (the newest on `{}`).",
        verdicts.join(", "),
        newest.artifact
    );
    Some(if in_a_row >= PATTERN_MIN {
        format!("{told} The last {in_a_row} did not ship: whoever writes these should look at why.")
    } else {
        told
    })
}

fn explain_downgrade(peers: &[PeerJudgement]) -> String {
    let blocking =
        join_names(peers, |peer| peer.judgement.would_block && !peer.judgement.irreducible);
    let blocking = blocking.unwrap_or_else(|| "nobody".to_owned());
    format!("What {blocking} would block for is lifted by the changes in the brief.")
}

/// Lists the changes to make, without duplicates, permanent blocks first.
fn write_brief(peers: &[PeerJudgement]) -> String {
    let mut ordered: Vec<&PeerJudgement> = peers.iter().collect();
    ordered.sort_by_key(|peer| std::cmp::Reverse(peer.judgement.block_level()));
    let mut items: Vec<(&str, String)> = Vec::new();
    for cited in ordered.iter().flat_map(|peer| &peer.concerns) {
        let fix = cited.concern.fix.as_str();
        if fix.is_empty() || items.iter().any(|(known, _)| *known == fix) {
            continue;
        }
        let place = format_location(&cited.concern.locus);
        items.push((fix, format!("{}. {place}{fix} (`{}`)", items.len() + 1, cited.id)));
    }
    let lines = items.into_iter().take(BRIEF_ITEMS_MAX).map(|(_, line)| line);
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats a location: quotes a text, names a line.
fn format_location(locus: &str) -> String {
    match locus {
        "" => String::new(),
        line if line.starts_with('L') && !line.contains(' ') => format!("At {line}: "),
        words => format!("At “{words}”: "),
    }
}

fn join_names(peers: &[PeerJudgement], which: impl Fn(&PeerJudgement) -> bool) -> Option<String> {
    let names: Vec<&str> =
        peers.iter().filter(|peer| which(peer)).map(|peer| peer.name.as_str()).collect();
    let (last, first) = names.split_last()?;
    Some(match first {
        [] => (*last).to_owned(),
        first => format!("{} and {last}", first.join(", ")),
    })
}

/// This many blocking peers raise a deliberator's small concern.
const BLOCKS_TO_PRESS: usize = 2;

/// A possible reaction: the new judgement, if it applies.
type PeerReaction =
    fn(&str, &DeliberatorJudgement, &[PeerJudgement]) -> Option<DeliberatorJudgement>;

/// Tried in order; the first that applies is used.
const PEER_REACTIONS: [PeerReaction; 4] =
    [join_block, raise_concern, withdraw_block, defer_to_evidence];

pub(crate) fn reconsider_judgement(seat: &str, messages: &AskMessages) -> DeliberatorJudgement {
    let user = &messages.user;
    let held = read_own_judgement(user).unwrap_or_else(|| judge_artifact(seat, messages));
    let peers = read_peer_judgements(user);
    let turned = PEER_REACTIONS.iter().find_map(|turn| turn(seat, &held, &peers));
    turned.unwrap_or_else(|| keep_judgement(held, &peers))
}

/// Joins a permanent block, except the voice deliberator.
fn join_block(
    seat: &str,
    held: &DeliberatorJudgement,
    peers: &[PeerJudgement],
) -> Option<DeliberatorJudgement> {
    if held.irreducible || seat == BuiltInDeliberator::VoiceIdentity.name() {
        return None;
    }
    let peer = peers.iter().find(|peer| peer.judgement.block_level() == BlockLevel::Irreducible)?;
    let id = &peer.concerns.first()?.id;
    Some(DeliberatorJudgement {
        verdict: DeliberatorVerdict::Hold,
        would_block: true,
        irreducible: true,
        escalations: vec![format!("{id}: no other wording would make this fit to go out.")],
        delta_from_r1: format!(
            "From {} to {}: I had not looked for what `{id}` reports, and it stands there.",
            held.verdict,
            DeliberatorVerdict::Hold
        ),
        ..held.clone()
    })
}

/// Raises a small concern if others block.
fn raise_concern(
    _: &str,
    held: &DeliberatorJudgement,
    peers: &[PeerJudgement],
) -> Option<DeliberatorJudgement> {
    let blocking: Vec<&PeerJudgement> =
        peers.iter().filter(|peer| peer.judgement.would_block).collect();
    let has_room = !held.would_block && !held.concerns.is_empty();
    let cited = blocking.first().and_then(|peer| peer.concerns.first());
    let id = &cited.filter(|_| has_room && blocking.len() >= BLOCKS_TO_PRESS)?.id;
    let would_block = held.verdict != DeliberatorVerdict::Ship;
    let change = if would_block { "I block now" } else { "From ship to revise" };
    Some(DeliberatorJudgement {
        verdict: held.verdict.max(DeliberatorVerdict::Revise),
        would_block,
        escalations: vec![format!("{id}: with this beside it, my own concern weighs more.")],
        delta_from_r1: format!("{change}: `{id}` shows that mine is no single slip."),
        ..held.clone()
    })
}

/// Lowers a block that rests on remarks alone if no other deliberator blocks.
fn withdraw_block(
    _: &str,
    held: &DeliberatorJudgement,
    peers: &[PeerJudgement],
) -> Option<DeliberatorJudgement> {
    let is_alone = !peers.iter().any(|peer| peer.judgement.would_block);
    let yields = held.would_block && !held.irreducible && is_mild(held) && is_alone;
    let id = &peers.iter().flat_map(|peer| &peer.concerns).next().filter(|_| yields)?.id;
    Some(DeliberatorJudgement {
        would_block: false,
        concessions: vec![format!("{id}: who looked there calls it a matter of wording too.")],
        delta_from_r1: format!("I no longer block: beside `{id}` mine are remarks, not a reason."),
        ..held.clone()
    })
}

/// Leaves a concern to the evidence deliberator if both quote the same text.
fn defer_to_evidence(
    seat: &str,
    held: &DeliberatorJudgement,
    peers: &[PeerJudgement],
) -> Option<DeliberatorJudgement> {
    if seat != BuiltInDeliberator::VoiceIdentity.name() {
        return None;
    }
    let evidence = peers.iter().find(|peer| peer.name == BuiltInDeliberator::Evidence.name())?;
    let shared = |cited: &&CitedConcern| {
        let locus = &cited.concern.locus;
        !locus.is_empty() && held.concerns.iter().any(|concern| concern.locus == *locus)
    };
    let cited = evidence.concerns.iter().find(shared)?;
    let is_other = |concern: &&ReviewConcern| concern.locus != cited.concern.locus;
    let id = &cited.id;
    Some(DeliberatorJudgement {
        concerns: held.concerns.iter().filter(is_other).cloned().collect(),
        concessions: vec![format!("{id}: the words are the same, and its reason is the better.")],
        delta_from_r1: format!("My verdict stays; one concern I leave to `{id}`."),
        ..held.clone()
    })
}

fn keep_judgement(held: DeliberatorJudgement, peers: &[PeerJudgement]) -> DeliberatorJudgement {
    let told = match peers {
        [] => "Nothing changed: there was nobody else to read.",
        [_] => "Nothing changed after reading the other one.",
        [_, _, ..] => "Nothing changed after reading the others.",
    };
    DeliberatorJudgement { delta_from_r1: told.to_owned(), ..held }
}
