//! Result types of the extraction of one reply.

use serde::Serialize;

use super::marker::ReplyMarker;
use super::warning::MarkerWarning;
use crate::domain::ids::{EntityKind, ExpertSlug, LocalId};
use crate::domain::reference::{MoveType, ReferenceType};
use crate::domain::target::EntityTarget;
use crate::domain::verdict::VerdictType;

/// Everything extracted from one reply.
#[derive(Debug, Clone)]
pub struct ReplyExtraction {
    pub expert: ExpertSlug,
    pub round: u8,
    pub contributions: Vec<EntityContribution>,
    pub moves: Vec<MoveContribution>,
    pub verdicts: Vec<VerdictDraft>,
    pub markers: Vec<ReplyMarker>,
    pub warnings: Vec<MarkerWarning>,
}

impl ReplyExtraction {
    pub fn of_kind(&self, kind: EntityKind) -> impl Iterator<Item = &EntityContribution> {
        self.contributions.iter().filter(move |contribution| contribution.local_id.kind == kind)
    }
}

/// An entity as marked by its expert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityContribution {
    pub line: usize,
    pub local_id: LocalId,
    pub label: String,
    /// Text of the entity, without the parsed markers.
    pub text: String,
    pub references: Vec<(ReferenceType, EntityTarget)>,
}

/// A move as marked by its expert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveContribution {
    pub line: usize,
    pub move_type: MoveType,
    pub targets: Vec<EntityTarget>,
    /// Topic of a request; for other moves, the expert's remark.
    pub context: Option<String>,
}

/// A verdict that an expert proposes, with the fields of a `verdict` request that the reply
/// contains. The Judge names and registers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictDraft {
    pub verdict_type: VerdictType,
    pub round: u8,
    pub author_expert: ExpertSlug,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supporting_experts: Option<Vec<ExpertSlug>>,
}
