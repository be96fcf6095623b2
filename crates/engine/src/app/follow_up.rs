//! A follow-up question: the earlier conclusion and its outcome as material, and the links between
//! the two records.

use plenary_core::dialogue::diagnostics::{dialogue_not_found, not_concluded};
use plenary_core::model::dialogue::TerminalState;
use plenary_core::model::hash::sha256_hex;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::plan::ContextFile;
use plenary_core::model::queries::DialogueName;
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::verdict::VerdictType;
use plenary_core::protocols::review::document::{OverrideMark, review_document};
use serde_json::{Value, json};

use crate::app::dialogue_ids::resolve_id;
use crate::app::project::Project;
use crate::engine::run_start::load_run_state;
use crate::error::Error;

/// Field of a dialogue's background that names the dialogue it follows.
const FOLLOWS: &str = "follows";

/// An earlier dialogue that a question follows up.
#[derive(Debug)]
pub struct EarlierDialogue {
    pub id: DialogueId,
    /// What the seats read of it.
    pub material: ContextFile,
}

impl EarlierDialogue {
    /// Loads the dialogue that a person names. It must have a conclusion or a verdict.
    pub fn load(project: &Project, typed: &str) -> Result<Self, Error> {
        let id = resolve_id(project.store.as_ref(), typed)?;
        let missing = || dialogue_not_found(id.as_str());
        let record = project.store.load_record(&id)?.ok_or_else(missing)?;
        let run = load_run_state(&project.protocols, project.store.as_ref(), &id).ok();
        let text = describe_result(&record, run.as_ref()).ok_or_else(|| not_concluded(&id))?;
        let (path, sha256) = (format!("earlier conclusion {id}"), sha256_hex([text.as_bytes()]));
        Ok(Self { id, material: ContextFile { path, sha256, text } })
    }

    /// The background of the new dialogue, which keeps the link.
    pub fn to_background(&self) -> Value {
        json!({ FOLLOWS: self.id })
    }
}

/// The earlier question, what was concluded and what became of it.
fn describe_result(record: &DialogueRecord, run: Option<&RunState>) -> Option<String> {
    let opening = &record.dialogue.opening;
    let mut lines = vec![
        format!("Earlier question: {}", opening.question.as_deref().unwrap_or(&opening.title)),
        format!("Asked on: {}", record.dialogue.created_at.utc_day()),
    ];
    if opening.rehearsal {
        lines.insert(0, "REHEARSAL: no model was asked; this is not advice.".to_owned());
    }
    if let Some(recorded) = &record.conclusion {
        let conclusion = &recorded.ending.conclusion;
        let state = recorded.ending.terminal_state;
        lines.push(format!("Ended: {}", state.map_or("not audited", |state| state.name())));
        let is_rejected = state == Some(TerminalState::Unconverged);
        let label = if is_rejected { "Rejected draft" } else { "Recommendation" };
        lines.push(format!("{label}: {}", conclusion.recommendation));
        if let Some(trail) = recorded.ending.audit.as_ref().filter(|_| is_rejected) {
            // The second look is the last word; without one the first is.
            let objections = match trail.second_objections.as_slice() {
                [] => &trail.objections,
                second => second,
            };
            lines.extend(objections.iter().map(|one| {
                format!("Objection to {}: {}", one.field.name().replace('_', " "), one.objection)
            }));
        }
        lines.push(format!("Key condition: {}", conclusion.key_condition));
        let open = conclusion.unresolved_points.iter();
        lines.extend(open.map(|open| format!("Unresolved: {}", open.point)));
        lines.push(format!("Review by: {}", conclusion.review_by));
        lines.extend(recorded.outcomes.iter().map(|(at, outcome)| {
            let note = outcome.note.as_deref().unwrap_or("no note");
            format!("Outcome on {}: {} ({note})", at.utc_day(), outcome.outcome)
        }));
        return Some(lines.join("\n"));
    }
    let verdicts = record.verdicts.iter().rev();
    let mut given = verdicts.filter(|given| given.verdict.verdict_type == VerdictType::Final);
    let verdict = &given.next()?.verdict;
    if run.is_some_and(|run| run.stopped != Some(RunStopReason::Done)) {
        lines.push(
            "The run did not finish: this is its report, not an audited conclusion.".to_owned(),
        );
    }
    lines.push(format!("Final verdict: {}", verdict.recommendation));
    lines.push(verdict.description.clone());
    lines.extend(run.and_then(describe_override));
    Some(lines.join("\n"))
}

/// A person's decision over the review, which replaces its verdict.
fn describe_override(run: &RunState) -> Option<String> {
    run.review_plan()?;
    let person = review_document(run).overridden?;
    let OverrideMark { decision, by, why, at, .. } = person;
    Some(format!(
        "Overridden on {}: {by} decided {decision}, which applies now: {why}",
        at.utc_day()
    ))
}

/// The dialogue that this one follows up, and those that follow it up.
#[derive(Debug, Default)]
pub struct DialogueLinks {
    pub follows: Option<DialogueId>,
    pub followed_by: Vec<DialogueName>,
}

/// Followers that a page lists.
const FOLLOWERS_MAX: usize = 20;

impl DialogueLinks {
    pub fn load(project: &Project, record: &DialogueRecord) -> Result<Self, Error> {
        let opening = &record.dialogue.opening;
        let follows = opening.background.as_ref().and_then(|known| known.get(FOLLOWS)?.as_str());
        Ok(Self {
            follows: follows.and_then(|id| id.parse().ok()),
            followed_by: project.store.list_followers(&opening.dialogue_id, FOLLOWERS_MAX)?,
        })
    }
}
