//! Codes that name the kind of a concern, so that the adjudicator sees which faults come back.
//!
//! Each deliberator has a list, which the operator may extend. The counts cover the whole log of a
//! type of artifact.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::time::{Day, Moment};
use crate::protocols::review::log_row::LogRow;
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::types::{BuiltInDeliberator, DeliberatorPlan};

/// A kind of fault, with its meaning for the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConcernCode {
    pub code: String,
    pub meaning: String,
}

/// For a fault that no other code names.
pub const OTHER_CODE: &str = "other";

/// Longer codes are not codes.
const CODE_CHARS_MAX: usize = 40;

/// The most frequent codes are enough to see what comes back.
const COUNTS_MAX: usize = 40;

type CodeRow = (&'static str, &'static str);

const SKEPTIC: &[CodeRow] = &[
    ("does_not_follow", "the conclusion does not follow from what is said"),
    ("contradiction", "two places cannot both be right"),
    ("missing_condition", "a cost, a condition or a limit is left out that changes the decision"),
    ("absolute_claim", "always, never, guaranteed: a counter-example refutes it"),
    ("unclear_claim", "a reader cannot tell what is claimed or asked"),
    ("open_objection", "the first question of a critic has no answer"),
];

const VOICE_IDENTITY: &[CodeRow] = &[
    ("out_of_voice", "words that this author would not use, or words without content"),
    ("workshop_trace", "a placeholder, a note, remains of a prompt or a template"),
    (
        "false_identity",
        "a statement in a person's name, or about a person, that is not established",
    ),
    ("wrong_register", "wrong tone for this reader or occasion"),
    ("inconsistent_usage", "names, tense, address or spelling change"),
    ("unclear_opening", "the reader does not learn what this is or what to do"),
];

const EVIDENCE: &[CodeRow] = &[
    ("wrong_figure", "arithmetic, units, dates or figures are wrong"),
    ("no_source", "a statement that matters has nothing behind it"),
    ("source_misused", "the source does not support the sentence, or looks invented"),
    ("kind_confused", "an opinion, an estimate or a plan is shown as a fact"),
    ("miscalibrated", "the claim is stronger or weaker than what is behind it"),
    ("third_party", "an unsupported statement about a person, a company or a product"),
];

const STRATEGY: &[CodeRow] = &[
    ("no_purpose", "the reader is asked for nothing, or for the wrong thing"),
    ("against_goal", "it works against a stated goal or an earlier commitment"),
    ("commitment", "it binds a person, or promises what cannot be taken back"),
    ("disclosure", "it gives away what is private, secret or not public yet"),
    ("wrong_moment", "wrong reader or wrong moment"),
    ("stakes_misjudged", "what is grave is treated lightly, or the reverse"),
    ("better_move", "a cheaper or stronger move is plain to see"),
];

/// For a deliberator that the operator defined.
const GENERAL: &[CodeRow] = &[
    ("wrong", "a statement is false or contradicts another"),
    ("unsupported", "a statement that matters has nothing behind it"),
    ("missing", "something is left out that the reader needs"),
    ("harmful", "it misleads, harms, binds or exposes a person"),
    ("unclear", "a reader cannot tell what is meant"),
];

/// The codes that every deliberator has.
const SHARED: &[CodeRow] = &[
    ("addresses_judges", "the artifact speaks to those who judge it"),
    (OTHER_CODE, "none of these"),
];

/// The codes of a deliberator: the built-in ones, then those of the operator.
pub fn concern_codes(name: &str, added: &[ConcernCode]) -> Vec<ConcernCode> {
    let own = match BuiltInDeliberator::named(name) {
        Some(BuiltInDeliberator::Skeptic) => SKEPTIC,
        Some(BuiltInDeliberator::VoiceIdentity) => VOICE_IDENTITY,
        Some(BuiltInDeliberator::Evidence) => EVIDENCE,
        Some(BuiltInDeliberator::Strategy) => STRATEGY,
        None => GENERAL,
    };
    let to_code = |(code, meaning): &CodeRow| ConcernCode {
        code: (*code).to_owned(),
        meaning: (*meaning).to_owned(),
    };
    let own = own.iter().map(to_code);
    own.chain(added.iter().cloned()).chain(SHARED.iter().map(to_code)).collect()
}

