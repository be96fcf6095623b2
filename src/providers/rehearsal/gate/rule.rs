//! Phrase rules of the rehearsed deliberators, as table rows.

use super::fault::{Fault, Weight};
use super::page::{Hit, Page};

/// Maximum faults of one rule in a judgement.
const FAULTS_PER_RULE_MAX: usize = 3;

/// Terms that make a sentence a norm instead of a claim.
const NORMS: [&str; 6] = ["shall", "must", "may", "at least", "at most", "should"];

/// Terms that negate what follows.
const NEGATIONS: [&str; 7] = ["not", "no", "never", "cannot", "nothing", "neither", "without"];

/// How many terms back a negation counts.
const NEGATION_WORDS: usize = 3;

/// Terms that indicate the source of a figure.
const SOURCES: [&str; 12] = [
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
pub(super) struct Rule {
    /// In lower case.
    pub(super) phrases: &'static [&'static str],
    pub(super) weight: Weight,
    pub(super) score: usize,
    /// Text that follows the match.
    pub(super) issue: &'static str,
    pub(super) fix: &'static str,
    pub(super) excuse: Excuse,
}

/// Condition under which a phrase is harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excuse {
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

impl Rule {
    pub(super) fn faults(&self, page: &Page<'_>) -> Vec<Fault> {
        let hits = page.hits(self.phrases);
        let left = hits.iter().filter(|hit| !self.excuse.holds(hit)).take(FAULTS_PER_RULE_MAX);
        left.map(|hit| self.fault(hit)).collect()
    }

    fn fault(&self, hit: &Hit<'_>) -> Fault {
        let issue = format!("“{}” {}", hit.words(), self.issue);
        Fault::new(self.weight, self.score, [hit.quote(), issue, self.fix.to_owned()])
    }
}

impl Excuse {
    fn holds(self, hit: &Hit<'_>) -> bool {
        match self {
            Self::None => false,
            Self::Negation => is_negated(hit),
            Self::Source => has_source(hit),
            Self::Norm => is_norm(hit),
            Self::SmallLetters => hit.words().chars().any(char::is_lowercase),
        }
    }
}

pub(super) fn has_source(hit: &Hit<'_>) -> bool {
    let flat = hit.block().flat();
    SOURCES.iter().any(|source| flat.contains(source))
}

pub(super) fn is_norm(hit: &Hit<'_>) -> bool {
    words(hit.sentence()).any(|word| NORMS.contains(&word))
        || NORMS.iter().any(|norm| norm.contains(' ') && hit.sentence().contains(norm))
}

fn is_negated(hit: &Hit<'_>) -> bool {
    let before: Vec<&str> = words(hit.before()).collect();
    before.iter().rev().take(NEGATION_WORDS).any(|word| NEGATIONS.contains(word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}
