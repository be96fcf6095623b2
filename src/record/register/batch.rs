//! A round as it was sent: typed, but with its ids not yet looked up.

use serde_json::Value;

use crate::domain::dialogue::Protocol;
use crate::domain::facts::Mentions;
use crate::domain::ids::{DialogueId, EntityKind, LocalId};
use crate::domain::lifecycle::Status;
use crate::domain::reference::{MoveType, RefType};
use crate::domain::refusal::{Fault, Item};
use crate::record::target::Target;
use crate::record::warning::Warning;

/// One round's worth of contributions.
#[derive(Debug)]
pub struct Batch {
    pub dialogue_id: DialogueId,
    /// Identifies the batch: the same one again gets the first answer again.
    pub sha256: String,
    pub(super) round: Option<u16>,
    pub(super) score: i64,
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) expert_scores: Vec<(String, i64)>,
    pub(super) raw_content: Vec<(String, String)>,
    pub(super) items: Vec<NewItem>,
    /// Local ids of items that could not be read.
    pub(super) faulty: Vec<String>,
    pub(super) refs: Vec<LooseRef>,
    pub(super) updates: Vec<Update>,
    pub(super) moves: Vec<NewMove>,
    pub(super) converge: Vec<String>,
    /// What was already wrong when the batch was read.
    pub(super) faults: Vec<Fault>,
    pub(super) warnings: Vec<Warning>,
}

#[derive(Debug)]
pub(super) struct NewItem {
    pub local_id: LocalId,
    pub label: String,
    pub text: String,
    pub contributors: Vec<String>,
    pub parameters: Option<Value>,
    pub references: Vec<(RefType, Target)>,
}

impl NewItem {
    pub(super) fn kind(&self) -> EntityKind {
        self.local_id.kind
    }

    pub(super) fn item(&self) -> Item {
        Item::Local { item_type: self.kind().noun(), local_id: Some(self.local_id.to_string()) }
    }
}

/// A reference that stands beside its source instead of inside it.
#[derive(Debug)]
pub(super) struct LooseRef {
    pub source: Target,
    pub ref_type: RefType,
    pub target: Target,
}

#[derive(Debug)]
pub(super) struct Update {
    pub item_type: &'static str,
    pub id: Target,
    pub status: Status,
    pub by: Vec<String>,
    pub via: Option<Target>,
    pub reason: Option<String>,
}

impl Update {
    pub(super) fn item(&self) -> Item {
        Item::Source { item_type: self.item_type, source_id: Some(self.id.to_string()) }
    }
}

#[derive(Debug)]
pub(super) struct NewMove {
    pub expert: String,
    pub move_type: MoveType,
    pub targets: Vec<Target>,
    pub context: Option<String>,
}

impl NewMove {
    pub(super) fn item(&self) -> Item {
        Item::Source { item_type: "move", source_id: Some(self.expert.clone()) }
    }
}

impl Batch {
    /// The round, if it is one that ids can name.
    pub fn round(&self) -> Option<u8> {
        self.round.and_then(|round| u8::try_from(round).ok())
    }

    /// What has to be looked up before the batch can be decided on.
    pub fn mentions(&self) -> Mentions {
        let mut mentions = Mentions::default();
        let in_items =
            self.items.iter().flat_map(|item| &item.references).map(|(_, target)| target);
        let in_refs = self.refs.iter().flat_map(|loose| [&loose.source, &loose.target]);
        let in_updates =
            self.updates.iter().flat_map(|update| [&update.id].into_iter().chain(&update.via));
        let in_moves = self.moves.iter().flat_map(|made| &made.targets);
        for target in in_items.chain(in_refs).chain(in_updates).chain(in_moves) {
            target.mention(&mut mentions);
        }
        for made in self.moves.iter().filter(|made| made.move_type == MoveType::Concede) {
            for target in &made.targets {
                match target {
                    Target::Global(id) => drop(mentions.conceded.insert(*id)),
                    Target::Local(id) => drop(mentions.conceded_locals.insert(id.clone())),
                    Target::Position(_) => {}
                }
            }
        }
        mentions
    }

    /// The round this batch would have to be, and whether that is what it says.
    pub(super) fn is_next(&self, next: u8, protocol: Protocol) -> RoundOrder {
        match self.round {
            None => RoundOrder::Unread,
            Some(round) if round == u16::from(next) => RoundOrder::Next,
            Some(round)
                if round < u16::from(next) && round >= u16::from(protocol.first_round()) =>
            {
                RoundOrder::Past
            }
            Some(_) => RoundOrder::OutOfOrder,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundOrder {
    Next,
    Past,
    OutOfOrder,
    Unread,
}
