//! Asks, calls and replies: one request to one seat, and its result.
//!
//! The engine journals these types; protocols read them back from [`AskState`].

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::hash::sha256_hex;
use crate::model::ids::ExpertSlug;
pub(crate) use crate::model::model_reply::serialize_usage;
pub use crate::model::model_reply::{
    CallCost, CostSource, FinishReason, ModelReply, PartialReply, TokenUsage,
};
use crate::model::run_state::{BudgetShortage, ParseOutcome, ReplyDocument};
use crate::model::stored_messages::{CommonText, OmittedFile, OmittedRecord, OmittedText};
use crate::model::string_enum::{open_words, words};
use crate::model::time::Moment;

open_words! {
    /// The kind of document that an ask requests.
    pub enum AskPurpose {
        Opinion = "opinion",
        PeerReview = "review",
        Synthesis = "synthesis",
        /// The five fields of the conclusion, written from the whole record.
        Conclusion = "conclusion",
        /// The Blind Critic's audit. The critic sees only the question and the conclusion.
        Audit = "audit",
        /// New text for the fields that the critic objected to.
        Revision = "revision",
        /// The Principal's directive, restated in one sentence.
        Restatement = "restatement",
        /// A deliberator's first review of an artifact, made without seeing the peers.
        Judgement = "judgement",
        /// The same deliberator's review after reading the peers' first reviews.
        CrossReading = "cross_reading",
        /// The adjudicator's merge of all judgements.
        Adjudication = "adjudication",
        /// The Judge's design of an alignment dialogue: domain, pool, size of the panel.
        Design = "design",
        /// The Judge's panel of the next round.
        Panel = "panel",
        /// An expert's contribution to a round, in markers.
        Contribution = "expert",
        /// The Judge's merges, tension updates and scores of a round.
        Reconciliation = "reconcile",
        /// The Judge's final verdict, with minority verdicts and dissents.
        Verdicts = "verdicts",
    }
}

impl AskPurpose {
    /// Whether a seat of the panel answers in a round of the protocol.
    pub fn is_of_panel(self) -> bool {
        match self {
            Self::Conclusion | Self::Audit | Self::Revision | Self::Restatement | Self::Design => {
                false
            }
            Self::Opinion
            | Self::PeerReview
            | Self::Synthesis
            | Self::Judgement
            | Self::CrossReading
            | Self::Adjudication
            | Self::Panel
            | Self::Contribution
            | Self::Reconciliation
            | Self::Verdicts
            | Self::Other(_) => true,
        }
    }
}

words! {
    /// How the engine reaches a seat's model.
    pub enum TransportKind {
        Http = "http",
        Cli = "cli",
        Mcp = "mcp",
        Rehearsal = "rehearsal",
    }
}

words! {
    /// Why a call failed.
    pub enum CallErrorType {
        Timeout = "timeout",
        Auth = "auth",
        RateLimit = "rate_limit",
        Network = "network",
        ParseError = "parse_error",
        ServerError = "server_error",
        BadRequest = "bad_request",
        Refused = "refused",
        ContextTooLong = "context_too_long",
        Unknown = "unknown",
    }
}

words! {
    /// An optional part of a request, which a server may refuse.
    pub enum RequestParameter {
        Stream = "stream",
        Temperature = "temperature",
        Effort = "effort",
        OutputLimit = "max_output_tokens",
        /// The key or the mark by which a provider caches the shared block.
        CacheMark = "cache_mark",
        Schema = "schema",
    }
}

impl CallErrorType {
    /// Returns true if the provider rejected the call before doing work. For a timeout or a broken
    /// connection the provider may still charge, so those count as billed.
    pub fn is_unbilled(self) -> bool {
        match self {
            Self::Auth | Self::RateLimit | Self::BadRequest | Self::ContextTooLong => true,
            Self::Timeout
            | Self::Network
            | Self::ParseError
            | Self::ServerError
            | Self::Refused
            | Self::Unknown => false,
        }
    }
}

/// One request to one seat. Asks of a run are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub id: u32,
    pub round: u8,
    pub seat: ExpertSlug,
    pub purpose: AskPurpose,
    /// Why the parser rejected the reply to the previous ask of this seat.
    #[serde(rename = "stricter", default, skip_serializing_if = "Option::is_none")]
    pub retry_reason: Option<String>,
}

/// Reason recorded when a reply ends early and cannot be used.
pub const CUT_OFF_REASON: &str = "the reply was cut off before it ended";

