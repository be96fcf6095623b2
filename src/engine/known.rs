//! The journal entries that a run state contains.
//!
//! A run writes most of its journal itself. Another process writes the interventions of the
//! Principal, and calls that a stop dropped may still write their replies.

use std::collections::BTreeSet;

/// The numbers of applied entries, which arrive in any order.
#[derive(Debug, Default)]
pub(super) struct AppliedEntries {
    /// Every entry up to this one.
    pub upto: u64,
    beyond: BTreeSet<u64>,
}

impl AppliedEntries {
    pub(super) fn up_to(last: u64) -> Self {
        Self { upto: last, beyond: BTreeSet::new() }
    }

    /// Whether this entry is news.
    pub(super) fn insert_entry(&mut self, seq: u64) -> bool {
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
        let mut known = AppliedEntries::up_to(3);
        let news: Vec<bool> = [3, 6, 4, 6, 4].map(|seq| known.insert_entry(seq)).to_vec();
        assert_eq!((news, known.upto), (vec![false, true, true, false, false], 4));
        assert!(known.insert_entry(5));
        assert_eq!((known.upto, known.beyond.len()), (6, 0));
    }
}
