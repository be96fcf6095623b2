//! The steps of a conclusion: a pure function of the run state.

use super::participants::list_participants;
use super::trail::{
    AUDIT, DRAFT, REVISION, SECOND_AUDIT, audit_objections, audit_trail, draft_conclusion,
    revised_conclusion,
};
use crate::domain::ask::AskPurpose;
use crate::domain::change::{JournalEntryKind, JournalEvent};
use crate::domain::conclusion::{Conclusion, ConclusionResult};
use crate::domain::dialogue::{ConclusionStage, TerminalState};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{AuditMode, ConclusionPlan};
use crate::domain::record::DialogueRecord;
use crate::domain::transcript::{RunState, RunStopReason};
use crate::protocols::asking::{RetryRule, pending_asks};
use crate::protocols::council::list_failures;
use crate::protocols::step::{EntryDraft, EntryPart, Step};

/// The next step after the rounds.
pub fn next_step(transcript: &RunState) -> Step {
    let Some(plan) = &transcript.plan.conclusion else { return Step::Finish };
    if transcript.conclusion_result.is_some() {
        return Step::Finish;
    }
    if transcript.participants.is_none() {
        return begin_conclusion();
    }
    let Some(draft) = draft_conclusion(transcript) else {
        return ConclusionAsk::Draft.ask_seat(&plan.synthesizer, transcript);
    };
    match plan.auditing {
        AuditMode::Unaudited => end_conclusion(transcript, plan, None, draft),
        AuditMode::Audited => next_of_audit(transcript, plan, draft),
    }
}

/// The critic audits the draft; the reviser fixes it at most once, and the critic audits again.
fn next_of_audit(transcript: &RunState, plan: &ConclusionPlan, draft: &Conclusion) -> Step {
    let Some(first) = audit_objections(transcript, AUDIT) else {
        return ConclusionAsk::Audit.ask_seat(&plan.critic, transcript);
    };
    if first.is_empty() {
        return end_conclusion(transcript, plan, Some(TerminalState::Clean), draft);
    }
    let Some(revised) = revised_conclusion(transcript) else {
        return ConclusionAsk::Revision.ask_seat(&plan.reviser, transcript);
    };
    let Some(second) = audit_objections(transcript, SECOND_AUDIT) else {
        return ConclusionAsk::SecondAudit.ask_seat(&plan.critic, transcript);
    };
    let is_defensible = second.is_empty();
    let state = if is_defensible { TerminalState::Revised } else { TerminalState::Unconverged };
    end_conclusion(transcript, plan, Some(state), revised)
}

/// An ask of the conclusion. The run cannot continue without its reply.
#[derive(Debug, Clone, Copy)]
enum ConclusionAsk {
    Draft,
    Audit,
    Revision,
    SecondAudit,
}

impl ConclusionAsk {
    /// Asks the seat, or stops if it gave no usable reply.
    fn ask_seat(self, seat: &ExpertSlug, transcript: &RunState) -> Step {
        // The second audit belongs to the revision: a stage never returns to an earlier one.
        let (round, purpose, stage) = match self {
            Self::Draft => (DRAFT, AskPurpose::Conclusion, ConclusionStage::Concluding),
            Self::Audit => (AUDIT, AskPurpose::Audit, ConclusionStage::Auditing),
            Self::Revision => (REVISION, AskPurpose::Revision, ConclusionStage::Revising),
            Self::SecondAudit => (SECOND_AUDIT, AskPurpose::Audit, ConclusionStage::Revising),
        };
        pending_asks(transcript, round, purpose, RetryRule::All, [seat]).unwrap_or_else(|| {
            let failed = list_failures(transcript, round).pop();
            let reason = failed.map_or_else(String::new, |failed| failed.error_message);
            Step::Stop(RunStopReason::Unconcluded { stage, seat: seat.clone(), reason })
        })
    }
}

/// Records who took part, which begins the conclusion.
fn begin_conclusion() -> Step {
    fn conclusion_begun(state: &RunState, record: &DialogueRecord) -> JournalEvent {
        JournalEvent::ConclusionBegun { participants: list_participants(state, record) }
    }
    Step::Append(vec![EntryDraft::new(
        JournalEntryKind::ConclusionBegun,
        [EntryPart::FromRecord(conclusion_begun)],
    )])
}

fn end_conclusion(
    transcript: &RunState,
    plan: &ConclusionPlan,
    terminal_state: Option<TerminalState>,
    conclusion: &Conclusion,
) -> Step {
    let author = |name: &ExpertSlug| transcript.plan.author_of(name);
    let is_revised = match terminal_state {
        Some(TerminalState::Revised | TerminalState::Unconverged) => true,
        Some(TerminalState::Clean) | None => false,
    };
    let ending = ConclusionResult {
        terminal_state,
        conclusion: conclusion.clone(),
        audit: terminal_state.and_then(|_| audit_trail(transcript)),
        synthesizer: author(&plan.synthesizer),
        critic: terminal_state.map(|_| author(&plan.critic)),
        reviser: is_revised.then(|| author(&plan.reviser)),
    };
    let converges = has_converged(transcript, &ending);
    let concluded = EntryPart::from_change(JournalEvent::Concluded(Box::new(ending)));
    let parts = [concluded].into_iter().chain(converges.then_some(EntryPart::Converge));
    Step::Append(vec![EntryDraft::new(
        JournalEntryKind::Concluded,
        parts.chain([EntryPart::run_done()]),
    )])
}

/// Whether the dialogue converged. Without an audit it did if the chair wrote the report.
fn has_converged(transcript: &RunState, ending: &ConclusionResult) -> bool {
    match ending.terminal_state {
        Some(TerminalState::Clean | TerminalState::Revised) => true,
        Some(TerminalState::Unconverged) => false,
        None => transcript.report.as_ref().is_some_and(|report| !report.fallback),
    }
}
