//! [`OfferedModel`]: one model of a provider's own list, with what the list says about it.

use plenary_core::model::plan::TokenPrice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::providers::http_errors::{invalid_reply, parse_error};
use crate::providers::transport::{CallError, Provider};

/// A model that a provider offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedModel {
    pub name: String,
    pub context_tokens: Option<u64>,
    pub output_tokens: Option<u32>,
    /// Routers list prices.
    pub price: Option<TokenPrice>,
}

/// Parts of names of models that do not chat.
const OTHER_MODELS: [&str; 19] = [
    "audio",
    "babbage",
    "bge-",
    "computer-use",
    "dall-e",
    "davinci",
    "embed",
    "image",
    "imagen",
    "lyria",
    "minilm",
    "moderation",
    "realtime",
    "rerank",
    "sora",
    "transcribe",
    "tts",
    "veo",
    "whisper",
];

/// Excludes models that cannot answer a question, such as embedding, speech and picture models.
pub fn is_chat_model(model: &str) -> bool {
    !OTHER_MODELS.iter().any(|word| model.contains(word))
}

/// Parses a list of models in the form of any dialect.
pub(crate) fn parse_models(
    provider: &Provider,
    body: &str,
) -> Result<Vec<OfferedModel>, CallError> {
    #[derive(Deserialize)]
    struct ModelListBody {
        data: Option<Vec<Value>>,
        models: Option<Vec<Value>>,
    }
    let list: ModelListBody =
        serde_json::from_str(body).map_err(|error| parse_error(provider, &error))?;
    let entries = list.data.or(list.models);
    let entries = entries.ok_or_else(|| invalid_reply(provider, "no list of models"))?;
    Ok(entries.iter().filter_map(parse_model).collect())
}

fn parse_model(entry: &Value) -> Option<OfferedModel> {
    let name = ["id", "name"].iter().find_map(|key| entry.get(key)?.as_str())?;
    let tokens = |places: &[&str]| places.iter().find_map(|place| entry.pointer(place)?.as_u64());
    let window = ["/context_length", "/max_model_len", "/inputTokenLimit", "/max_input_tokens"];
    let output = tokens(&["/top_provider/max_completion_tokens", "/outputTokenLimit"]);
    Some(OfferedModel {
        name: name.strip_prefix("models/").unwrap_or(name).to_owned(),
        context_tokens: tokens(&window).filter(|tokens| *tokens > 0),
        output_tokens: output.and_then(|tokens| u32::try_from(tokens).ok()),
        price: entry.get("pricing").and_then(parse_price),
    })
}

/// Tokens per million.
const MILLION: f64 = 1_000_000.0;

/// OpenRouter writes dollars per token, as texts. A price below zero means that it varies.
fn parse_price(pricing: &Value) -> Option<TokenPrice> {
    let rate = |name: &str| {
        let value = pricing.get(name)?;
        let dollars = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
        (dollars.is_finite() && dollars >= 0.0).then(|| round_price(dollars * MILLION))
    };
    Some(TokenPrice {
        cached_input_per_mtok: rate("input_cache_read"),
        cache_write_per_mtok: rate("input_cache_write"),
        ..TokenPrice::new(rate("prompt")?, rate("completion")?, "provider")
    })
}

/// Removes the noise of floating point numbers.
fn round_price(price: f64) -> f64 {
    (price * MILLION).round() / MILLION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::test_samples::sample_provider;

    #[test]
    fn every_dialect_lists_its_models_in_its_own_form() {
        let check = |body: &str, expected: &str| {
            let models = parse_models(&sample_provider(), body).map_err(|error| error.message);
            let models: Vec<String> = models.unwrap().iter().map(describe_model).collect();
            assert_eq!(models.join(", "), expected, "{body}");
        };
        check(r#"{"data":[{"id":"gpt-5.6"},{"id":"o3"}]}"#, "gpt-5.6, o3");
        check(
            r#"{"models":[{"name":"models/gemini-3.8-flash","inputTokenLimit":1048576,"outputTokenLimit":65536}]}"#,
            "gemini-3.8-flash 1048576 65536",
        );
        check(r#"{"data":[{"id":"m","max_model_len":32768},{"type":"model"}]}"#, "m 32768");
        check(
            r#"{"data":[{"id":"openai/gpt-5.6","context_length":400000,
                "top_provider":{"max_completion_tokens":128000},
                "pricing":{"prompt":"0.000004","completion":"0.00002","input_cache_read":"0.0000004"}},
                {"id":"auto","pricing":{"prompt":"-1","completion":"-1"}}]}"#,
            "openai/gpt-5.6 400000 128000 $4/$20 cached $0.4, auto",
        );
    }

    fn describe_model(model: &OfferedModel) -> String {
        let numbers = [model.context_tokens, model.output_tokens.map(u64::from)];
        let numbers = numbers.iter().flatten().map(|tokens| format!(" {tokens}"));
        let price = model.price.as_ref().map(|price| {
            let cached = price.cached_input_per_mtok.unwrap_or_default();
            format!(" ${}/${} cached ${cached}", price.input_per_mtok, price.output_per_mtok)
        });
        format!("{}{}{}", model.name, numbers.collect::<String>(), price.unwrap_or_default())
    }

    #[test]
    fn models_that_do_not_chat_are_told_by_their_names() {
        for model in ["gpt-5.6", "claude-sonnet-5-5", "gemini-3.8-flash", "llama3.2:latest"] {
            assert!(is_chat_model(model), "{model}");
        }
        for model in ["text-embedding-3-large", "whisper-1", "gpt-audio", "imagen-4", "bge-m3"] {
            assert!(!is_chat_model(model), "{model}");
        }
    }
}
