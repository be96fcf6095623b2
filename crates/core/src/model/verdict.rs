//! Verdicts of a dialogue: the decision, its author, and the vote.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ethos::compliance::EthosCompliance;
use crate::model::ids::{EntityId, ExpertSlug, MalformedText, VerdictId};
use crate::model::string_enum::{schema_by_text, serde_by_text, words};

words! {
    /// Purpose of a verdict.
    pub enum VerdictType {
        Interim = "interim",
        Final = "final",
        Minority = "minority",
        Dissent = "dissent",
    }
}

impl VerdictType {
    /// Interim and final verdicts change the entities they name; the others only object.
    pub fn takes_effect(self) -> bool {
        match self {
            Self::Interim | Self::Final => true,
            Self::Minority | Self::Dissent => false,
        }
    }
}

words! {
    /// How strongly the panel agrees with a verdict.
    pub enum VerdictConfidence {
        Unanimous = "unanimous",
        Strong = "strong",
        Split = "split",
        Contested = "contested",
    }
}

/// A vote count: `11-1`, `11-1-2` with abstentions, or `unanimous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteTally {
    Unanimous,
    Counted { yes: u32, no: u32, abstained: Option<u32> },
}

impl VoteTally {
    /// Number of votes cast, if they were counted.
    pub fn votes_cast(self) -> Option<usize> {
        match self {
            Self::Unanimous => None,
            Self::Counted { yes, no, abstained } => {
                Some(yes as usize + no as usize + abstained.unwrap_or(0) as usize)
            }
        }
    }

    /// Returns true if at least this percentage of the votes agreed; abstentions do not count.
    pub fn reaches_percent(self, percent: u8) -> bool {
        match self {
            Self::Unanimous => true,
            Self::Counted { yes, no, .. } => {
                u64::from(yes) * 100 >= (u64::from(yes) + u64::from(no)) * u64::from(percent)
            }
        }
    }
}

impl fmt::Display for VoteTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanimous => f.write_str("unanimous"),
            Self::Counted { yes, no, abstained: None } => write!(f, "{yes}-{no}"),
            Self::Counted { yes, no, abstained: Some(abstained) } => {
                write!(f, "{yes}-{no}-{abstained}")
            }
        }
    }
}

impl FromStr for VoteTally {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        if text == "unanimous" {
            return Ok(Self::Unanimous);
        }
        let counts: Vec<u32> = text.split('-').map(parse_count).collect::<Result<_, _>>()?;
        match counts.as_slice() {
            // A vote without yes or no decides nothing.
            [0, 0] | [0, 0, _] => Err(MalformedText),
            [yes, no] => Ok(Self::Counted { yes: *yes, no: *no, abstained: None }),
            [yes, no, abstained] => {
                Ok(Self::Counted { yes: *yes, no: *no, abstained: Some(*abstained) })
            }
            _ => Err(MalformedText),
        }
    }
}

serde_by_text!(VoteTally);
schema_by_text!(VoteTally, "vote");

/// Accepts digits only; `parse` alone would accept `+3`.
fn parse_count(text: &str) -> Result<u32, MalformedText> {
    let plain = (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().map_err(|_| MalformedText) } else { Err(MalformedText) }
}

/// A verdict as given; it never changes afterwards.
///
/// A list is `None` if the author left it out. The export warns about that, so the difference to an
/// empty list matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub verdict_id: VerdictId,
    pub verdict_type: VerdictType,
    pub round: u8,
    pub author_expert: Option<ExpertSlug>,
    pub recommendation: String,
    pub description: String,
    pub conditions: Option<Vec<String>>,
    pub vote: Option<VoteTally>,
    pub confidence: Option<VerdictConfidence>,
    pub tensions_resolved: Option<Vec<EntityId>>,
    pub tensions_accepted: Option<Vec<EntityId>>,
    pub recommendations_adopted: Option<Vec<EntityId>>,
    pub key_evidence: Option<Vec<EntityId>>,
    pub key_claims: Option<Vec<EntityId>>,
    pub supporting_experts: Option<Vec<ExpertSlug>>,
    pub forced: bool,
    pub warning: Option<String>,
    /// Only in calibrated dialogues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethos_compliance: Option<EthosCompliance>,
}

impl Verdict {
    /// The expert who gave it and those who support it.
    pub fn all_authors(&self) -> impl Iterator<Item = &ExpertSlug> {
        let author = self.author_expert.iter();
        let supporters = self.supporting_experts.iter().flatten();
        author.chain(supporters.filter(|expert| Some(*expert) != self.author_expert.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_read_back_and_are_weighed_without_abstentions() {
        let cases =
            [("12-0", 100, true), ("11-1", 100, false), ("11-1", 91, true), ("8-2-5", 80, true)];
        for (text, percent, reached) in cases {
            let vote: VoteTally = text.parse().unwrap();
            assert_eq!((vote.to_string().as_str(), vote.reaches_percent(percent)), (text, reached));
        }
        assert!("unanimous".parse::<VoteTally>().unwrap().reaches_percent(100));
        for text in ["", "12", "-1-0", "1-", "a-b", "1-2-3-4", "0-0", "+1-0", "Unanimous", "1 - 0"]
        {
            assert_eq!(text.parse::<VoteTally>(), Err(MalformedText), "vote: {text}");
        }
    }
}
