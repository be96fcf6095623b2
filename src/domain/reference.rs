//! References between entities, moves of experts, and what each may point at.

use serde::{Deserialize, Serialize};

use super::ids::{EntityId, EntityKind, ExpertSlug};
use super::words::words;

words! {
    /// What an entity says about another.
    pub enum RefType {
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

/// Why a reference makes no sense, whatever the record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nonsense {
    /// Only a tension can be addressed, resolved or reopened.
    TensionOnly,
    /// A thing is refined by a thing of its own kind.
    SameKindOnly,
}

impl RefType {
    pub fn check(self, source: EntityKind, target: EntityKind) -> Result<(), Nonsense> {
        match self {
            Self::Resolve | Self::Reopen | Self::Address if target != EntityKind::Tension => {
                Err(Nonsense::TensionOnly)
            }
            Self::Refine if source != target => Err(Nonsense::SameKindOnly),
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
pub struct Link {
    pub source: EntityId,
    pub ref_type: RefType,
    pub target: EntityId,
}

/// A reference as an entity carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reference {
    #[serde(rename = "type")]
    pub ref_type: RefType,
    pub target: EntityId,
}

words! {
    /// What an expert does with a position, beside stating one.
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
    /// How many targets the move needs; a request names a topic, converging names nothing.
    pub fn targets_min(self) -> usize {
        match self {
            Self::Defend | Self::Challenge | Self::Concede => 1,
            Self::Bridge => 2,
            Self::Request | Self::Converge => 0,
        }
    }
}

/// A move made in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
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
        for ref_type in RefType::ALL {
            for source in EntityKind::ALL {
                for target in EntityKind::ALL {
                    let expected = match ref_type.name() {
                        "address" | "resolve" | "reopen" => *target == EntityKind::Tension,
                        "refine" => source == target,
                        _ => true,
                    };
                    assert_eq!(ref_type.check(*source, *target).is_ok(), expected);
                }
            }
        }
    }
}
