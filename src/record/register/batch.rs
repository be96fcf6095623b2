//! A round batch as sent: typed, but with ids and names not yet resolved.

use serde_json::{Map, Value, json};

use crate::domain::digest::canonical_sha256;
use crate::domain::facts::LookupRequest;
use crate::domain::ids::{DialogueId, EntityKind, LocalId};
use crate::domain::lifecycle::EntityStatus;
use crate::domain::reference::{MoveType, ReferenceType};
use crate::domain::refusal::ErrorItem;
use crate::domain::target::EntityTarget;
use crate::record::notes::Diagnostics;

/// All contributions to one round.
#[derive(Debug, Clone)]
pub struct RegisterBatch {
    pub dialogue_id: DialogueId,
    /// Digest of the batch. The same batch gets the stored answer again.
    pub sha256: String,
    pub(super) round: Option<u16>,
    pub(super) score: i64,
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) expert_scores: Vec<(String, i64)>,
    pub(super) raw_content: Vec<(String, String)>,
    pub(super) items: Vec<RegisterItem>,
    /// Targets that refer to an item with errors.
    pub(super) faulty: Vec<String>,
    pub(super) refs: Vec<RegisterReference>,
    pub(super) updates: Vec<RegisterUpdate>,
    pub(super) moves: Vec<RegisterMove>,
    pub(super) converge: Vec<String>,
    /// Errors and warnings of the parser.
    pub(super) notes: Diagnostics,
}

/// A new entity of a batch.
#[derive(Debug, Clone)]
pub struct RegisterItem {
    pub local_id: LocalId,
    pub label: String,
    pub text: String,
    pub contributors: Vec<String>,
    pub parameters: Option<Value>,
    pub references: Vec<(ReferenceType, EntityTarget)>,
}

impl RegisterItem {
    /// An entity of the expert that its local id names.
    pub fn new(local_id: LocalId, label: String, text: String) -> Self {
        let contributors = vec![local_id.expert.to_string()];
        let (parameters, references) = (None, Vec::new());
        Self { local_id, label, text, contributors, parameters, references }
    }

    /// Adds a reference to another item of this batch or of an earlier round.
    #[must_use]
    pub fn refer(mut self, ref_type: ReferenceType, target: LocalId) -> Self {
        self.references.push((ref_type, EntityTarget::Local(target)));
        self
    }

    #[must_use]
    pub fn parameters(self, parameters: Value) -> Self {
        Self { parameters: Some(parameters), ..self }
    }

    pub(super) fn kind(&self) -> EntityKind {
        self.local_id.kind
    }

    fn as_request(&self) -> Value {
        let mut request = Map::new();
        request.insert("local_id".to_owned(), self.local_id.to_string().into());
        request.insert("label".to_owned(), json!(self.label));
        request.insert(self.kind().text_field().to_owned(), json!(self.text));
        request.extend(self.parameters.iter().map(|all| ("parameters".to_owned(), all.clone())));
        let reference = |(ref_type, target): &(ReferenceType, EntityTarget)| json!({ "type": ref_type, "target": target.to_string() });
        if !self.references.is_empty() {
            let references: Vec<Value> = self.references.iter().map(reference).collect();
            request.insert("references".to_owned(), references.into());
        }
        request.into()
    }

    pub(super) fn error_item(&self) -> ErrorItem {
        ErrorItem::Local {
            item_type: self.kind().type_name(),
            local_id: Some(self.local_id.to_string()),
        }
    }
}

/// A reference listed beside the items, not inside its source.
#[derive(Debug, Clone)]
pub(super) struct RegisterReference {
    pub source: EntityTarget,
    pub ref_type: ReferenceType,
    pub target: EntityTarget,
}

/// A change of status that a batch asks for.
#[derive(Debug, Clone)]
pub struct RegisterUpdate {
    pub id: EntityTarget,
    pub status: EntityStatus,
    pub by: Vec<String>,
    pub via: Option<EntityTarget>,
    pub reason: Option<String>,
}

impl RegisterUpdate {
    /// The expert gives up a tension of their own.
    pub fn resolve(tension: LocalId, via: Option<LocalId>, reason: Option<String>) -> Self {
        Self {
            by: vec![tension.expert.to_string()],
            id: EntityTarget::Local(tension),
            status: EntityStatus::Resolved,
            via: via.map(EntityTarget::Local),
            reason,
        }
    }

