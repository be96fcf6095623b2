//! Types of a review: the artifact and its tier, sampling, the panel, the plan, and a deliberator's
//! judgement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::hash::sha256_hex;
use crate::model::ids::ExpertSlug;
use crate::model::string_enum::words;
use crate::model::time::Moment;
use crate::protocols::classification::finding::ClassifierFinding;
use crate::protocols::review::concern_codes::{CodeCount, ConcernCode, OTHER_CODE};
use crate::protocols::review::policy::{ReviewDecision, ReviewPolicy, ReviewVerdict};

/// How often artifacts of a class are reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReviewTier {
    /// Always: external, irreversible, identity-shaping, or written to a memory.
    Always,
    /// Never: internal drafts, dashboards, infrastructure.
    Never,
    /// One in five: daily briefings, internal analyses, plans.
    Sampled,
}

impl ReviewTier {
    /// In the order in which the program tries their rules.
    pub const ALL: [Self; 3] = [Self::Always, Self::Never, Self::Sampled];

    pub fn tier_number(self) -> u8 {
        match self {
            Self::Always => 1,
            Self::Never => 2,
            Self::Sampled => 3,
        }
    }

    /// The tier of the two whose artifacts are reviewed more often.
    #[must_use]
    pub fn stricter_of(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always, _) | (_, Self::Always) => Self::Always,
            (Self::Sampled, _) | (_, Self::Sampled) => Self::Sampled,
            (Self::Never, Self::Never) => Self::Never,
        }
    }

    /// Key of the tier under `tier_rules`.
    pub fn config_key(self) -> &'static str {
        match self {
            Self::Always => "tier_1",
            Self::Never => "tier_2",
            Self::Sampled => "tier_3",
        }
    }
}

impl TryFrom<u8> for ReviewTier {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|tier| tier.tier_number() == number);
        known.ok_or_else(|| format!("there is no tier {number}: tiers are 1, 2 and 3"))
    }
}

impl Serialize for ReviewTier {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.tier_number())
    }
}

impl<'de> Deserialize<'de> for ReviewTier {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(u8::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The document under review, as read at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewArtifact {
    /// Relative to the folder of `council.yaml`, with `/` as the separator.
    pub path: String,
    pub artifact_type: String,
    pub tier: ReviewTier,
    /// Author of the document, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    pub sha256: String,
    pub text: String,
    /// What the classifier said, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classified: Option<ClassifierFinding>,
}

words! {
    /// A deliberator's recommendation. Only `would_block` counts for the policy, not this value.
    pub enum DeliberatorVerdict {
        Ship = "ship",
        Revise = "revise",
        Hold = "hold",
    }
}

/// A deliberator's reply. The last three fields belong to the second round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliberatorJudgement {
    pub verdict: DeliberatorVerdict,
    /// From 1 (fails) to 5 (nothing to add), by name.
    #[serde(default)]
    pub scores: BTreeMap<String, u8>,
    /// True if the artifact must not be published as it is.
    pub would_block: bool,
    /// True if no revision can remove the block.
    #[serde(default)]
    pub irreducible: bool,
    #[serde(default)]
    pub concerns: Vec<ReviewConcern>,
    /// What the producer should change.
    #[serde(default)]
    pub revision_brief: String,
    /// Points given up because of peers' concerns; each names the concern, such as `evidence-2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub concessions: Vec<String>,
    /// Points pressed harder because of peers' concerns; each names the concern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalations: Vec<String>,
    /// What changed since the first round, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub delta_from_r1: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewConcern {
    /// A quotation from the artifact, or a line such as `L12`.
    #[serde(default)]
    pub locus: String,
    pub issue: String,
    #[serde(default)]
    pub fix: String,
    /// Kind of the fault, from the deliberator's list; empty in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
}

/// Whether a judgement blocks. An irreducible judgement that does not block is no block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockLevel {
    None,
    /// A revision could remove the block.
    Reducible,
    Irreducible,
}

impl BlockLevel {
    /// Combines both flags of a reply.
    pub fn from_flags(would_block: bool, irreducible: bool) -> Self {
        match (would_block, irreducible) {
            (false, _) => Self::None,
            (true, false) => Self::Reducible,
            (true, true) => Self::Irreducible,
        }
    }
}

impl DeliberatorJudgement {
    /// A code that is not on the list becomes `other`.
    pub fn restrict_codes(&mut self, codes: &[String]) {
        let is_unknown = |code: &String| !code.is_empty() && !codes.contains(code);
        for concern in self.concerns.iter_mut().filter(|concern| is_unknown(&concern.code)) {
            concern.code = OTHER_CODE.to_owned();
        }
    }

    pub fn block_level(&self) -> BlockLevel {
        BlockLevel::from_flags(self.would_block, self.irreducible)
    }
}

