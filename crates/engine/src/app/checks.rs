//! Checks on the store: due conclusions, health of conclusions, audit of verdicts, verification.

use plenary_core::dialogue::diagnostics::{dialogue_not_found, ended_unconverged, not_concluded};
use plenary_core::dialogue::health::{
    ConclusionHealth, HEALTH_LAST_DEFAULT, HEALTH_LAST_MAX, compute_health,
};
use plenary_core::dialogue::request::OperationRequest;
use plenary_core::model::dialogue::TerminalState;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::limits::{PAGE_ITEMS_MAX, TEXT_CHARS_MAX};
use plenary_core::model::queries::{ConclusionQuery, DueConclusion};
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::time::{Day, DayCount, Moment, SinceTime};
use plenary_core::model::validation_error::ErrorCode;
use plenary_core::protocols::conclusion::types::{ConclusionOutcome, OutcomeKind};
use plenary_core::protocols::review::log_row::LogQuery;
use plenary_core::protocols::review::statistics::{ReviewStatistics, StatisticsBuilder};
use plenary_core::report::phrases::count_noun;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::dialogue_ids::{read_strict_resolved, resolve_id};
use crate::app::project::Project;
use crate::engine::record_changes::find_dialogue;
use crate::error::Error;
use crate::store::traits::{LOG_PAGE_ROWS, VerifyFinding, VerifyReport, in_transaction, log_pages};

