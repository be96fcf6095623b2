//! Operations on the verdict log: override a verdict, export and show log lines.

use plenary_core::dialogue::request::{OperationRequest, read_strict_request};
use plenary_core::dialogue::request_fields::truncate_echo;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::limits::{LINE_CHARS_MAX, TEXT_CHARS_MAX};
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::text::find_nearest;
use plenary_core::model::time::Moment;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::review::log_row::{
    LogQuery, LogRange, LogRow, LoggedVerdict, OverrideRow, RecordedOverride,
};
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict, VerdictOverride};
use plenary_core::protocols::review::redaction::LogRedaction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::dialogue_ids::resolve_id;
use crate::app::project::Project;
use crate::error::{Error, to_json_text};
use crate::store::error::StoreError;
use crate::store::traits::{LOG_PAGE_ROWS, Store, StoreTransaction, in_transaction, log_pages};

/// Verdict ids listed in an error.
const OPTIONS_MAX: usize = 20;

/// The newest rows, in which the path or the type of a document is looked up.
const PATH_ROWS_MAX: usize = 1_000;

/// Arguments of `override`.
#[derive(Debug, Deserialize, JsonSchema)]
struct OverrideRequest {
    #[schemars(length(max = LINE_CHARS_MAX))]
    verdict_id: String,
    #[schemars(schema_with = "word_schema::<ReviewDecision>")]
    decision: ReviewDecision,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    why: String,
    /// The person who decides.
    #[schemars(length(max = LINE_CHARS_MAX))]
    by: Option<String>,
}

impl OperationRequest for OverrideRequest {}

#[derive(Debug, Serialize)]
pub struct OverrideResult {
    pub status: &'static str,
    pub verdict_id: String,
    pub dialogue_id: DialogueId,
    pub artifact: String,
    pub artifact_type: String,
    /// Verdict of the review.
    pub gate: ReviewVerdict,
    /// Decision in force before.
    pub stood: ReviewVerdict,
    /// Decision in force from now on.
    pub stands: ReviewDecision,
    pub why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The verdict is of a rehearsal, so only rehearsals give this decision.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
}

/// Records a person's decision over a verdict; both are kept. The verdict is named by its id, or by
/// its dialogue's if that has only one. A later decision replaces an earlier one.
pub fn override_verdict(
    project: &Project,
    arguments: &Value,
    redaction: &LogRedaction,
) -> Result<OverrideResult, Error> {
    let OverrideRequest { verdict_id: named, decision, why, by } = read_strict_request(arguments)?;
    require_reason(&why)?;
    // The log's file has it as well.
    let why = redaction.redact_text(&why);
    let at = project.ambient.now();
    let named = resolve_verdict_id(project.store.as_ref(), named)?;
    let overridden = in_transaction(project.store.as_ref(), |unit| {
        let found = find_verdict(unit, &named)?;
        let word = VerdictOverride {
            verdict_id: found.verdict_id.clone(),
            decision,
            why: why.clone(),
            by: by.clone(),
            decided_at: None,
        };
        append_override(unit, &found.dialogue_id, at, word)?;
        Ok(OverrideResult {
            status: "success",
            stood: found.effective_verdict(),
            stands: decision,
            why,
            by,
            gate: found.row.adjudicator.final_verdict,
            rehearsal: found.row.rehearsal,
            artifact: found.row.artifact,
            artifact_type: found.row.artifact_type,
            verdict_id: found.verdict_id,
            dialogue_id: found.dialogue_id,
        })
    });
    match overridden {
        Err(Error::Refused(fault)) if fault.has_code(ErrorCode::VerdictNotFound) => {
            Err(explain_path(project.store.as_ref(), &named)?
                .map_or(Error::Refused(fault), Error::from))
        }
        other => other,
    }
}

/// The error for the path of a reviewed document where the id of a verdict is expected.
fn explain_path(store: &dyn Store, named: &str) -> Result<Option<ValidationError>, StoreError> {
    let rows = store.load_log_page(&LogQuery {
        range: LogRange::Last,
        ..LogQuery::from_start(PATH_ROWS_MAX)
    })?;
    let newest = rows.into_iter().rfind(|found| found.row.artifact == named);
    Ok(newest.map(|found| {
        let message = format!("'{}' is a path, not the id of a verdict", truncate_echo(named));
        ValidationError::new(ErrorCode::VerdictNotFound, message)
            .with_field("verdict_id")
            .with_value(named)
            .with_suggestion(format!("its newest verdict is {}", found.verdict_id))
    }))
}

pub(crate) fn append_override(
    unit: &mut dyn StoreTransaction,
    dialogue: &DialogueId,
    at: Moment,
    word: VerdictOverride,
) -> Result<(), StoreError> {
    let kind = JournalEntryKind::VerdictOverridden;
    unit.append_entry(dialogue, kind, at, &[JournalEvent::VerdictOverridden(word)])?;
    Ok(())
}

/// A later reader needs the reason.
fn require_reason(why: &str) -> Result<(), ValidationError> {
    match why.trim().is_empty() {
        true => Err(ValidationError::new(ErrorCode::MissingField, "the reason is empty")
            .with_field("why")
            .with_suggestion(
                "write why the decision differs, for example --why \"Source added.\"",
            )),
        false => Ok(()),
    }
}

