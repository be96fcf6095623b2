//! A round batch as sent: typed, but with ids and names not yet resolved.

use serde_json::Value;

use crate::domain::facts::Mentions;
use crate::domain::ids::{DialogueId, EntityKind, LocalId};
use crate::domain::lifecycle::Status;
use crate::domain::reference::{MoveType, RefType};
use crate::domain::refusal::Item;
use crate::domain::target::Target;
use crate::record::notes::Notes;

/// All contributions to one round.
#[derive(Debug)]
pub struct Batch {
    pub dialogue_id: DialogueId,
    /// Digest of the batch. The same batch gets the stored answer again.
    pub sha256: String,
    pub(super) round: Option<u16>,
    pub(super) score: i64,
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) expert_scores: Vec<(String, i64)>,
    pub(super) raw_content: Vec<(String, String)>,
    pub(super) items: Vec<NewItem>,
    /// Targets that refer to an item with errors.
    pub(super) faulty: Vec<String>,
    pub(super) refs: Vec<LooseRef>,
    pub(super) updates: Vec<Update>,
    pub(super) moves: Vec<NewMove>,
    pub(super) converge: Vec<String>,
    /// Errors and warnings of the parser.
    pub(super) notes: Notes,
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

/// A reference listed beside the items, not inside its source.
#[derive(Debug)]
pub(super) struct LooseRef {
    pub source: Target,
    pub ref_type: RefType,
    pub target: Target,
}

#[derive(Debug)]
pub(super) struct Update {
    pub id: Target,
    pub status: Status,
    pub by: Vec<String>,
    pub via: Option<Target>,
    pub reason: Option<String>,
}

impl Update {
    pub(super) fn item(&self) -> Item {
        let item_type = item_type(self.id.kind());
        Item::Source { item_type, source_id: Some(self.id.to_string()) }
    }
}

/// Tensions have their own list of updates.
pub(super) fn item_type(kind: EntityKind) -> &'static str {
    if kind == EntityKind::Tension { "tension_update" } else { "update" }
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
    /// The round number, if it fits into an id.
    pub fn round(&self) -> Option<u8> {
        self.round.and_then(|round| u8::try_from(round).ok())
    }

    /// Everything to look up before the decision.
    pub fn mentions(&self) -> Mentions {
        let in_items =
            self.items.iter().flat_map(|item| &item.references).map(|(_, target)| target);
        let in_refs = self.refs.iter().flat_map(|loose| [&loose.source, &loose.target]);
        let in_updates =
            self.updates.iter().flat_map(|update| [&update.id].into_iter().chain(&update.via));
        let in_moves = self.moves.iter().flat_map(|made| &made.targets);
        let concessions = self.moves.iter().filter(|made| made.move_type == MoveType::Concede);
        Mentions {
            targets: in_items.chain(in_refs).chain(in_updates).chain(in_moves).cloned().collect(),
            conceded: concessions.flat_map(|made| &made.targets).cloned().collect(),
            verdict: None,
        }
    }
}
