//! What the rehearsed gate takes from the messages besides the artifact: judgements, priors, policy.
//! Like `prompt.rs`, it follows what prompting writes.

use serde::Deserialize;

use crate::domain::ask::Messages;
use crate::domain::gate::{Concern, GateVerdict, Judgement, PolicyName};
use crate::providers::rehearsal::prompt::{named, part};

/// What another deliberator holds.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) judgement: Judgement,
    pub(super) concerns: Vec<Cited>,
}

/// A concern with the id by which others cite it.
#[derive(Debug, Deserialize)]
pub(super) struct Cited {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) concern: Concern,
}

/// What stands beside the judgement itself.
#[derive(Debug, Deserialize)]
struct Beside {
    deliberator: String,
    #[serde(default)]
    concerns: Vec<Cited>,
}

/// Those that can be read; what was made harmless in one may leave no JSON.
pub(super) fn peers(user: &str) -> Vec<Peer> {
    let read = named(user, "JUDGEMENT ").filter_map(|(_, text)| {
        let Beside { deliberator, concerns } = serde_json::from_str(text).ok()?;
        Some(Peer { name: deliberator, judgement: serde_json::from_str(text).ok()?, concerns })
    });
    read.collect()
}

/// What this deliberator held before it read the others.
pub(super) fn own(user: &str) -> Option<Judgement> {
    serde_json::from_str(part(user, "YOUR FIRST JUDGEMENT")?).ok()
}

/// Verdicts on artifacts of the same type, newest first.
#[derive(Debug, Deserialize)]
pub(super) struct Prior {
    pub(super) verdict: GateVerdict,
    pub(super) artifact: String,
}

pub(super) fn priors(user: &str) -> Vec<Prior> {
    let lines = part(user, "PRIOR VERDICTS").unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The arithmetic that the adjudicator is told.
pub(super) fn policy(messages: &Messages) -> PolicyName {
    let is_told = |policy: &&PolicyName| messages.system.contains(&format!("`{policy}`"));
    PolicyName::ALL.iter().find(is_told).copied().unwrap_or(PolicyName::Seed)
}
