//! What the built-in Judge's protocol knows of the record, folded from the journal.
//!
//! A protocol decides from the run state alone. [`AlignmentState`] keeps what decisions need:
//! experts, panels, rounds, statuses, signals, scores and verdicts. Texts of entities stay in the
//! record.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::ethos::rule_set::CalibrationRecord;
use crate::model::dialogue::{ExpertProfile, ExpertSource, PanelSeat};
use crate::model::entity::{EntityEvent, EventOrigin, ExpertMove, MoveType};
use crate::model::ids::{EntityId, EntityKind, EventActor, ExpertSlug, LocalId};
use crate::model::journal::{JournalEvent, NewEntity, NewEntityEvent};
use crate::model::lifecycle::{
    ACTIVE_TENSION_STATUSES, EntityEventType, EntityStatus, initial_status,
};
use crate::model::record::{DialogueRecord, RecordedVerdict, RoundRecord};
use crate::model::time::Moment;
use crate::model::verdict::{Verdict, VerdictType};
use crate::protocols::alignment::types::ScoreComponents;

/// How the context of a CONVERGE move begins that does not count.
pub const UNCITED_PREFIX: &str = "uncited: ";

/// How the Judge's comment on a tension begins that accepts it.
pub const ACCEPTED_PREFIX: &str = "accepted: ";

/// The record so far.
#[derive(Debug, Clone, Default)]
pub struct AlignmentState {
    pub is_designed: bool,
    pub domain: Option<String>,
    pub background: Option<Value>,
    pub experts: Vec<ExpertProfile>,
    pub panels: BTreeMap<u8, Vec<PanelSeat>>,
    pub rounds: Vec<RoundRecord>,
    pub scores: BTreeMap<(u8, ExpertSlug), (i64, Option<ScoreComponents>)>,
    pub labels: BTreeMap<EntityId, String>,
    pub statuses: BTreeMap<EntityId, EntityStatus>,
    pub local_ids: BTreeMap<LocalId, EntityId>,
    pub tensions: BTreeMap<EntityId, TensionState>,
    /// Experts who signalled convergence in a round, and whether the signal counts.
    pub signals: BTreeMap<u8, BTreeMap<ExpertSlug, ConvergeSignal>>,
    /// Number of changes of status in each round.
    pub status_changes: BTreeMap<u8, usize>,
    /// Why the record refused what followed from a reply, by ask.
    pub refusals: BTreeMap<u32, String>,
    pub verdicts: Vec<RecordedVerdict>,
    /// Number of perspectives of each round.
    pub new_perspectives: BTreeMap<u8, usize>,
    /// Experts who contributed an entity or made a move.
    pub contributors: BTreeSet<ExpertSlug>,
    /// Constraints, ethos and challenges of a calibrated dialogue.
    pub calibration: CalibrationRecord,
    /// What the parser and the record noted about the replies of a round.
    pub warnings: BTreeMap<u8, Vec<String>>,
    /// The share of the panel that must converge.
    pub convergence_percent: u8,
}

/// Whether a signal counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvergeSignal {
    Counted,
    /// The expert did not say what became of a tension of their own.
    Uncited,
}

/// A tension and what became of it.
#[derive(Debug, Clone, Default)]
pub struct TensionState {
    pub raised_by: Vec<ExpertSlug>,
    /// Items that address or resolve it.
    pub settled_by: BTreeSet<EntityId>,
    /// Why the Judge accepted it.
    pub accepted: Option<String>,
    /// The round in which the Judge accepted it.
    pub accepted_in: Option<u8>,
    /// The statuses that it reached, oldest first.
    pub history: Vec<TensionStep>,
    /// The last round in which anything happened to it.
    pub last_event_round: u8,
}

/// A status that a tension reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensionStep {
    pub round: u8,
    pub status: EntityStatus,
    /// The item that led to it.
    pub via: Option<EntityId>,
}

impl TensionState {
    /// The step that gave the tension its status at the end of a round.
    pub fn last_step(&self, round: u8) -> Option<&TensionStep> {
        self.history.iter().rev().find(|step| step.round <= round)
    }
}

