//! The providers known by name, the families of models, and published prices: `data/providers.json`.
//!
//! [`find_row`] looks a provider up for config and transports; an OpenAI-compatible provider is a
//! row of that file. An unknown price is reported as unknown: a wrong one would let a run exceed its
//! budget.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plenary_core::model::plan::TokenPrice;
use serde::Deserialize;

use crate::providers::transport::Dialect;

/// Defaults of a known provider, before any configuration.
#[derive(Debug, PartialEq, Deserialize)]
pub struct ProviderRow {
    pub name: &'static str,
    /// Second name of the same provider.
    pub alias: Option<&'static str>,
    #[serde(default = "default_dialect")]
    pub dialect: Dialect,
    pub base_url: &'static str,
    /// Environment variables that may contain the key; the first one set wins. Empty if no key is
    /// needed.
    #[serde(default)]
    pub key_variables: Vec<&'static str>,
    /// Company that trains the models; `None` if the host serves models of many companies.
    pub family: Option<&'static str>,
    /// Default model.
    pub model: Option<&'static str>,
    /// Agent program that reaches the same models.
    pub program: Option<&'static str>,
    /// Whether the default address is on this machine.
    #[serde(default)]
    pub loopback: bool,
    #[serde(default)]
    pub output_limit: OutputLimit,
}

/// Most servers are compatible with OpenAI's.
fn default_dialect() -> Dialect {
    Dialect::OpenAi
}

/// Name of the output-token limit in requests to an OpenAI-compatible server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimit {
    #[default]
    MaxTokens,
    /// OpenAI's newer models reject `max_tokens`.
    MaxCompletionTokens,
}

/// The catalogue file.
#[derive(Debug, Default, Deserialize)]
struct CatalogueFile {
    /// In the order of discovery.
    providers: Vec<ProviderRow>,
    /// Prefixes of model names, and the company that trains those models.
    families: BTreeMap<&'static str, &'static str>,
    prices_as_of: &'static str,
    prices: Vec<PriceRow>,
}

/// Dollars per million input and output tokens. Where long prompts cost more, the price for prompts
/// below 200,000 tokens applies, since ours are shorter.
#[derive(Debug, Deserialize)]
struct PriceRow {
    model: &'static str,
    input_per_mtok: f64,
    output_per_mtok: f64,
}

/// The tests check that the file is valid.
static CATALOGUE: LazyLock<CatalogueFile> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../data/providers.json")).unwrap_or_default()
});

/// All known providers, in the order of discovery.
pub fn provider_rows() -> &'static [ProviderRow] {
    &CATALOGUE.providers
}

/// Finds a row by name or alias.
pub fn find_row(name: &str) -> Option<&'static ProviderRow> {
    provider_rows().iter().find(|row| row.name == name || row.alias == Some(name))
}

/// Returns the limit's name for a server. An unknown address is a compatible server, even if the
/// provider has the name of a known row.
pub(crate) fn output_limit_at(base_url: &str) -> OutputLimit {
    let known = provider_rows().iter().find(|row| row.base_url == base_url);
    known.map_or(OutputLimit::MaxTokens, |row| row.output_limit)
}

/// Returns the company that trains a model: from the row, else from the model's name, else the
/// first alphabetic part of that name. Two seats of one family are not independent opinions.
pub fn model_family(row: Option<&ProviderRow>, model: &str) -> String {
    if let Some(family) = row.and_then(|row| row.family) {
        return family.to_owned();
    }
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let name = name.strip_prefix("meta-").unwrap_or(&name);
    if let Some((_, family)) = CATALOGUE.families.iter().find(|(start, _)| name.starts_with(*start))
    {
        return (*family).to_owned();
    }
    let word: String = name.chars().take_while(|c| c.is_alphabetic()).collect();
    if word.is_empty() { "unknown".to_owned() } else { word }
}

/// Returns the price of the longest table entry that the model is a version of.
pub fn find_price(model: &str) -> Option<TokenPrice> {
    let name = strip_vendor(model);
    let versions =
        CATALOGUE.prices.iter().filter(|row| name.strip_prefix(row.model).is_some_and(is_version));
    let row = versions.max_by_key(|row| row.model.len())?;
    Some(TokenPrice {
        input_per_mtok: row.input_per_mtok,
        output_per_mtok: row.output_per_mtok,
        source: CATALOGUE.prices_as_of.to_owned(),
    })
}

