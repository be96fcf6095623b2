//! Which entries of the journal a run has taken in.
//!
//! A run writes most of its journal itself, but not all: what the Principal does is
//! written by somebody else, and what was on its way when the rounds were cut short
//! by nobody who waits for it any more.

use std::collections::BTreeSet;

/// The numbers of entries, which come in any order.
#[derive(Debug, Default)]
pub(super) struct AppliedEntries {
    /// Every entry up to this one.
    pub upto: u64,
    beyond: BTreeSet<u64>,
}

impl AppliedEntries {
    pub(super) fn upto(last: u64) -> Self {
        Self { upto: last, beyond: BTreeSet::new() }
    }

    /// Whether this entry is news.
    pub(super) fn insert(&mut self, seq: u64) -> bool {
        let is_news = seq > self.upto && self.beyond.insert(seq);
        while self.beyond.remove(&(self.upto + 1)) {
            self.upto += 1;
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_news_once_in_whichever_order() {
        let mut known = AppliedEntries::upto(3);
        let news: Vec<bool> = [3, 6, 4, 6, 4].map(|seq| known.insert(seq)).to_vec();
        assert_eq!((news, known.upto), (vec![false, true, true, false, false], 4));
        assert!(known.insert(5));
        assert_eq!((known.upto, known.beyond.len()), (6, 0));
    }
}
