//! Combines the replies of one round into the batch that `register` takes.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::markers::extraction::{
    EntityContribution, MarkerContent, MoveContribution, ReplyExtraction, ReplyMarker, target_texts,
};
use crate::markers::warnings::{MarkerWarning, WarningKind};
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::{EntityKind, EntityTarget, ExpertSlug, LocalId};
use crate::model::limits::ITEMS_PER_ROUND_MAX;

/// Full reply texts by expert, unchanged.
pub type RawReplies = BTreeMap<ExpertSlug, String>;

/// Request body of `register`, without the fields that only the Judge can fill in: dialogue,
/// scores, summary.
#[derive(Debug, Serialize)]
pub struct RoundBatch<'a> {
    pub round: u8,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub raw_content: RawReplies,
    pub perspectives: Vec<BatchItem<'a>>,
    pub recommendations: Vec<BatchItem<'a>>,
    pub tensions: Vec<BatchItem<'a>>,
    pub evidence: Vec<BatchItem<'a>>,
    pub claims: Vec<BatchItem<'a>>,
    pub moves: Vec<BatchMove<'a>>,
}

#[derive(Debug, Serialize)]
pub struct BatchItem<'a> {
    local_id: &'a LocalId,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    contributors: [&'a ExpertSlug; 1],
    references: Vec<BatchReference>,
}

#[derive(Debug, Serialize)]
struct BatchReference {
    #[serde(rename = "type")]
    ref_type: ReferenceType,
    target: String,
}

#[derive(Debug, Serialize)]
pub struct BatchMove<'a> {
    expert: &'a ExpertSlug,
    #[serde(rename = "type")]
    move_type: MoveType,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
}

impl<'a> RoundBatch<'a> {
    /// Builds the batch of one round, in the order of the replies.
    pub fn from_replies(
        round: u8,
        replies: &'a [ReplyExtraction],
        raw_content: RawReplies,
    ) -> Self {
        let items =
            |kind| replies.iter().flat_map(move |reply| reply.of_kind(kind)).map(to_batch_item);
        let moves = replies.iter().flat_map(|reply| {
            reply.moves.iter().map(|made| BatchMove {
                expert: &reply.expert,
                move_type: made.move_type,
                targets: target_texts(&made.targets),
                context: made.context.as_deref(),
            })
        });
        Self {
            round,
            raw_content,
            perspectives: items(EntityKind::Perspective).collect(),
            recommendations: items(EntityKind::Recommendation).collect(),
            tensions: items(EntityKind::Tension).collect(),
            evidence: items(EntityKind::Evidence).collect(),
            claims: items(EntityKind::Claim).collect(),
            moves: moves.collect(),
        }
    }
}

fn to_batch_item(contribution: &EntityContribution) -> BatchItem<'_> {
    let EntityContribution { local_id, label, text, references, .. } = contribution;
    let is_tension = local_id.kind == EntityKind::Tension;
    let reference = |(ref_type, target): &(ReferenceType, EntityTarget)| BatchReference {
        ref_type: *ref_type,
        target: target.to_string(),
    };
    BatchItem {
        local_id,
        label,
        content: (!is_tension).then_some(text),
        description: is_tension.then_some(text),
        contributors: [&local_id.expert],
        references: references.iter().map(reference).collect(),
    }
}

/// Checks the references between the replies of one round. If the other reply is present but lacks
/// the entity, the reference is removed with a warning. If the other reply is missing, the
/// reference stays with a warning.
pub fn check_across_replies(replies: &mut [ReplyExtraction]) {
    let said: HashSet<LocalId> = replies
        .iter()
        .flat_map(|reply| &reply.contributions)
        .map(|contribution| contribution.local_id.clone())
        .collect();
    let experts: HashSet<ExpertSlug> = replies.iter().map(|reply| reply.expert.clone()).collect();
    for reply in replies.iter_mut() {
        let neighbours = RoundIndex { round: reply.round, entity_ids: &said, experts: &experts };
        neighbours.check_reply(reply);
    }
    warn_over_limit(replies);
}

struct RoundIndex<'a> {
    round: u8,
    entity_ids: &'a HashSet<LocalId>,
    experts: &'a HashSet<ExpertSlug>,
}

