//! Which rules and checks each deliberator applies.

use super::fault::PageFault;
use super::page::ArtifactPage;
use super::rule::PhraseRule;
use super::{evidence, skeptic, strategy, voice_identity};
use crate::domain::gate::BuiltInDeliberator;

/// Check that needs more than a phrase.
pub(super) type PageCheck = fn(&ArtifactPage<'_>) -> Vec<PageFault>;

#[derive(Debug)]
pub(super) struct CheckSet {
    pub(super) rules: &'static [PhraseRule],
    pub(super) checks: &'static [PageCheck],
}

/// A custom deliberator gets one rule of each kind, because the rehearsal cannot interpret its
/// instructions.
const CUSTOM_CHECKS: CheckSet = CheckSet {
    rules: &[skeptic::PROMISES, evidence::HEARSAY, voice_identity::PLACEHOLDERS],
    checks: &[strategy::find_secrets],
};

impl CheckSet {
    pub(super) fn for_seat(seat: &str) -> &'static Self {
        match BuiltInDeliberator::named(seat) {
            Some(BuiltInDeliberator::Skeptic) => &skeptic::SKEPTIC_CHECKS,
            Some(BuiltInDeliberator::VoiceIdentity) => &voice_identity::VOICE_CHECKS,
            Some(BuiltInDeliberator::Evidence) => &evidence::EVIDENCE_CHECKS,
            Some(BuiltInDeliberator::Strategy) => &strategy::STRATEGY_CHECKS,
            None => &CUSTOM_CHECKS,
        }
    }

    /// Returns all faults, the worst first.
    pub(super) fn find_faults(&self, page: &ArtifactPage<'_>) -> Vec<PageFault> {
        let by_rule = self.rules.iter().flat_map(|rule| rule.find_faults(page));
        let by_check = self.checks.iter().flat_map(|check| check(page));
        let mut faults: Vec<PageFault> = by_rule.chain(by_check).collect();
        faults.sort_by_key(|fault| std::cmp::Reverse(fault.weight));
        faults
    }
}
