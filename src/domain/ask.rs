//! One request to one seat, and what came of it.

use serde::{Deserialize, Serialize};

use super::digest::sha256_hex;
use super::ids::ExpertSlug;
use super::words::words;

words! {
    /// What a seat is asked for.
    pub enum Purpose {
        Opinion = "opinion",
        Review = "review",
        Synthesis = "synthesis",
        /// The five fields, from the whole record.
        Conclusion = "conclusion",
        /// From somebody who is shown the question and those five fields.
        Audit = "audit",
        /// The fields that were objected to, mended.
        Revision = "revision",
        /// What the Principal wants, in one sentence.
        Restatement = "restatement",
        /// A deliberator's first reading of an artifact, alone.
        Judgement = "judgement",
        /// The same after the others' first readings.
        CrossReading = "cross_reading",
        /// All of them merged.
        Adjudication = "adjudication",
    }
}

words! {
    /// How a seat's model is reached.
    pub enum TransportKind {
        Http = "http",
        Cli = "cli",
        Mcp = "mcp",
        Rehearsal = "rehearsal",
    }
}

words! {
    /// Why a call came to nothing.
    pub enum ErrorType {
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

impl ErrorType {
    /// Whether the other side said no before it did any work. Whether it charges for what
    /// timed out or was cut off, nobody can know.
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
    pub purpose: Purpose,
    /// Why the reply to the ask before this one could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stricter: Option<String>,
}

/// Why a reply is not used whose end is missing.
pub const CUT_OFF: &str = "the reply was cut off before it ended";

impl Ask {
    /// Whether the reply before this one was cut off, so that a shorter one is asked for.
    pub fn wants_shorter(&self) -> bool {
        self.stricter.as_ref().is_some_and(|reason| reason.contains(CUT_OFF))
    }
}

/// What a seat is sent: instructions of ours, and fenced material.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    pub system: String,
    pub user: String,
}

impl Messages {
    pub fn bytes(&self) -> usize {
        self.system.len() + self.user.len()
    }

    /// What can be held against the messages later, by whoever has them.
    pub fn digest(&self) -> String {
        sha256_hex([&self.system, "\n\n", &self.user].map(str::as_bytes))
    }
}

/// Tokens, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Usage {
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

words! {
    /// Why a model stopped writing.
    pub enum Finish {
        Stop = "stop",
        Length = "length",
        Refusal = "refusal",
        Other = "other",
    }
}

words! {
    /// Where a cost comes from.
    pub enum CostSource {
        Reported = "reported",
        Computed = "computed",
        Unknown = "unknown",
    }
}

/// What a call cost, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    pub usd_micros: Option<u64>,
    pub source: CostSource,
}

/// What came back, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    pub usage: Option<Usage>,
    /// The model that says it answered, where it is not the one asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub finish: Finish,
    pub cost: Cost,
    pub latency_ms: u64,
    /// Whether the schema was on the wire.
    pub structured: bool,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub error_type: ErrorType,
    pub message: String,
    pub latency_ms: u64,
}

/// The most a call can cost; set aside before it is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Nothing, where no price is known.
    pub usd_micros: Option<u64>,
    pub tokens: u64,
}

impl Reservation {
    /// The greater of both, of each kind.
    #[must_use]
    pub fn or_more(self, other: Self) -> Self {
        Self {
            usd_micros: self.usd_micros.max(other.usd_micros),
            tokens: self.tokens.max(other.tokens),
        }
    }
}

/// A call as it is sent. Calls of a run are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sending {
    pub call: u32,
    pub ask: u32,
    pub transport: TransportKind,
    /// Which attempt on this transport, from 1.
    pub attempt: u8,
    pub reserved: Reservation,
    /// The transport that was tried before this one, and why it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// A call that was in flight when its run died, asked for again by this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    pub from: TransportKind,
    pub reason: String,
}
