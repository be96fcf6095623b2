//! A whole dialogue as loaded from the store, for `show`, `export` and `context`; lookups of single
//! facts for the rules; and a visitor for records too long for memory.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::ethos::rule_set::{CalibrationRecord, DialogueEthos};
use crate::model::dialogue::{Dialogue, DialogueStatus, ExpertProfile, PanelSeat, inherit_panel};
use crate::model::entity::{Entity, ExpertMove, ReferenceLink};
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, LocalId, VerdictId};
use crate::model::lifecycle::EntityStatus;
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::protocols::alignment::types::ScoreComponents;
use crate::protocols::conclusion::types::RecordedConclusion;

/// Everything the store knows of one dialogue.
#[derive(Debug, Clone)]
pub struct DialogueRecord {
    pub dialogue: Dialogue,
    pub pool: Option<ExpertPool>,
    pub experts: Vec<Expert>,
    pub panels: BTreeMap<u8, Vec<PanelSeat>>,
    pub rounds: Vec<RoundRecord>,
    pub perspectives: Vec<Entity>,
    pub recommendations: Vec<Entity>,
    pub tensions: Vec<Entity>,
    pub evidence: Vec<Entity>,
    pub claims: Vec<Entity>,
    pub moves: Vec<ExpertMove>,
    pub verdicts: Vec<RecordedVerdict>,
    /// The conclusion, once it exists.
    pub conclusion: Option<RecordedConclusion>,
    pub local_ids: Vec<(LocalId, EntityId)>,
    /// Only of a calibrated dialogue.
    pub calibration: Option<CalibrationRecord>,
    /// Hash of the newest journal entry.
    pub head: String,
}

/// The expert pool as the caller gave it.
#[derive(Debug, Clone)]
pub struct ExpertPool {
    pub domain: Option<String>,
    pub experts: Value,
    /// Why the first panel has its size.
    pub panel_reason: Option<String>,
}

/// An expert with their scores and replies.
#[derive(Debug, Clone)]
pub struct Expert {
    pub profile: ExpertProfile,
    /// Scores from the Judge, by round.
    pub scores: BTreeMap<u8, i64>,
    /// What those scores are made of, where the Judge said so.
    pub components: BTreeMap<u8, ScoreComponents>,
    /// Raw replies by round, as far as they were kept.
    pub replies: BTreeMap<u8, String>,
    pub total: i64,
}

/// A registered round.
#[derive(Debug, Clone)]
pub struct RoundRecord {
    pub round: u8,
    pub title: Option<String>,
    pub score: i64,
    pub summary: Option<String>,
    pub created_at: Moment,
}

/// Difference between the last two scores.
pub fn score_velocity(scores: impl DoubleEndedIterator<Item = i64>) -> i64 {
    let mut newest = scores.rev();
    newest.next().zip(newest.next()).map_or(0, |(last, before)| last - before)
}

#[derive(Debug, Clone)]
pub struct RecordedVerdict {
    pub verdict: Verdict,
    pub created_at: Moment,
}

impl DialogueRecord {
    pub fn entities_of_kind(&self, kind: EntityKind) -> &[Entity] {
        match kind {
            EntityKind::Perspective => &self.perspectives,
            EntityKind::Recommendation => &self.recommendations,
            EntityKind::Tension => &self.tensions,
            EntityKind::Evidence => &self.evidence,
            EntityKind::Claim => &self.claims,
        }
    }

    pub fn all_entities(&self) -> impl Iterator<Item = &Entity> {
        EntityKind::ALL.iter().flat_map(|kind| self.entities_of_kind(*kind))
    }

    /// Entities of one round. Entities are sorted by id, so those of a round are adjacent.
    pub fn entities_of_round(&self, kind: EntityKind, round: u8) -> &[Entity] {
        let entities = self.entities_of_kind(kind);
        let start = entities.partition_point(|entity| entity.id.round < round);
        let end = entities.partition_point(|entity| entity.id.round <= round);
        entities.get(start..end).unwrap_or_default()
    }

    /// Finds an entity by binary search; entities are sorted by id.
    pub fn find_entity(&self, id: EntityId) -> Option<&Entity> {
        let entities = self.entities_of_kind(id.kind);
        let place = entities.binary_search_by_key(&id, |entity| entity.id).ok()?;
        entities.get(place)
    }

    /// The ethos that binds the dialogue.
    pub fn approved_ethos(&self) -> Option<&DialogueEthos> {
        self.calibration.as_ref()?.approved_ethos()
    }

    pub fn find_expert(&self, slug: &ExpertSlug) -> Option<&Expert> {
        self.experts.iter().find(|expert| expert.profile.expert_slug == *slug)
    }

