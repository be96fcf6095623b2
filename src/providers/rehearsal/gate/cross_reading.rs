//! Second round of the rehearsed review: peers' judgements make a deliberator raise, lower or keep
//! its verdict. A change cites the concern that caused it.

use crate::domain::ask::AskMessages;
use crate::domain::gate::{
    BlockLevel, BuiltInDeliberator, DeliberatorJudgement, DeliberatorVerdict, ReviewConcern,
};

use super::judgement::{is_mild, judge_artifact};
use super::papers::{CitedConcern, PeerJudgement, read_own_judgement, read_peer_judgements};

/// This many blocking peers raise a deliberator's small concern.
const BLOCKS_TO_PRESS: usize = 2;

/// A possible reaction: the new judgement, if it applies.
type PeerReaction =
    fn(&str, &DeliberatorJudgement, &[PeerJudgement]) -> Option<DeliberatorJudgement>;

/// Tried in order; the first that applies is used.
const PEER_REACTIONS: [PeerReaction; 4] =
    [join_block, raise_concern, withdraw_block, defer_to_evidence];

pub(in crate::providers::rehearsal) fn reconsider_judgement(
    seat: &str,
    messages: &AskMessages,
) -> DeliberatorJudgement {
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
