//! The secret rules, loaded once; each pattern is compiled on first use.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

/// Rules of gitleaks; `scripts/update-secret-rules` writes the file.
const GITLEAKS_RULES: &str = include_str!("../../../../../data/secret-rules.json");

/// Our own rules, for shapes that gitleaks does not know or finds only in certain contexts.
const OWN_RULES: &str = include_str!("../../../../../data/own-secret-rules.json");

/// The largest rule needs about a third of this.
const REGEX_BYTES_MAX: usize = 8 << 20;

/// All rules, with an index of their keywords.
pub(crate) struct SecretRules {
    pub(crate) rules: Vec<SecretRule>,
    /// Allowlist for all gitleaks rules.
    everywhere: RuleAllowlist,
    /// Our own document without its rules.
    own: RuleDocument,
    keywords: Option<AhoCorasick>,
    /// Rule index of each keyword, in the order of the keyword index.
    rule_of_keyword: Vec<usize>,
    /// Rules without keywords; they scan every text.
    without_keyword: Vec<usize>,
}

/// A rule for one kind of secret.
#[derive(Debug, Deserialize)]
pub(crate) struct SecretRule {
    pub(crate) id: String,
    #[serde(rename = "regex")]
    pub(crate) pattern: LazyPattern,
    #[serde(default)]
    keywords: Vec<String>,
    /// Minimum entropy of the secret in bits per character, exclusive.
    entropy: Option<f64>,
    /// Restricts the rule to matching paths.
    path: Option<LazyPattern>,
    secret_group: Option<usize>,
    #[serde(default)]
    allowlists: Vec<RuleAllowlist>,
    /// Only our own rules have it; only for them placeholders do not count.
    letters: Option<SecretLetters>,
}

/// A match of a rule, with the parts that allowlists test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleMatch<'a> {
    pub(crate) secret: &'a [u8],
    pub(crate) whole: &'a [u8],
    pub(crate) line: &'a [u8],
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RuleDocument {
    allowlist: RuleAllowlist,
    placeholder_parts: Vec<String>,
    placeholder_values: Vec<String>,
    placeholder_starts: Vec<String>,
    rules: Vec<SecretRule>,
}

/// Matches that look like a secret but are none.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RuleAllowlist {
    #[serde(default)]
    all_must_match: bool,
    #[serde(default)]
    target: AllowTarget,
    #[serde(default)]
    pub(crate) paths: Vec<LazyPattern>,
    #[serde(default)]
    pub(crate) regexes: Vec<LazyPattern>,
    #[serde(default)]
    stopwords: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AllowTarget {
    #[default]
    Secret,
    Match,
    Line,
}

impl SecretRules {
    /// The shared rule set. The rule file is part of the build, and a test parses it.
    pub(crate) fn shared_rules() -> &'static Self {
        static SHARED: LazyLock<SecretRules> = LazyLock::new(SecretRules::load_rules);
        &SHARED
    }

    fn load_rules() -> Self {
        let gitleaks: RuleDocument = serde_json::from_str(GITLEAKS_RULES).unwrap_or_default();
        let mut own: RuleDocument = serde_json::from_str(OWN_RULES).unwrap_or_default();
        let mut rules = std::mem::take(&mut own.rules);
        rules.extend(gitleaks.rules);
        let mut words = Vec::new();
        let mut rule_of_keyword = Vec::new();
        let mut without_keyword = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            if rule.keywords.is_empty() {
                without_keyword.push(at);
            }
            words.extend(rule.keywords.iter().cloned());
            rule_of_keyword.extend(rule.keywords.iter().map(|_| at));
        }
        let keywords = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok();
        Self {
            rules,
            everywhere: gitleaks.allowlist,
            own,
            keywords,
            rule_of_keyword,
            without_keyword,
        }
    }

    /// The rules with a keyword in the text, in order.
    pub(crate) fn rules_for(&self, text: &str) -> impl Iterator<Item = &SecretRule> {
        let mut wanted = vec![self.keywords.is_none(); self.rules.len()];
        let mut want = |rule: usize| {
            if let Some(wanted) = wanted.get_mut(rule) {
                *wanted = true;
            }
        };
        self.without_keyword.iter().copied().for_each(&mut want);
        for found in self.keywords.iter().flat_map(|index| index.find_overlapping_iter(text)) {
            self.rule_of_keyword.get(found.pattern().as_usize()).copied().map(&mut want);
        }
        self.rules.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(rule, _)| rule)
    }

    /// Whether a match is a secret.
    pub(crate) fn is_secret(&self, rule: &SecretRule, path: &str, found: RuleMatch<'_>) -> bool {
        if rule.entropy.is_some_and(|least| shannon_entropy(found.secret) <= least) {
            return false;
        }
        if let Some(letters) = rule.letters {
            return letters.matches_secret(found.secret) && !self.own.is_placeholder(found.secret);
        }
        let mut lists = rule.allowlists.iter().chain([&self.everywhere]);
        !lists.any(|list| list.allows_match(path, found))
    }
}