impl RoundIndex<'_> {
    fn check_reply(&self, reply: &mut ReplyExtraction) {
        let ReplyExtraction { contributions, moves, markers, warnings, .. } = reply;
        for EntityContribution { local_id, references, .. } in contributions {
            references.retain(|(ref_type, target)| {
                let line = || reference_line(markers, local_id, *ref_type, target);
                self.keep_target(target, line, warnings)
            });
        }
        moves.retain_mut(|MoveContribution { line, move_type, targets, .. }| {
            targets.retain(|target| self.keep_target(target, || Some(*line), warnings));
            targets.len() >= move_type.targets_min()
        });
    }

    fn keep_target(
        &self,
        target: &EntityTarget,
        line: impl Fn() -> Option<usize>,
        warnings: &mut Vec<MarkerWarning>,
    ) -> bool {
        let EntityTarget::Local(id) = target else { return true };
        if id.round != self.round || self.entity_ids.contains(id) {
            return true;
        }
        let is_here = self.experts.contains(&id.expert);
        let (kind, message) = match is_here {
            true => (WarningKind::NotRead, format!("{} did not write {id}", id.expert)),
            false => {
                let expert = &id.expert;
                let message =
                    format!("{id} must be in the same batch, and {expert}'s reply is not");
                (WarningKind::Elsewhere, message)
            }
        };
        warnings.push(MarkerWarning { line: line(), kind, message, slips: Vec::new() });
        !is_here
    }
}

/// Returns the line of the marker by which the entity first refers to this target.
fn reference_line(
    markers: &[ReplyMarker],
    entity: &LocalId,
    meant: ReferenceType,
    target: &EntityTarget,
) -> Option<usize> {
    let is_it = |marker: &&ReplyMarker| {
        matches!(&marker.content, MarkerContent::Reference { source, ref_type, targets }
            if source == entity && *ref_type == meant && targets.contains(target))
    };
    markers.iter().find(is_it).map(|marker| marker.line)
}

/// Warns if all replies together have more entities of one kind than a round can number (99).
fn warn_over_limit(replies: &mut [ReplyExtraction]) {
    let mut counts: HashMap<EntityKind, usize> = HashMap::new();
    for contribution in replies.iter().flat_map(|reply| &reply.contributions) {
        *counts.entry(contribution.local_id.kind).or_default() += 1;
    }
    let crowded = EntityKind::ALL.iter().filter_map(|kind| {
        let count = counts.get(kind).filter(|count| **count > usize::from(ITEMS_PER_ROUND_MAX))?;
        let section = kind.section_name();
        let message =
            format!("{count} {section} together; a round holds {ITEMS_PER_ROUND_MAX}, so some must be merged");
        Some(MarkerWarning { line: None, kind: WarningKind::More, message, slips: Vec::new() })
    });
    let crowded: Vec<MarkerWarning> = crowded.collect();
    if let Some(last) = replies.last_mut() {
        last.warnings.extend(crowded);
    }
}

#[derive(Debug, Serialize)]
pub struct ReplySummary<'a> {
    expert_slug: &'a ExpertSlug,
    round: u8,
    /// `None` if the reply came from standard input.
    response_path: Option<&'a str>,
    summary: SummaryContents<'a>,
}

#[derive(Debug, Serialize)]
struct SummaryContents<'a> {
    perspectives: Vec<&'a LocalId>,
    recommendations: Vec<&'a LocalId>,
    tensions_raised: Vec<&'a LocalId>,
    evidence: Vec<&'a LocalId>,
    claims: Vec<&'a LocalId>,
    references: Vec<SummaryReference<'a>>,
    moves: Vec<SummaryMove>,
}

#[derive(Debug, Serialize)]
struct SummaryReference<'a> {
    #[serde(rename = "type")]
    ref_type: ReferenceType,
    from: &'a LocalId,
    target: String,
}

#[derive(Debug, Serialize)]
struct SummaryMove {
    #[serde(rename = "type")]
    move_type: MoveType,
    targets: Vec<String>,
}

impl<'a> ReplySummary<'a> {
    pub fn from_extraction(reply: &'a ReplyExtraction, response_path: Option<&'a str>) -> Self {
        let ids = |kind: EntityKind| reply.of_kind(kind).map(|item| &item.local_id).collect();
        let references = reply.contributions.iter().flat_map(|item| {
            item.references.iter().map(|(ref_type, target)| SummaryReference {
                ref_type: *ref_type,
                from: &item.local_id,
                target: target.to_string(),
            })
        });
        let made = |made: &MoveContribution| SummaryMove {
            move_type: made.move_type,
            targets: target_texts(&made.targets),
        };
        Self {
            expert_slug: &reply.expert,
            round: reply.round,
            response_path,
            summary: SummaryContents {
                perspectives: ids(EntityKind::Perspective),
                recommendations: ids(EntityKind::Recommendation),
                tensions_raised: ids(EntityKind::Tension),
                evidence: ids(EntityKind::Evidence),
                claims: ids(EntityKind::Claim),
                references: references.collect(),
                moves: reply.moves.iter().map(made).collect(),
            },
        }
    }
}
