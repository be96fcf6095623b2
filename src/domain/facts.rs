//! What a decision needs to know of the record, and how it asks.
//!
//! A request is read first and says what it [`Mentions`]; the store looks up
//! just that; then the rules decide on [`Facts`] alone. So a round costs the
//! same whether it is the first or the ninetieth.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::expert::{PanelSeat, Profile};
use super::ids::{EntityId, ExpertSlug, VerdictId};
use super::lifecycle::Status;
use super::reference::Link;
use super::target::Target;

/// What a request names, and so needs to know about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    pub targets: BTreeSet<Target>,
    /// Those that someone concedes to: whose perspectives oppose them?
    pub conceded: BTreeSet<Target>,
    pub verdict: Option<VerdictId>,
}

/// Where a known entity stands, and who stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub status: Status,
    pub contributors: Vec<ExpertSlug>,
}

/// The answer to [`Mentions`].
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Every expert of the dialogue, in the order they came.
    pub experts: Vec<Profile>,
    /// Those of them who have not taken part yet.
    pub newcomers: BTreeSet<ExpertSlug>,
    /// The panel recorded for the next round; empty, when there is none.
    pub recorded_panel: Vec<PanelSeat>,
    /// Who sat on the panel of the newest registered round.
    pub last_panel: Vec<PanelSeat>,
    /// Who of all experts signalled convergence in that round.
    pub signals: BTreeSet<ExpertSlug>,
    /// Perspectives of that round.
    pub new_perspectives: usize,
    /// What the mentioned targets are in the record, as far as they are there.
    pub found: HashMap<Target, EntityId>,
    /// Where those stand, and what else was found on the way.
    pub entities: HashMap<EntityId, Standing>,
    /// For each conceded item, the perspectives that oppose it.
    pub opponents: HashMap<EntityId, Vec<EntityId>>,
    /// References that the mentioned entities have already made.
    pub references: HashSet<Link>,
    /// Tensions that are open, addressed or reopened.
    pub active_tensions: Vec<EntityId>,
    /// Scores of the newest rounds, oldest first; at most [`RECENT_SCORES_MAX`].
    pub recent_scores: Vec<i64>,
    /// Whether the mentioned verdict was given already.
    pub has_verdict: bool,
}

impl Facts {
    pub fn expert(&self, name: &str) -> Option<&Profile> {
        self.experts.iter().find(|expert| expert.expert_slug.as_str() == name)
    }
}

/// Three scores make two velocities, the least that shows a trend.
pub const RECENT_SCORES_MAX: usize = 3;
