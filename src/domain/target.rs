//! Ways in which a request points at an entity: `P0001`, `MUFFIN-P0101` or `@muffin`.

use std::fmt;
use std::str::FromStr;

use super::ids::{EntityId, EntityKind, ExpertSlug, LocalId, MalformedText};
use super::words::serde_by_text;

/// An entity id as the caller wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityTarget {
    Global(EntityId),
    Local(LocalId),
    /// An expert's position: their latest perspective.
    Position(ExpertSlug),
}

impl EntityTarget {
    /// The kind of entity that the target must have.
    pub fn entity_kind(&self) -> EntityKind {
        match self {
            Self::Global(id) => id.kind,
            Self::Local(id) => id.kind,
            Self::Position(_) => EntityKind::Perspective,
        }
    }
}

impl FromStr for EntityTarget {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        if let Some(expert) = text.strip_prefix('@') {
            return expert.parse().map(Self::Position);
        }
        text.parse().map(Self::Global).or_else(|_| text.parse().map(Self::Local))
    }
}

impl fmt::Display for EntityTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global(id) => id.fmt(f),
            Self::Local(id) => id.fmt(f),
            Self::Position(expert) => write!(f, "@{expert}"),
        }
    }
}

serde_by_text!(EntityTarget);
