//! Table of model brands: names, version names and vendors that `NameMask` hides.

/// A family of models.
#[derive(Debug)]
pub(super) struct Brand {
    /// Names that identify the family in the configuration and reveal a model in a text.
    pub(super) names: &'static [&'static str],
    /// Version names that are also ordinary English; masked only before a number.
    pub(super) versions: &'static [&'static str],
    /// Companies that make other things besides models; masked only as a separate proper name.
    pub(super) houses: &'static [&'static str],
}

pub(super) static BRANDS: [Brand; 12] = [
    Brand { names: &["claude", "anthropic"], versions: &["sonnet", "opus", "haiku"], houses: &[] },
    Brand { names: &["gpt", "chatgpt", "openai", "open ai", "codex"], versions: &[], houses: &[] },
    Brand {
        names: &["gemini", "gemma", "palm 2", "google ai", "google deepmind", "deepmind"],
        versions: &[],
        houses: &["Google", "Bard"],
    },
    Brand { names: &["llama", "meta ai", "meta llama"], versions: &[], houses: &["Meta"] },
    Brand {
        names: &["mistral", "mixtral", "ministral", "magistral", "codestral"],
        versions: &[],
        houses: &[],
    },
    Brand { names: &["grok", "xai"], versions: &[], houses: &[] },
    Brand { names: &["deepseek", "deep seek"], versions: &[], houses: &[] },
    Brand { names: &["qwen", "qwq", "tongyi"], versions: &[], houses: &["Alibaba"] },
    Brand { names: &["kimi", "moonshot ai"], versions: &[], houses: &[] },
    Brand { names: &["glm", "zhipu", "z.ai"], versions: &[], houses: &[] },
    Brand { names: &["cohere", "command r"], versions: &[], houses: &[] },
    Brand { names: &["phi"], versions: &[], houses: &["Microsoft"] },
];

/// Suffixes that belong to a model name, also after a space: `Gemini 2.5 Pro`.
pub(super) const TAILS: [&str; 9] =
    ["sonnet", "opus", "haiku", "turbo", "mini", "nano", "flash", "pro", "ultra"];

/// Suffixes that belong to a model name only after a hyphen or similar sign; alone they are
/// ordinary English.
pub(super) const JOINED_TAILS: [&str; 17] = [
    "instant", "lite", "large", "medium", "small", "nemo", "preview", "latest", "instruct", "chat",
    "exp", "thinking", "maverick", "scout", "coder", "vision", "it",
];