impl Ask {
    /// Returns true if the previous reply was cut off, so that this ask requests a shorter one.
    pub fn wants_shorter(&self) -> bool {
        self.retry_reason.as_ref().is_some_and(|reason| reason.contains(CUT_OFF_REASON))
    }
}

/// The beginning of the user messages of a run: what all asks share, byte for byte, so that
/// providers can cache it. The journal keeps it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedBlock {
    pub sha256: String,
    pub text: Arc<str>,
    /// What the renderer cut from it, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub condensed: Vec<String>,
    /// Digest of the block that this one begins with. In the journal, `text` is then only what
    /// follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// In the journal: what `text` leaves out because the plan has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<OmittedFile>,
    /// A section of messages, kept because later ones may repeat it. No message begins with it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub section: bool,
}

impl SharedBlock {
    pub fn new(text: String, condensed: Vec<String>) -> Self {
        let sha256 = sha256_hex([text.as_bytes()]);
        let (extends, omitted, section) = (None, Vec::new(), false);
        Self { sha256, text: text.into(), condensed, extends, omitted, section }
    }

    /// The block as the journal keeps it, if it has the beginning already.
    #[must_use]
    pub fn to_extension(&self, kept: &[Arc<Self>]) -> Self {
        let kept = kept.iter().filter(|kept| !kept.section);
        let added = kept.filter_map(|kept| Some((kept, self.text.strip_prefix(&*kept.text)?)));
        let added = added.min_by_key(|(_, added)| added.len());
        match added {
            Some((kept, added)) => {
                let extends = Some(kept.sha256.clone());
                Self { text: added.into(), extends, ..self.clone() }
            }
            None => self.clone(),
        }
    }

    /// The whole block, with the text of the block that it extends.
    #[must_use]
    pub fn to_whole(&self, known: &[Arc<Self>]) -> Self {
        let Some(first) = &self.extends else { return self.clone() };
        let first = known.iter().find(|block| block.sha256 == *first);
        let text = [first.map_or("", |block| &block.text), &self.text].concat();
        Self { text: text.into(), extends: None, ..self.clone() }
    }
}

/// The messages of an ask. The user message is the shared block, if there is one, and `user`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskMessages {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The journal refers to it by its digest.
    #[serde(
        rename = "shared_sha256",
        with = "crate::model::stored_messages::shared_digest",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub shared: Option<Arc<SharedBlock>>,
    pub user: String,
    /// In the journal: what `user` leaves out because an earlier ask of the same entry has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<CommonText>,
    /// In journals of earlier versions: the record, which a block has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<OmittedRecord>,
    /// In the journal: the place of the block that is the system message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_block: Option<usize>,
    /// In the journal: what `user` leaves out because blocks have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<OmittedText>,
}

impl AskMessages {
    /// Messages without a shared block.
    pub fn new(system: impl Into<String>, user: impl Into<String>) -> Self {
        Self {
            system: system.into(),
            shared: None,
            user: user.into(),
            common: None,
            record: None,
            system_block: None,
            texts: Vec::new(),
        }
    }

    pub fn shared_text(&self) -> &str {
        self.shared.as_ref().map_or("", |block| &block.text)
    }

    /// The whole user message.
    pub fn user_message(&self) -> String {
        [self.shared_text(), &self.user].concat()
    }

    /// The messages with the text of their shared block; `None` if they refer to another block.
    pub fn with_shared(&self, blocks: &[Arc<SharedBlock>]) -> Option<Self> {
        let Some(named) = &self.shared else { return Some(self.clone()) };
        let block = blocks.iter().find(|block| block.sha256 == named.sha256)?;
        Some(Self { shared: Some(Arc::clone(block)), ..self.clone() })
    }

    pub fn byte_len(&self) -> usize {
        self.system.len() + self.shared_text().len() + self.user.len()
    }

