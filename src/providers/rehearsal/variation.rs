//! Small differences that follow from what was asked, so that two questions do not
//! read alike and the same one always does.

use sha2::{Digest, Sha256};

#[derive(Debug, Clone)]
pub(super) struct Variation {
    bytes: Vec<u8>,
    drawn: usize,
}

impl Variation {
    pub(super) fn of(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            // What one part ends with is not what the next begins with.
            hash.update([0]);
        }
        Self { bytes: hash.finalize().to_vec(), drawn: 0 }
    }

    /// A number from 0 up to, but not including, `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let byte = self.bytes.iter().cycle().nth(self.drawn % self.bytes.len().max(1));
        self.drawn += 1;
        usize::from(byte.copied().unwrap_or_default()) % end.max(1)
    }

    pub(super) fn pick(&mut self, options: &[&'static str]) -> &'static str {
        options.get(self.below(options.len())).copied().unwrap_or_default()
    }

    /// Several neighbours of a list, as a list of texts.
    pub(super) fn some(&mut self, options: &[&str], count: usize) -> Vec<String> {
        let start = self.below(options.len());
        options
            .iter()
            .cycle()
            .skip(start)
            .take(count.min(options.len()))
            .map(|text| (*text).to_owned())
            .collect()
    }
}
