//! The actions of each expert in each round, derived from the events of the entities.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::dialogue::diagnostics::RequestWarning;
use crate::model::dialogue::DialogueStatus;
use crate::model::entity::{Entity, EntityEvent, EntityReference, EventOrigin, ReferenceType};
use crate::model::ids::{EntityId, EntityKind, EventActor, ExpertSlug};
use crate::model::lifecycle::ACTIVE_TENSION_STATUSES;
use crate::model::record::{DialogueRecord, Expert};
use crate::model::verdict::VerdictType;

/// One action of an expert, as the seed's export shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ExpertAction<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    action: &'static str,
    id: EntityId,
    #[serde(skip_serializing_if = "Option::is_none")]
    refines: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amends: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'a EventOrigin>,
}

pub(crate) type ActionsByExpert<'a> = HashMap<(u8, &'a ExpertSlug), Vec<ExpertAction<'a>>>;

pub(crate) fn expert_actions(record: &DialogueRecord) -> ActionsByExpert<'_> {
    let mut actions: ActionsByExpert<'_> = HashMap::new();
    for entity in record.all_entities() {
        let mut events = entity.events.iter();
        let first = events.next().map(|event| (event, created_action(entity)));
        let later = events.filter(|event| !is_refinement_event(record, entity, event));
        let later = later.map(|event| (event, event_action(entity, event)));
        for (event, action) in first.into_iter().chain(later) {
            for actor in &event.actors {
                if let EventActor::Expert(expert) = actor {
                    actions.entry((event.round, expert)).or_default().push(action.clone());
                }
            }
        }
    }
    actions
}

/// A refinement is listed once, with the new entity; the event of the old one would repeat it.
fn is_refinement_event(record: &DialogueRecord, entity: &Entity, event: &EntityEvent) -> bool {
    let result = event.result.and_then(|result| record.find_entity(result));
    result.is_some_and(|result| refined_on_creation(result) == Some(entity.id))
}

/// The entity that this one refined when it was created. References to later rounds came later.
fn refined_on_creation(entity: &Entity) -> Option<EntityId> {
    let refines = |made: &&EntityReference| {
        made.ref_type == ReferenceType::Refine && made.target.round <= entity.id.round
    };
    entity.references.iter().find(refines).map(|made| made.target)
}

fn created_action<'a>(entity: &Entity) -> ExpertAction<'a> {
    let refined = refined_on_creation(entity);
    let is_recommendation = entity.id.kind == EntityKind::Recommendation;
    let action = match refined {
        Some(_) if is_recommendation => "amended",
        Some(_) => "refined",
        None => "created",
    };
    ExpertAction {
        kind: entity.id.kind.type_name(),
        action,
        id: entity.id,
        refines: refined.filter(|_| !is_recommendation),
        amends: refined.filter(|_| is_recommendation),
        via: None,
    }
}

fn event_action<'a>(entity: &Entity, event: &'a EntityEvent) -> ExpertAction<'a> {
    ExpertAction {
        kind: entity.id.kind.type_name(),
        action: event.event_type.name(),
        id: entity.id,
        refines: None,
        amends: None,
        via: event.reference.as_ref(),
    }
}

#[derive(Debug)]
pub(crate) struct RoundContributions<'a>(BTreeMap<(u8, Option<ExpertSlug>), Vec<&'a Entity>>);

impl<'a> RoundContributions<'a> {
    pub(crate) fn from_record(record: &'a DialogueRecord) -> Self {
        let mut brought: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for entity in record.all_entities() {
            let first = entity.contributors.first();
            let seated = first.filter(|slug| record.find_expert(slug).is_some()).cloned();
            brought.entry((entity.id.round, seated)).or_default().push(entity);
        }
        Self(brought)
    }

    pub(crate) fn by_expert(&self, round: u8, expert: &ExpertSlug) -> &[&'a Entity] {
        self.0.get(&(round, Some(expert.clone()))).map_or(&[], Vec::as_slice)
    }

    /// Entities whose first contributor is not an expert of the dialogue.
    pub(crate) fn without_expert(&self, round: u8) -> &[&'a Entity] {
        self.0.get(&(round, None)).map_or(&[], Vec::as_slice)
    }

    /// `Muffin +12`: experts with a score in a round but without listed contributions.
    pub(crate) fn only_scored(&self, record: &DialogueRecord, round: u8) -> Vec<String> {
        let scored = |expert: &Expert| {
            let slug = &expert.profile.expert_slug;
            let score = expert.scores.get(&round)?;
            let listed =
                expert.replies.contains_key(&round) || !self.by_expert(round, slug).is_empty();
            (!listed).then(|| format!("{} {score:+}", slug.display_name()))
        };
        record.experts.iter().filter_map(scored).collect()
    }
}

