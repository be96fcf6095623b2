//! What the rehearsal panel takes from the messages of the ending: who took part,
//! what the record holds, what is to be mended. Like `prompt.rs`, it follows what prompting writes.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::conclusion::{Field, Participant};
use crate::domain::council::words::Outcome;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION, Status};
use crate::domain::reference::Reference;
use crate::domain::time::Day;

use super::prompt::{part, remark};

/// An entity as the record tells it.
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

/// The entities whose lines can be read; what was made harmless in one may leave no JSON.
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

/// What the chair's report came to, where there is one.
pub(super) fn outcome(user: &str) -> Option<Outcome> {
    let report: Value = serde_json::from_str(part(user, "REPORT")?).ok()?;
    Outcome::named(report.pointer("/conclusion/outcome")?.as_str()?)
}

/// The fields that our own words name; what an objection says of others does not count.
pub(super) fn flagged(user: &str) -> impl Iterator<Item = Field> {
    let named = remark(user, "Flagged, and to be mended: ").unwrap_or_default();
    let is_named = move |field: &Field| named.contains(&format!("`{field}`"));
    Field::ALL.iter().copied().filter(is_named)
}

/// The day that the messages say it is.
pub(super) fn today(user: &str) -> Option<Day> {
    remark(user, "Today is ")?.strip_suffix('.')?.parse().ok()
}
