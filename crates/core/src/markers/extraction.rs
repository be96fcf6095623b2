//! Result types of the extraction of one reply.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::markers::warnings::MarkerWarning;
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::{EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::verdict::VerdictType;

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

/// A marker with its line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyMarker {
    pub line: usize,
    pub content: MarkerContent,
}

/// Parsed content of a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkerContent {
    Entity { id: LocalId, label: String },
    Reference { source: LocalId, ref_type: ReferenceType, targets: Vec<EntityTarget> },
    Move { move_type: MoveType, targets: Vec<EntityTarget>, topic: Option<String> },
    Verdict { verdict_type: VerdictType, label: Option<String> },
}

impl fmt::Display for MarkerContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entity { id, label } => write!(f, "[{id}: {label}]"),
            Self::Reference { ref_type, targets, .. } => {
                for (place, target) in targets.iter().enumerate() {
                    let space = if place == 0 { "" } else { " " };
                    write!(f, "{space}[RE:{} {target}]", ref_type.name().to_ascii_uppercase())?;
                }
                Ok(())
            }
            Self::Move { move_type, targets, topic } => {
                write!(f, "[MOVE:{}", move_type.name().to_ascii_uppercase())?;
                for target in targets {
                    write!(f, " {target}")?;
                }
                topic.iter().try_for_each(|topic| write!(f, " {topic}"))?;
                f.write_str("]")
            }
            Self::Verdict { verdict_type, label } => {
                let words = match verdict_type {
                    VerdictType::Interim => "VERDICT:INTERIM",
                    VerdictType::Final => "VERDICT:FINAL",
                    VerdictType::Minority => "MINORITY VERDICT",
                    VerdictType::Dissent => "DISSENT",
                };
                match label {
                    Some(label) => write!(f, "[{words}: {label}]"),
                    None => write!(f, "[{words}]"),
                }
            }
        }
    }
}

impl Serialize for ReplyMarker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("line", &self.line)?;
        match &self.content {
            MarkerContent::Entity { id, label } => {
                map.serialize_entry("marker", "entity")?;
                map.serialize_entry("type", id.kind.type_name())?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("label", label)?;
            }
            MarkerContent::Reference { source, ref_type, targets } => {
                map.serialize_entry("marker", "reference")?;
                map.serialize_entry("type", ref_type)?;
                map.serialize_entry("from", source)?;
                map.serialize_entry("targets", &target_texts(targets))?;
            }
            MarkerContent::Move { move_type, targets, topic } => {
                map.serialize_entry("marker", "move")?;
                map.serialize_entry("type", move_type)?;
                map.serialize_entry("targets", &target_texts(targets))?;
                if let Some(topic) = topic {
                    map.serialize_entry("topic", topic)?;
                }
            }
            MarkerContent::Verdict { verdict_type, label } => {
                map.serialize_entry("marker", "verdict")?;
                map.serialize_entry("type", verdict_type)?;
                map.serialize_entry("label", label)?;
            }
        }
        map.end()
    }
}

/// Formats targets as a `register` request expects them.
pub(crate) fn target_texts(targets: &[EntityTarget]) -> Vec<String> {
    targets.iter().map(EntityTarget::to_string).collect()
}
