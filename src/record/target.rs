//! How a request points at things: `P0001`, `MUFFIN-P0101` or `@muffin`.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use crate::domain::facts::{Facts, Mentions};
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug, LocalId, Malformed};

/// An id as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Target {
    Global(EntityId),
    Local(LocalId),
    /// An expert's position: their latest perspective.
    Position(ExpertSlug),
}

impl Target {
    /// What kind of thing this can only be.
    pub(super) fn kind(&self) -> EntityKind {
        match self {
            Self::Global(id) => id.kind,
            Self::Local(id) => id.kind,
            Self::Position(_) => EntityKind::Perspective,
        }
    }

    pub(super) fn mention(&self, mentions: &mut Mentions) {
        match self {
            Self::Global(id) => drop(mentions.entities.insert(*id)),
            Self::Local(id) => drop(mentions.locals.insert(id.clone())),
            Self::Position(expert) => drop(mentions.positions.insert(expert.clone())),
        }
    }
}

impl FromStr for Target {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        if let Some(expert) = text.strip_prefix('@') {
            return expert.parse().map(Self::Position);
        }
        text.parse().map(Self::Global).or_else(|_| text.parse().map(Self::Local))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global(id) => id.fmt(f),
            Self::Local(id) => id.fmt(f),
            Self::Position(expert) => write!(f, "@{expert}"),
        }
    }
}

/// What a target turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resolution {
    Found(EntityId),
    NotFound,
    /// An item of this batch that has faults of its own; one complaint is enough.
    Faulty,
}

/// Looks targets up: first among the batch's own items, then in the record.
#[derive(Debug)]
pub(super) struct Resolver<'a> {
    pub facts: &'a Facts,
    pub fresh: HashMap<LocalId, EntityId>,
    /// The perspectives of each expert within the batch, in order.
    pub positions: HashMap<ExpertSlug, Vec<EntityId>>,
    /// Local ids of items that could not be read.
    pub faulty: HashSet<String>,
}

impl<'a> Resolver<'a> {
    /// A resolver for requests that bring no items of their own.
    pub(super) fn of_record(facts: &'a Facts) -> Self {
        Self { facts, fresh: HashMap::new(), positions: HashMap::new(), faulty: HashSet::new() }
    }

    pub(super) fn resolve(&self, target: &Target) -> Resolution {
        self.resolve_from(None, target)
    }

    /// What `source` means by the target. Nobody points at the very thing they are
    /// saying, so `@muffin` in muffin's newest perspective is the one before it.
    pub(super) fn resolve_from(&self, source: Option<EntityId>, target: &Target) -> Resolution {
        let found = match target {
            Target::Global(id) => self.facts.entities.contains_key(id).then_some(*id),
            Target::Local(id) => self.fresh.get(id).or_else(|| self.facts.locals.get(id)).copied(),
            Target::Position(expert) => {
                let fresh = self.positions.get(expert).into_iter().flatten().rev().copied();
                let recorded = self.facts.positions.get(expert).copied();
                fresh.chain(recorded).find(|position| Some(*position) != source)
            }
        };
        match found {
            Some(id) => Resolution::Found(id),
            None if self.faulty.contains(&target.to_string()) => Resolution::Faulty,
            None => Resolution::NotFound,
        }
    }
}
