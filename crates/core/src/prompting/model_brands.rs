//! The names of known models and their makers, for the mask of [`anonymize`](super::anonymize).

/// A family of models.
#[derive(Debug)]
pub(crate) struct ModelBrand {
    /// Names that identify the family in the configuration and reveal a model in a text.
    pub(crate) names: &'static [&'static str],
    /// Version names that are also ordinary English; masked only before a number.
    pub(crate) versions: &'static [&'static str],
    /// Companies that make other things besides models; masked only as a separate proper name.
    pub(crate) vendors: &'static [&'static str],
}

pub(crate) static MODEL_BRANDS: [ModelBrand; 12] = [
    ModelBrand {
        names: &["claude", "anthropic"],
        versions: &["sonnet", "opus", "haiku"],
        vendors: &[],
    },
    ModelBrand {
        names: &["gpt", "chatgpt", "openai", "open ai", "codex"],
        versions: &[],
        vendors: &[],
    },
    ModelBrand {
        names: &["gemini", "gemma", "palm 2", "google ai", "google deepmind", "deepmind"],
        versions: &[],
        vendors: &["Google", "Bard"],
    },
    ModelBrand { names: &["llama", "meta ai", "meta llama"], versions: &[], vendors: &["Meta"] },
    ModelBrand {
        names: &["mistral", "mixtral", "ministral", "magistral", "codestral"],
        versions: &[],
        vendors: &[],
    },
    ModelBrand { names: &["grok", "xai"], versions: &[], vendors: &[] },
    ModelBrand { names: &["deepseek", "deep seek"], versions: &[], vendors: &[] },
    ModelBrand { names: &["qwen", "qwq", "tongyi"], versions: &[], vendors: &["Alibaba"] },
    ModelBrand { names: &["kimi", "moonshot ai"], versions: &[], vendors: &[] },
    ModelBrand { names: &["glm", "zhipu", "z.ai"], versions: &[], vendors: &[] },
    ModelBrand { names: &["cohere", "command r"], versions: &[], vendors: &[] },
    ModelBrand { names: &["phi"], versions: &[], vendors: &["Microsoft"] },
];

/// Suffixes that belong to a model name, also after a space: `Gemini 2.5 Pro`.
pub(crate) const VERSION_SUFFIXES: [&str; 9] =
    ["sonnet", "opus", "haiku", "turbo", "mini", "nano", "flash", "pro", "ultra"];

/// Suffixes that belong to a model name only after a hyphen or similar sign; alone they are
/// ordinary English.
pub(crate) const JOINED_SUFFIXES: [&str; 17] = [
    "instant", "lite", "large", "medium", "small", "nemo", "preview", "latest", "instruct", "chat",
    "exp", "thinking", "maverick", "scout", "coder", "vision", "it",
];
