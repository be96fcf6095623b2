//! The JSON document of a dialogue that the built-in Judge leads (`align --json`).

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::model::ask::{AskPurpose, CallErrorType};
use crate::model::dialogue::ProtocolKind;
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::run_state::{ReplyDocument, RunState, RunStopReason};
use crate::model::verdict::Verdict;
use crate::protocols::alignment::answers::judged_run;
use crate::protocols::alignment::calibrate::missed_detection;
use crate::protocols::alignment::design::reduced_panel;
use crate::protocols::alignment::ending::{DialogueEnding, decide_ending};
use crate::protocols::alignment::state::AlignmentState;
use crate::protocols::alignment::to_entities::UNMERGED_NOTE;
use crate::protocols::conclusion::document::ConclusionView;
use crate::protocols::conclusion::phrases::conclusion_warnings;
use crate::protocols::council::answers::{ProviderFailure, list_failures};
use crate::protocols::council::document::{CancelledSeat, PanelAttendance, list_cancelled};
use crate::report::calibration_export::CalibrationView;
use crate::report::dialogue_json::verdict_section;
use crate::report::interventions::{TimedIntervention, list_interventions};
use crate::report::run_metrics::{
    RunMetrics, TransparencyRecord, run_metrics, transparency_record,
};
use crate::report::run_status::{CompletionStatus, StopNotice, completion_status, stop_notice};
use crate::report::scoreboard::{DialogueScoreboard, build_scoreboard};

/// The result of `align`.
#[derive(Debug, Serialize)]
pub struct AlignmentDocument {
    pub dialogue_id: DialogueId,
    pub protocol: ProtocolKind,
    pub rehearsal: bool,
    pub status: CompletionStatus,
    /// Whether the panel converged; a forced final verdict is none.
    pub converged: bool,
    pub stop_reason: Option<&'static str>,
    pub rounds: usize,
    pub total_alignment: i64,
    pub scoreboard: DialogueScoreboard,
    /// As in the export.
    pub verdicts: Value,
    /// As in the export; null for a dialogue without an ethos.
    pub calibration: Option<Value>,
    #[serde(flatten)]
    pub ended: ConclusionView,
    pub interventions: Vec<TimedIntervention>,
    pub panel: PanelAttendance,
    pub metrics: RunMetrics,
    pub transparency: TransparencyRecord,
    pub warnings: Vec<String>,
    pub error: Option<StopNotice>,
}

pub fn alignment_document(state: &RunState) -> serde_json::Result<Option<AlignmentDocument>> {
    let Some((_, judged)) = judged_run(state) else { return Ok(None) };
    let verdicts: Vec<_> = judged.verdicts.iter().map(verdict_section).collect();
    let last = judged.final_verdict();
    Ok(Some(AlignmentDocument {
        dialogue_id: state.opening.dialogue_id.clone(),
        protocol: state.opening.protocol,
        rehearsal: state.opening.rehearsal,
        status: completion_status(state),
        converged: last.is_some_and(|verdict| !verdict.forced),
        stop_reason: stop_reason(state),
        rounds: judged.rounds.len(),
        total_alignment: judged.rounds.iter().map(|held| held.score).sum(),
        scoreboard: build_scoreboard(judged),
        verdicts: serde_json::to_value(verdicts)?,
        calibration: calibration_document(state, judged)?,
        ended: ConclusionView::from_state(state),
        interventions: list_interventions(state),
        panel: attendance(state, judged),
        metrics: run_metrics(state),
        transparency: transparency_record(state),
        warnings: alignment_warnings(state, judged),
        error: stop_notice(state),
    }))
}

/// The calibration as in the export; none for a dialogue that is not calibrated.
fn calibration_document(
    state: &RunState,
    judged: &AlignmentState,
) -> serde_json::Result<Option<Value>> {
    if !state.opening.calibrated {
        return Ok(None);
    }
    let verdicts: Vec<&Verdict> = judged.verdicts.iter().map(|given| &given.verdict).collect();
    let view = CalibrationView {
        calibration: &judged.calibration,
        domain_id: state.opening.domain_id.as_deref(),
        verdicts: &verdicts,
        status_of: &|id| judged.statuses.get(&id).copied(),
    };
    serde_json::to_value(view.to_export()).map(Some)
}

