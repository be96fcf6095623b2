//! Lookups that a decision needs from the record.
//!
//! A parsed request yields a [`LookupRequest`]; the store answers it with a [`RecordLookup`]; then
//! the rules decide from that alone. So the cost of a round does not grow with the length of the
//! dialogue.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::expert::{ExpertProfile, PanelSeat};
use super::ids::{EntityId, ExpertSlug, VerdictId};
use super::lifecycle::EntityStatus;
use super::reference::ReferenceLink;
use super::target::EntityTarget;

/// The ids that a request mentions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookupRequest {
    pub targets: BTreeSet<EntityTarget>,
    /// Targets of a concession. The store also looks up the perspectives that oppose them.
    pub conceded: BTreeSet<EntityTarget>,
    pub verdict: Option<VerdictId>,
}

/// Current status and contributors of a known entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityState {
    pub status: EntityStatus,
    pub contributors: Vec<ExpertSlug>,
}

/// The store's answer to a [`LookupRequest`].
#[derive(Debug, Clone, Default)]
pub struct RecordLookup {
    /// All experts of the dialogue, in the order they joined.
    pub experts: Vec<ExpertProfile>,
    /// Experts who have not taken part yet.
    pub newcomers: BTreeSet<ExpertSlug>,
    /// The panel recorded for the next round; empty if there is none.
    pub recorded_panel: Vec<PanelSeat>,
    /// The panel of the newest registered round.
    pub last_panel: Vec<PanelSeat>,
    /// Experts who signalled convergence in that round.
    pub signals: BTreeSet<ExpertSlug>,
    /// Number of perspectives of that round.
    pub new_perspectives: usize,
    /// Ids of the mentioned targets that exist in the record.
    pub found: HashMap<EntityTarget, EntityId>,
    /// State of those entities, and of others found on the way.
    pub entities: HashMap<EntityId, EntityState>,
    /// For each conceded item, the perspectives that oppose it.
    pub opponents: HashMap<EntityId, Vec<EntityId>>,
    /// References that the mentioned entities already have.
    pub references: HashSet<ReferenceLink>,
    /// Tensions that are open, addressed or reopened.
    pub active_tensions: Vec<EntityId>,
    /// Scores of the newest rounds, oldest first, at most [`RECENT_SCORES_MAX`].
    pub recent_scores: Vec<i64>,
    /// True if the mentioned verdict exists.
    pub has_verdict: bool,
}

impl RecordLookup {
    pub fn find_expert(&self, name: &str) -> Option<&ExpertProfile> {
        self.experts.iter().find(|expert| expert.expert_slug.as_str() == name)
    }
}

/// Three scores give two velocities, the minimum that shows a trend.
pub const RECENT_SCORES_MAX: usize = 3;
