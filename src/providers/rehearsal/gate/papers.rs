//! Reads judgements, prior verdicts and policy from the messages of the rehearsed review. Depends
//! on the text that prompting writes, like `prompt.rs`.

use serde::Deserialize;

use crate::domain::ask::Messages;
use crate::domain::gate::{Concern, GateVerdict, Judgement, PolicyName};
use crate::providers::rehearsal::prompt::{named, part};

/// Judgement of another deliberator.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) judgement: Judgement,
    pub(super) concerns: Vec<Cited>,
}

/// A concern with the id for citations.
#[derive(Debug, Deserialize)]
pub(super) struct Cited {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) concern: Concern,
}

/// Metadata beside the judgement.
#[derive(Debug, Deserialize)]
struct Beside {
    deliberator: String,
    #[serde(default)]
    concerns: Vec<Cited>,
}

/// Parses the judgements; those that neutralizing made invalid are skipped.
pub(super) fn peers(user: &str) -> Vec<Peer> {
    let read = named(user, "JUDGEMENT ").filter_map(|(_, text)| {
        let Beside { deliberator, concerns } = serde_json::from_str(text).ok()?;
        Some(Peer { name: deliberator, judgement: serde_json::from_str(text).ok()?, concerns })
    });
    read.collect()
}

/// Returns the deliberator's own first judgement.
pub(super) fn own(user: &str) -> Option<Judgement> {
    serde_json::from_str(part(user, "YOUR FIRST JUDGEMENT")?).ok()
}

/// Prior verdict on an artifact of the same type; newest first.
#[derive(Debug, Deserialize)]
pub(super) struct Prior {
    pub(super) verdict: GateVerdict,
    pub(super) artifact: String,
}

pub(super) fn priors(user: &str) -> Vec<Prior> {
    let lines = part(user, "PRIOR VERDICTS").unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the policy the adjudicator is told.
pub(super) fn policy(messages: &Messages) -> PolicyName {
    let is_told = |policy: &&PolicyName| messages.system.contains(&format!("`{policy}`"));
    PolicyName::ALL.iter().find(is_told).copied().unwrap_or(PolicyName::Seed)
}
