//! Secret values that must not be sent: keys of this run and secrets of the environment.

use aho_corasick::AhoCorasick;
use secrecy::{ExposeSecret, SecretString};

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
    pub(super) fn find_first(&self, text: &str) -> Option<usize> {
        self.index.as_ref()?.find(text).map(|found| found.start())
    }
}

impl std::fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretValues").field("count", &self.count).finish_non_exhaustive()
    }
}