impl AlignmentState {
    pub(crate) fn apply_event(&mut self, at: Moment, change: &JournalEvent) {
        #[expect(clippy::wildcard_enum_match_arm, reason = "other events change nothing here")]
        match change {
            JournalEvent::PoolGiven { domain, .. } => {
                self.is_designed = true;
                self.domain.clone_from(domain);
            }
            JournalEvent::BackgroundGiven { background } => {
                self.background = Some(background.clone());
            }
            JournalEvent::ExpertAdded(profile) => self.experts.push(profile.clone()),
            JournalEvent::PanelSet { round, seats } => {
                self.panels.insert(*round, seats.clone());
            }
            JournalEvent::RoundRecorded { round, title, score, summary } => {
                self.rounds.push(RoundRecord {
                    round: *round,
                    title: title.clone(),
                    score: *score,
                    summary: summary.clone(),
                    created_at: at,
                });
            }
            JournalEvent::ScoreGiven { round, expert, score, components } => {
                let given = (*score, components.clone());
                self.scores.insert((*round, expert.clone()), given);
            }
            JournalEvent::EntityAdded(entity) => self.add_entity(entity),
            JournalEvent::EventAdded(event) => self.add_event(event),
            JournalEvent::MoveMade(made) => self.add_move(made),
            JournalEvent::BatchAnswered { round, answer, .. } => {
                let noted = answer.get("warnings").and_then(Value::as_array);
                let noted = noted.into_iter().flatten().filter(|one| !is_step_of_tension(one));
                let texts = noted.filter_map(|one| one.get("message")?.as_str().map(str::to_owned));
                self.warnings.insert(*round, texts.collect());
            }
            JournalEvent::VerdictGiven(verdict) => {
                self.verdicts.push(RecordedVerdict { verdict: verdict.clone(), created_at: at });
            }
            JournalEvent::BatchRefused { ask, reason } => {
                self.refusals.insert(*ask, reason.clone());
            }
            JournalEvent::ConstraintAdded(constraint) => {
                self.calibration.constraints.push(constraint.clone());
            }
            JournalEvent::EthosSaved(ethos) => self.calibration.save_version(ethos),
            JournalEvent::RuleChallenged(challenge) => {
                self.calibration.challenges.push(challenge.clone());
            }
            _ => {}
        }
    }

    /// The same from a loaded record, for pages and exports.
    pub fn from_record(record: &DialogueRecord) -> Self {
        let mut state = Self {
            is_designed: record.pool.is_some(),
            convergence_percent: record.dialogue.opening.convergence_percent,
            experts: record.experts.iter().map(|expert| expert.profile.clone()).collect(),
            // The next panel may be recorded before its round.
            panels: record
                .rounds
                .iter()
                .map(|held| held.round)
                .chain(record.panels.keys().copied())
                .map(|round| (round, record.panel_of(round)))
                .collect(),
            rounds: record.rounds.clone(),
            verdicts: record.verdicts.clone(),
            calibration: record.calibration.clone().unwrap_or_default(),
            ..Self::default()
        };
        for expert in &record.experts {
            for (round, score) in &expert.scores {
                let components = expert.components.get(round).cloned();
                let slug = expert.profile.expert_slug.clone();
                state.scores.insert((*round, slug), (*score, components));
            }
        }
        for entity in record.all_entities() {
            for slug in &entity.contributors {
                if !state.contributors.contains(slug) {
                    state.contributors.insert(slug.clone());
                }
            }
        }
        for held in &record.rounds {
            let new = record.entities_of_round(EntityKind::Perspective, held.round).len();
            state.new_perspectives.insert(held.round, new);
        }
        // Only tensions have a history that a scoreboard shows.
        for entity in &record.tensions {
            state.note_entity(entity.id, &entity.label, &entity.contributors);
            for event in &entity.events {
                state.add_event(&NewEntityEvent {
                    entity: entity.id,
                    event_type: event.event_type,
                    round: event.round,
                    actors: event.actors.clone(),
                    result: event.result,
                    reference: event.reference.clone(),
                    reason: event.reason.clone(),
                });
            }
        }
        for made in &record.moves {
            state.add_move(made);
        }
        state
    }

    fn add_entity(&mut self, entity: &NewEntity) {
        self.local_ids.insert(entity.local_id.clone(), entity.id);
        self.note_entity(entity.id, &entity.label, &entity.contributors);
    }

    fn note_entity(&mut self, id: EntityId, label: &str, contributors: &[ExpertSlug]) {
        self.labels.insert(id, label.to_owned());
        self.statuses.insert(id, initial_status(id.kind));
        self.contributors.extend(contributors.iter().cloned());
        if id.kind == EntityKind::Perspective {
            *self.new_perspectives.entry(id.round).or_default() += 1;
        }
        if id.kind == EntityKind::Tension {
            let tension = TensionState {
                raised_by: contributors.to_vec(),
                last_event_round: id.round,
                history: vec![TensionStep {
                    round: id.round,
                    status: EntityStatus::Open,
                    via: None,
                }],
                ..TensionState::default()
            };
            self.tensions.insert(id, tension);
        }
    }

    fn add_event(&mut self, event: &NewEntityEvent) {
        if let EntityEventType::Reached(status) = event.event_type
            && self.statuses.insert(event.entity, status) != Some(status)
        {
            *self.status_changes.entry(event.round).or_default() += 1;
        }
        let Some(tension) = self.tensions.get_mut(&event.entity) else { return };
        tension.last_event_round = tension.last_event_round.max(event.round);
        let via = match &event.reference {
            Some(EventOrigin::Entity(id)) => Some(*id),
            Some(EventOrigin::Verdict(_)) | None => None,
        };
        tension.settled_by.extend(via);
        if let EntityEventType::Reached(status) = event.event_type {
            tension.history.push(TensionStep { round: event.round, status, via });
        }
        match event.event_type {
            EntityEventType::Reached(EntityStatus::Reopened) => {
                (tension.accepted, tension.accepted_in) = (None, None);
            }
            EntityEventType::Commented if event.actors == [EventActor::Judge] => {
                let reason = event.reason.as_deref();
                if let Some(reason) = reason.and_then(|text| text.strip_prefix(ACCEPTED_PREFIX)) {
                    tension.accepted = Some(reason.to_owned());
                    tension.accepted_in = Some(event.round);
                }
            }
            EntityEventType::Created | EntityEventType::Commented | EntityEventType::Reached(_) => {
            }
        }
    }

