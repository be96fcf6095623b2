//! References between entities, moves of experts, and their legal targets.

use serde::{Deserialize, Serialize};

use super::ids::{EntityId, EntityKind, ExpertSlug};
use super::words::words;

words! {
    /// Type of a reference from one entity to another.
    pub enum ReferenceType {
        Support = "support",
        Oppose = "oppose",
        Refine = "refine",
        Address = "address",
        Resolve = "resolve",
        Reopen = "reopen",
        Question = "question",
        Depend = "depend",
    }
}

/// Why a reference is invalid for any record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidReference {
    /// Only a tension can be addressed, resolved or reopened.
    TensionOnly,
    /// An entity can only be refined by an entity of the same kind.
    SameKindOnly,
}

impl ReferenceType {
    pub fn check_kinds(
        self,
        source: EntityKind,
        target: EntityKind,
    ) -> Result<(), InvalidReference> {
        match self {
            Self::Resolve | Self::Reopen | Self::Address if target != EntityKind::Tension => {
                Err(InvalidReference::TensionOnly)
            }
            Self::Refine if source != target => Err(InvalidReference::SameKindOnly),
            Self::Support
            | Self::Oppose
            | Self::Refine
            | Self::Address
            | Self::Resolve
            | Self::Reopen
            | Self::Question
            | Self::Depend => Ok(()),
        }
    }
}

/// A reference with both its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReferenceLink {
    pub source: EntityId,
    pub ref_type: ReferenceType,
    pub target: EntityId,
}

/// A reference as stored with its source entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntityReference {
    #[serde(rename = "type")]
    pub ref_type: ReferenceType,
    pub target: EntityId,
}

words! {
    /// Type of a move. An expert makes moves in addition to stating entities.
    pub enum MoveType {
        Defend = "defend",
        Challenge = "challenge",
        Bridge = "bridge",
        Request = "request",
        Concede = "concede",
        Converge = "converge",
    }
}

impl MoveType {
    /// Minimum number of targets. A request names a topic, and converge names nothing.
    pub fn targets_min(self) -> usize {
        match self {
            Self::Defend | Self::Challenge | Self::Concede => 1,
            Self::Bridge => 2,
            Self::Request | Self::Converge => 0,
        }
    }
}

/// A move of an expert in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpertMove {
    pub expert: ExpertSlug,
    pub round: u8,
    #[serde(rename = "type")]
    pub move_type: MoveType,
    pub targets: Vec<EntityId>,
    pub context: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_make_sense_or_say_why_not() {
        for ref_type in ReferenceType::ALL {
            for source in EntityKind::ALL {
                for target in EntityKind::ALL {
                    let expected = match ref_type.name() {
                        "address" | "resolve" | "reopen" => *target == EntityKind::Tension,
                        "refine" => source == target,
                        _ => true,
                    };
                    assert_eq!(ref_type.check_kinds(*source, *target).is_ok(), expected);
                }
            }
        }
    }
}