impl RuleDocument {
    /// Whether a value is an example, a template variable, or code that reads a value elsewhere.
    fn is_placeholder(&self, secret: &[u8]) -> bool {
        let secret = String::from_utf8_lossy(secret).to_ascii_lowercase();
        self.placeholder_parts.iter().any(|part| secret.contains(part.as_str()))
            || self.placeholder_values.contains(&secret)
            || self.placeholder_starts.iter().any(|start| secret.starts_with(start.as_str()))
    }
}

/// Characters that a secret must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SecretLetters {
    /// At least one digit.
    WithDigit,
    /// No requirement: a person may have chosen it.
    Any,
    /// Mixed case that does not form words: `OGqskVOqDEzW`, not `readTokenFromFile`.
    Scrambled,
}

impl SecretLetters {
    /// In joined words the case changes at most once per this many letters.
    const LETTERS_PER_CHANGE: usize = 3;
    /// Joined words have few adjacent capitals.
    const CAPITAL_PAIRS_MIN: usize = 2;

    fn matches_secret(self, secret: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::WithDigit => secret.iter().any(u8::is_ascii_digit),
            Self::Scrambled => {
                let capitals = secret.iter().map(u8::is_ascii_uppercase);
                let pairs = || capitals.clone().zip(capitals.clone().skip(1));
                let changes = pairs().filter(|(one, next)| one != next).count();
                let doubled = pairs().filter(|(one, next)| *one && *next).count();
                changes * Self::LETTERS_PER_CHANGE >= secret.len()
                    && doubled >= Self::CAPITAL_PAIRS_MIN
            }
        }
    }
}

impl SecretRule {
    pub(crate) fn applies_to(&self, path: &str) -> bool {
        self.path.as_ref().is_none_or(|pattern| pattern.is_match(path.as_bytes()))
    }

    /// The configured group, else the first group that matched, else the whole match.
    pub(crate) fn extract_secret<'t>(
        &self,
        found: &regex::bytes::Captures<'t>,
    ) -> Option<&'t [u8]> {
        let group = match self.secret_group {
            Some(group) => found.get(group),
            None => found.iter().skip(1).flatten().find(|group| !group.is_empty()),
        };
        group.or_else(|| found.get(0)).map(|group| group.as_bytes())
    }

    /// All patterns of the rule, for the test that compiles them.
    #[cfg(test)]
    pub(crate) fn all_patterns(&self) -> Vec<&LazyPattern> {
        let mut patterns = vec![&self.pattern];
        patterns.extend(&self.path);
        patterns.extend(self.allowlists.iter().flat_map(RuleAllowlist::all_patterns));
        patterns
    }
}

impl RuleAllowlist {
    fn allows_match(&self, path: &str, found: RuleMatch<'_>) -> bool {
        let target = match self.target {
            AllowTarget::Secret => found.secret,
            AllowTarget::Match => found.whole,
            AllowTarget::Line => found.line,
        };
        let by_path = || self.paths.iter().any(|pattern| pattern.is_match(path.as_bytes()));
        let by_regex = || self.regexes.iter().any(|pattern| pattern.is_match(target));
        let by_word = || {
            let secret = String::from_utf8_lossy(found.secret).to_ascii_lowercase();
            self.stopwords.iter().any(|word| secret.contains(word.as_str()))
        };
        let parts: [(bool, &dyn Fn() -> bool); 3] = [
            (self.paths.is_empty(), &by_path),
            (self.regexes.is_empty(), &by_regex),
            (self.stopwords.is_empty(), &by_word),
        ];
        let mut given = parts.into_iter().filter(|(is_empty, _)| !is_empty).peekable();
        if self.all_must_match {
            return given.peek().is_some() && given.all(|(_, allows)| allows());
        }
        given.any(|(_, allows)| allows())
    }

    #[cfg(test)]
    pub(crate) fn all_patterns(&self) -> impl Iterator<Item = &LazyPattern> {
        self.paths.iter().chain(&self.regexes)
    }
}

#[cfg(test)]
impl SecretRules {
    pub(crate) fn global_allowlist(&self) -> &RuleAllowlist {
        &self.everywhere
    }
}

/// A pattern that is compiled on first use.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) struct LazyPattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl From<String> for LazyPattern {
    fn from(text: String) -> Self {
        Self { text, compiled: OnceLock::new() }
    }
}

impl LazyPattern {
    /// `None` if the pattern is invalid; a test compiles each.
    pub(crate) fn compiled_regex(&self) -> Option<&Regex> {
        let compile = || {
            // The rules are written for Go, where `\w` and `\b` match ASCII only.
            let mut builder = RegexBuilder::new(&self.text);
            builder.unicode(false).size_limit(REGEX_BYTES_MAX).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    fn is_match(&self, text: &[u8]) -> bool {
        self.compiled_regex().is_some_and(|pattern| pattern.is_match(text))
    }

    #[cfg(test)]
    pub(crate) fn pattern_text(&self) -> &str {
        &self.text
    }
}

/// Shannon entropy in bits per character.
fn shannon_entropy(secret: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in secret {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = secret.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}
