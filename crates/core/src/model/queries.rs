//! Query results that span dialogues or look at single entities: lists, search hits, statistics,
//! citations.

use serde::Serialize;
use serde_json::Value;

use crate::model::dialogue::{DialogueStatus, ProtocolKind, TerminalState};
use crate::model::entity::{EntityEvent, ReferenceType};
use crate::model::ids::{DialogueId, EntityId, EntityKind, ExpertSlug, VerdictId};
use crate::model::lifecycle::EntityStatus;
use crate::model::string_enum::words;
use crate::model::time::{Day, Moment};
use crate::protocols::conclusion::types::SeatAuthor;
use crate::protocols::review::policy::ReviewVerdict;

/// Selects the dialogues to list, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DialogueQuery {
    pub status: Option<DialogueStatus>,
    pub protocol: Option<ProtocolKind>,
    pub limit: usize,
    /// The last dialogue of the previous page.
    pub after: Option<DialogueId>,
}

/// A dialogue in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DialogueSummary {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub protocol: ProtocolKind,
    pub status: DialogueStatus,
    pub terminal_state: Option<TerminalState>,
    /// Latest verdict of a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<ReviewVerdict>,
    pub rounds: u8,
    pub rehearsal: bool,
    pub created_at: Moment,
}

words! {
    /// A text that full-text search covers.
    pub enum SearchField {
        Title = "title",
        Question = "question",
        Conclusion = "conclusion",
        Tension = "tension",
        Claim = "claim",
    }
}

/// A text of a dialogue that contains some of the search terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextHit {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub field: SearchField,
    pub body: String,
}

/// Counts over the whole store, without rehearsals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoreStatistics {
    pub dialogues: usize,
    pub rounds: usize,
    pub experts: usize,
    pub total_alignment: i64,
    pub by_status: Vec<(DialogueStatus, usize)>,
    pub by_protocol: Vec<(ProtocolKind, usize)>,
    pub by_terminal_state: Vec<(TerminalState, usize)>,
    pub entities: Vec<(EntityKind, usize)>,
    pub top_experts: Vec<TopExpert>,
}

/// An expert, summed over all dialogues they took part in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopExpert {
    pub expert_slug: ExpertSlug,
    pub total: i64,
    pub dialogues: usize,
}

/// Selects conclusions, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConclusionQuery {
    pub limit: usize,
    /// Excludes conclusions older than this.
    pub since: Option<Moment>,
}

/// Terminal state of an audited conclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedConclusion {
    pub dialogue_id: DialogueId,
    pub protocol: ProtocolKind,
    pub terminal_state: TerminalState,
    pub critic: SeatAuthor,
    pub at: Moment,
}

/// A conclusion whose review date is near or past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueConclusion {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub recommendation: String,
    pub review_by: Day,
    /// `None` if no critic audited it.
    pub terminal_state: Option<TerminalState>,
}

/// An entity with everything a reader needs to judge it.
#[derive(Debug, Clone, Serialize)]
pub struct EntityCitation {
    pub id: EntityId,
    pub dialogue_id: DialogueId,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub label: String,
    pub content: String,
    pub contributors: Vec<ExpertSlug>,
    pub round: u8,
    pub status: EntityStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted_in_verdict: Option<VerdictId>,
    pub references: Vec<OutgoingReference>,
    pub referenced_by: Vec<IncomingReference>,
    pub events: Vec<EntityEvent>,
    pub created_at: Moment,
}

/// A reference from the cited entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutgoingReference {
    #[serde(rename = "type")]
    pub ref_type: ReferenceType,
    pub target: EntityId,
    pub label: String,
}

/// A reference to the cited entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncomingReference {
    #[serde(rename = "type")]
    pub ref_type: ReferenceType,
    pub source: EntityId,
    pub label: String,
}
