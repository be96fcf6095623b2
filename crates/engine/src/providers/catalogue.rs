//! Table of the providers known by name. [`find_row`] looks one up for config and transports; an
//! OpenAI-compatible provider is a row here, not a file.

pub use crate::providers::prices::PRICES_AS_OF;
pub use crate::providers::prices::find_price;
use crate::providers::transport::Dialect;

/// Defaults of a known provider, before any configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProviderRow {
    pub name: &'static str,
    /// Second name of the same provider.
    pub alias: Option<&'static str>,
    pub dialect: Dialect,
    pub base_url: &'static str,
    /// Environment variables that may contain the key; the first one set wins. Empty if no key is
    /// needed.
    pub key_variables: &'static [&'static str],
    /// Company that trains the models; `None` if the host serves models of many companies.
    pub family: Option<&'static str>,
    /// Default model.
    pub model: Option<&'static str>,
    /// Agent program that reaches the same models.
    pub program: Option<&'static str>,
    /// Whether the default address is on this machine.
    pub loopback: bool,
    pub output_limit: OutputLimit,
}

/// Name of the output-token limit in requests to an OpenAI-compatible server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputLimit {
    MaxTokens,
    /// OpenAI's newer models reject `max_tokens`.
    MaxCompletionTokens,
}

/// Defaults of most rows: an OpenAI-compatible server that hosts models of many companies.
const COMPATIBLE_ROW: ProviderRow = ProviderRow {
    name: "",
    alias: None,
    dialect: Dialect::OpenAi,
    base_url: "",
    key_variables: &[],
    family: None,
    model: None,
    program: None,
    loopback: false,
    output_limit: OutputLimit::MaxTokens,
};

/// In the order of discovery.
pub const PROVIDER_ROWS: [ProviderRow; 11] = [
    ProviderRow {
        name: "claude",
        alias: Some("anthropic"),
        dialect: Dialect::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        key_variables: &["ANTHROPIC_API_KEY"],
        family: Some("anthropic"),
        model: Some("claude-sonnet-4-20250514"),
        program: Some("claude"),
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        key_variables: &["OPENAI_API_KEY"],
        family: Some("openai"),
        model: Some("gpt-4o"),
        program: Some("codex"),
        output_limit: OutputLimit::MaxCompletionTokens,
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "gemini",
        dialect: Dialect::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        family: Some("google"),
        model: Some("gemini-2.0-flash"),
        program: Some("gemini"),
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        key_variables: &["OPENROUTER_API_KEY"],
        model: Some("openai/gpt-4o"),
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        loopback: true,
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "llamacpp",
        base_url: "http://127.0.0.1:8080/v1",
        loopback: true,
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "vllm",
        base_url: "http://127.0.0.1:8000/v1",
        loopback: true,
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "groq",
        base_url: "https://api.groq.com/openai/v1",
        key_variables: &["GROQ_API_KEY"],
        model: Some("llama-3.3-70b-versatile"),
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        key_variables: &["DEEPSEEK_API_KEY"],
        family: Some("deepseek"),
        model: Some("deepseek-chat"),
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "xai",
        base_url: "https://api.x.ai/v1",
        key_variables: &["XAI_API_KEY"],
        family: Some("xai"),
        model: Some("grok-4"),
        ..COMPATIBLE_ROW
    },
    ProviderRow {
        name: "mistral",
        base_url: "https://api.mistral.ai/v1",
        key_variables: &["MISTRAL_API_KEY"],
        family: Some("mistral"),
        model: Some("mistral-large-latest"),
        ..COMPATIBLE_ROW
    },
];

/// Finds a row by name or alias.
pub fn find_row(name: &str) -> Option<&'static ProviderRow> {
    PROVIDER_ROWS.iter().find(|row| row.name == name || row.alias == Some(name))
}

/// Returns the limit's name for a server. An unknown address is a compatible server, even if the
/// provider has the name of a known row.
pub(crate) fn output_limit_at(base_url: &str) -> OutputLimit {
    let known = PROVIDER_ROWS.iter().find(|row| row.base_url == base_url);
    known.map_or(OutputLimit::MaxTokens, |row| row.output_limit)
}

/// Prefixes of model names, and the company that trains those models.
const FAMILY_PREFIXES: [(&str, &str); 15] = [
    ("chatgpt", "openai"),
    ("claude", "anthropic"),
    ("codestral", "mistral"),
    ("deepseek", "deepseek"),
    ("gemini", "google"),
    ("gemma", "google"),
    ("gpt", "openai"),
    ("grok", "xai"),
    ("llama", "meta"),
    ("magistral", "mistral"),
    ("ministral", "mistral"),
    ("mistral", "mistral"),
    ("mixtral", "mistral"),
    ("phi", "microsoft"),
    ("qw", "alibaba"),
];

/// Returns the company that trains a model: from the row, else from the model's name, else the
/// first alphabetic part of that name. Two seats of one family are not independent opinions.
pub fn model_family(row: Option<&ProviderRow>, model: &str) -> String {
    if let Some(family) = row.and_then(|row| row.family) {
        return family.to_owned();
    }
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let name = name.strip_prefix("meta-").unwrap_or(&name);
    if let Some((_, family)) = FAMILY_PREFIXES.iter().find(|(start, _)| name.starts_with(start)) {
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
        for row in &PROVIDER_ROWS {
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