    fn as_request(&self) -> Value {
        let mut request = Map::new();
        request.insert("id".to_owned(), self.id.to_string().into());
        request.insert("status".to_owned(), json!(self.status));
        request.insert("by".to_owned(), json!(self.by));
        request.extend(self.via.iter().map(|via| ("via".to_owned(), via.to_string().into())));
        request.extend(self.reason.iter().map(|text| ("reason".to_owned(), json!(text))));
        request.into()
    }

    pub(super) fn error_item(&self) -> ErrorItem {
        let item_type = item_type(self.id.entity_kind());
        ErrorItem::Source { item_type, source_id: Some(self.id.to_string()) }
    }
}

/// Tensions have their own list of updates.
pub(super) fn item_type(kind: EntityKind) -> &'static str {
    if kind == EntityKind::Tension { "tension_update" } else { "update" }
}

#[derive(Debug, Clone)]
pub(super) struct RegisterMove {
    pub expert: String,
    pub move_type: MoveType,
    pub targets: Vec<EntityTarget>,
    pub context: Option<String>,
}

impl RegisterMove {
    pub(super) fn error_item(&self) -> ErrorItem {
        ErrorItem::Source { item_type: "move", source_id: Some(self.expert.clone()) }
    }
}

impl RegisterBatch {
    /// A round as a protocol registers it: unscored, with items in the order of their kinds.
    pub fn of_round(
        dialogue_id: DialogueId,
        round: u8,
        title: String,
        summary: Option<String>,
        items: Vec<RegisterItem>,
        updates: Vec<RegisterUpdate>,
    ) -> Self {
        let batch = Self {
            dialogue_id,
            sha256: String::new(),
            round: Some(round.into()),
            score: 0,
            title: Some(title),
            summary,
            expert_scores: Vec::new(),
            raw_content: Vec::new(),
            items,
            faulty: Vec::new(),
            refs: Vec::new(),
            updates,
            moves: Vec::new(),
            converge: Vec::new(),
            notes: Diagnostics::default(),
        };
        Self { sha256: canonical_sha256(&batch.as_request()), ..batch }
    }

    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    pub fn items(&self) -> &[RegisterItem] {
        &self.items
    }

    /// The request that would register the same round. Only its digest is used: it identifies the
    /// batch in the journal, so its form must never change.
    fn as_request(&self) -> Value {
        let mut request = Map::new();
        request.insert("dialogue_id".to_owned(), json!(self.dialogue_id));
        request.insert("round".to_owned(), json!(self.round));
        request.insert("score".to_owned(), json!(self.score));
        request.extend(self.title.iter().map(|text| ("title".to_owned(), json!(text))));
        request.extend(self.summary.iter().map(|text| ("summary".to_owned(), json!(text))));
        for kind in EntityKind::ALL {
            let items = self.items.iter().filter(|item| item.kind() == *kind);
            let items: Vec<Value> = items.map(RegisterItem::as_request).collect();
            if !items.is_empty() {
                request.insert(kind.section_name().to_owned(), items.into());
            }
        }
        let updates: Vec<Value> = self.updates.iter().map(RegisterUpdate::as_request).collect();
        if !updates.is_empty() {
            request.insert("tension_updates".to_owned(), updates.into());
        }
        request.into()
    }

    /// The round number, if it fits into an id.
    pub fn round_number(&self) -> Option<u8> {
        self.round.and_then(|round| u8::try_from(round).ok())
    }

    /// Everything to look up before the decision.
    pub fn lookup_request(&self) -> LookupRequest {
        let in_items =
            self.items.iter().flat_map(|item| &item.references).map(|(_, target)| target);
        let in_refs = self.refs.iter().flat_map(|loose| [&loose.source, &loose.target]);
        let in_updates =
            self.updates.iter().flat_map(|update| [&update.id].into_iter().chain(&update.via));
        let in_moves = self.moves.iter().flat_map(|made| &made.targets);
        let concessions = self.moves.iter().filter(|made| made.move_type == MoveType::Concede);
        LookupRequest {
            targets: in_items.chain(in_refs).chain(in_updates).chain(in_moves).cloned().collect(),
            conceded: concessions.flat_map(|made| &made.targets).cloned().collect(),
            verdict: None,
        }
    }
}