/// Seat name of the adjudicator.
pub const ADJUDICATOR_SEAT: &str = "adjudicator";

words! {
    /// The built-in deliberators, in the order of their seats.
    pub enum BuiltInDeliberator {
        Skeptic = "skeptic",
        VoiceIdentity = "voice_identity",
        Evidence = "evidence",
        Strategy = "strategy",
    }
}

impl BuiltInDeliberator {
    /// Names of the scores that the deliberator gives.
    pub fn score_fields(self) -> [&'static str; 3] {
        match self {
            Self::Skeptic => {
                ["argument_soundness", "evidence_completeness", "objection_pre_emption"]
            }
            Self::VoiceIdentity => ["voice_match", "register_fit", "reader_test"],
            Self::Evidence => {
                ["source_verification", "tier_classification", "confidence_calibration"]
            }
            Self::Strategy => ["goal_fit", "stake_calibration", "opportunity_cost"],
        }
    }
}

/// Score names of a built-in deliberator; `None` for one that an operator defined.
pub fn score_names(deliberator: &str) -> Option<[&'static str; 3]> {
    BuiltInDeliberator::named(deliberator).map(BuiltInDeliberator::score_fields)
}

/// The part of a plan that only a review has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewPlan {
    pub artifact: ReviewArtifact,
    pub deliberators: Vec<DeliberatorPlan>,
    pub adjudicator: ExpertSlug,
    pub policy: ReviewPolicy,
    /// The last verdicts on artifacts of this type, newest first. Only the adjudicator sees them.
    pub priors: Vec<PriorVerdict>,
    /// How often each code was given on artifacts of this type. Only the adjudicator sees it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code_counts: Vec<CodeCount>,
}

impl ReviewPlan {
    pub fn find_deliberator(&self, seat: &ExpertSlug) -> Option<&DeliberatorPlan> {
        self.deliberators.iter().find(|one| one.seat == *seat)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliberatorPlan {
    pub seat: ExpertSlug,
    /// The operator's instructions, which replace the built-in ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<DeliberatorContext>,
    /// The operator's codes, besides the built-in ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<ConcernCode>,
}

/// A file that a deliberator judges by, for example a voice corpus or goals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliberatorContext {
    pub path: String,
    /// `None` if the file could not be read; then `missing` gives the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// An earlier verdict on an artifact of the same type, with truncated texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorVerdict {
    pub ts: Moment,
    pub artifact: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    pub verdict: ReviewVerdict,
    pub reasoning: String,
    pub revision_brief: String,
    pub concerns: Vec<String>,
    /// A person's decision over the verdict.
    #[serde(rename = "override", default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<PriorOverride>,
}

/// A person's decision over an earlier verdict, with its truncated reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorOverride {
    #[serde(rename = "as")]
    pub decision: ReviewDecision,
    pub why: String,
}

const SAMPLE_ONE_IN: u64 = 5;

/// Number of hash digits used; enough for an even distribution.
const HASH_DIGITS: usize = 15;

/// Returns true if this file is selected. The hash covers path and content, so the answer is the
/// same on every machine and in every rerun.
pub fn is_sampled(path: &str, text: &str) -> bool {
    let digest = sha256_hex([path.as_bytes(), b"\0", text.as_bytes()]);
    let drawn = digest.get(..HASH_DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    drawn.is_some_and(|drawn| drawn.is_multiple_of(SAMPLE_ONE_IN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::hash::SeededRandom;

    /// Pins the rule: logs sampled by different rules cannot be compared.
    #[test]
    fn the_same_file_gives_the_same_answer_everywhere() {
        let sampled: Vec<usize> = (0..20)
            .filter(|day| is_sampled(&format!("briefings/{day}.md"), "All is well.\n"))
            .collect();
        assert_eq!(sampled, [6, 10, 11, 14, 18]);
    }

    #[test]
    fn one_in_five_of_ten_thousand_paths_is_looked_at() {
        let mut dice = SeededRandom::new(2026);
        let sampled =
            (0..10_000).filter(|_| is_sampled(&format!("{:x}.md", dice.next_u64()), "x")).count();
        assert!((1_800..=2_200).contains(&sampled), "{sampled}");
    }

    #[test]
    fn path_and_content_both_count() {
        let paths = (0..100).filter(|n| is_sampled(&format!("{n}"), "x")).count();
        let texts = (0..100).filter(|n| is_sampled("x", &format!("{n}"))).count();
        assert!(paths > 5 && texts > 5, "{paths} {texts}");
        // The separator between path and content is part of the hash input.
        let moved = (0..100)
            .filter(|n| is_sampled("ab", &format!("{n}")) != is_sampled("a", &format!("b{n}")));
        assert!(moved.count() > 5);
    }
}