/// Why the rounds ended: by a decision after a round, or by an early stop.
pub fn stop_reason(state: &RunState) -> Option<&'static str> {
    let judged = state.alignment.as_deref()?;
    match (&state.stopped, judged.final_verdict()) {
        // The verdict itself settles tensions, so a stalemate is no longer seen after it.
        (_, Some(verdict)) if verdict.forced => Some(
            decide_ending(state)
                .filter(|ending| *ending != DialogueEnding::Converged)
                .unwrap_or(DialogueEnding::Stalemate)
                .name(),
        ),
        (_, Some(_)) | (Some(RunStopReason::Done), _) => {
            Some(decide_ending(state).map_or("converged", DialogueEnding::name))
        }
        (None, None) => None,
        (Some(RunStopReason::Stopped), None) => Some(DialogueEnding::Stopped.name()),
        (Some(_), None) if state.is_cut_short => Some(DialogueEnding::Stopped.name()),
        (Some(RunStopReason::Budget { .. }), None) => Some(DialogueEnding::Budget.name()),
        (Some(RunStopReason::Deadline), None) => Some("deadline"),
        (Some(RunStopReason::Interrupted | RunStopReason::Uncalibrated { .. }), None) => {
            Some("interrupted")
        }
        (
            Some(
                RunStopReason::Quorum { .. }
                | RunStopReason::Families { .. }
                | RunStopReason::Partial { .. }
                | RunStopReason::Unconcluded { .. }
                | RunStopReason::Unadjudicated { .. }
                | RunStopReason::Unjudged { .. },
            ),
            None,
        ) => Some("quorum"),
    }
}

/// The experts who were asked, and who failed.
pub(crate) fn attendance(state: &RunState, judged: &AlignmentState) -> PanelAttendance {
    let asks = state.asks.iter().filter(|asked| asked.ask.purpose == AskPurpose::Contribution);
    let asked: BTreeSet<&ExpertSlug> = asks.map(|asked| &asked.ask.seat).collect();
    let failed: Vec<ProviderFailure> = (0..=judged.next_round())
        .flat_map(|round| [list_failures(state, round), list_unheard(state, round)].concat())
        .filter(|failed| asked.contains(&failed.provider))
        .collect();
    let cancelled: Vec<CancelledSeat> = (0..=judged.next_round())
        .flat_map(|round| list_cancelled(state, round))
        .filter(|one| asked.contains(&one.provider))
        .collect();
    let has_answered = |seat: &ExpertSlug| {
        let mut own = state.asks.iter().filter(|asked| asked.ask.seat == *seat);
        own.any(|asked| asked.parsed_document().is_some())
    };
    // After a stop some experts were never asked for an answer.
    let is_whole = |seat: &&&ExpertSlug| {
        has_answered(seat)
            && !failed.iter().any(|failed| failed.provider == ***seat)
            && !cancelled.iter().any(|one| one.provider == ***seat)
    };
    PanelAttendance {
        attempted: asked.len(),
        succeeded: asked.iter().filter(is_whole).count(),
        failed,
        cancelled,
        unasked: Vec::new(),
    }
}

/// The experts whose last reply of a round has no markers: nothing of it is in the record.
fn list_unheard(state: &RunState, round: u8) -> Vec<ProviderFailure> {
    let Some(judged) = state.alignment.as_deref() else { return Vec::new() };
    let unheard = judged.panel_of(round).iter().filter_map(|seat| {
        let asked = state.last_ask_for(round, &seat.expert_slug, AskPurpose::Contribution)?;
        let Some(ReplyDocument::Contribution(facts)) = asked.parsed_document() else { return None };
        (!facts.is_heard()).then(|| ProviderFailure {
            provider: seat.expert_slug.clone(),
            round: format!("R{round}"),
            error_type: CallErrorType::ParseError,
            error_message: "no_markers: the reply has no markers that can be read".to_owned(),
            retried: true,
            fallback_used: false,
        })
    });
    unheard.collect()
}

/// Everything that a reader of a dialogue with the built-in Judge should know; `None` for another.
pub fn dialogue_warnings(state: &RunState) -> Option<Vec<String>> {
    judged_run(state).map(|(_, judged)| alignment_warnings(state, judged))
}

fn alignment_warnings(state: &RunState, judged: &AlignmentState) -> Vec<String> {
    let mut warnings = state.plan.notes.clone();
    let forced = judged.final_verdict().and_then(|verdict| verdict.warning.clone());
    warnings.extend(forced);
    warnings.extend(missed_detection(state));
    warnings.extend(reduced_panel(state));
    for round in 0..=judged.next_round() {
        let unheard = list_unheard(state, round);
        let names: Vec<String> = unheard.iter().map(|one| one.provider.display_name()).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            warnings.push(format!("round {round}: no markers in the reply of {names}"));
        }
    }
    for held in &judged.rounds {
        let noted = judged.warnings_of(held.round).iter();
        warnings.extend(noted.map(|text| format!("round {}: {text}", held.round)));
        let summary = held.summary.as_deref().unwrap_or_default();
        if summary.starts_with(UNMERGED_NOTE) {
            warnings.push(format!("round {}: {UNMERGED_NOTE}", held.round));
        }
    }
    let ended = ConclusionView::from_state(state);
    warnings.extend(conclusion_warnings(&ended, state.opening.rehearsal));
    warnings
}