/// Routers prefix the vendor and charge its price.
fn strip_vendor(model: &str) -> &str {
    ["anthropic/", "google/", "models/", "openai/"]
        .iter()
        .find_map(|vendor| model.strip_prefix(vendor))
        .unwrap_or(model)
}

/// Whether a suffix is only a version: a date, a serial number of at least three digits, or
/// `-latest`. A single digit (`claude-opus-4-6`) or another suffix (`gpt-4o-realtime`) is another
/// model with its own price.
fn is_version(rest: &str) -> bool {
    let Some(version) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let digits = version.bytes().filter(u8::is_ascii_digit).count();
    let dated = digits >= 3 && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    dated || version == "latest"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_by_either_of_its_names() {
        assert_eq!(find_row("anthropic"), find_row("claude"));
        assert_eq!(find_row("claude").unwrap().dialect, Dialect::Anthropic);
        assert_eq!(find_row("gemini").unwrap().key_variables, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
        assert_eq!(find_row("nobody"), None);
    }

    #[test]
    fn rows_are_fit_to_be_called() {
        assert_eq!(provider_rows().len(), 11);
        for row in provider_rows() {
            let scheme = if row.loopback { "http://127.0.0.1:" } else { "https://" };
            assert!(row.base_url.starts_with(scheme), "{row:?}");
            assert!(!row.base_url.ends_with('/'), "{row:?}");
            assert_eq!(row.key_variables.is_empty(), row.loopback, "{row:?}");
        }
    }

    #[test]
    fn the_limit_is_named_by_the_server_not_by_the_provider() {
        assert_eq!(output_limit_at("https://api.openai.com/v1"), OutputLimit::MaxCompletionTokens);
        assert_eq!(output_limit_at("http://127.0.0.1:8099/v1"), OutputLimit::MaxTokens);
    }

    #[test]
    fn a_family_is_told_by_provider_or_model() {
        let check = |name: &str, model: &str, expected: &str| {
            assert_eq!(model_family(find_row(name), model), expected, "{name} {model}");
        };
        check("claude", "claude-sonnet-4-20250514", "anthropic");
        check("openrouter", "anthropic/claude-sonnet-4", "anthropic");
        check("openrouter", "openai/gpt-4o", "openai");
        check("ollama", "llama3.2:latest", "meta");
        check("groq", "meta-llama/Meta-Llama-3-70B", "meta");
        check("ollama", "qwen2.5:7b", "alibaba");
        check("vllm", "somebody/Falcon-40b", "falcon");
        check("house", "7", "unknown");
    }
}

#[cfg(test)]
mod prices_tests {
    use super::*;

    #[test]
    fn a_price_is_that_of_the_model_and_of_no_namesake() {
        let check = |model: &str, expected: Option<(f64, f64)>| {
            let found =
                find_price(model).map(|price| (price.input_per_mtok, price.output_per_mtok));
            assert_eq!(found, expected, "{model}");
        };
        check("claude-sonnet-4-20250514", Some((3.0, 15.0)));
        check("claude-opus-4-5-20251101", Some((5.0, 25.0)));
        check("claude-opus-4-20250514", Some((15.0, 75.0)));
        check("claude-opus-4-6", None);
        check("gpt-4o", Some((2.5, 10.0)));
        check("gpt-4o-2024-08-06", Some((2.5, 10.0)));
        check("gpt-4o-2024-05-13", Some((5.0, 15.0)));
        check("gpt-4o-mini", Some((0.15, 0.60)));
        check("gpt-4o-realtime-preview", None);
        check("gemini-2.0-flash-001", Some((0.10, 0.40)));
        check("gemini-2.0-flash-lite", Some((0.075, 0.30)));
        check("models/gemini-2.5-pro", Some((1.25, 10.0)));
        check("openai/gpt-4o", Some((2.5, 10.0)));
        check("somebody/gpt-4o", None);
        check("claude-3-5-haiku-latest", Some((0.80, 4.0)));
        check("o3-deep-research", None);
        check("", None);
    }

    #[test]
    fn a_price_says_of_which_day_it_is() {
        assert_eq!(find_price("gpt-4o").unwrap().source, "2025-11-30");
    }
}
