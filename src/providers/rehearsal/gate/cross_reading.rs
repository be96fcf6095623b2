//! Second round of the rehearsed review: peers' judgements make a deliberator raise, lower or keep
//! its verdict. A change cites the concern that caused it.

use crate::domain::ask::Messages;
use crate::domain::gate::{Block, BuiltIn, Concern, Judgement, Leaning};

use super::judgement::{is_mild, judgement};
use super::papers::{Cited, Peer, own, peers};

/// This many blocking peers raise a deliberator's small concern.
const BLOCKS_TO_PRESS: usize = 2;

/// A possible reaction: the new judgement, if it applies.
type Turn = fn(&str, &Judgement, &[Peer]) -> Option<Judgement>;

/// Tried in order; the first that applies is used.
const TURNS: [Turn; 4] = [joins, presses, gives_in, leaves_to_evidence];

pub(in crate::providers::rehearsal) fn cross_reading(seat: &str, messages: &Messages) -> Judgement {
    let user = &messages.user;
    let held = own(user).unwrap_or_else(|| judgement(seat, messages));
    let peers = peers(user);
    let turned = TURNS.iter().find_map(|turn| turn(seat, &held, &peers));
    turned.unwrap_or_else(|| stays(held, &peers))
}

/// Joins a permanent block, except the voice deliberator.
fn joins(seat: &str, held: &Judgement, peers: &[Peer]) -> Option<Judgement> {
    if held.irreducible || seat == BuiltIn::VoiceIdentity.name() {
        return None;
    }
    let peer = peers.iter().find(|peer| peer.judgement.block() == Block::Irreducible)?;
    let id = &peer.concerns.first()?.id;
    Some(Judgement {
        verdict: Leaning::Hold,
        would_block: true,
        irreducible: true,
        escalations: vec![format!("{id}: no other wording would make this fit to go out.")],
        delta_from_r1: format!(
            "From {} to {}: I had not looked for what `{id}` reports, and it stands there.",
            held.verdict,
            Leaning::Hold
        ),
        ..held.clone()
    })
}

/// Raises a small concern if others block.
fn presses(_: &str, held: &Judgement, peers: &[Peer]) -> Option<Judgement> {
    let blocking: Vec<&Peer> = peers.iter().filter(|peer| peer.judgement.would_block).collect();
    let has_room = !held.would_block && !held.concerns.is_empty();
    let cited = blocking.first().and_then(|peer| peer.concerns.first());
    let id = &cited.filter(|_| has_room && blocking.len() >= BLOCKS_TO_PRESS)?.id;
    let would_block = held.verdict != Leaning::Ship;
    let change = if would_block { "I block now" } else { "From ship to revise" };
    Some(Judgement {
        verdict: held.verdict.max(Leaning::Revise),
        would_block,
        escalations: vec![format!("{id}: with this beside it, my own concern weighs more.")],
        delta_from_r1: format!("{change}: `{id}` shows that mine is no single slip."),
        ..held.clone()
    })
}

/// Lowers a block that rests on remarks alone if no other deliberator blocks.
fn gives_in(_: &str, held: &Judgement, peers: &[Peer]) -> Option<Judgement> {
    let is_alone = !peers.iter().any(|peer| peer.judgement.would_block);
    let yields = held.would_block && !held.irreducible && is_mild(held) && is_alone;
    let id = &peers.iter().flat_map(|peer| &peer.concerns).next().filter(|_| yields)?.id;
    Some(Judgement {
        would_block: false,
        concessions: vec![format!("{id}: who looked there calls it a matter of wording too.")],
        delta_from_r1: format!("I no longer block: beside `{id}` mine are remarks, not a reason."),
        ..held.clone()
    })
}

/// Leaves a concern to the evidence deliberator if both quote the same text.
fn leaves_to_evidence(seat: &str, held: &Judgement, peers: &[Peer]) -> Option<Judgement> {
    if seat != BuiltIn::VoiceIdentity.name() {
        return None;
    }
    let evidence = peers.iter().find(|peer| peer.name == BuiltIn::Evidence.name())?;
    let shared = |cited: &&Cited| {
        let locus = &cited.concern.locus;
        !locus.is_empty() && held.concerns.iter().any(|concern| concern.locus == *locus)
    };
    let cited = evidence.concerns.iter().find(shared)?;
    let is_other = |concern: &&Concern| concern.locus != cited.concern.locus;
    let id = &cited.id;
    Some(Judgement {
        concerns: held.concerns.iter().filter(is_other).cloned().collect(),
        concessions: vec![format!("{id}: the words are the same, and its reason is the better.")],
        delta_from_r1: format!("My verdict stays; one concern I leave to `{id}`."),
        ..held.clone()
    })
}

fn stays(held: Judgement, peers: &[Peer]) -> Judgement {
    let told = match peers {
        [] => "Nothing changed: there was nobody else to read.",
        [_] => "Nothing changed after reading the other one.",
        [_, _, ..] => "Nothing changed after reading the others.",
    };
    Judgement { delta_from_r1: told.to_owned(), ..held }
}
