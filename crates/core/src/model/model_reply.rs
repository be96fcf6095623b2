//! [`ModelReply`]: what a model answered, with its tokens and its cost; and what is known of a reply
//! that broke off. `ask` exports these types.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use crate::model::string_enum::words;

/// Token counts, as reported by the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Input tokens that the provider read from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Input tokens that the provider wrote to its cache, at a price of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Writes usage for programs: with the cached tokens, also if there are none.
pub(crate) fn serialize_usage<S: Serializer>(
    usage: &Option<TokenUsage>,
    target: S,
) -> Result<S::Ok, S::Error> {
    let document = usage.map(|usage| {
        json!({ "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens })
    });
    document.serialize(target)
}

impl TokenUsage {
    /// Usage without a cache.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    pub fn total_tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

words! {
    /// Why a model stopped writing.
    pub enum FinishReason {
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

/// Cost of a call in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCost {
    pub usd_micros: Option<u64>,
    pub source: CostSource,
}

/// A model's reply, verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    pub text: String,
    pub usage: Option<TokenUsage>,
    /// The model that the provider says answered, if it differs from the requested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub finish: FinishReason,
    pub cost: CallCost,
    pub latency_ms: u64,
    /// True if the request carried the JSON schema.
    pub structured: bool,
    /// Time from sending to the first byte of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
}

/// What is known of a reply that broke off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialReply {
    /// Time from sending the call to the first byte of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
    /// Estimated from its length.
    pub usage: TokenUsage,
}
