//! A review: the settings it is made by, and the run that an artifact becomes.

use std::sync::Arc;

use super::premises::Premises;
use super::prepared::Prepared;
use crate::config::{Overrides, Settings};
use crate::convening::{GateTable, Rehearsal, least_tokens};
use crate::domain::gate::{Artifact, PriorVerdict};
use crate::domain::plan::Plan;
use crate::engine::Question;
use crate::error::Error;
use crate::export::wording;
use crate::material::MaterialError;
use crate::operations::Workspace;

/// A gate that rehearsed by itself would let everything through: without anybody to ask it is
/// an error.
pub fn review_settings(
    premises: &Premises,
    rehearsal: &Rehearsal,
    overrides: &Overrides,
) -> Result<Settings, Error> {
    premises.settings_to_begin(rehearsal, overrides, |_| true)
}

/// What would be cut short half way is not begun.
fn fits_budget(plan: &Plan, path: &str) -> Result<(), MaterialError> {
    let (least, most) = (least_tokens(plan), plan.caps.tokens);
    if least <= most {
        return Ok(());
    }
    let (least, most) = (wording::grouped(least), wording::grouped(most));
    let reason =
        format!("it takes {least} tokens at the least, and `budget.tokens_max` allows {most}");
    Err(MaterialError::Unfit { path: path.into(), reason })
}

/// An artifact before the gate, with the earlier verdicts on its type.
pub fn review(
    workspace: &Workspace,
    settings: &Settings,
    table: &GateTable,
    artifact: Artifact,
) -> Result<Prepared, Error> {
    let text = artifact.path.clone();
    let priors = workspace.store.priors(&artifact.artifact_type, table.prior_verdicts)?;
    let priors = priors.iter().map(PriorVerdict::of).collect();
    let plan = table.plan(artifact, priors, workspace.ambient.as_ref());
    fits_budget(&plan, &text)?;
    Ok(Prepared {
        question: Question { text, rehearsal: table.is_rehearsal, plan },
        connections: table.connections.clone(),
        redaction: Arc::new(settings.review.redact.clone()),
    })
}
