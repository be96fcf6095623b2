//! Phrase rules of the rehearsed deliberators, as table rows.

use super::fault::{FaultWeight, PageFault};
use super::page::{ArtifactPage, PhraseHit};

/// Maximum faults of one rule in a judgement.
const FAULTS_PER_RULE_MAX: usize = 3;

/// Terms that make a sentence a norm instead of a claim.
const NORMS: [&str; 6] = ["shall", "must", "may", "at least", "at most", "should"];

/// Terms that negate what follows.
const NEGATIONS: [&str; 7] = ["not", "no", "never", "cannot", "nothing", "neither", "without"];

/// How many terms back a negation counts.
const NEGATION_WORDS: usize = 3;

/// Terms that indicate the source of a figure.
const SOURCE_PHRASES: [&str; 12] = [
    "http",
    "](",
    "source:",
    "according to",
    "table",
    "figure",
    "schedule",
    "appendix",
    "section",
    "measured",
    "we compared",
    "(#",
];

#[derive(Debug, Clone, Copy)]
pub(super) struct PhraseRule {
    /// In lower case.
    pub(super) phrases: &'static [&'static str],
    pub(super) weight: FaultWeight,
    pub(super) score: usize,
    /// Text that follows the match.
    pub(super) issue: &'static str,
    pub(super) fix: &'static str,
    pub(super) excuse: RuleExcuse,
}

/// Condition under which a phrase is harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleExcuse {
    None,
    /// It is negated, as in `not guaranteed`.
    Negation,
    /// Its block names a source.
    Source,
    /// It is a norm, as in `confidential papers must stay here`.
    Norm,
    /// It is an ordinary term unless in capitals, as in `TODO`.
    SmallLetters,
}

impl PhraseRule {
    pub(super) fn find_faults(&self, page: &ArtifactPage<'_>) -> Vec<PageFault> {
        let hits = page.find_hits(self.phrases);
        let left = hits.iter().filter(|hit| !self.excuse.applies_to(hit)).take(FAULTS_PER_RULE_MAX);
        left.map(|hit| self.to_fault(hit)).collect()
    }

    fn to_fault(&self, hit: &PhraseHit<'_>) -> PageFault {
        let issue = format!("“{}” {}", hit.matched_text(), self.issue);
        PageFault::new(self.weight, self.score, [hit.to_quote(), issue, self.fix.to_owned()])
    }
}

impl RuleExcuse {
    fn applies_to(self, hit: &PhraseHit<'_>) -> bool {
        match self {
            Self::None => false,
            Self::Negation => is_negated(hit),
            Self::Source => has_source(hit),
            Self::Norm => is_norm(hit),
            Self::SmallLetters => hit.matched_text().chars().any(char::is_lowercase),
        }
    }
}

pub(super) fn has_source(hit: &PhraseHit<'_>) -> bool {
    let flat = hit.block().flat_text();
    SOURCE_PHRASES.iter().any(|source| flat.contains(source))
}

pub(super) fn is_norm(hit: &PhraseHit<'_>) -> bool {
    split_words(hit.sentence_text()).any(|word| NORMS.contains(&word))
        || NORMS.iter().any(|norm| norm.contains(' ') && hit.sentence_text().contains(norm))
}

fn is_negated(hit: &PhraseHit<'_>) -> bool {
    let before: Vec<&str> = split_words(hit.text_before()).collect();
    before.iter().rev().take(NEGATION_WORDS).any(|word| NEGATIONS.contains(word))
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}
