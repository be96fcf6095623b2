//! What a decision needs to know of the record, and how it asks.
//!
//! A request is read first and says what it [`Mentions`]; the store looks up
//! just that; then the rules decide on [`Facts`] alone. So a round costs the
//! same whether it is the first or the ninetieth.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::ids::{EntityId, ExpertSlug, LocalId};
use super::lifecycle::Status;
use super::reference::RefType;

/// The ids a request names, and what else it needs to know about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    pub entities: BTreeSet<EntityId>,
    pub locals: BTreeSet<LocalId>,
    /// Experts meant by their latest perspective (`@muffin`).
    pub positions: BTreeSet<ExpertSlug>,
    /// Items someone concedes to: whose perspectives oppose them?
    pub conceded: BTreeSet<EntityId>,
    /// Local spellings of the same; the store resolves them first.
    pub conceded_locals: BTreeSet<LocalId>,
}

/// Where a known entity stands, and who stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub status: Status,
    pub contributors: Vec<ExpertSlug>,
}

/// The answer to [`Mentions`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Every expert of the dialogue, with the round they first took part in.
    pub experts: BTreeMap<ExpertSlug, Option<u8>>,
    /// Who sat on the panel of the newest registered round.
    pub last_panel: Vec<ExpertSlug>,
    /// Those mentioned that exist, and those found on the way.
    pub entities: HashMap<EntityId, Standing>,
    pub locals: HashMap<LocalId, EntityId>,
    pub positions: HashMap<ExpertSlug, EntityId>,
    /// For each conceded item, the perspectives that oppose it.
    pub opponents: HashMap<EntityId, Vec<EntityId>>,
    /// References that the mentioned entities have already made.
    pub references: HashSet<(EntityId, RefType, EntityId)>,
    /// Tensions that are open, addressed or reopened.
    pub active_tensions: Vec<EntityId>,
    /// Experts that signalled convergence in the newest registered round.
    pub converged: BTreeSet<ExpertSlug>,
    /// Scores of the newest rounds, oldest first; at most [`RECENT_SCORES_MAX`].
    pub recent_scores: Vec<i64>,
}

/// Two velocities need three scores.
pub const RECENT_SCORES_MAX: usize = 3;