/// Replaces a short dialogue id in `1a2b3c4d` or `latest/1`.
fn resolve_verdict_id(store: &dyn Store, named: String) -> Result<String, Error> {
    if store.find_logged(&named)?.is_some() {
        return Ok(named);
    }
    let (dialogue, number) = match named.rsplit_once('/') {
        Some((dialogue, number)) => (dialogue, Some(number)),
        None => (named.as_str(), None),
    };
    match (resolve_id(store, dialogue), number) {
        (Ok(id), Some(number)) => Ok(format!("{id}/{number}")),
        (Ok(id), None) => Ok(id.to_string()),
        (Err(Error::Refused(fault)), _) if fault.has_code(ErrorCode::DialogueNotFound) => Ok(named),
        (Err(error), _) => Err(error),
    }
}

fn find_verdict(unit: &mut dyn StoreTransaction, named: &str) -> Result<LoggedVerdict, Error> {
    if let Some(found) = unit.find_logged(named)? {
        return Ok(found);
    }
    let Ok(dialogue) = named.parse::<DialogueId>() else {
        return Err(verdict_not_found(named).into());
    };
    let verdicts = unit.logged_verdict_ids(&dialogue, OPTIONS_MAX)?;
    match verdicts.as_slice() {
        [] => Err(verdict_not_found(named).into()),
        [only] => Ok(unit.find_logged(only)?.ok_or_else(|| verdict_not_found(named))?),
        several => {
            let message = format!("dialogue '{dialogue}' has more than one verdict");
            let fault = ValidationError::new(ErrorCode::InvalidEnum, message)
                .with_field("verdict_id")
                .with_value(named);
            let hint = format!("name one of them: {}", several.join(", "));
            Err(fault.with_options(several).with_suggestion(hint).into())
        }
    }
}

fn verdict_not_found(named: &str) -> ValidationError {
    let message = format!("the verdict log has no verdict '{}'", truncate_echo(named));
    ValidationError::new(ErrorCode::VerdictNotFound, message)
        .with_field("verdict_id")
        .with_value(named)
        .with_suggestion("`plenary log tail` shows the last verdicts with their ids")
}

/// Filter of log lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub artifact_type: Option<String>,
    /// By their `ts`.
    pub since: Option<Moment>,
}

/// What an export has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogExportCounts {
    pub verdicts: usize,
    pub overrides: usize,
}

/// Passes the lines to `hand_on` in order, some at a time, each with its line break. The overrides
/// of a verdict follow it.
pub fn export_log(
    project: &Project,
    filter: LogFilter,
    mut hand_on: impl FnMut(&str) -> Result<(), Error>,
) -> Result<LogExportCounts, Error> {
    let LogFilter { artifact_type, since } = filter;
    let query = LogQuery { artifact_type, since, ..LogQuery::from_start(LOG_PAGE_ROWS) };
    let mut counts = LogExportCounts::default();
    for page in log_pages(project.store.as_ref(), &query) {
        let found = page?;
        counts.verdicts += found.len();
        let mut lines = String::new();
        for verdict in &found {
            lines.push_str(&format!("{}\n", verdict.line));
            if verdict.overridden.is_some() {
                for word in project.store.list_overrides(&verdict.verdict_id)? {
                    let row = OverrideRow::from_recorded(&verdict.row, word);
                    lines.push_str(&format!("{}\n", to_json_text(&row)?));
                    counts.overrides += 1;
                }
            }
        }
        hand_on(&lines)?;
    }
    Ok(counts)
}

/// A row with the person's decision over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TailRow {
    #[serde(flatten)]
    pub row: LogRow,
    pub dialogue_id: DialogueId,
    /// Decision in force: the person's if there is one, else the review's.
    pub standing: ReviewVerdict,
    pub overridden: Option<RecordedOverride>,
}

/// The last `limit` verdicts, of one type where it is given; in the order of the log.
pub fn tail_log(
    project: &Project,
    artifact_type: Option<String>,
    limit: usize,
) -> Result<Vec<TailRow>, Error> {
    let query = LogQuery { artifact_type, range: LogRange::Last, ..LogQuery::from_start(limit) };
    Ok(project.store.load_log_page(&query)?.into_iter().map(tail_row).collect())
}

/// The verdict that `typed` names: by its id, by a short id of its review and a number, or by the
/// review in another store that it was imported from. `None` if `typed` names something else.
pub fn find_verdict_row(store: &dyn Store, typed: &str) -> Result<Option<TailRow>, Error> {
    let named = match typed.rsplit_once('/') {
        Some((_, number)) if number.parse::<u32>().is_ok() => {
            resolve_verdict_id(store, typed.to_owned())?
        }
        Some(_) => return Ok(None),
        None => match resolve_id(store, typed) {
            Err(Error::Refused(fault)) if fault.has_code(ErrorCode::DialogueNotFound) => {
                format!("{typed}/1")
            }
            _ => return Ok(None),
        },
    };
    Ok(store.find_logged(&named)?.map(tail_row))
}

/// The type of a recent verdict that was probably meant, if no recent verdict has this one.
pub fn find_similar_type(store: &dyn Store, named: &str) -> Result<Option<String>, Error> {
    let query = LogQuery { range: LogRange::Last, ..LogQuery::from_start(PATH_ROWS_MAX) };
    let rows = store.load_log_page(&query)?;
    let known: Vec<&str> = rows.iter().map(|found| found.row.artifact_type.as_str()).collect();
    let near = find_nearest(named, &known).filter(|_| !known.contains(&named));
    Ok(near.map(str::to_owned))
}

fn tail_row(found: LoggedVerdict) -> TailRow {
    let standing = found.effective_verdict();
    let LoggedVerdict { row, dialogue_id, overridden, .. } = found;
    TailRow { row, dialogue_id, standing, overridden }
}