    fn add_move(&mut self, made: &ExpertMove) {
        self.contributors.insert(made.expert.clone());
        if made.move_type != MoveType::Converge {
            return;
        }
        let signals = self.signals.entry(made.round).or_default();
        let known = signals.entry(made.expert.clone()).or_insert(ConvergeSignal::Counted);
        if is_uncited(made) {
            *known = ConvergeSignal::Uncited;
        }
    }

    /// The number of the next round.
    pub fn next_round(&self) -> u8 {
        u8::try_from(self.rounds.len()).unwrap_or(u8::MAX)
    }

    pub fn last_round(&self) -> Option<u8> {
        self.rounds.last().map(|held| held.round)
    }

    /// The number of experts in the pool.
    pub fn pool_size(&self) -> usize {
        self.experts.iter().filter(|profile| profile.source == ExpertSource::Pool).count()
    }

    /// Why the record of a round has less than its replies say.
    pub fn warnings_of(&self, round: u8) -> &[String] {
        self.warnings.get(&round).map_or(&[], Vec::as_slice)
    }

    /// The experts on the panel of a round.
    pub fn panel_of(&self, round: u8) -> &[PanelSeat] {
        self.panels.get(&round).map_or(&[], Vec::as_slice)
    }

    pub fn find_expert(&self, slug: &ExpertSlug) -> Option<&ExpertProfile> {
        self.experts.iter().find(|profile| profile.expert_slug == *slug)
    }

    /// Tensions that are neither resolved nor accepted, oldest first.
    pub fn unsettled_tensions(&self) -> impl Iterator<Item = (EntityId, &TensionState)> {
        self.active_tensions().filter(|(_, tension)| tension.accepted.is_none())
    }

    /// Tensions that are open, addressed or reopened, oldest first.
    pub fn active_tensions(&self) -> impl Iterator<Item = (EntityId, &TensionState)> {
        let is_active = |id: &EntityId| {
            self.statuses.get(id).is_some_and(|status| ACTIVE_TENSION_STATUSES.contains(status))
        };
        self.tensions
            .iter()
            .filter(move |(id, _)| is_active(id))
            .map(|(id, outcome)| (*id, outcome))
    }

    /// Experts of a round's panel whose signal counts.
    pub fn converged_in(&self, round: u8) -> BTreeSet<&ExpertSlug> {
        let signals = self.signals.get(&round).into_iter().flatten();
        let seated =
            |slug: &ExpertSlug| self.panel_of(round).iter().any(|s| s.expert_slug == *slug);
        signals
            .filter(|(slug, signal)| **signal == ConvergeSignal::Counted && seated(slug))
            .map(|(slug, _)| slug)
            .collect()
    }

    /// The sum of an expert's scores so far.
    pub fn total_of(&self, slug: &ExpertSlug) -> i64 {
        let own = self.scores.iter().filter(|((_, expert), _)| expert == slug);
        own.map(|(_, (score, _))| score).sum()
    }

    pub fn final_verdict(&self) -> Option<&Verdict> {
        let mut verdicts = self.verdicts.iter().map(|given| &given.verdict);
        verdicts.find(|verdict| verdict.verdict_type == VerdictType::Final)
    }
}

/// Whether a warning says that a reference moves no tension: the built-in Judge moves them.
fn is_step_of_tension(warning: &Value) -> bool {
    let text = |key: &str| warning.get(key).and_then(Value::as_str).unwrap_or_default();
    text("type") == "no_effect" && text("target_id").starts_with('T')
}

/// Why the Judge accepted a tension, if it did so since it was last reopened.
pub fn acceptance_of(events: &[EntityEvent]) -> Option<&str> {
    let mut reason = None;
    for event in events {
        match event.event_type {
            EntityEventType::Reached(EntityStatus::Reopened) => reason = None,
            EntityEventType::Commented if event.actors == [EventActor::Judge] => {
                let text = event.reason.as_deref();
                reason = text.and_then(|text| text.strip_prefix(ACCEPTED_PREFIX)).or(reason);
            }
            EntityEventType::Created | EntityEventType::Commented | EntityEventType::Reached(_) => {
            }
        }
    }
    reason
}

/// Whether a CONVERGE move does not count.
pub fn is_uncited(made: &ExpertMove) -> bool {
    made.context.as_deref().is_some_and(|context| context.starts_with(UNCITED_PREFIX))
}
