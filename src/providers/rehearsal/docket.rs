//! Reads the messages of the conclusion protocol: participants, record entities, flagged fields.
//! Depends on the text that prompting writes, like `prompt.rs`.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::conclusion::{Field, Participant};
use crate::domain::council::words::Outcome;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION, Status};
use crate::domain::reference::Reference;
use crate::domain::time::Day;

use super::prompt::{part, remark};

/// An entity in the record digest.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Told {
    pub(super) id: EntityId,
    pub(super) agents: Vec<ExpertSlug>,
    status: Status,
    #[serde(default)]
    pub(super) label: String,
    #[serde(default)]
    pub(super) references: Vec<Reference>,
}

impl Told {
    pub(super) fn is_open_tension(&self) -> bool {
        self.id.kind == EntityKind::Tension && ACTIVE_TENSION.contains(&self.status)
    }
}

/// Parses the entities; lines that neutralizing made invalid are skipped.
pub(super) fn entities(user: &str) -> Vec<Told> {
    let lines = part(user, "RECORD").unwrap_or_default().lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(super) fn participants(user: &str) -> Vec<Participant> {
    let lines = part(user, "PARTICIPANTS").unwrap_or_default().lines();
    let listed = lines.filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let text = |field: &str| line.get(field)?.as_str();
        Some(Participant { agent: text("agent")?.parse().ok()?, version: text("version")?.into() })
    });
    listed.collect()
}

/// Returns the outcome of the chair's report, if any.
pub(super) fn outcome(user: &str) -> Option<Outcome> {
    let report: Value = serde_json::from_str(part(user, "REPORT")?).ok()?;
    Outcome::named(report.pointer("/conclusion/outcome")?.as_str()?)
}

/// Returns the fields named by our own prompt text, ignoring fields an objection mentions.
pub(super) fn flagged(user: &str) -> impl Iterator<Item = Field> {
    let named = remark(user, "Flagged, and to be mended: ").unwrap_or_default();
    let is_named = move |field: &Field| named.contains(&format!("`{field}`"));
    Field::ALL.iter().copied().filter(is_named)
}

/// Returns the current date from the messages.
pub(super) fn today(user: &str) -> Option<Day> {
    remark(user, "Today is ")?.strip_suffix('.')?.parse().ok()
}
