//! Query results that span dialogues or look at single entities: lists, search hits, statistics,
//! citations.

use serde::Serialize;
use serde_json::Value;

use super::conclusion::Author;
use super::dialogue::{DialogueStatus, Protocol, TerminalState};
use super::entity::Event;
use super::gate::GateVerdict;
use super::ids::{DialogueId, EntityId, EntityKind, ExpertSlug, VerdictId};
use super::lifecycle::Status;
use super::reference::RefType;
use super::time::{Day, Moment};
use super::words::words;

/// Selects the dialogues to list, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    pub status: Option<DialogueStatus>,
    pub protocol: Option<Protocol>,
    pub limit: usize,
    /// The last dialogue of the previous page.
    pub after: Option<DialogueId>,
}

/// A dialogue in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub protocol: Protocol,
    pub status: DialogueStatus,
    pub terminal_state: Option<TerminalState>,
    /// Latest verdict of a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<GateVerdict>,
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
pub struct Hit {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub field: SearchField,
    pub body: String,
}

/// Counts over the whole store, without rehearsals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    pub dialogues: usize,
    pub rounds: usize,
    pub experts: usize,
    pub total_alignment: i64,
    pub by_status: Vec<(DialogueStatus, usize)>,
    pub by_protocol: Vec<(Protocol, usize)>,
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
pub struct EndingQuery {
    pub limit: usize,
    /// Excludes conclusions older than this.
    pub since: Option<Moment>,
}

/// Terminal state of an audited conclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedEnding {
    pub dialogue_id: DialogueId,
    pub protocol: Protocol,
    pub terminal_state: TerminalState,
    pub critic: Author,
    pub at: Moment,
}

/// A conclusion whose review date is near or past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub recommendation: String,
    pub review_by: Day,
    /// `None` if no critic audited it.
    pub terminal_state: Option<TerminalState>,
}

/// An entity with everything a reader needs to judge it.
#[derive(Debug, Clone, Serialize)]
pub struct Citation {
    pub id: EntityId,
    pub dialogue_id: DialogueId,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub label: String,
    pub content: String,
    pub contributors: Vec<ExpertSlug>,
    pub round: u8,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted_in_verdict: Option<VerdictId>,
    pub references: Vec<Outgoing>,
    pub referenced_by: Vec<Incoming>,
    pub events: Vec<Event>,
    pub created_at: Moment,
}

/// A reference from the cited entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outgoing {
    #[serde(rename = "type")]
    pub ref_type: RefType,
    pub target: EntityId,
    pub label: String,
}

/// A reference to the cited entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Incoming {
    #[serde(rename = "type")]
    pub ref_type: RefType,
    pub source: EntityId,
    pub label: String,
}
