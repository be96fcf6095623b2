//! Which rules and checks each deliberator applies.

use super::fault::Fault;
use super::page::Page;
use super::rule::Rule;
use super::{evidence, skeptic, strategy, voice_identity};
use crate::domain::gate::BuiltIn;

/// Check that needs more than a phrase.
pub(super) type Check = fn(&Page<'_>) -> Vec<Fault>;

#[derive(Debug)]
pub(super) struct Bench {
    pub(super) rules: &'static [Rule],
    pub(super) checks: &'static [Check],
}

/// A custom deliberator gets one rule of each kind, because the rehearsal cannot interpret its
/// instructions.
const OTHER: Bench = Bench {
    rules: &[skeptic::PROMISES, evidence::HEARSAY, voice_identity::PLACEHOLDERS],
    checks: &[strategy::secrets],
};

impl Bench {
    pub(super) fn of(seat: &str) -> &'static Self {
        match BuiltIn::named(seat) {
            Some(BuiltIn::Skeptic) => &skeptic::BENCH,
            Some(BuiltIn::VoiceIdentity) => &voice_identity::BENCH,
            Some(BuiltIn::Evidence) => &evidence::BENCH,
            Some(BuiltIn::Strategy) => &strategy::BENCH,
            None => &OTHER,
        }
    }

    /// Returns all faults, the worst first.
    pub(super) fn faults(&self, page: &Page<'_>) -> Vec<Fault> {
        let by_rule = self.rules.iter().flat_map(|rule| rule.faults(page));
        let by_check = self.checks.iter().flat_map(|check| check(page));
        let mut faults: Vec<Fault> = by_rule.chain(by_check).collect();
        faults.sort_by_key(|fault| std::cmp::Reverse(fault.weight));
        faults
    }
}
