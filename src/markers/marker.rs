//! A parsed marker; `Display` prints its exact notation.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::domain::ids::LocalId;
use crate::domain::reference::{MoveType, ReferenceType};
use crate::domain::target::EntityTarget;
use crate::domain::verdict::VerdictType;

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
pub(super) fn target_texts(targets: &[EntityTarget]) -> Vec<String> {
    targets.iter().map(EntityTarget::to_string).collect()
}
