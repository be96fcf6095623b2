//! Combines the replies of one round into the batch that `register` takes.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::extraction::{Contribution, Extraction, MadeMove};
use super::marker::{Marker, Said, texts};
use super::warning::{Warning, WarningKind};
use crate::domain::ids::{EntityKind, ExpertSlug, LocalId};
use crate::domain::limits::ITEMS_PER_ROUND_MAX;
use crate::domain::reference::{MoveType, RefType};
use crate::domain::target::Target;

/// Full reply texts by expert, unchanged.
pub type RawReplies = BTreeMap<ExpertSlug, String>;

/// Request body of `register`, without the fields that only the Judge can fill in: dialogue,
/// scores, summary.
#[derive(Debug, Serialize)]
pub struct Batch<'a> {
    pub round: u8,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub raw_content: RawReplies,
    pub perspectives: Vec<Item<'a>>,
    pub recommendations: Vec<Item<'a>>,
    pub tensions: Vec<Item<'a>>,
    pub evidence: Vec<Item<'a>>,
    pub claims: Vec<Item<'a>>,
    pub moves: Vec<Move<'a>>,
}

#[derive(Debug, Serialize)]
pub struct Item<'a> {
    local_id: &'a LocalId,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    contributors: [&'a ExpertSlug; 1],
    references: Vec<Reference>,
}

#[derive(Debug, Serialize)]
struct Reference {
    #[serde(rename = "type")]
    ref_type: RefType,
    target: String,
}

#[derive(Debug, Serialize)]
pub struct Move<'a> {
    expert: &'a ExpertSlug,
    #[serde(rename = "type")]
    move_type: MoveType,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
}

impl<'a> Batch<'a> {
    /// Builds the batch of one round, in the order of the replies.
    pub fn of(round: u8, replies: &'a [Extraction], raw_content: RawReplies) -> Self {
        let items = |kind| replies.iter().flat_map(move |reply| reply.of_kind(kind)).map(item);
        let moves = replies.iter().flat_map(|reply| {
            reply.moves.iter().map(|made| Move {
                expert: &reply.expert,
                move_type: made.move_type,
                targets: texts(&made.targets),
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

fn item(contribution: &Contribution) -> Item<'_> {
    let Contribution { local_id, label, text, references, .. } = contribution;
    let is_tension = local_id.kind == EntityKind::Tension;
    let reference = |(ref_type, target): &(RefType, Target)| Reference {
        ref_type: *ref_type,
        target: target.to_string(),
    };
    Item {
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
pub fn gather(replies: &mut [Extraction]) {
    let said: HashSet<LocalId> = replies
        .iter()
        .flat_map(|reply| &reply.contributions)
        .map(|contribution| contribution.local_id.clone())
        .collect();
    let experts: HashSet<ExpertSlug> = replies.iter().map(|reply| reply.expert.clone()).collect();
    for reply in replies.iter_mut() {
        let neighbours = Neighbours { round: reply.round, said: &said, experts: &experts };
        neighbours.look_at(reply);
    }
    warn_of_crowds(replies);
}

struct Neighbours<'a> {
    round: u8,
    said: &'a HashSet<LocalId>,
    experts: &'a HashSet<ExpertSlug>,
}

impl Neighbours<'_> {
    fn look_at(&self, reply: &mut Extraction) {
        let Extraction { contributions, moves, markers, warnings, .. } = reply;
        for Contribution { local_id, references, .. } in contributions {
            references.retain(|(ref_type, target)| {
                let line = || line_of(markers, local_id, *ref_type, target);
                self.may_stay(target, line, warnings)
            });
        }
        moves.retain_mut(|MadeMove { line, move_type, targets, .. }| {
            targets.retain(|target| self.may_stay(target, || Some(*line), warnings));
            targets.len() >= move_type.targets_min()
        });
    }

    fn may_stay(
        &self,
        target: &Target,
        line: impl Fn() -> Option<usize>,
        warnings: &mut Vec<Warning>,
    ) -> bool {
        let Target::Local(id) = target else { return true };
        if id.round != self.round || self.said.contains(id) {
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
        warnings.push(Warning { line: line(), kind, message, slips: Vec::new() });
        !is_here
    }
}

/// Returns the line of the marker by which the entity first refers to this target.
fn line_of(markers: &[Marker], entity: &LocalId, meant: RefType, target: &Target) -> Option<usize> {
    let is_it = |marker: &&Marker| {
        matches!(&marker.said, Said::Reference { source, ref_type, targets }
            if source == entity && *ref_type == meant && targets.contains(target))
    };
    markers.iter().find(is_it).map(|marker| marker.line)
}

/// Warns if all replies together have more entities of one kind than a round can number (99).
fn warn_of_crowds(replies: &mut [Extraction]) {
    let mut counts: HashMap<EntityKind, usize> = HashMap::new();
    for contribution in replies.iter().flat_map(|reply| &reply.contributions) {
        *counts.entry(contribution.local_id.kind).or_default() += 1;
    }
    let crowded = EntityKind::ALL.iter().filter_map(|kind| {
        let count = counts.get(kind).filter(|count| **count > usize::from(ITEMS_PER_ROUND_MAX))?;
        let section = kind.section();
        let message =
            format!("{count} {section} together; a round holds {ITEMS_PER_ROUND_MAX}, so some must be merged");
        Some(Warning { line: None, kind: WarningKind::More, message, slips: Vec::new() })
    });
    let crowded: Vec<Warning> = crowded.collect();
    if let Some(last) = replies.last_mut() {
        last.warnings.extend(crowded);
    }
}
