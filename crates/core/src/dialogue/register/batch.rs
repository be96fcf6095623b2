//! A round batch as sent: typed, but with ids and names not yet resolved.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::dialogue::diagnostics::{Diagnostics, RequestWarning};
use crate::dialogue::register::check::CheckedUpdate;
use crate::model::entity::{EventOrigin, MoveType, ReferenceType};
use crate::model::hash::canonical_sha256;
use crate::model::ids::{DialogueId, EntityId, EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::journal::{NewEntity, NewEntityEvent};
use crate::model::lifecycle::EntityStatus;
use crate::model::record::LookupRequest;
use crate::model::validation_error::ErrorItem;
use crate::protocols::alignment::types::ScoreComponents;

/// All contributions to one round.
#[derive(Debug, Clone)]
pub struct RegisterBatch {
    pub dialogue_id: DialogueId,
    /// Digest of the batch. The same batch gets the stored answer again.
    pub sha256: String,
    pub(crate) round: Option<u16>,
    pub(crate) score: i64,
    pub(crate) title: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) expert_scores: Vec<(String, i64)>,
    pub(crate) score_components: Vec<(String, ScoreComponents)>,
    pub(crate) raw_content: Vec<(String, String)>,
    pub(crate) items: Vec<RegisterItem>,
    /// Targets that refer to an item with errors.
    pub(crate) faulty: Vec<String>,
    pub(crate) refs: Vec<RegisterReference>,
    pub(crate) updates: Vec<RegisterUpdate>,
    pub(crate) moves: Vec<RegisterMove>,
    pub(crate) converge: Vec<String>,
    /// Errors and warnings of the parser.
    pub(crate) notes: Diagnostics,
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

    /// Refers to an entity that is on record.
    #[must_use]
    pub fn refer_to_known(mut self, ref_type: ReferenceType, target: EntityId) -> Self {
        self.references.push((ref_type, EntityTarget::Global(target)));
        self
    }

    #[must_use]
    pub fn parameters(self, parameters: Value) -> Self {
        Self { parameters: Some(parameters), ..self }
    }

    /// Names several experts who said it.
    #[must_use]
    pub fn by_experts(self, experts: &[ExpertSlug]) -> Self {
        Self { contributors: experts.iter().map(ToString::to_string).collect(), ..self }
    }

    pub(crate) fn kind(&self) -> EntityKind {
        self.local_id.kind
    }

    fn as_request(&self) -> Value {
        let reference = |(ref_type, target): &(ReferenceType, EntityTarget)| json!({ "type": ref_type, "target": target });
        let is_shared = self.contributors.len() > 1;
        without_empty(json!({
            "local_id": self.local_id,
            "label": self.label,
            (self.kind().text_field()): self.text,
            "contributors": is_shared.then_some(&self.contributors),
            "parameters": self.parameters,
            "references": self.references.iter().map(reference).collect::<Vec<_>>(),
        }))
    }

    pub(crate) fn error_item(&self) -> ErrorItem {
        ErrorItem::Local {
            item_type: self.kind().type_name(),
            local_id: Some(self.local_id.to_string()),
        }
    }
}

/// A reference listed beside the items, not inside its source.
#[derive(Debug, Clone)]
pub(crate) struct RegisterReference {
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
        let Self { id, status, by, via, reason } = self;
        without_empty(json!({ "id": id, "status": status, "by": by, "via": via, "reason": reason }))
    }

    pub(crate) fn error_item(&self) -> ErrorItem {
        let item_type = item_type(self.id.entity_kind());
        ErrorItem::Source { item_type, source_id: Some(self.id.to_string()) }
    }
}

/// Tensions have their own list of updates.
pub(crate) fn item_type(kind: EntityKind) -> &'static str {
    if kind == EntityKind::Tension { "tension_update" } else { "update" }
}

#[derive(Debug, Clone)]
pub(crate) struct RegisterMove {
    pub expert: String,
    pub move_type: MoveType,
    pub targets: Vec<EntityTarget>,
    pub context: Option<String>,
}