    /// Hash of the messages, to check them later when the record does not keep their text.
    pub fn content_hash(&self) -> String {
        sha256_hex([&self.system, "\n\n", self.shared_text(), &self.user].map(str::as_bytes))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Why a call returned no reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFailure {
    pub error_type: CallErrorType,
    pub message: String,
    pub latency_ms: u64,
    /// The parameter that the server refused. The engine repeats the call without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RequestParameter>,
    /// Estimated use of a call whose reply broke off; zero if the server did no work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<BudgetReservation>,
    /// What had arrived of the reply when it broke off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived: Option<PartialReply>,
}

impl CallFailure {
    /// Estimated tokens of a reply that broke off. Earlier versions recorded only their sum, most of
    /// which is input.
    pub fn broken_usage(&self) -> Option<TokenUsage> {
        let sum = self.estimated.map(|estimated| TokenUsage::new(estimated.tokens, 0));
        self.arrived.map(|arrived| arrived.usage).or(sum)
    }

    /// What the budget counts for the call: a call that may be billed counts at its estimate, else
    /// at the whole reservation.
    pub fn counted_cost(&self, reserved: BudgetReservation) -> BudgetReservation {
        match self.error_type.is_unbilled() {
            true => BudgetReservation::default(),
            false => self.estimated.unwrap_or(reserved),
        }
    }
}

/// Upper bound of a call's cost. The budget reserves it before the engine sends the call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetReservation {
    /// `None` if the price is unknown.
    pub usd_micros: Option<u64>,
    pub tokens: u64,
}

impl BudgetReservation {
    /// Takes the larger value of each field.
    #[must_use]
    pub fn max_of_each(self, other: Self) -> Self {
        Self {
            usd_micros: self.usd_micros.max(other.usd_micros),
            tokens: self.tokens.max(other.tokens),
        }
    }
}

/// A call as the engine sends it. Calls of a run are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallDispatch {
    pub call: u32,
    pub ask: u32,
    pub transport: TransportKind,
    /// Number of the attempt on this transport, from 1.
    pub attempt: u8,
    pub reserved: BudgetReservation,
    /// The transport tried before this one, and why the engine left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<TransportFallback>,
    /// The call that this one repeats, if that call was in flight when its process died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Parameters that the server refused earlier in the run; the call does not contain them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<RequestParameter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransportFallback {
    pub from: TransportKind,
    pub reason: String,
}

/// An ask with its calls.
#[derive(Debug, Clone)]
pub struct AskState {
    pub ask: Ask,
    pub prepared_at: Moment,
    /// Number of interventions made before the ask was prepared. The ask sees only those.
    pub interventions: usize,
    /// What the prompt renderer cut to fit the input limit, as sentences.
    pub condensed: Vec<String>,
    /// Kept until a reply arrives, unless the settings exclude prompts from the record.
    pub messages: Option<Arc<AskMessages>>,
    pub calls: Vec<CallState>,
    /// Result of parsing the reply.
    pub parse_outcome: Option<ParseOutcome>,
    /// The last call failed, and the engine tries no further one.
    pub gave_up: bool,
    /// Set if the budget did not allow sending the ask in the current run.
    pub not_sent: Option<BudgetShortage>,
    /// The ask failed in a run that stopped because of it. The next run asks anew.
    pub retired: bool,
}

#[derive(Debug, Clone)]
pub struct CallState {
    pub dispatch: CallDispatch,
    /// The model that was asked; a resumed run may ask another one.
    pub model: String,
    pub sent_at: Moment,
    pub outcome: CallOutcome,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    InFlight,
    /// The process ended before a result arrived.
    Lost,
    Replied(ModelReply, Moment),
    Failed(CallFailure, Moment),
}

impl AskState {
    /// The reply, if one came back.
    pub fn last_reply(&self) -> Option<(&ModelReply, Moment)> {
        self.calls.iter().rev().find_map(|call| match &call.outcome {
            CallOutcome::Replied(reply, at) => Some((reply, *at)),
            CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => None,
        })
    }

    /// The newest failure, if a call failed.
    pub fn last_failure(&self) -> Option<(&CallFailure, Moment)> {
        self.calls.iter().rev().find_map(|call| match &call.outcome {
            CallOutcome::Failed(failure, at) => Some((failure, *at)),
            CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => None,
        })
    }

    /// Returns true if the parsed reply was cut off.
    pub fn is_truncated(&self) -> bool {
        matches!(self.parse_outcome, Some(ParseOutcome::Parsed { truncated: true, .. }))
    }

    /// Whether the reply says something that can be used. An expert's reply without markers does
    /// not.
    pub fn is_heard(&self) -> bool {
        let Some(document) = self.parsed_document() else { return false };
        let ReplyDocument::Contribution(facts) = document else { return true };
        facts.is_heard()
    }

    pub fn parsed_document(&self) -> Option<&ReplyDocument> {
        match &self.parse_outcome {
            Some(ParseOutcome::Parsed { document, .. }) => Some(document),
            Some(ParseOutcome::Unreadable { .. }) | None => None,
        }
    }
}
