//! Reads the messages of the conclusion protocol: participants, record entities, flagged fields.
//! Depends on the text that prompting writes, like `prompt.rs`.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::conclusion::{ConclusionField, ConclusionParticipant};
use crate::domain::council::words::ReportOutcome;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION_STATUSES, EntityStatus};
use crate::domain::reference::EntityReference;
use crate::domain::time::Day;

use super::prompt::{find_part, find_remark};

/// An entity in the record digest.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RecordEntity {
    pub(super) id: EntityId,
    pub(super) agents: Vec<ExpertSlug>,
    status: EntityStatus,
    #[serde(default)]
    pub(super) label: String,
    #[serde(default)]
    pub(super) references: Vec<EntityReference>,
}

impl RecordEntity {
    pub(super) fn is_open_tension(&self) -> bool {
        self.id.kind == EntityKind::Tension && ACTIVE_TENSION_STATUSES.contains(&self.status)
    }
}

/// Parses the entities; lines that neutralizing made invalid are skipped.
pub(super) fn read_entities(user: &str) -> Vec<RecordEntity> {
    let lines = find_part(user, "RECORD").unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(super) fn read_participants(user: &str) -> Vec<ConclusionParticipant> {
    let lines = find_part(user, "PARTICIPANTS").unwrap_or_default().lines();
    let listed = lines.filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |field: &str| line.get(field)?.as_str();
        Some(ConclusionParticipant {
            agent: text("agent")?.parse().ok()?,
            version: text("version")?.into(),
        })
    });
    listed.collect()
}

/// Returns the outcome of the chair's report, if any.
pub(super) fn read_outcome(user: &str) -> Option<ReportOutcome> {
    let report: Value = serde_json::from_str(find_part(user, "REPORT")?).ok()?;
    ReportOutcome::named(report.pointer("/conclusion/outcome")?.as_str()?)
}

/// Returns the fields named by our own prompt text, ignoring fields an objection mentions.
pub(super) fn flagged_fields(user: &str) -> impl Iterator<Item = ConclusionField> {
    let named = find_remark(user, "Flagged, and to be mended: ").unwrap_or_default();
    let is_named = move |field: &ConclusionField| named.contains(&format!("`{field}`"));
    ConclusionField::ALL.iter().copied().filter(is_named)
}

/// Returns the current date from the messages.
pub(super) fn read_today(user: &str) -> Option<Day> {
    find_remark(user, "Today is ")?.strip_suffix('.')?.parse().ok()
}
