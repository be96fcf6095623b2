//! Query results that span dialogues or look at single entities: lists, search hits, statistics,
//! citations.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ethos::rule_set::{EthosId, EthosStatus};
use crate::model::dialogue::{DialogueStatus, ProtocolKind, TerminalState};
use crate::model::entity::{EntityEvent, ReferenceType};
use crate::model::ids::{DialogueId, EntityId, EntityKind, ExpertSlug, VerdictId};
use crate::model::journal::JournalEvent;
use crate::model::lifecycle::EntityStatus;
use crate::model::string_enum::words;
use crate::model::time::{Day, Moment};
use crate::protocols::conclusion::types::SeatAuthor;
use crate::protocols::review::policy::{BlockTally, ReviewDecision, ReviewVerdict};

/// Selects the dialogues to list, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DialogueQuery {
    pub status: Option<DialogueStatus>,
    pub protocol: Option<ProtocolKind>,
    pub since: Option<Moment>,
    /// Letters that the title or the question contains, in any case.
    pub grep: Option<String>,
    pub limit: usize,
    /// The last dialogue of the previous page.
    pub after: Option<DialogueId>,
    /// Only these dialogues.
    pub only: Option<Vec<DialogueId>>,
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
    /// The blocks that the policy counted for that verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<BlockTally>,
    /// A person's decision over that verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden: Option<ReviewDecision>,
    pub rounds: u8,
    /// The final verdict was forced: the panel did not converge.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    pub rehearsal: bool,
    pub created_at: Moment,
}

words! {
    /// What can be done with a dialogue: follow, resume or read it.
    pub enum RecordState {
        /// A Judge leads it, and it has no final verdict.
        Open = "open",
        Running = "running",
        /// The process ended before the run did; `resume` continues it.
        Interrupted = "interrupted",
        /// A limit or a missing answer stopped the run; `resume` continues it.
        Incomplete = "incomplete",
        /// No seat answered.
        Failed = "failed",
        Done = "done",
        Abandoned = "abandoned",
    }
}

/// The last start or stop of a dialogue's runs, and the cost of its calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunTotals {
    pub last_event: Option<JournalEvent>,
    /// `None` if no cost is known.
    pub usd_micros: Option<u64>,
    /// The chair restated a directive, which has a cost of its own.
    pub has_restatements: bool,
}

/// A dialogue by its id and title.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DialogueName {
    pub dialogue_id: DialogueId,
    pub title: String,
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
    pub rehearsal: bool,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
    /// The rehearsal panel said it; no model did.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
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

/// A version of an ethos in the overview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EthosSummary {
    pub ethos_id: EthosId,
    pub dialogue_id: DialogueId,
    pub ethos_status: EthosStatus,
    /// The title of its dialogue.
    pub title: String,
}
