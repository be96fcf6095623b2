//! Checks on the store: due conclusions, health of conclusions, audit of verdicts, verification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::project::{Project, find_dialogue};
use crate::domain::catalogue::{Due, EndingQuery};
use crate::domain::change::{Change, EntryKind};
use crate::domain::conclusion::{Outcome, OutcomeWord};
use crate::domain::dialogue::TerminalState;
use crate::domain::gate::LogQuery;
use crate::domain::ids::DialogueId;
use crate::domain::inlined_schema::word_schema;
use crate::domain::limits::{PAGE_MAX, TEXT_CHARS_MAX};
use crate::domain::stretch::{Since, Stretch};
use crate::domain::time::{Day, Moment};
use crate::error::Error;
use crate::record::gate_audit::{Auditor, GateAudit};
use crate::record::health::{self as rules, Health, LAST_DEFAULT, LAST_MAX};
use crate::record::{
    OperationRequest, no_dialogue, not_concluded, read_strict_request, unconverged,
};
use crate::store::{LOG_PAGE, Verification, log_pages, transact};

#[derive(Debug, Serialize)]
pub struct AllDue {
    pub status: &'static str,
    pub today: Day,
    pub due: Vec<DueItem>,
    /// Whether there are more; record some outcomes to see them.
    pub more: bool,
}

#[derive(Debug, Serialize)]
pub struct DueItem {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub recommendation: String,
    pub review_by: Day,
    /// Negative before the day of the review.
    pub days_overdue: i64,
    pub terminal_state: Option<TerminalState>,
}

/// Conclusions that are overdue or fall due within so many days, soonest first.
pub fn due(project: &Project, within: Stretch) -> Result<AllDue, Error> {
    let today = project.ambient.now().day();
    // One more than shown tells whether there are more.
    let mut found = project.store.due(today.later(within.days), PAGE_MAX + 1)?;
    let more = found.len() > PAGE_MAX;
    found.truncate(PAGE_MAX);
    let due = found.into_iter().map(|due| due_item(due, today)).collect();
    Ok(AllDue { status: "success", today, due, more })
}

fn due_item(due: Due, today: Day) -> DueItem {
    DueItem {
        days_overdue: today.days_since(due.review_by),
        dialogue_id: due.dialogue_id,
        title: due.title,
        recommendation: due.recommendation,
        review_by: due.review_by,
        terminal_state: due.terminal_state,
    }
}

/// Arguments of `due record`.
#[derive(Debug, Deserialize, JsonSchema)]
struct OutcomeRequest {
    dialogue_id: DialogueId,
    #[schemars(schema_with = "word_schema::<OutcomeWord>")]
    outcome: OutcomeWord,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    note: Option<String>,
}

impl OperationRequest for OutcomeRequest {}

#[derive(Debug, Serialize)]
pub struct OutcomeRecorded {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub outcome: OutcomeWord,
    pub note: Option<String>,
}

/// Records the outcome of a conclusion. A later outcome may follow.
pub fn record_outcome(project: &Project, arguments: &Value) -> Result<OutcomeRecorded, Error> {
    let OutcomeRequest { dialogue_id, outcome, note } = read_strict_request(arguments)?;
    let note = note.filter(|note| !note.trim().is_empty());
    let at = project.ambient.now();
    transact(project.store.as_ref(), |unit| {
        let dialogue = find_dialogue(unit, &dialogue_id)?;
        if !unit.is_concluded(&dialogue_id)? {
            return Err(not_concluded(&dialogue_id).into());
        }
        if dialogue.terminal_state == Some(TerminalState::Unconverged) {
            return Err(unconverged(&dialogue_id).into());
        }
        let change = Change::OutcomeRecorded(Outcome { outcome, note: note.clone() });
        unit.apply(&dialogue_id, EntryKind::OutcomeRecorded, at, &[change])?;
        Ok(OutcomeRecorded { status: "success", dialogue_id, outcome, note })
    })
}

#[derive(Debug, Serialize)]
pub struct Examined {
    pub status: &'static str,
    pub window: Window,
    #[serde(flatten)]
    pub health: Health,
}

/// The window of conclusions that was examined.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Window {
    /// At most this many, the newest; `None` if all since a time were asked for.
    pub last: Option<usize>,
    pub since: Option<Moment>,
}

/// Examines the newest conclusions with a terminal state, without rehearsals. A time without a
/// number means all of that time.
pub fn health(
    project: &Project,
    last: Option<usize>,
    since: Option<Since>,
) -> Result<Examined, Error> {
    let today = project.ambient.now().day();
    let window = Window {
        last: last.or(since.is_none().then_some(LAST_DEFAULT)),
        since: since.map(|since| since.start(today)),
    };
    let limit = window.last.unwrap_or(LAST_MAX).min(LAST_MAX);
    let endings = project.store.endings(&EndingQuery { limit, since: window.since })?;
    Ok(Examined { status: "success", window, health: rules::health(&endings) })
}

/// Filter of the verdicts to audit.
#[derive(Debug, Clone, Default)]
pub struct AuditWish {
    pub since: Option<Since>,
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Audited {
    pub status: &'static str,
    pub window: AuditWindow,
    #[serde(flatten)]
    pub audit: GateAudit,
}

/// The window of verdicts that was audited; `None` means no limit.
#[derive(Debug, Clone, Default, Serialize)]
pub struct AuditWindow {
    pub since: Option<Moment>,
    #[serde(rename = "type")]
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
}

/// Audits the log page by page; only counts are kept in memory.
pub fn audit(project: &Project, wish: AuditWish) -> Result<Audited, Error> {
    let today = project.ambient.now().day();
    let window = AuditWindow {
        since: wish.since.map(|since| since.start(today)),
        artifact_type: wish.artifact_type,
        producer: wish.producer,
    };
    let query = LogQuery {
        artifact_type: window.artifact_type.clone(),
        since: window.since,
        ..LogQuery::from_the_start(LOG_PAGE)
    };
    let mut auditor = Auditor::default();
    for page in log_pages(project.store.as_ref(), &query) {
        for logged in &page? {
            let is_wanted = window.producer.is_none() || window.producer == logged.row.producer;
            if is_wanted {
                auditor.note(&logged.row, logged.overridden.as_ref().map(|word| word.decision));
            }
        }
    }
    Ok(Audited { status: "success", window, audit: auditor.audit(today) })
}

#[derive(Debug, Serialize)]
pub struct Verified {
    pub status: &'static str,
    pub verified: bool,
    #[serde(flatten)]
    pub verification: Verification,
}

/// Checks one dialogue or the whole store. A `head` noted earlier must still be part of the chain.
pub fn verify(
    project: &Project,
    dialogue: Option<&str>,
    head: Option<&str>,
) -> Result<Verified, Error> {
    let id: Option<DialogueId> = match dialogue {
        Some(id) => Some(id.parse().map_err(|_| no_dialogue(id))?),
        None => None,
    };
    let verification = project.store.verify(id.as_ref(), head)?;
    if let (Some(id), 0) = (&id, verification.entries)
        && verification.findings.is_empty()
        && project.store.dialogue(id)?.is_none()
    {
        return Err(no_dialogue(id.as_str()).into());
    }
    let verified = verification.findings.is_empty();
    let status = if verified { "success" } else { "error" };
    Ok(Verified { status, verified, verification })
}