#[derive(Debug, Serialize, JsonSchema)]
pub struct DueResult {
    pub status: &'static str,
    pub today: Day,
    pub due: Vec<DueItem>,
    /// Whether there are more; record some outcomes to see them.
    pub more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
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
pub fn list_due(project: &Project, within: DayCount) -> Result<DueResult, Error> {
    let today = project.ambient.now().utc_day();
    // One more than shown tells whether there are more.
    let mut found = project.store.list_due(today.plus_days(within.days), PAGE_ITEMS_MAX + 1)?;
    let more = found.len() > PAGE_ITEMS_MAX;
    found.truncate(PAGE_ITEMS_MAX);
    let due = found.into_iter().map(|due| due_item(due, today)).collect();
    Ok(DueResult { status: "success", today, due, more })
}

fn due_item(due: DueConclusion, today: Day) -> DueItem {
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
pub struct OutcomeRequest {
    dialogue_id: DialogueId,
    #[schemars(schema_with = "word_schema::<OutcomeKind>")]
    outcome: OutcomeKind,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    note: Option<String>,
}

impl OperationRequest for OutcomeRequest {}

#[derive(Debug, Serialize)]
pub struct OutcomeRecorded {
    pub status: &'static str,
    pub dialogue_id: DialogueId,
    pub outcome: OutcomeKind,
    pub note: Option<String>,
}

/// Records the outcome of a conclusion. A later outcome may follow.
pub fn record_outcome(project: &Project, arguments: &Value) -> Result<OutcomeRecorded, Error> {
    let OutcomeRequest { dialogue_id, outcome, note } =
        read_strict_resolved(project.store.as_ref(), arguments)?;
    let note = note.filter(|note| !note.trim().is_empty());
    let at = project.ambient.now();
    in_transaction(project.store.as_ref(), |unit| {
        let dialogue = find_dialogue(unit, &dialogue_id)?;
        if !unit.is_concluded(&dialogue_id)? {
            return Err(not_concluded(&dialogue_id).into());
        }
        if dialogue.terminal_state == Some(TerminalState::Unconverged) {
            return Err(ended_unconverged(&dialogue_id).into());
        }
        let change =
            JournalEvent::OutcomeRecorded(ConclusionOutcome { outcome, note: note.clone() });
        unit.append_entry(&dialogue_id, JournalEntryKind::OutcomeRecorded, at, &[change])?;
        Ok(OutcomeRecorded { status: "success", dialogue_id, outcome, note })
    })
}

#[derive(Debug, Serialize)]
pub struct HealthResult {
    pub status: &'static str,
    pub window: HealthWindow,
    #[serde(flatten)]
    pub health: ConclusionHealth,
}

/// The window of conclusions that was examined.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct HealthWindow {
    /// At most this many, the newest; `None` if all since a time were asked for.
    pub last: Option<usize>,
    pub since: Option<Moment>,
}

/// Examines the newest conclusions with a terminal state, without rehearsals. A time without a
/// number means all of that time.
pub fn check_health(
    project: &Project,
    last: Option<usize>,
    since: Option<SinceTime>,
) -> Result<HealthResult, Error> {
    let now = project.ambient.now();
    let window = HealthWindow {
        last: last.or(since.is_none().then_some(HEALTH_LAST_DEFAULT)),
        since: since.map(|since| since.start_moment(now)),
    };
    let limit = window.last.unwrap_or(HEALTH_LAST_MAX).min(HEALTH_LAST_MAX);
    let endings = project.store.list_endings(&ConclusionQuery { limit, since: window.since })?;
    Ok(HealthResult { status: "success", window, health: compute_health(&endings) })
}

/// Filter of the verdicts to audit.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    pub since: Option<SinceTime>,
    pub artifact_type: Option<String>,
    pub producer: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct AuditResult {
    pub status: &'static str,
    pub window: AuditWindow,
    #[serde(flatten)]
    pub audit: ReviewStatistics,
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
pub fn audit_verdicts(project: &Project, wish: AuditFilter) -> Result<AuditResult, Error> {
    let now = project.ambient.now();
    let window = AuditWindow {
        since: wish.since.map(|since| since.start_moment(now)),
        artifact_type: wish.artifact_type,
        producer: wish.producer,
    };
    let query = LogQuery {
        artifact_type: window.artifact_type.clone(),
        since: window.since,
        ..LogQuery::from_start(LOG_PAGE_ROWS)
    };
    let mut auditor = StatisticsBuilder::default();
    for page in log_pages(project.store.as_ref(), &query) {
        for logged in &page? {
            let is_wanted = window.producer.is_none() || window.producer == logged.row.producer;
            if is_wanted {
                auditor.add_verdict(logged);
            }
        }
    }
    Ok(AuditResult { status: "success", window, audit: auditor.into_statistics(now.utc_day()) })
}

#[derive(Debug, Serialize)]
pub struct VerifyResult {
    pub status: &'static str,
    pub verified: bool,
    #[serde(flatten)]
    pub problem: Option<VerifyProblem>,
    #[serde(flatten)]
    pub verification: VerifyReport,
}

/// The error of a check with findings, in the shape of all errors.
#[derive(Debug, Serialize)]
pub struct VerifyProblem {
    pub error_code: &'static str,
    pub message: String,
    pub suggestion: &'static str,
}

impl VerifyProblem {
    /// A head that is not found proves a change only if it was typed right.
    fn from_findings(findings: &[VerifyFinding]) -> Option<Self> {
        let only_head = findings.iter().all(|finding| finding.check == "head");
        Some(match findings.len() {
            0 => return None,
            _ if only_head => Self {
                error_code: "head_not_found",
                message: "the head is not part of this record".to_owned(),
                suggestion: "check that the head is complete and of this store",
            },
            count => Self {
                error_code: ErrorCode::RecordChanged.name(),
                message: format!("the record was changed: {}", count_noun(count, "finding")),
                suggestion: "`findings` lists the changes; restore the store from a backup",
            },
        })
    }
}

/// Checks one dialogue or the whole store. A `head` noted earlier must still be part of the chain.
pub fn verify_store(
    project: &Project,
    dialogue: Option<&str>,
    head: Option<&str>,
) -> Result<VerifyResult, Error> {
    let id: Option<DialogueId> = match dialogue {
        // A damaged store may lack the row of a dialogue, and its entries can still be checked.
        Some(id) => Some(match (resolve_id(project.store.as_ref(), id), id.parse()) {
            (Err(Error::Refused(fault)), Ok(id)) if fault.has_code(ErrorCode::DialogueNotFound) => {
                id
            }
            (resolved, _) => resolved?,
        }),
        None => None,
    };
    let verification = project.store.verify_record(id.as_ref(), head)?;
    if let (Some(id), 0) = (&id, verification.entries)
        && verification.findings.is_empty()
        && project.store.load_dialogue(id)?.is_none()
    {
        return Err(dialogue_not_found(id.as_str()).into());
    }
    let verified = verification.findings.is_empty();
    let status = if verified { "success" } else { "error" };
    let problem = VerifyProblem::from_findings(&verification.findings);
    Ok(VerifyResult { status, verified, problem, verification })
}
