//! [`ModelLimits`]: how many tokens a seat may be sent and may write, from the file and the facts of
//! its model.

use plenary_core::model::plan::INPUT_TOKENS_UNKNOWN;

use crate::config::council_file::ProviderEntry;
use crate::providers::model_facts::ModelFacts;
use crate::providers::offered_models::OfferedModel;

/// Enough for an opinion with its reasons. The budget reserves this amount before each call.
const OUTPUT_TOKENS_USUAL: u32 = 16_000;

/// Thoughts count as output.
const OUTPUT_TOKENS_REASONING: u32 = 32_000;

/// An unknown model may reject a higher limit.
const OUTPUT_TOKENS_UNKNOWN: u32 = 8_192;

/// Part of the window that stays free, because token counts are estimates: one twentieth.
const WINDOW_MARGIN: u64 = 20;

/// Limits of the calls to one model, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelLimits {
    pub output_tokens_max: u32,
    pub input_tokens_max: u64,
}

impl ModelLimits {
    /// The file wins over what the provider's list says, and that over the facts.
    pub(crate) fn new(
        entry: &ProviderEntry,
        listed: Option<&OfferedModel>,
        facts: Option<&ModelFacts>,
    ) -> Self {
        let listed_window = listed.and_then(|listed| listed.context_tokens);
        let known = facts.map(|facts| facts.context_tokens);
        let window = entry.context_tokens.or(listed_window).or(known);
        let listed_output = listed.and_then(|listed| listed.output_tokens);
        let output_tokens_max = entry
            .max_output_tokens
            .unwrap_or_else(|| usual_output_limit(facts, listed_output, window));
        let input_tokens_max = window.map_or(INPUT_TOKENS_UNKNOWN, |window| {
            let kept = u64::from(output_tokens_max) + window / WINDOW_MARGIN;
            window.saturating_sub(kept)
        });
        Self { output_tokens_max, input_tokens_max }
    }
}

/// The smaller of the model's own limit and ours, and at most half of a small window.
fn usual_output_limit(facts: Option<&ModelFacts>, listed: Option<u32>, window: Option<u64>) -> u32 {
    let reasons = facts.is_some_and(|facts| facts.reasons);
    let ours = if reasons { OUTPUT_TOKENS_REASONING } else { OUTPUT_TOKENS_USUAL };
    let its = listed.filter(|tokens| *tokens > 0).or(facts.map(|facts| facts.output_tokens));
    let limit = its.map_or(OUTPUT_TOKENS_UNKNOWN, |its| its.min(ours));
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
        let check = |more: Value, model: &str, listed: Option<(u64, u32)>, expected: (u32, u64)| {
            let listed = listed.map(|(window, output)| OfferedModel {
                name: model.to_owned(),
                context_tokens: Some(window),
                output_tokens: (output > 0).then_some(output),
                price: None,
            });
            let mut entry = json!({ "name": "ann" });
            entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let entry: ProviderEntry = serde_json::from_value(entry).unwrap();
            let limits = ModelLimits::new(&entry, listed.as_ref(), find_facts("ann", model));
            let result = (limits.output_tokens_max, limits.input_tokens_max);
            assert_eq!(result, expected, "{model} {more} {listed:?}");
        };
        check(json!({}), "claude-sonnet-5-5", None, (32_000, 1_000_000 - 32_000 - 50_000));
        check(json!({}), "gpt-4o", None, (16_000, 128_000 - 16_000 - 6_400));
        check(json!({}), "gpt-4", None, (4_096, 8_192 - 4_096 - 409));
        check(json!({}), "unknown", None, (8_192, 100_000));
        check(json!({}), "unknown", Some((32_768, 0)), (8_192, 32_768 - 8_192 - 1_638));
        check(json!({}), "unknown", Some((200_000, 64_000)), (16_000, 200_000 - 16_000 - 10_000));
        check(json!({}), "unknown", Some((200_000, 2_000)), (2_000, 200_000 - 2_000 - 10_000));
        check(
            json!({ "context_tokens": 8192 }),
            "unknown",
            Some((1, 0)),
            (4_096, 8_192 - 4_096 - 409),
        );
        check(json!({ "max_output_tokens": 500 }), "gpt-4o", None, (500, 128_000 - 500 - 6_400));
        check(json!({ "max_output_tokens": 9000, "context_tokens": 8000 }), "x", None, (9_000, 0));
    }
}
