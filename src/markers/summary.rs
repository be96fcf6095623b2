//! Summary of a reply that an agent in the expert role returns to its Judge.

use serde::Serialize;

use super::extraction::{MoveContribution, ReplyExtraction};
use super::marker::target_texts;
use crate::domain::ids::{EntityKind, ExpertSlug, LocalId};
use crate::domain::reference::{MoveType, ReferenceType};

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
