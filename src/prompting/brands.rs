//! The names by which models, and who makes them, are known.

/// A family of models.
#[derive(Debug)]
pub(super) struct Brand {
    /// Words that say a configured name is of this family, and that give a model away.
    pub(super) names: &'static [&'static str],
    /// Names of versions that are ordinary words by themselves: hidden before a number.
    pub(super) versions: &'static [&'static str],
    /// Makers of much besides models: hidden where the word stands as a name of its own.
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

/// Words that go on with a model's name, also behind a space: `Gemini 2.5 Pro`.
pub(super) const TAILS: [&str; 9] =
    ["sonnet", "opus", "haiku", "turbo", "mini", "nano", "flash", "pro", "ultra"];

/// Words that go on with it only behind a hyphen or its like, because they are ordinary.
pub(super) const JOINED_TAILS: [&str; 17] = [
    "instant", "lite", "large", "medium", "small", "nemo", "preview", "latest", "instruct", "chat",
    "exp", "thinking", "maverick", "scout", "coder", "vision", "it",
];