    /// Panel of a round: the recorded one, or else the inherited one.
    pub fn panel_of(&self, round: u8) -> Vec<PanelSeat> {
        if let Some(seats) = self.panels.get(&round) {
            return seats.clone();
        }
        let last = self.panels.range(..round).next_back().map_or(&[][..], |(_, seats)| seats);
        let profiles: Vec<ExpertProfile> =
            self.experts.iter().map(|expert| expert.profile.clone()).collect();
        inherit_panel(last, &profiles, round)
    }

    /// The expert whose seat on the newest panel owns a tension.
    pub fn owner_of(&self, tension: EntityId) -> Option<&ExpertSlug> {
        let seats = self.panels.values().next_back()?;
        let owns = |seat: &&PanelSeat| seat.tensions.contains(&tension);
        seats.iter().find(owns).map(|seat| &seat.expert_slug)
    }

    /// The record as the panel of `round` saw it, without that round and later ones.
    #[must_use]
    pub fn rewound_to(mut self, round: u8) -> Self {
        let entities = [
            &mut self.perspectives,
            &mut self.recommendations,
            &mut self.tensions,
            &mut self.evidence,
            &mut self.claims,
        ];
        for list in entities {
            list.retain(|entity| entity.id.round < round);
            list.iter_mut().for_each(|entity| entity.rewind_to(round));
        }
        for expert in &mut self.experts {
            expert.scores.retain(|held, _| *held < round);
            expert.components.retain(|held, _| *held < round);
            expert.replies.retain(|held, _| *held < round);
            expert.total = expert.scores.values().sum();
        }
        self.rounds.retain(|held| held.round < round);
        self.panels.retain(|held, _| *held <= round);
        self.moves.retain(|made| made.round < round);
        self.verdicts.retain(|given| given.verdict.round < round);
        self.conclusion = None;
        self.local_ids.retain(|(_, id)| id.round < round);
        if let Some(calibration) = &mut self.calibration {
            calibration.challenges.retain(|challenge| challenge.tension.round < round);
        }
        self.dialogue.total_alignment = self.rounds.iter().map(|held| held.score).sum();
        self.dialogue.status = DialogueStatus::Open;
        self
    }
}

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
    /// Only of a calibrated dialogue.
    pub calibration: Option<CalibrationRecord>,
}

impl RecordLookup {
    pub fn find_expert(&self, name: &str) -> Option<&ExpertProfile> {
        self.experts.iter().find(|expert| expert.expert_slug.as_str() == name)
    }
}

/// Three scores give two velocities, the minimum that shows a trend.
pub const RECENT_SCORES_MAX: usize = 3;

/// The visited kinds. Tensions are few and needed later, so the record contains them.
pub const VISITED_KINDS: [EntityKind; 4] =
    [EntityKind::Perspective, EntityKind::Recommendation, EntityKind::Evidence, EntityKind::Claim];

/// An entity as its table row shows it. Fields that are only passed on stay valid JSON text.
#[derive(Debug, Clone)]
pub struct EntityView<'a> {
    pub id: EntityId,
    pub label: &'a str,
    pub text: &'a str,
    pub status: EntityStatus,
    pub contributors: Vec<&'a str>,
    pub references: Option<&'a str>,
    pub parameters: Option<&'a str>,
}

/// Called for each entity, round by round, with the record it belongs to.
pub type EntityVisitor<'a> =
    dyn FnMut(&DialogueRecord, &EntityView<'_>) -> Result<(), serde_json::Error> + 'a;

/// Visits the entities of a record in memory.
pub fn visit_entities(
    record: &DialogueRecord,
    viewer: &mut EntityVisitor<'_>,
) -> Result<(), serde_json::Error> {
    for held in &record.rounds {
        for entity in
            VISITED_KINDS.iter().flat_map(|kind| record.entities_of_round(*kind, held.round))
        {
            visit_entity(record, entity, viewer)?;
        }
    }
    Ok(())
}

fn visit_entity(
    record: &DialogueRecord,
    entity: &Entity,
    viewer: &mut EntityVisitor<'_>,
) -> Result<(), serde_json::Error> {
    let references = serde_json::to_string(&entity.references)?;
    let parameters = entity.parameters.as_ref().map(serde_json::to_string).transpose()?;
    let shown = EntityView {
        id: entity.id,
        label: &entity.label,
        text: &entity.text,
        status: entity.status,
        contributors: entity.contributors.iter().map(ExpertSlug::as_str).collect(),
        references: Some(&references),
        parameters: parameters.as_deref(),
    };
    viewer(record, &shown)
}
