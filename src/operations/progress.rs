//! `progress`: how far a dialogue has come.

use serde_json::Value;

use super::arguments::read;
use super::workspace::Workspace;
use crate::error::Error;
use crate::record::convergence::{self, Progress};
use crate::record::{no_dialogue, read_dialogue_id};

pub fn progress(workspace: &Workspace, arguments: &Value) -> Result<Progress, Error> {
    let (id, warnings) = read(arguments, &["dialogue_id"], read_dialogue_id)?;
    let pulse = workspace.store.pulse(&id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
    Ok(Progress { warnings, ..convergence::progress(&pulse) })
}
