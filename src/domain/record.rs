//! A whole dialogue as it was read from the store: what `show`, `export` and
//! `context` look at.

use std::collections::{BTreeMap, HashMap};

use serde_json::value::RawValue;

use super::dialogue::Dialogue;
use super::entity::Entity;
use super::expert::{PanelSeat, Profile, SeatSource};
use super::ids::{EntityId, EntityKind, ExpertSlug, LocalId};
use super::reference::Move;
use super::time::Moment;
use super::verdict::Verdict;

/// Everything that is known of one dialogue.
#[derive(Debug, Clone)]
pub struct Record {
    pub dialogue: Dialogue,
    pub pool: Option<Pool>,
    pub experts: Vec<Expert>,
    pub panels: BTreeMap<u8, Vec<PanelSeat>>,
    pub rounds: Vec<Round>,
    pub perspectives: Vec<Entity>,
    pub recommendations: Vec<Entity>,
    pub tensions: Vec<Entity>,
    pub evidence: Vec<Entity>,
    pub claims: Vec<Entity>,
    pub moves: Vec<Move>,
    pub verdicts: Vec<GivenVerdict>,
    pub raw_replies: HashMap<(u8, ExpertSlug), String>,
    pub local_ids: Vec<(LocalId, EntityId)>,
    /// Hash of the newest journal entry.
    pub head: String,
}

/// The expert pool as it was given.
#[derive(Debug, Clone)]
pub struct Pool {
    pub domain: Option<String>,
    pub experts: Box<RawValue>,
}

/// An expert with what they earned.
#[derive(Debug, Clone)]
pub struct Expert {
    pub profile: Profile,
    pub scores: BTreeMap<u8, i64>,
    pub total: i64,
}

/// A registered round.
#[derive(Debug, Clone)]
pub struct Round {
    pub round: u8,
    pub title: Option<String>,
    pub score: i64,
    pub summary: Option<String>,
    pub created_at: Moment,
}

#[derive(Debug, Clone)]
pub struct GivenVerdict {
    pub verdict: Verdict,
    pub created_at: Moment,
}

impl Record {
    pub fn entities(&self, kind: EntityKind) -> &[Entity] {
        match kind {
            EntityKind::Perspective => &self.perspectives,
            EntityKind::Recommendation => &self.recommendations,
            EntityKind::Tension => &self.tensions,
            EntityKind::Evidence => &self.evidence,
            EntityKind::Claim => &self.claims,
        }
    }

    pub fn all_entities(&self) -> impl Iterator<Item = &Entity> {
        EntityKind::ALL.iter().flat_map(|kind| self.entities(*kind))
    }

    /// Entities are kept in the order of their ids, so one is found by halving.
    pub fn entity(&self, id: EntityId) -> Option<&Entity> {
        let entities = self.entities(id.kind);
        let place = entities.binary_search_by_key(&id, |entity| entity.id).ok()?;
        entities.get(place)
    }

    pub fn expert(&self, slug: &ExpertSlug) -> Option<&Expert> {
        self.experts.iter().find(|expert| expert.profile.expert_slug == *slug)
    }

    /// Who sits on a round's panel. Without a recorded panel it is the last one,
    /// retained; before any was recorded, everyone.
    pub fn panel(&self, round: u8) -> Vec<PanelSeat> {
        if let Some(seats) = self.panels.get(&round) {
            return seats.clone();
        }
        let retained = |seat: &PanelSeat| PanelSeat {
            source: SeatSource::Retained,
            round_context: None,
            ..seat.clone()
        };
        let everyone = |expert: &Expert| PanelSeat {
            expert_slug: expert.profile.expert_slug.clone(),
            source: expert.profile.source.into(),
            round_context: None,
            mandate: expert.profile.mandate.clone(),
        };
        match self.panels.range(..round).next_back() {
            Some((_, seats)) => seats.iter().map(retained).collect(),
            None => self.experts.iter().map(everyone).collect(),
        }
    }
}