/// For each tension, the perspectives that refer to it or that it refers to.
pub(crate) fn related_perspectives(
    record: &DialogueRecord,
) -> BTreeMap<EntityId, BTreeSet<EntityId>> {
    let mut related: BTreeMap<EntityId, BTreeSet<EntityId>> = BTreeMap::new();
    for perspective in &record.perspectives {
        for target in
            reference_targets(perspective, &[]).filter(|id| id.kind == EntityKind::Tension)
        {
            related.entry(target).or_default().insert(perspective.id);
        }
    }
    for tension in &record.tensions {
        let own = reference_targets(tension, &[]).filter(|id| id.kind == EntityKind::Perspective);
        related.entry(tension.id).or_default().extend(own);
    }
    related
}

/// Targets of references of these types, in order, without duplicates; no types means all.
pub(crate) fn reference_targets<'a>(
    entity: &'a Entity,
    ref_types: &'a [ReferenceType],
) -> impl Iterator<Item = EntityId> + 'a {
    let mut seen = BTreeSet::new();
    entity
        .references
        .iter()
        .filter(|made| ref_types.is_empty() || ref_types.contains(&made.ref_type))
        .map(|made| made.target)
        .filter(move |target| seen.insert(*target))
}

pub fn record_warnings(record: &DialogueRecord) -> Vec<RequestWarning> {
    let mut warnings = Vec::new();
    // Only a Judge gives scores and votes; a council has none.
    let is_judged = record.dialogue.opening.protocol.is_judged();
    if is_judged {
        warnings.extend(missing_scores(record));
    }
    warnings.extend(unresolved_tensions(record));
    warnings.extend(orphaned_perspectives(record));
    if is_judged {
        warnings.extend(incomplete_verdicts(record));
    }
    warnings
}

fn missing_scores(record: &DialogueRecord) -> Vec<RequestWarning> {
    let mut warnings = Vec::new();
    for held in &record.rounds {
        for seat in record.panel_of(held.round) {
            let scored = record
                .find_expert(&seat.expert_slug)
                .is_some_and(|expert| expert.scores.contains_key(&held.round));
            if !scored {
                warnings.push(
                    RequestWarning::new("missing_score", "Expert in panel but no score registered")
                        .with_detail("expert", seat.expert_slug.as_str())
                        .with_detail("round", held.round),
                );
            }
        }
    }
    warnings
}

/// Only a converged dialogue must have resolved or accepted every tension.
fn unresolved_tensions(record: &DialogueRecord) -> Vec<RequestWarning> {
    if record.dialogue.status != DialogueStatus::Converged {
        return Vec::new();
    }
    let accepted = |id| {
        record.verdicts.iter().any(|given| {
            given.verdict.tensions_accepted.as_ref().is_some_and(|accepted| accepted.contains(&id))
        })
    };
    let active =
        record.tensions.iter().filter(|tension| ACTIVE_TENSION_STATUSES.contains(&tension.status));
    // A council's report may accept open tensions.
    let is_council = record.dialogue.opening.protocol.accepts_open_tensions();
    let owed = active.filter(|tension| !(is_council && accepted(tension.id)));
    let warnings = owed.map(|tension| {
        let how = if accepted(tension.id) { " (accepted)" } else { "" };
        let message = format!("Dialogue converged with {} tension{how}", tension.status);
        RequestWarning::new("unresolved_tension", message)
            .with_detail("tension", tension.id.to_string())
    });
    warnings.collect()
}

fn orphaned_perspectives(record: &DialogueRecord) -> Vec<RequestWarning> {
    let mut warnings = Vec::new();
    for perspective in &record.perspectives {
        for stranger in
            perspective.contributors.iter().filter(|slug| record.find_expert(slug).is_none())
        {
            warnings.push(
                RequestWarning::new(
                    "orphaned_perspective",
                    "Contributor is not registered as an expert",
                )
                .with_detail("perspective", perspective.id.to_string())
                .with_detail("expert", stranger.as_str()),
            );
        }
    }
    warnings
}

fn incomplete_verdicts(record: &DialogueRecord) -> Vec<RequestWarning> {
    let mut warnings = Vec::new();
    for given in
        record.verdicts.iter().filter(|given| given.verdict.verdict_type == VerdictType::Final)
    {
        let verdict = &given.verdict;
        let missing = [
            (
                "tensions_resolved",
                verdict.tensions_resolved.is_none() && !record.tensions.is_empty(),
            ),
            ("vote", verdict.vote.is_none()),
            ("confidence", verdict.confidence.is_none()),
        ];
        for (field, _) in missing.into_iter().filter(|(_, missing)| *missing) {
            warnings.push(
                RequestWarning::new("verdict_incomplete", format!("Missing {field} field"))
                    .with_detail("verdict", verdict.verdict_id.as_str())
                    .with_detail("field", field),
            );
        }
    }
    warnings
}
