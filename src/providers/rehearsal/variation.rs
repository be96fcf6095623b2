//! Deterministic variation of replies by a hash of the question.

use sha2::{Digest, Sha256};

#[derive(Debug, Clone)]
pub(super) struct ReplyVariation {
    bytes: Vec<u8>,
    drawn: usize,
}

impl ReplyVariation {
    pub(super) fn from_texts(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            // Separate the parts, so that their boundaries matter.
            hash.update([0]);
        }
        Self { bytes: hash.finalize().to_vec(), drawn: 0 }
    }

    /// Returns a number below `end`.
    pub(super) fn number_below(&mut self, end: usize) -> usize {
        let byte = self.bytes.iter().cycle().nth(self.drawn % self.bytes.len().max(1));
        self.drawn += 1;
        usize::from(byte.copied().unwrap_or_default()) % end.max(1)
    }

    pub(super) fn pick_one(&mut self, options: &[&'static str]) -> &'static str {
        options.get(self.number_below(options.len())).copied().unwrap_or_default()
    }

    /// Returns several neighbouring entries of a list.
    pub(super) fn pick_some(&mut self, options: &[&str], count: usize) -> Vec<String> {
        let start = self.number_below(options.len());
        options
            .iter()
            .cycle()
            .skip(start)
            .take(count.min(options.len()))
            .map(|text| (*text).to_owned())
            .collect()
    }
}
