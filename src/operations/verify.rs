//! `verify`: whether the record is as it was written.

use serde::Serialize;

use super::workspace::Workspace;
use crate::domain::ids::DialogueId;
use crate::error::Error;
use crate::record::no_dialogue;
use crate::store::Verification;

#[derive(Debug, Serialize)]
pub struct Verified {
    pub status: &'static str,
    pub verified: bool,
    #[serde(flatten)]
    pub verification: Verification,
}

/// Checks one dialogue or the whole store. A `head` noted earlier must still be part of the chain.
pub fn verify(
    workspace: &Workspace,
    dialogue: Option<&str>,
    head: Option<&str>,
) -> Result<Verified, Error> {
    let id: Option<DialogueId> = match dialogue {
        Some(id) => Some(id.parse().map_err(|_| no_dialogue(id))?),
        None => None,
    };
    let verification = workspace.store.verify(id.as_ref(), head)?;
    if let (Some(id), 0) = (&id, verification.entries)
        && verification.findings.is_empty()
        && workspace.store.dialogue(id)?.is_none()
    {
        return Err(no_dialogue(id.as_str()).into());
    }
    let verified = verification.findings.is_empty();
    let status = if verified { "success" } else { "error" };
    Ok(Verified { status, verified, verification })
}
