//! Tables of the providers known by name and of published model prices.
//!
//! [`find_row`] looks a provider up for config and transports; an OpenAI-compatible provider is a row
//! here, not a file. An unknown price is reported as unknown: a wrong one would let a run exceed its
//! budget.

use plenary_core::model::plan::TokenPrice;

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

/// Date of the table below.
pub const PRICES_AS_OF: &str = "2025-11-30";

/// Dollars per million input and output tokens. Where long prompts cost more, the price for prompts
/// below 200,000 tokens applies, since ours are shorter.
const PRICES: [(&str, f64, f64); 33] = [
    ("claude-3-haiku", 0.25, 1.25),
    ("claude-3-opus", 15.0, 75.0),
    ("claude-3-5-haiku", 0.80, 4.0),
    ("claude-3-5-sonnet", 3.0, 15.0),
    ("claude-3-7-sonnet", 3.0, 15.0),
    ("claude-haiku-4-5", 1.0, 5.0),
    ("claude-opus-4", 15.0, 75.0),
    ("claude-opus-4-0", 15.0, 75.0),
    ("claude-opus-4-1", 15.0, 75.0),
    ("claude-opus-4-5", 5.0, 25.0),
    ("claude-sonnet-4", 3.0, 15.0),
    ("claude-sonnet-4-0", 3.0, 15.0),
    ("claude-sonnet-4-5", 3.0, 15.0),
    ("gemini-2.0-flash", 0.10, 0.40),
    ("gemini-2.0-flash-lite", 0.075, 0.30),
    ("gemini-2.5-flash", 0.30, 2.50),
    ("gemini-2.5-flash-lite", 0.10, 0.40),
    ("gemini-2.5-pro", 1.25, 10.0),
    ("gpt-4-turbo", 10.0, 30.0),
    ("gpt-4.1", 2.0, 8.0),
    ("gpt-4.1-mini", 0.40, 1.60),
    ("gpt-4.1-nano", 0.10, 0.40),
    ("gpt-4o", 2.50, 10.0),
    ("gpt-4o-2024-05-13", 5.0, 15.0),
    ("gpt-4o-mini", 0.15, 0.60),
    ("gpt-5", 1.25, 10.0),
    ("gpt-5-mini", 0.25, 2.0),
    ("gpt-5-nano", 0.05, 0.40),
    ("gpt-5.1", 1.25, 10.0),
    ("llama-3.3-70b-versatile", 0.59, 0.79),
    ("o3", 2.0, 8.0),
    ("o3-mini", 1.10, 4.40),
    ("o4-mini", 1.10, 4.40),
];

/// Returns the price of the longest table entry that the model is a version of.
pub fn find_price(model: &str) -> Option<TokenPrice> {
    let name = strip_vendor(model);
    let (_, input_per_mtok, output_per_mtok) = PRICES
        .iter()
        .filter(|(known, ..)| name.strip_prefix(known).is_some_and(is_version))
        .max_by_key(|(known, ..)| known.len())?;
    Some(TokenPrice {
        input_per_mtok: *input_per_mtok,
        output_per_mtok: *output_per_mtok,
        source: PRICES_AS_OF.to_owned(),
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
        assert_eq!(find_price("gpt-4o").unwrap().source, PRICES_AS_OF);
    }
}
