//! The providers known by name, and the families of models: `data/providers.json`.
//!
//! [`find_row`] looks a provider up for config and transports; an OpenAI-compatible provider is a
//! row of that file. What is known about single models is in `model_facts.rs`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::providers::model_facts::ModelLine;
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
    /// Model to use when neither the file nor a line names one.
    pub model: Option<&'static str>,
    /// The models of which `latest` takes the newest.
    pub line: Option<ModelLine>,
    /// Whether its list of models has prices, which win over the facts.
    #[serde(default)]
    pub lists_prices: bool,
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

impl OutputLimit {
    pub fn field_name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    #[must_use]
    pub fn other_name(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// The catalogue file.
#[derive(Debug, Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
struct CatalogueFile {
    /// In the order of discovery.
    providers: Vec<ProviderRow>,
    /// Prefixes of model names, and the company that trains those models.
    families: BTreeMap<&'static str, &'static str>,
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