impl RegisterMove {
    pub(crate) fn error_item(&self) -> ErrorItem {
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
            score_components: Vec::new(),
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
        let items = |kind: EntityKind| -> Value {
            let items = self.items.iter().filter(|item| item.kind() == kind);
            items.map(RegisterItem::as_request).collect()
        };
        without_empty(json!({
            "dialogue_id": self.dialogue_id,
            "round": self.round,
            "score": self.score,
            "title": self.title,
            "summary": self.summary,
            "perspectives": items(EntityKind::Perspective),
            "recommendations": items(EntityKind::Recommendation),
            "tensions": items(EntityKind::Tension),
            "evidence": items(EntityKind::Evidence),
            "claims": items(EntityKind::Claim),
            "tension_updates": self.updates.iter().map(RegisterUpdate::as_request).collect::<Value>(),
        }))
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

/// Drops the fields that are null or an empty list.
fn without_empty(mut request: Value) -> Value {
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|_, value| {
            !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
        });
    }
    request
}

/// The answer to a batch. The journal keeps it, so that the same batch gets the same answer again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegisterAnswer {
    pub status: String,
    pub round: u8,
    pub id_mapping: Map<String, Value>,
    pub perspectives: Vec<RegisteredItem>,
    pub recommendations: Vec<RegisteredItem>,
    pub tensions: Vec<RegisteredItem>,
    pub evidence: Vec<RegisteredItem>,
    pub claims: Vec<RegisteredItem>,
    pub tension_updates: Vec<UpdatedItem>,
    pub updates: Vec<UpdatedItem>,
    /// Status changes caused by references and moves.
    pub effects: Vec<UpdatedItem>,
    pub warnings: Vec<RequestWarning>,
    pub replayed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredItem {
    pub local_id: LocalId,
    pub id: EntityId,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatedItem {
    pub id: EntityId,
    pub status: EntityStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<EntityId>,
}

impl RegisterAnswer {
    pub(crate) fn new(
        round: u8,
        entities: &[NewEntity],
        updates: &[CheckedUpdate],
        implied: &[NewEntityEvent],
        warnings: Vec<RequestWarning>,
    ) -> Self {
        let registered = |kind: EntityKind| {
            let of_kind = entities.iter().filter(|entity| entity.id.kind == kind);
            of_kind.map(to_registered_item).collect()
        };
        let (tensions, others): (Vec<_>, Vec<_>) =
            updates.iter().partition(|update| update.id.kind == EntityKind::Tension);
        let mapping = entities.iter().map(|entity| (entity.local_id.to_string(), json!(entity.id)));
        Self {
            status: "success".to_owned(),
            round,
            id_mapping: mapping.collect(),
            perspectives: registered(EntityKind::Perspective),
            recommendations: registered(EntityKind::Recommendation),
            tensions: registered(EntityKind::Tension),
            evidence: registered(EntityKind::Evidence),
            claims: registered(EntityKind::Claim),
            tension_updates: tensions.into_iter().map(to_updated_item).collect(),
            updates: others.into_iter().map(to_updated_item).collect(),
            effects: implied.iter().filter_map(to_effect).collect(),
            warnings,
            replayed: false,
        }
    }

    /// All registered items, sorted by id.
    pub fn registered_items(&self) -> impl Iterator<Item = &RegisteredItem> {
        let sections = [
            &self.perspectives,
            &self.recommendations,
            &self.tensions,
            &self.evidence,
            &self.claims,
        ];
        sections.into_iter().flatten()
    }

    /// Marks the answer as a repetition.
    #[must_use]
    pub fn mark_replayed(self) -> Self {
        Self { replayed: true, ..self }
    }
}

fn to_registered_item(entity: &NewEntity) -> RegisteredItem {
    RegisteredItem { local_id: entity.local_id.clone(), id: entity.id, label: entity.label.clone() }
}

fn to_updated_item(update: &CheckedUpdate) -> UpdatedItem {
    UpdatedItem { id: update.id, status: update.status, via: update.via }
}

/// A comment changes no status, so it gives `None`.
fn to_effect(event: &NewEntityEvent) -> Option<UpdatedItem> {
    let status = event.event_type.resulting_status(event.entity.kind)?;
    let cause = match event.reference {
        Some(EventOrigin::Entity(id)) => Some(id),
        Some(EventOrigin::Verdict(_)) | None => None,
    };
    Some(UpdatedItem { id: event.entity, status, via: event.result.or(cause) })
}