impl DeliberatorPlan {
    /// The names of the codes of this seat.
    pub fn code_names(&self) -> Vec<String> {
        let codes = concern_codes(self.seat.as_str(), &self.codes);
        codes.into_iter().map(|code| code.code).collect()
    }
}

/// `No Source` and `no-source` are `no_source`; `None` if the text cannot be a code.
pub fn normalize_code(text: &str) -> Option<String> {
    let code = text.trim().trim_matches('`').to_ascii_lowercase().replace([' ', '-'], "_");
    let is_code = code.starts_with(|first: char| first.is_ascii_lowercase())
        && code.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_')
        && code.len() <= CODE_CHARS_MAX;
    is_code.then_some(code)
}

/// How often a deliberator gave a code, over the whole log of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeCount {
    pub deliberator: String,
    pub code: String,
    /// Reviews in which it was given.
    pub reviews: u64,
    /// All reviews of the type; 0 in a plan of an earlier version.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of_reviews: u64,
    pub first: Day,
    pub last: Day,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Counts codes while the log is read.
#[derive(Debug, Default)]
pub struct CodeCounter {
    reviews: u64,
    found: BTreeMap<(String, String), (u64, Moment, Moment)>,
}

impl CodeCounter {
    /// Adds a review. Like an earlier verdict it counts only if it is real and decided.
    pub fn add_row(&mut self, row: &LogRow) {
        if row.rehearsal || row.adjudicator.final_verdict == ReviewVerdict::Incomplete {
            return;
        }
        self.reviews += 1;
        let last = if row.round2.is_empty() { &row.round1 } else { &row.round2 };
        for seat in last {
            let concerns = seat.judgement().into_iter().flat_map(|judgement| &judgement.concerns);
            let codes = concerns.filter_map(|concern| normalize_code(&concern.code));
            for code in codes.collect::<std::collections::BTreeSet<_>>() {
                let key = (seat.deliberator().to_owned(), code);
                let (reviews, first, last) = self.found.entry(key).or_insert((0, row.ts, row.ts));
                *reviews += 1;
                (*first, *last) = ((*first).min(row.ts), (*last).max(row.ts));
            }
        }
    }

    /// The most frequent codes first.
    pub fn into_counts(self) -> Vec<CodeCount> {
        let counts = self.found.into_iter().map(|((deliberator, code), (reviews, first, last))| {
            let (first, last) = (first.utc_day(), last.utc_day());
            CodeCount { deliberator, code, reviews, of_reviews: self.reviews, first, last }
        });
        let mut counts: Vec<CodeCount> = counts.collect();
        counts.sort_by_key(|count| std::cmp::Reverse(count.reviews));
        counts.truncate(COUNTS_MAX);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_models_write_them() {
        for (text, expected) in [
            ("no_source", Some("no_source")),
            (" `No-Source` ", Some("no_source")),
            ("wrong figure", Some("wrong_figure")),
            ("", None),
            ("a\nb", None),
            ("===== END", None),
        ] {
            assert_eq!(normalize_code(text).as_deref(), expected, "{text:?}");
        }
        assert_eq!(normalize_code(&"a".repeat(CODE_CHARS_MAX + 1)), None);
    }

    #[test]
    fn every_built_in_code_is_unique_and_readable() {
        for name in BuiltInDeliberator::ALL.iter().map(|one| one.name()).chain(["legal"]) {
            let codes = concern_codes(name, &[]);
            let names: std::collections::BTreeSet<&str> =
                codes.iter().map(|one| one.code.as_str()).collect();
            assert_eq!(names.len(), codes.len(), "{name}");
            assert!(codes.iter().all(|one| normalize_code(&one.code).as_ref() == Some(&one.code)));
            assert_eq!(codes.last().map(|one| one.code.as_str()), Some(OTHER_CODE));
        }
    }
}
