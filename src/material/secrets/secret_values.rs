//! The values that must not leave: keys of this run, and what the environment holds.

use aho_corasick::AhoCorasick;
use secrecy::{ExposeSecret, SecretString};

/// Shorter values are words that an ordinary text holds by itself.
const VALUE_CHARS_MIN: usize = 8;

/// Values of keys in use. `Debug` shows how many there are and none of them.
#[derive(Clone, Default)]
pub struct SecretValues {
    index: Option<AhoCorasick>,
    count: usize,
}

impl SecretValues {
    /// Of these values those that are long enough to be told from a word.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let values = values.into_iter().map(|value| value.expose_secret().trim());
        let long: Vec<&str> =
            values.filter(|value| value.chars().count() >= VALUE_CHARS_MIN).collect();
        let index = (!long.is_empty()).then(|| AhoCorasick::new(&long).ok()).flatten();
        Self { index, count: long.len() }
    }

    /// Where the first of them stands in a text.
    pub(super) fn first_in(&self, text: &str) -> Option<usize> {
        self.index.as_ref()?.find(text).map(|found| found.start())
    }
}

impl std::fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretValues").field("count", &self.count).finish_non_exhaustive()
    }
}
