//! `progress`: how far a dialogue has come.

use serde_json::Value;

use super::arguments::dialogue_id;
use super::workspace::Workspace;
use crate::error::Error;
use crate::record::convergence::{self, Progress};
use crate::record::{Fields, no_dialogue};

pub fn progress(workspace: &Workspace, arguments: &Value) -> Result<Progress, Error> {
    let id = dialogue_id(&Fields::of_arguments(arguments)?)?;
    let pulse = workspace.store.pulse(&id)?.ok_or_else(|| no_dialogue(id.as_str()))?;
    Ok(convergence::progress(&pulse))
}
