//! Scans one text: values in use first, then the rules, on the plain and the decoded text.

use aho_corasick::AhoCorasick;
use secrecy::{ExposeSecret, SecretString};

use crate::context_files::secrets::decoded_text::{decoded_blocks, unescaped_lines};
use crate::context_files::secrets::rule_set::{RuleMatch, SecretRules};

/// A found secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretFinding {
    /// Line number, from 1.
    pub(crate) line: usize,
    pub(crate) kind: SecretFindingKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecretFindingKind {
    ValueInUse,
    /// Id of the rule.
    Rule(String),
}

/// The reason for not sending a text that contains a secret. `path` selects the rules that apply; a
/// text without a file has an empty path.
pub(crate) fn exclusion_reason(path: &str, text: &str, values: &SecretValues) -> Option<String> {
    let SecretFinding { line, kind } = find_secret(path, text, values)?;
    Some(match kind {
        SecretFindingKind::ValueInUse => format!("line {line} contains the value of a key in use"),
        SecretFindingKind::Rule(rule) => {
            format!("line {line} looks like a secret (rule `{rule}`)")
        }
    })
}

pub(crate) fn find_secret(path: &str, text: &str, values: &SecretValues) -> Option<SecretFinding> {
    let rules = SecretRules::shared_rules();
    let look = |text: &str| {
        let in_use = values.find_first(text).map(|place| (place, SecretFindingKind::ValueInUse));
        let found = in_use.or_else(|| find_first_match(rules, path, text));
        found.map(|(place, kind)| SecretFinding { line: line_number(text, place), kind })
    };
    let plain = look(text);
    let unescaped = || {
        let lines = unescaped_lines(text);
        let found = look(&lines.text)?;
        let line = lines.numbers.get(found.line - 1).copied().unwrap_or(found.line);
        Some(SecretFinding { line, ..found })
    };
    let encoded = || {
        decoded_blocks(text).find_map(|block| {
            let found = look(&block.text)?;
            Some(SecretFinding { line: block.line, ..found })
        })
    };
    plain.or_else(unescaped).or_else(encoded)
}

/// The first confirmed match of the first rule with one.
fn find_first_match(
    rules: &SecretRules,
    path: &str,
    text: &str,
) -> Option<(usize, SecretFindingKind)> {
    rules.rules_for(text).filter(|rule| rule.applies_to(path)).find_map(|rule| {
        let mut found = rule.pattern.compiled_regex()?.captures_iter(text.as_bytes());
        let place = found.find_map(|found| {
            let (whole, secret) = (found.get(0)?, rule.extract_secret(&found)?);
            let line = lines_around(text, whole.start(), whole.end());
            let looked_at = RuleMatch { secret, whole: whole.as_bytes(), line };
            rules.is_secret(rule, path, looked_at).then(|| whole.start())
        })?;
        // A match may begin with the whitespace before the secret.
        let blank = text.get(place..).unwrap_or_default();
        let place = place + (blank.len() - blank.trim_start().len());
        Some((place, SecretFindingKind::Rule(rule.id.clone())))
    })
}

fn line_number(text: &str, place: usize) -> usize {
    let before = text.as_bytes().get(..place).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// The complete lines of a match.
fn lines_around(text: &str, start: usize, end: usize) -> &[u8] {
    let bytes = text.as_bytes();
    let before = bytes.get(..start).unwrap_or_default();
    let after = bytes.get(end..).unwrap_or_default();
    let first = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    let last = after.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| end + at);
    bytes.get(first..last).unwrap_or_default()
}

/// Shorter values occur in ordinary texts.
const VALUE_CHARS_MIN: usize = 8;

/// Values of keys in use. `Debug` shows only their number.
#[derive(Clone, Default)]
pub struct SecretValues {
    index: Option<AhoCorasick>,
    count: usize,
}

impl SecretValues {
    /// Keeps the values that are long enough to be distinctive.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let values = values.into_iter().map(|value| value.expose_secret().trim());
        let long: Vec<&str> =
            values.filter(|value| value.chars().count() >= VALUE_CHARS_MIN).collect();
        let index = (!long.is_empty()).then(|| AhoCorasick::new(&long).ok()).flatten();
        Self { index, count: long.len() }
    }

    /// Position of the first value in a text.
    pub(crate) fn find_first(&self, text: &str) -> Option<usize> {
        self.index.as_ref()?.find(text).map(|found| found.start())
    }
}

impl std::fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretValues").field("count", &self.count).finish_non_exhaustive()
    }
}
