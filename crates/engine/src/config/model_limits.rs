//! [`ModelLimits`]: how many tokens a seat may be sent and may write, from the file and the facts of
//! its model.

use crate::config::council_file::ProviderEntry;
use crate::providers::model_facts::ModelFacts;

/// Enough for an opinion with its reasons. The budget reserves this amount before each call.
const OUTPUT_TOKENS_USUAL: u32 = 16_000;

/// Thoughts count as output.
const OUTPUT_TOKENS_REASONING: u32 = 32_000;

/// An unknown model may reject a higher limit.
const OUTPUT_TOKENS_UNKNOWN: u32 = 8_192;

/// Every current model takes this many tokens.
const INPUT_TOKENS_UNKNOWN: u64 = 100_000;

/// Part of the window that stays free, because token counts are estimates: one twentieth.
const WINDOW_MARGIN: u64 = 20;

/// Limits of the calls to one model, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelLimits {
    pub output_tokens_max: u32,
    pub input_tokens_max: u64,
}

impl ModelLimits {
    /// The file wins over what the provider's list says (`listed_window`), and that over the facts.
    pub(crate) fn new(
        entry: &ProviderEntry,
        listed_window: Option<u64>,
        facts: Option<&ModelFacts>,
    ) -> Self {
        let known = facts.map(|facts| facts.context_tokens);
        let window = entry.context_tokens.or(listed_window).or(known);
        let output_tokens_max =
            entry.max_output_tokens.unwrap_or_else(|| usual_output_limit(facts, window));
        let input_tokens_max = window.map_or(INPUT_TOKENS_UNKNOWN, |window| {
            let kept = u64::from(output_tokens_max) + window / WINDOW_MARGIN;
            window.saturating_sub(kept)
        });
        Self { output_tokens_max, input_tokens_max }
    }
}

/// The smaller of the model's own limit and ours, and at most half of a small window.
fn usual_output_limit(facts: Option<&ModelFacts>, window: Option<u64>) -> u32 {
    let limit = match facts {
        Some(facts) if facts.reasons => facts.output_tokens.min(OUTPUT_TOKENS_REASONING),
        Some(facts) => facts.output_tokens.min(OUTPUT_TOKENS_USUAL),
        None => OUTPUT_TOKENS_UNKNOWN,
    };
    let half = window.map_or(u32::MAX, |window| u32::try_from(window / 2).unwrap_or(u32::MAX));
    limit.min(half).max(1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::providers::model_facts::find_facts;

    #[test]
    fn limits_follow_from_file_list_and_facts() {
        let check = |more: Value, model: &str, listed: Option<u64>, expected: (u32, u64)| {
            let mut entry = json!({ "name": "ann" });
            entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let entry: ProviderEntry = serde_json::from_value(entry).unwrap();
            let limits = ModelLimits::new(&entry, listed, find_facts("ann", model));
            let told = (limits.output_tokens_max, limits.input_tokens_max);
            assert_eq!(told, expected, "{model} {more} {listed:?}");
        };
        check(json!({}), "claude-sonnet-5-5", None, (32_000, 1_000_000 - 32_000 - 50_000));
        check(json!({}), "gpt-4o", None, (16_000, 128_000 - 16_000 - 6_400));
        check(json!({}), "gpt-4", None, (4_096, 8_192 - 4_096 - 409));
        check(json!({}), "unknown", None, (8_192, 100_000));
        check(json!({}), "unknown", Some(32_768), (8_192, 32_768 - 8_192 - 1_638));
        check(json!({ "context_tokens": 8192 }), "unknown", Some(1), (4_096, 8_192 - 4_096 - 409));
        check(json!({ "max_output_tokens": 500 }), "gpt-4o", None, (500, 128_000 - 500 - 6_400));
        check(json!({ "max_output_tokens": 9000, "context_tokens": 8000 }), "x", None, (9_000, 0));
    }
}
