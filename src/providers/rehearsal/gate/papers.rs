//! Reads judgements, prior verdicts and policy from the messages of the rehearsed review. Depends
//! on the text that prompting writes, like `prompt.rs`.

use serde::Deserialize;

use crate::domain::ask::AskMessages;
use crate::domain::gate::{DeliberatorJudgement, FinalVerdict, PolicyName, ReviewConcern};
use crate::providers::rehearsal::prompt::{find_part, named_parts};

/// Judgement of another deliberator.
#[derive(Debug)]
pub(super) struct PeerJudgement {
    pub(super) name: String,
    pub(super) judgement: DeliberatorJudgement,
    pub(super) concerns: Vec<CitedConcern>,
}

/// A concern with the id for citations.
#[derive(Debug, Deserialize)]
pub(super) struct CitedConcern {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) concern: ReviewConcern,
}

/// Metadata beside the judgement.
#[derive(Debug, Deserialize)]
struct JudgementMeta {
    deliberator: String,
    #[serde(default)]
    concerns: Vec<CitedConcern>,
}

/// Parses the judgements; those that neutralizing made invalid are skipped.
pub(super) fn read_peer_judgements(user: &str) -> Vec<PeerJudgement> {
    let read = named_parts(user, "JUDGEMENT ").filter_map(|(_, text)| {
        let JudgementMeta { deliberator, concerns } = serde_json::from_str(text).ok()?;
        Some(PeerJudgement {
            name: deliberator,
            judgement: serde_json::from_str(text).ok()?,
            concerns,
        })
    });
    read.collect()
}

/// Returns the deliberator's own first judgement.
pub(super) fn read_own_judgement(user: &str) -> Option<DeliberatorJudgement> {
    serde_json::from_str(find_part(user, "YOUR FIRST JUDGEMENT")?).ok()
}

/// Prior verdict on an artifact of the same type; newest first.
#[derive(Debug, Deserialize)]
pub(super) struct PriorReviewLine {
    pub(super) verdict: FinalVerdict,
    pub(super) artifact: String,
}

pub(super) fn read_prior_verdicts(user: &str) -> Vec<PriorReviewLine> {
    let lines = find_part(user, "PRIOR VERDICTS").unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the policy the adjudicator is told.
pub(super) fn read_policy(messages: &AskMessages) -> PolicyName {
    let is_told = |policy: &&PolicyName| messages.system.contains(&format!("`{policy}`"));
    PolicyName::ALL.iter().find(is_told).copied().unwrap_or(PolicyName::Seed)
}
